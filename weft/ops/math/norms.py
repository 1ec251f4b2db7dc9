"""Norms of tensors, and small algebra: norm, global_norm, Cross, polyval, scalar_mul."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.framework.graph import get_default_graph
from weft.framework.indexed_slices import IndexedSlices
from weft.framework.operation import Operation, Tensor
from weft.framework.tensor_conversion import convert_to_tensor
from weft.framework.tensor_shape import Dims, format_dims, merge_dims
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros_like
from weft.ops.array.joining import stack
from weft.ops.array.shape_ops import expand_dims, squeeze, transpose
from weft.ops.declaration import op
from weft.ops.input_scope import input_scope
from weft.ops.linalg.decompositions import svd_node
from weft.ops.math.complex_numbers import absolute, conj
from weft.ops.math.division import power
from weft.ops.math.elementwise import REAL, add, mul
from weft.ops.math.reduce_functions import either, reduce_max, reduce_sum
from weft.ops.math.unary import sqrt
from weft.ops.nn.loss import l2_loss

# Norms over dimensions.


def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    keep_dims: Any = None,
) -> Tensor:
    """The norm of vectors or matrices.

    Args:
        tensor: the tensor.
        ord: 'euclidean', 'fro', 1, 2, infinity, or for vectors any positive number.
        axis: the dimension of the vectors, the two dimensions of the matrices, or None for the norm of all elements.
        keepdims: whether the dimensions stay, with size 1.
        name: the name scope.
        keep_dims: an older name of `keepdims`.

    Raises:
        ValueError: there is no such norm, or the axes are not one or two integers.
    """
    keepdims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    axes = _norm_axes(axis)
    is_matrix = axes is not None and len(axes) == 2
    _check_order(ord, is_matrix)
    with input_scope(name, "norm", (tensor,)):
        tensor = convert_to_tensor(tensor)
        if ord in ("fro", "euclidean", 2) and not (is_matrix and ord == 2):
            result = sqrt(reduce_sum(mul(tensor, conj(tensor), name="mul"), axes, keepdims=True))
        elif is_matrix:
            assert axes is not None
            result = _matrix_norm(tensor, ord, axes)
        else:
            result = _vector_norm(tensor, ord, axes)
        return result if keepdims else squeeze(result, None if axes is None else list(axes))


def _norm_axes(axis: Any) -> tuple[int, ...] | None:
    if axis is None:
        return None
    axes = tuple(axis) if isinstance(axis, list | tuple) else (axis,)
    if len(axes) > 2 or len(set(axes)) != len(axes) or not all(isinstance(each, int | np.integer) for each in axes):
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
    return tuple(int(each) for each in axes)


def _check_order(order: Any, is_matrix: bool) -> None:
    if is_matrix:
        if order not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError(f"'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got {order}")
    elif order != "euclidean" and (isinstance(order, str) or not np.isreal(order) or order <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {order}")


def _vector_norm(tensor: Tensor, order: Any, axes: tuple[int, ...] | None) -> Tensor:
    axis = None if axes is None else axes[0]
    size = absolute(tensor)
    if order == 1:
        return reduce_sum(size, axis, keepdims=True)
    if order == np.inf:
        return reduce_max(size, axis, keepdims=True)
    return power(reduce_sum(power(size, order), axes, keepdims=True), 1.0 / order)


def _matrix_norm(tensor: Tensor, order: Any, axes: tuple[int, ...]) -> Tensor:
    if order == 1:
        return reduce_max(reduce_sum(absolute(tensor), axes[0], keepdims=True), axes[1], keepdims=True)
    if order == np.inf:
        return reduce_max(reduce_sum(absolute(tensor), axes[1], keepdims=True), axes[0], keepdims=True)
    if tensor.dims is None:
        raise ValueError("norm: the 2-norm of matrices needs a tensor of known rank")
    rank = len(tensor.dims)
    first, second = (axis % rank for axis in axes)
    rest = [axis for axis in range(rank) if axis not in (first, second)]
    singular = svd_node(transpose(tensor, [*rest, first, second]), compute_uv=False)[0]
    result = reduce_max(absolute(singular), -1)
    for axis in sorted((first, second)):
        result = expand_dims(result, axis)
    return result


def global_norm(t_list: Any, name: str | None = None) -> Any:
    """The square root of the sum of the squares of all elements of all tensors; None in the list is passed over.

    Raises:
        TypeError: `t_list` is no sequence.
    """
    with input_scope(name, "global_norm", _as_sequence(t_list)):
        squares = []
        for each in _values_of(t_list):
            if each is not None:
                with get_default_graph().colocate_with(each):
                    squares.append(l2_loss(each))
        half = reduce_sum(stack(squares))
        return sqrt(mul(half, constant(2, half.dtype), name="mul"), name="global_norm")


def _as_sequence(t_list: Any) -> list[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError("t_list should be a sequence")
    return list(t_list)


def _values_of(t_list: Any) -> list[Any]:
    """The tensors of a list, IndexedSlices by their values."""
    return [
        None if each is None
        else each.values if isinstance(each, IndexedSlices)
        else convert_to_tensor(each, name=f"t_{index}")
        for index, each in enumerate(t_list)
    ]  # fmt: skip


# Small algebra.


def _cross_shape(node: Operation) -> list[Dims]:
    dims = merge_dims(node.inputs[0].dims, node.inputs[1].dims)
    if dims is not None and (not dims or dims[-1] not in (None, 3)):
        raise ValueError(f"Dimension must be 3 but is {dims[-1] if dims else 'missing'}")
    return [None if dims is None else (*dims[:-1], 3)]


def _cross_gradient(node: Operation, grad: Any) -> list[Any]:
    a, b = node.inputs
    return [cross(b, grad), cross(grad, a)]


@op("Cross", "a: T, b: T -> product: T", infer=_cross_shape, gradient=_cross_gradient, types={"T": REAL})
def cross(xp, a, b):
    """The vector products of vectors of three."""
    return xp.cross(a, b)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """`scalar * x` for a tensor or IndexedSlices.

    Raises:
        ValueError: the scalar is none, as far as its shape is known.
    """
    if not isinstance(x, IndexedSlices):
        x = convert_to_tensor(x)
    scalar = convert_to_tensor(scalar, x.dtype.base_dtype, name="scalar")
    if scalar.dims != ():
        raise ValueError(f"Only scalar multiply works, got shape {format_dims(scalar.dims)}")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(mul(scalar, x.values, name=name), x.indices, x.dense_shape)
    return mul(scalar, x, name=name)


def polyval(coeffs: Any, x: Any, name: str | None = None) -> Tensor:
    """The polynomial with these coefficients (that of the highest power first) at `x`, by Horner's rule.

    Raises:
        ValueError: `coeffs` is no list.
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type found {type(coeffs)}.")
    with input_scope(name, "polyval", (*coeffs, x)):
        x = convert_to_tensor(x, name="x")
        if not coeffs:
            return zeros_like(x)
        terms = [convert_to_tensor(each, x.dtype.base_dtype, name=f"coeff_{i}") for i, each in enumerate(coeffs)]
        total = terms[0]
        for term in terms[1:]:
            total = add(term, mul(total, x, name="mul"), name="add")
        return total
