"""Timeline: the StepStats of a run as a trace that Chrome's `chrome://tracing` and Perfetto show.

Every device of every task is a process of the trace, with as many threads as it ran nodes at a time. Values that came from
another task are events of their own, with an arrow from the node that made them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tensorboard.compat.proto import step_stats_pb2

from weft.framework.graphs.graph import Graph

TRANSFER: Final = "RecvTensor"
_EDGE: Final = re.compile(r"\bedge_\d+_")
_SIZE: Final = re.compile(r"^\[\S+\]\s+")
_LABEL: Final = re.compile(r"(?P<name>\S+) = (?P<type>\w+)\((?P<inputs>.*)\)")


class Event(NamedTuple):
    """One node's run, with its place in the trace."""

    process: int
    thread: int
    begin_us: int
    duration_us: int
    name: str
    kind: str
    inputs: list[str]
    stats: Any


class Timeline:
    """The trace of one run.

    Args:
        step_stats: the `step_stats` of a RunMetadata.
        graph: taken for programs that pass it; the stats have all that is shown.

    >>> from weft.python.client import timeline
    >>> metadata = tf.RunMetadata()
    >>> options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    >>> sess.run(tf.add(1, 2), options=options, run_metadata=metadata)
    np.int32(3)
    >>> "traceEvents" in timeline.Timeline(metadata.step_stats).generate_chrome_trace_format()
    True
    """

    def __init__(self, step_stats: step_stats_pb2.StepStats, graph: Graph | None = None) -> None:
        self._step_stats = step_stats

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False) -> str:
        """The trace as JSON.

        Args:
            show_dataflow: whether to draw arrows from each node to those that use its outputs.
            show_memory: whether to count the bytes of outputs and transfers over time.
        """
        devices = [stats.device for stats in self._step_stats.dev_stats]
        events = list(events_of(self._step_stats))
        trace = [_process_name(index, device) for index, device in enumerate(devices)]
        trace += [_complete(event) for event in events]
        if show_dataflow:
            trace += _flows(events)
        if show_memory:
            trace += _memory(events)
        return json.dumps({"traceEvents": trace}, indent=4, separators=(",", ": "))


def events_of(step_stats: step_stats_pb2.StepStats) -> Iterator[Event]:
    """The nodes that ran, device by device; a device's events are on as many threads as it ran nodes at a time."""
    for process, device in enumerate(step_stats.dev_stats):
        ends: list[int] = []
        for node in sorted(device.node_stats, key=lambda node: int(node.all_start_micros)):
            begin, duration = int(node.all_start_micros), max(int(node.all_end_rel_micros), 1)
            # A node goes to the first thread that is free by then.
            thread = next((index for index, end in enumerate(ends) if end <= begin), len(ends))
            ends[thread : thread + 1] = [begin + duration]
            name, kind, inputs = _described(node)
            yield Event(process, thread, begin, duration, name, kind, inputs, node)


def _described(node: Any) -> tuple[str, str, list[str]]:
    """The name of a node, its op type and the names of its inputs."""
    if node.node_name == TRANSFER:
        return node.timeline_label, TRANSFER, []
    label = _LABEL.fullmatch(node.timeline_label)
    if label is None:
        return node.node_name, node.timeline_label or node.node_name, []
    inputs = [name.strip() for name in label["inputs"].split(",") if name.strip()]
    return node.node_name, label["type"], [name.lstrip("^").partition(":")[0] for name in inputs]


def _process_name(process: int, device: str) -> dict[str, Any]:
    return {"name": "process_name", "ph": "M", "pid": process, "args": {"name": f"{device} Compute"}}


def _complete(event: Event) -> dict[str, Any]:
    inputs = {f"input{index}": name for index, name in enumerate(event.inputs)}
    return {
        "ph": "X", "cat": "Transfer" if event.kind == TRANSFER else "Op", "name": event.kind, "pid": event.process,
        "tid": event.thread, "ts": event.begin_us, "dur": event.duration_us,
        "args": {"name": event.name, "op": event.kind, **inputs},
    }  # fmt: skip


def _flows(events: list[Event]) -> list[dict[str, Any]]:
    """An arrow from each node to each use of it on the same device, and over a transfer to its uses on another."""
    made: dict[tuple[int | None, str], list[Event]] = {}
    for event in sorted(events, key=lambda event: event.begin_us):
        if event.kind == TRANSFER:
            made.setdefault((event.process, _sent(event)), []).append(event)
        else:
            made.setdefault((event.process, event.name), []).append(event)
            made.setdefault((None, event.name), []).append(event)
    flows: list[dict[str, Any]] = []
    for event in events:
        used = [(None, _sent(event))] if event.kind == TRANSFER else [(event.process, name) for name in event.inputs]
        for source in [_latest(made[key], event.begin_us) for key in used if key in made]:
            shared = {"cat": "DataFlow", "name": _sent(source), "id": len(flows) // 2}
            flows.append({"ph": "s", **shared, **_at(source, source.begin_us + source.duration_us)})
            flows.append({"ph": "t", **shared, **_at(event, event.begin_us)})
    return flows


def _sent(event: Event) -> str:
    """The name of the node whose value an event made or brought."""
    if event.kind != TRANSFER:
        return event.name
    return re.split(r"[\s;,:]+", _EDGE.sub("", _SIZE.sub("", event.name)))[0]


def _latest(candidates: list[Event], before_us: int) -> Event:
    """The last that had begun: a variable is there once for those that read it, and once for those that change it."""
    begun = [event for event in candidates if event.begin_us <= before_us]
    return begun[-1] if begun else candidates[0]


def _at(event: Event, time_us: int) -> dict[str, int]:
    return {"pid": event.process, "tid": event.thread, "ts": time_us}


def _memory(events: list[Event]) -> list[dict[str, Any]]:
    """How many bytes each allocator of each device has given out since the start of the step."""
    totals: dict[tuple[int, str], int] = {}
    counters = []
    for event in sorted(events, key=lambda event: event.begin_us + event.duration_us):
        for memory in event.stats.memory:
            key = event.process, memory.allocator_name
            totals[key] = totals.get(key, 0) + memory.total_bytes
            counters.append(
                {
                    "ph": "C", "cat": "Memory", "name": memory.allocator_name, "pid": event.process, "tid": 0,
                    "ts": event.begin_us + event.duration_us, "args": {memory.allocator_name: totals[key]},
                }
            )  # fmt: skip
    return counters
