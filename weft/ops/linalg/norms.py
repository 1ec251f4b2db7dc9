"""Norms of the vectors and matrices in a tensor."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Array, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.ops.array.shape_ops import expand_dims, squeeze
from weft.ops.array.transposing import transpose
from weft.ops.input_scope import input_scope
from weft.ops.linalg.decompositions import svd_node
from weft.ops.math.complex_numbers import absolute, conj
from weft.ops.math.division import power
from weft.ops.math.elementwise import mul
from weft.ops.math.reduce_functions import reduce_max, reduce_sum
from weft.ops.math.unary import sqrt
from weft.platform.logs.deprecation import deprecated_argument_lookup


def norm(
    tensor: TensorLike,
    ord: str | float = "euclidean",
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
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
    keeps = bool(deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims))
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
            assert not isinstance(ord, str)
            result = _vector_norm(tensor, ord, axes)
        return result if keeps else squeeze(result, None if axes is None else list(axes))


def _norm_axes(axis: Array) -> tuple[int, ...] | None:
    if axis is None:
        return None
    is_listed = isinstance(axis, list | tuple)
    axes = tuple(axis) if isinstance(axis, list | tuple) else (axis,)
    if (
        (is_listed and len(axes) != 2)
        or not all(isinstance(each, int | np.integer) for each in axes)
        or len(set(axes)) != len(axes)
    ):
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
    return tuple(int(each) for each in axes)


def _check_order(order: str | float, is_matrix: bool) -> None:
    if is_matrix:
        if order not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError(f"'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got {order}")
    elif order != "euclidean" and (isinstance(order, str) or not np.isreal(order) or order <= 0):
        raise ValueError(
            f"'ord' must be a supported vector norm, got {order}: 'euclidean', or a number above 0 such as 1, 2 and np.inf"
        )


def _vector_norm(tensor: Tensor, order: float, axes: tuple[int, ...] | None) -> Tensor:
    axis = None if axes is None else axes[0]
    size = absolute(tensor)
    if order == 1:
        return reduce_sum(size, axis, keepdims=True)
    if order == np.inf:
        return reduce_max(size, axis, keepdims=True)
    return power(reduce_sum(power(size, order), axes, keepdims=True), 1.0 / order)


def _matrix_norm(tensor: Tensor, order: str | float, axes: tuple[int, ...]) -> Tensor:
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
