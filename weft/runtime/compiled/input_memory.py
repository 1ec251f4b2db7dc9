"""InputMemory: inputs laid out so that XLA reads them where they lie, in memory that is used again.

NumPy's arrays begin anywhere, and most large ones 16 bytes behind a page. XLA copies such an input, on another thread and into
new memory, whose pages the system has to clear. Copied here, into the memory of an earlier run, that takes a fifth to an eighth
of the CPU time: of 256 KB 0.02 ms instead of 0.07, of 1 MB 0.06 instead of 0.27, of 16 MB 1.9 instead of 5.9, of 100 MB 10
instead of 85 (two cores of a virtual machine, November 2026). It is copied in each run all the same: that an array was not
changed since the last one is known of no array that the program can reach.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Tensor
from weft.platform.machine.aligned_memory import HostArray, aligned_copy, is_aligned
from weft.protocol.receive_memory import ReceiveMemory

COPIED_HERE_BYTES: Final = 100 << 10
"""Smaller arrays XLA copies itself, on the thread that calls it."""

_MAX_KEPT_BYTES: Final = 1 << 30
"""The most that is kept for one stage: as much as XLA's own copies of one run."""


class InputMemory:
    """The memory of one stage's inputs; goes with it. Safe from any thread.

    A piece is used again once neither JAX nor a result looks at what was laid out in it.

    Args:
        inputs: the stage's inputs, as the graph has them.
    """

    __slots__ = ("_large", "_lock", "_memory")

    def __init__(self, inputs: Sequence[Tensor]) -> None:
        self._large = [place for place, tensor in enumerate(inputs) if _may_be_large(tensor)]
        self._memory = ReceiveMemory(_MAX_KEPT_BYTES)
        self._lock = threading.Lock()

    @property
    def kept_bytes(self) -> int:
        """How much is kept, in use or not."""
        return self._memory.kept_bytes

    def usable(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """The inputs, those copied of which XLA would make a copy on another thread."""
        usable: list[Array] | None = None
        for place in self._large:
            value = inputs[place]
            if type(value) is np.ndarray and value.nbytes >= COPIED_HERE_BYTES and not is_aligned(value):
                usable = list(inputs) if usable is None else usable
                usable[place] = self._copy(value)
        return inputs if usable is None else usable

    def owned(self, inputs: Sequence[Array], places: Collection[int]) -> Sequence[Array]:
        """The inputs, those at `places` copied; where such a copy is large, XLA reads it where it lies."""
        return [self._copy(np.asarray(value)) if place in places else value for place, value in enumerate(inputs)]

    def _copy(self, value: HostArray) -> HostArray:
        # Another thread that lays out inputs is not waited for; and a lock that an interrupt left held would only cost memory.
        if value.nbytes < COPIED_HERE_BYTES or value.dtype.hasobject or not self._lock.acquire(blocking=False):
            return aligned_copy(value)
        try:
            memory = self._memory.allocate(value.nbytes)
        finally:
            self._lock.release()
        copy = memory.view(value.dtype).reshape(value.shape)
        copy[...] = value
        return copy


def _may_be_large(tensor: Tensor) -> bool:
    elements, width = tensor.shape.num_elements(), tensor.dtype.base_dtype.size
    return elements is None or width is None or elements * width >= COPIED_HERE_BYTES
