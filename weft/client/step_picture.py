"""Pictures of one traced step, as SVG: when each node ran, and where.

metadata = tf.RunMetadata()
session.run(fetches, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
tf.draw_timeline(metadata)   # a notebook shows it
tf.draw_placement(metadata).save("placement.svg")
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final

from tensorboard.compat.proto import config_pb2

from weft.client.timeline import TRANSFER, Event, events_of

_PALETTE: Final = ("#4e79a7", "#3f8f3a", "#8f5a8a", "#2f7f79", "#8a6248", "#b8557e", "#3f6f8f", "#5d8a2f", "#6e6a73", "#4f8a76")
_TRANSFER_COLOUR: Final = "#f28e2b"
_SOURCE: Final = "_SOURCE"
_WIDTH: Final = 900
_MARGIN: Final = 12
_LABEL_WIDTH: Final = 210
_LANE: Final = 22
_BOX_WIDTH: Final = 150
_BOX_HEIGHT: Final = 34
_GAP: Final = 26
_CHARACTER: Final = 6.2
_MOST_BOXES: Final = 60


@dataclass(frozen=True)
class Picture:
    """A picture that notebooks show.

    `svg` is its text.
    """

    svg: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the SVG file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg


def draw_timeline(run_metadata: config_pb2.RunMetadata | None) -> Picture:
    """Draw when each node of a step ran: a row or more for each device, values that came from other tasks in orange.

    Args:
        run_metadata: the RunMetadata of a run with FULL_TRACE, or its `step_stats`.

    Returns:
        A picture that a notebook shows.

    Raises:
        ValueError: the run was not traced.
    """
    stats = _traced(run_metadata)
    events = [event for event in events_of(stats) if event.name != _SOURCE]
    begin = min((event.begin_us for event in events), default=0)
    span = max((event.begin_us + event.duration_us for event in events), default=1) - begin
    drawing = _Drawing()
    scale = (_WIDTH - _LABEL_WIDTH - 2 * _MARGIN) / span
    top = _MARGIN
    for process, device in enumerate(stats.dev_stats):
        own = [event for event in events if event.process == process]
        lanes = max((event.thread for event in own), default=0) + 1
        drawing.rectangle(_MARGIN, top, _WIDTH - 2 * _MARGIN, lanes * _LANE + 6, "#f4f5f7", radius=4)
        drawing.text(_MARGIN + 6, top + 18, _short(device.device))
        for event in own:
            left = _MARGIN + _LABEL_WIDTH + (event.begin_us - begin) * scale
            _draw_event(drawing, event, left, top + 3 + event.thread * _LANE, max(event.duration_us * scale, 1.5))
        top += lanes * _LANE + 12
    _draw_axis(drawing, span, scale, top)
    return Picture(drawing.svg(_WIDTH, top + 34))


def _draw_event(drawing: _Drawing, event: Event, left: float, top: float, width: float) -> None:
    told = f"{event.name}: {event.kind}, {event.duration_us} µs"
    drawing.rectangle(left, top, width, _LANE - 4, _colour(event.kind), title=told)
    if width > _CHARACTER * len(event.kind) + 6:
        drawing.text(left + 3, top + 13, event.kind, colour="white")


def _draw_axis(drawing: _Drawing, span_us: int, scale: float, top: float) -> None:
    step = 10 ** max(len(str(span_us)) - 1, 0)
    step = next(part for part in (step // 5 or 1, step // 2 or 1, step, 2 * step, 10 * step) if span_us / part <= 8)
    left = _MARGIN + _LABEL_WIDTH
    drawing.line(left, top, left + span_us * scale, top)
    for tick in range(0, span_us + 1, step):
        drawing.line(left + tick * scale, top, left + tick * scale, top + 4)
        drawing.text(left + tick * scale, top + 18, f"{tick / 1000:g} ms" if span_us >= 2000 else f"{tick} µs", anchor="middle")


def draw_placement(run_metadata: config_pb2.RunMetadata | None) -> Picture:
    """Draw where each node of a step ran: a column for each device, edges between devices in orange.

    A graph of more than 60 nodes is drawn by the first part of its nodes' names.

    Args:
        run_metadata: the RunMetadata of a run with FULL_TRACE, or its `step_stats`.

    Returns:
        A picture that a notebook shows.

    Raises:
        ValueError: the run was not traced.
    """
    stats = _traced(run_metadata)
    events = [event for event in events_of(stats) if event.name != _SOURCE and event.kind != TRANSFER]
    boxes = _boxes(events)
    drawing = _Drawing()
    left, bottom = float(_MARGIN), 0.0
    places: dict[tuple[int, str], tuple[float, float]] = {}
    for process, device in enumerate(stats.dev_stats):
        own = [box for box in boxes.values() if box.process == process]
        rows: dict[int, int] = {}
        for box in own:
            places[process, box.name] = (left + 12 + rows.get(box.depth, 0) * (_BOX_WIDTH + 12), _top(box.depth))
            rows[box.depth] = rows.get(box.depth, 0) + 1
        width = 12 + max([*rows.values(), 1]) * (_BOX_WIDTH + 12)
        drawing.text(left + 8, _MARGIN + 16, _short(device.device))
        places_below = max((_top(box.depth) for box in boxes.values()), default=_top(0)) + _BOX_HEIGHT + 14
        drawing.rectangle(left, _MARGIN, width, places_below - _MARGIN, "#f4f5f7", radius=6, at_back=True)
        left, bottom = left + width + 30, max(bottom, places_below)
    for (process, name), place in places.items():
        for source in boxes[process, name].inputs:
            _draw_edge(drawing, places[source], place, source[0] != process)
    for (process, name), (x, y) in places.items():
        _draw_box(drawing, boxes[process, name], x, y)
    return Picture(drawing.svg(left - 30 + _MARGIN, bottom + _MARGIN))


@dataclass
class _Box:
    """A node, or the nodes of a device whose names begin alike."""

    process: int
    name: str
    kind: str
    inputs: set[tuple[int, str]] = field(default_factory=set)
    depth: int = 0
    count: int = 1


def _boxes(events: Sequence[Event]) -> dict[tuple[int, str], _Box]:
    is_grouped = len(events) > _MOST_BOXES

    def shown(name: str) -> str:
        return name.partition("/")[0] if is_grouped else name

    boxes: dict[tuple[int, str], _Box] = {}
    made_by: dict[str, tuple[int, str]] = {}
    for event in events:
        key = event.process, shown(event.name)
        made_by[event.name] = key
        box = boxes.get(key)
        if box is None:
            boxes[key] = _Box(event.process, key[1], event.kind)
        else:
            box.count += 1
    for event in events:
        key = event.process, shown(event.name)
        boxes[key].inputs.update(made_by[name] for name in event.inputs if made_by.get(name, key) != key)
    _set_depths(boxes)
    return boxes


def _set_depths(boxes: Mapping[tuple[int, str], _Box]) -> None:
    """Give each box a row below those of its inputs; a loop, or groups that use each other, ends the descent."""
    for _ in range(len(boxes)):
        deeper = {key: max((boxes[source].depth + 1 for source in box.inputs), default=0) for key, box in boxes.items()}
        if all(boxes[key].depth == depth for key, depth in deeper.items()) or max(deeper.values()) >= len(boxes):
            return
        for key, depth in deeper.items():
            boxes[key].depth = depth


def _top(depth: int) -> float:
    return _MARGIN + 28 + depth * (_BOX_HEIGHT + _GAP)


def _draw_edge(drawing: _Drawing, begin: tuple[float, float], end: tuple[float, float], crosses: bool) -> None:
    x1, y1, x2, y2 = begin[0] + _BOX_WIDTH / 2, begin[1] + _BOX_HEIGHT, end[0] + _BOX_WIDTH / 2, end[1]
    middle = (y1 + y2) / 2
    drawing.path(
        f"M{x1:.1f},{y1:.1f} C{x1:.1f},{middle:.1f} {x2:.1f},{middle:.1f} {x2:.1f},{y2 - 4:.1f}",
        _TRANSFER_COLOUR if crosses else "#8a8f98",
        2.0 if crosses else 1.2,
    )


def _draw_box(drawing: _Drawing, box: _Box, x: float, y: float) -> None:
    room = int((_BOX_WIDTH - 10) / _CHARACTER)
    name = box.name if len(box.name) <= room else f"{box.name[: room - 1]}…"
    kind = box.kind if box.count == 1 else f"{box.count} nodes"
    drawing.rectangle(x, y, _BOX_WIDTH, _BOX_HEIGHT, _colour(box.kind), title=f"{box.name}: {kind}", radius=5)
    drawing.text(x + _BOX_WIDTH / 2, y + 14, name, colour="white", anchor="middle")
    drawing.text(x + _BOX_WIDTH / 2, y + 27, kind, colour="white", anchor="middle", size=9)


class _Drawing:
    """The elements of an SVG picture."""

    def __init__(self) -> None:
        self._back: list[str] = []
        self._elements: list[str] = []

    def rectangle(
        self, x: float, y: float, width: float, height: float, colour: str, title: str = "", radius: int = 2,
        at_back: bool = False,
    ) -> None:  # fmt: skip
        """Add a filled rectangle, perhaps with a tooltip."""
        inside = f"<title>{escape(title)}</title>" if title else ""
        place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius}"'
        element = f'<rect {place} fill="{colour}">{inside}</rect>'
        (self._back if at_back else self._elements).append(element)

    def text(self, x: float, y: float, text: str, colour: str = "#24292f", anchor: str = "start", size: int = 11) -> None:
        """Add a line of text."""
        place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}"'
        self._elements.append(f"<text {place}>{escape(text)}</text>")

    def line(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Add a thin line."""
        place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        self._elements.append(f'<line {place} stroke="#8a8f98"/>')

    def path(self, path: str, colour: str, width: float) -> None:
        """Add a curve with an arrowhead."""
        marker = f"arrow-{colour[1:]}"
        self._elements.append(
            f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}" marker-end="url(#{marker})"/>'
        )

    def svg(self, width: float, height: float) -> str:
        """The whole picture, on white."""
        size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
        body = "\n".join([*self._back, *self._elements])
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="Helvetica, Arial, sans-serif">\n'
            f"<defs>{''.join(_arrowheads((_TRANSFER_COLOUR, '#8a8f98')))}</defs>\n"
            f'<rect width="100%" height="100%" rx="8" fill="white"/>\n{body}\n</svg>\n'
        )


def _arrowheads(colours: Iterable[str]) -> Iterable[str]:
    for colour in colours:
        yield (
            f'<marker id="arrow-{colour[1:]}" viewBox="0 0 6 6" refX="3" refY="3" markerUnits="userSpaceOnUse" markerWidth="8" '
            f'markerHeight="8" orient="auto"><path d="M0,0 L6,3 L0,6 z" fill="{colour}"/></marker>'
        )


def _traced(run_metadata: Any) -> Any:
    stats = getattr(run_metadata, "step_stats", run_metadata)
    if not stats.dev_stats:
        raise ValueError(
            "There is nothing to draw: the run was not traced. Run with "
            "options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE) and run_metadata=tf.RunMetadata()"
        )
    return stats


def _colour(kind: str) -> str:
    return _TRANSFER_COLOUR if kind == TRANSFER else _PALETTE[zlib.crc32(kind.encode()) % len(_PALETTE)]


def _short(device: str) -> str:
    return device.replace("/replica:0", "").replace("/device:", "/")
