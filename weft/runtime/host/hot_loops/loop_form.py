"""LoopForm: the sizes that the code of a loop is for, which may be more rows than a run has; `LoopForms` finds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Operation
from weft.runtime.host.hot_loops.longer_inputs import longer_inputs

LEAST_ROWS: Final = 16
_MOST_SPARE: Final = 8
"""How many rows code has at most for one that a run has, rounded: they are copied and cleared each time."""

_DOUBLED_ROWS: Final = 4096
"""Up to here code has rows by powers of two; beyond, by pieces of so many."""

_UNLIKE: Final = -1
"""The number of rows of a group whose members differ: they are taken as they are."""


class LoopForm(NamedTuple):
    """What code of a loop is for: the shapes of its inputs and the types of their elements.

    `rows` tells how many rows the inputs of each group have in a run, and `sizes` in the code, for which `size` was asked for;
    `room` is how many iterations a piece of the loop may record.
    """

    shapes: tuple[tuple[int, ...], ...]
    types: tuple[str, ...]
    sizes: tuple[int, ...]
    rows: tuple[int, ...]
    size: int
    room: int

    @property
    def counts(self) -> list[Array]:
        """`rows`, as the code takes them."""
        return [np.int32(rows) for rows in self.rows]


class LoopForms:
    """Finds the forms of one loop, and brings values into them and back.

    Args:
        op: the While node.
        varying: the places of the loop variables that its body changes.
    """

    def __init__(self, op: Operation, varying: Sequence[int]) -> None:
        self._groups = longer_inputs(op)
        self._varying = frozenset(varying)

    def rows(self, values: Sequence[Array]) -> list[int]:
        """How many rows the inputs of each group have."""
        found = []
        for places, _ in self._groups:
            counts = {np.shape(values[place])[:1] for place in places}
            found.append(counts.pop()[0] if len(counts) == 1 and () not in counts else _UNLIKE)
        return found

    def form(self, values: Sequence[Array], rows: Sequence[int], size: int, room: int) -> LoopForm:
        """The form for these values, with `size` rows, but not many more than there are, and no fewer."""
        shapes = [np.shape(value) for value in values]
        sizes: list[int] = []
        taken: set[int] = set()
        for (places, is_checked), count in zip(self._groups, rows, strict=True):
            if count == _UNLIKE:
                sizes.append(_UNLIKE)
                continue
            longer = max(rounded(count), min(size, _MOST_SPARE * rounded(count)))
            # By its size a kernel that checks numbers knows an array, and so how many rows it has in this run.
            while is_checked and longer in taken:
                longer += 1
            if is_checked:
                taken.add(longer)
            sizes.append(longer)
            for place in places:
                shapes[place] = (longer, *shapes[place][1:])
        types = tuple([np.asarray(value).dtype.str for value in values])
        return LoopForm(tuple(shapes), types, tuple(sizes), tuple(rows), size, room)

    def checked_counts(self, form: LoopForm, counts: Sequence[Array]) -> dict[int, Array]:
        """How many rows there are in a run of what has so many in the code, where the numbers of rows are checked.

        Args:
            form: the form.
            counts: `form.counts` of the run, traced.
        """
        groups = zip(self._groups, form.sizes, counts, strict=True)
        return {size: count for (_, is_checked), size, count in groups if is_checked and size != _UNLIKE}

    def lengthened(self, values: Sequence[Array], form: LoopForm) -> list[Array]:
        """The values with the rows of the form."""
        longer = list(values)
        for (places, _), size, rows in zip(self._groups, form.sizes, form.rows, strict=True):
            for place in places if size != rows else ():
                longer[place] = _with_rows(values[place], form.shapes[place])
        return longer

    def shortened(self, results: Sequence[Array], values: Sequence[Array], form: LoopForm) -> list[Array]:
        """What a loop that began with these values has made of them in the form, with the rows that it has by itself."""
        shorter = list(results)
        for (places, _), rows in zip(self._groups, form.rows, strict=True):
            for place in places if rows != _UNLIKE else ():
                shorter[place] = results[place][:rows] if place in self._varying else values[place]
        return shorter


def rounded(rows: int) -> int:
    """How many rows code has for so many."""
    if rows > _DOUBLED_ROWS:
        return -(-rows // _DOUBLED_ROWS) * _DOUBLED_ROWS
    return max(LEAST_ROWS, 1 << max(rows - 1, 0).bit_length())


def _with_rows(value: Array, shape: tuple[int, ...]) -> Array:
    """The value with further rows. Recorded values are the first rows of what code made, which may have as many."""
    whole = value.base
    if (
        isinstance(whole, np.ndarray)
        and (whole.shape, whole.dtype, whole.strides) == (shape, value.dtype, value.strides)
        and not whole.flags.writeable
        and whole.ctypes.data == value.ctypes.data
    ):
        return whole
    longer = np.zeros(shape, value.dtype)
    longer[: len(value)] = value
    return longer
