"""Images changed at random, as training data is augmented."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.selection import where_v2
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.array.tiling import reverse
from weft.ops.image.colours import adjust_hsv_in_yiq, adjust_hue, adjust_saturation
from weft.ops.image.jpeg import adjust_jpeg_quality
from weft.ops.image.transforms import adjust_brightness, adjust_contrast, image_of
from weft.ops.math.comparison import less
from weft.ops.random.functions import random_uniform


def random_flip_left_right(image: TensorLike, seed: int | None = None) -> Tensor:
    """Mirror an image, left to right, with a chance of one half; each image of a batch by a chance of its own.

    >>> tf.image.random_flip_left_right(tf.zeros([8, 6, 3]), seed=1).shape
    TensorShape([Dimension(8), Dimension(6), Dimension(3)])

    Args:
        image: [height, width, channels] or [batch, height, width, channels] tensor of any dtype.
        seed: the op seed.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: the image is of another rank.
    """
    with get_default_graph().name_scope("random_flip_left_right"):
        return _random_flip(image, 1, seed)


def random_flip_up_down(image: TensorLike, seed: int | None = None) -> Tensor:
    """Mirror an image, top to bottom, with a chance of one half; each image of a batch by a chance of its own.

    Args: those of `tf.image.random_flip_left_right`.

    Returns:
        A tensor of the same shape and dtype.
    """
    with get_default_graph().name_scope("random_flip_up_down"):
        return _random_flip(image, 0, seed)


def _random_flip(image: TensorLike, axis: int, seed: int | None) -> Tensor:
    """An image, or each of a batch, mirrored at random, by the draws and as many nodes as in TensorFlow."""
    tensor, before = image_of(image)
    count = get_default_graph().node_count
    if before:
        size = shape(tensor)[0]
        is_flipped = reshape(random_uniform([size], 0.0, 1.0, seed=seed), [size, 1, 1, 1]) > 0.5
        count.total -= 2
        counted = count.as_many_as(8 + (tensor.dtype != dtypes.float32))
    else:
        is_flipped = less(random_uniform([], 0.0, 1.0, seed=seed), 0.5)
        counted = count.as_many_as(9)
    with counted:
        flipped = where_v2(is_flipped, reverse(tensor, [axis + before]), tensor)
    flipped.set_shape(tensor.shape)
    return flipped


def random_brightness(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """Add a number from `[-max_delta, max_delta)` to all pixels; see `adjust_brightness`.

    Args:
        image: [..., height, width, channels] tensor of a numeric dtype.
        max_delta: a number that is not negative.
        seed: the op seed.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: `max_delta` is negative.

    >>> tf.image.random_brightness(tf.zeros([8, 8, 3]), max_delta=0.2).shape
    TensorShape([Dimension(8), Dimension(8), Dimension(3)])
    """
    _check_delta(max_delta)
    return adjust_brightness(image, random_uniform([], -max_delta, max_delta, seed=seed))


def random_contrast(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Multiply the contrast by a number from `[lower, upper)`; see `adjust_contrast`.

    Args:
        image: [..., height, width, channels] tensor of a numeric dtype.
        lower, upper: the range of the factor.
        seed: the op seed.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: `upper` is not larger than `lower`, or `lower` is negative.

    >>> tf.image.random_contrast(tf.zeros([8, 8, 3]), 0.5, 1.5).shape
    TensorShape([Dimension(8), Dimension(8), Dimension(3)])
    """
    _check_range(lower, upper)
    return adjust_contrast(image, random_uniform([], lower, upper, seed=seed))


def random_hue(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """Turn the hue by a number from `[-max_delta, max_delta)` of a full turn; see `adjust_hue`.

    Args:
        image: [..., 3] tensor of a numeric dtype, RGB.
        max_delta: a number from 0 to 0.5.
        seed: the op seed.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: `max_delta` is not from 0 to 0.5.
    """
    if max_delta > 0.5:
        raise ValueError(f"max_delta must be <= 0.5. Got {max_delta}: hues go round from 0 to 1, so 0.5 reaches all of them.")
    _check_delta(max_delta)
    return adjust_hue(image, random_uniform([], -max_delta, max_delta, seed=seed))


def random_saturation(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Multiply the saturation by a number from `[lower, upper)`; see `adjust_saturation`.

    Args:
        image: [..., 3] tensor of a numeric dtype, RGB.
        lower, upper: the range of the factor.
        seed: the op seed.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: `upper` is not larger than `lower`, or `lower` is negative.
    """
    _check_range(lower, upper)
    return adjust_saturation(image, random_uniform([], lower, upper, seed=seed))


def random_hsv_in_yiq(
    image: TensorLike, max_delta_hue: float = 0, lower_saturation: float = 1, upper_saturation: float = 1,
    lower_value: float = 1, upper_value: float = 1, seed: int | None = None,
) -> Tensor:  # fmt: skip
    """Turn the hue, and scale saturation and value, by random numbers; see `adjust_hsv_in_yiq`.

    Args:
        image: [..., 3] tensor of a numeric dtype, RGB.
        max_delta_hue: the hue is turned by an angle from `[-max_delta_hue, max_delta_hue)`, in radians.
        lower_saturation, upper_saturation: the range of the factor of saturation.
        lower_value, upper_value: the range of the factor of value.
        seed: the op seed.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: a range ends before it begins, or has negative numbers.
    """
    if max_delta_hue < 0:
        raise ValueError(f"max_delta must be non-negative. Got {max_delta_hue}")
    ranges = (("saturation", lower_saturation, upper_saturation), ("value", lower_value, upper_value))
    for kind, lower, _ in ranges:
        if lower < 0:
            raise ValueError(f"lower_{kind} must be non-negative.")
    for kind, lower, upper in ranges:
        if lower > upper:
            raise ValueError(f"lower_{kind} must be < upper_{kind}.")
    turn = 0.0 if max_delta_hue == 0 else random_uniform([], -max_delta_hue, max_delta_hue, seed=seed)
    saturation, value = (
        lower if lower == upper else random_uniform([], lower, upper, seed=None if seed is None else seed + 1)
        for _, lower, upper in ranges
    )
    return adjust_hsv_in_yiq(image, turn, saturation, value)


def random_jpeg_quality(image: TensorLike, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None) -> Tensor:
    """Lose what a JPEG file of a quality from `[min_jpeg_quality, max_jpeg_quality)` loses; see `adjust_jpeg_quality`.

    Args:
        image: [height, width, channels] tensor of uint8 or a floating dtype.
        min_jpeg_quality, max_jpeg_quality: the range of the quality, ints from 0 to 100.
        seed: the op seed.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: the qualities are not from 0 to 100, or the first is not smaller than the second.
    """
    if min_jpeg_quality < 0 or max_jpeg_quality < 0 or min_jpeg_quality > 100 or max_jpeg_quality > 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = random_uniform([], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=dtypes.int32)
    return adjust_jpeg_quality(convert_to_tensor(image, name="image"), quality)


def _check_delta(max_delta: float) -> None:
    if max_delta < 0:
        raise ValueError(f"max_delta must be non-negative. Got {max_delta}: the change is drawn from -max_delta to max_delta.")


def _check_range(lower: float, upper: float) -> None:
    if upper <= lower:
        raise ValueError(f"upper must be > lower. Got lower {lower} and upper {upper}")
    if lower < 0:
        raise ValueError(f"lower must be non-negative. Got {lower}")
