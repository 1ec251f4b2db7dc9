"""Images as files hold them: PNG, JPEG, GIF and BMP to pixels and back, on the host of the task that the node is placed on.

The formats are Pillow's, an optional dependency; a task that has to read or write an image without it says how to get it.
JPEG files are read by simplejpeg (`jpeg_pixels.py`).
"""

from __future__ import annotations

import importlib
import io
from types import ModuleType
from typing import Any, Final

import numpy as np

from weft.errors import InvalidArgumentError, UnimplementedError
from weft.framework.building.aliases import Array, DTypeLike, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import op
from weft.ops.image.jpeg_pixels import JpegOptions, check_channels, jpeg_pixels

_PIXELS: Final = (dtypes.uint8, dtypes.uint16)
SIGNATURES: Final = ((b"\xff\xd8\xff", "JPEG"), (b"\x89PNG\r\n\x1a\n", "PNG"), (b"GIF8", "GIF"), (b"BM", "BMP"))
_MODES: Final = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
# Of 2**15 parts, those of red, green and blue in a grey as PNG decoders make it.
_GREY: Final = np.array([9798, 19235, 3735])


def pillow(what: str) -> ModuleType:
    """Pillow's Image module; loaded by its first use, since most programs have no images."""
    try:
        return importlib.import_module("PIL.Image")
    except ImportError as error:
        raise UnimplementedError.of(
            f"{what} needs Pillow, which this task cannot import ({error}): pip install 'weft[images]'"
        ) from error


def invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError.of(message)


_LONGEST_NAME: Final = 4096
_OF_NAME: Final = ". That is a file's name: tf.read_file(name) gives the bytes to decode"


def format_of(data: bytes, expected: str = "Expected image (JPEG, PNG, or GIF)") -> str:
    """The format by the first bytes; InvalidArgumentError, which begins with `expected`, for none that is known."""
    for signature, kind in SIGNATURES:
        if data.startswith(signature):
            return kind
    found = f"unknown format starting with '{data[:16].decode('ascii', 'backslashreplace')}'" if data else "empty file"
    raise invalid(f"{expected}, got {found}{_OF_NAME if _is_name(data) else ''}")


def _is_name(data: bytes) -> bool:
    """Whether the bytes look like the name of an image's file."""
    return len(data) < _LONGEST_NAME and data.lower().endswith((b".png", b".jpg", b".jpeg", b".gif", b".bmp"))


def opened(data: bytes) -> tuple[Any, str]:
    """The decoded image, its pixels loaded, and its format."""
    kind = format_of(data)
    module = pillow("Decoding an image")
    try:
        image = module.open(io.BytesIO(data), formats=[kind])
        image.load()
    except module.UnidentifiedImageError as error:
        raise invalid(f"Invalid {kind} data, size {len(data)}: its header is cut short or damaged") from error
    except (OSError, SyntaxError, ValueError, EOFError, module.DecompressionBombError) as error:
        raise invalid(f"Invalid {kind} data, size {len(data)}: {error}") from error
    return image, kind


def _own_mode(image: Any) -> Any:
    """The image with its palette applied: grey, grey and alpha, RGB or RGBA (or 16-bit grey)."""
    if image.mode.startswith("I;16") or image.mode in _MODES.values():
        return image
    if image.mode == "1":
        return image.convert("L")
    if image.mode == "P":
        return image.convert("RGBA" if "transparency" in image.info else "RGB")
    return image.convert("RGB")


def pixels_of(data: bytes, channels: int, wide: bool) -> np.ndarray:
    """[height, width, channels] pixels, uint16 when `wide`; `channels` 0 for as many as the file has."""
    check_channels(channels)
    if format_of(data) == "JPEG":
        pixels = jpeg_pixels(data, JpegOptions(channels))
        return pixels.astype(np.uint16) * 257 if wide else pixels
    image, kind = opened(data)
    if kind == "PNG" and wide and data[24:26] > b"\x10\x00":
        raise UnimplementedError.of("A PNG with 16 bits for each of several channels cannot be decoded as uint16")
    pixels = np.asarray(_own_mode(image))
    if pixels.dtype != np.uint8:
        pixels = pixels.astype(np.uint16) if wide else (pixels >> 8).astype(np.uint8)
    elif wide:
        pixels = pixels.astype(np.uint16) * 257
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    return pixels if channels in (0, pixels.shape[2]) else _as_channels(pixels, channels)


def _as_channels(pixels: np.ndarray, channels: int) -> np.ndarray:
    """Pixels of 1 to 4 channels as 1, 3 or 4."""
    has_alpha = pixels.shape[2] in (2, 4)
    colours, alpha = (pixels[..., :-1], pixels[..., -1:]) if has_alpha else (pixels, None)
    if channels == 1:
        if colours.shape[2] == 1:
            return colours
        grey: np.ndarray = ((colours @ _GREY) >> 15).astype(pixels.dtype)[..., None]
        return grey
    if colours.shape[2] == 1:
        colours = np.repeat(colours, 3, axis=2)
    if channels == 3:
        return colours
    opaque = np.full((*pixels.shape[:2], 1), np.iinfo(pixels.dtype).max, pixels.dtype)
    return np.concatenate([colours, opaque if alpha is None else alpha], axis=2)


def _frames(data: bytes) -> np.ndarray:
    """[frames, height, width, 3] uint8 pixels of a GIF."""
    image, _ = opened(data)
    frames = []
    for number in range(getattr(image, "n_frames", 1)):
        image.seek(number)
        frames.append(np.asarray(image.convert("RGB")))
    return np.stack(frames)


def single_frame(data: bytes) -> bytes:
    """The data, which must not hold an animation."""
    if format_of(data) == "GIF" and len(frames := _frames(data)) > 1:
        raise invalid(
            f"Got {len(frames)} frames, but animated gifs can only be decoded by tf.io.decode_gif or tf.io.decode_image"
        )
    return data


def check_contents(node: Operation) -> None:
    dims = node.inputs[0].dims
    if dims:
        raise ValueError(f"Shape must be rank 0 but is rank {len(dims)}")


def image_shape(node: Operation) -> list[Dims]:
    check_contents(node)
    channels = node.attrs["channels"]
    if channels < 0:
        raise ValueError(
            f"channels must be non-negative, got {channels}: 1 for grey, 3 for RGB, 4 for RGBA, 0 as the file has them"
        )
    return [(None, None, channels or None)]


def _gif_shape(node: Operation) -> list[Dims]:
    check_contents(node)
    return [(None, None, None, 3)]


def _any_image_shape(node: Operation) -> list[Dims]:
    check_contents(node)
    return [None if node.attrs["expand_animations"] else (None, None, node.attrs["channels"] or None)]


@op("DecodePng", "contents: string -> image: dtype", infer=image_shape, gradient=None, types={"dtype": _PIXELS})
def decode_png(ctx: OpContext, contents: Array, *, channels: int = 0, dtype: DType = dtypes.uint8) -> Result:
    """The pixels of a PNG, JPEG or BMP file, or of a GIF with one frame: `scalar -> [height, width, channels]`.

    `channels` is 1 for grey, 3 for RGB, 4 for RGBA, 0 for what the file has; `dtype` is uint8 or uint16.

    Args:
        contents: [] string: the file's bytes.
        channels: 0, 1, 3 or 4.
        dtype: uint8 or uint16.
    """
    return pixels_of(single_frame(contents.item()), channels, dtype is dtypes.uint16)


@op("DecodeBmp", "contents: string -> image: uint8", infer=image_shape, gradient=None)
def decode_bmp(ctx: OpContext, contents: Array, *, channels: int = 0) -> Result:
    """The pixels of a BMP file: `scalar -> [height, width, channels] uint8`.

    Args:
        contents: [] string: the file's bytes.
        channels: 0 for what the file has, 3 or 4; the file's own number.
    """
    data = contents.item()
    if format_of(data) != "BMP":
        raise invalid("Trying to decode BMP format using a wrong op. Use `decode_image` or the op of the file's own format")
    return pixels_of(data, channels, False)


@op("DecodeGif", "contents: string -> image: uint8", infer=_gif_shape, gradient=None)
def decode_gif(ctx: OpContext, contents: Array) -> Result:
    """The pixels of all frames of a GIF file: `scalar -> [frames, height, width, 3] uint8`.

    Args:
        contents: [] string: the file's bytes.
    """
    data = contents.item()
    return _frames(data) if format_of(data) == "GIF" else pixels_of(data, 3, False)[None]


@op("DecodeImage", "contents: string -> image: dtype", infer=_any_image_shape, gradient=None,
    types={"dtype": (*_PIXELS, dtypes.float32)})  # fmt: skip
def decode_image_node(
    ctx: OpContext, contents: Array, *, channels: int = 0, dtype: DType = dtypes.uint8, expand_animations: bool = True
) -> Result:
    """The pixels of any file that the other ops decode.

    `scalar -> [height, width, channels]`, or `scalar -> [frames, height, width, 3]` for a GIF.
    """
    data = contents.item()
    if format_of(data, "Unable to decode bytes as JPEG, PNG, GIF, or BMP") == "GIF" and channels in (0, 3):
        frames = _frames(data)
        pixels = frames if expand_animations else frames[0]
        pixels = pixels.astype(np.uint16) * 257 if dtype is dtypes.uint16 else pixels
    else:
        pixels = pixels_of(data, channels, dtype is dtypes.uint16)
    return pixels.astype(np.float32) / np.float32(255) if dtype is dtypes.float32 else pixels


def decode_image(
    contents: TensorLike,
    channels: int | None = None,
    dtype: DTypeLike = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """Decode a PNG, JPEG, BMP or GIF file.

    Args:
        contents: scalar string, the file's bytes.
        channels: 1 for grey, 3 for RGB, 4 for RGBA (not for JPEG); as the file has them for None.
        dtype: uint8, uint16, or float32 from 0 to 1.
        name: the node's name.
        expand_animations: whether a GIF gives all its frames, in a dimension before the others.

    Returns:
        [height, width, channels], or [frames, height, width, 3] for a GIF.

    Raises:
        ValueError: no file has so many channels.
    """
    if channels not in (None, 0, 1, 3, 4) or isinstance(channels, bool):
        raise ValueError(f"channels must be in (None, 0, 1, 3, 4), got {channels!r}: grey has 1, RGB 3, RGBA 4")
    return decode_image_node(
        contents, channels=channels or 0, dtype=dtypes.as_dtype(dtype), expand_animations=expand_animations, name=name
    )


def _at_least_an_image(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    if dims is None:
        return [None]
    if len(dims) < 3:
        raise ValueError(f"Shape must be at least rank 3 but is rank {len(dims)}")
    return [dims[:-3]]


def one_image(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    if dims is not None and len(dims) != 3:
        raise ValueError(f"Shape must be rank 3 but is rank {len(dims)}")
    return [()]


@op("EncodePng", "image: T -> contents: string", infer=_at_least_an_image, gradient=None, types={"T": _PIXELS},
    defaults={"T": dtypes.uint8})  # fmt: skip
def encode_png(ctx: OpContext, image: Array, *, compression: int = -1) -> Result:
    """Each image, uint8 or uint16 with 1 to 4 channels, as the bytes of a PNG file.

    `[..., height, width, channels] -> [...]`.

    `compression` is from 0, none, to 9; -1 for the default.

    Args:
        image: [..., height, width, channels] tensor of uint8 or uint16.
        compression: -1 to 9.
    """
    if not -1 <= compression <= 9:
        raise invalid(f"compression should be in [-1,9], got {compression}")
    channels = image.shape[-1]
    if channels not in _MODES:
        raise invalid(f"image must have 1, 2, 3, or 4 channels, got {channels}")
    if image.dtype == np.uint16 and channels > 1:
        raise UnimplementedError.of(f"A PNG of {channels} channels of uint16 cannot be encoded: use one channel or uint8")
    options = {} if compression < 0 else {"compress_level": compression}
    files = np.empty(image.shape[:-3], np.object_)
    for place in np.ndindex(files.shape):
        files[place] = encoded(image[place], "PNG", **options)
    return files


def encoded(pixels: np.ndarray, kind: str, **options: object) -> bytes:
    module = pillow(f"Encoding a {kind}")
    buffer = io.BytesIO()
    single = pixels.shape[2] == 1
    try:
        module.fromarray(np.ascontiguousarray(pixels[..., 0] if single else pixels)).save(buffer, kind, **options)
    except (OSError, ValueError, SystemError) as error:
        raise invalid(f"A {list(pixels.shape)} image cannot be encoded as {kind}: {error}") from error
    return buffer.getvalue()
