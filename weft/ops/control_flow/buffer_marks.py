"""Marks: which elements of a TensorArray's buffer have been written or taken, kept with the buffer while it is on the host.

A TensorArray takes each element once and gives it once, unless it was told to keep it. The marks travel with the array that a
kernel hands on; what NumPy makes of such an array, and what comes out of compiled code, has none and is not checked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array


@dataclasses.dataclass
class Marks:
    """The history of each element: written, and taken by a read that clears. `name` is the TensorArray's."""

    name: str
    clears: bool
    written: NDArray[np.bool_]
    taken: NDArray[np.bool_]

    def copy(self, size: int) -> Marks:
        """The marks for a newer buffer of that size."""
        return Marks(self.name, self.clears, _of_size(self.written, size), _of_size(self.taken, size))


def _of_size(marks: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    if marks.size == size:
        return marks.copy()
    longer = np.zeros(size, bool)
    kept = min(size, marks.size)
    longer[:kept] = marks[:kept]
    return longer


class MarkedBuffer(np.ndarray[Any, Any]):
    """A buffer with marks."""

    marks: Marks | None = None

    def __array_finalize__(self, other: Array) -> None:
        """Give what is made of a marked buffer no marks: its elements are others."""
        self.marks = None


def marked(flow: Array, marks: Marks) -> Array:
    """The same elements, with marks."""
    result = flow.view(MarkedBuffer)
    result.marks = marks
    return result


def unmarked(flow: Array) -> Array:
    """The same elements as a plain array."""
    return flow.view(np.ndarray) if isinstance(flow, MarkedBuffer) else flow


def new_marks(name: str, size: int, clears: bool, is_written: bool = False) -> Marks:
    """Marks for elements of which none has been taken."""
    return Marks(name, clears, np.full(size, is_written), np.zeros(size, bool))


def marks_of(flow: Array) -> Marks | None:
    """The marks, None when the array has none."""
    return flow.marks if isinstance(flow, MarkedBuffer) else None


def note_written(old: Array, new: Array, indices: Iterable[int]) -> Array:
    """The buffer `new`, made of `old` by writing elements; InvalidArgumentError when one of them was written before."""
    before = marks_of(old)
    if before is None:
        return unmarked(new)
    marks = before.copy(new.shape[0])
    for index in indices:
        if marks.taken[index] or marks.written[index]:
            done = "read" if marks.taken[index] else "written to"
            raise _refused(marks, f"Could not write to TensorArray index {index} because it has already been {done}.")
        marks.written[index] = True
    return marked(unmarked(new), marks)


def note_read(flow: Array, indices: Iterable[int], has_shape: bool) -> None:
    """Mark elements as taken; InvalidArgumentError when one is gone, or was never written and has no shape."""
    marks = marks_of(flow)
    if marks is None:
        return
    for index in indices:
        if marks.taken[index]:
            raise _refused(
                marks, f"Could not read index {index} twice because it was cleared after a previous read (perhaps try setting "
                "clear_after_read = false?)."
            )  # fmt: skip
        if not has_shape and not marks.written[index]:
            raise _refused(
                marks, f"Could not read from TensorArray index {index}. Furthermore, the element shape is not fully defined. "
                "It is possible you are working with a resizeable TensorArray and stop_gradients is not allowing the gradients "
                "to be written. If you set the full element_shape property on the forward TensorArray, the proper all zeros "
                "tensor will be returned instead of incurring this error. Nothing was written there: `array = "
                "array.write(index, value)` keeps what write returns, and the array before does not change."
            )  # fmt: skip
        marks.taken[index] = marks.clears


def _refused(marks: Marks, text: str) -> InvalidArgumentError:
    return InvalidArgumentError.of(f"TensorArray {marks.name}: {text}")
