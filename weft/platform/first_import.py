"""Imports JAX, before anything else does, without collecting garbage meanwhile.

It makes most of the objects that `import weft` makes. Collections among them find nothing, and take a tenth of the import.
"""

from __future__ import annotations

import gc
import importlib


def _import_jax() -> None:
    collects = gc.isenabled()
    gc.disable()
    try:
        # It is the import itself that matters; nothing here uses the module.
        importlib.import_module("jax.numpy")
        # So that no collection during the rest of the import looks at it.
        gc.freeze()
    finally:
        if collects:
            gc.enable()


_import_jax()
