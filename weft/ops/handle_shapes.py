"""The shape of the variable that a handle is of."""

from __future__ import annotations

from weft.framework.dims import Dims
from weft.framework.op_role import Role
from weft.framework.operation import Tensor


def handle_shape(handle: Tensor) -> Dims:
    """The shape of the variable behind a handle, as far as it is known."""
    # In the body of a branch or loop an argument stands for the handle.
    return handle.op.attrs["shape"] if handle.op.op_def.role is Role.VARIABLE else handle.op.attrs.get("_handle_shape")
