"""Maps whose function is called for several elements at a time, on shared threads."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence

from weft.errors import CancelledError, InvalidArgumentError, OpError, OutOfRangeError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.types.attr_value import FunctionName as Function
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data.batching import WholeBatches, checked_size
from weft.ops.data.element import (
    Called,
    Element,
    ElementIterator,
    Iteration,
    Source,
    State,
    dataset_op,
    restored_item,
    saved_item,
    source_of,
)
from weft.ops.data.mapping import MapIterator
from weft.ops.data.pool import POOL, PacedCall, Task


class ParallelMapIterator(MapIterator):
    """The results of a function in the order of its arguments, several of which are made at the same time.

    A function that only computes, and not for long, is called where its results are wanted, as for a plain map. Its kernels are
    so small that they hold the interpreter's lock, so that threads take turns instead of helping each other, and handing an
    element to one costs more than the call: 200 us of CPU against 22 for an image that is cast and scaled, and never less time
    by the clock (two cores, December 2026).
    """

    def __init__(self, input_iterator: ElementIterator, function: Called, count: int, ends_with_input: bool) -> None:
        super().__init__(input_iterator, function, ends_with_input)
        self._count = count
        self._tasks: deque[Task] = deque()
        self._is_over = False
        self._caller: Caller | None = None

    @property
    def only_computes(self) -> bool:
        """Whether the next result is made where it is asked for."""
        return self._pace.is_quick and not self._tasks and super().only_computes

    def next(self, caller: Caller) -> Element | None:
        """The next result."""
        if not self._held and not self._pace.is_quick:
            self._fill(caller)
        if not self._tasks:
            return None if self._is_over else super().next(caller)
        task = self._tasks.popleft()
        try:
            made = task.result(caller)
        except OutOfRangeError as error:
            self._ended(error)
            return None
        return None if made is None else tuple(made)

    def next_some(self, caller: Caller, most: int) -> Sequence[Element]:
        """The next results: side by side where they are made here."""
        if self._tasks or self._is_over or not self._pace.is_quick:
            most = 1
        return super().next_some(caller, most)

    def _ended(self, error: OutOfRangeError) -> None:
        super()._ended(error)
        self._is_over = True
        self._tasks.clear()
        self._held.clear()

    def _fill(self, caller: Caller) -> None:
        if self._caller is None:
            self._caller = caller.apart()
        while len(self._tasks) < self._count and not self._is_over:
            try:
                element = self._take(caller)
            except OpError as error:
                self._tasks.append(failed(error))
                continue
            if element is None:
                self._is_over = True
                return
            task = Task(PacedCall(self._pace, element, self._caller, self._number))
            self._tasks.append(task)
            POOL.submit(task)

    def state(self) -> State:
        """The results that were made and not taken, and where the input is."""
        assert self._caller is not None or not self._tasks
        items = []
        for task in self._tasks:
            try:
                assert self._caller is not None
                made = task.result(self._caller)
                items.append(saved_item(None if made is None else tuple(made), None))
            except OpError as error:
                items.append(saved_item(None, error))
        return [items, self._is_over, super().state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Have the same results."""
        items, self._is_over, inner = state
        super().restore(inner, caller)
        self._tasks = deque(finished(*restored_item(item)) for item in items)

    def close(self) -> None:
        """End the calls that run."""
        self._tasks.clear()
        if self._caller is not None:
            self._caller.cancel(CancelledError.of("The iterator has ended"))
        super().close()


def failed(error: Exception) -> Task:
    """A task that has failed."""
    return finished(None, error)


def finished(element: Element | None, error: Exception | None) -> Task:
    """A task that is done."""

    def outcome() -> list[object] | None:
        if error is not None:
            raise error
        return None if element is None else list(element)

    task = Task(outcome)
    task.run()
    return task


class ParallelMapped(Source):
    """The results of a function, several of which are made at the same time."""

    def __init__(self, source: Source, function: Called, count: int, ends_with_input: bool) -> None:
        self._source = source
        self._function = function
        self._count = count
        self._ends_with_input = ends_with_input

    @property
    def size(self) -> int | None:
        """As many as there are elements."""
        return self._source.size

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return ParallelMapIterator(self._source.iterate(iteration), self._function, self._count, self._ends_with_input)


def calls_at_once(count: Array) -> int:
    """How many calls may run at a time; -1 leaves it to this process. InvalidArgumentError for other numbers below 1."""
    wanted = int(count)
    if wanted == -1:
        return os.cpu_count() or 1
    if wanted < 1:
        raise InvalidArgumentError.of("num_parallel_calls must be greater than zero.")
    return wanted


@dataset_op("ParallelMapDataset", "input_dataset: variant, other_arguments: [Targuments], num_parallel_calls: int32",
            calls=("f",))  # fmt: skip
def parallel_map_dataset(
    ctx: OpContext, input_dataset: Array, other_arguments: Sequence[Array], num_parallel_calls: Array, *, f: Function,
    Targuments: list[DType], output_types: list[DType], output_shapes: list[Dims], use_inter_op_parallelism: bool = True,
    sloppy: bool = False, preserve_cardinality: bool = False,
) -> Source:  # fmt: skip
    """The results of `f` for each element, made in parallel.

    `scalar variant, n*[*argument], scalar int32 -> scalar variant`
    """
    function = Called(ctx, "f", "other_arguments", other_arguments)
    return ParallelMapped(source_of(input_dataset), function, calls_at_once(num_parallel_calls), preserve_cardinality)


@dataset_op("MapAndBatchDataset", "input_dataset: variant, other_arguments: [Targuments], batch_size: int64, "
            "num_parallel_calls: int64, drop_remainder: bool", calls=("f",))  # fmt: skip
def map_and_batch_dataset(
    ctx: OpContext, input_dataset: Array, other_arguments: Sequence[Array], batch_size: Array, num_parallel_calls: Array,
    drop_remainder: Array, *, f: Function, Targuments: list[DType], output_types: list[DType], output_shapes: list[Dims],
    preserve_cardinality: bool = False,
) -> Source:  # fmt: skip
    """Batches of the results of `f`, made in parallel.

    `scalar variant, n*[*argument], scalar int64, scalar int64, scalar bool -> scalar variant`
    """
    function = Called(ctx, "f", "other_arguments", other_arguments)
    count = calls_at_once(num_parallel_calls)
    mapped = ParallelMapped(source_of(input_dataset), function, count, preserve_cardinality)
    return WholeBatches(mapped, checked_size(batch_size), bool(drop_remainder))
