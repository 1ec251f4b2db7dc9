"""Helpers: what a decoder's next inputs are, from the data or from what it made the step before."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import DTypeLike, Nest, SizeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.printed import printed
from weft.framework.types.tensor_shape import TensorShape
from weft.models.seq2seq.tokens import Embedding, check_tokens, looked_up
from weft.ops.array.filling import fill, zeros_like
from weft.ops.array.shape_ops import reshape, shape, size
from weft.ops.array.transposing import transpose
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.tensor_array import TensorArray
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, greater_equal
from weft.ops.math.division import truediv
from weft.ops.math.reduce_functions import argmax, reduce_all
from weft.ops.random.functions import multinomial


def swapped(tensor: Tensor) -> Tensor:
    """A tensor with its first two dimensions swapped; one of a lower rank as it is."""
    rank = tensor.shape.ndims
    if rank is not None and rank < 2:
        return tensor
    # TensorFlow makes the order by seven nodes; later random nodes get their seeds by the count.
    with get_default_graph().node_count.as_many_as(8):
        made = transpose(tensor, [1, 0, *range(2, rank or 2)])
    dims = tensor.dims
    if dims is not None:
        made.set_shape([dims[1], dims[0], *dims[2:]])
    return made


class Helper:
    """What a BasicDecoder asks: `initialize`, `sample` and `next_inputs`, and the size of the batch and of what is sampled."""

    __repr__ = printed("tf.contrib.seq2seq")

    @property
    def batch_size(self) -> SizeLike:
        """How many sequences are made at once."""
        raise NotImplementedError("batch_size has not been implemented")

    @property
    def sample_ids_shape(self) -> TensorShape:
        """The shape of what is sampled for one sequence: a number."""
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> DType:
        """The type of what is sampled."""
        return dtypes.int32

    def initialize(self, name: str | None = None) -> Nest:
        """Which sequences are finished, and the first inputs."""
        raise NotImplementedError("initialize has not been implemented")

    def sample(self, time: Tensor, outputs: Tensor, state: Nest, name: str | None = None) -> Nest:
        """What is sampled of the outputs.

        Args:
            time: the number of the step, a scalar int32.
            outputs: the cell's outputs, mostly logits `[batch, words]`.
            state: the state after the step.
        """
        raise NotImplementedError("sample has not been implemented")

    def next_inputs(self, time: Tensor, outputs: Tensor, state: Nest, sample_ids: Nest, name: str | None = None) -> Nest:
        """Which sequences are finished, the next inputs and the next state.

        Args:
            time: the number of the step, a scalar int32.
            outputs: the cell's outputs.
            state: the state after the step.
            sample_ids: what `sample` gave.
        """
        raise NotImplementedError("next_inputs has not been implemented")


class CustomHelper(Helper):
    """A helper of three functions: `initialize_fn()`, `sample_fn(time=, outputs=, state=)` and `next_inputs_fn(...)`.

    Args:
        initialize_fn: a function of nothing that gives which sequences are finished, `[batch]` bool, and the first inputs.
        sample_fn: a function that gives the samples of a step.
        next_inputs_fn: a function of `time`, `outputs`, `state` and `sample_ids` that gives which sequences are finished, the
            next inputs and the next state.
        sample_ids_shape: the shape of an example's sample; a scalar when None.
        sample_ids_dtype: its dtype, int32 when None.
    """

    def __init__(
        self, initialize_fn: Callable[..., Nest], sample_fn: Callable[..., Nest], next_inputs_fn: Callable[..., Nest],
        sample_ids_shape: Nest = None, sample_ids_dtype: DTypeLike | None = None,
    ) -> None:  # fmt: skip
        self._initialize_fn, self._sample_fn, self._next_inputs_fn = initialize_fn, sample_fn, next_inputs_fn
        self._batch_size: SizeLike | None = None
        self._shape = TensorShape(sample_ids_shape or [])
        self._dtype = dtypes.as_dtype(sample_ids_dtype or dtypes.int32)

    @property
    def batch_size(self) -> SizeLike:
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        return self._shape

    @property
    def sample_ids_dtype(self) -> DType:
        return self._dtype

    def initialize(self, name: str | None = None) -> Nest:
        with input_scope(name, "CustomHelperInitialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = size(finished)
            return finished, inputs

    def sample(self, time: Tensor, outputs: Tensor, state: Nest, name: str | None = None) -> Nest:
        with input_scope(name, "CustomHelperSample", (time,)):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time: Tensor, outputs: Tensor, state: Nest, sample_ids: Nest, name: str | None = None) -> Nest:
        with input_scope(name, "CustomHelperNextInputs", (time,)):
            return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class TrainingHelper(Helper):
    """The inputs are the data's, whatever is made of them.

    Args:
        inputs: (nested) `[batch, steps, ...]`, or `[steps, batch, ...]` with `time_major`.
        sequence_length: `[batch]`, how many steps of each there are.
        time_major: whether the steps come first.
        name: the name scope.

    Raises:
        ValueError: `sequence_length` is no vector.
    """

    def __init__(self, inputs: Nest, sequence_length: TensorLike, time_major: bool = False, name: str | None = None) -> None:
        with input_scope(name, "TrainingHelper"):
            inputs = nest.map_structure(convert_to_tensor, inputs)
            self.inputs = inputs
            in_steps = inputs if time_major else nest.map_structure(swapped, inputs)
            self._arrays = nest.map_structure(array_of, in_steps)
            self.sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
            if self.sequence_length.shape.ndims != 1:
                raise ValueError(f"Expected sequence_length to be a vector, but received shape: {self.sequence_length.shape}")
            self._zero_inputs = nest.map_structure(lambda each: zeros_like(each[0, :]), in_steps)
            # TensorFlow makes a tensor of the lengths once more; later random nodes get their seeds by the count.
            get_default_graph().node_count.total += not isinstance(sequence_length, Tensor)
            self._batch_size = size(self.sequence_length)

    @property
    def batch_size(self) -> SizeLike:
        return self._batch_size

    def initialize(self, name: str | None = None) -> Nest:
        with input_scope(name, "TrainingHelperInitialize"):
            finished = equal(0, self.sequence_length)
            return finished, self._read(finished, 0)

    def _read(self, finished: Tensor, time: TensorLike) -> Nest:
        return cond(
            reduce_all(finished), lambda: self._zero_inputs,
            lambda: nest.map_structure(lambda array: array.read(time), self._arrays),
        )  # fmt: skip

    def sample(self, time: Tensor, outputs: Tensor, state: Nest, name: str | None = None) -> Nest:
        with input_scope(name, "TrainingHelperSample", (time, outputs)):
            return cast(argmax(outputs, -1), dtypes.int32)

    def next_inputs(self, time: Tensor, outputs: Tensor, state: Nest, sample_ids: Nest, name: str | None = None) -> Nest:
        with input_scope(name, "TrainingHelperNextInputs", (time,)):
            following = time + 1
            finished = greater_equal(following, self.sequence_length)
            return finished, self._read(finished, following), state


def array_of(tensor: Tensor) -> TensorArray:
    """The parts of a tensor along its first dimension."""
    dims = tensor.dims
    array = TensorArray(tensor.dtype.base_dtype, size=shape(tensor)[0], element_shape=None if dims is None else dims[1:])
    return array.unstack(tensor)


def categories(logits: Tensor, seed: int | None) -> Tensor:
    """A class of each row of logits, `[batch]` int32, drawn with their probabilities."""
    # TensorFlow takes any sample shape; the seed goes by the count of nodes before it, and later ones by all.
    count = get_default_graph().node_count
    with count.as_many_as(39):
        count.total += 24
        return cast(reshape(multinomial(logits, 1, seed=seed), [-1]), dtypes.int32)


class GreedyEmbeddingHelper(Helper):
    """The next input is the embedding of the class with the greatest logit.

    Args:
        embedding: a function of ids, or a table, or parts of one.
        start_tokens: `[batch]` ids of the first inputs.
        end_token: the id that ends a sequence.

    Raises:
        ValueError: `start_tokens` is no vector, or `end_token` no scalar.
    """

    def __init__(self, embedding: Nest, start_tokens: TensorLike, end_token: TensorLike) -> None:
        self._embedding_fn = looked_up(embedding)
        self._start_tokens = convert_to_tensor(start_tokens, dtypes.int32, name="start_tokens")
        self._end_token = convert_to_tensor(end_token, dtypes.int32, name="end_token")
        check_tokens(self._start_tokens, self._end_token)
        self._batch_size = size(start_tokens)
        self._start_inputs = self._embedding_fn(self._start_tokens)

    @property
    def batch_size(self) -> SizeLike:
        return self._batch_size

    def initialize(self, name: str | None = None) -> Nest:
        return fill([self._batch_size], False), self._start_inputs

    def sample(self, time: Tensor, outputs: Tensor, state: Nest, name: str | None = None) -> Nest:
        if not isinstance(outputs, Tensor):
            raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
        return argmax(outputs, -1, output_type=dtypes.int32)

    def next_inputs(self, time: Tensor, outputs: Tensor, state: Nest, sample_ids: Nest, name: str | None = None) -> Nest:
        finished = equal(sample_ids, self._end_token)
        inputs = cond(reduce_all(finished), lambda: self._start_inputs, lambda: self._embedding_fn(sample_ids))
        return finished, inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """The next input is the embedding of a class drawn with the logits, divided by `softmax_temperature`.

    Args:
        embedding: a function of ids, or a table, or parts of one.
        start_tokens: `[batch]` ids of the first inputs.
        end_token: the id that ends a sequence.
        softmax_temperature: what logits are divided by; 1 when None.
        seed: the op seed.
    """

    def __init__(
        self, embedding: Nest, start_tokens: TensorLike, end_token: TensorLike,
        softmax_temperature: TensorLike | None = None, seed: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature, self._seed = softmax_temperature, seed

    def sample(self, time: Tensor, outputs: Tensor, state: Nest, name: str | None = None) -> Nest:
        if not isinstance(outputs, Tensor):
            raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
        heat = self._softmax_temperature
        return categories(outputs if heat is None else truediv(outputs, heat), self._seed)


class InferenceHelper(Helper):
    """A helper whose `sample_fn` samples the outputs; the samples, or what `next_inputs_fn` makes of them, are the inputs.

    Args:
        sample_fn: of the outputs, what is sampled.
        sample_shape, sample_dtype: the shape of what is sampled for one sequence, and its type.
        start_inputs: the first inputs `[batch, ...]`.
        end_fn: of what is sampled, which sequences end with it.
        next_inputs_fn: of what is sampled, the next inputs.
    """

    def __init__(
        self, sample_fn: Embedding, sample_shape: Nest, sample_dtype: DTypeLike, start_inputs: TensorLike,
        end_fn: Embedding, next_inputs_fn: Embedding | None = None,
    ) -> None:  # fmt: skip
        self._sample_fn, self._end_fn, self._next_inputs_fn = sample_fn, end_fn, next_inputs_fn
        self._shape, self._dtype = TensorShape(sample_shape), dtypes.as_dtype(sample_dtype)
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")
        self._batch_size = shape(self._start_inputs)[0]

    @property
    def batch_size(self) -> SizeLike:
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        return self._shape

    @property
    def sample_ids_dtype(self) -> DType:
        return self._dtype

    def initialize(self, name: str | None = None) -> Nest:
        return fill([self._batch_size], False), self._start_inputs

    def sample(self, time: Tensor, outputs: Tensor, state: Nest, name: str | None = None) -> Nest:
        return self._sample_fn(outputs)

    def next_inputs(self, time: Tensor, outputs: Tensor, state: Nest, sample_ids: Nest, name: str | None = None) -> Nest:
        inputs = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), inputs, state
