"""The pixels of JPEG files, as TensorFlow decodes them.

Both have libjpeg-turbo; weft has it by simplejpeg, an optional dependency, since Pillow always takes the accurate transform and
smooth colours, and is a few levels off TensorFlow's default, which is the fast one. It is asked all the same for what
simplejpeg refuses and libjpeg reads: colours at a resolution that is not usual, and headers that are worth a warning.
"""

from __future__ import annotations

import importlib
import io
from types import ModuleType
from typing import Final, NamedTuple

import numpy as np

from weft.errors import InvalidArgumentError, UnimplementedError

RATIOS: Final = (1, 2, 4, 8)
_METHODS: Final = ("", "INTEGER_FAST", "INTEGER_ACCURATE")
_SCAN, _END = b"\xff\xda", b"\xff\xd9"
_MOST_BYTES: Final = 1 << 29  # of an image in TensorFlow
_MOST_SCANS: Final = 500
"""As many as libjpeg-turbo advises: each is a walk over the whole image, for 10 bytes of the file."""
_FOUR: Final = ("CMYK", "YCCK")
_JFIF: Final = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00"
_FIRST: Final = b"\x01"


class JpegOptions(NamedTuple):
    """How a file is decoded.

    Args:
        channels: 1 for grey, 3 for RGB, 0 for what the file has.
        ratio: how much smaller the image is made: 1, 2, 4 or 8.
        is_smooth: whether colour planes are smoothed when they are enlarged.
        recovers: whether a file that ends too early is decoded as far as it goes; the rest is grey.
        method: the inverse transform: "", "INTEGER_FAST" or "INTEGER_ACCURATE".
    """

    channels: int = 0
    ratio: int = 1
    is_smooth: bool = True
    recovers: bool = False
    method: str = ""


_PLAIN: Final = JpegOptions()


def check_options(options: JpegOptions) -> None:
    """Raise InvalidArgumentError unless files can be decoded so."""
    if options.ratio not in RATIOS:
        raise InvalidArgumentError.of(f"ratio must be 1, 2, 4, or 8, got {options.ratio}")
    if options.method not in _METHODS:
        raise InvalidArgumentError.of(
            f"dct_method must be one of {{'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}}, got {options.method!r}"
        )
    check_channels(options.channels)
    if options.channels == 4:
        raise InvalidArgumentError.of("channels must be 0, 1, or 3 for JPEG, got 4")


def check_channels(channels: int) -> None:
    """Raise InvalidArgumentError unless pixels may have so many channels; 0 stands for as many as a file has."""
    if channels not in (0, 1, 3, 4):
        raise InvalidArgumentError.of(f"channels must be 0, 1, 3, or 4, got {channels}")


def jpeg_pixels(data: bytes, options: JpegOptions = _PLAIN) -> np.ndarray:
    """[height, width, channels] uint8 pixels of a JPEG file.

    Args:
        data: the file's bytes.
        options: how to decode them.

    Raises:
        InvalidArgumentError: the data is no JPEG file, or not all of one, or the options are none that there are.
        UnimplementedError: simplejpeg is not installed.
    """
    check_options(options)
    module = _simplejpeg()
    if not options.recovers and data.rfind(_END) < data.rfind(_SCAN):
        raise _invalid(data, "it ends too early")
    scans = data.count(_SCAN + b"\x00")
    if scans > _MOST_SCANS:
        raise _invalid(data, f"it is said to be in {scans} scans, of {_MOST_SCANS} at most")
    try:
        return _decoded(module, _of_first_version(data), options)
    except (ValueError, KeyError) as error:
        pixels = _by_pillow(data, options)
        if pixels is None:
            # simplejpeg looks up colours that the file does not name.
            raise _invalid(data, "it has no whole header" if isinstance(error, KeyError) else f"{error}") from error
        return pixels


def _of_first_version(data: bytes) -> bytes:
    """The file as of JFIF 1, the only version that there is: others, as cameras have written, are a warning to TensorFlow.

    simplejpeg takes each warning of the header for an error, whatever its `strict` says.
    """
    at = len(_JFIF)
    is_other = data.startswith(_JFIF) and data[at : at + 1] != _FIRST
    return data[:at] + _FIRST + data[at + 1 :] if is_other else data


def _simplejpeg() -> ModuleType:
    """simplejpeg; loaded by its first use, since most programs have no images."""
    try:
        return importlib.import_module("simplejpeg")
    except ImportError as error:
        raise UnimplementedError.of(
            f"Decoding a JPEG needs simplejpeg, which this task cannot import ({error}): pip install 'weft[images]'"
        ) from error


def _check(data: bytes, height: int, width: int, has_four: bool, options: JpegOptions) -> None:
    if has_four and options.channels == 1:
        raise _invalid(data, "an image of four inks is not made grey")
    if height * width * 3 >= _MOST_BYTES:
        raise _invalid(data, f"an image of {height} rows and {width} columns is too large")


def _by_pillow(data: bytes, options: JpegOptions) -> np.ndarray | None:
    """The pixels as Pillow decodes them; None where it is not there, or cannot either."""
    try:
        module = importlib.import_module("PIL.Image")
    except ImportError:
        return None
    try:
        with module.open(io.BytesIO(data), formats=["JPEG"]) as image:
            _check(data, image.height, image.width, image.mode == "CMYK", options)
            is_grey = options.channels == 1 or (image.mode == "L" and options.channels == 0)
            made = image.convert("L" if is_grey else "RGB").reduce(options.ratio)
    except (OSError, SyntaxError, ValueError, module.DecompressionBombError):
        return None
    return np.asarray(made).reshape(made.height, made.width, -1)


def _decoded(module: ModuleType, data: bytes, options: JpegOptions) -> np.ndarray:
    height, width, colours, _ = module.decode_jpeg_header(data, strict=False)
    has_four = colours in _FOUR
    _check(data, height, width, has_four, options)
    is_grey = options.channels == 1 or (colours == "Gray" and options.channels == 0)
    ratio = options.ratio
    sizes = {"min_height": -(-height // ratio), "min_width": -(-width // ratio), "min_factor": ratio} if ratio > 1 else {}
    pixels: np.ndarray = module.decode_jpeg(
        data, "CMYK" if has_four else "GRAY" if is_grey else "RGB", fastdct=options.method != "INTEGER_ACCURATE",
        fastupsample=not options.is_smooth, strict=False, **sizes,
    )  # fmt: skip
    if has_four:
        # The inks are stored as what they leave of the light, and black takes its part of each.
        wide = pixels.astype(np.uint16)
        return (wide[..., :3] * wide[..., 3:] // 255).astype(np.uint8)
    return pixels


def _invalid(data: bytes, why: str) -> InvalidArgumentError:
    return InvalidArgumentError.of(f"Invalid JPEG data, size {len(data)}: {why}")
