"""Building a node from what a program passes: conversion of inputs, typing, naming, and the node itself.

This runs once per node of every graph, so its usual case (inputs that are tensors already) does no more than it must.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from weft.framework.building import graph_mismatch
from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.context.default_stack import default_graphs
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.graphs.graph_names import chosen_name
from weft.framework.nodes import node_errors
from weft.framework.nodes.eager_tensor import EagerTensor
from weft.framework.nodes.node_errors import TypeMisfit, described
from weft.framework.nodes.node_types import output_types
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import REQUIRED, ArgDef, AttrDef, OpDef
from weft.framework.types.attr_value import FunctionName, single
from weft.framework.types.dtypes import DType, as_dtype
from weft.framework.types.tensor_shape import as_dims
from weft.platform.hints.spelling import did_you_mean

_PLAIN_KINDS: Final = frozenset(("bool", "float", "int"))
_SINGLE: Final[dict[str, tuple[type, ...]]] = {"string": (str,), "bool": (bool, np.bool_), "int": (), "float": ()}


def build(definition: OpDef, inputs: Sequence[TensorLike], attrs: dict[str, Any], name: str | None) -> Operation:
    """Add a node of this op type to the default graph (or the inputs' graph) and return it.

    Raises:
        TypeError: an input has a type that the op, or another input, does not allow.
        ValueError: shapes don't fit, inputs belong to different graphs, an attribute is missing or unknown.
    """
    graph = graph_of(inputs)
    chosen = chosen_name(name, definition.name)
    refuse_loop_values(graph, inputs, chosen)
    name = graph.settle_name(chosen)
    values: dict[str, Any] = {}
    for key, value in attrs.items():
        attr = definition.attrs.get(key)
        if attr is None:
            raise TypeError(f"{definition.name} got an unexpected attribute {key!r}; it has {sorted(definition.attrs)}")
        if value is None and attr.kind in _PLAIN_KINDS and attr.default is not REQUIRED:
            continue  # TensorFlow's functions take None for the default
        values[key] = as_attr(attr, value, definition)
    tensors: list[Tensor] = []
    try:
        for arg, value in zip(definition.inputs, inputs, strict=True):
            if arg.is_list:
                _add_list(definition, graph, name, arg, value, values, tensors)
            else:
                tensors.append(_one(definition, graph, name, arg, value, values, tensors))
    except TypeMisfit as misfit:
        raise node_errors.type_error(name, misfit, _same_type(definition, misfit.arg, tensors)) from None
    _check_all_limits(definition, {key: values[key] for key in attrs if key in values}, tensors)
    for key, attr in definition.attrs.items():
        if key not in values:
            if attr.default is REQUIRED:
                raise TypeError(f"{definition.name} {name!r}: attribute {key!r} ({attr.kind}) is needed and was not given")
            values[key] = attr.default
    types = output_types(definition, values)
    if any(arg.is_ref for arg in definition.inputs):
        # An op that updates a variable lives where the variable does, whatever the device scope says.
        with contextlib.ExitStack() as beside:
            for arg, tensor in zip(definition.inputs, tensors, strict=False):
                if arg.is_ref:
                    beside.enter_context(graph.colocate_with(tensor.op))
            return graph.add_node(definition, name, tensors, types, values)
    return graph.add_node(definition, name, tensors, types, values)


def refuse_loop_values(graph: Graph, inputs: Sequence[Any], name: str) -> None:
    """Raise ValueError where `graph_of(inputs)` is the body of a finished loop, whose tensors no node outside can take."""
    if not (graph.finalized and graph.building_function):
        return
    members = [each for item in inputs for each in (item if isinstance(item, list | tuple) else [item])]
    found = next((each.op.name for each in members if isinstance(each, Tensor) and each.op.graph.home is graph), "a tensor")
    raise graph_mismatch.inner_value(found, graph, repr(name))


def graph_of(inputs: Sequence[Any]) -> Graph:
    """The graph to build in: that of the inputs; the default one when no input is a tensor, or while a function is built."""
    default: Graph | None = default_graphs.get_default()
    if default is not None and (default.building_function or default.runs_eagerly):
        return default
    first: Tensor | Operation | None = None
    for item in inputs:
        for value in item if type(item) in (list, tuple) else (item,):
            element = value if isinstance(value, Tensor) else _element(value)
            if element is None:
                continue
            if first is None:
                first = element
            elif element.graph is not first.graph and element.graph.home is not first.graph.home:
                raise graph_mismatch.of_two(element, first)
    if first is not None:
        return first.graph.home
    return get_default_graph() if default is None else default


def _element(value: object) -> Tensor | Operation | None:
    """What of a graph an input is: a variable's tensor, an operation, that of a sparse tensor; None for a value of no graph."""
    stand_in = getattr(value, "_as_graph_element", None)
    element = value if stand_in is None else stand_in()
    if isinstance(element, Tensor | Operation):
        return element
    made = getattr(element, "op", None)
    return made if isinstance(made, Operation) else None


def _in_graph(graph: Graph, tensor: Tensor) -> Tensor:
    """The tensor, or in the body of a function the input that stands for a tensor of the graph around."""
    if tensor.op.graph is graph:
        return tensor
    if graph.building_function:
        return graph.capture(tensor)  # type: ignore[attr-defined, no-any-return]
    if graph.runs_eagerly:
        return _with_value(tensor)
    brought = graph.bring(tensor)
    if isinstance(brought, Tensor) and brought.op.graph is graph:
        return brought
    raise graph_mismatch.of_node(tensor, graph)


def _with_value(tensor: Tensor) -> Tensor:
    """The tensor, which a node that runs at once takes from wherever it was made, if it has a value."""
    if isinstance(tensor, EagerTensor):
        return tensor
    raise TypeError(
        f'An op outside of the function building code is being passed\na "Graph" tensor. The tensor is {tensor!r} of '
        f"{tensor.op.graph.label}, and the function is one of tf.py_function, in which each operation runs when it is made: "
        "give the tensor to tf.py_function in `inp`, and take it as an argument of the function."
    )


def _check_all_limits(definition: OpDef, values: dict[str, Sequence[object] | int | str], tensors: Sequence[Tensor]) -> None:
    """Raise ValueError for an attribute outside of its limits, with the node's inputs."""
    try:
        for key, value in values.items():
            _check_limits(definition.attrs[key], value, definition)
    except ValueError:
        if any(arg.is_list for arg in definition.inputs):
            raise
        shown = {arg.name: tensor for arg, tensor in zip(definition.inputs, tensors, strict=False)}
        with node_errors.naming("", **shown):
            raise


def _check_limits(attr: AttrDef, value: Sequence[object] | int | str, definition: OpDef) -> None:
    if attr.minimum is not None:
        given, what = (value, "") if isinstance(value, int | str) else (len(value), "list of length ")
        if int(given) < attr.minimum:
            raise ValueError(
                f"Attr {attr.name!r} of {definition.name!r} Op passed {what}{given} less than minimum {attr.minimum}."
            )
    if attr.choices and value not in attr.choices:
        choices = '", "'.join(attr.choices)
        meant = did_you_mean(str(value), attr.choices)
        raise ValueError(f'Attr {attr.name!r} of {definition.name!r} Op passed string {value!r} not in: "{choices}".{meant}')


def _refused(op_type: str, name: str, kind: str, value: Any, error: Exception) -> str:
    problem = str(error).rstrip(".")
    if kind == "type":
        return f"Expected DataType for argument {name!r} not {value!r}. {problem}. It is an attribute of {op_type}."
    if kind == "shape":
        return f"Error converting {name} to a TensorShape: {problem}. It is an attribute of {op_type}."
    return f"{op_type}: attribute {name!r} must be a {kind}, got {value!r}: {error}"


def as_attr(attr: AttrDef, value: Any, definition: OpDef) -> Any:
    """Bring an attribute's value to its plain form; TypeError or ValueError when it is not of its kind."""
    kind = attr.kind
    try:
        if kind == "type":
            dtype = as_dtype(value).base_dtype
            if attr.allowed and dtype not in attr.allowed:
                raise TypeError(f"{_not_allowed(attr, dtype, attr.name)}.")
            return dtype
        if kind == "shape":
            return as_dims(value)
        if kind == "list(type)":
            return [as_dtype(item).base_dtype for item in value]
        if kind == "list(shape)":
            return [as_dims(item) for item in value]
        if kind in _SINGLE:
            return _single(attr.name, kind, value)
        if kind == "func":
            return value if isinstance(value, FunctionName) else FunctionName(value)
        if kind in ("list(int)", "list(float)"):
            items = value if isinstance(value, list | tuple) or hasattr(value, "__iter__") else [value]
            return [_single(attr.name, kind[5:-1], item) for item in items]
    except (TypeError, ValueError) as error:
        if str(error).startswith(("Expected ", "Value passed ")):
            choices = f": one of {', '.join(map(repr, attr.choices))}" if attr.choices else ""
            raise TypeError(f"{error} It is an attribute of {definition.name}{choices}.") from None
        raise type(error)(_refused(definition.name, attr.name, kind, value, error)) from error
    return list(value) if kind.startswith("list(") else value


def _single(name: str, kind: str, value: object) -> str | int | float | bool:
    """A value of an attribute that is no list; TypeError for one of another kind, though Python would make it one."""
    given = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
    if kind == "string" or kind == "bool":
        if isinstance(given, _SINGLE[kind]):
            return bool(given) if kind == "bool" else str(given)
    elif not isinstance(given, str | DType):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return int(given) if kind == "int" else single(given)  # type: ignore[call-overload, arg-type]
    raise TypeError(f"Expected {kind} for argument {name!r} not {given!r}.")


def _not_allowed(attr: AttrDef, dtype: DType, name: str) -> str:
    allowed = ", ".join(each.name for each in attr.allowed)
    return f"Value passed to parameter {name!r} has DataType {dtype.name} not in list of allowed values: {allowed}"


def _one(
    definition: OpDef, graph: Graph, name: str, arg: ArgDef, value: Any, values: dict[str, Any], tensors: Sequence[Tensor]
) -> Tensor:
    wanted = arg.dtype or values.get(arg.type_attr)
    if not isinstance(value, Tensor):
        value = _converted(definition, graph, name, arg, value, wanted, tensors)
    if value.op.graph is not graph:
        value = _in_graph(graph, value)
    dtype = value.dtype.base_dtype
    if arg.is_ref and not value.dtype.is_ref:
        raise TypeError(f"{definition.name!r} Op requires that input {arg.name!r} be a mutable tensor (e.g.: a tf.Variable)")
    if wanted is None:
        attr = definition.attrs[arg.type_attr]
        if attr.allowed and dtype not in attr.allowed:
            raise TypeMisfit(_not_allowed(attr, dtype, arg.name), arg, [value], attr.allowed)
        values[arg.type_attr] = dtype
    elif dtype is not wanted:
        raise TypeMisfit(_mismatch(definition, arg, dtype, wanted), arg, [value], [wanted])
    return value  # type: ignore[no-any-return]


def _same_type(definition: OpDef, arg: ArgDef, tensors: Sequence[Tensor]) -> list[tuple[str, Tensor]]:
    """The operands before an argument that have to be of its type, with their arguments' names."""
    return [
        (other.name, tensor)
        for other, tensor in zip(definition.inputs, tensors, strict=False)
        if other is not arg and other.type_attr and other.type_attr == arg.type_attr
    ]


def _converted(
    definition: OpDef, graph: Graph, name: str, arg: ArgDef, value: object, wanted: DType | None, tensors: Sequence[Tensor]
) -> Tensor:
    default = None
    if wanted is None and arg.type_attr:
        default = definition.attrs[arg.type_attr].default
        default = None if default is REQUIRED else default
    with graph.as_default(), graph.name_scope(name + "/"):
        try:
            return convert_to_tensor(value, wanted, arg.name, preferred_dtype=default, as_ref=arg.is_ref)
        except TypeError as error:
            if wanted is None:
                raise
            raise TypeError(
                f"Expected {wanted.name} passed to parameter {arg.name!r} of op {definition.name!r}, got {value!r} of type "
                f"{type(value).__name__!r} instead. Error: {error}{_with_operands(definition, arg, value, tensors)}"
            ) from error
        except ValueError as error:
            if value is None:
                raise ValueError(f"Tried to convert {arg.name!r} to a tensor and failed. Error: {error}") from error
            if wanted is None or not hasattr(value, "dtype"):
                raise
            found = as_dtype(value.dtype).base_dtype
            if found is wanted:
                raise
            tensor = convert_to_tensor(value, None, arg.name, as_ref=arg.is_ref)
            raise TypeMisfit(_mismatch(definition, arg, found, wanted), arg, [tensor], [wanted]) from error


def _with_operands(definition: OpDef, arg: ArgDef, value: object, tensors: Sequence[Tensor]) -> str:
    """A line for each operand that decided on the type, and the conversion that would make a fraction fit."""
    earlier = _same_type(definition, arg, tensors)
    lines = [f"  {name}: {described(tensor)}" for name, tensor in earlier if isinstance(tensor, Tensor)]
    if isinstance(value, float) and lines:
        lines.append(f"  Convert it: tf.cast({earlier[0][1].op.name}, tf.float32).")
    return "".join(f"\n{line}" for line in lines)


def _mismatch(definition: OpDef, arg: ArgDef, found: DType, wanted: DType) -> str:
    prefix = f"Input {arg.name!r} of {definition.name!r} Op has type {found.name} that does not match"
    if arg.dtype is not None:
        return f"{prefix} expected type of {wanted.name}."
    first = next(a.name for a in definition.inputs if a.type_attr == arg.type_attr) if arg.type_attr else ""
    if first == arg.name:
        return f"{prefix} the type {wanted.name} that attribute {arg.type_attr!r} asks for."
    return f"{prefix} type {wanted.name} of argument {first!r}."


def _add_list(
    definition: OpDef,
    graph: Graph,
    name: str,
    arg: ArgDef,
    value: object,
    values: dict[str, Any],
    tensors: list[Tensor],
) -> None:
    if not isinstance(value, list | tuple):
        raise TypeError(f"Expected list for {arg.name!r} argument to {definition.name!r} Op, not {value!r}.")
    _check_length(definition, arg, len(value))
    if arg.type_list_attr:
        wanted_types = values.get(arg.type_list_attr) or [None] * len(value)
        items = [
            _list_item(definition, graph, name, arg, index, item, wanted)
            for index, (item, wanted) in enumerate(zip(value, wanted_types, strict=True))
        ]
        values[arg.type_list_attr] = [item.dtype.base_dtype for item in items]
        tensors.extend(items)
        return
    wanted = arg.dtype or values.get(arg.type_attr)
    if wanted is None:
        wanted = next((i.dtype.base_dtype for i in value if hasattr(i, "dtype") and isinstance(i.dtype, DType)), None)
    items = []
    for index, item in enumerate(value):
        items.append(_item_of_one_type(definition, graph, name, arg, index, item, wanted))
        wanted = wanted or items[-1].dtype.base_dtype
    found = [item.dtype.base_dtype for item in items]
    if any(dtype is not wanted for dtype in found):
        text = (
            f"Tensors in list passed to {arg.name!r} of {definition.name!r} Op have types "
            f"[{', '.join(dtype.name for dtype in found)}] that don't all match"
            f"{'.' if arg.dtype is None else f' expected type {arg.dtype.name}.'}"
        )
        raise TypeMisfit(text, arg, items, [wanted or found[0]])
    if arg.type_attr:
        if wanted is None:
            raise ValueError(f"{definition.name!r} Op: the list {arg.name!r} is empty, so its type is not known")
        attr = definition.attrs[arg.type_attr]
        if attr.allowed and wanted not in attr.allowed:
            raise TypeMisfit(_not_allowed(attr, wanted, arg.name), arg, items, attr.allowed)
        values[arg.type_attr] = wanted
    if values.setdefault(arg.number_attr, len(items)) != len(items):
        first = next(each.name for each in definition.inputs if each.number_attr == arg.number_attr)
        raise ValueError(
            f"List argument {arg.name!r} to {definition.name!r} Op with length {len(items)} must match length "
            f"{values[arg.number_attr]} of argument {first!r}."
        )
    tensors.extend(items)


def _check_length(definition: OpDef, arg: ArgDef, length: int) -> None:
    least = definition.attrs[arg.number_attr or arg.type_list_attr].minimum
    if least is None or length >= least:
        return
    if arg.number_attr:
        raise ValueError(
            f"List argument {arg.name!r} to {definition.name!r} Op with length {length} shorter than minimum length {least}."
        )
    _check_limits(definition.attrs[arg.type_list_attr], [None] * length, definition)


def _item_of_one_type(
    definition: OpDef, graph: Graph, name: str, arg: ArgDef, index: int, item: object, wanted: DType | None
) -> Tensor:
    """An item of the type wanted; where that is the type of the items before, perhaps of its own: refused with theirs."""
    try:
        return _list_item(definition, graph, name, arg, index, item, wanted)
    except TypeError:
        if arg.dtype is not None:
            raise
        return _list_item(definition, graph, name, arg, index, item, None)


def _list_item(
    definition: OpDef, graph: Graph, name: str, arg: ArgDef, index: int, item: object, wanted: DType | None
) -> Tensor:
    if isinstance(item, Tensor):
        return _in_graph(graph, item)
    with graph.as_default(), graph.name_scope(name + "/"):
        tensor = convert_to_tensor(item, wanted, f"{arg.name}_{index}", as_ref=arg.is_ref)
    return _in_graph(graph, tensor)
