"""Values that replicas have: PerReplica, where they differ, and Mirrored, where they are kept the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from weft.framework.building.tensor_conversion import convert_to_tensor, register_tensor_conversion_function
from weft.framework.context import replication
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.arithmetic import OVERLOADABLE_OPERATORS
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import DType
from weft.framework.types.replica_values import Function, Value
from weft.ops.array.identity import identity_node
from weft.ops.control_flow.ordering import group
from weft.strategies.replicas.devices import device_in_scope, resolved
from weft.strategies.replicas.variables import DistributedVariable


class DistributedValues:
    """One value for each replica.

    Args:
        devices: the replicas' devices.
        values: their values, in the same order.
    """

    def __init__(self, devices: Sequence[str], values: Sequence[Value]) -> None:
        self._devices = tuple(devices)
        self._values = tuple(values)

    @property
    def devices(self) -> tuple[str, ...]:
        """The replicas' devices."""
        return self._devices

    @property
    def values(self) -> tuple[Value, ...]:
        """The replicas' values, in the order of the devices."""
        return self._values

    @property
    def primary(self) -> Value:
        """The first replica's value."""
        return self._values[0]

    @property
    def is_tensor_like(self) -> bool:
        """Whether all values are tensors."""
        return all(isinstance(each, Tensor) for each in self._values)

    def get(self, device: str | None = None) -> Value:
        """The value of a device, by default of the replica that is being built or of the device in scope.

        Raises:
            ValueError: there is no value for it.
        """
        replica = replication.current_replica()
        if device is None and replica is not None:
            return self._values[replica.local_index]
        wanted = resolved(device or replication.update_device() or device_in_scope())
        if wanted in self._devices:
            return self._values[self._devices.index(wanted)]
        return self._elsewhere(wanted)

    def _elsewhere(self, device: str) -> Value:
        raise ValueError(f"Device {device} not found in {self._devices} (current device {device_in_scope()})")

    def __repr__(self) -> str:
        each = ",\n".join(
            f"  {i} {pair[0]}: {pair[1]!r}" for i, pair in enumerate(zip(self._devices, self._values, strict=True))
        )
        return f"{type(self).__name__}:{{\n{each}\n}}"


class PerReplica(DistributedValues):
    """Values of replicas that may differ."""


class Mirrored(DistributedValues):
    """Values of replicas that are kept the same; stands where a tensor can, for the one in place."""

    def _elsewhere(self, device: str) -> Value:
        return self.primary

    def _as_graph_element(self) -> Value:
        value = self.get()
        return value._as_graph_element() if hasattr(value, "_as_graph_element") else value

    def __getattr__(self, name: str) -> Value:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.get(), name)

    def __getitem__(self, key: object) -> Value:
        return self.get()[key]


def _delegating(operator: str) -> Function:
    def run(self: Mirrored, *args: object) -> Value:
        return getattr(self.get(), operator)(*args)

    run.__name__ = operator
    return run


for _operator in OVERLOADABLE_OPERATORS - {"__getitem__"}:
    setattr(Mirrored, _operator, _delegating(_operator))


def _to_tensor(value: Mirrored, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    return convert_to_tensor(value.get(), dtype, name)


register_tensor_conversion_function(Mirrored, _to_tensor)


def regroup(devices: Sequence[str], values: Sequence[Value], wrap: Function = PerReplica) -> Value:
    """Make one structure of values of replicas out of the structures that the replicas gave.

    A value that is the same object in all replicas stays as it is; copies of one variable become the variable that has them.

    Raises:
        ValueError: the structures differ.
    """
    first = values[0]
    if isinstance(first, list | tuple | Mapping):
        return _regrouped_structure(devices, values, wrap)
    containers = {id(_container(each)): _container(each) for each in values}
    if len(containers) == 1 and _container(first) is not None:
        return _container(first)
    if all(each is first for each in values):
        return first
    return wrap(devices, values)


def _container(value: object) -> DistributedVariable | None:
    return value if isinstance(value, DistributedVariable) else DistributedVariable.of(value)


def _regrouped_structure(devices: Sequence[str], values: Sequence[Value], wrap: Function) -> Value:
    first = values[0]
    shapes = [sorted(each, key=str) if isinstance(each, Mapping) else len(each) for each in values if type(each) is type(first)]
    if len(shapes) < len(values) or any(each != shapes[0] for each in shapes):
        raise ValueError(f"The replicas gave structures that differ: {tuple(values)}")
    if isinstance(first, Mapping):
        return {key: regroup(devices, [each[key] for each in values], wrap) for key in first}
    parts = [regroup(devices, parts, wrap) for parts in zip(*values, strict=True)]
    if hasattr(first, "_make"):
        return first._make(parts)
    return type(first)(parts)


def select_replica(index: int, structure: object) -> Value:
    """The structure as the replica of this index has it."""
    return _mapped(lambda value: value.values[index] if isinstance(value, DistributedValues) else value, structure)


def select_device(device: str, structure: object) -> Value:
    """The structure as an update of this device has it; TypeError for values that are not the same in all replicas."""

    def select(value: Value) -> Value:
        if isinstance(value, PerReplica):
            raise TypeError(f"Expected value to be mirrored across replicas: {value} in {structure}.")
        if isinstance(value, DistributedValues):
            return value.get(device)
        return value.on(device) if isinstance(value, DistributedVariable) else value

    return _mapped(select, structure)


def _mapped(function: Callable[[Value], Value], structure: object) -> Value:
    return nest.map_structure(function, structure)


def results_of_updates(devices: Sequence[str], updates: Sequence[Value], is_grouped: bool) -> Value:
    """The results of an update of each device: as lists unless `is_grouped`, else so that using one waits for all."""
    if not is_grouped:
        regrouped = regroup(devices, updates, Mirrored)
        return _mapped(local_results, regrouped)
    return regroup(devices, updates, _done_together)


def _done_together(devices: Sequence[str], values: Sequence[Value]) -> Value:
    if len(values) == 1:
        return Mirrored(devices, values)
    done = group(*values)
    tensors = [each if isinstance(each, Tensor) else _tensor_of(each) for each in values]
    if any(each is None for each in tensors):
        return done
    graph = get_default_graph()
    waiting = []
    for device, value in zip(devices, tensors, strict=True):
        with graph.device(device), graph.control_dependencies([done]):
            waiting.append(identity_node(value))
    return Mirrored(devices, waiting)


def _tensor_of(value: Value) -> Tensor | None:
    return value._as_graph_element() if hasattr(value, "_as_graph_element") else None


def local_results(value: Value) -> tuple[Value, ...]:
    """The values that this process's replicas have, in their order."""
    if isinstance(value, DistributedValues):
        return value.values
    if isinstance(value, DistributedVariable):
        return value.values
    return (value,)
