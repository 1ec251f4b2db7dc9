"""Helpers of scheduled sampling: the next inputs are the data's, or with some probability what the decoder made."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import Nest, SizeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.seq2seq.helper import TrainingHelper, array_of, categories, swapped
from weft.models.seq2seq.tokens import Embedding, looked_up
from weft.ops.array.batch_gather import gather_nd
from weft.ops.array.filling import fill
from weft.ops.array.gather_scatter import scatter_nd
from weft.ops.array.joining import concat
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import shape
from weft.ops.control_flow.cond import cond
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater, less, less_equal, logical_not, logical_or
from weft.ops.math.reduce_functions import reduce_all, reduce_any
from weft.ops.random.functions import random_uniform


def _drawn(probability: Tensor, count: SizeLike, seed: int | None) -> Tensor:
    """Whether each of a batch is chosen, with that probability."""
    nodes = get_default_graph().node_count
    with nodes.as_many_as(32):
        nodes.total += 16
        return less(random_uniform([count], seed=seed, dtype=probability.dtype.base_dtype), probability)


def _checked_probability(probability: TensorLike) -> Tensor:
    tensor = convert_to_tensor(probability, name="sampling_probability")
    if tensor.shape.ndims not in (0, 1):
        raise ValueError(f"sampling_probability must be either a scalar or a vector. saw shape: {tensor.shape}")
    return tensor


def _mixed(
    chosen: Tensor, others: Tensor, make: Callable[[Tensor, Tensor], Tensor], values: Tensor, inputs: Tensor
) -> Tensor:  # fmt: skip
    """What `make` makes of the values that are chosen and of their places, and the inputs at the others'."""
    places = [cast(where(mask), dtypes.int32) for mask in (chosen, others)]
    taken, kept = gather_nd(values, places[0]), gather_nd(inputs, places[1])
    made, sizes = make(taken, places[0]), shape(inputs)
    return scatter_nd(places[0], made, sizes) + scatter_nd(places[1], kept, sizes)


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """The inputs are the data's, or, with some probability, the embedding of what is sampled (Bengio et al. 2015).

    What is sampled is -1 where the data's input is taken.

    Args:
        inputs: (nested) `[batch, steps, ...]`, or `[steps, batch, ...]` with `time_major`.
        sequence_length: `[batch]`, how many steps of each there are.
        embedding: a function of ids, or a table, or parts of one.
        sampling_probability: how likely a sample is taken, a [] or `[batch]` number.
        time_major: whether the steps come first.
        seed, scheduling_seed: the op seeds of the samples, and of the choice.
    """

    def __init__(
        self, inputs: Nest, sequence_length: TensorLike, embedding: Nest, sampling_probability: TensorLike,
        time_major: bool = False, seed: int | None = None, scheduling_seed: int | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        with input_scope(name, "ScheduledEmbeddingSamplingWrapper"):
            self._embedding_fn = looked_up(embedding)
            self._probability = _checked_probability(sampling_probability)
            self._seed, self._scheduling_seed = seed, scheduling_seed
            super().__init__(inputs, sequence_length, time_major, name)

    def sample(self, time: Tensor, outputs: Tensor, state: Nest, name: str | None = None) -> Nest:
        with input_scope(name, "ScheduledEmbeddingTrainingHelperSample", (time, outputs)):
            chosen = _drawn(self._probability, self.batch_size, self._scheduling_seed)
            sampled = categories(outputs, self._seed)
            with get_default_graph().node_count.as_many_as(4):
                return where(chosen, sampled, fill([self.batch_size], -1))

    def next_inputs(self, time: Tensor, outputs: Tensor, state: Nest, sample_ids: Nest, name: str | None = None) -> Nest:
        with input_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", (time,)):
            finished, inputs, state = super().next_inputs(time, outputs, state, sample_ids)

            def with_samples() -> Tensor:
                chosen, others = greater(sample_ids, -1), less_equal(sample_ids, -1)
                return _mixed(chosen, others, lambda ids, places: self._embedding_fn(ids), sample_ids, inputs)

            return finished, cond(reduce_all(finished), lambda: inputs, with_samples), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """The inputs are the data's, or, with some probability, the outputs, or what `next_inputs_fn` makes of them.

    Args:
        inputs: (nested) `[batch, steps, ...]`, or `[steps, batch, ...]` with `time_major`.
        sequence_length: `[batch]`, how many steps of each there are.
        sampling_probability: how likely the outputs are taken, a [] or `[batch]` number.
        time_major: whether the steps come first.
        seed: the op seed of the choice.
        next_inputs_fn: a function of the outputs; they are taken as they are when None.
        auxiliary_inputs: what goes behind each input, the data's or the outputs, along the last dimension: of the structure of
            `inputs`, with the same steps; nothing when None.
        name: the name scope.
    """

    def __init__(
        self, inputs: Nest, sequence_length: TensorLike, sampling_probability: TensorLike, time_major: bool = False,
        seed: int | None = None, next_inputs_fn: Embedding | None = None, auxiliary_inputs: Nest = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        with input_scope(name, "ScheduledOutputTrainingHelper"):
            self._probability = _checked_probability(sampling_probability)
            self._seed, self._next_inputs_fn = seed, next_inputs_fn
            self._auxiliary: Nest = None
            if auxiliary_inputs is not None:
                inputs, auxiliary = (nest.map_structure(convert_to_tensor, each) for each in (inputs, auxiliary_inputs))
                inputs = nest.map_structure(_side_by_side, inputs, auxiliary)
                in_steps = auxiliary if time_major else nest.map_structure(swapped, auxiliary)
                self._auxiliary = nest.map_structure(array_of, in_steps)
            super().__init__(inputs, sequence_length, time_major, name)

    def sample(self, time: Tensor, outputs: Tensor, state: Nest, name: str | None = None) -> Nest:
        with input_scope(name, "ScheduledOutputTrainingHelperSample", (time, outputs)):
            return cast(_drawn(self._probability, self.batch_size, self._seed), dtypes.int32)

    def next_inputs(self, time: Tensor, outputs: Tensor, state: Nest, sample_ids: Nest, name: str | None = None) -> Nest:
        with input_scope(name, "ScheduledOutputTrainingHelperNextInputs", (time,)):
            finished, inputs, state = super().next_inputs(time, outputs, state, sample_ids)
            chosen = cast(sample_ids, dtypes.bool)

            def with_samples() -> Tensor:
                if self._next_inputs_fn is None:
                    return where(chosen, self._completed(outputs, time), inputs)
                return _mixed(chosen, logical_not(chosen), made, outputs, inputs)

            def made(taken: Tensor, places: Tensor) -> Tensor:
                assert self._next_inputs_fn is not None
                completed: Tensor = self._completed(self._next_inputs_fn(taken), time, places)
                return completed

            all_finished, is_none_chosen = reduce_all(finished), logical_not(reduce_any(chosen))
            return finished, cond(logical_or(all_finished, is_none_chosen), lambda: inputs, with_samples), state

    def _completed(self, inputs: Nest, time: Tensor, places: Tensor | None = None) -> Nest:
        """The next inputs with what goes behind them: those of the places, or all."""
        if self._auxiliary is None:
            return inputs
        following = time + 1
        auxiliary = nest.map_structure(lambda array: array.read(following), self._auxiliary)
        if places is not None:
            auxiliary = gather_nd(auxiliary, places)
        return nest.map_structure(_side_by_side, inputs, auxiliary)


def _side_by_side(first: Tensor, second: Tensor) -> Tensor:
    joined: Tensor = concat([first, second], -1)
    return joined
