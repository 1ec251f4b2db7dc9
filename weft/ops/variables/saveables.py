"""Objects that a Saver saves by their checkpoint names: variables, slices of partitioned ones and others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from weft.framework.building.aliases import DynamicShape
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.devices.device_spec import DeviceSpec
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes import built_at
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types.dtypes import resource
from weft.ops.array.identity import identity_node
from weft.ops.array.shape_ops import reshape
from weft.ops.state import reference_state as state
from weft.ops.state.resource_state import assign_variable_op
from weft.ops.variables.partitioned_variable import PartitionedVariable
from weft.ops.variables.resource_variable import ResourceVariable
from weft.ops.variables.saveable_object import SaveableObject as SaveableObject
from weft.ops.variables.saveable_object import SaveSpec as SaveSpec
from weft.ops.variables.variable import Variable


class ReferenceVariableSaveable(SaveableObject):
    """A variable whose op gives a mutable tensor."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        super().__init__(var, [SaveSpec(var, slice_spec, name, dtype=var.dtype)], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[DynamicShape] | None) -> Tensor:
        """Assign what was read; its shape must be the variable's where that is known."""
        value = _reshaped(restored_tensors, restored_shapes)
        is_known = restored_shapes is None and self.op.get_shape().is_fully_defined()
        return state.assign(self.op, value, validate_shape=is_known, name=None)


class ResourceVariableSaveable(SaveableObject):
    """A variable behind a handle, given as the object or as a tensor that reads it."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        self._device = var.device
        if isinstance(var, Tensor):
            self.handle_op = var.op.inputs[0]
            tensor: Any = var
        else:
            self.handle_op = var.handle
            tensor = _reading(var)
        super().__init__(var, [SaveSpec(tensor, slice_spec, name, dtype=var.dtype, device=var.device)], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[DynamicShape] | None) -> Any:
        """Assign what was read, on the variable's device."""
        value = _reshaped(restored_tensors, restored_shapes)
        graph = get_default_graph()
        with graph.device(self._device):
            value = identity_node(value)
            return assign_variable_op(self.handle_op, value)


def _reading(variable: Any) -> Callable[[], Tensor]:
    def read() -> Tensor:
        graph = get_default_graph()
        with graph.device(variable.device):
            value = variable.read_value()
            with graph.device("/device:CPU:0"):
                return identity_node(value)

    return read


def _reshaped(tensors: Sequence[Tensor], shapes: Sequence[DynamicShape] | None) -> Tensor:
    return tensors[0] if shapes is None else reshape(tensors[0], shapes[0])


def set_cpu0(device: str) -> str:
    """The CPU of the task that a device name names."""
    return DeviceSpec.from_string(device).make_merged_spec(DeviceSpec(device_type="CPU", device_index=0)).to_string()


def saveables_of(names_to_saveables: object) -> list[SaveableObject]:
    """The savable objects of a Saver's `var_list`, a list or a dict of names, in the order of the names.

    Raises:
        TypeError: the list is none, or has something else than variables and savable objects.
        ValueError: a name stands for two variables, or a variable has two names.
    """
    if not isinstance(names_to_saveables, dict):
        names_to_saveables = names_of(names_to_saveables)
    found: list[SaveableObject] = []
    seen: set[int] = set()
    for name, item in sorted(names_to_saveables.items(), key=lambda pair: str(pair[0])):
        for saveable in saveables_for(item, name):
            key = id(saveable.op)
            if saveable.op is not None and key in seen:
                raise ValueError(f"The same saveable will be restored with two names: {saveable.name}")
            seen.add(key)
            found.append(saveable)
    return found


def names_of(variables: object) -> dict[str, Any]:
    """The variables of a (nested) list by the names that checkpoints give them; slices of one tensor share a name."""
    if not isinstance(variables, list | tuple | set):
        raise TypeError(
            f"Variables to save should be passed in a dict or a list. Got {variables}: give [variable], or {{name: variable}}"
        )
    names: dict[str, Any] = {}
    for item in _flatten(variables):
        if not hasattr(item, "name"):
            raise AttributeError(
                f"{type(item).__name__!r} object has no attribute 'name': {item!r} is no variable. The variables themselves "
                "are listed, such as tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope=...) gives"
            )
    for item in sorted(_flatten(variables), key=lambda each: each.name):
        if isinstance(item, SaveableObject):
            names[item.name] = item
        elif isinstance(item, PartitionedVariable):
            _add_name(names, item.name, item)
        elif isinstance(item, Variable) and item._get_save_slice_info():
            _add_slice(names, item)
        elif isinstance(item, Variable) and (own := item.own_saveable(item.shared_name)) is not None:
            _add_name(names, item.shared_name, own)
        else:
            element = _variable_tensor(item)
            if element is None:
                raise TypeError(
                    f"Variable to save is not a Variable: {item}. A Saver saves variables; a value that a step computes goes "
                    "into one by tf.assign, or into a file by np.save."
                )
            op = element.op.inputs[0].op if _is_reading(element) else element.op
            _add_name(names, op.name, element)
    return names


def _flatten(items: Iterable[object]) -> Iterator[Any]:
    for item in items:
        if isinstance(item, list | tuple | set):
            yield from _flatten(item)
        elif isinstance(item, Mapping):
            yield from _flatten(item[key] for key in sorted(item))
        else:
            yield item


def _add_name(names: dict[str, object], name: str, item: object) -> None:
    if name in names:
        raise ValueError(
            f"At least two variables have the same name: {name}{_made_at(names[name])}{_made_at(item)}. A Saver stores each "
            "under a name of its own: give one of them another name, or pass the variables that are meant, Saver([...]); a "
            "graph that was imported has its own Saver."
        )
    names[name] = item


def _made_at(item: object) -> str:
    op = getattr(item, "op", None)
    where = built_at.place(op.built_from) if isinstance(op, Operation) else ""
    return f" ({where})" if where else ""


def _add_slice(names: dict[str, Any], variable: Any) -> None:
    name = variable._get_save_slice_info().full_name
    if not isinstance(names.setdefault(name, []), list):
        raise ValueError(f"Mixing slices and non-slices with the same name: {name}")
    names[name].append(variable)


def _variable_tensor(item: object) -> Tensor | None:
    """The tensor of a variable's state (of a resource, its reading), None when `item` is no variable."""
    if isinstance(item, ResourceVariable):
        return item._as_graph_element()
    tensor = convert_to_tensor(item, as_ref=True)
    is_state = isinstance(tensor, Tensor) and (_is_reference(tensor) or _is_reading(tensor))
    return tensor if is_state else None


def _is_reference(tensor: Tensor) -> bool:
    return tensor.op.op_def.role is Role.VARIABLE and tensor.dtype.is_ref


def _is_reading(tensor: Tensor) -> bool:
    return tensor.op.op_def.role is Role.READ and tensor.op.inputs[0].dtype is resource


def saveables_for(item: object, name: str) -> Iterator[SaveableObject]:
    """The savable objects that together save what stands under one name of a Saver's `var_list`."""
    if not isinstance(name, str):
        raise TypeError(
            f"names_to_saveables must be a dict mapping string names to trackable operations. Name is not a string: {name}"
        )
    if isinstance(item, SaveableObject):
        yield item
    elif isinstance(item, list | tuple | PartitionedVariable):
        yield from _slice_saveables(list(item), name)
    elif isinstance(item, Variable) and (own := item.own_saveable(name)) is not None:
        yield own
    else:
        tensor = _variable_tensor(item)
        if tensor is None:
            raise TypeError(
                f"names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a variable: {item}"
            )
        kind = ReferenceVariableSaveable if _is_reference(tensor) else ResourceVariableSaveable
        yield kind(tensor, "", name)


def _slice_saveables(slices: Sequence[Tensor], name: str) -> Iterator[SaveableObject]:
    full_name: str | None = None
    for variable in slices:
        if isinstance(variable, SaveableObject):
            yield variable
            continue
        if not isinstance(variable, Variable):
            raise ValueError(f"Slices must all be Variables: {variable}")
        info = variable._get_save_slice_info()
        if not info:
            raise ValueError(
                f"Slices must all be slices: {variable}. A list under a name ({name!r}) is the parts of one variable, as a "
                "partitioner makes them; other variables have names of their own."
            )
        full_name = full_name or info.full_name
        if full_name != info.full_name:
            raise ValueError(f"Slices must all be from the same tensor: {full_name} != {info.full_name}")
        kind = ReferenceVariableSaveable if variable.op.outputs[0].dtype.is_ref else ResourceVariableSaveable
        yield kind(variable, info.spec, name)
