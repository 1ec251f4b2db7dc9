"""extract_glimpse: a window of each image around a place of its own, as models of attention look at images."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.batch_gather import gather_nd
from weft.ops.array.identity import stop_gradient
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import where_v2
from weft.ops.array.shape_ops import expand_dims, shape
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import broadcast_to
from weft.ops.math.casting import cast
from weft.ops.math.clip import clip_by_value
from weft.ops.math.reduce_functions import reduce_max, reduce_mean, reduce_min
from weft.ops.random.functions import random_normal, random_uniform


def extract_glimpse(
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> Tensor:
    """A window of each image around a place; what of it is outside of the image is noise. It has no gradient.

    Args:
        input: [batch, height, width, channels] float32.
        size: [2] int32: height and width of the windows.
        offsets: [batch, 2] float32: the windows' middles, as row and column.
        centered: whether the places count from the middle of the image, which is 0; from its upper left corner if False.
        normalized: whether the places are shares of the image, -1 to 1 if they are centered; pixels if False.
        uniform_noise: whether the noise is uniform between an image's least and greatest value; normal if False, with the
            image's mean and deviation.
        name: the name scope.

    Returns:
        [batch, *size, channels] float32.

    Raises:
        ValueError: an argument has another rank or size.
    """
    with get_default_graph().name_scope(name or "ExtractGlimpse"):
        images = convert_to_tensor(input, dtypes.float32)
        window = convert_to_tensor(size, dtypes.int32)
        places = convert_to_tensor(offsets, dtypes.float32)
        _check(images, window, places)
        sizes = shape(images)
        extent = cast(sizes[1:3], dtypes.float32)
        if normalized:
            places = places * extent
        if centered:
            places = places / 2.0 + extent / 2.0
        first = cast(places - cast(window, dtypes.float32) / 2.0, dtypes.int32)
        glimpses = _windows(images, sizes, first, window, uniform_noise)
        known = constant_value(window)
        height, width = (None, None) if known is None else (int(known[0]), int(known[1]))
        batch, channels = (None, None) if images.dims is None else (images.dims[0], images.dims[3])
        glimpses.set_shape([batch, height, width, channels])
        return glimpses


def _windows(images: Tensor, sizes: Tensor, first: Tensor, window: Tensor, uniform_noise: bool) -> Tensor:
    from_rows = expand_dims(first[:, 0], 1) + expand_dims(range_of(window[0]), 0)
    from_columns = expand_dims(first[:, 1], 1) + expand_dims(range_of(window[1]), 0)
    every = [sizes[0], window[0], window[1]]
    rows = broadcast_to(expand_dims(from_rows, 2), every)
    columns = broadcast_to(expand_dims(from_columns, 1), every)
    batch = broadcast_to(expand_dims(expand_dims(range_of(sizes[0]), 1), 2), every)
    inside = (rows >= 0) & (rows < sizes[1]) & (columns >= 0) & (columns < sizes[2])
    rows, columns = clip_by_value(rows, 0, sizes[1] - 1), clip_by_value(columns, 0, sizes[2] - 1)
    taken = gather_nd(images, stack([batch, rows, columns], 3))
    noise = _noise(images, shape(taken), uniform_noise)
    return stop_gradient(where_v2(expand_dims(inside, 3), taken, noise))


def _noise(images: Tensor, sizes: Tensor, uniform_noise: bool) -> Tensor:
    """Noise as large as the values of each image and channel."""
    if uniform_noise:
        least, greatest = (reduce(images, [1, 2], keepdims=True) for reduce in (reduce_min, reduce_max))
        return least + (greatest - least) * random_uniform(sizes)
    mean = reduce_mean(images, [1, 2], keepdims=True)
    deviation = reduce_mean((images - mean) ** 2.0, [1, 2], keepdims=True) ** 0.5
    return mean + deviation * random_normal(sizes)


def _check(images: Tensor, window: Tensor, places: Tensor) -> None:
    for tensor, rank in ((images, 4), (window, 1), (places, 2)):
        if tensor.shape.ndims not in (None, rank):
            raise ValueError(f"Shape must be rank {rank} but is rank {tensor.shape.ndims} for 'ExtractGlimpse': {tensor.shape}")
    for tensor, axis in ((window, 0), (places, 1)):
        if tensor.shape.ndims is not None and tensor.shape[axis].value not in (None, 2):
            raise ValueError(f"Dimension must be 2 but is {tensor.shape[axis]} for 'ExtractGlimpse': {tensor.shape}")
    if None not in (images.shape.ndims, places.shape.ndims) and not images.shape[0].is_compatible_with(places.shape[0]):
        raise ValueError(
            f"Dimensions must be equal, but are {places.shape[0]} and {images.shape[0]} for 'ExtractGlimpse': each image has "
            f"an offset of its own, got offsets of {places.shape} for images of {images.shape}"
        )
