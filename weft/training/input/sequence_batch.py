"""NextQueuedSequenceBatch: the segments of sequences that a step works on, with the states that the steps before left."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.ops.array.gather_scatter import gather
from weft.ops.array.identity import identity
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.data_flow.barrier import Barrier, BarrierElements
from weft.ops.math.comparison import less


class NextQueuedSequenceBatch:
    """A batch of segments; each run that needs a part of it takes the next one. Made by a SequenceQueueingStateSaver.

    Args:
        barrier: what the segments are taken of, and where states go.
        taken: its elements.
        names: the names of the sequences, of the context, and of the states.
        state_component: the number of the first state's component.
    """

    __repr__ = printed("tf.contrib.training", lambda batch: f"states {list(batch.states)}")

    def __init__(
        self, barrier: Barrier, taken: BarrierElements, names: tuple[Sequence[str], Sequence[str], Sequence[str]],
        state_component: int,
    ) -> None:  # fmt: skip
        sequences, context, states = names
        self._barrier = barrier
        self._taken = taken
        self._length, self._total_length, self._next_key, self._sequence, self._sequence_count, *rest = taken.values
        first, second = len(sequences), len(sequences) + len(context)
        self._sequences = OrderedDict(zip(sequences, rest[:first], strict=True))
        self._context = OrderedDict(zip(context, rest[first:second], strict=True))
        self._states = OrderedDict(zip(states, map(identity, rest[second:]), strict=True))
        self._components = {name: state_component + number for number, name in enumerate(states)}
        self._batch_size = reshape(shape(taken.keys), [])

    @property
    def batch_size(self) -> Tensor:
        """How many segments there are, a scalar int32."""
        return self._batch_size

    @property
    def insertion_index(self) -> Tensor:
        """When each sequence came, `[batch]` int64: earlier ones have lower numbers."""
        return self._taken.indices

    @property
    def key(self) -> Tensor:
        """The segments' keys, `[batch]` string: "00001_of_00003:KEY"."""
        return self._taken.keys

    @property
    def next_key(self) -> Tensor:
        """The keys of the segments that follow, `[batch]` string; "STOP:KEY" behind the last."""
        return self._next_key

    @property
    def sequence(self) -> Tensor:
        """Which segment of its sequence each is, `[batch]` int32."""
        return self._sequence

    @property
    def sequence_count(self) -> Tensor:
        """How many segments each sequence has, `[batch]` int32."""
        return self._sequence_count

    @property
    def length(self) -> Tensor:
        """How many steps of each segment are no padding, `[batch]` int32."""
        return self._length

    @property
    def total_length(self) -> Tensor:
        """How many steps each whole sequence has, `[batch]` int32."""
        return self._total_length

    @property
    def sequences(self) -> Mapping[str, Tensor]:
        """The segments by name, `[batch, num_unroll, ...]`."""
        return self._sequences

    @property
    def context(self) -> Mapping[str, Tensor]:
        """What belongs to the whole sequences, by name, `[batch, ...]`."""
        return self._context

    @property
    def states(self) -> Mapping[str, Tensor]:
        """The states by name, `[batch, ...]`."""
        return self._states

    def state(self, state_name: str) -> Tensor:
        """The state that the segment before left, or the initial one; `[batch, ...]`.

        Args:
            state_name: the state's name; KeyError for another.
        """
        return self._states[state_name]

    def save_state(self, state_name: str, value: TensorLike, name: str | None = None) -> Operation:
        """The operation that gives a state to the segments that follow. Each run needs it for every state.

        Args:
            state_name: the state's name.
            value: `[batch, ...]`.
            name: the name scope.

        Raises:
            KeyError: there is no such state.
            ValueError: the value has another shape.
        """
        if state_name not in self._states:
            raise KeyError(f"state was not declared: {state_name}")
        known = self._states[state_name]
        with get_default_graph().name_scope(name or "InputQueueingStateSaver_SaveState"):
            given = convert_to_tensor(value, dtype=known.dtype, name=f"convert_{state_name}")
            if not given.shape.is_compatible_with(known.shape):
                raise ValueError(
                    f"Shape check failed for {given.name}: Shapes {given.shape} and {known.shape} are not compatible"
                )
            follows = reshape(where(less(self._sequence + 1, self._sequence_count)), [-1])
            return self._barrier.insert_many(
                self._components[state_name], gather(self._next_key, follows), gather(given, follows)
            )  # fmt: skip


def finished(batch: NextQueuedSequenceBatch) -> Tensor:
    """How many sequences end with the batch, a scalar int32.

    Args:
        batch: the batch.
    """
    return shape(where(less(batch.sequence_count, batch.sequence + 2)), out_type=dtypes.int32)[0]
