"""Imports JAX, before anything else does, without collecting garbage meanwhile.

It makes most of the objects that `import weft` makes. Collections among them find nothing, and take a tenth of the import.
"""

from __future__ import annotations

import gc


def _import_jax() -> None:
    collects = gc.isenabled()
    gc.disable()
    try:
        # So that no collection during the rest of the import looks at it.
        gc.freeze()
    finally:
        if collects:
            gc.enable()


_import_jax()
