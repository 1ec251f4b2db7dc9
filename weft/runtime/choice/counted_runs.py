"""CountedRuns: what the runs of a stage on the host have been, while which way it goes is not settled."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

NODE_BYTES: Final = 10 << 10
"""What a node costs on the host besides its results: as much as so many bytes of them."""

_FEW_SIZES: Final = 2
"""A full batch and a last partial one."""


@dataclass
class CountedRuns:
    """Sums over runs, in bytes of work and seconds of their threads' time. Not under a lock: a race loses a run's count."""

    runs: int = 0
    work: int = 0
    fed: int = 0
    """How much of the work was large arrays that the program fed."""
    most_work: int = 0
    """That of the largest run."""
    most_input_bytes: int = 0
    """The size of the largest inputs of a run."""
    seconds: float = 0.0
    """Other work on the machine does not show in it."""
    least_s: float = math.inf
    """That of the quickest run."""
    sizes_change: bool = False
    """Whether the inputs have had more sizes than a full batch and a last partial one."""
    _sizes: set[Hashable] = field(default_factory=set)

    def note(self, nodes: int, made_bytes: int, input_bytes: int, fed_bytes: int, took_s: float) -> None:
        """Count a run of so many nodes, its work and its time."""
        work = input_bytes + made_bytes + NODE_BYTES * nodes
        self.runs += 1
        self.work += work
        self.fed += fed_bytes
        self.most_work = max(self.most_work, work)
        self.most_input_bytes = max(self.most_input_bytes, input_bytes)
        self.note_time(took_s)

    def note_size(self, size: Hashable) -> None:
        """Note the size of a run's inputs."""
        if not self.sizes_change:
            self._sizes.add(size)
            self.sizes_change = len(self._sizes) > _FEW_SIZES

    def note_time(self, took_s: float, runs: int = 1) -> None:
        """Count the time alone that so many runs took."""
        self.seconds += took_s
        self.least_s = min(self.least_s, took_s / runs)
