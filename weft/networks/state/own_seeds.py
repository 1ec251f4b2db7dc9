"""The op seeds of Keras' random tensors, which come from NumPy's global random state where a program gives none."""

from __future__ import annotations

import numpy as np


def own_seed(seed: int | None = None) -> int:
    """The op seed of a random tensor: the one given, or the next number of NumPy's global random state.

    Args:
        seed: the one given.
    """
    return int(np.random.randint(10**7)) if seed is None else seed
