"""tf.compat.v1: all of weft by the name that it has in later TensorFlow releases.

import weft.compat.v1 as tf
tf.disable_v2_behavior()
"""

from __future__ import annotations

from typing import Any

import weft


def __getattr__(name: str) -> Any:
    try:
        return getattr(weft, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return dir(weft)
