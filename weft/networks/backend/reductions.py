"""tf.keras.backend's reductions over axes."""

from __future__ import annotations

from weft.framework.building.aliases import AxisLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.networks.state.defaults import floatx
from weft.ops.math import reduce_functions as reductions
from weft.ops.math.casting import cast as cast_to
from weft.ops.math.unary import sqrt as root


def _as_floats(x: TensorLike) -> Tensor:
    tensor = convert_to_tensor(x)
    return cast_to(tensor, floatx()) if tensor.dtype.base_dtype == dtypes.bool else tensor


def mean(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The mean; of booleans the part that is true.

    Args:
        x: a tensor of numbers or booleans; booleans count as floats.
        axis: one dimension or several; all when None.
        keepdims: whether reduced dimensions stay, with size 1.

    Returns:
        A tensor without these dimensions; of `floatx()` for booleans, else of x's dtype.
    """
    return reductions.reduce_mean(_as_floats(x), axis=axis, keepdims=keepdims)


def var(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The variance.

    Args: those of `tf.keras.backend.mean`.
    """
    return reductions.reduce_variance(_as_floats(x), axis=axis, keepdims=keepdims)


def std(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The standard deviation.

    Args: those of `tf.keras.backend.mean`.
    """
    return root(var(x, axis, keepdims))


def sum(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The sum.

    Args:
        x: a tensor of numbers.
        axis: one dimension or several; all when None.
        keepdims: whether reduced dimensions stay, with size 1.
    """
    return reductions.reduce_sum(x, axis=axis, keepdims=keepdims)


def prod(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The product.

    Args: those of `tf.keras.backend.sum`.
    """
    return reductions.reduce_prod(x, axis=axis, keepdims=keepdims)


def max_of(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The greatest element.

    Args: those of `tf.keras.backend.sum`.
    """
    return reductions.reduce_max(x, axis=axis, keepdims=keepdims)


def min_of(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The least element.

    Args: those of `tf.keras.backend.sum`.
    """
    return reductions.reduce_min(x, axis=axis, keepdims=keepdims)


def any_of(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """Whether an element is true.

    Args:
        x: a tensor; numbers other than 0 are true.
        axis: one dimension or several; all when None.
        keepdims: whether reduced dimensions stay, with size 1.

    Returns:
        A bool tensor.
    """
    return reductions.reduce_any(cast_to(x, dtypes.bool), axis=axis, keepdims=keepdims)


def all_of(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """Whether all elements are true.

    Args: those of `tf.keras.backend.any`.

    Returns:
        A bool tensor.
    """
    return reductions.reduce_all(cast_to(x, dtypes.bool), axis=axis, keepdims=keepdims)


def argmax(x: TensorLike, axis: int = -1) -> Tensor:
    """The place of the greatest element.

    Args:
        x: a tensor of numbers.
        axis: the dimension to search.

    Returns:
        An int64 tensor without that dimension.
    """
    return reductions.argmax(x, axis)


def argmin(x: TensorLike, axis: int = -1) -> Tensor:
    """The place of the least element.

    Args: those of `tf.keras.backend.argmax`.

    Returns:
        An int64 tensor without that dimension.
    """
    return reductions.argmin(x, axis)
