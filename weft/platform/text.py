"""Text and bytes turned into each other, as tf.compat offers it."""

from __future__ import annotations

import numbers
import os
from typing import Any, Final

import numpy as np

bytes_or_text_types: Final = (bytes, str)
integral_types: Final = (numbers.Integral, np.integer)
real_types: Final = (numbers.Real, np.integer, np.floating)
complex_types: Final = (numbers.Complex, np.number)


def as_bytes(bytes_or_text: object, encoding: str = "utf-8") -> bytes:
    """Return bytes as they are and text encoded; TypeError for anything else.

    Args:
        bytes_or_text: bytes or a str.
        encoding: the encoding of the text.

    Returns:
        bytes.
    """
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: object, encoding: str = "utf-8") -> str:
    """Return text as it is and bytes decoded; TypeError for anything else.

    Args:
        bytes_or_text: bytes or a str.
        encoding: the encoding of the bytes.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: object) -> str:
    """Return bytes decoded and `str()` of anything else.

    Args:
        value: any object.
    """
    return as_text(value) if isinstance(value, bytes) else str(value)


def path_to_str(path: object) -> Any:
    """Return a path object as text; what is no path object comes back as it is.

    Args:
        path: an `os.PathLike`, or anything else.
    """
    return as_text(os.fspath(path)) if hasattr(path, "__fspath__") else path
