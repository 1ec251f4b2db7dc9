"""Seeds of ops that decode images: small files of each format."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from tests.differential.ops.case import OpCase

_ROWS, _COLUMNS = np.mgrid[:19, :26]
_PIXELS = np.stack([128 + 90 * np.sin(_COLUMNS / (3 + at) + _ROWS / (5 - at)) for at in range(4)], -1).astype(np.uint8)


def _file(kind: str, channels: int = 3, **options: object) -> np.ndarray:
    """A file of the pixels, as a scalar string."""
    buffer = io.BytesIO()
    pixels = _PIXELS[..., 0] if channels == 1 else _PIXELS[..., :channels]
    Image.fromarray(pixels).save(buffer, kind, **options)
    return np.array(buffer.getvalue(), object)


def _animation() -> np.ndarray:
    frames = [Image.fromarray(_PIXELS[..., at]) for at in range(3)]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])
    return np.array(buffer.getvalue(), object)


_JPEGS = [
    _file("JPEG", quality=75), _file("JPEG", quality=95, subsampling=0), _file("JPEG", 1), _file("JPEG", progressive=True),
]  # fmt: skip
_NO_IMAGE = np.array(b"no image", object)
_CUT = np.array(_JPEGS[0].item()[:-40], object)
_WAYS: list[dict[str, object]] = [
    {}, {"ratio": 2}, {"ratio": 8}, {"channels": 1}, {"channels": 3}, {"dct_method": "INTEGER_ACCURATE"},
    {"fancy_upscaling": False}, {"channels": 4}, {"ratio": 3},
]  # fmt: skip
_OTHERS = [_file("PNG"), _file("PNG", 4), _file("PNG", 1)]

PICTURES = [
    *(OpCase("DecodeJpeg", [data], way) for data in _JPEGS for way in _WAYS),
    *(OpCase("DecodeJpeg", [data]) for data in (_CUT, _NO_IMAGE, *_OTHERS)),
    # Of colours at half the resolution the columns at the edges of a part are enlarged otherwise in TensorFlow.
    *(OpCase("DecodeAndCropJpeg", [data, np.array(window, np.int32)], way) for data in _JPEGS[1:3]
      for window in ([0, 0, 19, 26], [3, 5, 8, 9], [10, 10, 10, 10]) for way in ({}, {"channels": 1}, {"channels": 3})),
    *(OpCase("DecodeGif", [data]) for data in (_animation(), _file("GIF", 1), _OTHERS[0], _NO_IMAGE)),
    *(OpCase("ExtractJpegShape", [data]) for data in (*_JPEGS, _OTHERS[0])),
]  # fmt: skip
