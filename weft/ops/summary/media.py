"""Images and sounds as summaries hold them: PNG and WAV."""

from __future__ import annotations

import io
import struct
import wave
import zlib
from typing import Any, Final

import numpy as np

_PNG_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_PNG_COLOUR_TYPES: Final = {1: 0, 2: 4, 3: 2, 4: 6}


def png_of(pixels: np.ndarray) -> bytes:
    """A PNG of [height, width, channels] uint8 (or uint16) pixels with 1 to 4 channels."""
    height, width, channels = pixels.shape
    data = pixels.astype(pixels.dtype.newbyteorder(">")).reshape(height, -1)
    rows = b"".join(b"\0" + row.tobytes() for row in data)
    header = struct.pack(">IIBBBBB", width, height, 8 * pixels.dtype.itemsize, _PNG_COLOUR_TYPES[channels], 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return _PNG_SIGNATURE + b"".join(_chunk(kind, content) for kind, content in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def pixels_of(image: np.ndarray, bad_color: np.ndarray) -> np.ndarray:
    """Scale one image of floats to uint8: from 0 to its maximum, or around 128 when it has negative values.

    Pixels that are not finite get `bad_color`.
    """
    is_bad = ~np.isfinite(image).all(axis=-1)
    finite = image[~is_bad].astype(np.float32)
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    if low < 0:
        largest, full, offset = max(abs(low), abs(high)), 127.0, 128.0
    else:
        largest, full, offset = high, 255.0, 0.0
    scale = 0.0 if largest < 1e-5 else full / largest
    pixels = np.empty(image.shape, np.uint8)
    pixels[~is_bad] = (finite * scale + offset).astype(np.uint8)
    pixels[is_bad] = bad_color[: image.shape[-1]]
    return pixels


def wav_of(samples: np.ndarray, sample_rate: float) -> bytes:
    """A 16-bit WAV of [frames, channels] float32 samples from -1 to 1."""
    buffer: Any = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        # As TensorFlow rounds the rate; a WAV has one of whole numbers from 1 on.
        file.setframerate(max(1, round(sample_rate)))
        file.writeframes(np.clip(np.round(samples * 32767), -32768, 32767).astype("<i2").tobytes())
    return bytes(buffer.getvalue())
