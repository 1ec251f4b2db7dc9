"""Measures of images: gradients and edges, total variation, and how alike two of them are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.joining import concat
from weft.ops.array.padding import pad
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import tile
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_greater_equal
from weft.ops.image.transforms import check_pixels, convert_image_dtype, count_checks
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum
from weft.ops.math.elementwise import square, squared_difference
from weft.ops.math.reduce_functions import reduce_mean, reduce_prod, reduce_sum
from weft.ops.math.unary import log, rsqrt, sqrt
from weft.ops.nn.activation import relu
from weft.ops.nn.pool import avg_pool
from weft.ops.nn.separable_conv import depthwise_conv2d

_FLOATS: Final = (dtypes.float16, dtypes.float32)
_MSSSIM_WEIGHTS: Final = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)  # Wang, Simoncelli and Bovik 2003, for five scales


def total_variation(images: TensorLike, name: str | None = None) -> Tensor:
    """The sum of the absolute differences of neighbours: `[height, width, channels] -> scalar`, or for a batch `[batch]`.

    Args:
        images: [height, width, channels] or [batch, height, width, channels] tensor of a numeric dtype.

    Raises:
        ValueError: the rank is not 3 or 4.
    """
    with get_default_graph().name_scope(name or "total_variation"):
        tensor = convert_to_tensor(images, name="images")
        rank = tensor.shape.ndims
        if rank not in (3, 4):
            raise ValueError(f"'images' must be either 3 or 4-dimensional. {tensor.name!r} has the shape {tensor.shape}.")
        down, across = tensor[..., 1:, :, :] - tensor[..., :-1, :, :], tensor[..., :, 1:, :] - tensor[..., :, :-1, :]
        axes = [-3, -2, -1]
        return reduce_sum(abs(down), axis=axes) + reduce_sum(abs(across), axis=axes)


def image_gradients(image: TensorLike) -> tuple[Tensor, Tensor]:
    """The differences to the next pixel down and to the right, zeros at the border: two of `[batch, height, width, depth]`.

    Args:
        image: [batch, height, width, depth] tensor of a numeric dtype.

    Raises:
        ValueError: the rank is not 4.
    """
    tensor = convert_to_tensor(image, name="image")
    if tensor.shape.ndims != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {tensor.shape}.")
    down, across = tensor[:, 1:] - tensor[:, :-1], tensor[:, :, 1:] - tensor[:, :, :-1]
    result = pad(down, [[0, 0], [0, 1], [0, 0], [0, 0]]), pad(across, [[0, 0], [0, 0], [0, 1], [0, 0]])
    for each in result:
        each.set_shape(tensor.shape)
    return result


def sobel_edges(image: TensorLike) -> Tensor:
    """Edges by Sobel's filters: `[batch, height, width, depth] -> [batch, height, width, depth, 2]`, downwards and across.

    Args:
        image: [batch, height, width, depth] tensor of a floating dtype.
    """
    tensor = convert_to_tensor(image, name="image")
    down = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]], np.float32)
    filters = constant(np.stack([down, down.T], axis=-1)[:, :, None, :], tensor.dtype)
    depth = shape(tensor)[3]
    mirrored = pad(tensor, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = depthwise_conv2d(mirrored, tile(filters, stack([1, 1, depth, 1])), [1, 1, 1, 1], "VALID")
    result = reshape(edges, concat([shape(tensor), [2]], 0))
    result.set_shape(tensor.shape.concatenate([2]))
    return result


def per_image_standardization(image: TensorLike) -> Tensor:
    """Images of mean 0 and variance 1, of the same dtype: `[..., height, width, channels]`; integers saturate.

    The deviation counts as at least `1/sqrt(number of values)`, so that an even image does not divide by zero.

    >>> tf.image.per_image_standardization(tf.zeros([8, 8, 3])).shape
    TensorShape([Dimension(8), Dimension(8), Dimension(3)])

    Args:
        image: [..., height, width, channels] tensor of a numeric dtype.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: the image is known to have no pixels, or fewer than three dimensions.
    """
    with get_default_graph().name_scope("per_image_standardization"):
        tensor = convert_to_tensor(image, name="image")
        if tensor.dims is not None and len(tensor.dims) < 3:
            raise ValueError(f"'image' must be at least three-dimensional, [..., height, width, channels]; {described(tensor)}")
        check_pixels(tensor)
        count_checks(tensor)
        pixels = tensor if tensor.dtype in _FLOATS else convert_image_dtype(tensor, dtypes.float32)
        axes = [-1, -2, -3]
        mean = reduce_mean(pixels, axis=axes, keepdims=True)
        variance = relu(reduce_mean(square(pixels), axis=axes, keepdims=True) - square(mean))
        least = rsqrt(cast(reduce_prod(shape(pixels)[-3:]), dtypes.float32))
        even = (pixels - mean) / maximum(sqrt(variance), cast(least, pixels.dtype))
        return convert_image_dtype(even, tensor.dtype, saturate=True)


def _comparable(a: TensorLike, b: TensorLike, max_val: TensorLike) -> tuple[Tensor, Tensor, Tensor]:
    first, second = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
    for tensor in (first, second):
        if tensor.shape.ndims is not None and tensor.shape.ndims < 3:
            raise ValueError(
                f"Shape {tensor.shape} must have rank at least 3: images are [..., height, width, channels]; this is "
                f"{tensor.name!r}"
            )
    if not first.shape[-3:].is_compatible_with(second.shape[-3:]):
        raise ValueError(f"Shapes {first.shape} and {second.shape} are incompatible")
    greatest = convert_image_dtype(cast(max_val, first.dtype), dtypes.float32)
    return convert_image_dtype(first, dtypes.float32), convert_image_dtype(second, dtypes.float32), greatest


def psnr(a: TensorLike, b: TensorLike, max_val: TensorLike, name: str | None = None) -> Tensor:
    """The peak signal-to-noise ratio of two images, in decibels: two of `[..., height, width, channels] -> [...]`.

    Args:
        a, b: the images, of one dtype.
        max_val: the largest value that a pixel may have, such as 255.
        name: the name scope.

    Raises:
        ValueError: the shapes differ, or have less than three dimensions.
    """
    with get_default_graph().name_scope(name or "PSNR"):
        first, second, greatest = _comparable(a, b, max_val)
        error = reduce_mean(squared_difference(first, second), [-3, -2, -1])
        # TensorFlow looks at the shapes in the step as well; random nodes behind this get their seeds by the count.
        get_default_graph().node_count.total += 21
        decibels = 10.0 / math.log(10.0)
        return 2.0 * decibels * log(greatest) - decibels * log(error)


def _gaussian(size: int, sigma: float) -> np.ndarray:
    distances = np.arange(size, dtype=np.float32) - np.float32((size - 1) / 2)
    heights = -0.5 * np.square(distances) / np.square(np.float32(sigma))
    weights: np.ndarray = np.exp(heights[:, None] + heights[None, :])
    return np.asarray(weights / weights.sum(), np.float32)[:, :, None, None]


def _ssim_per_channel(
    first: Tensor, second: Tensor, greatest: Tensor, size: int, sigma: float, k1: float, k2: float
) -> tuple[Tensor, Tensor]:
    """The mean likeness of each channel, and the part of it that is contrast and structure: two of `[..., channels]`."""
    kernel = constant(_gaussian(size, sigma))
    channels = shape(first)[-1]
    kernel = tile(kernel, stack([1, 1, channels, 1]))

    def local_mean(x: Tensor) -> Tensor:
        outer = shape(x)
        flat = depthwise_conv2d(reshape(x, concat([[-1], outer[-3:]], 0)), kernel, [1, 1, 1, 1], "VALID")
        return reshape(flat, concat([outer[:-3], shape(flat)[1:]], 0))

    c1, c2 = square(k1 * greatest), square(k2 * greatest)
    mean_a, mean_b = local_mean(first), local_mean(second)
    products = mean_a * mean_b * 2.0
    squares = square(mean_a) + square(mean_b)
    luminance = (products + c1) / (squares + c1)
    correlation = local_mean(first * second) * 2.0 - products
    variance = local_mean(square(first) + square(second)) - squares
    structure = (correlation + c2) / (variance + c2)
    return reduce_mean(luminance * structure, [-3, -2]), reduce_mean(structure, [-3, -2])


def ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """The structural similarity of two images (Wang et al. 2004): two of `[..., height, width, channels] -> [...]`, at most 1.

    Args:
        img1, img2: the images, of one dtype.
        max_val: the largest value that a pixel may have.
        filter_size, filter_sigma: the Gaussian window, in pixels.
        k1, k2: the shares of `max_val` that keep divisions stable.

    Raises:
        ValueError: the shapes differ; InvalidArgumentError: an image is smaller than the window.
    """
    with get_default_graph().name_scope("SSIM"):
        first, second, greatest = _comparable(img1, img2, max_val)
        checks = [assert_greater_equal(shape(first)[-3:-1], filter_size, message="an image is smaller than SSIM's window")]
        first = with_dependencies(checks, first)
        get_default_graph().node_count.total += 47  # of TensorFlow's further checks, and of the window, which it computes
        similarity, _ = _ssim_per_channel(first, second, greatest, filter_size, filter_sigma, k1, k2)
        return reduce_mean(similarity, [-1])


def ssim_multiscale(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    power_factors: Sequence[float] = _MSSSIM_WEIGHTS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """The structural similarity over several scales, each half of the one before; arguments as of `ssim`.

    Args:
        img1, img2: two of `[..., height, width, channels]`.
        max_val: the largest value that a pixel may have.
        power_factors: the exponent of each scale, the finest first.
        filter_size, filter_sigma, k1, k2: see `ssim`.
    """
    with get_default_graph().name_scope("MS-SSIM"):
        first, second, greatest = _comparable(img1, img2, max_val)
        factors = list(power_factors)
        get_default_graph().node_count.total += 7 * len(factors) + 76  # as in `ssim`
        parts: list[Tensor] = []
        similarity = None
        for scale in range(len(factors)):
            if scale:
                first, second = _halved(first), _halved(second)
            similarity, structure = _ssim_per_channel(first, second, greatest, filter_size, filter_sigma, k1, k2)
            parts.append(relu(structure))
        assert similarity is not None
        parts[-1] = relu(similarity)
        powers = stack(parts, axis=-1) ** constant(factors, dtypes.float32)
        return reduce_mean(reduce_prod(powers, [-1]), [-1])


def _halved(images: Tensor) -> Tensor:
    """Means of two by two pixels; an odd border is repeated."""
    outer = shape(images)
    flat = reshape(images, concat([[-1], outer[-3:]], 0))
    odd = outer[-3:] % 2
    margins = stack([stack([0, 0]), stack([0, odd[0]]), stack([0, odd[1]]), stack([0, 0])])
    flat = avg_pool(pad(flat, margins, mode="SYMMETRIC"), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    return reshape(flat, concat([outer[:-3], shape(flat)[1:]], 0))
