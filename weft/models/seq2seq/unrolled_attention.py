"""Decoders with a node of their own for each step that look at an encoder's outputs: contrib.legacy_seq2seq's.

The attention is that of Vinyals et al., "Grammar as a Foreign Language" (arXiv:1412.7449).
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import DTypeLike, Nest, SizeLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.rnn.cell import batch_size_of
from weft.models.rnn.sizes import linear_map
from weft.models.seq2seq.unrolled import Decoded, LoopFunction, Projection, check_projection, likeliest_row
from weft.ops.array.filling import zeros
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.array.stacking import stack
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import add, mul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import tanh
from weft.ops.nn.conv import conv2d
from weft.ops.nn.embedding import embedding_lookup
from weft.ops.nn.softmax import softmax
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.scopes import ScopeLike, get_variable_scope
from weft.ops.variables.variable_scope import variable_scope


class _Heads:
    """The heads that look at states `[batch, length, size]`; the query of each has the states' size."""

    def __init__(self, states: Tensor, count: int, dtype: DTypeLike) -> None:
        self._dtype = dtype
        self._length: SizeLike = batch_size_of(states, axis=1)
        self.size = int(states.shape[2])
        self._hidden = reshape(states, [-1, self._length, 1, self.size])
        self._features: list[Tensor] = []
        self._vectors: list[VariableLike] = []
        for head in range(count):
            kernel = get_variable(f"AttnW_{head}", [1, 1, self.size, self.size], dtype=dtype)
            self._features.append(conv2d(self._hidden, kernel, [1, 1, 1, 1], "SAME"))
            self._vectors.append(get_variable(f"AttnV_{head}", [self.size], dtype=dtype))

    def unseen(self, batch: Tensor) -> list[Tensor]:
        """What the heads see before the first step: zeros."""
        made = [zeros(stack([batch, self.size]), dtype=self._dtype) for _ in self._vectors]
        for each in made:
            each.set_shape([None, self.size])
        return made

    def __call__(self, state: Nest) -> list[Tensor]:
        """What each head sees with a state of the cell: `[batch, size]`."""
        query = concat(nest.flatten(state), 1) if nest.is_nested(state) else state
        seen = []
        for head, (features, vector) in enumerate(zip(self._features, self._vectors, strict=True)):
            with variable_scope(f"Attention_{head}"):
                asked = cast(reshape(linear_map([query], self.size, bias=True), [-1, 1, 1, self.size]), self._dtype)
                scores = reduce_sum(mul(vector, tanh(add(features, asked))), [2, 3])
                weights = cast(softmax(cast(scores, dtypes.float32)), self._dtype)
                read = reduce_sum(mul(reshape(weights, [-1, self._length, 1, 1]), self._hidden), [1, 2])
                seen.append(reshape(read, [-1, self.size]))
        return seen


def attention_decoder(
    decoder_inputs: Sequence[Tensor], initial_state: Nest, attention_states: Tensor, cell: Nest, output_size: int | None = None,
    num_heads: int = 1, loop_function: LoopFunction | None = None, dtype: DTypeLike | None = None, scope: ScopeLike = None,
    initial_state_attention: bool = False,
) -> Decoded:  # fmt: skip
    """`rnn_decoder` whose steps look at an encoder's outputs with the cell's state, and see them with the next input.

    Args:
        decoder_inputs: `[batch, input size]` for each step.
        initial_state: the first state.
        attention_states: `[batch, length, size]`, what is looked at.
        cell: the cell.
        output_size: the size of the outputs; the cell's when None.
        num_heads: how often each step looks.
        loop_function: what makes the inputs, as in `rnn_decoder`.
        dtype: the type of the variables; the variable scope's when None.
        scope: the variable scope, "attention_decoder" when None.
        initial_state_attention: whether the first step sees what the first state looks at; zeros otherwise.

    Raises:
        ValueError: there is no input or no head, or a size is not known.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.shape[2].value is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    output_size = cell.output_size if output_size is None else output_size
    with variable_scope(scope or "attention_decoder", dtype=dtype) as opened:
        dtype = opened.dtype
        batch = shape(decoder_inputs[0])[0]
        heads = _Heads(attention_states, num_heads, dtype)
        seen = heads.unseen(batch)
        if initial_state_attention:
            seen = heads(initial_state)
        state, outputs = initial_state, list[Tensor]()
        for step, given in enumerate(decoder_inputs):
            if step:
                get_variable_scope().reuse_variables()
            each = given
            if loop_function is not None and outputs:
                with variable_scope("loop_function", reuse=True):
                    each = loop_function(outputs[-1], step)
            cell_output, state = cell(_mixed(each, seen, dtype), state)
            # The heads' variables exist from the first state on where that was looked with.
            with variable_scope(get_variable_scope(), reuse=True if initial_state_attention else None):
                seen = heads(state)
            with variable_scope("AttnOutputProjection"):
                parts = [cast(cell_output, dtype), *seen]
                outputs.append(linear_map(parts, output_size, bias=True))
    return outputs, state


def _mixed(given: Tensor, seen: Sequence[Tensor], dtype: DTypeLike) -> Tensor:
    """The cell's input: a step's own and what the step before saw, mixed to the size of the step's own."""
    size = given.shape.with_rank(2)[1].value
    if size is None:
        raise ValueError(f"Could not infer input size from input: {given.name}")
    parts = [cast(each, dtype) for each in (given, *seen)]
    return linear_map(parts, size, bias=True)


def embedding_attention_decoder(
    decoder_inputs: Sequence[Tensor], initial_state: Nest, attention_states: Tensor, cell: Nest, num_symbols: int,
    embedding_size: int, num_heads: int = 1, output_size: int | None = None, output_projection: Projection | None = None,
    feed_previous: bool = False, update_embedding_for_previous: bool = True, dtype: DTypeLike | None = None,
    scope: ScopeLike = None, initial_state_attention: bool = False,
) -> Decoded:  # fmt: skip
    """`attention_decoder` for class numbers, whose rows in the table "embedding" are the inputs.

    Args:
        decoder_inputs: `[batch]` class numbers for each step.
        initial_state, attention_states, cell, num_heads, initial_state_attention: as in `attention_decoder`.
        num_symbols, embedding_size: how many rows the table has, and their size.
        output_size: the size of the outputs; the cell's when None.
        output_projection: weights `[output size, num_symbols]` and biases, which make scores of classes of an output that is
            fed back; the outputs are the scores when None.
        feed_previous: whether each step but the first gets the likeliest class of the step before.
        update_embedding_for_previous: whether gradients go to the rows of these classes.
        dtype: the type of the variables; the variable scope's when None.
        scope: the variable scope, "embedding_attention_decoder" when None.
    """
    output_size = cell.output_size if output_size is None else output_size
    check_projection(output_projection, num_symbols, dtype, weights=False)
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        feed = likeliest_row(embedding, output_projection, update_embedding_for_previous) if feed_previous else None
        rows = [embedding_lookup(embedding, convert_to_tensor(each)) for each in decoder_inputs]
        return attention_decoder(
            rows, initial_state, attention_states, cell, output_size=output_size, num_heads=num_heads,
            loop_function=feed, initial_state_attention=initial_state_attention,
        )  # fmt: skip
