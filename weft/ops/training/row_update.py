"""Applying a rule to some rows of a variable and its slots on NumPy, in place.

The work is bound by memory: what is taken, computed and put for a few thousand rows does not stay in a core's cache until it
is used again. So the rows are updated in pieces that do. The rule looks at each element by itself, so that a piece comes out as
the whole would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.ops.array.row_order import are_rows, put_rows, repeated_rows, whole_rows

RowRule = Callable[..., Sequence[Array]]
"""`rule(*tables, gradient)` gives the new values of the tables' elements."""

_PIECE_BYTES: Final = 64 << 10  # of one array; a rule has up to ten at a time

# Above this share of repetitions all rows are put in order and summed; below, those alone that repeat.
_MANY: Final = 8


class Repetitions(NamedTuple):
    """Rows whose numbers come more than once, each once, and the sums of their gradients; or all rows. See `repetitions_of`."""

    rows: Array
    summed: Array
    are_all: bool


_NONE: Final = Repetitions(None, None, False)


def repetitions_of(indices: Array, gradients: Array) -> Repetitions:
    """The rows to sum before an update: that takes time, and none of the tables."""
    repeated = repeated_rows(indices, _MANY)
    if repeated is None:
        return _NONE
    return Repetitions(*_summed(*repeated, gradients), len(repeated[0]) == len(indices))


def update_rows(
    rule: RowRule, tables: Sequence[Array], indices: Array, gradients: Array, repetitions: Repetitions | None = None
) -> tuple[Array, ...]:
    """Apply a rule to the rows that the indices name; gradients of the same row are summed first.

    Args:
        rule: gives new values of `[n, ...]` rows of the tables and their gradients.
        tables: `[rows, ...]` arrays of one shape, which are changed in place if they can be written to.
        indices: `[k] integer`.
        gradients: `[k, ...]`, with the tables' inner dimensions.
        repetitions: what `repetitions_of` says of both, if that is known already.

    Returns the tables as they are now.

    Raises:
        InvalidArgumentError: an index is no row, or the gradients do not fit indices and tables.
    """
    _check(tables[0], indices, gradients)
    changed = tuple(table if table.flags.writeable else table.copy() for table in tables)
    rows, summed, are_all = repetitions_of(indices, gradients) if repetitions is None else repetitions
    if rows is None:
        _update(rule, changed, indices, gradients)
    elif are_all:
        _update(rule, changed, rows, summed)
    else:
        # The others are taken as they come. The few that repeat go along, and then get what their sums make of them.
        new = rule(*_take(changed, rows), summed)
        _update(rule, changed, indices, gradients)
        _put(changed, rows, new)
    return changed


def _check(table: Array, indices: Array, gradients: Array) -> None:
    row_count = len(table)
    if gradients.shape != (*indices.shape, *table.shape[1:]):
        raise InvalidArgumentError.of(
            f"Gradients of shape {gradients.shape} do not fit {len(indices)} rows of a variable of shape {table.shape}"
        )
    check_row_numbers(indices, row_count)


def check_row_numbers(indices: Array, row_count: int) -> None:
    """Raise InvalidArgumentError unless all of the indices are rows."""
    if are_rows(indices, row_count):
        return
    offset = int(np.flatnonzero((indices < 0) | (indices >= row_count))[0])
    raise InvalidArgumentError.of(f"Index {indices[offset]} at offset {offset} in indices is out of range [0, {row_count})")


def _summed(order: Array, ordered: Array, is_first: Array, gradients: Array) -> tuple[Array, Array]:
    """The different ones of sorted rows and the sum of the gradients of each."""
    (starts,) = is_first.nonzero()
    return ordered[starts], np.add.reduceat(gradients.take(order, axis=0), starts, axis=0, dtype=gradients.dtype)


def _update(rule: RowRule, tables: Sequence[Array], rows: Array, gradients: Array) -> None:
    rows = rows.astype(np.intp, copy=False)
    pieces = max(round(gradients.nbytes / _PIECE_BYTES), 1)
    size = max(-(-len(rows) // pieces), 1)
    # As `put_rows` does, but found once for all pieces.
    by_row = [whole_rows(table) for table in tables]
    for start in range(0, len(rows), size):
        piece = rows[start : start + size]
        values = rule(*_take(tables, piece), gradients[start : start + size])
        for table, whole, new in zip(tables, by_row, values, strict=True):
            if whole is None:
                table[piece] = new
            else:
                whole[piece] = np.ascontiguousarray(new, table.dtype).reshape(-1).view(whole.dtype)


def _take(tables: Sequence[Array], rows: Array) -> list[Array]:
    return [table.take(rows, axis=0) for table in tables]


def _put(tables: Sequence[Array], rows: Array, values: Sequence[Array]) -> None:
    for table, new in zip(tables, values, strict=True):
        put_rows(table, rows, new.astype(table.dtype, copy=False))
