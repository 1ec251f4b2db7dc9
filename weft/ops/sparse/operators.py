"""Python's operators on SparseTensors, and the functions of one tensor that they take; importing this module gives them."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
from weft.ops.dispatch import register_handler
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.complex_numbers import absolute, sign
from weft.ops.math.division import TRUE_DIVISION
from weft.ops.math.elementwise import neg, square
from weft.ops.math.special_functions import erf
from weft.ops.math.unary import sqrt, tanh
from weft.ops.sparse.arithmetic import sparse_dense_div, sparse_dense_mul


def _times(sparse: SparseTensor, dense: TensorLike) -> SparseTensor:
    with input_scope(None, "mul", (sparse, dense)) as scope:
        other = convert_to_tensor(dense, sparse.dtype.base_dtype, name="y")
        return sparse.with_values(sparse_dense_mul(sparse.indices, sparse.values, sparse.dense_shape, other, name=scope))


def _over(sparse: SparseTensor, dense: TensorLike) -> SparseTensor:
    """As in Python 3: integers become floats first."""
    with input_scope(None, "truediv", (sparse, dense)) as scope:
        values, other = sparse.values, convert_to_tensor(dense, sparse.dtype.base_dtype, name="y")
        kind = TRUE_DIVISION.get(values.dtype.base_dtype)
        if kind is None:
            raise TypeError(f"Invalid dtype {values.dtype.base_dtype!r} in __truediv__.")
        if kind is not values.dtype.base_dtype:
            values, other = cast(values, kind), cast(other, kind)
        return sparse.with_values(sparse_dense_div(sparse.indices, values, sparse.dense_shape, other, name=scope))


def _on_values(function: Callable[..., Tensor]) -> Callable[..., object]:
    """The function on the values of its first argument; a zero, which is not stored, stays one."""

    def handle(x: object, name: str | None = None) -> object:
        return x.with_values(function(x.values, name=name)) if isinstance(x, SparseTensor) else NotImplemented

    return handle


for _function in (absolute, neg, sign, square, sqrt, tanh, erf):
    register_handler(_function, _on_values(_function), (SparseTensor,))
setattr(SparseTensor, "__mul__", _times)  # noqa: B010
setattr(SparseTensor, "__truediv__", _over)  # noqa: B010
