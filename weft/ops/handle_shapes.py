"""The shape and the type of the variable that a handle is of."""

from __future__ import annotations

from weft.framework.nodes.operation import Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType


def handle_shape(handle: Tensor) -> Dims:
    """The shape of the variable behind a handle, as far as it is known."""
    # In the body of a branch or loop an argument stands for the handle.
    return handle.op.attrs["shape"] if handle.op.op_def.role is Role.VARIABLE else handle.op.attrs.get("_handle_shape")


def check_handle_type(handle: Tensor, dtype: DType) -> None:
    """Raise ValueError where the variable behind a handle is known to have another type."""
    attrs = handle.op.attrs
    found = attrs["dtype"] if handle.op.op_def.role is Role.VARIABLE else attrs.get("_handle_dtype")
    if found not in (None, dtype):
        raise ValueError(f"Trying to read variable with wrong dtype. Expected {found.name} got {dtype.name}")
