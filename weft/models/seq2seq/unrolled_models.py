"""Models of class numbers to class numbers with a node of their own for each step: contrib.legacy_seq2seq's.

`feed_previous` tells whether a decoder's steps but the first get the likeliest class of the step before, or the inputs that
are given; where it is a tensor both are built, on the same variables, and each run has the one that the tensor tells.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

from weft.framework.building.aliases import DTypeLike, Nest, TensorLike
from weft.framework.nodes.operation import Tensor
from weft.models.rnn.cell import RNNCell
from weft.models.rnn.projections import EmbeddingWrapper, OutputProjectionWrapper
from weft.models.rnn.static import static_rnn
from weft.models.seq2seq.unrolled import (
    Decoded,
    Projection,
    check_projection,
    decode_by,
    embedding_rnn_decoder,
    likeliest_row,
    tied_rnn_seq2seq,
)
from weft.models.seq2seq.unrolled_attention import embedding_attention_decoder
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape
from weft.ops.nn.embedding import embedding_lookup
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_scope import variable_scope


def embedding_rnn_seq2seq(
    encoder_inputs: Sequence[Tensor], decoder_inputs: Sequence[Tensor], cell: Nest, num_encoder_symbols: int,
    num_decoder_symbols: int, embedding_size: int, output_projection: Projection | None = None,
    feed_previous: TensorLike = False, dtype: DTypeLike | None = None, scope: ScopeLike = None,
) -> Decoded:  # fmt: skip
    """An encoder and an `embedding_rnn_decoder` that begins with its last state, with tables and cells of their own.

    Args:
        encoder_inputs, decoder_inputs: `[batch]` class numbers for each step.
        cell: the decoder's cell, of which the encoder has a copy.
        num_encoder_symbols, num_decoder_symbols: how many classes there are on either side.
        embedding_size: the size of the tables' rows.
        output_projection: weights `[output size, num_decoder_symbols]` and biases for what is fed back; a linear layer makes
            scores of classes the outputs when None.
        feed_previous: True, False or a scalar boolean tensor; see above.
        dtype: the type of state and variables; the variable scope's when None.
        scope: the variable scope, "embedding_rnn_seq2seq" when None.
    """
    with variable_scope(scope or "embedding_rnn_seq2seq") as opened:
        if dtype is not None:
            opened.set_dtype(dtype)
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        _, state = static_rnn(encoder, encoder_inputs, dtype=opened.dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(fed: bool, update: bool = False) -> Decoded:
            return embedding_rnn_decoder(
                decoder_inputs, state, cell, num_decoder_symbols, embedding_size, output_projection=output_projection,
                feed_previous=fed, update_embedding_for_previous=update,
            )  # fmt: skip

        if isinstance(feed_previous, bool):
            return decode(feed_previous, update=True)
        return decode_by(feed_previous, decode, state, len(decoder_inputs))


def embedding_tied_rnn_seq2seq(
    encoder_inputs: Sequence[Tensor], decoder_inputs: Sequence[Tensor], cell: Nest, num_symbols: int, embedding_size: int,
    num_decoder_symbols: int | None = None, output_projection: Projection | None = None, feed_previous: TensorLike = False,
    dtype: DTypeLike | None = None, scope: ScopeLike = None,
) -> Decoded:  # fmt: skip
    """`tied_rnn_seq2seq` for class numbers, with one table for both sides.

    Args:
        encoder_inputs, decoder_inputs: `[batch]` class numbers for each step.
        cell: the cell of both sides.
        num_symbols, embedding_size: how many rows the table has, and their size.
        num_decoder_symbols: how many classes the outputs have; `num_symbols` when None.
        output_projection: weights `[output size, num_symbols]` and biases for what is fed back; a linear layer makes scores
            of classes the outputs when None.
        feed_previous: True, False or a scalar boolean tensor; see above.
        dtype: the type of state and variables; the variable scope's when None.
        scope: the variable scope, "embedding_tied_rnn_seq2seq" when None.
    """
    with variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as opened:
        kind = opened.dtype
        check_projection(output_projection, num_symbols, kind)
        embedding = get_variable("embedding", [num_symbols, embedding_size], dtype=kind)
        encoder_rows = [embedding_lookup(embedding, each) for each in encoder_inputs]
        decoder_rows = [embedding_lookup(embedding, each) for each in decoder_inputs]
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_symbols if num_decoder_symbols is None else num_decoder_symbols)

        def decode(fed: bool, update: bool = False) -> Decoded:
            feed = likeliest_row(embedding, output_projection, update) if fed else None
            return tied_rnn_seq2seq(encoder_rows, decoder_rows, cell, loop_function=feed, dtype=kind)

        if isinstance(feed_previous, bool):
            return decode(feed_previous, update=True)
        return decode_by(feed_previous, decode, cell.state_size, len(decoder_inputs))


def embedding_attention_seq2seq(
    encoder_inputs: Sequence[Tensor], decoder_inputs: Sequence[Tensor], cell: Nest, num_encoder_symbols: int,
    num_decoder_symbols: int, embedding_size: int, num_heads: int = 1, output_projection: Projection | None = None,
    feed_previous: TensorLike = False, dtype: DTypeLike | None = None, scope: ScopeLike = None,
    initial_state_attention: bool = False,
) -> Decoded:  # fmt: skip
    """`embedding_rnn_seq2seq` whose decoder looks at the encoder's outputs, as `attention_decoder` does.

    Args:
        encoder_inputs, decoder_inputs: `[batch]` class numbers for each step.
        cell: the decoder's cell, of which the encoder has a copy.
        num_encoder_symbols, num_decoder_symbols: how many classes there are on either side.
        embedding_size: the size of the tables' rows.
        num_heads: how often each step looks.
        output_projection: weights `[output size, num_decoder_symbols]` and biases for what is fed back; a linear layer makes
            scores of classes the outputs when None.
        feed_previous: True, False or a scalar boolean tensor; see above.
        dtype: the type of state and variables; the variable scope's when None.
        scope: the variable scope, "embedding_attention_seq2seq" when None.
        initial_state_attention: whether the first step sees what the encoder's last state looks at; zeros otherwise.
    """
    with variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as opened:
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        encoder_outputs, state = static_rnn(encoder, encoder_inputs, dtype=opened.dtype)
        looked_at = concat([reshape(each, [-1, 1, cell.output_size]) for each in encoder_outputs], 1)
        output_size = None
        if output_projection is None:
            cell, output_size = OutputProjectionWrapper(cell, num_decoder_symbols), num_decoder_symbols

        def decode(fed: bool, update: bool = False) -> Decoded:
            return embedding_attention_decoder(
                decoder_inputs, state, looked_at, cell, num_decoder_symbols, embedding_size, num_heads=num_heads,
                output_size=output_size, output_projection=output_projection, feed_previous=fed,
                update_embedding_for_previous=update, initial_state_attention=initial_state_attention,
            )  # fmt: skip

        if isinstance(feed_previous, bool):
            return decode(feed_previous, update=True)
        return decode_by(feed_previous, decode, state, len(decoder_inputs))


def one2many_rnn_seq2seq(
    encoder_inputs: Sequence[Tensor], decoder_inputs_dict: Mapping[str, Sequence[Tensor]], enc_cell: Nest,
    dec_cells_dict: Mapping[str, Nest], num_encoder_symbols: int, num_decoder_symbols_dict: Mapping[str, int],
    embedding_size: int, feed_previous: TensorLike = False, dtype: DTypeLike | None = None, scope: ScopeLike = None,
) -> tuple[dict[str, list[Tensor]], dict[str, Nest]]:  # fmt: skip
    """One encoder and several decoders that begin with its last state, for tasks that share it (arXiv:1511.06114).

    Args:
        encoder_inputs: `[batch]` class numbers for each step.
        decoder_inputs_dict: by the names of the decoders, `[batch]` class numbers for each step.
        enc_cell: the encoder's cell.
        dec_cells_dict: by the names of the decoders, their cells.
        num_encoder_symbols: how many classes the encoder has.
        num_decoder_symbols_dict: by the names of the decoders, how many classes they have.
        embedding_size: the size of the tables' rows.
        feed_previous: True, False or a scalar boolean tensor; see above.
        dtype: the type of state and variables; the variable scope's when None.
        scope: the variable scope, "one2many_rnn_seq2seq" when None.

    Returns:
        The outputs and the last states, by the names of the decoders.

    Raises:
        TypeError: a cell is none.
        ValueError: the decoders' cells and inputs have not the same names.
    """
    _check_cells(enc_cell, dec_cells_dict, decoder_inputs_dict)
    outputs: dict[str, list[Tensor]] = {}
    states: dict[str, Nest] = {}
    with variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as opened:
        encoder = EmbeddingWrapper(enc_cell, num_encoder_symbols, embedding_size)
        _, state = static_rnn(encoder, encoder_inputs, dtype=opened.dtype)
        for name, inputs in decoder_inputs_dict.items():
            with variable_scope(f"one2many_decoder_{name}"):
                symbols = num_decoder_symbols_dict[name]
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)
                outputs[name], states[name] = _decoded(inputs, state, cell, symbols, embedding_size, feed_previous)
    return outputs, states


def _check_cells(encoder: Nest, decoders: Mapping[str, Nest], inputs: Mapping[str, Sequence[Tensor]]) -> None:
    if not isinstance(encoder, RNNCell):
        raise TypeError(f"enc_cell is not an RNNCell: {type(encoder)}")
    if set(decoders) != set(inputs):
        raise ValueError(
            "keys of dec_cells_dict != keys of decodre_inputs_dict: each decoder needs a cell and inputs by one name, but "
            f"there are cells {sorted(decoders)} and inputs {sorted(inputs)}"
        )
    for cell in decoders.values():
        if not isinstance(cell, RNNCell):
            raise TypeError(f"dec_cell is not an RNNCell: {type(cell)}")


def _decoded(
    inputs: Sequence[Tensor], state: Nest, cell: Nest, symbols: int, embedding_size: int, feed_previous: TensorLike
) -> Decoded:
    def decode(fed: bool) -> Decoded:
        return embedding_rnn_decoder(inputs, state, cell, symbols, embedding_size, feed_previous=fed)

    if isinstance(feed_previous, bool):
        return decode(feed_previous)
    return decode_by(feed_previous, decode, state, len(inputs))
