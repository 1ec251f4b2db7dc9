"""JittedFunction: what JAX makes of a stage's program, and how it is called for the first time."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from weft.framework.building.aliases import Array
from weft.platform.process.interrupts import deferred_interrupts
from weft.runtime.compiled.leaving_values import LeavingValues

Results: TypeAlias = tuple[Sequence[Array] | LeavingValues, Sequence[Array], Sequence[Array]]
"""The outputs, the new values of the written variables, and where random nodes in bodies have left their streams."""
Code: TypeAlias = Callable[..., Results]
"""From inputs, values of variables that are read and of those that are updated, and the places of random nodes in their streams
to the results; JAX compiles it once for each combination of shapes."""


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """JAX warns when a donated array cannot be reused, as when a variable changes its shape; that is no news here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
        yield


class JittedFunction:
    """A function that JAX compiles; its first call, which compiles unless it was prepared, is uninterrupted and quiet.

    Args:
        jitted: what `jax.jit` has made.
    """

    __slots__ = ("is_first", "jitted")

    def __init__(self, jitted: Any) -> None:
        self.jitted = jitted
        self.is_first = True

    def first(self, *arguments: Any) -> Results:
        """Call it for the first time."""
        with deferred_interrupts(), quietly():
            result: Results = self.jitted(*arguments)
        self.is_first = False
        return result

    @property
    def call(self) -> Code:
        """What calls it."""
        return self.first if self.is_first else self.jitted
