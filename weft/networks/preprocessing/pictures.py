"""tf.keras.preprocessing.image: pictures of files as arrays, and arrays as pictures; by Pillow."""

from __future__ import annotations

import importlib
import io
import warnings
from pathlib import Path
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array, DTypeLike, Nest
from weft.framework.types.dtypes import as_dtype
from weft.networks.state.defaults import floatx, image_data_format

_MODES: Final = {"grayscale": ("L", "I;16", "I"), "rgb": ("RGB",), "rgba": ("RGBA",)}
_METHODS: Final = ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")


def _pillow() -> Nest:
    try:
        return importlib.import_module("PIL.Image")
    except ImportError as error:
        raise ImportError("Could not import PIL.Image. Pictures need Pillow: pip install 'weft[images]'") from error


def load_img(
    path: str, grayscale: bool = False, color_mode: str = "rgb", target_size: tuple[int, int] | None = None,
    interpolation: str = "nearest",
) -> Nest:  # fmt: skip
    """The picture of a file, as Pillow has it.

        picture = tf.keras.preprocessing.image.load_img("cat.jpg", target_size=(224, 224))

    Args:
        path: the file.
        grayscale: the former name of color_mode="grayscale".
        color_mode: "grayscale", "rgb" or "rgba".
        target_size: height and width to resize to.
        interpolation: how: "nearest", "bilinear", "bicubic", "hamming", "box" or "lanczos".

    Raises:
        ImportError: Pillow is not installed.
        ValueError: there is no such mode or interpolation.
    """
    pillow = _pillow()
    if grayscale:
        warnings.warn('grayscale is deprecated. Please use color_mode = "grayscale"', stacklevel=2)
        color_mode = "grayscale"
    if color_mode not in _MODES:
        raise ValueError(f'color_mode must be "grayscale", "rgb", or "rgba", got {color_mode!r}')
    picture = pillow.open(io.BytesIO(Path(path).read_bytes()))
    if picture.mode not in _MODES[color_mode]:
        picture = picture.convert(_MODES[color_mode][0])
    if target_size is None or picture.size == (target_size[1], target_size[0]):
        return picture
    if interpolation not in _METHODS:
        raise ValueError(f"Invalid interpolation method {interpolation} specified. Supported methods are {', '.join(_METHODS)}")
    return picture.resize((target_size[1], target_size[0]), getattr(pillow.Resampling, interpolation.upper()))


def img_to_array(img: Nest, data_format: str | None = None, dtype: DTypeLike | None = None) -> Array:
    """A picture's pixels: `[height, width, channels]`, the channels first for "channels_first".

    Args:
        img: a picture of Pillow's, or an array of rank 2 or 3.
        data_format: Keras's `image_data_format` when None.
        dtype: Keras's `floatx` when None.

    Raises:
        ValueError: the layout or the rank is another one.
    """
    layout = _layout(data_format, "Unknown data_format")
    pixels = np.asarray(img, dtype=as_dtype(dtype or floatx()).as_numpy_dtype)
    if pixels.ndim not in (2, 3):
        raise ValueError(f"Unsupported image shape: {pixels.shape}; expected rank 2 or 3")
    pixels = pixels[:, :, np.newaxis] if pixels.ndim == 2 else pixels
    return pixels.transpose(2, 0, 1) if layout == "channels_first" else pixels


def array_to_img(x: Nest, data_format: str | None = None, scale: bool = True, dtype: DTypeLike | None = None) -> Nest:
    """A picture of Pillow's, of `[height, width, channels]` or, for "channels_first", `[channels, height, width]`.

    Args:
        x: the pixels; 1, 3 or 4 channels.
        data_format: Keras's `image_data_format` when None.
        scale: whether to stretch the values to 0 to 255.
        dtype: the type to compute in, Keras's `floatx` when None.

    Raises:
        ImportError: Pillow is not installed.
        ValueError: the rank, the layout or the number of channels is another one.
    """
    pillow = _pillow()
    pixels = np.asarray(x, dtype=as_dtype(dtype or floatx()).as_numpy_dtype)
    if pixels.ndim != 3:
        raise ValueError(f"Expected image array to have rank 3 (single image). Got array with shape: {pixels.shape}")
    if _layout(data_format, "Invalid data_format") == "channels_first":
        pixels = pixels.transpose(1, 2, 0)
    if scale:
        pixels = pixels - np.min(pixels)
        most = np.max(pixels)
        pixels = (pixels / most if most != 0 else pixels) * 255
    channels = pixels.shape[2]
    if channels not in (1, 3, 4):
        raise ValueError(f"Unsupported channel number: {channels}")
    if channels > 1:
        return pillow.fromarray(pixels.astype(np.uint8))
    return pillow.fromarray(pixels[:, :, 0].astype(np.int32 if np.max(pixels) > 255 else np.uint8))


def save_img(
    path: Nest, x: Nest, data_format: str | None = None, file_format: str | None = None, scale: bool = True, **kwargs: Nest
) -> None:
    """Write an array as a picture.

    Args:
        path: the file.
        x: see `array_to_img`.
        data_format: see `array_to_img`.
        file_format: the format; the path's ending tells it when None.
        scale: see `array_to_img`.
        kwargs: what else Pillow's `save` takes.
    """
    picture = array_to_img(x, data_format, scale)
    if picture.mode == "RGBA" and file_format in ("jpg", "jpeg"):
        warnings.warn("The JPG format does not support RGBA images, converting to RGB.", stacklevel=2)
        picture = picture.convert("RGB")
    picture.save(path, format=file_format, **kwargs)


def _layout(data_format: str | None, complaint: str) -> str:
    layout = data_format or image_data_format()
    if layout not in ("channels_first", "channels_last"):
        raise ValueError(f"{complaint}: {data_format}")
    return layout
