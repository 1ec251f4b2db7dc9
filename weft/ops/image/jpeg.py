"""JPEG files: to pixels and back, as a whole, in part, and with what a quality loses."""

from __future__ import annotations

import io

import numpy as np

from weft.errors import InternalError
from weft.framework.building.aliases import Array, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import op, scalar_shape
from weft.ops.image.codecs import (
    SIGNATURES,
    check_contents,
    encoded,
    format_of,
    image_shape,
    invalid,
    one_image,
    pillow,
    pixels_of,
    single_frame,
)
from weft.ops.image.jpeg_pixels import JpegOptions, check_options, jpeg_pixels
from weft.ops.image.transforms import convert_image_dtype
from weft.ops.math.comparison import equal
from weft.ops.size_checks import check_size
from weft.ops.strings.elementwise import substr


@op("DecodeJpeg", "contents: string -> image: uint8", infer=image_shape, gradient=None)
def decode_jpeg(
    ctx: OpContext,
    contents: Array,
    *,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1.0,
    dct_method: str = "",
) -> Result:
    """The pixels of a JPEG, PNG or BMP file: `scalar -> [height, width, channels] uint8`.

    `channels` is 1 for grey, 3 for RGB, 0 for what the file has; `ratio`, 1, 2, 4 or 8, makes the image so much smaller.

    Args:
        contents: [] string: the file's bytes.
        channels: 0, 1 or 3.
        ratio: 1, 2, 4 or 8.
        fancy_upscaling: whether colour planes are smoothed when they are enlarged.
        try_recover_truncated: whether a file that ends too early is decoded as far as it goes.
        acceptable_fraction: how much of the lines must be there then, from 0 to 1.
        dct_method: a hint how to decode: "", "INTEGER_FAST" or "INTEGER_ACCURATE".

    Returns:
        [height, width, channels] uint8 tensor.

    Raises:
        ValueError: `contents` is no scalar.
        InvalidArgumentError: in a run, the bytes are no picture, or `channels` or `ratio` is another number.
    """
    options = JpegOptions(channels, ratio, fancy_upscaling, try_recover_truncated, dct_method)
    return _decoded(contents.item(), options)


def _decoded(data: bytes, options: JpegOptions) -> np.ndarray:
    """The pixels of a JPEG file, or of another image, which has no such options."""
    if format_of(data) == "JPEG":
        return jpeg_pixels(data, options)
    check_options(options._replace(channels=0))
    return pixels_of(single_frame(data), options.channels, False)


@op(
    "EncodeJpeg",
    "image: uint8 -> contents: string",
    infer=one_image,
    gradient=None,
    limits={"format": ("", "grayscale", "rgb"), "density_unit": ("in", "cm")},
)
def encode_jpeg(
    ctx: OpContext,
    image: Array,
    *,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
) -> Result:
    """An image with 1 or 3 channels as the bytes of a JPEG file: `[height, width, channels] uint8 -> scalar`.

    `format` is 'grayscale' or 'rgb'; '' for what the channels say. `quality` is from 0 to 100.

    Args:
        image: [height, width, channels] uint8.
        format: "", "grayscale" or "rgb".
        quality: 0 to 100.
        progressive: whether the file is one that is shown coarse first.
        optimize_size: whether to spend time for a smaller file.
        chroma_downsampling: whether colours are stored at half the resolution.
        density_unit: "in" or "cm".
        x_density, y_density: pixels per unit, as the file says.
        xmp_metadata: XMP to put in; "" for none.
    """
    if not 0 <= quality <= 100:
        raise invalid(f"quality must be in [0,100], got {quality}")
    wanted = {"": (1, 3), "grayscale": (1,), "rgb": (3,)}.get(format)
    if wanted is None:
        raise invalid(f"format must be '', 'grayscale' or 'rgb', got {format!r}")
    if image.shape[2] not in wanted:
        kinds = " or ".join(map(str, wanted))
        raise invalid(f"image must have {kinds} channels, got [{','.join(map(str, image.shape))}]")
    scale = 1.0 if density_unit == "in" else 2.54
    options: dict[str, object] = {"xmp": xmp_metadata.encode()} if xmp_metadata else {}
    data = np.empty((), np.object_)
    data[()] = encoded(
        image, "JPEG", quality=quality, progressive=progressive, optimize=optimize_size,
        subsampling=2 if chroma_downsampling else 0, dpi=(round(x_density * scale), round(y_density * scale)), **options,
    )  # fmt: skip
    return data


@op("EncodeJpegVariableQuality", "images: uint8, quality: int32 -> contents: string", ranks={"images": 3, "quality": 0},
    infer=scalar_shape, gradient=None)  # fmt: skip
def encode_jpeg_variable_quality(ctx: OpContext, images: Array, quality: Array) -> Result:
    """An image as a JPEG file of a quality that the run gives: `[height, width, channels] uint8, scalar -> scalar`."""
    level = int(quality)
    if not 0 <= level <= 100:
        raise invalid(f"quality must be in [0,100], got {level}")
    if not images.size and images.shape[2] in (1, 3):
        raise InternalError.of(f"JPEG encoding failed: the image, of shape {list(images.shape)}, has no pixels")
    data = np.empty((), np.object_)
    data[()] = encoded(images, "JPEG", quality=level, subsampling=2)
    return data


def _three(node: Operation) -> list[Dims]:
    check_contents(node)
    return [(3,)]


@op("ExtractJpegShape", "contents: string -> image_shape: output_type", infer=_three, gradient=None,
    types={"output_type": (dtypes.int32, dtypes.int64)})  # fmt: skip
def extract_jpeg_shape(ctx: OpContext, contents: Array, *, output_type: DType = dtypes.int32) -> Result:
    """Height, width and channels of a JPEG file, without decoding it: `scalar -> [3]`.

    Args:
        contents: [] string: the file's bytes.
        output_type: int32 or int64.

    Returns:
        [3] tensor of `output_type`.
    """
    data = contents.item()
    if format_of(data) != "JPEG":
        raise invalid(f"Invalid JPEG data, size {len(data)}: it has another format")
    image = pillow("Reading a JPEG").open(io.BytesIO(data), formats=["JPEG"])
    return np.array([image.height, image.width, len(image.getbands())], output_type.as_numpy_dtype)


def is_jpeg(contents: TensorLike, name: str | None = None) -> Tensor:
    """Whether the bytes of a file, `scalar`, begin as those of a JPEG do: `scalar bool`.

    Args:
        contents: [] string: the file's bytes.
    """
    with get_default_graph().name_scope(name or "is_jpeg"):
        # The name of the scope and of the node: "a/a", as TensorFlow has it.
        return equal(substr(contents, 0, 3), SIGNATURES[0][0], name=name)


def _window_shape(node: Operation) -> list[Dims]:
    check_contents(node)
    channels = node.attrs["channels"] or None
    check_size(node.inputs[1], 0, 4)
    window = constant_value(node.inputs[1])
    return [(None, None, channels) if window is None else (int(window[2]), int(window[3]), channels)]


@op("DecodeAndCropJpeg", "contents: string, crop_window: int32 -> image: uint8", infer=_window_shape, gradient=None)
def decode_and_crop_jpeg(
    ctx: OpContext,
    contents: Array,
    crop_window: Array,
    *,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1.0,
    dct_method: str = "",
) -> Result:
    """A part of a JPEG file's pixels: `scalar, [4] -> [height, width, channels] uint8`.

    `crop_window` is the first row and column, the height and the width; what else is as of DecodeJpeg.

    Args:
        contents: [] string: the file's bytes.
        crop_window: [4] int32.
        channels: 0, 1 or 3.
        ratio: 1, 2, 4 or 8.
        fancy_upscaling: whether colour planes are smoothed when they are enlarged.
        try_recover_truncated: whether a file that ends too early is decoded as far as it goes.
        acceptable_fraction: how much of the lines must be there then, from 0 to 1.
        dct_method: a hint how to decode: "", "INTEGER_FAST" or "INTEGER_ACCURATE".
    """
    if crop_window.shape != (4,):
        raise invalid(f"crop_window must have four elements {list(crop_window.shape)}")
    top, left, height, width = (int(each) for each in crop_window)
    pixels = _decoded(contents.item(), JpegOptions(channels, ratio, fancy_upscaling, try_recover_truncated, dct_method))
    fits = 0 <= top <= top + height <= pixels.shape[0] and 0 <= left <= left + width <= pixels.shape[1]
    if not fits or height <= 0 or width <= 0:
        raise invalid(
            f"Invalid crop window: rows {top} to {top + height} and columns {left} to {left + width} of an image of "
            f"{pixels.shape[0]} rows and {pixels.shape[1]} columns"
        )
    return np.ascontiguousarray(pixels[top : top + height, left : left + width])


@op("AdjustJpegQuality", "image: uint8, quality: int32 -> output: uint8", gradient=None,
    infer=lambda node: [node.inputs[0].dims])  # fmt: skip
def adjust_jpeg_quality_node(ctx: OpContext, image: Array, quality: Array) -> Result:
    """The pixels after a JPEG file of this quality: `[height, width, channels], scalar -> [height, width, channels]`."""
    level = int(quality)
    if not 0 <= level <= 100:
        raise invalid(f"quality must be in [0,100], got {level}")
    return jpeg_pixels(encoded(image, "JPEG", quality=level, subsampling=2), JpegOptions(image.shape[2]))


def adjust_jpeg_quality(image: TensorLike, jpeg_quality: TensorLike, name: str | None = None) -> Tensor:
    """Lose what a JPEG file of this quality, from 0 to 100, loses: `[height, width, 1 or 3]` of any dtype.

    Args:
        image: [height, width, channels] tensor of uint8 or a floating dtype.
        jpeg_quality: int32 scalar, from 0 to 100.

    Returns:
        A tensor of the same shape and dtype.
    """
    with get_default_graph().name_scope(name or "adjust_jpeg_quality"):
        tensor = convert_to_tensor(image, name="image")
        pixels: Tensor = adjust_jpeg_quality_node(convert_image_dtype(tensor, dtypes.uint8, saturate=True), jpeg_quality)
        return convert_image_dtype(pixels, tensor.dtype, saturate=True)
