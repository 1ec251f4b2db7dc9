"""The strategy in force, and the default one where there is none: one replica, without any scope."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Final

from weft.framework.context import replication
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.types import dtypes
from weft.framework.types.replica_values import Function, StrategyLike, Value
from weft.ops.array.constant import constant
from weft.strategies.context import ReplicaContext
from weft.strategies.extended import StrategyExtended
from weft.strategies.input.iterators import InputContext, ReplicaIterator, dataset_of
from weft.strategies.reduction.reduce_op import ReduceOp
from weft.strategies.replicas.values import local_results
from weft.strategies.strategy import Strategy


class _DefaultExtended(StrategyExtended):
    """What there is outside the scope of any strategy."""

    is_default = True

    @contextlib.contextmanager
    def scope(self) -> Iterator[Value]:
        """Nothing; RuntimeError inside another strategy's scope."""
        if replication.current() is not None:
            raise RuntimeError("Must not nest tf.distribute.Strategy scopes.")
        yield self.strategy

    def variable_created_in_scope(self, v: Value) -> bool:
        """Whether the variable was made outside the scope of any strategy."""
        return getattr(v, "distribute_strategy", None) is None

    def colocate_vars_with(self, colocate_with_variable: Value) -> contextlib.AbstractContextManager[None]:
        """Colocate with a variable, for the extent of a block."""
        return get_default_graph().colocate_with(colocate_with_variable)

    def _call_for_each_replica(self, fn: Function, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        return fn(*args, **kwargs)

    def _reduce_to(self, reduce_op: ReduceOp, value: Value, destinations: Value) -> Value:
        return value

    def _broadcast_to(self, tensor: Value, destinations: Value) -> Value:
        return tensor

    def _update(
        self,
        var: Value,
        fn: Function,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        is_grouped: bool,
    ) -> Value:
        return self._update_non_slot(var, fn, (var, *args), kwargs, is_grouped)

    def _update_non_slot(
        self,
        colocate_with: Value,
        fn: Function,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        is_grouped: bool,
    ) -> Value:
        result = fn(*args, **kwargs)
        return result if is_grouped else nest.map_structure(local_results, result)

    def non_slot_devices(self, var_list: Value) -> Value:
        """The first of the variables by name."""
        return min(var_list, key=lambda each: each.name)

    def make_dataset_iterator(self, dataset: Value) -> Value:
        """An iterator of the dataset."""
        return _PlainIterator(dataset)

    def make_input_fn_iterator(self, input_fn: Function) -> Value:
        """An iterator of the dataset that the function gives."""
        return _PlainIterator(dataset_of(input_fn, InputContext()))

    def distribute_dataset(self, dataset: Value) -> Value:
        """The dataset."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Function) -> Value:
        """The dataset that the function gives."""
        return dataset_fn(InputContext())

    @property
    def num_replicas_in_sync(self) -> int:
        """One."""
        return 1

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """Not known; RuntimeError."""
        raise RuntimeError("worker_devices() method unsupported by default tf.distribute.Strategy.")

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """Not known; RuntimeError."""
        raise RuntimeError("parameter_devices() method unsupported by default tf.distribute.Strategy.")


class _PlainIterator(ReplicaIterator):
    """An iterator for the one replica."""

    def __init__(self, dataset: Value) -> None:
        super().__init__(dataset, ("",), "")


class _DefaultReplica(ReplicaContext):
    """The one replica outside the scope of any strategy."""

    def _merge_call(self, merge_fn: Function, args: Value, kwargs: Value) -> Value:
        return merge_fn(self.strategy, *args, **kwargs)

    @property
    def replica_id_in_sync_group(self) -> Value:
        """Zero, in the default graph."""
        return constant(0, dtypes.int32)


class _DefaultStrategy(Strategy):
    """The strategy where there is none."""

    def __init__(self) -> None:
        super().__init__(_DefaultExtended(self))


_DEFAULT: Final = _DefaultStrategy()
_DEFAULT_REPLICA: Final = _DefaultReplica(_DEFAULT, None)
# The scope that `experimental_set_strategy` has opened.
_SET: Final[ContextVar[contextlib.ExitStack | None]] = ContextVar("weft_strategy_set", default=None)


def get_strategy() -> StrategyLike:
    """The strategy in whose scope this is; the default one outside of any."""
    mode = replication.current()
    return _DEFAULT if mode is None else mode.strategy


def has_strategy() -> bool:
    """Whether this is in the scope of a strategy."""
    return replication.current() is not None


def in_cross_replica_context() -> bool:
    """Whether this is in the scope of a strategy, beside its replicas."""
    mode = replication.current()
    return mode is not None and mode.replica is None


def get_replica_context() -> Value:
    """The replica that is being built, the default one outside the scope of any strategy; None beside replicas."""
    mode = replication.current()
    return _DEFAULT_REPLICA if mode is None else mode.replica


def get_cross_replica_context() -> Value:
    """The strategy in whose scope, and beside whose replicas, this is; None elsewhere."""
    mode = replication.current()
    return None if mode is None or mode.replica is not None else mode.strategy


def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Open the scope of a strategy without a block, until another one, or None, is set.

    Args:
        strategy: the strategy; None ends the scope of the one that was set before.

    Raises:
        RuntimeError: this is inside a block of a strategy's scope.
    """
    before = _SET.get()
    if before is None and replication.current() is not None:
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    if before is not None:
        before.close()
        _SET.set(None)
    if strategy is not None:
        stack = contextlib.ExitStack()
        stack.enter_context(strategy.scope())
        _SET.set(stack)
