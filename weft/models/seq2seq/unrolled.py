"""Decoders with a node of their own for each step: contrib.legacy_seq2seq's, and the models of an encoder and one of them.

The models are those of Sutskever, Vinyals and Le, "Sequence to Sequence Learning with Neural Networks" (arXiv:1409.3215).
Sequences are lists of tensors, one for each step.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence

from weft.framework.building.aliases import DTypeLike, Nest, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.rnn.static import static_rnn
from weft.ops.array.identity import stop_gradient
from weft.ops.control_flow.cond import cond
from weft.ops.math.reduce_functions import argmax
from weft.ops.nn.bias import xw_plus_b
from weft.ops.nn.embedding import embedding_lookup
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.scopes import ScopeLike, get_variable_scope
from weft.ops.variables.variable_scope import variable_scope

# Of the output before and the number of the step, the step's input.
LoopFunction = Callable[[Tensor, int], Tensor]
# Weights `[output size, classes]` and biases `[classes]`.
Projection = tuple[TensorLike, TensorLike]
# The outputs of the steps, and the state after the last.
Decoded = tuple[list[Tensor], Nest]


def rnn_decoder(
    decoder_inputs: Iterable[Tensor], initial_state: Nest, cell: Nest, loop_function: LoopFunction | None = None,
    scope: ScopeLike = None,
) -> Decoded:  # fmt: skip
    """The outputs of a cell for each of the inputs, and its last state.

    Args:
        decoder_inputs: `[batch, input size]` for each step.
        initial_state: the first state.
        cell: the cell.
        loop_function: of the output before and the number of the step, the step's input; of `decoder_inputs` only the first
            counts then. The inputs are `decoder_inputs` when None.
        scope: the variable scope, "rnn_decoder" when None.
    """
    with variable_scope(scope or "rnn_decoder"):
        state, outputs = initial_state, list[Tensor]()
        for step, given in enumerate(decoder_inputs):
            each = given
            if loop_function is not None and outputs:
                with variable_scope("loop_function", reuse=True):
                    each = loop_function(outputs[-1], step)
            if step:
                get_variable_scope().reuse_variables()
            output, state = cell(each, state)
            outputs.append(output)
    return outputs, state


def basic_rnn_seq2seq(
    encoder_inputs: Sequence[Tensor], decoder_inputs: Sequence[Tensor], cell: Nest, dtype: DTypeLike = dtypes.float32,
    scope: ScopeLike = None,
) -> Decoded:  # fmt: skip
    """A decoder that begins with an encoder's last state; the two have cells of one kind with variables of their own.

    Args:
        encoder_inputs, decoder_inputs: `[batch, input size]` for each step.
        cell: the decoder's cell, of which the encoder has a copy.
        dtype: the type of the encoder's first state.
        scope: the variable scope, "basic_rnn_seq2seq" when None.
    """
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs: Sequence[Tensor], decoder_inputs: Sequence[Tensor], cell: Nest, loop_function: LoopFunction | None = None,
    dtype: DTypeLike = dtypes.float32, scope: ScopeLike = None,
) -> Decoded:  # fmt: skip
    """A decoder that begins with an encoder's last state; one cell is both, with the same variables.

    Args:
        encoder_inputs, decoder_inputs: `[batch, input size]` for each step.
        cell: the cell.
        loop_function: what makes the decoder's inputs, as in `rnn_decoder`.
        dtype: the type of the encoder's first state.
        scope: the variable scope in "combined_tied_rnn_seq2seq", "tied_rnn_seq2seq" when None.
    """
    with variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def embedding_rnn_decoder(
    decoder_inputs: Sequence[Tensor], initial_state: Nest, cell: Nest, num_symbols: int, embedding_size: int,
    output_projection: Projection | None = None, feed_previous: bool = False, update_embedding_for_previous: bool = True,
    scope: ScopeLike = None,
) -> Decoded:  # fmt: skip
    """`rnn_decoder` for class numbers, whose rows in the table "embedding" are the cell's inputs.

    Args:
        decoder_inputs: `[batch]` class numbers for each step.
        initial_state: the first state.
        cell: the cell.
        num_symbols, embedding_size: how many rows the table has, and their size.
        output_projection: weights `[output size, num_symbols]` and biases, which make scores of classes of an output that is
            fed back; the outputs are the scores when None.
        feed_previous: whether each step but the first gets the likeliest class of the step before.
        update_embedding_for_previous: whether gradients go to the rows of these classes.
        scope: the variable scope, "embedding_rnn_decoder" when None.
    """
    with variable_scope(scope or "embedding_rnn_decoder") as opened:
        check_projection(output_projection, num_symbols, opened.dtype)
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        feed = likeliest_row(embedding, output_projection, update_embedding_for_previous) if feed_previous else None
        rows = (embedding_lookup(embedding, each) for each in decoder_inputs)
        return rnn_decoder(rows, initial_state, cell, loop_function=feed)


def check_projection(projection: Projection | None, num_symbols: int, dtype: DTypeLike | None, weights: bool = True) -> None:
    """ValueError where an output projection does not make scores of so many classes; `weights` tells whether these count."""
    if projection is None:
        return
    if weights:
        convert_to_tensor(projection[0], dtype=dtype).shape.assert_is_compatible_with([None, num_symbols])
    convert_to_tensor(projection[1], dtype=dtype).shape.assert_is_compatible_with([num_symbols])


def likeliest_row(embedding: VariableLike, projection: Projection | None, update_embedding: bool) -> LoopFunction:
    """A loop function: the row in a table of the class that the output before tells as the likeliest.

    Args:
        embedding: the table.
        projection: what makes scores of classes of an output; the output is the scores when None.
        update_embedding: whether gradients go to the table.
    """

    def feed(previous: Tensor, _: int) -> Tensor:
        scores = previous if projection is None else xw_plus_b(previous, *projection)
        row = embedding_lookup(embedding, argmax(scores, 1))
        return row if update_embedding else stop_gradient(row)

    return feed


def decode_by(feed_previous: TensorLike, decode: Callable[[bool], Decoded], like: Nest, steps: int) -> Decoded:
    """What a decoder makes with its own outputs or the given inputs, as a scalar boolean tensor tells in each run.

    Args:
        feed_previous: the tensor.
        decode: builds the decoder, with its own outputs or without; the second time it uses the variables of the first.
        like: the structure of the state.
        steps: how many outputs there are.
    """

    def branch(fed: bool) -> list[Tensor]:
        with variable_scope(get_variable_scope(), reuse=None if fed else True):
            outputs, state = decode(fed)
        return [*outputs, *nest.flatten(state)]

    results = cond(feed_previous, lambda: branch(True), lambda: branch(False))
    return results[:steps], nest.pack_sequence_as(like, results[steps:])
