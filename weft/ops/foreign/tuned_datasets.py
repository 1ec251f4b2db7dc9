"""Datasets that tell TensorFlow's runtime how to run, and change no element; and the names of ops that were experimental."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

from weft.errors import FailedPreconditionError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.registry import op_registry
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data import caching, files, grouping, interleaving, mapping, parallel, reshaping, sources
from weft.ops.data.element import Element, ElementIterator, Iteration, OverInput, Source, State, dataset_op, source_of
from weft.ops.foreign import datasets, grouped_datasets

# They declare those that get a second name below.
_RENAMED: Final = (caching, files, grouping, interleaving, mapping, parallel, reshaping, sources, datasets, grouped_datasets)


@dataset_op("MaxIntraOpParallelismDataset", "input_dataset: variant, max_intra_op_parallelism: int64")
def max_intra_op_parallelism_dataset(
    ctx: OpContext, input_dataset: Array, max_intra_op_parallelism: Array, *, output_types: list[DType],
    output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """The dataset; how many threads an op uses is a matter of the process: `scalar variant, scalar int64 -> scalar variant`."""
    return source_of(input_dataset)


@dataset_op("PrivateThreadPoolDataset", "input_dataset: variant, num_threads: int64")
def private_thread_pool_dataset(
    ctx: OpContext, input_dataset: Array, num_threads: Array, *, output_types: list[DType], output_shapes: list[Dims]
) -> Source:
    """The dataset; its threads are those of the process: `scalar variant, scalar int64 -> scalar variant`."""
    return source_of(input_dataset)


@dataset_op("NonSerializableDataset", "input_dataset: variant")
def non_serializable_dataset(
    ctx: OpContext, input_dataset: Array, *, output_types: list[DType], output_shapes: list[Dims]
) -> Source:
    """The dataset: `scalar variant -> scalar variant`."""
    return source_of(input_dataset)


@dataset_op("OptimizeDatasetV2", "input_dataset: variant, optimizations_enabled: string, optimizations_disabled: string, "
            "optimizations_default: string")  # fmt: skip
def optimize_dataset_v2(
    ctx: OpContext, input_dataset: Array, optimizations_enabled: Array, optimizations_disabled: Array,
    optimizations_default: Array, *, output_types: list[DType], output_shapes: list[Dims],
    optimization_configs: list[str] = [],  # noqa: B006
) -> Source:  # fmt: skip
    """The dataset, of which an optimization changes no element.

    `scalar variant, [n] string, [m] string, [k] string -> scalar variant`
    """
    return source_of(input_dataset)


@dataset_op("ChooseFastestDataset", "input_datasets: N*variant", limits={"N": 2})
def choose_fastest_dataset(
    ctx: OpContext, input_datasets: Sequence[Array], *, num_experiments: int, output_types: list[DType],
    output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """The first of datasets that have the same elements: `n*scalar variant -> scalar variant`."""
    return source_of(input_datasets[0])


@dataset_op("AssertCardinalityDataset", "input_dataset: variant, cardinality: int64")
def assert_cardinality_dataset(
    ctx: OpContext, input_dataset: Array, cardinality: Array, *, output_types: list[DType], output_shapes: list[Dims]
) -> Source:
    """The dataset, which has to have so many elements: `scalar variant, scalar int64 -> scalar variant`."""
    return _Counted(source_of(input_dataset), int(cardinality))


class _Counted(Source):
    """A dataset that says how many elements it has."""

    def __init__(self, source: Source, count: int) -> None:
        self._source = source
        self._count = count

    @property
    def size(self) -> int | None:
        """How many, as was said."""
        return self._count

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return _CountedIterator(self._source.iterate(iteration), self._count)


class _CountedIterator(OverInput):
    """Elements that are counted: FailedPreconditionError where they are more or fewer than was said."""

    def __init__(self, input_iterator: ElementIterator, count: int) -> None:
        super().__init__(input_iterator)
        self._count = count
        self._taken = 0

    def next(self, caller: Caller) -> Element | None:
        """The next one."""
        element = self._input.next(caller)
        if element is None and self._taken < self._count:
            raise FailedPreconditionError.of(f"Input dataset was expected to contain {_elements(self._count)} but "
                                             f"contained only {_elements(self._taken)}.")  # fmt: skip
        if element is not None:
            self._taken += 1
            if 0 <= self._count < self._taken:
                raise FailedPreconditionError.of(f"Input dataset was expected to contain {_elements(self._count)} but "
                                                 f"contained at least {_elements(self._taken)}.")  # fmt: skip
        return element

    def state(self) -> State:
        """How many were taken, and where the input is."""
        return [self._taken, self._input.state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        self._taken, inner = state
        self._input.restore(inner, caller)


def _elements(count: int) -> str:
    return f"{count} element{'' if count == 1 else 's'}"


# TensorFlow 1.15 writes some of these by the names that they had first; inputs and attributes are the same.
for _name in (
    "CSVDataset", "ChooseFastestDataset", "DatasetCardinality", "DenseToSparseBatchDataset", "DirectedInterleaveDataset",
    "GroupByReducerDataset", "GroupByWindowDataset", "IgnoreErrorsDataset", "MapAndBatchDataset", "MatchingFilesDataset",
    "MaxIntraOpParallelismDataset", "NonSerializableDataset", "ParallelInterleaveDataset", "ParseExampleDataset",
    "PrivateThreadPoolDataset", "RandomDataset", "ScanDataset", "SlidingWindowDataset", "TakeWhileDataset", "UnbatchDataset",
    "UniqueDataset",
):  # fmt: skip
    op_registry.register(dataclasses.replace(op_registry.lookup(_name), name=f"Experimental{_name}"))
