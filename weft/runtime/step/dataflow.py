"""Dataflow: the values of one run of a partition, and how many of them each stage still waits for."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Operation, Tensor
from weft.runtime.executor import Executor, Outlet
from weft.runtime.stage import Stage
from weft.runtime.state.host_values import as_numpy

# What travels along an edge that carries no value: that the node ran.
CONTROL: Final = np.zeros((), np.float32)

_SENT: Final = -1  # among the counts of what stages wait for

Sent: TypeAlias = tuple[str, tuple[int, ...], list[Array]]
"""To which peer, along which edges, and the values."""


class Dataflow:
    """What a step has made and received so far. Safe from any thread: a value is written once, before its stages are ready.

    Args:
        executor: the partition that runs.
        feeds: the values of its feeds.
    """

    __slots__ = ("_executor", "_lock", "_pending", "unfinished", "values")

    def __init__(self, executor: Executor, feeds: Sequence[object]) -> None:
        self._executor = executor
        self._lock = threading.Lock()  # of the counts
        self._pending = list(executor.initial_pending)
        self.unfinished = len(executor.stages)
        """How many stages have not run."""
        self.values: list[Any] = [None] * executor.value_count
        """By number; None for what is not there yet. Stages write their outputs here themselves."""
        for number, value in zip(executor.feed_numbers, feeds, strict=True):
            self.values[number] = value

    def receive(self, edges: Sequence[int], tensors: Sequence[object]) -> list[Stage]:
        """Take values from another task; returns the stages that they make ready. What is there already is not taken again."""
        executor, values, pending = self._executor, self.values, self._pending
        ready: list[Stage] = []
        with self._lock:
            for edge, tensor in zip(edges, tensors, strict=True):
                number, waiting = executor.recvs[edge]
                if values[number] is not None:
                    continue  # It was sent again, after a cut.
                values[number] = tensor
                for waiter in waiting:
                    pending[waiter] -= 1
                    if pending[waiter] == 0:
                        ready.append(executor.stages[waiter])
        return ready

    def note_run(self, stage: Stage) -> list[Stage]:
        """A stage has run and its outputs are there; returns the stages that they make ready."""
        pending = self._pending
        ready: list[Stage] = []
        with self._lock:
            for follower in stage.wiring.then:
                pending[follower] -= 1
                if pending[follower] == 0:
                    ready.append(self._executor.stages[follower])
            self.unfinished -= 1
        return ready

    def send(self, stage: Stage, outlet: Outlet, step_id: int, is_held: bool) -> None:
        """Push what a stage that has run made for peers; some may still be computed, and is waited for."""
        # Noted first: a connection that is brought back just now shows either this or the sending itself.
        self._pending[stage.number] = _SENT
        for peer, edges, numbers in stage.sends:
            outlet.push(peer, step_id, edges, self._tensors(numbers), is_held=is_held)

    def sent(self) -> list[Sent]:
        """What was sent so far, in order of the stages."""
        found: list[Sent] = []
        # Loops: asked at the end of each part that a peer has asked for.
        for stage in self._executor.stages:
            if stage.sends and self._pending[stage.number] == _SENT:
                for peer, edges, numbers in stage.sends:
                    found.append((peer, edges, self._tensors(numbers)))
        return found

    def _tensors(self, numbers: Sequence[int]) -> list[Array]:
        """The values with these numbers, in host memory; `CONTROL` where an edge carries none."""
        values = self.values
        return [
            CONTROL if number < 0 else value if type(value := values[number]) is np.ndarray else as_numpy(value)
            for number in numbers
        ]

    @property
    def is_runnable(self) -> bool:
        """Whether a stage runs or is ready to; a look without the lock."""
        done = len(self._executor.stages) - self.unfinished
        return sum(count <= 0 for count in self._pending) > done

    def awaits(self, peer: str) -> list[Tensor | Operation]:
        """What is still to come from a peer task."""
        executor, values = self._executor, self.values
        return [
            edge.source
            for number, edge in executor.edges.items()
            if edge.sender == peer and values[executor.recvs[number][0]] is None
        ]
