"""Datasets' ops under the names of other versions, and those that only pass on, choose or split elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.checkpoint import files
from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.types.attr_value import FunctionName as Function
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data.batching import stacked
from weft.ops.data.element import (
    Called,
    Element,
    ElementIterator,
    Iteration,
    OverInput,
    Source,
    State,
    dataset_op,
    source_of,
)
from weft.ops.data.files import csv_source
from weft.ops.data.interleaving import Interleaved, cycle_of, positive
from weft.ops.data.parallel import calls_at_once
from weft.ops.data.random_numbers import RandomNumbers, settled_seeds
from weft.ops.data.reshaping import Listed, Windows
from weft.ops.data.shuffling import Shuffled, checked_buffer
from weft.ops.data.sources import Random


@dataset_op("RewriteDataset", "input_dataset: variant, rewrite_name: string")
def rewrite_dataset(
    ctx: OpContext, input_dataset: Array, rewrite_name: Array, *, output_types: list[DType], output_shapes: list[Dims]
) -> Source:
    """The dataset, of which a rewriting changes no element: `scalar variant, scalar string -> scalar variant`."""
    return source_of(input_dataset)


@dataset_op("ShuffleDatasetV2", "input_dataset: variant, buffer_size: int64, seed_generator: resource", stateful=True)
def shuffle_dataset_v2(
    ctx: OpContext, input_dataset: Array, buffer_size: Array, seed_generator: Array, *, output_types: list[DType],
    output_shapes: list[Dims], metadata: str = "",
) -> Source:  # fmt: skip
    """A dataset in random order, another one each time: `scalar variant, scalar int64, scalar resource -> scalar variant`."""
    return Shuffled(source_of(input_dataset), checked_buffer(buffer_size), settled_seeds(0, 0), True)


@dataset_op("RandomDatasetV2", "seed: int64, seed2: int64, seed_generator: resource", stateful=True)
def random_dataset_v2(
    ctx: OpContext, seed: Array, seed2: Array, seed_generator: Array, *, rerandomize_each_iteration: bool = False,
    output_types: list[DType], output_shapes: list[Dims], metadata: str = "",
) -> Source:  # fmt: skip
    """Random numbers without end: `scalar int64, scalar int64, scalar resource -> scalar variant`."""
    return Random(int(seed), int(seed2))


@dataset_op("ParallelInterleaveDatasetV3", "input_dataset: variant, other_arguments: [Targuments], cycle_length: int64, "
            "block_length: int64, num_parallel_calls: int64", calls=("f",))  # fmt: skip
def parallel_interleave_dataset_v3(
    ctx: OpContext, input_dataset: Array, other_arguments: Sequence[Array], cycle_length: Array, block_length: Array,
    num_parallel_calls: Array, *, f: Function, deterministic: str = "default", Targuments: list[DType],
    output_types: list[DType], output_shapes: list[Dims], metadata: str = "",
) -> Source:  # fmt: skip
    """Elements of the datasets that `f` makes, by turns, each read by a thread of its own.

    `scalar variant, n*[*argument], scalar int64, scalar int64, scalar int64 -> scalar variant`
    """
    function = Called(ctx, "f", "other_arguments", other_arguments)
    calls_at_once(num_parallel_calls)
    cycle, block = cycle_of(cycle_length), positive(block_length, "block_length")
    return Interleaved(source_of(input_dataset), function, cycle, block, ahead=max(16, 2 * block))


@dataset_op("LegacyParallelInterleaveDatasetV2", "input_dataset: variant, other_arguments: [Targuments], cycle_length: int64, "
            "block_length: int64, buffer_output_elements: int64, prefetch_input_elements: int64", calls=("f",))  # fmt: skip
def legacy_parallel_interleave_dataset_v2(
    ctx: OpContext, input_dataset: Array, other_arguments: Sequence[Array], cycle_length: Array, block_length: Array,
    buffer_output_elements: Array, prefetch_input_elements: Array, *, f: Function, deterministic: str = "default",
    Targuments: list[DType], output_types: list[DType], output_shapes: list[Dims], metadata: str = "",
) -> Source:  # fmt: skip
    """Elements of the datasets that `f` makes, by turns, all open from the beginning.

    `scalar variant, n*[*argument], scalar int64, scalar int64, scalar int64, scalar int64 -> scalar variant`
    """
    function = Called(ctx, "f", "other_arguments", other_arguments)
    cycle, block = cycle_of(cycle_length), positive(block_length, "block_length")
    ahead = positive(buffer_output_elements, "buffer_output_elements")
    return Interleaved(source_of(input_dataset), function, cycle, block, max(ahead, 16), opens_all=True)


@dataset_op("SlidingWindowDataset", "input_dataset: variant, window_size: int64, window_shift: int64, window_stride: int64")
def sliding_window_dataset(
    ctx: OpContext, input_dataset: Array, window_size: Array, window_shift: Array, window_stride: Array, *,
    drop_remainder: bool = True, output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """Batches of neighbouring elements: `scalar variant, scalar int64, scalar int64, scalar int64 -> scalar variant`."""
    size, shift = positive(window_size, "Window size"), positive(window_shift, "Window shift")
    stride = positive(window_stride, "window_stride")
    return _Stacked(Windows(source_of(input_dataset), size, shift, stride, drop_remainder))


class _Stacked(Source):
    """Datasets of elements, each as one batch."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return _StackedIterator(self._source.iterate(iteration))


class _StackedIterator(OverInput):
    """The batch of each dataset."""

    def next(self, caller: Caller) -> Element | None:
        """The next batch."""
        window = self._input.next(caller)
        if window is None:
            return None
        parts = []
        for component in window:
            listed = source_of(component)
            assert isinstance(listed, Listed)
            parts.append(stacked(listed.elements)[0])
        return tuple(parts)


# Elements by chance.


@dataset_op("SamplingDataset", "input_dataset: variant, rate: float, seed: int64, seed2: int64")
def sampling_dataset(
    ctx: OpContext, input_dataset: Array, rate: Array, seed: Array, seed2: Array, *, output_types: list[DType],
    output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """A share of the elements, by chance: `scalar variant, scalar, scalar int64, scalar int64 -> scalar variant`."""
    return _Sampled(source_of(input_dataset), float(rate), settled_seeds(int(seed), int(seed2)))


class _Sampled(Source):
    """A share of the elements of a dataset."""

    def __init__(self, source: Source, rate: float, seeds: tuple[int, int]) -> None:
        self._source = source
        self._rate = rate
        self._seeds = seeds

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return _SampledIterator(self._source.iterate(iteration), self._rate, self._seeds)


class _SampledIterator(OverInput):
    """Those elements for which a random number in [0, 1) is less than the rate."""

    def __init__(self, input_iterator: ElementIterator, rate: float, seeds: tuple[int, int]) -> None:
        super().__init__(input_iterator)
        self._rate = rate
        self._numbers = RandomNumbers(*seeds)

    def next(self, caller: Caller) -> Element | None:
        """The next one of them."""
        while (element := self._input.next(caller)) is not None:
            if (self._numbers.next() & 0x7FFFFF) / (1 << 23) < self._rate:
                return element
        return None

    def state(self) -> State:
        """The stream of numbers and the place in it, and where the input is."""
        return [*self._numbers.seeds, self._numbers.taken, self._input.state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        *numbers, inner = state
        self._numbers = RandomNumbers(*numbers)
        self._input.restore(inner, caller)


# Files.


@dataset_op("MatchingFilesDataset", "patterns: string", stateful=True)
def matching_files_dataset(ctx: OpContext, patterns: Array) -> Source:
    """The names of the files that patterns match, in order: `[...] string -> scalar variant`."""
    found = sorted({path for pattern in patterns.ravel().tolist() for path in files.matching(pattern.decode())})
    return Listed([(np.array(path.encode(), object),) for path in found])


@dataset_op("CSVDatasetV2", "filenames: string, compression_type: string, buffer_size: int64, header: bool, "
            "field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64, "
            "record_defaults: [output_types], exclude_cols: int64", stateful=True)  # fmt: skip
def csv_dataset_v2(
    ctx: OpContext, filenames: Array, compression_type: Array, buffer_size: Array, header: Array, field_delim: Array,
    use_quote_delim: Array, na_value: Array, select_cols: Array, record_defaults: Sequence[Array], exclude_cols: Array, *,
    output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """The records of CSV files, a component for each column but those that are left out.

    `[...] string, scalar string, scalar int64, scalar bool, scalar string, scalar bool, scalar string, [c] int64,
    n*[size], [e] int64 -> scalar variant`
    """
    excluded = set(exclude_cols.tolist())
    if excluded and select_cols.size:
        raise InvalidArgumentError.of("Either select_cols or exclude_cols should be empty")
    if excluded:
        columns = range(len(output_types) + len(excluded))
        select_cols = np.array([column for column in columns if column not in excluded], np.int64)
    return csv_source(
        ctx, filenames, compression_type, header, field_delim, use_quote_delim, na_value, select_cols, record_defaults,
        output_types,
    )  # fmt: skip


# Batches of batches.


@dataset_op("RebatchDatasetV2", "input_dataset: variant, batch_sizes: int64, drop_remainder: bool")
def rebatch_dataset_v2(
    ctx: OpContext, input_dataset: Array, batch_sizes: Array, drop_remainder: Array, *, output_types: list[DType],
    output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """Batches cut again, into the sizes by turns: `scalar variant, [...] int64, scalar bool -> scalar variant`."""
    sizes = [int(size) for size in np.ravel(batch_sizes)]
    if not sizes or min(sizes) < 0 or not any(sizes):
        raise InvalidArgumentError.of(f"batch_sizes must be sizes, of which one is positive; they are {sizes}")
    return _Rebatched(source_of(input_dataset), sizes, bool(drop_remainder))


class _Rebatched(Source):
    """Batches whose rows are batched again."""

    def __init__(self, source: Source, sizes: Sequence[int], drop_remainder: bool) -> None:
        self._source = source
        self._sizes = sizes
        self._drop_remainder = drop_remainder

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return _RebatchIterator(self._source.iterate(iteration), self._sizes, self._drop_remainder)


class _RebatchIterator(OverInput):
    """Batches of the rows of batches, of several sizes by turns."""

    def __init__(self, input_iterator: ElementIterator, sizes: Sequence[int], drop_remainder: bool) -> None:
        super().__init__(input_iterator)
        self._sizes = sizes
        self._drop_remainder = drop_remainder
        self._turn = 0
        self._held: list[Element] = []

    def next(self, caller: Caller) -> Element | None:
        """The next batch."""
        size = self._sizes[self._turn % len(self._sizes)]
        while sum(len(each[0]) for each in self._held) < max(size, 1):
            element = self._input.next(caller)
            if element is None:
                break
            if element and any(part.ndim == 0 or len(part) != len(element[0]) for part in element):
                raise InvalidArgumentError.of("batches must have as many rows in all components, to be cut again")
            self._held.append(element)
        rows = sum(len(each[0]) for each in self._held)
        if not rows or (rows < size and self._drop_remainder):
            return None
        self._turn += 1
        if len(self._held) == 1:
            joined = self._held[0]  # one batch that is cut into many is not copied for each
        else:
            joined = tuple(np.concatenate(parts) for parts in zip(*self._held, strict=True))
        self._held = [tuple(part[size:] for part in joined)] if rows > size else []
        return tuple(part[:size] for part in joined)

    def state(self) -> State:
        """Whose turn it is, the rows that are left, and where the input is."""
        return [self._turn, self._held, self._input.state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        self._turn, held, inner = state
        self._held = [tuple(each) for each in held]
        self._input.restore(inner, caller)
