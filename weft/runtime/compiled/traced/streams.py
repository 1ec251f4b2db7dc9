"""TracedStream: how much code takes of a random node's stream, while the code is traced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np

from weft.framework.building.aliases import Array
from weft.platform.imports.jax_modules import jnp
from weft.runtime.state.random_streams import BLOCKS

Size = TypeVar("Size")


class TracedStream:
    """A place in a stream, as far as it is known: what the code gets, and a number of blocks behind that.

    Args:
        start: where the stream stands when the code begins, or the branch or iteration that is traced; a scalar of uint64.
    """

    __slots__ = ("_start", "taken")

    def __init__(self, start: Array) -> None:
        self._start = start
        self.taken = 0
        """How many blocks have been taken since the start."""

    def take(self, blocks: int) -> Array:
        """Take so many blocks; returns the number of the first."""
        first = self.place
        self.taken += blocks
        return first

    @property
    def place(self) -> Array:
        """The number of the next block."""
        start = jnp.asarray(self._start, np.uint64)
        return start + np.uint64(self.taken % BLOCKS) if self.taken else start

    def move(self, place: Array) -> None:
        """Go on from a place that only a run tells."""
        self._start, self.taken = place, 0


class TakenBlocks(Generic[Size]):
    """How many blocks each random node takes in a run, by the size for which the code was traced. Safe from any thread.

    Args:
        limit: so many sizes are kept.
    """

    __slots__ = ("_by_size", "_limit", "get")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._by_size: dict[Size, Sequence[int]] = {}
        self.get = self._by_size.get
        """What is known of a size; None for one that is not."""

    def note(self, size: Size, taken: Sequence[int]) -> None:
        """Note what the nodes take."""
        if len(self._by_size) >= self._limit:
            self._by_size.clear()
        self._by_size[size] = taken


def replaced(streams: Sequence[TracedStream], owned: slice, places: Sequence[Array]) -> list[TracedStream]:
    """The streams with those of a branch or an iteration at places of their own."""
    result = list(streams)
    result[owned] = [TracedStream(place) for place in places]
    return result


def places_of(streams: Sequence[TracedStream]) -> list[Array]:
    """Where streams stand."""
    return [stream.place for stream in streams]


def move(streams: Sequence[TracedStream], places: Sequence[Array]) -> None:
    """Let streams go on from where a branch or a loop has left them."""
    for stream, place in zip(streams, places, strict=True):
        stream.move(place)
