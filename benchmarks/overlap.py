"""What it gains to send gradients as they are ready: a traced step as a picture, and the step times of both ways.

The trace comes from `RunMetadata` and interprets the step node by node, so it shows the order of things and not their speed;
the times are of steps that nobody traces.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks import machine
from benchmarks.catalogue import Unit
from benchmarks.contender import TITLES, Contender
from benchmarks.drawing import COLOURS, Picture, style
from benchmarks.framework import WEFT
from benchmarks.programs.overlap import Overlap, Span
from benchmarks.report import quantity

PROGRAM = "overlap:two_layers"
WIDTHS = (1024, 2048)
TIME_LIMIT_S = 180.0
# How the program's names appear in a trace: what makes the second layer's gradient and the first's, and what applies them.
SECOND_READY, FIRST_READY = "backward/forward2_grad/MatMul_1", "backward/forward1_grad/MatMul_1"
SECOND_APPLIED, FIRST_APPLIED = "early/update_layer2", "early/update_layer1"


@dataclass
class Found:
    """What was found at one width, by contender, in the order of the rounds."""

    width: int
    overlaps: dict[str, list[Overlap]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


@dataclass
class Sitting:
    """A sitting about overlapping."""

    versions: dict[str, str]
    rounds: int
    widths: list[Found]
    machine: dict[str, Any] = field(default_factory=machine.describe)


def hold(contenders: list[Contender], *, rounds: int, tell: Callable[[str], None]) -> Sitting:
    """Run the program at each width `rounds` times, the contenders in turn."""
    sitting = Sitting({each.name: each.version() for each in contenders}, rounds, [Found(width) for width in WIDTHS])
    for _ in range(rounds):
        for found in sitting.widths:
            for contender in contenders:
                answer = contender.ask(PROGRAM, found.width, time_limit_s=TIME_LIMIT_S)
                if answer.message is None:
                    found.reasons[contender.name] = answer.reason or ""
                    continue
                overlap = _read(answer.message)
                found.overlaps.setdefault(contender.name, []).append(overlap)
                tell(
                    f"  {found.width} {contender.title:<11} early {overlap.early_s:.6g} s, together {overlap.together_s:.6g} s"
                )
    return sitting


def _read(message: dict[str, Any]) -> Overlap:
    return Overlap([Span(**span) for span in message["spans"]], message["early_s"], message["together_s"])


def hidden_share(spans: list[Span]) -> float:
    """Return how much of the second layer's gradient's way, from being made to being applied, the first one's making hides."""
    ready = _named(spans, SECOND_READY).end_s
    applied = _named(spans, SECOND_APPLIED).end_s
    computed = _named(spans, FIRST_READY).end_s
    return max(0.0, min(applied, computed) - ready) / max(applied - ready, 1e-9)


def _named(spans: list[Span], name: str) -> Span:
    """Return the node's span; a trace may list a node more than once, and the longest is its run."""
    found = [span for span in spans if span.what.startswith(name)]
    if not found:
        raise ValueError(f"the trace has no {name}; it has {', '.join(sorted({span.what[:40] for span in spans}))}")
    return max(found, key=lambda span: span.end_s - span.begin_s)


def in_words(sitting: Sitting) -> str:
    """Say for each width and contender what sending early gains, and what the trace shows."""
    lines = []
    for found in sitting.widths:
        for name, overlaps in found.overlaps.items():
            early, together = (statistics.median(values) for values in zip(*map(_times, overlaps), strict=True))
            hidden = statistics.median(hidden_share(each.spans) for each in overlaps)
            lines.append(
                f"{TITLES[name]:<11} two layers of {found.width:,}: {quantity(early, Unit.SECONDS)} sent early, "
                f"{quantity(together, Unit.SECONDS)} together, ratio {early / together:.2f}; "
                f"{hidden:.0%} of the first gradient's way lies behind computing the next"
            )
        lines += [f"{TITLES[name]} failed at {found.width}: {reason}" for name, reason in found.reasons.items()]
    return "\n".join(lines)


def _times(overlap: Overlap) -> tuple[float, float]:
    return overlap.early_s, overlap.together_s


def as_json(sitting: Sitting) -> dict[str, Any]:
    """Return all that was found; `from_json` reads it back."""
    return asdict(sitting)


def from_json(document: dict[str, Any]) -> Sitting:
    """Return the sitting that `as_json` wrote."""
    widths = [
        Found(
            found["width"],
            {name: [_read(overlap) for overlap in overlaps] for name, overlaps in found["overlaps"].items()},
            found["reasons"],
        )
        for found in document["widths"]
    ]
    return Sitting(document["versions"], document["rounds"], widths, document["machine"])


def draw(sitting: Sitting) -> str:
    """Return the SVG of weft's last trace at the greatest width: what the tasks do, and what travels meanwhile."""
    lanes = _lanes(sitting.widths[-1].overlaps[WEFT][-1].spans)
    with style():
        picture = Picture(900, 250, "Sending gradients overlaps computing", in_words(sitting))
        picture.text(20, 32, "A traced step of two layers", size=17, bold=True)
        picture.text(20, 52, f"two layers of {sitting.widths[-1].width:,}; the trace runs node by node", "muted")
        axes = picture.axes(150, 68, 880, 200)
        for y, lane in enumerate(lanes.values()):
            spans = [(begin * 1e3, (end - begin) * 1e3) for begin, end, _ in lane]
            colours = [COLOURS[colour] for *_, colour in lane]
            axes.broken_barh(spans, (y - 0.35, 0.7), facecolors=colours, edgecolors=colours, linewidth=0.5)
        axes.set_yticks(range(len(lanes)), [*lanes])
        axes.invert_yaxis()
        axes.grid(axis="y")
        axes.set_xlabel("milliseconds")
        return str(picture)


def _lanes(spans: list[Span]) -> dict[str, list[tuple[float, float, str]]]:
    """Return what each lane shows: the second layer's gradient, its way and its update stand out."""
    computing = [span for span in spans if "job:worker" in span.device and " = " in span.what]
    applying = [span for span in spans if "job:ps" in span.device and " = " in span.what]
    return {
        "worker computes": [(s.begin_s, s.end_s, _colour(s, SECOND_READY, FIRST_READY)) for s in computing],
        "gradients travel": _journeys(spans),
        "ps applies": [(s.begin_s, s.end_s, _colour(s, SECOND_APPLIED, FIRST_APPLIED)) for s in applying],
    }


def _colour(span: Span, second: str, first: str) -> str:
    return "peer" if span.what.startswith(second) else "weft" if span.what.startswith(first) else "axis"


def _journeys(spans: list[Span]) -> list[tuple[float, float, str]]:
    """Return from when to when each gradient travelled: from being made to being there as a whole."""
    return [
        (span.begin_s, span.end_s, colour)
        for name, colour in ((SECOND_READY, "peer"), (FIRST_READY, "weft"))
        for span in spans
        if f"_{name} from " in span.what
    ]
