"""How much of small work a thread does at a time: as much as Python lets it compute before another gets the interpreter."""

from __future__ import annotations

import sys
from typing import Final

LEAST: Final = 4
"""Where fewer pieces fit into a turn, each is so long that it is done by itself, beside those of other threads."""
_MOST: Final = 32


def pieces_in_a_turn(piece_s: float) -> int:
    """How many pieces of work that take so many seconds each are done in one go; 1 where that would save nothing."""
    fitting = int(sys.getswitchinterval() / max(piece_s, 1e-6))
    return min(_MOST, fitting) if fitting >= LEAST else 1
