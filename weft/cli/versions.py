"""The versions that a report of a fault needs."""

from __future__ import annotations

import importlib.metadata
import platform


def versions() -> str:
    """Those of weft, JAX and Python, in one line."""
    found = [f"{name} {importlib.metadata.version(name)}" for name in ("weft", "jax")]
    return f"{', '.join(found)}, Python {platform.python_version()}"
