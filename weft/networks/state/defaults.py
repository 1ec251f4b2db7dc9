"""The defaults of Keras: the type of floats, the small number that keeps divisions finite, the layout of images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array


@dataclass
class _Defaults:
    floatx: str = "float32"
    epsilon: float = 1e-7
    image_data_format: str = "channels_last"


_DEFAULTS: Final = _Defaults()


def epsilon() -> float:
    """The small number that keeps divisions and logarithms finite, 1e-7 unless it was set."""
    return _DEFAULTS.epsilon


def set_epsilon(value: float) -> None:
    """Set the small number that keeps divisors and logarithms away from 0.

    Args:
        value: the number.
    """
    _DEFAULTS.epsilon = value


def backend() -> str:
    """The name of what Keras computes with: "tensorflow"."""
    return "tensorflow"


def floatx() -> str:
    """The name of the default type of floats."""
    return _DEFAULTS.floatx


def set_floatx(value: str) -> None:
    """Set the default type of floats; ValueError unless it is float16, float32 or float64.

    Args:
        value: the name of a dtype.
    """
    if value not in ("float16", "float32", "float64"):
        raise ValueError(f"Unknown floatx type: {value}")
    _DEFAULTS.floatx = str(value)


def image_data_format() -> str:
    """The default layout of images, "channels_last" or "channels_first"."""
    return _DEFAULTS.image_data_format


def set_image_data_format(data_format: str) -> None:
    """Set the default layout of images; ValueError for an unknown one.

    Args:
        data_format: "channels_last" or "channels_first".
    """
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError(f"Unknown data_format: {data_format}")
    _DEFAULTS.image_data_format = str(data_format)


def layout_or_default(data_format: str | None) -> str:
    """The layout given, in small letters, or the default for None; ValueError for an unknown one."""
    if data_format is None:
        return image_data_format()
    if data_format.lower() not in ("channels_last", "channels_first"):
        raise ValueError(
            f'The `data_format` argument must be one of "channels_first", "channels_last". Received: {data_format}'
        )
    return data_format.lower()


def cast_to_floatx(x: Array) -> Array:
    """An array in the default type of floats.

    Args:
        x: an array, or what becomes one.
    """
    return np.asarray(x, dtype=floatx())
