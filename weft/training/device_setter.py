"""replica_device_setter: the device function that puts variables on parameter servers and everything else on a worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from weft.framework.devices.cluster_spec import ClusterLike, ClusterSpec
from weft.framework.devices.device_spec import DeviceSpec, canonical_name, merge_names
from weft.framework.nodes.operation import Operation
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.logs import tf_logging

# Ops that hold state which the replicas share.
STANDARD_PS_OPS: Final = (
    "Variable",
    "VariableV2",
    "AutoReloadVariable",
    "MutableHashTable",
    "MutableHashTableV2",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "VarHandleOp",
    "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp",
    "ResourceConditionalAccumulator",
    "DecisionTreeResource",
)


class _RoundRobinStrategy:
    """Gives each op the next task, and starts over after the last."""

    def __init__(self, num_tasks: int) -> None:
        self._num_tasks = num_tasks
        self._next_task = 0

    def __call__(self, op: object) -> int:
        task = self._next_task
        self._next_task = (task + 1) % self._num_tasks
        return task


class _ReplicaDeviceChooser:
    """Chooses the device of each op by its type."""

    def __init__(
        self,
        ps_tasks: int,
        ps_device: str,
        worker_device: str,
        merge_devices: bool,
        ps_ops: Sequence[str],
        ps_strategy: Callable[[Any], int],
    ) -> None:
        self._ps_tasks = ps_tasks
        self._ps_device = canonical_name(ps_device)
        self._ps_job = DeviceSpec.from_string(ps_device).job
        self._worker_device = canonical_name(worker_device)
        self._merge_devices = merge_devices
        self._ps_ops = frozenset(ps_ops)
        self._ps_strategy = ps_strategy

    def device_function(self, op: Any) -> str:
        """The device of an op: what an inner scope gave it, completed by the parameter server's or the worker's."""
        if isinstance(op, str):
            # Whoever has it asks for a device by hand, where tf.device would ask for one for each op.
            raise AttributeError(
                f"'str' object has no attribute 'device': what replica_device_setter returns takes an Operation, not {op!r}. "
                "Give it to tf.device uncalled, `with tf.device(device_setter):`; a fixed device is `with "
                "tf.device('/job:ps/task:0'):`."
            )
        current: str = op.device or ""
        if current and not self._merge_devices:
            return current
        kind = getattr(op, "type", None) or op.op
        if not (self._ps_device and kind in self._ps_ops):
            return merge_names(self._worker_device, current)
        outer = self._ps_device
        # An inner scope that names another job has taken the op off the parameter servers: it has no turn.
        if self._ps_job and DeviceSpec.from_string(current).job in (None, self._ps_job):
            outer = merge_names(outer, f"/task:{self._ps_strategy(op)}")
        return merge_names(outer, current)


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str | None = "/job:ps",
    worker_device: str | None = "/job:worker",
    merge_devices: bool = True,
    cluster: ClusterLike | None = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Callable[[Any], int] | None = None,
) -> Callable[[Any], str] | None:
    """Return a device function for `tf.device` that spreads variables over the parameter servers.

    Each setter counts for itself: replicas that make the same variables in the same order agree on where they are. What an
    inner `tf.device` says wins, field by field.

    Args:
        ps_tasks: how many parameter servers there are; not used when `cluster` is given.
        ps_device: their job; its task is chosen by `ps_strategy`. Nothing goes there when None or empty.
        worker_device: where all other ops go; where the program's own scopes put them when None or empty.
        merge_devices: complete the device of an inner scope; False leaves it as it is.
        cluster: a ClusterSpec, ClusterDef or dict that tells how many parameter servers there are.
        ps_ops: the types of ops that go to the parameter servers; the variables and tables when None.
        ps_strategy: a function from the op to its task's index; round robin when None.

    Returns:
        None when there are no parameter servers.

    Raises:
        TypeError: `cluster` is none of these, `ps_strategy` is not callable, or another argument is not what it takes.
        ValueError: `ps_tasks` is negative.

    >>> with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
    ...     v, w = tf.Variable(1.0), tf.Variable(2.0)
    >>> v.device, w.device
    ('/job:ps/task:0', '/job:ps/task:1')
    """
    if isinstance(ps_tasks, Operation):
        raise TypeError(
            f"replica_device_setter was called with the operation {ps_tasks.name!r}. A function in tf.device is called with "
            "each operation and returns a name; is the call that makes it lacking, "
            "tf.device(tf.train.replica_device_setter(...))?"
        )
    check_arguments(replica_device_setter, ps_tasks=ps_tasks, ps_device=ps_device, worker_device=worker_device, ps_ops=ps_ops)
    ps_device, worker_device = ps_device or "", worker_device or ""
    if ps_tasks < 0:
        raise ValueError(f"ps_tasks is {ps_tasks}: it is the number of parameter servers, 0 where there are none")
    if cluster is not None:
        tasks = ClusterSpec(cluster).as_dict().get(DeviceSpec.from_string(ps_device).job or "")
        ps_tasks = len(tasks or ())
    if not ps_tasks:
        return None
    if ps_strategy is None:
        ps_strategy = _RoundRobinStrategy(ps_tasks)
    if not callable(ps_strategy):
        raise TypeError(
            f"ps_strategy must be callable, got {type(ps_strategy).__name__}: a function from an operation to the number of "
            "its task, such as tf.contrib.training.GreedyLoadBalancingStrategy(ps_tasks, load_fn)."
        )
    if not merge_devices:
        tf_logging.warning("replica_device_setter: merge_devices=False is deprecated; inner devices are best completed")
    ops = STANDARD_PS_OPS if ps_ops is None else ps_ops
    return _ReplicaDeviceChooser(ps_tasks, ps_device, worker_device, merge_devices, ops, ps_strategy).device_function
