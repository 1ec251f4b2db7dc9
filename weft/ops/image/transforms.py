"""Images changed: turned, mirrored, cropped and padded, brightened, made grey; single ones and batches.

An image is [height, width, channels], a batch of them [batch, height, width, channels].
"""

from __future__ import annotations

import functools
import operator
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array, DTypeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor, is_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import ones_like
from weft.ops.array.identity import identity
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims, shape
from weft.ops.array.tiling import reverse, tile
from weft.ops.array.transposing import transpose
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_greater_equal
from weft.ops.declaration import rank_of
from weft.ops.math.casting import cast, saturate_cast
from weft.ops.math.comparison import equal
from weft.ops.math.contraction import tensordot
from weft.ops.math.elementwise import mul
from weft.ops.math.reduce_functions import reduce_mean

_DECODE: Final = "; the bytes of a file become pixels by tf.image.decode_image"
_GREY: Final = [0.2989, 0.5870, 0.1140]


EITHER: Final = "must have either 3 or 4 dimensions"
_TOO_FLAT: Final = "must be at least three-dimensional"


def image_of(
    image: TensorLike, what: str = "image", too_flat: str = _TOO_FLAT, may_be_empty: bool = False, is_asserted: bool = True
) -> tuple[Tensor, int]:
    """The tensor, and how many dimensions come before the height; a tensor of unknown rank counts as one image.

    `tf.image.decode_image` gives such tensors: programs flip and crop what it gives without telling a shape.

    Args:
        image: the image, or a batch of images.
        what: the argument's name.
        too_flat: what is said of an image of fewer than three dimensions.
        may_be_empty: whether a dimension may be 0 where that is known.
        is_asserted: whether TensorFlow checks the image by nodes.

    Raises:
        ValueError: the rank is known, and not 3 or 4, or it is known that there is no pixel.
    """
    tensor = convert_to_tensor(image, name=what)
    rank = tensor.shape.ndims
    if rank is None:
        single = identity(tensor)
        single.set_shape([None, None, None])
        return single, 0
    if rank not in (3, 4):
        remedy = f". tf.expand_dims({what}, -1) makes a grey image of a matrix" if rank == 2 else ""
        raise ValueError(
            f"'{what}' {too_flat if rank < 3 else EITHER}, [height, width, channels] or with a batch before; {tensor.name!r} "
            f"has {rank} dimensions{remedy}"
        )
    if not may_be_empty:
        check_pixels(tensor, what)
    if is_asserted:
        count_checks(tensor)
    return tensor, rank - 3


def count_checks(image: Tensor) -> None:
    """Count TensorFlow's nodes for an image that waits until rank and sizes have been checked: one where all are known.

    Later random nodes get their seeds by the count.

    Args:
        image: the image, or images.
    """
    get_default_graph().node_count.total += 1 if image.shape.is_fully_defined() else 23


def check_pixels(tensor: Tensor, what: str = "image") -> None:
    """ValueError where it is known that an image has no pixel."""
    if 0 in (tensor.dims or ()):
        raise ValueError(f"all dims of '{what}.shape' must be > 0: {tensor.shape}, of {tensor.name!r}")


def flip_left_right(image: TensorLike) -> Tensor:
    """Mirror an image or a batch: left becomes right.

    Args:
        image: [height, width, channels] or [batch, height, width, channels] tensor of any dtype.

    Returns:
        A tensor of the same shape and dtype.
    """
    with get_default_graph().name_scope("flip_left_right"):
        tensor, before = image_of(image)
        return reverse(tensor, [before + 1])


def flip_up_down(image: TensorLike) -> Tensor:
    """Mirror an image or a batch: the top becomes the bottom.

    Args: those of `tf.image.flip_left_right`.

    Returns:
        A tensor of the same shape and dtype.
    """
    with get_default_graph().name_scope("flip_up_down"):
        tensor, before = image_of(image)
        return reverse(tensor, [before])


def transpose_image(image: TensorLike, name: str | None = None) -> Tensor:
    """Exchange height and width of an image or a batch.

    Args: those of `tf.image.flip_left_right`.

    Returns:
        [width, height, channels] or [batch, width, height, channels] tensor of the same dtype.
    """
    with get_default_graph().name_scope(name or "transpose"):
        tensor, before = image_of(image)
        return transpose(tensor, [*range(before), before + 1, before, before + 2])


def rot90(image: TensorLike, k: int = 1, name: str | None = None) -> Tensor:
    """Turn an image or a batch counter-clockwise by `k` quarter turns.

    Args:
        image: [height, width, channels] or [batch, height, width, channels] tensor of any dtype.
        k: how many quarter turns, an int or an integer scalar.

    Returns:
        A tensor of the same dtype; height and width change places for odd `k`.

    Raises:
        TypeError: `k` is no whole number.
    """
    with get_default_graph().name_scope(name or "rot90"):
        tensor, before = image_of(image)
        turns = _turns(k)
        # TensorFlow chooses among the turns in the step.
        with get_default_graph().node_count.as_many_as(61 if is_tensor(k) else 62):
            return _turned(tensor, before, turns) if isinstance(turns, Tensor) else _turned_by(tensor, before, turns % 4)


def _turned_by(tensor: Tensor, before: int, turns: int) -> Tensor:
    swapped = [*range(before), before + 1, before, before + 2]
    match turns:
        case 0:
            return tensor
        case 1:
            return reverse(transpose(tensor, swapped), [before])
        case 2:
            return reverse(tensor, [before, before + 1])
        case _:
            return transpose(reverse(tensor, [before]), swapped)


def _check_pixels(what: str, tensor: Tensor) -> None:
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise TypeError(
            f"Value passed to parameter 'image' of {what} has DataType {tensor.dtype.base_dtype.name}, and pixels are numbers: "
            f"{described(tensor)}{_DECODE if tensor.dtype.base_dtype is dtypes.string else ''}"
        )


def _check_scalar(what: str, argument: str, value: Array) -> None:
    rank = rank_of(convert_to_tensor(value)) if is_tensor(value) else np.ndim(value)
    if rank:
        raise ValueError(f"Shape must be rank 0 but is rank {rank}: {argument} of {what} is one number, got {value!r}")


def _turns(k: Array) -> int | Tensor:
    if is_tensor(k):
        k = convert_to_tensor(k)
        if not k.dtype.base_dtype.is_integer:
            raise TypeError(f"rot90: k must be a whole number of quarter turns, got {described(k)}")
        if k.dims:
            raise ValueError(f"Shape {k.shape} must have rank 0: k of rot90 is one number, got {described(k)}")
        known = constant_value(k)
        return k if known is None else int(known)
    if k is None or np.ndim(k):
        shape = "None values not supported." if k is None else f"Shape {np.shape(k)} must have rank 0:"
        raise ValueError(f"{shape} k of rot90 is one whole number of turns, got {k!r}")
    if not hasattr(type(k), "__index__"):
        raise TypeError(
            f"Expected int32, got {k!r} of type {type(k).__name__!r} instead: k of rot90 is a whole number of turns"
        )
    return operator.index(k)


def _turned(tensor: Tensor, before: int, turns: Tensor) -> Tensor:
    """The image turned as often as a step says."""
    left = turns % 4
    made = tensor
    for count in (1, 2, 3):
        made = cond(equal(left, count), functools.partial(rot90, tensor, count), functools.partial(identity, made))
    dims = tensor.dims
    made.set_shape(None if dims is None else [*dims[:before], None, None, dims[-1]])
    return made


def convert_image_dtype(image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None) -> Tensor:
    """Convert pixels to another dtype and scale them: floats go from 0 to 1, integers to their largest value.

    Args:
        image: the pixels, of any shape.
        dtype: the dtype wanted.
        saturate: whether values that do not fit become the nearest that does.
        name: the result's name.

    Returns:
        A tensor of that dtype and the shape of `image`.

    Raises:
        AttributeError: `dtype` is neither floating point nor integer.
        TypeError: the pixels are no numbers.
    """
    tensor = convert_to_tensor(image, name="image")
    wanted, own = dtypes.as_dtype(dtype), tensor.dtype
    _check_pixels("convert_image_dtype", tensor)
    if not (wanted.is_integer or wanted.is_floating):
        raise AttributeError("dtype must be either floating point or integer")
    if wanted == own:
        return identity(tensor, name=name)
    with get_default_graph().name_scope(name or "convert_image") as scope:
        to = saturate_cast if saturate else cast
        if own.is_integer and wanted.is_integer:
            if own.max > wanted.max:
                return to(tensor // ((own.max + 1) // (wanted.max + 1)), wanted, name=scope)
            scale: int = (wanted.max + 1) // (own.max + 1)
            return mul(to(tensor, wanted), scale, name=scope)
        if own.is_integer:
            to_one: float = 1.0 / own.max
            return mul(cast(tensor, wanted), to_one, name=scope)
        if wanted.is_integer:
            # Half a level more, so that 1.0 becomes the largest value.
            return to(mul(tensor, wanted.max + 0.5), wanted, name=scope)
        return cast(tensor, wanted, name=scope)


def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """The brightness of RGB pixels: [..., 3] to [..., 1], of the same dtype.

    Args:
        images: [..., 3] tensor of a numeric dtype.

    Raises:
        ValueError: the images do not have 3 channels.
    """
    with get_default_graph().name_scope(name or "rgb_to_grayscale") as scope:
        tensor = convert_to_tensor(images, name="images")
        _check_pixels("rgb_to_grayscale", tensor)
        if tensor.dims == ():
            raise ValueError(f"A single channel or more is wanted: rgb_to_grayscale takes [..., 3], got {described(tensor)}")
        if tensor.dims and tensor.dims[-1] not in (3, None):
            raise ValueError(
                f"Dimensions must be equal, but are {tensor.dims[-1]} and 3: rgb_to_grayscale takes images of 3 channels, "
                f"[..., 3], got {tensor.shape}{'; these are grey already' if tensor.dims[-1] == 1 else ''}."
            )
        grey = expand_dims(tensordot(convert_image_dtype(tensor, dtypes.float32), _GREY, [-1, -1]), -1)
        return convert_image_dtype(grey, tensor.dtype, name=scope)


def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Grey pixels as RGB: [..., 1] to [..., 3].

    Args:
        images: [..., 1] tensor of a numeric dtype.

    Returns:
        [..., 3] tensor of the same dtype.

    Raises:
        ValueError: the last dimension is known, and not 1.
    """
    with get_default_graph().name_scope(name or "grayscale_to_rgb") as scope:
        tensor = convert_to_tensor(images, name="images")
        before = tensor.shape.ndims
        if before is not None and tensor.shape[-1:].as_list() not in ([1], [None]):
            raise ValueError(
                f"Last dimension of a grayscale image should be size 1. {tensor.name!r} is {tensor.shape}: "
                "tf.expand_dims(image, -1) makes one of a matrix"
            )
        # TensorFlow takes the rank in the step, and the channels where sizes are not known: later seeds go by the count.
        with get_default_graph().node_count.as_many_as(14 if tensor.shape.is_fully_defined() else 46):
            if before is not None:
                return tile(tensor, [*[1] * (before - 1), 3], name=scope)
            return tile(tensor, concat([ones_like(shape(tensor)[:-1]), [3]], 0), name=scope)


def adjust_brightness(image: TensorLike, delta: TensorLike) -> Tensor:
    """Add `delta`, of a scale from 0 to 1, to pixels of any dtype; integers saturate.

    Args:
        image: [...] tensor of a numeric dtype.
        delta: scalar.

    Returns:
        A tensor of the same shape and dtype.
    """
    with get_default_graph().name_scope("adjust_brightness"):
        tensor = convert_to_tensor(image, name="image")
        _check_pixels("adjust_brightness", tensor)
        if tensor.dtype.is_floating:
            return identity(tensor + cast(delta, tensor.dtype))
        brighter = convert_image_dtype(tensor, dtypes.float32) + cast(delta, dtypes.float32)
        return convert_image_dtype(brighter, tensor.dtype, saturate=True)


def adjust_gamma(image: TensorLike, gamma: TensorLike = 1, gain: TensorLike = 1) -> Tensor:
    """Make pixels, of a scale from 0 to 1, `gain * pixel**gamma`; integers saturate.

    Args:
        image: [...] tensor of a numeric dtype.
        gamma, gain: scalars that are not negative.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: gamma is negative; InvalidArgumentError where only a run tells.
    """
    with get_default_graph().name_scope("adjust_gamma"):
        tensor = convert_to_tensor(image, name="image")
        _check_pixels("adjust_gamma", tensor)
        pixels = tensor if tensor.dtype.is_floating else convert_image_dtype(tensor, dtypes.float32)
        if not isinstance(gamma, np.ndarray) or gamma.size != 1:
            _check_scalar("adjust_gamma", "gamma", gamma)
        known: Array = constant_value(convert_to_tensor(gamma)) if is_tensor(gamma) else gamma
        if known is not None and known < 0:
            raise ValueError(f"Gamma should be a non-negative real number. Got {known}")
        if known is None:
            text = "Gamma should be a non-negative real number."
            pixels = with_dependencies([assert_greater_equal(gamma, 0.0, message=text)], pixels)
        return convert_image_dtype(gain * pixels**gamma, tensor.dtype, saturate=True)


def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Tensor:
    """Scale the distance of each channel's pixels from their mean over the image.

    Args:
        images: [..., height, width, channels] tensor of a numeric dtype.
        contrast_factor: float32 scalar.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: the rank is known, and less than 3.
    """
    with get_default_graph().name_scope("adjust_contrast"):
        tensor = convert_to_tensor(images, name="images")
        tensor.set_shape(tensor.shape.with_rank_at_least(3))
        pixels = tensor if tensor.dtype.is_floating else convert_image_dtype(tensor, dtypes.float32)
        _check_scalar("adjust_contrast", "contrast_factor", contrast_factor)
        factor = convert_to_tensor(contrast_factor, pixels.dtype, name="contrast_factor")
        with get_default_graph().node_count.as_many_as(1):
            mean = reduce_mean(pixels, axis=[-3, -2], keepdims=True)
            adjusted = (pixels - mean) * factor + mean
        return convert_image_dtype(adjusted, tensor.dtype, saturate=True)
