"""The orders in which queues other than the first-in-first-out one give their elements."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence

import numpy as np

from weft.ops.data_flow.queue_state import Element


class ShuffleStore:
    """Gives a random element each time; the same sequence for the same seeds, random ones when both are 0."""

    def __init__(self, seed: int, seed2: int) -> None:
        self._elements: list[Element] = []
        # NumPy's seeds are unsigned.
        seeds = [s % 2**64 for s in (seed, seed2)]
        self._random = np.random.default_rng(seeds if any(seeds) else None)

    def __len__(self) -> int:
        return len(self._elements)

    def put(self, element: Element) -> None:
        """Add an element."""
        self._elements.append(element)

    def take(self) -> Element:
        """Remove a random one."""
        place = int(self._random.integers(len(self._elements)))
        elements = self._elements
        elements[place], elements[-1] = elements[-1], elements[place]
        return elements.pop()

    def put_back(self, elements: Sequence[Element]) -> None:
        """Add several."""
        self._elements.extend(elements)


class PriorityStore:
    """Gives the element with the smallest first component, the earliest among equals."""

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
