"""StepTrace: what a task notes of one step, in the form of TensorFlow's StepStats."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from typing import Any, Final

from tensorboard.compat.proto import step_stats_pb2

from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.process.sendrecv import SOURCE_NAME
from weft.passes.partition import Edge

SOURCE: Final = "_SOURCE"
TRANSFER: Final = "RecvTensor"
_LABEL: Final = re.compile(r"\[\S+\] edge_\d+_(?P<source>\S+) from (?P<sender>\S+) to \S+")


class StepTrace:
    """Times per node and device; the stages of one step write to it from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stats = step_stats_pb2.StepStats()
        self._devices: dict[str, Any] = {}

    def note_start(self, devices: Sequence[str]) -> None:
        """Note the start of each device's part."""
        now = time.time()
        for device in devices:
            self._note(device, SOURCE, SOURCE, now, now)

    def add(self, device: str, op: Operation, begin_s: float, end_s: float) -> None:
        """Note one node's run, in seconds since the epoch."""
        inputs = ", ".join(source_name(t).partition(":")[0] for t in op.inputs)
        self._note(device, op.name, f"{op.name} = {op.type}({inputs})", begin_s, end_s)

    def add_transfer(self, device: str, edge: Edge, begin_s: float, end_s: float, size_bytes: int) -> None:
        """Note a value that came from another task: from the step's beginning here until it was there.

        `trim_transfers` leaves the time since it was made.
        """
        size = f"{size_bytes / 2**20:.1f}MB" if size_bytes > 2**20 / 10 else f"{size_bytes}B"
        label = (
            f"[{size}] edge_{edge.number}_{source_name(edge.source).partition(':')[0]} from {edge.sender} to {edge.receiver}"
        )
        node = self._note(device, TRANSFER, label, begin_s, end_s)
        node.memory.add(allocator_name="wire", total_bytes=size_bytes)

    def _note(self, device: str, name: str, label: str, begin_s: float, end_s: float) -> Any:
        with self._lock:
            stats = self._devices.get(device)
            if stats is None:
                stats = self._devices[device] = self._stats.dev_stats.add(device=device)
            begin, end = int(begin_s * 1e6), int(end_s * 1e6)
            return stats.node_stats.add(
                node_name=name, timeline_label=label, all_start_micros=begin, op_start_rel_micros=0,
                op_end_rel_micros=end - begin, all_end_rel_micros=end - begin, scheduled_micros=begin,
            )  # fmt: skip

    def as_proto(self) -> step_stats_pb2.StepStats:
        """The StepStats so far."""
        return self._stats


def source_name(source: Tensor | Operation) -> str:
    """The name by which the program knows a value: a value at a partition's border has that of where it comes from."""
    op = source.op if isinstance(source, Tensor) else source
    return str(op.attrs.get(SOURCE_NAME, source.name))


def trim_transfers(devices: Sequence[Any]) -> None:
    """Let each transfer begin where the other task's node ended, if the clocks of both agree that this was meanwhile.

    Args:
        devices: the DeviceStepStats of all tasks; changed.
    """
    ends = {
        (_task_of(stats.device), node.node_name): node.all_start_micros + node.all_end_rel_micros
        for stats in devices
        for node in stats.node_stats
    }
    for stats in devices:
        for node in stats.node_stats:
            found = _LABEL.fullmatch(node.timeline_label) if node.node_name == TRANSFER else None
            made = ends.get((found["sender"], found["source"])) if found else None
            end = node.all_start_micros + node.all_end_rel_micros
            if made is not None and node.all_start_micros < made <= end:
                node.all_start_micros = node.scheduled_micros = made
                node.op_end_rel_micros = node.all_end_rel_micros = end - made


def _task_of(device: str) -> str:
    return device.partition("/device:")[0]
