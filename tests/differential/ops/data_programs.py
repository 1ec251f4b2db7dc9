"""Programs of datasets: an iterator takes some elements of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.differential.ops.case import Node, OpCase
from tests.differential.ops.functions import function
from tests.differential.ops.programs import I32, I64, F, N, S, program, text, texts
from weft.framework.types.dtypes import DType

_NUMBERS = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0], np.float32)
_ONE: dict[str, Any] = {"output_types": [F], "output_shapes": [None]}
_FUNCTION: dict[str, Any] = {"f": function("double"), "Targuments": [], **_ONE}
_SOURCE = N("source", "TensorSliceDataset", [_NUMBERS], Toutput_types=[F], output_shapes=[()])
_COUNT = np.array(2, np.int64)


def _taken(nodes: Sequence[Node], count: int, types: Sequence[DType] = (F,)) -> Iterator[OpCase]:
    """Take so many elements of the last dataset, and once more in a program of its own."""
    declared = {"output_types": list(types), "output_shapes": [None] * len(types)}
    all_nodes = [
        *nodes,
        N("iterator", "IteratorV2", shared_name="iterator", container="", **declared),
        N("make", "MakeIterator", [nodes[-1].name, "iterator"]),
        N("next", "IteratorGetNext", ["iterator"], **declared),
    ]
    fetches = [f"next:{i}" for i in range(len(types))]
    yield from program(all_nodes, [["make"], *[fetches] * count])
    yield from program(all_nodes, [["make"], *[fetches] * (count + 1)])


def _of(op: str, inputs: Sequence[Any] = (), count: int = 6, **attrs: Any) -> Iterator[OpCase]:
    """A dataset made of the numbers."""
    yield from _taken([_SOURCE, N("made", op, ["source", *inputs], **{**_ONE, **attrs})], count)


def _sources() -> Iterator[OpCase]:
    yield from _taken(
        [N("made", "RangeDataset", [np.int64(1), np.int64(9), np.int64(3)], output_types=[I64], output_shapes=[()])], 3, [I64]
    )
    yield from _taken(
        [N("made", "TensorDataset", [_NUMBERS, np.int32(4)], Toutput_types=[F, I32], output_shapes=[(6,), ()])], 1, [F, I32]
    )
    seeded = {"output_types": [I64], "output_shapes": [()]}
    yield from _taken([N("made", "RandomDataset", [np.int64(3), np.int64(5)], **seeded)], 4, [I64])
    yield from _taken(
        [_SOURCE, N("made", "ZipDataset", ["source", "source"], output_types=[F, F], output_shapes=[(), ()], N=2)], 6, [F, F]
    )
    yield from _taken([_SOURCE, N("made", "ConcatenateDataset", ["source", "source"], **_ONE)], 12)
    yield from _taken([N("made", "TextLineDataset", [texts("/nowhere/x"), text(""), np.int64(0)])], 1, [S])


def _changes() -> Iterator[OpCase]:
    yield from _of("TakeDataset", [_COUNT], 2)
    yield from _of("SkipDataset", [_COUNT], 4)
    yield from _of("RepeatDataset", [_COUNT], 12)
    yield from _of("ShardDataset", [_COUNT, np.int64(1)], 3)
    yield from _of("PrefetchDataset", [_COUNT])
    yield from _of("CacheDataset", [text("")])
    yield from _of("BatchDatasetV2", [np.int64(4), np.array(False)], 2)
    yield from _of("BatchDatasetV2", [np.int64(4), np.array(True)], 1)
    yield from _of("ParallelBatchDataset", [np.int64(4), _COUNT, np.array(False)], 2)
    yield from _of("ShuffleDataset", [np.int64(4), np.int64(3), np.int64(7)])
    yield from _of("ShuffleAndRepeatDataset", [np.int64(4), np.int64(3), np.int64(7), _COUNT], 12)
    yield from _of("OptionsDataset", serialized_options="")
    yield from _of("IgnoreErrorsDataset")
    yield from _of("ModelDataset")
    yield from _of("OptimizeDataset", [np.array([], object)])
    yield from _of("FinalizeDataset")
    padded = {"Toutput_types": [F], "output_shapes": [(None,)], "N": 1}
    whole = N("whole", "BatchDatasetV2", ["source", np.int64(4), np.array(False)], **_ONE)
    for op, more in (("PaddedBatchDataset", []), ("PaddedBatchDatasetV2", [np.array(False)])):
        made = N("made", op, ["whole", _COUNT, np.array([5], np.int64), np.float32(0.5), *more], **padded)
        yield from _taken([_SOURCE, whole, made], 1)
    yield from _taken([_SOURCE, whole, N("made", "UnbatchDataset", ["whole"], **_ONE)], 6)
    numbers = N("many", "TensorSliceDataset", [np.array([3, 1, 3, 2, 1], np.int64)], Toutput_types=[I64], output_shapes=[()])
    yield from _taken([numbers, N("made", "UniqueDataset", ["many"], output_types=[I64], output_shapes=[()])], 3, [I64])
    chosen = N("chosen", "TensorSliceDataset", [np.array([0, 1, 1, 0], np.int64)], Toutput_types=[I64], output_shapes=[()])
    yield from _taken([_SOURCE, chosen, N("made", "DirectedInterleaveDataset", ["chosen", "source", "source"], N=2, **_ONE)], 4)


def _functions() -> Iterator[OpCase]:
    yield from _of("MapDataset", **_FUNCTION)
    yield from _of("ParallelMapDataset", [np.int32(2)], **_FUNCTION)
    yield from _of("ParallelMapDatasetV2", [_COUNT], **_FUNCTION)
    yield from _of("MapAndBatchDataset", [_COUNT, _COUNT, np.array(False)], 3, **_FUNCTION)
    positive = {"predicate": function("positive"), "Targuments": []}
    yield from _of("FilterDataset", [], 4, **positive)
    yield from _of("ParallelFilterDataset", [], 4, **positive)
    yield from _of("TakeWhileDataset", [], 1, **positive)
    reduced = N("sum", "ReduceDataset", ["source", np.float32(0)], f=function("sum2"), Tstate=[F], Targuments=[], **_ONE)
    yield from program([_SOURCE, reduced], [["sum:0"]])
    scanned = {"f": function("scan2"), "Tstate": [F], "Targuments": []}
    yield from _of("ScanDataset", [np.float32(0)], **scanned)


def _around() -> Iterator[OpCase]:
    yield from program([_SOURCE, N("count", "DatasetCardinality", ["source"])], [["count:0"]])
    yield from program([_SOURCE, N("only", "DatasetToSingleElement", ["source"], **_ONE)], [["only:0"]])
    first = N("first", "TakeDataset", ["source", np.int64(1)], **_ONE)
    yield from program([_SOURCE, first, N("only", "DatasetToSingleElement", ["first"], **_ONE)], [["only:0"]])
    some = [N("some", "OptionalFromValue", [_NUMBERS], Toutput_types=[F]), N("has", "OptionalHasValue", ["some"]),
            N("value", "OptionalGetValue", ["some"], **_ONE)]  # fmt: skip
    yield from program(some, [["has:0", "value:0"]])
    none = [N("none", "OptionalNone"), N("has", "OptionalHasValue", ["none"]), N("value", "OptionalGetValue", ["none"], **_ONE)]
    yield from program(none, [["has:0"], ["value:0"]])


def programs() -> list[OpCase]:
    """All programs."""
    return [each for family in (_sources, _changes, _functions, _around) for each in family()]
