"""Strategy: builds one model for each of several devices or workers, and keeps what they learn together."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NoReturn

from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.replica_values import Function, Value
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.shape_ops import size as size_of
from weft.ops.math.casting import cast
from weft.ops.math.reduce_functions import reduce_sum
from weft.strategies.context import require_cross_replica
from weft.strategies.extended import StrategyExtended
from weft.strategies.reduction.reduce_op import ReduceOp, as_reduce_op

_BLOCK: Final = "its variables are made in a block of `with strategy.scope():`"


class InputReplicationMode(enum.Enum):
    """How often an input function is called: once for each worker."""

    PER_WORKER = "PER_WORKER"


class Strategy:
    """Builds one model for each of several devices or workers.

        strategy = tf.distribute.MirroredStrategy(["/gpu:0", "/gpu:1"])
        with strategy.scope():
            iterator = strategy.make_dataset_iterator(dataset)
            losses = strategy.experimental_run(step_fn, iterator)
            loss = strategy.reduce(tf.distribute.ReduceOp.MEAN, losses)

    Args:
        extended: what the strategy does.
    """

    def __init__(self, extended: StrategyExtended) -> None:
        self._extended = extended
        self._scales_loss = False

    def __repr__(self) -> str:
        places = ""
        # The default strategy, and one that has not met its cluster yet, have no devices to tell.
        with contextlib.suppress(NotImplementedError, RuntimeError):
            places = f" on {', '.join(map(str, self._extended.worker_devices))}"
        return f"<tf.distribute.{type(self).__name__} of {self.num_replicas_in_sync} replicas{places}>"

    def __enter__(self) -> NoReturn:
        raise TypeError(f"'{type(self).__name__}' object does not support the context manager protocol: {_BLOCK}")

    def __exit__(self, *_: object) -> None:
        """Is there for the message of `__enter__`."""

    @property
    def extended(self) -> Value:
        """What the strategy does, for those who write optimizers, metrics and strategies."""
        return self._extended

    def scope(self) -> contextlib.AbstractContextManager[Value]:
        """Make variables as the strategy does, for the extent of a block.

        Returns:
            A context manager whose value is the strategy.
        """
        return self._extended.scope()

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas' gradients are brought together in a step."""
        return self._extended.num_replicas_in_sync

    # Estimators have the losses that are means divided by the number of replicas.

    @property
    def scales_loss(self) -> bool:
        """Whether optimizers divide a loss that is a mean by the number of replicas, whose gradients they sum."""
        return self._scales_loss

    @contextlib.contextmanager
    def scaling_loss(self) -> Iterator[None]:
        """Let optimizers divide a loss that is a mean by the number of replicas, for the extent of the block."""
        self._scales_loss = True
        try:
            yield
        finally:
            self._scales_loss = False

    # Input.

    def make_dataset_iterator(self, dataset: Value) -> Value:
        """An iterator of a dataset of global batches: each is divided among the replicas.

        Its `initialize()` gives the operations that let it begin; `experimental_run` takes it.

        Args:
            dataset: a `tf.data.Dataset` of global batches.
        """
        return self._extended.make_dataset_iterator(dataset)

    def make_input_fn_iterator(
        self, input_fn: Function, replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    ) -> Value:
        """An iterator of the dataset that `input_fn(input_context)` returns: each replica takes a whole batch of it.

        Args:
            input_fn: returns a `tf.data.Dataset` for a `tf.distribute.InputContext`.
            replication_mode: PER_WORKER: `input_fn` is called once in each worker.

        Raises:
            ValueError: the mode is another one.
        """
        if replication_mode is not InputReplicationMode.PER_WORKER:
            raise ValueError(f"Input replication mode not supported: {replication_mode!r}")
        with self.scope():
            return self._extended.make_input_fn_iterator(input_fn)

    def experimental_distribute_dataset(self, dataset: Value) -> Value:
        """A dataset of global batches, each of which is divided among the replicas.

        Args:
            dataset: a `tf.data.Dataset` of global batches.
        """
        return self._extended.distribute_dataset(dataset)

    def experimental_distribute_datasets_from_function(self, dataset_fn: Function) -> Value:
        """The dataset that `dataset_fn(input_context)` returns: each replica takes a whole batch of it.

        Args:
            dataset_fn: returns a `tf.data.Dataset` for a `tf.distribute.InputContext`.
        """
        return self._extended.distribute_datasets_from_function(dataset_fn)

    def experimental_make_numpy_dataset(self, numpy_input: Value, session: Value = None) -> Value:
        """A dataset of the rows of a structure of arrays.

        Args:
            numpy_input: arrays `[examples, ...]`, nested in tuples or dicts.
            session: taken and without effect.
        """
        return self._extended.make_numpy_dataset(numpy_input)

    # Replicas.

    def experimental_run(self, fn: Function, input_iterator: Value = None) -> Value:
        """Build each replica by `fn(inputs)`, where `inputs` is its part of the iterator's next element.

        Args:
            fn: builds a replica; returns tensors, nested as it likes.
            input_iterator: an iterator of this strategy; `fn` is called without arguments when None.

        Returns:
            What the replicas gave: PerReplica where they differ.
        """
        with self.scope():
            args = (input_iterator.get_next(),) if input_iterator is not None else ()
        return self.experimental_run_v2(fn, args=args)

    def experimental_run_v2(
        self, fn: Function, args: Sequence[object] = (), kwargs: Mapping[str, object] | None = None
    ) -> Value:
        """Build each replica by `fn(*args, **kwargs)`, of whose arguments it gets its own part.

        Args:
            fn: builds a replica; returns tensors, nested as it likes.
            args: its arguments; of PerReplica values each replica gets its own.
            kwargs: its arguments by name, the same.

        Returns:
            What the replicas gave: PerReplica where they differ.

        Raises:
            TypeError: `fn` is no function.
        """
        with self.scope():
            return self._extended.call_for_each_replica(fn, args=args, kwargs=kwargs)

    def reduce(self, reduce_op: Value, value: Value, axis: int | None = None) -> Value:
        """The sum or mean of replicas' values, a tensor.

        Args:
            reduce_op: ReduceOp.SUM or ReduceOp.MEAN, or its name.
            value: what `experimental_run` returned, or a part of it.
            axis: a dimension to reduce too, such as that of the examples, whose number may differ between replicas.

        Raises:
            RuntimeError: a replica is being built.
            TypeError: `axis` or `reduce_op` is none.
            ValueError: there is no such axis.
        """
        require_cross_replica(self)
        operation = as_reduce_op(reduce_op)
        if axis is None:
            return self._extended.reduced(operation, value)
        if operation is ReduceOp.SUM:
            sums = self.experimental_run_v2(lambda each: reduce_sum(each, axis=axis), args=(value,))
            return self._extended.reduced(operation, sums)
        if not isinstance(axis, int):
            raise TypeError(f"Expected `axis` to be an integer not: {axis!r}")
        totals, counts = self.experimental_run_v2(lambda each: _total_and_count(each, axis), args=(value,))
        total = self._extended.reduced(ReduceOp.SUM, totals)
        return total / cast(self._extended.reduced(ReduceOp.SUM, counts), total.dtype)

    def unwrap(self, value: Value) -> tuple[Value, ...]:
        """The values of this process's replicas.

        Args:
            value: a PerReplica value, or any other, which is the only one.
        """
        return self._extended.local_results(value)

    def experimental_local_results(self, value: Value) -> tuple[Value, ...]:
        """The values of this process's replicas.

        Args:
            value: a PerReplica value, or any other, which is the only one.
        """
        return self._extended.local_results(value)

    def group(self, value: Value, name: str | None = None) -> Value:
        """One operation for what all replicas gave.

        Args:
            value: tensors or operations, PerReplica or nested.
        """
        return self._extended.grouped(value, name)

    def colocate_vars_with(self, colocate_with_variable: Value) -> contextlib.AbstractContextManager[Value]:
        """Make variables on the devices of another one, for the extent of a block.

        Args:
            colocate_with_variable: a variable that the strategy made.

        Returns:
            A context manager, without a value.
        """
        return self._extended.colocate_vars_with(colocate_with_variable)

    # The cluster.

    def configure(
        self,
        session_config: Value = None,
        cluster_spec: Value = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        """Take this process's place in a cluster, and fit a session's ConfigProto.

        Args:
            session_config: a ConfigProto, which is changed; None for none.
            cluster_spec: the cluster; None for this process alone.
            task_type: the job of this process.
            task_id: its number in the job.
        """
        self._extended.configure(session_config, cluster_spec, task_type, task_id)

    def update_config_proto(self, config_proto: Value) -> Value:
        """A copy of a ConfigProto with what the strategy needs.

        Args:
            config_proto: a ConfigProto, which stays as it is.
        """
        return self._extended.update_config_proto(config_proto)

    def __deepcopy__(self, memo: dict[int, Value]) -> Strategy:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        vars(made).update(vars(self))
        made._extended = self._extended.copied_for(made)
        return made

    def __copy__(self) -> Strategy:
        raise RuntimeError("Must only deepcopy DistributionStrategy.")


def _total_and_count(value: Tensor, axis: int) -> tuple[Value, Value]:
    """The sum along an axis, and how many were summed."""
    rank = value.get_shape().ndims
    if rank is not None and not -rank <= axis < rank:
        raise ValueError(f"`axis` = {axis!r} out of range for `value` with rank {rank}")
    total = reduce_sum(value, axis=axis)
    if rank == 1:
        return total, size_of(value, out_type=dtypes.int64)
    return total, shape_of(value, out_type=dtypes.int64)[axis]
