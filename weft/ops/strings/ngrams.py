"""Runs of neighbouring strings, joined."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.ops.array.shape_ops import INDEX
from weft.ops.declaration import op


def _check_rows(splits: Array, count: int) -> None:
    """Raise InvalidArgumentError unless splits rise from 0 to the number of strings; none at all are no rows."""
    if not len(splits):
        if count:
            raise InvalidArgumentError.of(f"If there are no splits there must be no data, but there are {count} strings")
        return
    if splits[0] != 0:
        raise InvalidArgumentError.of(f"First split value must be 0, got {splits[0]}")
    for before, split in itertools.pairwise(splits.tolist()):
        if not before <= split <= count:
            raise InvalidArgumentError.of(f"Invalid split value {split}, must be in [{before}, {count}]")
    if splits[-1] != count:
        raise InvalidArgumentError.of(f"Last split value must be data size. Expected {count}, got {splits[-1]}")


@op("StringNGrams", "data: string, data_splits: Tsplits -> ngrams: string, ngrams_splits: Tsplits",
    ranks={"data": 1, "data_splits": 1},
    infer=lambda node: [(None,), _as_many(node)], gradient=None, types={"Tsplits": INDEX}, defaults={"Tsplits": dtypes.int64},
    limits={"ngram_widths": 0})  # fmt: skip
def string_ngrams_node(
    ctx: OpContext,
    data: Array,
    data_splits: Array,
    *,
    separator: str,
    ngram_widths: list[int],
    left_pad: str,
    right_pad: str,
    pad_width: int,
    preserve_short_sequences: bool,
) -> tuple[Result, Result]:
    """The n-grams of each row, those of one width after those of the other: `[n], [rows + 1] -> [ngrams], [rows + 1]`.

    A row is padded by `pad_width` strings at each end, as many as the width has use for if it is -1. A row without any n-gram
    is one itself where short sequences are preserved.
    """
    _check_rows(data_splits, len(data))
    between, left, right = separator.encode(), left_pad.encode(), right_pad.encode()
    rows = []
    for start, end in itertools.pairwise(data_splits):
        row = data[start:end].tolist()
        made: list[bytes] = []
        for width in ngram_widths:
            pads = width - 1 if pad_width < 0 else min(pad_width, width - 1)
            made += _runs([left] * pads + row + [right] * pads, width, between)
        if not made and row and preserve_short_sequences:
            pads = max(pad_width, 0)
            made = [between.join([left] * pads + row + [right] * pads)]
        rows.append(made)
    found = np.empty(sum(map(len, rows)), object)
    found[:] = [each for row in rows for each in row]
    ends = np.cumsum([0, *map(len, rows)], dtype=data_splits.dtype)
    return found, ends[: len(data_splits)]


def _as_many(node: Operation) -> Dims:
    return node.inputs[1].dims


def _runs(items: Sequence[bytes], width: int, between: bytes) -> list[bytes]:
    return [between.join(items[at : at + width]) for at in range(len(items) - width + 1)]
