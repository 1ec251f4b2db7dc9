"""CodePrice: how much computing time code takes to make, as this process has found it to be.

Before the first code is made it is told by the import of weft (`import_cost`), in parts that were counted on one machine and
hold on others as far as all of it is work of the same kind: importing JAX takes about as long, code for a node a seventieth of
that, and a call of compiled code a seven thousandth. Two loaded cores, November 2026: weft 0.7 s of CPU, JAX 0.73; code for 46,
69, 115 and 207 nodes 0.18, 0.27, 0.32 and 0.6 s, for the 1,815 of a GAN's two steps 22 s; a call 0.03 to 0.04 ms beside what
it computes.
"""

from __future__ import annotations

from typing import Final

from weft.platform.imports.import_cost import import_cost
from weft.platform.imports.jax_modules import is_imported

IMPORT_NODES: Final = 70
"""The code of so many nodes takes as long to make as importing weft: the weight of that measure beside those of code."""
IMPORT_CALLS: Final = 7_000
"""So many calls of compiled code take as long."""


class CodePrice:
    """A mean over the nodes of all code that this process has made. Not under a lock: a race loses a note."""

    def __init__(self) -> None:
        self._nodes = 0
        self._seconds = 0.0

    def note(self, nodes: int, took_s: float) -> None:
        """Note that code for so many nodes was made."""
        self._nodes += nodes
        self._seconds += took_s

    def code_s(self, nodes: int) -> float:
        """What code for so many nodes will take; where JAX is not there yet, with its import."""
        import_s = import_cost.seconds
        node_s = (import_s + self._seconds) / (IMPORT_NODES + self._nodes)
        return node_s * nodes + (0.0 if is_imported() else import_s)

    @property
    def call_s(self) -> float:
        """What a call of code takes beside what the code computes."""
        return import_cost.seconds / IMPORT_CALLS


code_price: Final = CodePrice()
"""Of this process."""
