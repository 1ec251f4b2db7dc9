"""weft's training steps on an accelerator against the same arithmetic in bare JAX."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.catalogue import Unit, matching
from benchmarks.contender import Contender
from benchmarks.programs.accelerator import Devices, Pair
from benchmarks.report import quantity

GOAL = 1.05
TIME_LIMIT_S = 300.0


@dataclass(frozen=True)
class Network:
    """A program that times both sides."""

    name: str
    program: str
    title: str


NETWORKS = (
    Network("mlp", "accelerator:mlp", "Three dense layers"),
    Network("cnn", "accelerator:cnn", "Two convolutions, two dense layers"),
    Network("transformer", "accelerator:transformer2", "Transformer of two layers"),
)


class NoAcceleratorError(RuntimeError):
    """JAX has only CPUs here."""


@dataclass
class Timed:
    """The outcomes of one network, one a round."""

    network: Network
    pairs: list[Pair] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def ratios(self) -> list[float]:
        """Return weft's seconds over JAX's of each turn of each round."""
        return [w / j for pair in self.pairs for w, j in zip(pair.weft_s, pair.jax_s, strict=True)]


def select(patterns: list[str]) -> list[Network]:
    return matching(NETWORKS, patterns, lambda network: (network.name,), "network")


def hold(contender: Contender, networks: list[Network], *, rounds: int, tell: Callable[[str], None]) -> list[Timed]:
    """Time all networks `rounds` times on the first device that JAX has.

    Raises:
        NoAcceleratorError: the contender may see an accelerator, and there is none.
    """
    found = contender.ask("accelerator:devices", time_limit_s=TIME_LIMIT_S)
    if found.message is None:
        raise NoAcceleratorError(f"JAX gives no devices: {found.reason}")
    here = Devices(found.message["platform"], found.message["devices"])
    if contender.sees_accelerators and here.platform == "cpu":
        raise NoAcceleratorError(
            f"There is no GPU here: jax.devices() gives {', '.join(here.devices)}. "
            "On a machine with one, install weft[cuda]; `--device cpu` tries these programs without one."
        )
    timed = [Timed(network) for network in networks]
    for _ in range(rounds):
        for each in timed:
            _time(each, contender, tell)
    return timed


def _time(timed: Timed, contender: Contender, tell: Callable[[str], None]) -> None:
    answer = contender.ask(timed.network.program, time_limit_s=TIME_LIMIT_S)
    if answer.message is None:
        timed.reasons.append(answer.reason or "")
        tell(f"  {timed.network.name:<12} {answer.reason}")
        return
    names = ("weft_s", "jax_s", "device", "variables_stay", "copies_checked")
    timed.pairs.append(Pair(**{name: answer.message[name] for name in names}))
    tell(f"  {timed.network.name:<12} ratio {statistics.median(timed.ratios()):.3f}")


def in_words(timed: list[Timed]) -> str:
    """Say for each network what both sides took, their ratio, and where the variables were."""
    lines = []
    for each in timed:
        if each.pairs:
            lines.append(_line(each))
        lines += [f"{each.network.title} failed: {reason}" for reason in each.reasons]
    return "\n".join(lines)


def _line(timed: Timed) -> str:
    ratios = timed.ratios()
    ours = quantity(statistics.median(seconds for pair in timed.pairs for seconds in pair.weft_s), Unit.SECONDS)
    theirs = quantity(statistics.median(seconds for pair in timed.pairs for seconds in pair.jax_s), Unit.SECONDS)
    ratio = statistics.median(ratios)
    verdict = "reached" if ratio <= GOAL else "missed"
    last = timed.pairs[-1]
    stay = "variables stay on the device" if all(pair.variables_stay for pair in timed.pairs) else "VARIABLES LEAVE THE DEVICE"
    copies = "no copies to the host" if last.copies_checked else "copies to the host cannot be told apart here"
    return (
        f"{timed.network.title} on {last.device}: weft {ours}, JAX {theirs}, ratio {ratio:.3f} "
        f"({min(ratios):.3f} to {max(ratios):.3f}), goal ≤ {GOAL:g} {verdict}; {stay}, {copies}"
    )


def as_json(timed: list[Timed]) -> dict[str, Any]:
    return {each.network.name: {**asdict(each), "ratio": _median(each.ratios())} for each in timed}


def _median(values: list[float]) -> float | None:
    return statistics.median(values) if values else None
