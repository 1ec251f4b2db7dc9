"""Colours: hue and saturation, and the colour spaces HSV, YIQ and YUV."""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.errors import FailedPreconditionError
from weft.framework.building.aliases import Array, ArrayModule, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import AtLeast
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.ops.array.constant import constant
from weft.ops.array.stacking import stack
from weft.ops.declaration import op, same_as_input
from weft.ops.image.colour_gradients import of_hsv, of_rgb
from weft.ops.image.transforms import convert_image_dtype
from weft.ops.math.contraction import tensordot
from weft.ops.math.trigonometry import cos, sin
from weft.ops.symbolic_gradient import vjp

_FLOATS: Final = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)

# NTSC and PAL: each row says what a part of red, green and blue adds to the three values, and back.
_RGB_TO_YIQ: Final = [
    [0.299, 0.59590059, 0.2115],
    [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]
_YIQ_TO_RGB: Final = [[1.0, 1.0, 1.0], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_RGB_TO_YUV: Final = [
    [0.299, -0.14714119, 0.61497538],
    [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]
_YUV_TO_RGB: Final = [[1.0, 1.0, 1.0], [0.0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0.0]]


def _coloured(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    if dims is not None and not dims:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if dims is not None and dims[-1] not in (None, 3):
        raise ValueError(f"Dimension must be 3 but is {dims[-1]}: the last dimension of an image with colours has 3 channels")
    return same_as_input(node)


def _check_channels(images: Array) -> None:
    if images.ndim and images.shape[-1] != 3:
        raise FailedPreconditionError.of(f"input must have 3 channels but input only has {images.shape[-1]} channels.")


def _to_hsv(xp: ArrayModule, pixels: Array) -> tuple[Array, Array, Array]:
    red, green, blue = (pixels[..., channel] for channel in range(3))
    value = xp.max(pixels, axis=-1)
    spread = value - xp.min(pixels, axis=-1)
    saturation = xp.where(value > 0, spread / xp.where(value > 0, value, 1), 0)
    unit = 1 / (6 * xp.where(spread > 0, spread, 1))
    hue = xp.where(
        red == value,
        unit * (green - blue),
        xp.where(green == value, unit * (blue - red) + 2 / 6, unit * (red - green) + 4 / 6),
    )
    hue = xp.where(spread > 0, hue, 0)
    return xp.where(hue < 0, hue + 1, hue), saturation, value


def _from_hsv(xp: ArrayModule, hue: Array, saturation: Array, value: Array, dtype: np.dtype) -> Array:
    channels = [((1 - saturation) + saturation * share) * value for share in _shares(xp, hue)]
    return xp.stack(channels, axis=-1).astype(dtype)


def _shares(xp: ArrayModule, hue: Array) -> list[Array]:
    """How much of red, green and blue, from 0 to 1, a full colour of this hue has."""
    sixths = hue * 6
    return [xp.clip(share, 0, 1) for share in (xp.abs(sixths - 3) - 1, 2 - xp.abs(sixths - 2), 2 - xp.abs(sixths - 4))]


@op(
    "RGBToHSV", "images: T -> output: T", infer=_coloured, gradient=of_hsv, types={"T": _FLOATS}, defaults={"T": dtypes.float32}
)
def rgb_to_hsv(xp: ArrayModule, images: Array) -> Result:
    """Pixels in hue, saturation and value, all from 0 to 1: `[..., 3] -> [..., 3]`.

    Args: those of `tf.image.hsv_to_rgb`.
    """
    _check_channels(images)
    return xp.stack(_to_hsv(xp, images), axis=-1).astype(images.dtype)


@op(
    "HSVToRGB", "images: T -> output: T", infer=_coloured, gradient=of_rgb, types={"T": _FLOATS}, defaults={"T": dtypes.float32}
)
def hsv_to_rgb(xp: ArrayModule, images: Array) -> Result:
    """Pixels of hue, saturation and value in red, green and blue: `[..., 3] -> [..., 3]`.

    Args:
        images: [..., 3] tensor of a floating dtype, from 0 to 1.
    """
    _check_channels(images)
    return _from_hsv(xp, images[..., 0], images[..., 1], images[..., 2], images.dtype)


@op("AdjustHue", "images: T, delta: float -> output: T",
    ranks={"images": AtLeast(3), "delta": 0},
    infer=_coloured, gradient=vjp, types={"T": _FLOATS},
    defaults={"T": dtypes.float32})  # fmt: skip
def adjust_hue_node(xp: ArrayModule, images: Array, delta: Array) -> Result:
    """RGB pixels with their hue turned by `delta` of a full turn: `[..., 3], scalar -> [..., 3]`."""
    hue, _, value = _to_hsv(xp, images)
    # By the spread of the channels rather than the saturation, which values below 0 do not have.
    least = xp.min(images, axis=-1)
    spread = value - least
    return xp.stack([least + share * spread for share in _shares(xp, (hue + delta) % 1.0)], axis=-1).astype(images.dtype)


@op("AdjustSaturation", "images: T, scale: float -> output: T",
    ranks={"images": AtLeast(3), "scale": 0},
    infer=_coloured, gradient=vjp, types={"T": _FLOATS},
    defaults={"T": dtypes.float32})  # fmt: skip
def adjust_saturation_node(xp: ArrayModule, images: Array, scale: Array) -> Result:
    """RGB pixels with their saturation times `scale`, at most 1: `[..., 3], scalar -> [..., 3]`."""
    hue, saturation, value = _to_hsv(xp, images)
    return _from_hsv(xp, hue, xp.clip(saturation * scale, 0, 1), value, images.dtype)


def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """Turn the hue of RGB images `[..., 3]` of any dtype by `delta`, from -1 to 1, of a full turn.

    Args:
        image: [..., 3] tensor of a numeric dtype, RGB.
        delta: float32 scalar.

    Returns:
        A tensor of the same shape and dtype.
    """
    with get_default_graph().name_scope(name or "adjust_hue"):
        tensor = convert_to_tensor(image, name="image")
        return convert_image_dtype(adjust_hue_node(_as_floats(tensor), delta), tensor.dtype)


def adjust_saturation(image: TensorLike, saturation_factor: TensorLike, name: str | None = None) -> Tensor:
    """Multiply the saturation of RGB images `[..., 3]` of any dtype.

    Args:
        image: [..., 3] tensor of a numeric dtype, RGB.
        saturation_factor: float32 scalar.

    Returns:
        A tensor of the same shape and dtype.
    """
    with get_default_graph().name_scope(name or "adjust_saturation"):
        tensor = convert_to_tensor(image, name="image")
        return convert_image_dtype(adjust_saturation_node(_as_floats(tensor), saturation_factor), tensor.dtype)


def _as_floats(tensor: Tensor) -> Tensor:
    return tensor if tensor.dtype in (dtypes.float16, dtypes.float32) else convert_image_dtype(tensor, dtypes.float32)


def _through(images: TensorLike, matrix: list[list[float]]) -> Tensor:
    tensor = convert_to_tensor(images, name="images")
    rank = tensor.shape.ndims
    if rank is None:
        raise ValueError(f"The rank of the images {tensor.name!r} is not known. Give it a shape with set_shape")
    return tensordot(tensor, constant(matrix, tensor.dtype, name="kernel"), axes=[[rank - 1], [0]])


def rgb_to_yiq(images: TensorLike) -> Tensor:
    """Pixels from 0 to 1 in YIQ, NTSC's brightness and two colour differences: `[..., 3] -> [..., 3]`.

    Args:
        images: [..., 3] tensor of a floating dtype.
    """
    return _through(images, _RGB_TO_YIQ)


def yiq_to_rgb(images: TensorLike) -> Tensor:
    """Pixels in YIQ as red, green and blue: `[..., 3] -> [..., 3]`.

    Args: those of `tf.image.rgb_to_yiq`.
    """
    return _through(images, _YIQ_TO_RGB)


def rgb_to_yuv(images: TensorLike) -> Tensor:
    """Pixels from 0 to 1 in YUV, PAL's brightness and two colour differences: `[..., 3] -> [..., 3]`.

    Args: those of `tf.image.rgb_to_yiq`.
    """
    return _through(images, _RGB_TO_YUV)


def yuv_to_rgb(images: TensorLike) -> Tensor:
    """Pixels in YUV as red, green and blue: `[..., 3] -> [..., 3]`.

    Args: those of `tf.image.rgb_to_yiq`.
    """
    return _through(images, _YUV_TO_RGB)


def adjust_hsv_in_yiq(
    image: TensorLike, delta_hue: TensorLike = 0, scale_saturation: TensorLike = 1, scale_value: TensorLike = 1,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Turn the hue, and scale saturation and value, in YIQ, which is cheaper than in HSV.

    Args:
        image: [..., 3] tensor of a numeric dtype, RGB.
        delta_hue: the angle of the turn around the brightness, in radians.
        scale_saturation: what the colour differences are multiplied by.
        scale_value: what all channels are multiplied by.
        name: the name scope.

    Returns:
        A tensor of the same shape and dtype.
    """
    with get_default_graph().name_scope(name or "adjust_hsv_in_yiq"):
        given = convert_to_tensor(image, name="image")
        yiq = rgb_to_yiq(convert_image_dtype(given, dtypes.float32))
        angle, saturation, value = (
            convert_to_tensor(each, dtypes.float32) for each in (delta_hue, scale_saturation, scale_value)
        )
        cosine, sine = cos(angle) * saturation, sin(angle) * saturation
        luma, in_phase, quadrature = yiq[..., 0], yiq[..., 1], yiq[..., 2]
        turned = stack([luma, cosine * in_phase - sine * quadrature, sine * in_phase + cosine * quadrature], -1)
        return convert_image_dtype(yiq_to_rgb(turned * value), given.dtype)
