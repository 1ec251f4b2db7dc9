"""JAX's modules, under the names that weft uses. They are imported when something first looks into one of them.

Importing JAX takes nearly as long as importing the rest of weft (0.73 and 0.9 s of CPU, November 2026), and 120 MB of memory. A
parameter server whose updates NumPy makes, a program that only builds a graph or reads a checkpoint, and a client whose graph
runs elsewhere never need it; in others it is imported where code is made, beside the steps.

A module writes `from weft.platform.imports.jax_modules import jax, jnp` at its top; what it may not do is in
`weft/platform/imports/later.py`.
"""

from __future__ import annotations

import importlib
import sys
import threading
from contextlib import nullcontext
from types import ModuleType
from typing import TYPE_CHECKING

from weft.platform.imports.collections import no_collections
from weft.platform.imports.later import Later
from weft.platform.imports.own_random import no_common_numbers
from weft.platform.process.interrupts import deferred_interrupts

__all__ = [
    "custom_derivatives", "export", "is_awaited", "is_imported", "jax", "jax_linalg", "jnp", "lax", "load", "special",
    "tree_util", "xla_client",
]  # fmt: skip


class _Import:
    """The import of JAX in this process. Safe from any thread; the main one is not interrupted meanwhile."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._is_done = False
        self.waiting = 0
        """How many threads want JAX, of which one imports it."""

    def run(self) -> None:
        """Have JAX imported."""
        if self._is_done:
            return
        self.waiting += 1
        try:
            # What an interrupt stops half-way cannot be imported again.
            with deferred_interrupts(), self._lock:
                if not self._is_done:
                    # NumPy's generators are imported by looking at them, which is not to collect either.
                    with nullcontext() if is_imported() else no_collections(is_beside=True), no_common_numbers():
                        importlib.import_module("jax.numpy")
                    self._is_done = True
        finally:
            self.waiting -= 1


_IMPORT = _Import()


def is_imported() -> bool:
    """Whether JAX is there already."""
    return "jax.numpy" in sys.modules


def is_awaited() -> bool:
    """Whether several threads want JAX, so that a step may wait for the thread that imports it."""
    return _IMPORT.waiting > 1


def load() -> None:
    """Import JAX if nothing has done so yet; blocks for 0.5 to 1 s then."""
    _IMPORT.run()


class _Later(Later):
    """A module of JAX's: all of them come with the first."""

    def _load(self) -> ModuleType:
        load()
        return super()._load()


if TYPE_CHECKING:
    import jax as jax
    import jax.numpy as jnp
    import jax.scipy.linalg as jax_linalg
    from jax import custom_derivatives as custom_derivatives
    from jax import export as export
    from jax import lax as lax
    from jax import tree_util as tree_util
    from jax.scipy import special as special
    from jaxlib import xla_client as xla_client
else:
    jax = _Later("jax")
    jnp = _Later("jax.numpy")
    lax = _Later("jax.lax")
    tree_util = _Later("jax.tree_util")
    export = _Later("jax.export")
    custom_derivatives = _Later("jax.custom_derivatives")
    special = _Later("jax.scipy.special")
    jax_linalg = _Later("jax.scipy.linalg")
    xla_client = _Later("jaxlib.xla_client")
