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

    __slots__ = ("_blocks", "_bodies", "_entered", "_seen", "total")

    def __init__(self) -> None:
        self.total = 0
        self._bodies = 0
        self._entered = 0
        self._blocks: list[_Block] = []
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
    def as_many_as(self, nodes: int, is_all: bool = False) -> Iterator[None]:
        """Let what the block makes count as so many nodes, whatever it makes.

        What a body around the block takes in for it counts beside them: TensorFlow has an Enter or a Switch for that, wherever
        it is first used. What the block's own bodies take in does not.

        Args:
            nodes: how many TensorFlow makes there.
            is_all: whether what bodies around the block take in is among them.
        """
        block = _Block(self._bodies)
        before = self.total
        self._blocks.append(block)
        try:
            yield
        finally:
            self._blocks.remove(block)
        self.total = before + nodes + (0 if is_all else block.entered)

    def body(self) -> int:
        """The number of a new body, for `entering`."""
        self._bodies += 1
        return self._bodies

    @contextlib.contextmanager
    def entering(self, body: int) -> Iterator[None]:
        """Tell that what is made in the block takes a tensor into a body.

        Args:
            body: the body's number.
        """
        before, entered = self.total, self._entered
        yield
        # A tensor from farther away is taken into the bodies between as well, which tell that themselves.
        own = self.total - before - (self._entered - entered)
        self._entered += own
        for block in self._blocks:
            if body <= block.bodies:
                block.entered += own


class _Block:
    """A block that counts as some number of nodes: how many bodies there were before it, and what these took in for it."""

    __slots__ = ("bodies", "entered")

    def __init__(self, bodies: int) -> None:
        self.bodies = bodies
        self.entered = 0
