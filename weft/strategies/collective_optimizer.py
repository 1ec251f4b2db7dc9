"""CollectiveAllReduceOptimizer: workers that sum the gradients of their copies of variables, beside parameter servers.

A variable that stands on a parameter server is one for all workers: each applies its own gradients to it, most often those of a
few rows. A variable on a worker's own device is that worker's copy of one that all of them have: its gradients are brought
together by one collective of XLA's for the whole step, and each worker makes the same update.

The workers meet by `jax.distributed`, whose coordinator the first one runs on a port of its own choice; its address is a note
on the replica board of the first parameter server.
"""

from __future__ import annotations

import socket
import time
from typing import Final

from weft.errors import DeadlineExceededError, OpError
from weft.framework.building.aliases import SessionLike
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.framework.devices.device_spec import DeviceSpec
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation
from weft.framework.types.replica_values import Value
from weft.ops.control_flow.ordering import group
from weft.ops.variables.assign import assign
from weft.platform.hosts.free_ports import free_ports
from weft.platform.hosts.host_port import split_address
from weft.platform.logs import tf_logging
from weft.platform.waits.wait_notice import WaitNotice
from weft.proto.messages import ConfigProto
from weft.strategies.reduction.across_processes import AcrossProcesses
from weft.strategies.reduction.process_group import GROUP, Place
from weft.strategies.reduction.reduce_op import ReduceOp
from weft.training.coordinator import Coordinator
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.optimizers.optimizer import Optimizer
from weft.training.sessions.board import Board

_WORKERS: Final = ("chief", "master", "worker")
_NOTE: Final = "collectives"
_MEET_S: Final = 300.0
_LOOK_S: Final = 0.2


class CollectiveAllReduceOptimizer(Optimizer):
    """Wraps an optimizer: workers in step for the variables on their own devices, beside those on parameter servers.

        opt = tf.distribute.experimental.CollectiveAllReduceOptimizer(tf.train.AdamOptimizer(), cluster, "worker", index,
                                                                      table_opt=tf.train.AdagradOptimizer(0.1))
        server = tf.train.Server(cluster, "worker", index)
        with tf.device("/job:ps/task:0"):
            table = tf.get_variable("table", [1000000, 16])     # one for all workers
        with tf.device(opt.worker_device):
            step = tf.train.get_or_create_global_step()
            weights = tf.get_variable("weights", [16, 1])       # a copy of each worker
        train_op = opt.minimize(loss, global_step=step)
        hooks = [opt.make_session_run_hook()]

    It has to be made before XLA starts in the process, before any session: it blocks until all workers are there. Every worker
    builds the same model, and runs the same number of steps; one that is lost fails the next step of the others.

    Args:
        opt: the optimizer of the copies, which gets the mean of all workers' gradients.
        cluster: a ClusterSpec, or what one is made of, with jobs `ps` and `worker`, perhaps `chief`.
        job_name: this worker's job.
        task_index: its number there.
        table_opt: the optimizer of what is on parameter servers, which gets each worker's gradients by themselves. None where
            no such variable is trained.
        use_locking: see Optimizer.
        name: the name of the operations.

    Raises:
        ValueError: the cluster has no parameter server, or this task is no worker of it.
        DeadlineExceededError: the workers did not meet within 300 s.
        FailedPreconditionError: XLA runs in this process already.
    """

    def __init__(
        self,
        opt: Optimizer,
        cluster: Value,
        job_name: str = "worker",
        task_index: int = 0,
        table_opt: Optimizer | None = None,
        use_locking: bool = False,
        name: str = "collective_all_reduce",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt = opt
        self._table_opt = table_opt
        self._copies: list[Value] = []
        self._ways = AcrossProcesses(uses_accelerators=False)
        spec = ClusterSpec(cluster)
        tasks: list[tuple[str, int]] = [(job, each) for job in _WORKERS if job in spec.jobs for each in spec.task_indices(job)]
        if not spec.as_dict().get("ps"):
            raise ValueError(
                "CollectiveAllReduceOptimizer: the cluster has no `ps` job. Without parameter servers use "
                "tf.distribute.experimental.MultiWorkerMirroredStrategy"
            )
        if (job_name, task_index) not in tasks:
            raise ValueError(f"CollectiveAllReduceOptimizer: {job_name}:{task_index} is no worker of the cluster, only {tasks}")
        self.worker_device = f"/job:{job_name}/task:{task_index}"
        """Where this worker's copies are: make them there."""
        self._index = tasks.index((job_name, task_index))
        self._count = len(tasks)
        if self._count > 1:
            place = Place(_coordinator(spec, tasks[0], self._index, self._count), self._count, self._index)
            GROUP.join(place, self._ways.uses_accelerators)
            self._ways.place = place

    @property
    def num_replicas_in_sync(self) -> int:
        """How many workers' gradients make an update."""
        return self._count

    @property
    def is_chief(self) -> bool:
        """Whether this is the first worker, which initializes and saves the model."""
        return self._index == 0

    def compute_gradients(self, *args: Value, **kwargs: Value) -> Value:
        """The wrapped optimizer's, computed on this worker; clip or change them before `apply_gradients`.

        Args:
            args, kwargs: those of the wrapped optimizer's `compute_gradients`.
        """
        with get_default_graph().device(self.worker_device):
            return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Value, global_step: Value = None, name: str | None = None) -> Operation:
        """Add the sum over all workers, and the updates.

        Args:
            grads_and_vars: (gradient, variable) pairs.
            global_step: the variable that counts the steps, a copy of each worker; it goes up by one.
            name: the name of the operation.

        Raises:
            ValueError: a variable on a parameter server has a gradient without a `table_opt`, or is the global step.
        """
        pairs = [(gradient, variable) for gradient, variable in grads_and_vars if gradient is not None]
        copies = [pair for pair in pairs if not _is_shared(pair[1])]
        tables = [pair for pair in pairs if _is_shared(pair[1])]
        if global_step is not None and _is_shared(global_step):
            raise ValueError(
                f"CollectiveAllReduceOptimizer: the global step {global_step.name!r} is on {global_step.device}, where every "
                f"worker would add to it. Make it, and what the workers train in step, under tf.device(opt.worker_device)"
            )
        if tables and self._table_opt is None:
            shown = ", ".join(variable.name for _, variable in tables[:3])
            raise ValueError(f"CollectiveAllReduceOptimizer: {shown} on parameter servers have gradients: give a table_opt")
        graph = get_default_graph()
        updates = []
        with graph.name_scope(name or self._name) as scope:
            if tables and self._table_opt is not None:
                updates.append(self._table_opt.apply_gradients(tables))
            with graph.device(self.worker_device):
                means = self._ways.batch_reduce(ReduceOp.MEAN, [(each, self.worker_device) for each, _ in copies])
                if copies:
                    with graph.control_dependencies(list(updates)):
                        updates.append(
                            self._opt.apply_gradients(
                                list(zip(means, [variable for _, variable in copies], strict=True)), global_step
                            )
                        )
            made = group(*updates, name=scope)
        self._take_copies()
        return made

    def _take_copies(self) -> None:
        """Find all variables on this worker's device. But for the chief's they are local: nobody else initializes them."""
        graph = get_default_graph()
        found = graph.get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
        self._copies = [each for each in found if not _is_shared(each)]
        if not self.is_chief:
            found[:] = [each for each in found if _is_shared(each)]
            graph.get_collection_ref(GraphKeys.LOCAL_VARIABLES).extend(self._copies)

    def get_slot(self, var: Value, name: str) -> Value:
        """A slot, of whichever optimizer updates the variable."""
        return (self._table_opt if self._table_opt is not None and _is_shared(var) else self._opt).get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """The names of the slots of both optimizers."""
        return sorted({*self._opt.get_slot_names(), *(self._table_opt.get_slot_names() if self._table_opt else ())})

    def variables(self) -> list[Value]:
        """The variables of both optimizers."""
        return [*self._opt.variables(), *(self._table_opt.variables() if self._table_opt else ())]

    def make_session_run_hook(self) -> SessionRunHook:
        """A hook for each worker's session: it gives the chief's values to all copies when a session begins."""
        return _SameValues(self)

    def same_values_op(self) -> Operation:
        """The operation that gives the chief's values to all workers' copies; all of them have to run it."""
        with get_default_graph().device(self.worker_device), get_default_graph().name_scope(None):
            return group(
                *(assign(each, self._ways.of_first(each.read_value(), None, is_initial=True)) for each in self._copies),
                name="same_values",
            )

    @property
    def is_together(self) -> bool:
        """Whether there are other workers."""
        return self._count > 1


class _SameValues(SessionRunHook):
    """Gives the chief's values to all workers' copies."""

    def __init__(self, optimizer: CollectiveAllReduceOptimizer) -> None:
        self._optimizer = optimizer
        self._op: Operation | None = None

    def begin(self) -> None:
        if self._optimizer.is_together:
            self._op = self._optimizer.same_values_op()

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        if self._op is not None:
            session.run(self._op)


def _is_shared(variable: Value) -> bool:
    return DeviceSpec.from_string(variable.device or "").job == "ps"


def _coordinator(cluster: ClusterSpec, first: tuple[str, int], index: int, count: int) -> str:
    """Where the workers meet: the first one says it, the others read it and wait until somebody listens there."""
    server = cluster.task_address("ps", cluster.task_indices("ps")[0])
    host, _ = split_address(cluster.task_address(*first))
    device = f"/job:ps/task:{cluster.task_indices('ps')[0]}"
    # The other tasks need not be there yet.
    board = Board(f"grpc://{server}", ConfigProto(device_filters=[device]), [device])
    own = f"{host}:{free_ports(1)[0]}"
    notice, deadline_s = WaitNotice(), time.monotonic() + _MEET_S
    try:
        while True:
            try:
                if index == 0:
                    board.keep(_NOTE, own.encode())
                    return own
                found = board.read().get(_NOTE)
                if found is not None and _listens(found[0].decode()):
                    return found[0].decode()
                reason = f"{first[0]}:{first[1]} has not said where the workers meet"
            except OpError as error:
                reason = f"ps:0 at {server}: {error.message}"
            if time.monotonic() >= deadline_s:
                raise DeadlineExceededError.of(f"The {count} workers did not meet within {_MEET_S:g} s: {reason}")
            if notice.is_due():
                tf_logging.warning("Waiting for the other workers, for %.0f s: %s", notice.waited_s, reason)
            time.sleep(_LOOK_S)
    finally:
        board.close()


def _listens(address: str) -> bool:
    host, port = split_address(address)
    try:
        socket.create_connection((host, port), 1.0).close()
    except OSError:
        return False
    return True
