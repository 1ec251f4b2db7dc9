"""The public modules that are loaded when a program asks for them, not with the first name of weft.

They are large, and most programs need one of them at most: all but a tenth of what they load belongs to `contrib` and to
estimators. The ops that they use are loaded with the graphs that have them (`op_registry.load_when_missing`).
Without them the first name of weft takes 0.74 s of CPU instead of 0.88, of 1,560 modules instead of 2,190 (two loaded cores,
November 2026).
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Final

from weft.platform.imports.collections import paused_collections

PUBLIC: Final = frozenset((
    "contrib", "distribute", "distributions", "estimator", "examples", "feature_column", "keras", "profiler", "test", "tpu",
))  # fmt: skip
INNER: Final = frozenset(("core", "python", "tools"))
"""TensorFlow's own paths, which are no part of the API."""


def load(name: str) -> ModuleType:
    """The module `weft.NAME`, one of these."""
    # What the program has made by now is not put away, as at the first name: it would never be collected.
    with paused_collections():
        return importlib.import_module(f"weft.{name}")


def load_public() -> None:
    """Load all that is public, to look for a name there."""
    for name in sorted(PUBLIC):
        load(name)
