"""RunCounts: how often random nodes have run, by which each of them gets fresh numbers."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence

import numpy as np

from weft.framework.operation import Operation


class RunCounts:
    """The counters of random nodes: of a session, or of the functions that an iterator calls. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._run_counts: dict[str, int] = {}

    def run_indices(self, nodes: Sequence[Operation], scope: str = "") -> list[np.uint64]:
        """For each random node how often it has run, and count this run.

        Nodes are told apart by name, and by `scope` where they are of functions, which name theirs without regard to others.
        A node without seeds begins anywhere, so that neither another session nor another process repeats its numbers.
        """
        if not nodes:
            return []
        indices = []
        with self._lock:
            for node in nodes:
                key = scope + node.name
                count = self._run_counts.get(key)
                if count is None:
                    count = secrets.randbits(64) if _is_unseeded(node) else 0
                self._run_counts[key] = (count + 1) % 2**64
                indices.append(np.uint64(count))
        return indices


def _is_unseeded(node: Operation) -> bool:
    """Whether nobody gave the node a seed: kernels take (0, 0) for that."""
    return not node.attrs.get("seed") and not node.attrs.get("seed2")
