"""RandomStreams: how much of each random node's stream its runs have taken, behind which the next one goes on."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Operation
from weft.platform.process.interrupts import deferred_interrupts

BLOCKS: Final = 2**64
"""Of a stream, behind which it begins anew."""


class RandomStream:
    """The place in one node's stream from which on its blocks are still to be taken. Safe from any thread.

    Compiled code that tells only at its end how much it has taken holds `lock` meanwhile; see `Draws`.
    """

    __slots__ = ("lock", "name", "place")

    def __init__(self, name: str, place: int) -> None:
        self.name = name
        self.lock = threading.Lock()
        self.place: int | Array = place
        """The next block, as a number or, while a run still computes it, as an array; under the lock."""

    def take(self, blocks: int) -> np.uint64:
        """Take so many blocks; returns the number of the first."""
        with self.lock:
            first = int(self.place)
            self.place = (first + blocks) % BLOCKS
        return np.uint64(first)


class RandomStreams:
    """The streams of random nodes: of a session, or of the functions that an iterator calls. Safe from any thread."""

    def __init__(self) -> None:
        self._streams: dict[str, RandomStream] = {}

    def of(self, nodes: Sequence[Operation], scope: str = "") -> list[RandomStream]:
        """The streams of nodes.

        Nodes are told apart by name, and by `scope` where they are of functions, which name theirs without regard to others.
        A node without seeds begins anywhere, so that neither another session nor another process repeats its numbers.
        """
        known = self._streams
        return [known.get(scope + node.name) or self._added(scope + node.name, node) for node in nodes]

    def _added(self, key: str, node: Operation) -> RandomStream:
        # Two threads that add one at once get the same.
        return self._streams.setdefault(key, RandomStream(key, first_place(node)))


def first_place(node: Operation) -> int:
    """Where the stream of a node begins: anywhere if nobody gave it a seed, for which kernels take (0, 0)."""
    is_seeded = node.attrs.get("seed") or node.attrs.get("seed2")
    return 0 if is_seeded else secrets.randbits(64)


class Draws:
    """What one run of compiled code takes of the streams of its random nodes, as a block around the run.

    How much nodes outside of branches and loops take is known before the run. The streams of the others belong to the run until
    the block ends; one that fails in it has taken nothing of them. Who holds variables' locks takes them before.

    Args:
        streams: those of the code's random nodes.
        blocks: how many blocks each node takes that is in no branch or loop.
        moving: the numbers of the nodes that are in one.
    """

    __slots__ = ("_blocks", "_moving", "_streams", "moved", "starts")

    def __init__(self, streams: Sequence[RandomStream], blocks: Sequence[int], moving: Sequence[int]) -> None:
        self._streams = streams
        self._blocks = blocks
        self._moving = [streams[number] for number in moving] if moving else ()
        self.starts: list[np.uint64] = []
        """A list also where it is empty: JAX tells lists from tuples."""
        self.moved: Sequence[Array] = ()
        """Where the run has left the streams of nodes in branches and loops; to be set before the block ends."""

    def __enter__(self) -> Draws:
        if not self._moving:
            self.starts = [stream.take(blocks) for stream, blocks in zip(self._streams, self._blocks, strict=True)]
            return self
        is_held = False
        try:
            # An interrupt between two of them would leave the first locked for ever.
            with deferred_interrupts():
                for stream in self._in_order():
                    stream.lock.acquire()
                is_held = True
            self.starts = self._begun(set(self._moving))
        except BaseException:
            if is_held:
                self.__exit__(BaseException)
            raise
        return self

    def _begun(self, owned: set[RandomStream]) -> list[np.uint64]:
        return [
            np.uint64(int(stream.place)) if stream in owned else stream.take(blocks)
            for stream, blocks in zip(self._streams, self._blocks, strict=True)
        ]

    def __exit__(self, kind: type[BaseException] | None, *exc_info: object) -> None:
        if not self._moving:
            return
        if kind is None:
            for stream, place in zip(self._moving, self.moved, strict=True):
                stream.place = place
        for stream in self._in_order():
            stream.lock.release()

    def _in_order(self) -> list[RandomStream]:
        """The streams that the run owns, each once, in the one order in which a run that owns several takes them."""
        return sorted(set(self._moving), key=lambda stream: (stream.name, id(stream)))


NO_DRAWS: Final = Draws((), (), ())
"""Those of code without random nodes."""
