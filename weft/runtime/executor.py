"""Executor: one task's partition, prepared once: its stages, and which value goes where. `Step` is one run of it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from weft.passes.awaited import names_resource
from weft.passes.partition import Partition
from weft.passes.stage import Kind
from weft.runtime.choice.stage_report import StageReport
from weft.runtime.host_permits import Permit
from weft.runtime.inter_op_pool import InterOpPool
from weft.runtime.stage import Stage
from weft.runtime.stage_builder import build_stages
from weft.runtime.state.session_state import SessionState
from weft.runtime.step_trace import StepTrace


class Outlet(Protocol):
    """Where a step's values leave the task."""

    def push(self, peer: str, step_id: int, edges: Sequence[int], tensors: Sequence[object], *, is_held: bool = False) -> None:
        """Send values to a peer task; does not block for long and does not change the arrays.

        If `is_held`, they go with the next message to that peer, or at `flush`.
        """
        ...

    def flush(self, peer: str) -> None:
        """Send a peer what is held for it."""
        ...

    def has_room(self, peer: str) -> bool:
        """Whether a peer keeps up with what is sent to it."""
        ...

    def wait_for_room(self, peer: str, start: Callable[[], None]) -> bool:
        """Whether a producer has to wait for a peer; then `start` is called when it may produce. Does not block."""
        ...

    def go_on(self, peer: str) -> None:
        """Say that a producer that was started has pushed what it had, or will not."""
        ...


class Executor:
    """The stages of one partition, ready to run any number of steps at a time.

    Args:
        partition: what to run; bound to the session's resources here.
        session: the session that the partition belongs to.
        outlet: where values for other tasks go.
        pool: threads for stages that may block.
    """

    def __init__(self, partition: Partition, session: SessionState, outlet: Outlet | None, pool: InterOpPool) -> None:
        plan = build_stages(partition, session.resources, session.waits_for_code)
        self.task = partition.task
        self.stages = plan.stages
        self.devices = sorted(set(partition.devices.values()))
        self.feed_numbers = plan.feed_numbers
        self.fetch_numbers = plan.fetch_numbers
        self._carried = plan.recvs
        # Each edge has a place among the values, also one that carries none: what came along it once is not taken again.
        places = itertools.count(plan.value_count)
        self.recvs = {
            edge: (number if number >= 0 else next(places), waiting) for edge, (number, waiting) in plan.recvs.items()
        }
        self.edges = {edge.number: edge for edge in partition.recvs.values()}
        self.value_count = next(places)
        self.peers = {edge.sender for edge in self.edges.values()} | {to for stage in self.stages for to, _, _ in stage.sends}
        self.applies_updates = bool(self.recvs) and any(stage.program.written_slots for stage in self.stages)
        """Whether it changes variables by what other tasks send, as a parameter server's part of a training step does."""
        self.session = session
        self.outlet = outlet
        self.pool = pool
        self.initial_pending = [stage.wiring.pending for stage in self.stages]
        self.sources = [stage for stage in self.stages if stage.wiring.pending == 0]
        # Those that only name resources, such as queues: what they make lasts.
        self.naming = [stage for stage in self.sources if all(map(names_resource, stage.program.nodes))]
        only = self.stages[0] if len(self.stages) == 1 else None
        # The stage of a partition that a SingleStep can run.
        self.single = only if only is not None and not only.sends and not self.recvs and not only.may_block else None
        if self.single is not None and (self.single.has_loops or not self._may_be_tried(self.single)):
            # Its thread waits, so that it can be let go.
            self.single = None

    def _may_be_tried(self, stage: Stage) -> bool:
        """Whether a run that would have to wait can be given up: what it has taken goes back, what it has put would not."""
        return stage.parks_at is None or (bool(stage.parks_at.outputs) and self.session.host_permits is None)

    def note_transfers(self, trace: StepTrace, begin_s: float, edges: Sequence[int], tensors: Sequence[object]) -> None:
        """Note the values that came from another task, each at the device that waits for it."""
        now = time.time()
        for number, tensor in zip(edges, tensors, strict=True):
            value, waiting = self._carried[number]
            if value >= 0:
                device = self.stages[waiting[0]].device if waiting else self.devices[0]
                trace.add_transfer(device, self.edges[number], begin_s, now, getattr(tensor, "nbytes", 0))

    @property
    def runs(self) -> int:
        """How often it ran: every stage runs once a step."""
        if not self.stages:
            return 0
        times = self.stages[0].times
        return times.host.runs + times.compiled.runs

    def explain(self) -> list[StageReport]:
        """Which way each stage goes, and why."""
        return [stage.explain(self.task) for stage in self.stages]

    def permit_for(self, stage: Stage) -> Permit | None:
        """Leave to run a stage, perhaps after a wait; None for a stage that needs none."""
        permits = self.session.host_permits
        return permits.take() if permits is not None and stage.kind is Kind.HOST else None
