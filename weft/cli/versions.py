"""The versions that a report of a fault needs."""

from __future__ import annotations

import importlib.metadata
import platform

from weft.framework.version import VERSION, WEFT_VERSION


def versions() -> str:
    """Those of weft, of the TensorFlow API that it has, of JAX and of Python, in one line."""
    jax = importlib.metadata.version("jax")
    return f"weft {WEFT_VERSION}, TensorFlow API {VERSION}, jax {jax}, Python {platform.python_version()}"
