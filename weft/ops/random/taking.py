"""How a kernel takes blocks of its node's stream, which another run goes on behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from weft.framework.building.aliases import Array

Take: TypeAlias = Callable[[int], Array]
"""Takes so many blocks of a stream; returns the number of the first, a scalar of uint64."""


def from_the_start(blocks: int) -> Array:
    """What a first run takes."""
    return np.uint64(0)
