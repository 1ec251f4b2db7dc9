"""What a program sees when a kernel fails: the class and the text that belong to the exception out of NumPy or JAX."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from weft.errors import FailedPreconditionError, InternalError, InvalidArgumentError, OpError, ResourceExhaustedError
from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types.dtypes import resource

# How NumPy and JAX each say that shapes do not broadcast.
_MISFIT: Final = re.compile(r"operands could not be broadcast together|incompatible shapes for broadcasting")
_SHAPE: Final = re.compile(r"\(([\d, ]*)\)")


def kernel_error(op: Operation, error: Exception) -> OpError:
    """The OpError for an exception out of a kernel: a ValueError or TypeError is the input's fault, others are ours."""
    if isinstance(error, ValueError | TypeError | IndexError | ZeroDivisionError | OverflowError):
        return InvalidArgumentError.of(f"{_incompatible_shapes(str(error))}{op.type} {op.name!r}: {error}", op)
    if isinstance(error, MemoryError):
        return ResourceExhaustedError.of(f"{op.type} {op.name!r}: out of memory: {error}", op)
    return InternalError.of(f"{op.type} {op.name!r}: {type(error).__name__}: {error}", op)


def located(op: Operation, error: Exception) -> OpError:
    """What came out of a node's kernel as an OpError that carries the node."""
    if not isinstance(error, OpError):
        made = kernel_error(op, error)
        made.__cause__ = error
        return made
    if error.op is None:
        error.locate(op)
    return error


def raise_located(op: Operation, error: Exception) -> NoReturn:
    """Raise what came out of a node's kernel as an OpError that carries the node."""
    raise located(op, error)


def _incompatible_shapes(text: str) -> str:
    if not _MISFIT.search(text):
        return ""
    shapes = [f"[{','.join(shape.replace(' ', '').strip(',').split(','))}]" for shape in _SHAPE.findall(text)]
    return f"Incompatible shapes: {' vs. '.join(shapes)}. "


def uninitialized(op: Operation, slot_name: str) -> OpError:
    """The error for a variable that has no value.

    Args:
        op: the node that uses it.
        slot_name: the variable's name in the task; an optimizer's update uses several, of which one may be missing.
    """
    variables = [t for t in op.inputs or op.outputs if t.dtype.is_ref or t.dtype is resource]
    names = [_variable_name(tensor) for tensor in variables]
    at = names.index(slot_name) if slot_name in names else 0
    name = names[at] if names else slot_name
    text = f"Attempting to use uninitialized value {name}"
    if names and variables[at].dtype is resource:
        text = (
            f"Error while reading resource variable {name} from Container: localhost. This could mean that the variable was "
            f"uninitialized. {text}"
        )
    return FailedPreconditionError.of(text, op)


def check_assigned(op: Operation, old: Array, new: Array) -> None:
    """Refuse a value of another shape than the variable's, which its node declares or else its value tells.

    Args:
        op: an assignment.
        old: the variable's value, None when it has none.
        new: the value that it is to get.

    Raises:
        InvalidArgumentError: the shapes differ.
    """
    if op.inputs[0].dtype.is_ref:
        dims = op.inputs[0].dims if op.attrs["validate_shape"] else tuple(new.shape)
        if (dims is None or None in dims) and old is not None:
            dims = tuple(old.shape)
    else:
        dims = op.inputs[0].op.attrs.get("shape")
    if dims is not None and None not in dims and tuple(new.shape) != dims:
        raise InvalidArgumentError.of(
            "Assign requires shapes of both tensors to match. "
            f"lhs shape= {list(dims)} rhs shape= {list(new.shape)} (variable {op.inputs[0].op.name!r})",
            op,
        )


def _variable_name(tensor: Tensor) -> str:
    while tensor.op.op_def.role is not Role.VARIABLE and tensor.op.inputs:
        tensor = tensor.op.inputs[0]
    return tensor.op.attrs.get("_variable") or tensor.op.name
