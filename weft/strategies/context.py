"""ReplicaContext: one replica as the function that builds it sees it, and the checks of where a method is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.autodiff.custom_gradient import custom_gradient
from weft.framework.context import replication
from weft.framework.context.replication import Mode
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types.printed import printed
from weft.framework.types.replica_values import Function, StrategyLike, Value
from weft.strategies.reduction.reduce_op import as_reduce_op
from weft.strategies.replicas.devices import device_in_scope


class ReplicaContext:
    """One of the replicas that a strategy builds; see `tf.distribute.get_replica_context`.

    Args:
        strategy: the strategy.
        replica_id_in_sync_group: a scalar int32 tensor, the replica's number among all that are in sync.
        local_index: its number among those of this process.
    """

    __repr__ = printed("tf.distribute")

    def __init__(self, strategy: StrategyLike, replica_id_in_sync_group: Value, local_index: int = 0) -> None:
        self._strategy = strategy
        self._replica_id_in_sync_group = replica_id_in_sync_group
        self._local_index = local_index
        self._entered: list[Value] = []

    def __enter__(self) -> None:
        entered = replication.entered(Mode(self._strategy, self))
        entered.__enter__()
        self._entered.append(entered)

    def __exit__(self, *error: Value) -> None:
        self._entered.pop().__exit__(*error)

    @property
    def strategy(self) -> StrategyLike:
        """The strategy."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas' gradients are brought together."""
        return int(self._strategy.num_replicas_in_sync)

    @property
    def replica_id_in_sync_group(self) -> Value:
        """The replica's number among all that are in sync, a scalar int32 tensor."""
        require_replica_context(self)
        return self._replica_id_in_sync_group

    @property
    def local_index(self) -> int:
        """The replica's number among those of this process."""
        return self._local_index

    @property
    def devices(self) -> tuple[str, ...]:
        """The replica's device."""
        require_replica_context(self)
        return (device_in_scope(),)

    def merge_call(self, merge_fn: Function, args: Sequence[object] = (), kwargs: Mapping[str, object] | None = None) -> Value:
        """Call `merge_fn(strategy, *args, **kwargs)` once for all replicas, and go on with this replica's part of its result.

        Args:
            merge_fn: gets each argument as PerReplica, or as it is where all replicas give the same object.
            args, kwargs: this replica's arguments.

        Raises:
            RuntimeError: another replica is being built.
        """
        require_replica_context(self)
        return self._merge_call(merge_fn, args, kwargs or {})

    def _merge_call(self, merge_fn: Function, args: Sequence[object], kwargs: Mapping[str, object]) -> Value:
        with replication.entered(Mode(self._strategy)):
            return merge_fn(self._strategy, *args, **kwargs)

    def all_reduce(self, reduce_op: Value, value: Value) -> Value:
        """The sum or mean of a structure of tensors over all replicas; its gradient is the same of the gradients.

        Args:
            reduce_op: ReduceOp.SUM or ReduceOp.MEAN, or its name.
            value: the structure of tensors.
        """
        op = as_reduce_op(reduce_op)

        def reduced(strategy: StrategyLike, *flat: Value) -> Value:
            return strategy.extended.batch_reduce_to(op, [(each, _destination(each)) for each in flat])

        @custom_gradient
        def with_gradient(*tensors: Tensor) -> Value:
            results = self.merge_call(reduced, args=tensors)
            return results, lambda *grads: self.all_reduce(op, list(grads))

        flat = with_gradient(*nest.flatten(value))
        return nest.pack_sequence_as(value, flat if isinstance(flat, list | tuple) else [flat])


def _destination(value: Value) -> Value:
    return value.device if isinstance(value, Tensor) else value


def require_replica_context(replica_ctx: ReplicaContext) -> None:
    """Raise RuntimeError unless this replica is the one that is being built.

    Args:
        replica_ctx: the ReplicaContext that should be the present one.
    """
    mode = replication.current()
    if mode is not None and mode.replica is replica_ctx:
        return
    if mode is None and getattr(replica_ctx.strategy.extended, "is_default", False):
        return
    if mode is None or mode.replica is None:
        raise RuntimeError("Need to be inside `call_for_each_replica()`")
    if mode.strategy is replica_ctx.strategy:
        raise RuntimeError("Mismatching ReplicaContext.")
    raise RuntimeError(f"Mismatching tf.distribute.Strategy objects: {mode.strategy} is not {replica_ctx.strategy}.")


def require_cross_replica(strategy: StrategyLike) -> None:
    """Raise RuntimeError where a replica, or something in another strategy's scope, is being built."""
    mode = replication.current()
    if mode is None:
        return
    if mode.strategy is not strategy:
        wrong_scope(strategy)
    if mode.replica is not None:
        raise RuntimeError("Method requires being in cross-replica context, use get_replica_context().merge_call()")


def require_scope(strategy: StrategyLike) -> None:
    """Raise RuntimeError outside the strategy's scope."""
    mode = replication.current()
    if mode is None or mode.strategy is not strategy:
        wrong_scope(strategy)


def wrong_scope(strategy: object) -> None:
    """Raise the RuntimeError for what must be in this strategy's scope and is not."""
    mode = replication.current()
    if mode is None:
        raise RuntimeError(f'Need to be inside "with strategy.scope()" for {strategy}')
    raise RuntimeError(f"Mixing different tf.distribute.Strategy objects: {mode.strategy} is not {strategy}")


class UpdateContext:
    """The update of one device's copies, as `extended.update` opens it for its function.

    Args:
        device: the name of the device whose copies are updated.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._entered: list[Value] = []

    def __enter__(self) -> None:
        mode = replication.current()
        strategy = None if mode is None else mode.strategy
        entered = replication.entered(Mode(strategy, update_device=self._device))  # type: ignore[arg-type]
        entered.__enter__()
        self._entered.append(entered)

    def __exit__(self, *error: Value) -> None:
        self._entered.pop().__exit__(*error)
