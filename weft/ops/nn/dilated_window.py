"""with_space_to_batch: an operation on windows without gaps, made one on windows with gaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weft.framework.building.aliases import Array, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.ops.array.blocks import batch_to_space_nd, space_to_batch_nd
from weft.ops.array.shape_ops import shape
from weft.ops.array.tiling import required_space_to_batch_paddings

# Takes the inputs, the number of spatial dimensions and the padding, by these names or in this order.
WindowOp = Callable[[Tensor, int, str], Tensor]


def with_space_to_batch(
    input: TensorLike, dilation_rate: TensorLike, padding: str, op: WindowOp, filter_shape: TensorLike | None = None,
    spatial_dims: Sequence[int] | None = None, data_format: str | None = None,
) -> Tensor:  # fmt: skip
    """What `op`, which sees windows of neighbours, makes of windows whose elements are `dilation_rate` apart.

    The elements that are seen together are put together by `tf.space_to_batch_nd`; `op` is called once, and what it makes
    is dealt back. With rates of 1 alone it is called on the input as it is.

    Args:
        input: `[batch, *spatial, ...]`.
        dilation_rate: `[n]` ints of at least 1, known while the graph is built: the rate of each spatial dimension.
        padding: "VALID" or "SAME"; the latter pads for windows of `filter_shape`.
        op: takes the inputs, the number of spatial dimensions and a padding: "VALID", unless all rates are 1.
        filter_shape: `[n]` ints, the sizes of the window; for "SAME" alone.
        spatial_dims: the n dimensions, rising; those behind the batch, or behind the channels, when None.
        data_format: begins with "NC" where the channels are the second dimension.

    Returns:
        What `op` makes, with its spatial dimensions put together again.

    Raises:
        ValueError: the rates are not known or below 1, the padding is another or lacks `filter_shape`, or `spatial_dims` do
            not rise.
    """
    input = convert_to_tensor(input, name="input")
    rates = _known(dilation_rate, "dilation_rate")
    if rates.ndim != 1:
        raise ValueError("rate must be rank 1")
    if not np.all(rates > 0):
        raise ValueError("dilation_rate must be positive")
    count = len(rates)
    first = 2 if data_format is not None and data_format.startswith("NC") else 1
    dims = list(range(first, first + count) if spatial_dims is None else spatial_dims)
    if len(dims) != count or dims != sorted(set(dims)) or dims[0] < 1:
        raise ValueError("spatial_dims must be a montonically increasing sequence of positive integers")
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"Invalid padding method {padding!r}")
    if np.all(rates == 1):
        return op(input, count, padding)
    base = np.zeros((count, 2), np.int64)
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("filter_shape must be specified for SAME padding")
        missing = (_known(filter_shape, "filter_shape")[:count] - 1) * rates
        base = np.stack([missing // 2, missing - missing // 2], 1)
    # Dimensions in between are blocks of one, as they are.
    block, around = np.ones(dims[-1], np.int32), np.zeros((dims[-1], 2), np.int32)
    places = [each - 1 for each in dims]
    block[places], around[places] = rates, base
    paddings, crops = required_space_to_batch_paddings(_sizes(input, dims[-1]), block, around)
    made = op(space_to_batch_nd(input, block, paddings), count, "VALID")
    return batch_to_space_nd(made, block, crops)


def _known(value: TensorLike, name: str) -> Array:
    found = constant_value(convert_to_tensor(value, name=name))
    if found is None:
        raise ValueError(f"with_space_to_batch: {name} must be known while the graph is built")
    return found.astype(np.int64)


def _sizes(input: Tensor, count: int) -> TensorLike:
    """The sizes of the first dimensions behind the batch, as numbers where they are known."""
    known = None if input.shape.ndims is None else input.shape.as_list()[1 : count + 1]
    return shape(input)[1 : count + 1] if known is None or None in known else np.array(known, np.int32)
