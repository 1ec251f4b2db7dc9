"""MasterSession: one session's plans over the tasks of a cluster.

It turns each new combination of fetches and feeds into a StepPlan: prune, place, stage, partition, register; after that a step
costs no planning.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from weft.distributed.master.deployment import Part
from weft.distributed.master.partial_run import PartialRun
from weft.distributed.master.step_plan import StepPlan
from weft.distributed.master.step_run import StepRun
from weft.distributed.worker.worker_handle import WorkerHandle
from weft.errors import AbortedError, CancelledError, InvalidArgumentError, OpError
from weft.framework.device_attributes import DeviceAttributes
from weft.framework.device_spec import task_name
from weft.framework.graph import Graph
from weft.framework.operation import Operation, Tensor
from weft.passes.narrow import narrow
from weft.passes.partition import Partition, partition
from weft.passes.placer import Placer
from weft.passes.prune import prune
from weft.passes.settled_fetches import settled_fetches
from weft.passes.stage import Staging
from weft.protocol.outcome_table import LANES

_LOG = logging.getLogger("weft")

_MAX_PIECES: Final = 256


class MasterSession:
    """Plans and runs steps of one graph. All methods are safe from any thread.

    Args:
        handle: the session's name in the cluster.
        graph: what the session runs; it may grow.
        find_worker: gives the handle of a task, by name.
        devices: the full names of all their devices.
        config: the session's ConfigProto.
        on_close: called once when the session is closed.
        device_attributes: gives the DeviceAttributes of all tasks.
        home: the device that the master itself counts as; empty when there are no others.
    """

    def __init__(
        self,
        handle: str,
        graph: Graph,
        find_worker: Callable[[str], WorkerHandle],
        devices: Sequence[str],
        config: Any,
        on_close: Callable[[], None],
        device_attributes: Callable[[], list[Any]],
        home: str = "",
    ) -> None:
        self.home = home
        self.error: OpError | None = None
        self._is_draining = False
        self.timeout_ms = max(config.operation_timeout_in_ms, 0)
        self._device_attributes = device_attributes
        self.handle = handle
        self.graph = graph
        self.devices = list(devices)
        self._find_worker = find_worker
        self._config = config
        self._on_close = on_close
        self._placer = Placer(devices, config.allow_soft_placement)
        self._logged: set[Operation] = set()
        self._plan_lock = threading.Lock()
        self._restart_lock = threading.Lock()
        # Which run of each task the session's state is on.
        self._incarnations = {task_name(device.name): device.incarnation for device in device_attributes()}
        self._piece_lock = threading.Lock()
        self._pieces: dict[Any, StepPlan] = {}
        # A random start keeps the step numbers of all masters of a cluster apart; `outcome_table` says what they tell a task.
        self._first_step_ids = itertools.count(secrets.randbits(45) * LANES)
        self._last_step_ids: list[int] = []  # of lanes that no step is in
        self._live: set[StepRun] = set()
        # What plans that are gone had registered. They go on any thread, perhaps while a lock is held, so nothing is sent then.
        self._retired: deque[Part] = deque()

    def prepare(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        timeout_s: float | None = None,
        done: Collection[Operation] | None = None,
    ) -> StepPlan:
        """Make the plan for runs with these feeds, fetches and targets; for a piece of a step, of operations not in `done`.

        The tasks are there already, so nothing is waited for that `timeout_s` would have to end.

        Raises:
            InvalidArgumentError: a node cannot be placed, or a variable is held with another dtype.
            AbortedError, UnavailableError: a task that the plan needs is not there, or was restarted; see `renew`.
        """
        self.raise_if_closed()
        self._deregister_retired()
        with self._plan_lock:
            if not self._config.graph_options.place_pruned_graph:
                self._placer.check_pins(self.graph.get_operations())
            ops = prune(fetches, feeds, targets, done or ())
            narrowed = narrow(ops, fetches, feeds, targets) if done is None else None
            if narrowed is None:
                placement = self._placer.place(ops)
            else:
                ops, fetches = narrowed.ops, narrowed.fetches
                placement = self._placer.place_copies(ops, narrowed.originals)
            if self._config.log_device_placement:
                self._log_placement()
            staging = Staging(ops, placement, feeds, fetches)
            partitions = partition(ops, placement, staging, feeds, fetches)
            for cut in partitions.values():
                if self.home.startswith(f"{cut.task}/") or not self.home:
                    cut.settled = settled_fetches(cut)
        parts = {task: self._register(part, [list(feeds).index(t) for t in part.feeds]) for task, part in partitions.items()}
        return StepPlan(parts, feeds, fetches, self)

    def next_step_id(self) -> int:
        """A number that no other step of the cluster has, until `note_end`."""
        try:
            return self._last_step_ids.pop() + LANES
        except IndexError:
            return next(self._first_step_ids)

    def retire(self, parts: Sequence[Part]) -> None:
        """Deregister these parts before the next plan is made; a session that is over has nothing registered."""
        if self.error is None:
            self._retired.extend(parts)

    def _deregister_retired(self) -> None:
        while self._retired:
            part = self._retired.popleft()
            # A task that is gone, or was restarted, has forgotten it.
            with contextlib.suppress(OpError):
                if part.worker.incarnation == part.incarnation:
                    part.worker.deregister(part.graph_handle)

    def prepare_partial(self, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]) -> PartialRun:
        """Begin a step that is run in pieces with these feeds, fetches and targets together."""
        self.raise_if_closed()
        return PartialRun(self._prepare_piece, feeds, fetches, targets)

    def _prepare_piece(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        done: Collection[Operation],
    ) -> StepPlan:
        """The plan of a piece; a program that runs the same pieces again gets the same plans."""
        key = tuple(feeds), tuple(fetches), tuple(targets), frozenset(done)
        with self._piece_lock:
            plan = self._pieces.get(key)
            if plan is None:
                plan = self.prepare(feeds, fetches, targets, done=done)
                if len(self._pieces) >= _MAX_PIECES:
                    self._pieces.pop(next(iter(self._pieces)))
                self._pieces[key] = plan
            return plan

    def raise_if_closed(self) -> None:
        """Raise what ended the session, if it was closed or its containers were reset."""
        if self.error is not None:
            raise self.error

    def _register(self, partition: Partition, feed_places: Sequence[int]) -> Part:
        """Register a part with its task, as the task is now."""
        worker = self._find_worker(partition.task)
        self._check_incarnation(partition.task, worker.connect())
        try:
            graph_handle = worker.register(self.handle, self._config, partition)
        finally:
            if self.error is not None:
                # The session was closed meanwhile, and its end may have reached the task before this graph did.
                worker.close_session(self.handle)
        self.raise_if_closed()
        return Part(partition, feed_places, worker, graph_handle, worker.incarnation)

    def renew(self, part: Part) -> Part:
        """Register a part again: its task was restarted, or the connection with it was lost.

        Raises:
            AbortedError: the task was restarted, and this session has not been told so before.
        """
        return self._register(part.partition, part.feed_places)

    def _check_incarnation(self, task: str, now: int) -> None:
        """Say once that a task is another run of itself.

        An error, and not only a line in the log: its variables may have values again, from another client that has found them
        missing, so nothing else would show this session that what it had done there is undone.
        """
        if not now:
            return
        with self._restart_lock:
            before = self._incarnations.setdefault(task, now)
            self._incarnations[task] = now
        if before == now:
            return
        told = (
            f"Task {task} was restarted (incarnation {now}, before {before}), noticed at {time.strftime('%H:%M:%S')}. Its "
            "variables have lost their values; if they have others now, another session has initialized or restored them since"
        )
        _LOG.warning("%s", told)
        raise AbortedError.of(f"{told}. This session is told so once: its next run uses the task as it is now")

    def _log_placement(self) -> None:
        """Print where each operation of the graph was placed, once; those whose devices are not there wait for their run."""
        ops = [op for op in self.graph.get_operations() if op not in self._logged]
        with contextlib.suppress(InvalidArgumentError):
            self._placer.place(ops)
        placed = [op for op in ops if op in self._placer.placement]
        self._logged.update(placed)
        # Nodes without inputs come last: they are placed last, near their consumers.
        for op in sorted(placed, key=lambda op: not op.inputs and not op.op_def.stateful):
            print(f"{op.name}: ({op.type}): {self._placer.placement[op]}")

    def note_start(self, step: StepRun) -> None:
        """A step is alive; it is cancelled when the session is closed, or was."""
        self._live.add(step)
        if self.error is not None:
            step.cancel(self.error)

    def note_end(self, step: StepRun) -> None:
        """A step is over, or will not be run; called once."""
        self._live.discard(step)
        self._last_step_ids.append(step.step_id)

    @property
    def live_steps(self) -> int:
        """How many steps run now."""
        return len(self._live)

    def list_devices(self) -> list[DeviceAttributes]:
        """The DeviceAttributes of every task of the session."""
        return self._device_attributes()

    def abandon(self) -> None:
        """Close the session; nothing here waits."""
        self.close()

    def drain(self, error: OpError) -> None:
        """Take no more steps; those that run go on until `close`."""
        if self.error is None:
            self.error, self._is_draining = error, True

    def close(self, error: OpError | None = None) -> None:
        """Cancel the steps that run and end the session. A second call does nothing."""
        if self.error is not None and not self._is_draining:
            return
        self._is_draining = False
        self.error = error or CancelledError.of("Step was cancelled by an explicit call to `Session::Close()`.")
        for step in list(self._live):
            step.cancel(self.error)
        self._on_close()
