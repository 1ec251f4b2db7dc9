"""Shuffling: elements in a random order, out of a buffer that is kept full.

The order is TensorFlow's for the same seeds: the same generator, and the same exchange of elements in the buffer. Where a
dataset is shuffled and repeated at once, elements of two passes are in the buffer at a time, those of the earlier one come
out first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data.element import (
    Element,
    ElementIterator,
    Iteration,
    Rows,
    Source,
    State,
    dataset_op,
    joined_progress,
    repeated_size,
    source_of,
)
from weft.ops.data.random_numbers import RandomNumbers, settled_seeds


class Shuffled(Source):
    """A dataset in random order.

    Args:
        source: the elements.
        buffer_size: how many of them one is chosen out of.
        seeds: the generator's.
        is_new_each_time: whether each pass within one iteration has an order of its own.
        count: how often the elements come; -1 for without end.
        origin: the dataset of which this is the same over the numbers of rows, or over texts.
    """

    def __init__(
        self,
        source: Source,
        buffer_size: int,
        seeds: tuple[int, int],
        is_new_each_time: bool,
        count: int = 1,
        origin: Shuffled | None = None,
    ) -> None:
        self._source = source
        self._buffer_size = buffer_size
        self._seeds = seeds
        self._is_new_each_time = is_new_each_time
        self._count = count
        self._origin = origin or self

    @property
    def size(self) -> int | None:
        """As many as there are, times the repetitions."""
        return repeated_size(self._source.size, self._count)

    @property
    def rows(self) -> Rows | None:
        """The same order of the rows' numbers."""
        rows = self._source.rows
        return None if rows is None else Rows(rows.components, self._over(rows.numbers))

    @property
    def texts(self) -> Source | None:
        """The same order of the texts."""
        texts = self._source.texts
        return None if texts is None else self._over(texts)

    def _over(self, source: Source) -> Shuffled:
        return Shuffled(source, self._buffer_size, self._seeds, self._is_new_each_time, self._count, self._origin)

    def repeated(self, count: int) -> Source | None:
        """All passes shuffled by one generator, so that elements of the next pass are there when those of one run out."""
        if not self._is_new_each_time or self._count != 1 or count == 0:
            return None
        return Shuffled(self._source, self._buffer_size, self._seeds, False, count)

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        seeder = None
        if self._is_new_each_time:
            seeder = iteration.kept(self._origin, lambda: RandomNumbers(*self._seeds))
        return ShuffleIterator(lambda: self._source.iterate(iteration), self._buffer_size, self._seeds, seeder, self._count)


class ShuffleIterator(ElementIterator):
    """Elements in random order.

    `_buffer` is a ring; the elements of each pass that it holds lie between two positions in `_passes`, which count on.

    Args:
        begin: begins a pass over the input.
        buffer_size: the size of the ring.
        seeds: the generator's seeds, where there is no seeder.
        seeder: makes the seeds of each iteration; None for the same always.
        count: how many passes there are, -1 for without end.
    """

    def __init__(
        self,
        begin: Callable[[], ElementIterator],
        buffer_size: int,
        seeds: tuple[int, int],
        seeder: RandomNumbers | None,
        count: int,
    ) -> None:
        self._begin = begin
        self._size = buffer_size
        self._seeder = seeder
        self._count = count
        self._random = RandomNumbers(*(seeds if seeder is None else (seeder.next(), seeder.next())))
        self._input: ElementIterator | None = None
        self._is_over = False
        self._passes_done = 0
        self._is_empty_pass = True
        self._buffer: list[Element | None] = []
        self._passes: deque[list[int]] = deque([[0, 0]])
        self._held = 0

    @property
    def only_computes(self) -> bool:
        """Whether the present pass over the input does."""
        return self._is_over or (self._input is not None and self._input.only_computes)

    def next(self, caller: Caller) -> Element | None:
        """The next element."""
        if self._held < self._size and not self._is_over:
            self._fill(caller)
        if not self._held:
            return None
        passes = self._passes
        while passes[0][0] == passes[0][1]:
            passes.popleft()
        first = passes[0]
        start, end = first
        buffer, size = self._buffer, self._size
        index = (start + self._random.next() % (end - start)) % size
        start_index = start % size
        element = buffer[index]
        buffer[index] = buffer[start_index]
        # So that an element goes when nobody else has it.
        buffer[start_index] = None
        first[0] = start + 1
        self._held -= 1
        return element

    def next_some(self, caller: Caller, most: int) -> Sequence[Element]:
        """The next elements: of a full buffer as many as the input gives, one in for one out as `next` does it."""
        size, passes = self._size, self._passes
        while len(passes) > 1 and passes[0][0] == passes[0][1]:
            passes.popleft()
        if self._input is None or self._held != size - 1:
            element = self.next(caller)
            return () if element is None else (element,)
        (start, end), is_lone = passes[0], len(passes) == 1
        coming = self._input.next_some(caller, most if is_lone else min(most, end - start))
        if not coming:
            return super().next_some(caller, most)
        buffer = self._buffer
        if len(buffer) < size:
            buffer.append(None)
        self._is_empty_pass = False
        # Out of how many one is chosen: those of an earlier pass become fewer, as what comes belongs to the last one.
        count = len(coming)
        if count == 1:
            # As maps give them: by numbers of Python it takes 2 us instead of 9 (two cores, December 2026).
            places = [start % size]
            chosen = [(start + self._random.next() % (size if is_lone else end - start)) % size]
        else:
            after = np.arange(count)
            numbers = self._random.next_some(count) % (size if is_lone else end - start - after)
            places, chosen = ((start + after) % size).tolist(), ((start + after + numbers) % size).tolist()
        hole = places[0] - 1
        found: list[Element] = []
        for element, place, index in zip(coming, places, chosen, strict=True):
            buffer[hole] = element
            found.append(buffer[index])  # type: ignore[arg-type]  # an element is in each place that is chosen
            buffer[index] = buffer[place]
            # So that an element goes when nobody else has it.
            buffer[place] = None
            hole = place
        start += count
        passes[0][0] = start
        passes[-1][1] += count
        return found

    def _fill(self, caller: Caller) -> None:
        buffer, size = self._buffer, self._size
        while self._held < size:
            if self._input is None:
                self._input = self._begin()
            some = self._input.next_some(caller, size - self._held)
            last = self._passes[-1]
            if not some:
                if not self._next_pass(last[1]):
                    return
                continue
            for element in some:
                index = last[1] % size
                if index == len(buffer):
                    buffer.append(element)
                else:
                    buffer[index] = element
                last[1] += 1
            self._held += len(some)
            self._is_empty_pass = False

    def _next_pass(self, position: int) -> bool:
        """Begin another pass over the input; whether there is one."""
        assert self._input is not None
        self._input.close()
        self._input = None
        self._passes_done += 1
        # A pass without elements would be followed by others without end.
        if self._is_empty_pass or self._passes_done == self._count:
            self._is_over = True
            return False
        self._is_empty_pass = True
        self._passes.append([position, position])
        return True

    def progress(self) -> str:
        """How full the buffer is, which is filled first."""
        present = self._input
        of_input = "" if present is None else present.progress()
        return joined_progress(f"shuffle has {self._held} of {self._size} elements", of_input)

    def state(self) -> State:
        """The buffer, the generators and where the input is."""
        return {
            "input": None if self._input is None else self._input.state(),
            "over": self._is_over,
            "done": self._passes_done,
            "empty": self._is_empty_pass,
            "buffer": list(self._buffer),
            "passes": [list(each) for each in self._passes],
            "random": [*self._random.seeds, self._random.taken],
            "seeder": None if self._seeder is None else [*self._seeder.seeds, self._seeder.taken],
        }

    def restore(self, state: State, caller: Caller) -> None:
        """Have the buffer and the generators as they were."""
        self.close()
        if state["input"] is not None:
            self._input = self._begin()
            self._input.restore(state["input"], caller)
        self._is_over, self._passes_done, self._is_empty_pass = state["over"], state["done"], state["empty"]
        self._buffer = list(state["buffer"])
        self._passes = deque(list(each) for each in state["passes"])
        self._held = sum(end - start for start, end in self._passes)
        self._random = RandomNumbers(*state["random"])
        if self._seeder is not None:
            self._seeder.go_on(*state["seeder"])

    def close(self) -> None:
        """Close the input."""
        if self._input is not None:
            self._input.close()
            self._input = None


def checked_buffer(buffer_size: Array) -> int:
    if int(buffer_size) < 1:
        raise InvalidArgumentError.of("buffer_size must be greater than zero.")
    return int(buffer_size)


@dataset_op("ShuffleDataset", "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64")
def shuffle_dataset(
    ctx: OpContext, input_dataset: Array, buffer_size: Array, seed: Array, seed2: Array, *,
    reshuffle_each_iteration: bool = True, output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """A dataset in random order.

    `scalar variant, scalar int64, scalar int64, scalar int64 -> scalar variant`
    """
    seeds = settled_seeds(int(seed), int(seed2))
    return Shuffled(source_of(input_dataset), checked_buffer(buffer_size), seeds, reshuffle_each_iteration)


@dataset_op("ShuffleAndRepeatDataset", "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64")
def shuffle_and_repeat_dataset(
    ctx: OpContext, input_dataset: Array, buffer_size: Array, seed: Array, seed2: Array, count: Array, *,
    reshuffle_each_iteration: bool = False, output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """A dataset in random order, again and again; only later TensorFlows say whether the order is new in each iteration.

    `scalar variant, scalar int64, scalar int64, scalar int64, scalar int64 -> scalar variant`
    """
    times = int(count)
    if times < -1 or times == 0:
        raise InvalidArgumentError.of("count must be greater than zero or equal to -1.")
    seeds = settled_seeds(int(seed), int(seed2))
    return Shuffled(source_of(input_dataset), checked_buffer(buffer_size), seeds, reshuffle_each_iteration, times)
