"""The ways in which a program says where the rows of a ragged tensor begin: how each is checked, and made row splits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import told_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dtypes import DType
from weft.ops.array.joining import concat
from weft.ops.array.stacking import stack
from weft.ops.debugging.checks import assert_equal, assert_less, assert_less_equal, assert_non_negative
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.ragged.partitions import lengths_to_splits, nrows_of

Count: TypeAlias = Callable[[DType], Tensor]
"""Gives the number of values, a scalar of the type asked for."""


@dataclass(frozen=True, slots=True)
class RowScheme:
    """One vector that partitions values into rows.

    Args:
        kind: its name in `RaggedTensor.from_*`.
        checks: `checks(vector, count, message)` are the operations that fail where it is no partition of so many values.
        splits: `splits(vector, count)` are the row splits, `[nrows + 1]`.
    """

    kind: str
    checks: Callable[[Tensor, Count, str], list[Operation]]
    splits: Callable[[Tensor, Count], Tensor]

    @property
    def scope(self) -> str:
        """The name scope of its nodes, such as `RaggedFromRowSplits`."""
        return "RaggedFrom" + "".join(word.capitalize() for word in self.kind.split("_"))

    @property
    def message(self) -> str:
        """What a check that fails says."""
        return f"Arguments to from_{self.kind} do not form a valid RaggedTensor"


def _split_checks(splits: Tensor, count: Count, message: str) -> list[Operation]:
    return [
        assert_equal(splits[:1], 0, message=message),
        _ascending(splits, message),
        assert_equal(splits[-1:], count(splits.dtype), message=message),
    ]


def _length_checks(lengths: Tensor, count: Count, message: str) -> list[Operation]:
    return [
        assert_non_negative(lengths, message=message),
        assert_equal(reduce_sum(lengths), count(lengths.dtype), message=message),
    ]


def _start_checks(starts: Tensor, count: Count, message: str) -> list[Operation]:
    return [
        assert_equal(starts[:1], 0, message=message),
        _ascending(starts, message),
        assert_less_equal(starts[-1:], count(starts.dtype), message=message),
    ]


def _limit_checks(limits: Tensor, count: Count, message: str) -> list[Operation]:
    return [
        assert_non_negative(limits[:1], message=message),
        _ascending(limits, message),
        assert_equal(limits[-1:], count(limits.dtype), message=message),
    ]


def _ascending(vector: Tensor, message: str) -> Operation:
    return assert_less_equal(vector[:-1], vector[1:], message=message)


ROW_SPLITS: Final = RowScheme("row_splits", _split_checks, lambda splits, count: splits)
ROW_LENGTHS: Final = RowScheme("row_lengths", _length_checks, lambda lengths, count: lengths_to_splits(lengths))
ROW_STARTS: Final = RowScheme(
    "row_starts", _start_checks, lambda starts, count: concat([starts, stack([count(starts.dtype)])], axis=0)
)
ROW_LIMITS: Final = RowScheme(
    "row_limits", _limit_checks, lambda limits, count: concat([convert_to_tensor([0], limits.dtype), limits], axis=0)
)


def rowid_checks(rowids: Tensor, rows: Tensor, count: Count) -> list[Operation]:
    """The operations that fail where `rowids`, `[nvals]`, are no ascending row numbers below `rows`, one for each value."""
    message = "Arguments to from_value_rowids do not form a valid RaggedTensor"
    return [
        assert_equal(count(rowids.dtype), nrows_of(rowids, rowids.dtype), message=message),
        assert_non_negative(rowids[:1], message=message),
        _ascending(rowids, message),
        assert_less(rowids[-1:], rows, message=message),
    ]


def check_known_rows(rows: Tensor, rowids: Tensor) -> None:
    """ValueError where what is known while the graph is built says that there are too few rows."""
    count, known = told_value(rows), told_value(rowids)
    if count is None:
        return
    if count < 0:
        raise ValueError(f"Expected nrows >= 0; got {int(count)}")
    if known is not None and known.size and count < known[-1] + 1:
        raise ValueError(f"Expected nrows >= value_rowids[-1] + 1; got nrows={int(count)}, value_rowids[-1]={int(known[-1])}")
