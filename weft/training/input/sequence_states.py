"""SequenceQueueingStateSaver: long sequences cut into segments, whose states go from one step to the next."""

from __future__ import annotations

from collections.abc import Mapping

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.printed import printed
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.identity import identity
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import expand_dims, reshape, shape
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import tile
from weft.ops.control_flow.assertion import assert_that
from weft.ops.control_flow.ordering import group
from weft.ops.data_flow.barrier import Barrier, BarrierElements
from weft.ops.data_flow.queue import FIFOQueue
from weft.ops.math.comparison import equal, less_equal, maximum, minimum
from weft.ops.strings.elementwise import as_string
from weft.ops.strings.parts import string_join
from weft.training.input.sequence_batch import NextQueuedSequenceBatch, finished

Tensors = Mapping[str, TensorLike]


def checked(tensors: Tensors, what: str) -> dict[str, Tensor]:
    """The tensors of a dict by name, in the order of the names.

    Raises:
        TypeError: it is no dict, or a name is no text.
    """
    if not isinstance(tensors, Mapping):
        raise TypeError(f"{what} must be a dictionary")
    kind = what.removeprefix("input_").removeprefix("initial_").removesuffix("s")
    for name in tensors:
        if not isinstance(name, str):
            raise TypeError(f"{kind} key must be string: {name}")
    return {name: convert_to_tensor(tensors[name], name=f"{kind}_{name}") for name in sorted(tensors)}


def scalar(value: TensorLike, dtype: DType, what: str) -> Tensor:
    """A scalar of a type; TypeError for another type, ValueError for another rank."""
    found = convert_to_tensor(value, name=what)
    if found.dtype.base_dtype is not dtype:
        raise TypeError(f"{what} dtype must be {dtype.name}, but received: {found.dtype.base_dtype!r}")
    if found.dims not in ((), None):
        raise ValueError(f"Rank check failed for {found.name}: Shape {found.shape} must have rank 0")
    return found


def _whole_shape(tensor: Tensor, what: str) -> TensorShape:
    if not tensor.shape.is_fully_defined():
        raise ValueError(f"Shape for {what} is not fully defined : {tensor.shape}")
    return tensor.shape


class SequenceQueueingStateSaver:
    """Cuts sequences into segments of `num_unroll` steps, and gives batches of segments with their states.

    `prefetch_op` puts one sequence in, for a QueueRunner; `next_batch` has the segments whose states are there, the oldest
    first. A state is there when the step of the segment before has saved it.

    Args:
        batch_size: how many segments a batch has.
        num_unroll: how many steps a segment has.
        input_length: scalar int32, the steps of the sequence that are no padding.
        input_key: scalar string, a unique key of the sequence.
        input_sequences: tensors `[time, ...]` by name; `time` a multiple of `num_unroll`.
        input_context: tensors that belong to the whole sequence, by name.
        initial_states: the first states by name, without the batch's dimension.
        capacity: how many sequences are in it at most; any number when None.
        allow_small_batch: whether what is left at the end makes smaller batches.
        name: the name scope.

    Raises:
        TypeError: a part is no dict, or a name, the key or the length of another type.
        ValueError: shapes are not known well enough, there is no sequence or no state, or `capacity` is below `batch_size`.
    """

    __repr__ = printed("tf.contrib.training")

    def __init__(
        self, batch_size: TensorLike, num_unroll: int, input_length: TensorLike, input_key: TensorLike,
        input_sequences: Tensors, input_context: Tensors, initial_states: Tensors, capacity: int | None = None,
        allow_small_batch: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        if isinstance(batch_size, int) and capacity is not None and capacity < batch_size:
            raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}")
        if not isinstance(num_unroll, int) or num_unroll < 1:
            raise ValueError(f"num_unroll must be a positive int, got {num_unroll!r}")
        with get_default_graph().name_scope(name or "InputQueueingStateSaver") as scope:
            self._name = scope
            self._batch_size, self._num_unroll, self._small = batch_size, num_unroll, allow_small_batch
            self._length = scalar(input_length, dtypes.int32, "length")
            self._key = scalar(input_key, dtypes.string, "key")
            self._sequences = checked(input_sequences, "input_sequences")
            self._context = checked(input_context, "input_context")
            self._states = checked(initial_states, "initial_states")
            if not self._sequences:
                raise ValueError("must have at least one sequence tensor")
            if not self._states:
                raise ValueError(
                    "initial_states may not be empty: at least one state variable is required to properly enqueue split "
                    "sequences to run in separate iterations"
                )
            self._barrier = self._new_barrier()
            self._room = None if capacity is None else FIFOQueue(capacity, [dtypes.int32], [[]], name="capacity_queue")
            self._prefetch_op = self._prefetch()
            self._next_batch: NextQueuedSequenceBatch | None = None

    @property
    def name(self) -> str:
        """The name scope."""
        return self._name

    @property
    def barrier(self) -> Barrier:
        """The barrier in which segments wait for their states."""
        return self._barrier

    @property
    def batch_size(self) -> TensorLike:
        """How many segments a batch has."""
        return self._batch_size

    @property
    def num_unroll(self) -> int:
        """How many steps a segment has."""
        return self._num_unroll

    @property
    def prefetch_op(self) -> Operation:
        """The operation that puts one sequence in; it waits while there is no room."""
        return self._prefetch_op

    @property
    def next_batch(self) -> NextQueuedSequenceBatch:
        """The next segments; always the same object."""
        if self._next_batch is None:
            with get_default_graph().name_scope(self._name):
                self._next_batch = self._take()
        return self._next_batch

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """The operation that lets no further sequences in.

        Args:
            cancel_pending_enqueues: whether the states of those that are there are refused, too.
            name: the node's name.
        """
        closed = [self._barrier.close(cancel_pending_enqueues)]
        if self._room is not None:
            closed.append(self._room.close(cancel_pending_enqueues))
        return group(*closed, name=name or "SQSSClose")

    # The components of the barrier: length, total length, next key, number, count, sequences, context, states.

    def _new_barrier(self) -> Barrier:
        types = [dtypes.int32, dtypes.int32, dtypes.string, dtypes.int32, dtypes.int32]
        shapes: list[list[int | None]] = [[] for _ in types]
        for name, tensor in self._sequences.items():
            if tensor.dims is None or not tensor.dims:
                raise ValueError(f"Rank check failed for {tensor.name}: sequence {name} needs a time dimension first")
            step = TensorShape(tensor.dims[1:])
            if not step.is_fully_defined():
                raise ValueError(f"Shape for sequence {name} is not fully defined : {tensor.shape}")
            shapes.append([self._num_unroll, *step.as_list()])
        for what, tensors in (("context", self._context), ("state", self._states)):
            shapes += [_whole_shape(tensor, f"{what} {name}").as_list() for name, tensor in tensors.items()]
        types += [
            tensor.dtype.base_dtype for each in (self._sequences, self._context, self._states) for tensor in each.values()
        ]
        return Barrier(types, shapes, name="barrier")

    def _prefetch(self) -> Operation:
        time = shape(next(iter(self._sequences.values())))[0]
        with get_default_graph().control_dependencies(self._checks(time)):
            count = time // self._num_unroll
        places = range_of(count)
        number, total = (as_string(each, width=5, fill="0") for each in (places, count))
        keys = string_join([number, "_of_", total, ":", self._key])
        following = concat([keys[1:], expand_dims(string_join(["STOP:", self._key]), 0)], 0)
        length = maximum(minimum(self._length - places * self._num_unroll, self._num_unroll), 0)

        def each(tensor: Tensor) -> Tensor:
            return tile(expand_dims(tensor, 0), stack([count, *[1] * len(tensor.dims or ())]))

        def cut(tensor: Tensor) -> Tensor:
            return reshape(tensor, concat([stack([count, self._num_unroll]), shape(tensor)[1:]], 0))

        values = [
            length, each(self._length), following, places, each(count), *map(cut, self._sequences.values()),
            *map(each, self._context.values()),
        ]  # fmt: skip
        return self._inserted(keys, values)

    def _inserted(self, keys: Tensor, values: list[Tensor]) -> Operation:
        room = [keys] if self._room is None else [self._room.enqueue(0)]
        with get_default_graph().control_dependencies(room):
            made = [self._barrier.insert_many(number, keys, value) for number, value in enumerate(values)]
        # The first segment is whole by its states, so they come last.
        with get_default_graph().control_dependencies(made):
            for number, state in enumerate(self._states.values(), len(values)):
                made.append(self._barrier.insert_many(number, keys[:1], expand_dims(state, 0)))
        return group(*made)

    def _checks(self, time: Tensor) -> list[Operation]:
        told = f"Tensor {time.name} should be a multiple of: {self._num_unroll}, but saw value: "
        checks = [
            assert_that(equal(time % self._num_unroll, 0), [told, time, ". Consider setting pad=True."]),
            assert_that(
                less_equal(self._length, time),
                ["Input length should be <= than length from sequences:", self._length, " vs. ", time],
            ),
        ]
        for name, tensor in list(self._sequences.items())[1:]:
            own = shape(tensor)[0]
            checks.append(
                assert_that(equal(own, time), [f"Dimension 0 of sequence {name} has value: ", own, " expected ", time])
            )
        return checks

    def _take(self) -> NextQueuedSequenceBatch:
        taken = self._barrier.take_many(self._batch_size, self._small, name="BarrierTakeMany")
        names = tuple(list(each) for each in (self._sequences, self._context, self._states))
        first_state = 5 + len(self._sequences) + len(self._context)

        def batch(found: BarrierElements) -> NextQueuedSequenceBatch:
            return NextQueuedSequenceBatch(self._barrier, found, names, first_state)  # type: ignore[arg-type]

        if self._room is None:
            return batch(taken)
        freed = self._room.dequeue_many(finished(batch(taken)))
        with get_default_graph().control_dependencies([freed]):
            return batch(_after(taken))


def _after(taken: BarrierElements) -> BarrierElements:
    return BarrierElements(identity(taken.indices), identity(taken.keys), list(map(identity, taken.values)))
