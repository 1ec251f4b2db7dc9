"""Datasets that hand on elements of others as they are: take, skip, repeat, shard, concatenate, zip."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data.element import (
    Element,
    ElementIterator,
    Iteration,
    OverInput,
    Rows,
    Source,
    State,
    dataset_op,
    joined_progress,
    repeated_size,
    source_of,
)


class Part(Source):
    """The elements of a dataset from `first` on, every `step`-th, up to `count` of them; -1 for all."""

    def __init__(self, source: Source, first: int = 0, step: int = 1, count: int = -1) -> None:
        self._source = source
        self._first = first
        self._step = step
        self._count = count

    @property
    def size(self) -> int | None:
        """As many of them as there are."""
        whole, count = self._source.size, self._count
        if whole is None or whole < 0:
            return whole if whole is None or count < 0 else count
        left = max(0, -(-(whole - self._first) // self._step))
        return left if count < 0 else min(left, count)

    @property
    def rows(self) -> Rows | None:
        """The same part of the rows' numbers."""
        rows = self._source.rows
        return None if rows is None else Rows(rows.components, Part(rows.numbers, self._first, self._step, self._count))

    @property
    def texts(self) -> Source | None:
        """The same part of the texts."""
        texts = self._source.texts
        return None if texts is None else Part(texts, self._first, self._step, self._count)

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return PartIterator(self._source.iterate(iteration), self._first, self._step, self._count)


class PartIterator(OverInput):
    """Every `step`-th element from `first` on."""

    def __init__(self, input_iterator: ElementIterator, first: int, step: int, count: int) -> None:
        super().__init__(input_iterator)
        self._skip = first
        self._step = step
        self._left = count

    @property
    def only_computes(self) -> bool:
        """Whether the input does."""
        return self._input.only_computes

    def next(self, caller: Caller) -> Element | None:
        """The next element."""
        if self._left == 0:
            # What the input holds, such as a generator, ends with the last element.
            self.close()
            return None
        while self._skip:
            if self._input.next(caller) is None:
                self._left = 0
                return None
            self._skip -= 1
        element = self._input.next(caller)
        self._skip = self._step - 1
        self._left = 0 if element is None else self._left - 1
        return element

    def next_some(self, caller: Caller, most: int) -> Sequence[Element]:
        """The next elements, where none between them is left out."""
        if self._skip or self._step > 1 or self._left == 0:
            return super().next_some(caller, most)
        some = self._input.next_some(caller, most if self._left < 0 else min(most, self._left))
        self._left = self._left - len(some) if some else 0
        return some

    def progress(self) -> str:
        """How many elements are still to be left out."""
        of_input = super().progress()
        return joined_progress(f"{self._skip} more elements are left out first", of_input) if self._skip else of_input

    def state(self) -> State:
        """How many are left, and where the input is."""
        return [self._skip, self._left, self._input.state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        self._skip, self._left, inner = state
        self._input.restore(inner, caller)


class Chain(Source):
    """Datasets one after the other: `source(0)` to `source(count - 1)`, -1 for without end."""

    def __init__(self, sources: Sequence[Source], count: int) -> None:
        self._sources = sources
        self._count = count

    def _at(self, number: int) -> Source:
        return self._sources[number % len(self._sources)]

    @property
    def size(self) -> int | None:
        """All of them together."""
        if len(self._sources) == 1:
            return repeated_size(self._sources[0].size, self._count)
        sizes = [each.size for each in self._sources]
        return None if None in sizes else -1 if -1 in sizes else sum(size or 0 for size in sizes)

    @property
    def rows(self) -> Rows | None:
        """The rows' numbers repeated; of several datasets the rows lie in different arrays."""
        rows = self._sources[0].rows if len(self._sources) == 1 else None
        return None if rows is None else Rows(rows.components, Chain([rows.numbers], self._count))

    @property
    def texts(self) -> Source | None:
        """The texts one after the other."""
        texts = [each.texts for each in self._sources]
        return None if None in texts else Chain([each for each in texts if each is not None], self._count)

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        fused = self._sources[0].repeated(self._count) if iteration.fuses and len(self._sources) == 1 else None
        if fused is not None:
            return fused.iterate(iteration)
        return ChainIterator(lambda number: self._at(number).iterate(iteration), self._count, len(self._sources) == 1)


class ChainIterator(ElementIterator):
    """One dataset after the other.

    Args:
        begin: begins the pass of a number.
        count: how many there are; -1 for without end.
        is_repeated: whether they are the same, so that where one is empty all are.
    """

    def __init__(self, begin: Callable[[int], ElementIterator], count: int, is_repeated: bool) -> None:
        self._begin = begin
        self._count = count
        self._is_repeated = is_repeated
        self._number = 0
        self._is_empty = True
        self._input: ElementIterator | None = None

    @property
    def only_computes(self) -> bool:
        """Whether the present pass does, and no other dataset follows it."""
        is_alike = self._is_repeated or self._number == self._count - 1
        return is_alike and self._input is not None and self._input.only_computes

    def next(self, caller: Caller) -> Element | None:
        """The next element."""
        while self._number != self._count:
            if self._input is None:
                self._input = self._begin(self._number)
            element = self._input.next(caller)
            if element is not None:
                self._is_empty = False
                return element
            self._next_pass()
        return None

    def progress(self) -> str:
        """How far the present pass is."""
        present = self._input
        return "" if present is None else present.progress()

    def next_some(self, caller: Caller, most: int) -> Sequence[Element]:
        """The next elements of the present pass, else of the one that follows."""
        while self._number != self._count:
            if self._input is None:
                self._input = self._begin(self._number)
            some = self._input.next_some(caller, most)
            if some:
                self._is_empty = False
                return some
            self._next_pass()
        return ()

    def _next_pass(self) -> None:
        self.close()
        self._number = self._count if self._is_repeated and self._is_empty else self._number + 1
        self._is_empty = True

    def state(self) -> State:
        """Which pass it is, and where that is."""
        return [self._number, self._is_empty, None if self._input is None else self._input.state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        self.close()
        self._number, self._is_empty, inner = state
        if inner is not None:
            self._input = self._begin(self._number)
            self._input.restore(inner, caller)

    def close(self) -> None:
        """Close the pass that is going on."""
        if self._input is not None:
            self._input.close()
            self._input = None


class Zipped(Source):
    """Elements of several datasets side by side, as long as all have some."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources

    @property
    def size(self) -> int | None:
        """As many as the shortest has."""
        sizes = [each.size for each in self._sources]
        known = [size for size in sizes if size is not None]
        finite = [size for size in known if size >= 0]
        return None if len(known) < len(sizes) else min(finite, default=-1)

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return ZipIterator([each.iterate(iteration) for each in self._sources])


class ZipIterator(ElementIterator):
    """Elements of several iterations side by side."""

    def __init__(self, inputs: list[ElementIterator]) -> None:
        self._inputs = inputs

    @property
    def only_computes(self) -> bool:
        """Whether all inputs do."""
        return all(each.only_computes for each in self._inputs)

    def next(self, caller: Caller) -> Element | None:
        """The next element."""
        parts: list[Array] = []
        for each in self._inputs:
            element = each.next(caller)
            if element is None:
                self.close()
                self._inputs = []
                return None
            parts.extend(element)
        return tuple(parts) if self._inputs else None

    def state(self) -> State:
        """Where all of them are; an empty list behind the end."""
        return [each.state() for each in self._inputs]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        if not state:
            self.close()
            self._inputs = []
        for each, inner in zip(self._inputs, state, strict=True):
            each.restore(inner, caller)

    def close(self) -> None:
        """Close all inputs."""
        for each in self._inputs:
            each.close()


class Optimized(Source):
    """A dataset as the optimizations make it that change the order of its elements; the others are how it runs anyway."""

    def __init__(self, source: Source, fuses: bool) -> None:
        self._source = source
        self._fuses = fuses

    @property
    def size(self) -> int | None:
        """As many as there are."""
        return self._source.size

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        iteration.fuses = self._fuses
        return self._source.iterate(iteration)


@dataset_op("OptimizeDataset", "input_dataset: variant, optimizations: string")
def optimize_dataset(
    ctx: OpContext, input_dataset: Array, optimizations: Array, *, output_types: list[DType], output_shapes: list[Dims],
    optimization_configs: list[str] = [],  # noqa: B006 - a declaration
) -> Source:  # fmt: skip
    """A dataset with optimizations: `scalar variant, [n] string -> scalar variant`."""
    return Optimized(source_of(input_dataset), b"shuffle_and_repeat_fusion" in optimizations.tolist())


@dataset_op("ModelDataset", "input_dataset: variant")
def model_dataset(
    ctx: OpContext, input_dataset: Array, *, algorithm: int = 0, cpu_budget: int = 0, output_types: list[DType],
    output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """A dataset that tunes itself, which here none has to: `scalar variant -> scalar variant`."""
    return source_of(input_dataset)


@dataset_op("TakeDataset", "input_dataset: variant, count: int64")
def take_dataset(
    ctx: OpContext, input_dataset: Array, count: Array, *, output_types: list[DType], output_shapes: list[Dims]
) -> Source:
    """The first elements; all for a negative count: `scalar variant, scalar int64 -> scalar variant`."""
    return Part(source_of(input_dataset), count=max(int(count), -1))


@dataset_op("SkipDataset", "input_dataset: variant, count: int64")
def skip_dataset(
    ctx: OpContext, input_dataset: Array, count: Array, *, output_types: list[DType], output_shapes: list[Dims]
) -> Source:
    """The elements behind the first; none for a negative count: `scalar variant, scalar int64 -> scalar variant`."""
    if int(count) < 0:
        return Part(source_of(input_dataset), count=0)
    return Part(source_of(input_dataset), first=int(count))


@dataset_op("ShardDataset", "input_dataset: variant, num_shards: int64, index: int64")
def shard_dataset(
    ctx: OpContext, input_dataset: Array, num_shards: Array, index: Array, *, require_non_empty: bool = False,
    output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """Every `num_shards`-th element: `scalar variant, scalar int64, scalar int64 -> scalar variant`."""
    shards, place = int(num_shards), int(index)
    if shards < 1:
        raise InvalidArgumentError.of(f"Number of shards must be greater than zero (currently num_shards = {shards}).")
    if not 0 <= place < shards:
        raise InvalidArgumentError.of(f"Index must be between 0 and {shards - 1} (currently index = {place}).")
    return Part(source_of(input_dataset), first=place, step=shards)


@dataset_op("RepeatDataset", "input_dataset: variant, count: int64")
def repeat_dataset(
    ctx: OpContext, input_dataset: Array, count: Array, *, output_types: list[DType], output_shapes: list[Dims]
) -> Source:
    """The elements `count` times, without end for a negative one: `scalar variant, scalar int64 -> scalar variant`."""
    return Chain([source_of(input_dataset)], max(int(count), -1))


@dataset_op("ConcatenateDataset", "input_dataset: variant, another_dataset: variant")
def concatenate_dataset(
    ctx: OpContext, input_dataset: Array, another_dataset: Array, *, output_types: list[DType], output_shapes: list[Dims]
) -> Source:
    """One dataset after the other: `scalar variant, scalar variant -> scalar variant`."""
    return Chain([source_of(input_dataset), source_of(another_dataset)], 2)


@dataset_op("ZipDataset", "input_datasets: N*variant", limits={"N": 1})
def zip_dataset(
    ctx: OpContext, input_datasets: Sequence[Array], *, output_types: list[DType], output_shapes: list[Dims]
) -> Source:
    """Elements side by side: `n*scalar variant -> scalar variant`."""
    return Zipped([source_of(each) for each in input_datasets])
