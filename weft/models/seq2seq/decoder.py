"""Decoders: what makes a sequence step by step, and the loop that runs one until all sequences of a batch are finished."""

from __future__ import annotations

from typing import NamedTuple

from weft.framework.building.aliases import Nest, SizeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nested import nest
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.framework.types.tensor_shape import TensorShape
from weft.models.layers.layer import Layer
from weft.models.rnn.cell import assert_like_rnn_cell, zero_state_tensors
from weft.models.seq2seq.helper import Helper, swapped
from weft.ops.array.constant import constant
from weft.ops.array.filling import fill, zeros_like
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import shape
from weft.ops.control_flow.tensor_array import TensorArray
from weft.ops.control_flow.while_loop import while_loop
from weft.ops.input_scope import input_scope
from weft.ops.math.comparison import less_equal, logical_not, logical_or
from weft.ops.math.reduce_functions import reduce_all
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_scope import variable_scope


class Decoder:
    """What makes a sequence step by step: subclasses give sizes and types, `initialize` and `step`, and perhaps `finalize`."""

    __repr__ = printed("tf.contrib.seq2seq")

    @property
    def batch_size(self) -> SizeLike:
        """How many sequences are made at once."""
        raise NotImplementedError

    @property
    def output_size(self) -> Nest:
        """The sizes of a step's outputs, without the batch."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Nest:
        """The types of a step's outputs."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether what `step` says of finished sequences stands alone, and is not added to what it said before."""
        return False

    def initialize(self, name: str | None = None) -> Nest:
        """Which sequences are finished, the first inputs, and the first state."""
        raise NotImplementedError

    def step(self, time: Tensor, inputs: Nest, state: Nest, name: str | None = None) -> Nest:
        """The outputs, the next state, the next inputs, and which sequences are finished.

        Args:
            time: the number of the step, a scalar int32.
            inputs: the step's inputs.
            state: the state after the step before.
        """
        raise NotImplementedError

    def finalize(self, outputs: Nest, final_state: Nest, sequence_lengths: Tensor) -> Nest:
        """The outputs of all steps, and the last state, as `dynamic_decode` returns them.

        Args:
            outputs: those of all steps.
            final_state: the state after the last.
            sequence_lengths: how many steps each sequence has, `[batch]` int32.
        """
        raise NotImplementedError


class BasicDecoderOutput(NamedTuple):
    """What a BasicDecoder makes at each step: what the cell, or the layer after it, returned, and what the helper sampled.

    Args:
        rnn_output: the outputs.
        sample_id: the samples.
    """

    rnn_output: Nest
    sample_id: Nest


class BasicDecoder(Decoder):
    """A cell whose outputs a helper makes the next inputs of.

    Args:
        cell: the cell.
        helper: gives the inputs.
        initial_state: the cell's first state.
        output_layer: a layer of the cell's outputs, such as logits, or None.

    Raises:
        TypeError: `helper` is no Helper, or `output_layer` no Layer.
    """

    def __init__(self, cell: Nest, helper: Helper, initial_state: Nest, output_layer: Layer | None = None) -> None:
        assert_like_rnn_cell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(
                f"output_layer must be a Layer, received: {type(output_layer)}. tf.layers.Dense(units) is one, "
                "tf.layers.dense a function that calls one."
            )
        self._cell, self._helper, self._initial_state, self._output_layer = cell, helper, initial_state, output_layer

    @property
    def batch_size(self) -> SizeLike:
        return self._helper.batch_size

    @property
    def output_size(self) -> Nest:
        size: Nest = self._cell.output_size
        if self._output_layer is not None:
            size = TensorShape([self._output_layer.units])  # type: ignore[attr-defined]
        return BasicDecoderOutput(size, self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> Nest:
        dtype = nest.flatten(self._initial_state)[0].dtype.base_dtype
        return BasicDecoderOutput(
            nest.map_structure(lambda _: dtype, self.output_size.rnn_output), self._helper.sample_ids_dtype
        )

    def initialize(self, name: str | None = None) -> Nest:
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Tensor, inputs: Nest, state: Nest, name: str | None = None) -> Nest:
        with input_scope(name, "BasicDecoderStep", (time,)):
            outputs, cell_state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            samples = self._helper.sample(time=time, outputs=outputs, state=cell_state)
            finished, next_inputs, next_state = self._helper.next_inputs(
                time=time, outputs=outputs, state=cell_state, sample_ids=samples
            )
        return BasicDecoderOutput(outputs, samples), next_state, next_inputs, finished


def dynamic_decode(
    decoder: Decoder, output_time_major: bool = False, impute_finished: bool = False,
    maximum_iterations: TensorLike | None = None, parallel_iterations: int = 32, swap_memory: bool = False,
    scope: ScopeLike = None,
) -> Nest:  # fmt: skip
    """Run a decoder until all sequences are finished.

    Args:
        decoder: the decoder.
        output_time_major: whether the outputs are `[steps, batch, ...]`, not `[batch, steps, ...]`.
        impute_finished: whether a finished sequence keeps its state, and has outputs of zeros.
        maximum_iterations: a scalar, how many steps at most.
        parallel_iterations, swap_memory: see `while_loop`.
        scope: the variable scope, "decoder" when None.

    Returns:
        The outputs of all steps, the last state, and the lengths `[batch]` of the sequences.

    Raises:
        TypeError: `decoder` is none. ValueError: `maximum_iterations` is no scalar.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with variable_scope(scope, "decoder"):
        limit = None
        if maximum_iterations is not None:
            limit = convert_to_tensor(maximum_iterations, dtypes.int32, name="maximum_iterations")
            if limit.shape.ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
        finished, inputs, state = decoder.initialize()
        loop = _Loop(decoder, impute_finished)
        if limit is not None:
            finished = logical_or(finished, less_equal(limit, 0))
        lengths = zeros_like(finished, dtype=dtypes.int32)
        _, arrays, state, _, _, lengths = while_loop(
            lambda time, arrays, state, inputs, finished, lengths: logical_not(reduce_all(finished)), loop.body,
            (constant(0, dtypes.int32), loop.arrays(), state, inputs, finished, lengths),
            parallel_iterations=parallel_iterations, maximum_iterations=limit, swap_memory=swap_memory,
        )  # fmt: skip
        outputs = nest.map_structure(lambda array: array.stack(), arrays)
        if type(decoder).finalize is not Decoder.finalize:
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = nest.map_structure(swapped, outputs)
        return outputs, state, lengths


class _Loop:
    """The body of the loop."""

    def __init__(self, decoder: Decoder, impute: bool) -> None:
        self._decoder, self._impute = decoder, impute
        self._zeros = nest.map_structure(
            lambda size, dtype: zero_state_tensors(size, decoder.batch_size, dtype), decoder.output_size, decoder.output_dtype
        )

    def arrays(self) -> Nest:
        """The arrays for the outputs, empty."""
        batch = self._decoder.batch_size
        known = constant_value(batch) if isinstance(batch, Tensor) else batch

        def array(size: Nest, dtype: Nest) -> TensorArray:
            of_element = None
            if isinstance(size, TensorShape) and size.ndims:
                of_element = (None if known is None else int(known), *size.as_list())
            return TensorArray(dtype, size=0, dynamic_size=True, element_shape=of_element)

        return nest.map_structure(array, self._decoder.output_size, self._decoder.output_dtype)

    def body(self, time: Tensor, arrays: Nest, state: Nest, inputs: Nest, finished: Tensor, lengths: Tensor) -> Nest:
        """One step."""
        outputs, new_state, new_inputs, now = self._decoder.step(time, inputs, state)
        new_finished = now if self._decoder.tracks_own_finished else logical_or(now, finished)
        lengths = where(logical_not(finished), fill(shape(lengths), time + 1), lengths)
        nest.assert_same_structure(state, new_state)
        nest.assert_same_structure(inputs, new_inputs)
        if self._impute:
            outputs = nest.map_structure(lambda made, zero: where(finished, zero, made), outputs, self._zeros)
            new_state = nest.map_structure(lambda new, old: _kept(finished, new, old), new_state, state)
        written = nest.map_structure(lambda array, made: array.write(time, made), arrays, outputs)
        return time + 1, written, new_state, new_inputs, new_finished, lengths


def _kept(finished: Tensor, new: Nest, old: Nest) -> Nest:
    if isinstance(old, TensorArray):
        return new
    new.set_shape(old.shape)
    return new if new.shape.ndims == 0 else where(finished, old, new)
