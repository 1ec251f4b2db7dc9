"""MasterSession: one session's plans over the tasks of a cluster.

It turns each new combination of fetches and feeds into a StepPlan: prune, place, stage, partition, register; after that a step
costs no planning. Its steps are in `LiveSteps`, and what the tasks keep for it is the `Registrar`'s.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from weft.distributed.master.steps.live_steps import LiveSteps
from weft.distributed.master.steps.partial_run import PartialRun
from weft.distributed.master.steps.registrar import Registrar
from weft.distributed.master.steps.step_plan import StepPlan
from weft.distributed.worker.worker_handle import WorkerHandle
from weft.errors import CancelledError, InvalidArgumentError, OpError
from weft.framework.devices.device_attributes import DeviceAttributes
from weft.framework.devices.device_spec import task_name
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.passes.narrow import narrow
from weft.passes.partition import partition
from weft.passes.placer import Placer
from weft.passes.prune import prune
from weft.passes.settled_fetches import settled_fetches
from weft.passes.stage import Staging
from weft.platform.imports.collections import paused_collections

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
        self.timeout_ms = max(config.operation_timeout_in_ms, 0)
        self._device_attributes = device_attributes
        self.handle = handle
        self.graph = graph
        self.devices = list(devices)
        self._config = config
        self._on_close = on_close
        self._placer = Placer(devices, config.allow_soft_placement)
        self._logged: set[Operation] = set()
        self._plan_lock = threading.Lock()
        self._piece_lock = threading.Lock()
        self._pieces: dict[Any, StepPlan] = {}
        self.steps = LiveSteps()
        incarnations = {task_name(device.name): device.incarnation for device in device_attributes()}
        self.registrar = Registrar(handle, config, find_worker, incarnations, self.steps)

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
            AbortedError, UnavailableError: a task that the plan needs is not there, or was restarted; see `Registrar.renew`.
        """
        self.steps.raise_if_ended()
        self.registrar.deregister_retired()
        with self._plan_lock, paused_collections():
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
        parts = {
            task: self.registrar.register(part, [list(feeds).index(t) for t in part.feeds]) for task, part in partitions.items()
        }
        return StepPlan(parts, feeds, fetches, self)

    def prepare_partial(self, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]) -> PartialRun:
        """Begin a step that is run in pieces with these feeds, fetches and targets together."""
        self.steps.raise_if_ended()
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

    def list_devices(self) -> list[DeviceAttributes]:
        """The DeviceAttributes of every task of the session."""
        return self._device_attributes()

    def abandon(self) -> None:
        """Close the session; nothing here waits."""
        self.close()

    def drain(self, error: OpError) -> None:
        """Take no more steps; those that run go on until `close`."""
        self.steps.drain(error)

    def close(self, error: OpError | None = None) -> None:
        """Cancel the steps that run and end the session. A second call does nothing."""
        error = error or CancelledError.of("Step was cancelled by an explicit call to `Session::Close()`.")
        if self.steps.cancel_all(error):
            self._on_close()
