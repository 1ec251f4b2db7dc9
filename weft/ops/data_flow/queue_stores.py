"""The orders in which queues other than the first-in-first-out one give their elements."""

from __future__ import annotations

import heapq
import itertools
import secrets
from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.ops.data_flow.queue_state import Element
from weft.ops.random import philox

# Blocks of four random numbers that are made at once: for one, NumPy's calls cost more than all else of taking an element.
_AT_ONCE: Final = 256


class ShuffleStore:
    """Gives a random element each time: TensorFlow's for the same seeds, any when both are 0."""

    takes_at_once: Final = False

    def __init__(self, seed: int, seed2: int) -> None:
        self._elements: list[Element] = []
        seeds = (seed, seed2) if seed or seed2 else (secrets.randbits(63), secrets.randbits(63))
        self._stream = philox.stream_of_seeds(*seeds)
        self._block = 0
        self._numbers: list[int] = []

    def __len__(self) -> int:
        return len(self._elements)

    def put(self, element: Element) -> None:
        """Add an element."""
        self._elements.append(element)

    def take(self) -> Element:
        """Remove a random one."""
        elements = self._elements
        if not self._numbers:
            index = np.arange(self._block, self._block + _AT_ONCE, dtype=np.uint64)
            self._block += _AT_ONCE
            self._numbers = np.stack(philox.blocks(self._stream, index), axis=1).ravel()[::-1].tolist()
        # As TensorFlow: the first places are likelier by 2**-32 of their number.
        place = self._numbers.pop() % len(elements)
        elements[place], elements[-1] = elements[-1], elements[place]
        return elements.pop()

    def put_back(self, elements: Sequence[Element]) -> None:
        """Add several."""
        self._elements.extend(elements)


class PriorityStore:
    """Gives the element with the smallest first component, the earliest among equals."""

    takes_at_once: Final = True

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Element]] = []
        self._arrivals = itertools.count()

    def __len__(self) -> int:
        return len(self._heap)

    def put(self, element: Element) -> None:
        """Add an element."""
        heapq.heappush(self._heap, (int(element[0]), next(self._arrivals), element))

    def take(self) -> Element:
        """Remove the first by priority."""
        return heapq.heappop(self._heap)[2]

    def put_back(self, elements: Sequence[Element]) -> None:
        """Add several that were taken."""
        for element in elements:
            self.put(element)
