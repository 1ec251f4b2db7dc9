"""Images sampled at places of their own for each pixel: by a flow, or by a grid of places."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import expand_dims, reshape, shape
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.clip import clip_by_value
from weft.ops.math.comparison import greater, greater_equal, less, logical_and
from weft.ops.math.elementwise import add, mul, sub
from weft.ops.math.unary import floor


def _pixels(image: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """The pixels `[batch, places, channels]` of images at whole places `[batch, places]` within them."""
    sizes = shape(image)
    flat = reshape(image, [sizes[0], -1, sizes[3]])
    taken = gather(flat, cast(add(mul(rows, cast(sizes[2], rows.dtype)), columns), dtypes.int32), axis=1, batch_dims=1)
    taken.set_shape([image.shape[0], None, image.shape[3]])
    return taken


def _between(first: Tensor, second: Tensor, share: Tensor) -> Tensor:
    return add(first, mul(expand_dims(share, 2), sub(second, first)))


def dense_image_warp(image: TensorLike, flow: TensorLike, name: str = "dense_image_warp") -> Tensor:
    """Images whose pixel `(row, column)` is that at `(row, column) - flow`, a blend of four; beside the image its border's.

    Args:
        image: `[batch, height, width, channels]` floats, at least 2 by 2.
        flow: `[batch, height, width, 2]`, rows first.
        name: the name scope.

    Returns:
        A tensor of the shape and dtype of `image`.

    Raises:
        ValueError: the image has another rank, or is known to be smaller.
    """
    with input_scope(name, "dense_image_warp", (image, flow)):
        image, flow = convert_to_tensor(image), convert_to_tensor(flow)
        if image.shape.ndims != 4:
            raise ValueError(f"Grid must be 4 dimensional. Received size: {image.shape}")
        if any(size.value is not None and size.value < 2 for size in image.shape[1:3]):
            raise ValueError(f"Grid height and width must be at least 2. Received size: {image.shape}")
        sizes, dtype = shape(image), flow.dtype.base_dtype
        counted = [cast(reshape(range_of(sizes[axis]), form), dtype) for axis, form in ((1, [1, -1, 1]), (2, [1, 1, -1]))]
        places = [reshape(sub(each, flow[..., axis]), [sizes[0], -1]) for axis, each in enumerate(counted)]
        lasts = [cast(sub(sizes[axis], 2), dtype) for axis in (1, 2)]
        firsts = [clip_by_value(floor(each), 0.0, last) for each, last in zip(places, lasts, strict=True)]
        shares = [
            cast(clip_by_value(sub(each, first), 0.0, 1.0), image.dtype.base_dtype)
            for each, first in zip(places, firsts, strict=True)
        ]
        row, column = firsts
        upper, lower = [
            _between(_pixels(image, at, column), _pixels(image, at, add(column, 1.0)), shares[1]) for at in (row, add(row, 1.0))
        ]
        warped = reshape(_between(upper, lower, shares[0]), sizes)
        warped.set_shape(image.shape)
        return warped


def resampler(data: TensorLike, warp: TensorLike, name: str = "resampler") -> Tensor:
    """Images at places, each a blend of four pixels; 0 beside the images.

    Args:
        data: `[batch, height, width, channels]` floats.
        warp: `[batch, ..., 2]`, the places, `(x, y)`.
        name: the name scope.

    Returns:
        `[batch, ..., channels]`.

    Raises:
        ValueError: `data` has another rank, or `warp` no pairs.
    """
    with input_scope(name, "resampler", (data, warp)):
        image, places = convert_to_tensor(data, name="data"), convert_to_tensor(warp, name="warp")
        if image.shape.ndims != 4:
            raise ValueError(f"data must be [batch, height, width, channels], but its shape is {image.shape}")
        if places.shape.ndims is None or places.shape[-1].value != 2:
            raise ValueError(f"warp must be [batch, ..., 2], but its shape is {places.shape}")
        sizes, dtype = shape(image), image.dtype.base_dtype
        x, y = (reshape(places[..., index], [sizes[0], -1]) for index in (0, 1))
        left, top = floor(x), floor(y)

        def seen(row: Tensor, column: Tensor) -> Tensor:
            limits = [cast(sizes[axis], dtype) for axis in (1, 2)]
            pairs = list(zip((row, column), limits, strict=True))
            inside = [logical_and(greater_equal(at, 0.0), less(at, limit)) for at, limit in pairs]
            kept = [clip_by_value(at, 0.0, sub(limit, 1.0)) for at, limit in pairs]
            return mul(_pixels(image, *kept), expand_dims(cast(logical_and(*inside), dtype), 2))

        upper, lower = [_between(seen(at, left), seen(at, add(left, 1.0)), sub(x, left)) for at in (top, add(top, 1.0))]
        blended = _between(upper, lower, sub(y, top))
        near = logical_and(greater(x, -1.0), greater(y, -1.0))
        blended = mul(blended, expand_dims(cast(near, dtype), 2))
        made = reshape(blended, concat([shape(places)[:-1], sizes[3:]], 0))
        made.set_shape(places.shape[:-1].concatenate(image.shape[3:]))
        return made
