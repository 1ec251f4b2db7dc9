"""Keeps the numbers that a program draws from NumPy's common generator its own, while a library is imported beside it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np


def _elsewhere(draw: Callable[..., object], thread: int) -> Callable[..., object]:
    """`draw`, but for the numbers that this thread asks for, which come from a generator of their own."""

    def rand(*sizes: int) -> object:
        if threading.get_ident() == thread:
            return np.random.RandomState().rand(*sizes)
        return draw(*sizes)

    return rand


@contextmanager
def no_common_numbers() -> Iterator[None]:
    """Have what this thread draws by `np.random.rand` leave NumPy's common generator as it is, until the block ends.

    JAX draws five numbers when it is imported, for the pauses between attempts to reach a cluster. A program that
    seeded NumPy would go on with other numbers from then on, at a moment that no two of its runs share, since the import
    goes on beside the steps. To put the generator's state back afterwards would give numbers twice that the program
    drew meanwhile; so other threads are served as before.
    """
    names = vars(np.random)
    draw = names["rand"]
    own = names["rand"] = _elsewhere(draw, threading.get_ident())
    try:
        yield
    finally:
        if names["rand"] is own:
            names["rand"] = draw
