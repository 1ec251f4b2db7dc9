"""NodeCount: how many nodes TensorFlow would have made by now.

Random ops whose graph has a seed and who have none of their own get this count for one. So where weft does by one node what
TensorFlow does by nine, what counts are TensorFlow's nine. A program's branches and loops count with the graph around them: in
TensorFlow they are in that graph.
"""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterator


class NodeCount:
    """The count of one graph and of the bodies in it."""

    __slots__ = ("_seen", "total")

    def __init__(self) -> None:
        self.total = 0
        self._seen: set[Hashable] = set()

    def __repr__(self) -> str:
        return f"<count of {self.total} nodes>"

    def is_new(self, key: Hashable) -> bool:
        """Whether this is the first time that a graph needs what TensorFlow makes once for each graph.

        Args:
            key: what it is.
        """
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    @contextlib.contextmanager
    def as_many_as(self, nodes: int) -> Iterator[None]:
        """Let what the block makes count as so many nodes, whatever it makes.

        Args:
            nodes: how many TensorFlow makes there.
        """
        before = self.total
        yield
        self.total = before + nodes
