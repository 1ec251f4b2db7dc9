"""BeamSearchDecoder: at each step the best continuations of some best beginnings, for each sequence of a batch."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from weft.framework.building.aliases import Nest, SizeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.models.layers.layer import Layer
from weft.models.rnn.cell import assert_like_rnn_cell
from weft.models.seq2seq.beam_layout import BeamLayout
from weft.models.seq2seq.beam_scores import attention_seen, only_end_after_end, scored
from weft.models.seq2seq.decoder import Decoder
from weft.models.seq2seq.tokens import check_tokens, looked_up
from weft.ops.array.constant import constant
from weft.ops.array.filling import fill, one_hot, zeros
from weft.ops.array.gather_scatter import gather
from weft.ops.array.shape_ops import expand_dims, reshape, shape, size
from weft.ops.array.tiling import tile
from weft.ops.array.topk import top_k
from weft.ops.control_flow.cond import cond
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, logical_not, logical_or
from weft.ops.math.division import floor_div, floor_mod
from weft.ops.math.elementwise import add, mul
from weft.ops.math.reduce_functions import reduce_all, reduce_max
from weft.ops.nn.beam_search import gather_tree
from weft.ops.nn.softmax import log_softmax

# Of TensorFlow's taking of beams `[batch, beams]`, by which later seeds go.
_REORDERED: Final = 20


class BeamSearchDecoderState(NamedTuple):
    """The state of a search: the cell's, and of each beam its probability's logarithm, whether it ended, and its length.

    Args:
        cell_state: the cell's state, with a dimension of beams after the batch.
        log_probs: `[batch, beams]` of a floating dtype.
        finished: `[batch, beams]` bool.
        lengths: `[batch, beams]` int64.
        accumulated_attention_probs: the sums of attention's weights, or `()`.
    """

    cell_state: Nest
    log_probs: Tensor
    finished: Tensor
    lengths: Tensor
    accumulated_attention_probs: Nest


class BeamSearchDecoderOutput(NamedTuple):
    """What a step found, `[batch, beams]` each: scores, classes, and the beams that these continue.

    Args:
        scores: `[batch, beams]` float32.
        predicted_ids, parent_ids: `[batch, beams]` int32.
    """

    scores: Nest
    predicted_ids: Nest
    parent_ids: Nest


class FinalBeamSearchDecoderOutput(NamedTuple):
    """The sequences `[batch, steps, beams]` that a search found, the best beam first, and what its steps found.

    Args:
        predicted_ids: the sequences, int32.
        beam_search_decoder_output: what the steps found, `[batch, steps, beams]` each.
    """

    predicted_ids: Nest
    beam_search_decoder_output: BeamSearchDecoderOutput


class BeamSearchDecoder(Decoder):
    """A decoder that keeps the best beams of each sequence.

    What an AttentionWrapper attends to, and the encoder's last state, must be tiled by `tile_batch`; the wrapper's
    `zero_state` is that of `batch * beam_width`.

    Args:
        cell: the cell; it is called with `batch * beam_width` inputs.
        embedding: a function of ids, or a table, or parts of one.
        start_tokens: `[batch]` ids of the first inputs.
        end_token: the id that ends a sequence.
        initial_state: the cell's first state, for `batch * beam_width`.
        beam_width: how many beams each sequence has.
        output_layer: a layer of the cell's outputs, such as logits, or None.
        length_penalty_weight: how much the length of a sequence counts for its score; nothing at 0.
        coverage_penalty_weight: how much steps of the memory that were not attended to count; nothing at 0.
        reorder_tensor_arrays: whether the TensorArrays of the last state are stacked, in the order of the last beams.

    Raises:
        TypeError: the cell, or the layer, is none. ValueError: `start_tokens` is no vector, `end_token` no scalar, or the
            state is not that of so many beams.
    """

    def __init__(
        self, cell: Nest, embedding: Nest, start_tokens: TensorLike, end_token: TensorLike, initial_state: Nest,
        beam_width: int, output_layer: Layer | None = None, length_penalty_weight: TensorLike = 0.0,
        coverage_penalty_weight: TensorLike = 0.0, reorder_tensor_arrays: bool = True,
    ) -> None:  # fmt: skip
        assert_like_rnn_cell("cell", cell)
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(
                f"output_layer must be a Layer, received: {type(output_layer)}. tf.layers.Dense(units) is one, "
                "tf.layers.dense a function that calls one."
            )
        self._cell, self._output_layer, self._width = cell, output_layer, beam_width
        self._weights = length_penalty_weight, coverage_penalty_weight
        self._sorts_arrays = reorder_tensor_arrays
        self._embedding_fn = looked_up(embedding)
        tokens = convert_to_tensor(start_tokens, dtypes.int32, name="start_tokens")
        self._end_token = convert_to_tensor(end_token, dtypes.int32, name="end_token")
        check_tokens(tokens, self._end_token)
        self._batch_size = size(tokens)
        self._layout = BeamLayout(self._batch_size, beam_width)
        self._first_state = nest.map_structure(self._layout.split, initial_state, cell.state_size)
        self._dtype = nest.flatten(self._first_state)[0].dtype.base_dtype
        self._start_inputs = self._embedding_fn(tile(expand_dims(tokens, 1), [1, beam_width]))
        self._first_finished = one_hot(self._first_beam(), beam_width, False, True, dtype=dtypes.bool)

    def _first_beam(self) -> Tensor:
        """The one beam of each sequence that counts at first: all are alike then."""
        return zeros([self._batch_size], dtypes.int32)

    @property
    def batch_size(self) -> SizeLike:
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        # A beam that ended may give its place to one that did not.
        return True

    @property
    def output_size(self) -> Nest:
        each = TensorShape([self._width])
        return BeamSearchDecoderOutput(each, each, each)

    @property
    def output_dtype(self) -> Nest:
        return BeamSearchDecoderOutput(self._dtype, dtypes.int32, dtypes.int32)

    def initialize(self, name: str | None = None) -> Nest:
        first, certain, impossible = self._first_beam(), constant(0.0, self._dtype), constant(-math.inf, self._dtype)
        log_probs = one_hot(first, self._width, certain, impossible, dtype=self._dtype)
        seen = attention_seen(self._first_state, self._weights[1])
        state = BeamSearchDecoderState(
            self._first_state, log_probs, self._first_finished, zeros([self._batch_size, self._width], dtypes.int64),
            () if seen is None else seen,
        )  # fmt: skip
        return self._first_finished, self._start_inputs, state

    def step(self, time: Tensor, inputs: Nest, state: Nest, name: str | None = None) -> Nest:
        with input_scope(name, "BeamSearchDecoderStep", (time,)):
            layout = self._layout
            merged = nest.map_structure(lambda each: layout.merge(each, each.shape[2:]), inputs)
            cell_state = nest.map_structure(layout.merge, state.cell_state, self._cell.state_size)
            outputs, next_cell_state = self._cell(merged, cell_state)
            logits = layout.split(outputs, outputs.shape[1:])
            next_cell_state = nest.map_structure(layout.split, next_cell_state, self._cell.state_size)
            if self._output_layer is not None:
                logits = self._output_layer(logits)
            found, next_state = self._searched(logits, next_cell_state, state)
            next_inputs = cond(
                reduce_all(next_state.finished), lambda: self._start_inputs, lambda: self._embedding_fn(found.predicted_ids)
            )
        return found, next_state, next_inputs, next_state.finished

    def _searched(
        self, logits: Tensor, cell_state: Nest, state: BeamSearchDecoderState
    ) -> tuple[BeamSearchDecoderOutput, BeamSearchDecoderState]:
        """The best continuations of the beams, and the state that these leave."""
        going = logical_not(state.finished)
        log_probs = add(
            expand_dims(state.log_probs, 2), only_end_after_end(log_softmax(logits), self._end_token, state.finished)
        )
        seen = attention_seen(cell_state, self._weights[1])
        if seen is not None:
            seen = add(state.accumulated_attention_probs, mul(seen, expand_dims(cast(going, dtypes.float32), 2)))
        scores = scored(log_probs, self._lengths(logits, state), *self._weights, state.finished, seen)
        flat: list[Tensor | int] = [self._batch_size, -1]
        best, places = top_k(reshape(scores, flat), self._width)
        for tensor in (best, places):
            tensor.set_shape([self._layout.static_batch_size, self._width])
        classes = _classes(logits)
        nodes = get_default_graph().node_count
        with nodes.as_many_as(_REORDERED):
            taken = gather(reshape(log_probs, flat), places, axis=1, batch_dims=1)
        ids = floor_mod(places, classes)
        with nodes.as_many_as(5):
            parents = floor_div(places, classes)
        ended_before = self._layout.reordered(state.finished, parents, _REORDERED)
        ended = logical_or(ended_before, equal(ids, self._end_token))
        lengths = add(self._layout.reordered(state.lengths, parents, _REORDERED), cast(logical_not(ended_before), dtypes.int64))
        next_state = BeamSearchDecoderState(
            nest.map_structure(lambda each: self._layout.reordered(each, parents, _REORDERED + 3), cell_state),
            taken, ended, lengths, () if seen is None else self._layout.reordered(seen, parents, _REORDERED + 3),
        )  # fmt: skip
        for tensor in next_state[1:4]:
            tensor.set_shape([self._layout.static_batch_size, self._width])
        return BeamSearchDecoderOutput(best, ids, parents), next_state

    def _lengths(self, logits: Tensor, state: BeamSearchDecoderState) -> Tensor:
        """How long each continuation would be, `[batch, beams, classes]`: the end token and what follows it add nothing."""
        with get_default_graph().node_count.as_many_as(16):
            tokens = fill([self._batch_size, self._width], self._end_token)
            adds = one_hot(tokens, _classes(logits), 0, 1, dtype=dtypes.int64)
            going = cast(logical_not(state.finished), dtypes.int64)
            return add(mul(adds, expand_dims(going, 2)), expand_dims(state.lengths, 2))

    def finalize(self, outputs: Nest, final_state: Nest, sequence_lengths: Tensor) -> Nest:
        lengths = cast(reduce_max(final_state.lengths, axis=1), dtypes.int32)
        ids = gather_tree(outputs.predicted_ids, outputs.parent_ids, lengths, self._end_token)
        if self._sorts_arrays:
            cell_state = nest.map_structure(
                lambda each: self._layout.sorted_array(each, outputs.parent_ids, final_state.lengths), final_state.cell_state
            )
            final_state = final_state._replace(cell_state=cell_state)
        return FinalBeamSearchDecoderOutput(ids, outputs), final_state


def _classes(logits: Tensor) -> SizeLike:
    known = logits.shape[-1].value
    return shape(logits)[-1] if known is None else known
