"""The texts of errors in what a program asks of a node: which operands, of which shapes and types, made in which lines.

The first line is TensorFlow's, which programs match. Those behind it name each operand, and the next step where one is known.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from weft.framework.nodes import built_at
from weft.framework.nodes.constant_value import constant_dims, constant_value
from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Operation, Tensor, outermost
from weft.framework.nodes.variable_node import declared_dims
from weft.framework.op_types.op_def import ArgDef
from weft.framework.op_types.op_role import Role
from weft.framework.types.dims import brackets
from weft.framework.types.dtypes import DType

# A list of operands, such as that of concat, is shown as far as this; so is a constant.
_SHOWN_OPERANDS: Final = 8
_SHOWN_ELEMENTS: Final = 8
_SHOWN_TEXT: Final = 80
# The types to convert to where an op takes many.
_USUAL: Final = ("float32", "int32", "int64")
# The attribute of a node that tells what to do when it fails.
REMEDY: Final = "_remedy"
# Inputs that are shapes: rules look at each size by itself.
_SHAPES: Final = frozenset(("dims", "multiples", "output_shape", "shape", "size"))


class ShapeMisfit(ValueError):
    """What a shape rule refuses, with the next step for who built the node."""

    def __init__(self, text: str, remedy: str) -> None:
        super().__init__(text)
        self.remedy = remedy


class BuildMisfit(ShapeMisfit):
    """What is refused of shapes that are known when the node is built, and taken as it comes in a run."""


class TypeMisfit(TypeError):
    """An operand of a type that its op, or another operand, does not allow."""

    def __init__(self, text: str, arg: ArgDef, tensors: Sequence[Tensor], wanted: Sequence[DType]) -> None:
        super().__init__(text)
        self.arg = arg
        self.tensors = tensors
        self.wanted = wanted


def shape_error(op: Operation, error: ValueError) -> ValueError:
    """The error of a node whose shape rule has refused its inputs."""
    given = ", ".join(brackets(t.dims) for t in op.inputs)
    known = "".join(_known_values(op))
    lines = [f"{error} for {op.name!r} (op: {op.type!r}) with input shapes: {given}{known}.", *operand_lines(op)]
    if remedy := error.remedy if isinstance(error, ShapeMisfit) else _of_shapes(op, f"{error}"):
        lines.append(f"  {remedy}")
    return ValueError("\n".join(lines))


def _of_shapes(op: Operation, text: str) -> str:
    """The next step where one value stands for a list, or a list for one value."""
    if "must be rank 1 but is rank 0" in text:
        for argument, tensor in _operands(op):
            if tensor.dims == () and argument in _SHAPES:
                value = constant_value(tensor)
                return f"{argument} is one list of sizes, such as [{'n' if value is None else np.asarray(value).item()}]."
        alone = next((argument for argument, tensor in _operands(op) if tensor.dims == ()), "")
        return f"{alone} is a list: of one it is [{alone}]." if alone else ""
    if "must be rank 0 but is rank 1" in text:
        return "It takes one value at a time: tf.map_fn calls a function for each item of a list, and x[0] is the first."
    return ""


def _known_values(op: Operation) -> Iterator[str]:
    """What a shape rule has known of the values of its inputs."""
    values, shapes = [], []
    at = 0
    for arg, item in group(op.op_def.inputs, op.attrs, op.inputs):
        if isinstance(item, Tensor) and arg.name in op.op_def.static:
            if arg.name in _SHAPES:
                dims = constant_dims(item)
                if dims is not None and item.shape.ndims == 1:
                    shapes.append(f"input[{at}] = {brackets(dims)}")
            elif (value := constant_value(item)) is not None:
                values.append(f"input[{at}] = <{_summary(np.asarray(value))}>")
        at += 1 if isinstance(item, Tensor) else len(item)
    if values:
        yield f" and with computed input tensors: {', '.join(values)}"
    if shapes:
        yield f" and with input tensors computed as partial shapes: {', '.join(shapes)}"


def _summary(value: np.ndarray) -> str:
    """The elements, rows in brackets."""
    if value.ndim < 2:
        return " ".join(str(item) for item in value.ravel().tolist())
    return "".join(f"[{_summary(row)}]" for row in value)


def type_error(name: str, misfit: TypeMisfit, earlier: Sequence[tuple[str, Tensor]]) -> TypeError:
    """The error of a node, not made yet, one of whose operands has a wrong type.

    Args:
        name: the name that the node would have got.
        misfit: what is wrong.
        earlier: the operands before it, with their arguments' names.
    """
    own = _numbered(misfit.arg.name, misfit.tensors if misfit.arg.is_list else misfit.tensors[0])
    shown = [*earlier, *own]
    lines = [f"{misfit}", f"  In {name!r}:", *(f"  {argument}: {described(t)}" for argument, t in shown)]
    remedy = _of_argument(name, misfit) or _cast(shown, misfit)
    return TypeError("\n".join([*lines, *([f"  {remedy}"] if remedy else [])]))


def types_differ(text: str, **operands: Tensor) -> TypeError:
    """The error of operands that need one type, with the conversion that gives it to them.

    Args:
        text: what is wrong.
        operands: the tensors by their arguments' names.
    """
    types = [tensor.dtype.base_dtype for tensor in operands.values()]
    wanted = _common_type(types, ()) or types[0]
    other = next(tensor for tensor in operands.values() if tensor.dtype.base_dtype is not wanted)
    lines = [text, *(f"  {name}: {described(tensor)}" for name, tensor in operands.items())]
    return TypeError("\n".join([*lines, f"  Convert it: {_conversion(other, wanted)}."]))


def operand_lines(op: Operation) -> list[str]:
    """A line for each input of a node: its argument, the tensor, shape and type, and the line of the program that made it."""
    return [f"  {argument}: {described(tensor)}" for argument, tensor in _operands(op)]


def described(tensor: Tensor) -> str:
    """A tensor in a message: `images [?,784] float32 (train.py:12)`; of an argument of a body, what it stands for."""
    tensor = outermost(tensor)
    name = tensor.op.name if tensor.value_index == 0 else tensor.name
    dims = declared_dims(tensor.op)
    where = built_at.place(tensor.op.built_from)
    return (
        f"{name} {brackets(tensor.dims if dims is None else dims)} {tensor.dtype.base_dtype.name}{_value(tensor)}"
        f"{f' ({where})' if where else ''}"
    )


def _value(tensor: Tensor) -> str:
    if tensor.op.op_def.role is not Role.CONSTANT:
        return ""
    value = np.asarray(tensor.op.attrs["value"])
    return "" if value.size > _SHOWN_ELEMENTS or value.dtype == object else f" = {value.tolist()}"


def _operands(op: Operation) -> Iterator[tuple[str, Tensor]]:
    for arg, item in group(op.op_def.inputs, op.attrs, op.inputs):
        yield from _numbered(arg.name, item)


def _numbered(argument: str, item: Tensor | Sequence[Tensor]) -> Iterator[tuple[str, Tensor]]:
    if isinstance(item, Tensor):
        yield argument, item
        return
    for index, tensor in enumerate(item[:_SHOWN_OPERANDS]):
        yield f"{argument}[{index}]", tensor


def _of_argument(name: str, misfit: TypeMisfit) -> str:
    """The next step where a conversion is not what is meant."""
    tensor, wanted = misfit.tensors[0], misfit.wanted[0]
    is_integer = wanted.is_integer and tensor.dtype.base_dtype.is_floating
    if is_integer and misfit.arg.name in _SHAPES:
        return f"{misfit.arg.name} is a list of whole numbers, the sizes; int(x) and // make whole numbers."
    if wanted.name == "bool" and (tensor.dtype.is_floating or tensor.dtype.is_integer):
        own = tensor.op.name
        return f"A condition is bool: a comparison such as {own} > 0 is one; tf.cast({own}, tf.bool) is true where it is not 0."
    if is_integer and any(declared_dims(each) is not None for each in (tensor.op, *(t.op for t in tensor.op.inputs[:1]))):
        return f"{tensor.op.name} is a variable of floats, and {misfit.arg.name} takes whole numbers: are arguments exchanged?"
    if tensor.op.op_def.role is not Role.CONSTANT or not tensor.op.name.startswith(f"{name}/"):
        return ""
    # The program has written the number in the call.
    value = np.asarray(tensor.op.attrs["value"])
    if value.dtype == object or value.size > _SHOWN_ELEMENTS or value.dtype == bool:
        return ""
    if wanted.is_floating and tensor.dtype.is_integer:
        return f"Write it with a point: {value.astype(float).tolist()}."
    if is_integer and np.array_equal(value, np.trunc(value)):
        return f"Write it without a point: {value.astype(np.int64).tolist()}."
    return ""


def _cast(shown: Iterable[tuple[str, Tensor]], misfit: TypeMisfit) -> str:
    """The conversion that would make the types fit."""
    found = [tensor for _, tensor in shown]
    if any(t.dtype.is_ref and not t.dtype.is_compatible_with(misfit.wanted[0]) for t in misfit.tensors):
        return ""
    first = misfit.tensors[0]
    if "does not match expected type" in str(misfit) and _is_number(first.dtype) and _is_number(misfit.wanted[0]):
        return f"Convert it: {_conversion(first, misfit.wanted[0])}."
    wanted = _common_type([t.dtype.base_dtype for t in misfit.tensors], misfit.wanted)
    if wanted is None:
        return ""
    other = next((t for t in [*misfit.tensors, *found] if t.dtype.base_dtype is not wanted), None)
    if other is None or (other.op.op_def.role is Role.CONSTANT and other.dtype.base_dtype.name == "string"):
        # A text in the program itself is no number that a conversion would find.
        return ""
    return f"Convert it: {_conversion(other, wanted)}."


def _is_number(dtype: DType) -> bool:
    return dtype.base_dtype.is_floating or dtype.base_dtype.is_integer


def _common_type(found: Sequence[DType], wanted: Sequence[DType]) -> DType | None:
    """The type to convert to: a floating one where one of two is, and a usual one where an op takes many."""
    if len(wanted) > 1:
        return next((t for name in _USUAL for t in wanted if t.name == name), wanted[0])
    candidates = [*wanted, *found]
    floating = [t for t in candidates if t.is_floating]
    # Models are float32; float64 is what NumPy makes of data.
    return next((t for t in floating if t.name == "float32"), floating[0] if floating else candidates[0])


def _conversion(tensor: Tensor, wanted: DType) -> str:
    name = tensor.op.name
    if wanted.name == "string":
        return f"tf.as_string({name})"
    if tensor.dtype.base_dtype.name == "string":
        return f"tf.string_to_number({name}, tf.{wanted.name})"
    return f"tf.cast({name}, tf.{wanted.name})"


@contextlib.contextmanager
def naming(remedy: str = "", **operands: object) -> Iterator[None]:
    """Add a line for each operand, and the remedy, to an error about values, shapes or types that the block raises.

    Operands are named as the program's function names them; those that are no tensors yet are shown as they are.
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        if type(error) not in (ValueError, TypeError) or "\n  " in str(error):
            raise
        lines = [str(error), *(f"  {name}: {_shown(value)}" for name, value in operands.items() if value is not None)]
        raise type(error)("\n".join([*lines, *([f"  {remedy}"] if remedy else [])])) from None


def _shown(value: object) -> str:
    element = getattr(value, "_as_graph_element", None)
    tensor = value if element is None else element()
    if isinstance(tensor, Tensor):
        return described(tensor)
    text = repr(value)
    return f"{text[:_SHOWN_TEXT]}..." if len(text) > _SHOWN_TEXT else text
