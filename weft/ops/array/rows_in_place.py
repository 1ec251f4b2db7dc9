"""Changes of a tensor's rows, by the names of tensorflow.python.ops.inplace_ops.

TensorFlow changes the tensor itself, which saves loops a copy. Tensors have one value here: the result is the changed one, for
which XLA takes the input's memory where nobody else reads it.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.tensor_scatter import tensor_scatter_add, tensor_scatter_sub, tensor_scatter_update


def alias_inplace_update(x: TensorLike, i: TensorLike | None, v: TensorLike) -> Tensor:
    """`x` with rows replaced.

    Args:
        x: a tensor.
        i: the row's number, a vector of such numbers, or None for all of `x`.
        v: the row, the rows, or what replaces `x`.

    Returns:
        The changed tensor.
    """
    return _changed(tensor_scatter_update, x, i, v) if i is not None else convert_to_tensor(v)


def alias_inplace_add(x: TensorLike, i: TensorLike | None, v: TensorLike) -> Tensor:
    """`x` with `v` added to rows; see `alias_inplace_update`."""
    return _changed(tensor_scatter_add, x, i, v) if i is not None else convert_to_tensor(x) + v


def alias_inplace_sub(x: TensorLike, i: TensorLike | None, v: TensorLike) -> Tensor:
    """`x` with `v` subtracted from rows; see `alias_inplace_update`."""
    return _changed(tensor_scatter_sub, x, i, v) if i is not None else convert_to_tensor(x) - v


def _changed(
    change: Callable[[TensorLike, TensorLike, TensorLike], Tensor], x: TensorLike, i: TensorLike, v: TensorLike
) -> Tensor:
    rows = convert_to_tensor(i)
    values = convert_to_tensor(v, dtype=convert_to_tensor(x).dtype)
    if rows.shape.ndims == 0:
        return change(x, expand_dims(expand_dims(rows, 0), 0), expand_dims(values, 0))
    return change(x, expand_dims(rows, 1), values)
