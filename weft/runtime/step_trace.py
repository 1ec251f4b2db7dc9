"""StepTrace: what a task notes of one step, in the form of TensorFlow's StepStats."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto import step_stats_pb2

from weft.framework.operation import Operation

SOURCE = "_SOURCE"


class StepTrace:
    """Times per node and device; the stages of one step write to it from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stats = step_stats_pb2.StepStats()
        self._devices: dict[str, Any] = {}

    def begin(self, devices: Sequence[str]) -> None:
        """Note the start of each device's part."""
        now = time.time()
        for device in devices:
            self._note(device, SOURCE, SOURCE, now, now)

    def add(self, device: str, op: Operation, begin_s: float, end_s: float) -> None:
        """Note one node's run, in seconds since the epoch."""
        inputs = ", ".join(t.op.name for t in op.inputs)
        self._note(device, op.name, f"{op.name} = {op.type}({inputs})", begin_s, end_s)

    def add_transfer(self, device: str, label: str, begin_s: float, end_s: float, size_bytes: int) -> None:
        """Note a value that came from another task."""
        node = self._note(device, "RecvTensor", label, begin_s, end_s)
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
