"""The declarations in the node of a variable."""

from __future__ import annotations

from weft.framework.nodes.operation import Operation
from weft.framework.op_types.op_role import Role
from weft.framework.types.dims import Dims


def declared_dims(node: Operation) -> Dims:
    """The shape that a variable's node declares; None where it declares none, or the node is no variable's.

    A scalar shape of the old op stands for an unknown one, as the shape rule of its reference says too.
    """
    if node.op_def.role is not Role.VARIABLE:
        return None
    reference = node.outputs[0]
    return reference.dims if reference.dtype.is_ref else node.attrs["shape"]
