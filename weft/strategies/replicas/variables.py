"""Variables that each replica has a copy of: MirroredVariable, kept the same, and SyncOnReadVariable, together when read.

Both are resource variables that stand for one of their copies: that of the replica or of the update that is being built, or of
the device in scope, else the first. Collections, optimizers and checkpoints know the whole alone, by the first copy's name.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Sequence

from weft.framework.building.aliases import DynamicShape, SessionLike, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.context import replication
from weft.framework.context.replication import Strategy
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.replica_values import Function, StrategyLike, Value
from weft.ops.array.identity import identity_node
from weft.ops.control_flow.ordering import group
from weft.ops.math.comparison import logical_and
from weft.ops.variables.options import VariableAggregation
from weft.ops.variables.resource_variable import ResourceVariable
from weft.ops.variables.saveable_object import SaveableObject, SaveSpec
from weft.ops.variables.saveables import ResourceVariableSaveable
from weft.strategies.reduction.reduce_op import ReduceOp
from weft.strategies.replicas.devices import device_in_scope

NO_AGGREGATION = (
    "You must specify an aggregation method to update a {kind} in Replica Context. You can do so by passing an explicit value "
    "for argument `aggregation` to tf.Variable(..).e.g. `tf.Variable(..., aggregation=tf.VariableAggregation.SUM)`"
    "`tf.VariableAggregation` lists the possible aggregation methods. Replicas keep the copies of {name!r} the same, so the "
    "values that they assign must become one first. Or update it once for all replicas, in the function that "
    "`tf.distribute.get_replica_context().merge_call(merge_fn, ..)` calls, by `tf.distribute.StrategyExtended.update()`."
)


class DistributedVariable(ResourceVariable):
    """A variable with a copy on each of several devices.

    Args:
        strategy: the strategy in whose scope it is made.
        devices: the devices, by full names.
        copies: the variables, in the order of the devices.
        aggregation: how values of replicas become one.
    """

    def __init__(
        self, strategy: Strategy, devices: Sequence[str], copies: Sequence[ResourceVariable], aggregation: VariableAggregation
    ) -> None:
        own = {"_variable", "_snapshot", "_graph_element", "_initial_value", "_initializer_op", "_is_initialized_op"}
        vars(self).update({key: value for key, value in vars(copies[0]).items() if key not in own})
        self._aggregation = aggregation
        self._distribute_strategy = strategy
        self._devices = tuple(devices)
        self._copies = tuple(copies)
        self._initializers: Operation | None = None
        for each in copies:
            vars(each)["distributed_container"] = weakref.ref(self)

    @staticmethod
    def of(value: object) -> DistributedVariable | None:
        """The variable that `value` is a copy of; None when it is no copy."""
        reference = getattr(value, "distributed_container", None)
        whole: DistributedVariable | None = None if reference is None else reference()
        # What reads a copy after an update has all that the copy has, and is none.
        return whole if whole is not None and any(value is each for each in whole.values) else None

    # Its copies.

    @property
    def distribute_strategy(self) -> Strategy:
        """The strategy in whose scope it was made."""
        return self._distribute_strategy

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of the copies."""
        return self._devices

    @property
    def values(self) -> tuple[ResourceVariable, ...]:
        """The copies, in the order of the devices."""
        return self._copies

    @property
    def primary(self) -> ResourceVariable:
        """The first copy."""
        return self._copies[0]

    def on(self, device: str) -> ResourceVariable:
        """The copy on a device, the first where there is none."""
        return self._copies[self._devices.index(device) if device in self._devices else 0]

    def get(self, device: str | None = None) -> ResourceVariable:
        """The copy on a device; by default the one that is meant where the graph is being built."""
        return self._here if device is None else self.on(device)

    @property
    def _here(self) -> ResourceVariable:
        mode = replication.current()
        if mode is not None and mode.replica is not None:
            return self._copies[min(mode.replica.local_index, len(self._copies) - 1)]
        device = None if mode is None else mode.update_device
        return self.on(device or device_in_scope())

    # Its parts are those of the copy that is meant.

    @property
    def _variable(self) -> Tensor:  # type: ignore[override]
        return self._here._variable

    @property
    def _snapshot(self) -> Tensor:  # type: ignore[override]
        return self._here._snapshot

    @property
    def _graph_element(self) -> Tensor:  # type: ignore[override]
        return self._here._graph_element

    @property
    def _initial_value(self) -> Tensor | None:  # type: ignore[override]
        return self._here._initial_value

    @property
    def _is_initialized_op(self) -> Tensor:  # type: ignore[override]
        return self._here._is_initialized_op

    @property
    def _initializer_op(self) -> Operation:  # type: ignore[override]
        if self._initializers is None:
            self._initializers = group(*(each.initializer for each in self._copies))
        return self._initializers

    @property
    def name(self) -> str:
        """The first copy's."""
        return self.primary.name

    @property
    def shared_name(self) -> str:
        """The first copy's, which checkpoints use."""
        return self.primary.op.name

    @property
    def container(self) -> DistributedVariable:
        """The variable itself."""
        return self

    def replace_initializer(self, initializer: Operation, initial_value: Tensor) -> None:
        """Initialize by an operation that gives the first copy its value: the others take theirs from there."""
        with initializer.graph.as_default(), get_default_graph().control_dependencies(None):
            others = []
            for each in self._copies[1:]:
                with get_default_graph().device(each.device):
                    others.append(each.assign(identity_node(initial_value), read_value=False))
        self.primary.replace_initializer(initializer, initial_value)
        self._initializers = group(initializer, *others)

    def is_initialized(self, name: str | None = None) -> Tensor:
        """A scalar bool tensor: whether all copies have values."""
        known = self.primary.is_initialized()
        for each in self._copies[1:-1]:
            known = logical_and(known, each.is_initialized())
        return logical_and(known, self._copies[-1].is_initialized(), name=name)

    def load(self, value: TensorLike, session: SessionLike | None = None) -> None:
        """Give all copies a value in the session given or the default one, without adding nodes."""
        for each in self._copies:
            each.load(value, session)

    def _set_save_slice_info(self, save_slice_info: Value) -> None:
        super()._set_save_slice_info(save_slice_info)
        for each in self._copies:
            each._set_save_slice_info(save_slice_info)

    def own_saveable(self, name: str) -> SaveableObject:
        """The object that saves it under a name, and restores all copies."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it is saved")

    def __repr__(self) -> str:
        each = ",\n".join(f"  {number} {copy.device}: {copy!r}" for number, copy in enumerate(self._copies))
        return f"{type(self).__name__}:{{\n{each}\n}}"

    @contextlib.contextmanager
    def _in_strategy(self) -> Iterator[None]:
        """The scope of its strategy, which is opened where none is; RuntimeError in another one's."""
        mode = replication.current()
        if mode is None:
            with replication.entered(replication.Mode(self._distribute_strategy)):
                yield
            return
        if mode.strategy is not self._distribute_strategy:
            raise RuntimeError(
                f"Mixing different tf.distribute.Strategy objects: {mode.strategy} is not {self._distribute_strategy}"
            )
        yield


def _is_beside_replicas() -> bool:
    mode = replication.current()
    return mode is not None and mode.replica is None and mode.update_device is None


class MirroredVariable(DistributedVariable):
    """A variable whose copies are kept the same: an update is one of all copies."""

    def read_value(self) -> Tensor:
        """A tensor with the value as it is here, after the control dependencies that are open."""
        return self._here.read_value()

    def _as_graph_element(self) -> Tensor:
        return self._here._as_graph_element()

    def assign(
        self, value: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> VariableLike:
        """Replace the value of all copies; replicas' values become one by the variable's aggregation."""
        return self._updated(lambda copy, new: copy.assign(new, use_locking, name, read_value), value)

    def assign_add(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> VariableLike:
        """Add to all copies; replicas' values become one by the variable's aggregation."""
        return self._updated(lambda copy, new: copy.assign_add(new, use_locking, name, read_value), delta)

    def assign_sub(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> VariableLike:
        """Subtract from all copies; replicas' values become one by the variable's aggregation."""
        return self._updated(lambda copy, new: copy.assign_sub(new, use_locking, name, read_value), delta)

    def _updated(self, change: Callable[[ResourceVariable, Value], Value], value: TensorLike) -> Value:
        with self._in_strategy():
            mode = replication.current()
            assert mode is not None
            if mode.update_device is not None:
                return change(self.on(mode.update_device), value)
            if mode.replica is None:
                return mode.strategy.extended.update(self, change, args=(value,))
            if self._aggregation is VariableAggregation.NONE:
                raise ValueError(NO_AGGREGATION.format(kind="MirroredVariable", name=self.name))
            return mode.replica.merge_call(merged_update(self, change, self._aggregation), args=(value,))

    def own_saveable(self, name: str) -> SaveableObject:
        """The object that saves the first copy under a name, and restores all copies."""
        return _MirroredSaveable(self, name)


def merged_update(variable: object, change: Callable[[Value, Value], Value], aggregation: VariableAggregation) -> Function:
    """The function that changes a variable by the values of all replicas, for `merge_call`."""

    def merge(strategy: StrategyLike, value: Value) -> Value:
        return strategy.extended.update(variable, change, args=(aggregated(strategy, value, aggregation, variable),))

    return merge


def aggregated(strategy: StrategyLike, value: Value, aggregation: VariableAggregation, destinations: object) -> Value:
    """The values of replicas as one, on the devices of `destinations`."""
    first = (VariableAggregation.ONLY_FIRST_REPLICA, VariableAggregation.ONLY_FIRST_TOWER)
    if aggregation in first:
        return strategy.extended.broadcast_to(strategy.unwrap(value)[0], destinations=destinations)
    return strategy.extended.reduce_to(ReduceOp.from_variable_aggregation(aggregation), value, destinations)


class SyncOnReadVariable(DistributedVariable):
    """A variable whose copies are the replicas' own; beside the replicas its value is their sum, mean or the first."""

    _whole: Tensor | None = None

    def value(self) -> Tensor:
        """A replica's own value; beside the replicas what they have together."""
        return self._together() if _is_beside_replicas() else self._here.value()

    def read_value(self) -> Tensor:
        """A replica's own value, read anew; beside the replicas what they have together."""
        return self._together() if _is_beside_replicas() else self._here.read_value()

    def _as_graph_element(self) -> Tensor:
        return self._together() if _is_beside_replicas() else self._here._as_graph_element()

    def together(self) -> Tensor:
        """What the copies have together, made once."""
        if self._whole is None:
            with get_default_graph().control_dependencies(None):
                self._whole = self._together()
        return self._whole

    def _together(self) -> Tensor:
        if self._aggregation not in (VariableAggregation.SUM, VariableAggregation.MEAN):
            return self.primary.value()
        with self._in_strategy():
            extended: Value = self._distribute_strategy.extended
            reduced = extended.reduced_here(ReduceOp.from_variable_aggregation(self._aggregation), self, device_in_scope())
            return convert_to_tensor(reduced)

    def assign(
        self, value: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> VariableLike:
        """Replace a replica's own value; beside the replicas give all copies values that are together `value`."""
        if not _is_beside_replicas():
            return self._here.assign(value, use_locking, name, read_value)
        if self._aggregation is VariableAggregation.SUM:
            # Restoring a sum must not multiply it.
            value = convert_to_tensor(value, self.dtype) * (1.0 / len(self._copies))
        return self._all(name, lambda copy, own: copy.assign(value, use_locking, own, read_value=False))

    def assign_add(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> VariableLike:
        """Add to a replica's own value; beside the replicas to all copies, ValueError where they are summed."""
        if not _is_beside_replicas():
            return self._here.assign_add(delta, use_locking, name, read_value)
        self._check_not_summed("assign_add")
        return self._all(name, lambda copy, own: copy.assign_add(delta, use_locking, own, read_value=False))

    def assign_sub(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> VariableLike:
        """Subtract from a replica's own value; beside the replicas from all copies, ValueError where they are summed."""
        if not _is_beside_replicas():
            return self._here.assign_sub(delta, use_locking, name, read_value)
        self._check_not_summed("assign_sub")
        return self._all(name, lambda copy, own: copy.assign_sub(delta, use_locking, own, read_value=False))

    def _all(self, name: str | None, change: Callable[[ResourceVariable, str | None], Operation]) -> Operation:
        done: list[Operation] = []
        for device, each in zip(self._devices, self._copies, strict=True):
            with get_default_graph().device(device):
                # A name that ends with a slash is one node's: the first copy's.
                done.append(change(each, None if done else name))
        return group(*done)

    def _check_not_summed(self, method: str) -> None:
        if self._aggregation is VariableAggregation.SUM:
            raise ValueError(
                f"SyncOnReadVariable does not support `{method}` in cross-replica context when aggregation is set to "
                f"`tf.VariableAggregation.SUM`: {self.name}"
            )

    def own_saveable(self, name: str) -> SaveableObject:
        """The object that saves what the replicas have together, and restores it."""
        return _SyncOnReadSaveable(self, name)


class _MirroredSaveable(ResourceVariableSaveable):
    """Saves the first copy, and gives what was read to all of them."""

    def __init__(self, variable: MirroredVariable, name: str) -> None:
        super().__init__(variable.primary, "", name)
        self._copies = variable.values
        self.op: Value = variable

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[DynamicShape] | None) -> Value:
        """Assign what was read to each copy, on its device."""
        restored = []
        for each in self._copies:
            restored.append(ResourceVariableSaveable(each, "", self.name).restore(restored_tensors, restored_shapes))
        return group(*restored)


class _SyncOnReadSaveable(SaveableObject):
    """Saves what the replicas have together."""

    def __init__(self, variable: SyncOnReadVariable, name: str) -> None:
        self._variable = variable

        def read() -> Tensor:
            with _beside(variable.distribute_strategy), get_default_graph().device(variable.primary.device):
                return identity_node(variable.value())

        specs = [SaveSpec(read, "", name, dtype=variable.dtype, device=variable.primary.device)]
        super().__init__(variable, specs, name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[DynamicShape] | None) -> Value:
        """Give all copies values that are together what was read."""
        with _beside(self._variable.distribute_strategy):
            return self._variable.assign(restored_tensors[0])


def _beside(strategy: Strategy) -> contextlib.AbstractContextManager[None]:
    return replication.entered(replication.Mode(strategy))
