"""Attention mechanisms: how much each step of a memory counts for a query (Bahdanau et al. 2014, Luong et al. 2015)."""

from __future__ import annotations

import math
from collections.abc import Callable

from weft.framework.building.aliases import DTypeLike, Nest, SizeLike, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import as_dtype
from weft.framework.types.printed import printed
from weft.models.layers.core import Dense
from weft.models.layers.layer import Layer
from weft.models.rnn.cell import batch_size_of, zero_state_tensors
from weft.ops.array.filling import one_hot, ones, ones_like, zeros
from weft.ops.array.joining import concat
from weft.ops.array.selection import where
from weft.ops.array.sequences import sequence_mask
from weft.ops.array.shape_ops import expand_dims, reshape, shape, squeeze
from weft.ops.array.stacking import stack
from weft.ops.input_scope import input_scope
from weft.ops.math.elementwise import add, mul, square
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import argmax, reduce_sum
from weft.ops.math.unary import rsqrt, tanh
from weft.ops.nn.softmax import softmax
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Constant, Ones, Zeros
from weft.ops.variables.variable_scope import variable_scope

# Of a score `[batch, steps]` and the mechanism's state, the weights of the steps.
Probability = Callable[[Tensor, Nest], Tensor]
# Of the keys and values of a memory, others.
KeyValueFunction = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


class AttentionMechanism:
    """How much each step of a memory counts for a query.

    A call with a query `[batch, depth]` and the mechanism's state returns the weights `[batch, steps]` and the new state.

    Args:
        query_layer, memory_layer: layers that bring queries and memory to one depth; None for none.
        memory: `[batch, steps, ...]`, usually what an encoder returned.
        probability_fn: makes weights of scores.
        memory_sequence_length: `[batch]`, how many steps of each memory there are; all when None.
        check_inner_dims_defined: whether the memory's sizes from the third on must be known.
        score_mask_value: the score of steps that are not there, minus infinity when None.
        custom_key_value_fn: makes other keys and values of those of the memory.
        name: the name scope.

    Raises:
        TypeError: a layer is no Layer, or `probability_fn` no function.
        ValueError: the memory's inner sizes are not known, or it has none for a layer.
    """

    scope_name = ""

    __repr__ = printed("tf.contrib.seq2seq")

    def __init__(
        self, query_layer: Layer | None, memory: TensorLike, probability_fn: Probability,
        memory_sequence_length: TensorLike | None = None, memory_layer: Layer | None = None,
        check_inner_dims_defined: bool = True, score_mask_value: float | None = None,
        custom_key_value_fn: KeyValueFunction | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        for what, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn).__name__}")
        self.query_layer, self.memory_layer = query_layer, memory_layer
        self._probability_of = probability_fn
        self._mask_value = -math.inf if score_mask_value is None else score_mask_value
        self._lengths = None if memory_sequence_length is None else convert_to_tensor(memory_sequence_length)
        with input_scope(name, "BaseAttentionMechanismInit", (memory,)):
            memory = convert_to_tensor(memory, name="memory")
            if memory_layer is not None and memory.shape.ndims is not None and memory.shape.ndims < 3:
                raise ValueError(
                    "Expected memory to be [batch, steps, ...], such as the outputs of an encoder\n"
                    f"  memory: {described(memory)}"
                )
            if check_inner_dims_defined and not memory.shape[2:].is_fully_defined():
                raise ValueError(
                    f"Expected memory {memory.name} to have fully defined inner dims, but saw shape: {memory.shape}"
                )
            # Mechanisms and decoders that programs derive know these two by their names.
            self._values: Tensor = self._masked(memory)
            self._keys: Tensor = self._values if memory_layer is None else memory_layer(self._values)
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self.batch_size = batch_size_of(self.keys, 0)
            self.alignments_size = batch_size_of(self.keys, 1)

    @property
    def keys(self) -> Tensor:
        """What queries are compared with, `[batch, steps, depth]`."""
        return self._keys

    @property
    def values(self) -> Tensor:
        """What the weights are of, `[batch, steps, ...]`."""
        return self._values

    @property
    def dtype(self) -> DTypeLike:
        """The type of the weights."""
        return self.keys.dtype.base_dtype

    @property
    def state_size(self) -> SizeLike:
        """The size of the state, which is that of the weights."""
        return self.alignments_size

    def _masked(self, memory: Tensor) -> Tensor:
        if self._lengths is None:
            return memory
        mask = sequence_mask(self._lengths, maxlen=shape(memory)[1], dtype=memory.dtype.base_dtype)
        rank = memory.shape.ndims or 2
        wide = reshape(mask, concat([shape(mask), ones(rank - 2, dtypes.int32)], 0))
        masked = mul(memory, wide)
        masked.set_shape(memory.shape)
        return masked

    # Mechanisms that programs derive of these call it by this name.
    def _probability_fn(self, score: Tensor, state: Nest) -> Tensor:
        """The weights of scores, of which those count that belong to a step."""
        return self._probability_of(masked_score(score, self._lengths, self._mask_value), state)

    def score(self, query: Tensor) -> Tensor:
        """The scores `[batch, steps]` of a query.

        Args:
            query: the decoder's output of a step, `[batch, depth]`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no score")

    def __call__(self, query: Tensor, state: Nest) -> tuple[Tensor, Nest]:
        """The weights of the steps, and the new state."""
        with variable_scope(None, self.scope_name, [query]):
            alignments = self._probability_fn(self.score(query), state)
        return alignments, alignments

    def initial_alignments(self, batch_size: SizeLike, dtype: DTypeLike) -> Tensor:
        """The weights before the first step: zeros.

        Args:
            batch_size: the batch.
            dtype: the weights' type.
        """
        size = self.alignments_size
        if not isinstance(size, Tensor):
            found: Tensor = zero_state_tensors(size, batch_size, dtype)
            return found
        # TensorFlow puts the shape together by more nodes, and seeds of later random ones go by their count.
        with get_default_graph().node_count.as_many_as(12 if isinstance(batch_size, Tensor) else 10):
            made = zeros(stack([batch_size, size]), dtype)
        made.set_shape([None if isinstance(batch_size, Tensor) else batch_size, None])
        return made

    def initial_state(self, batch_size: SizeLike, dtype: DTypeLike) -> Nest:
        """The state before the first step: the weights.

        Args:
            batch_size: the batch.
            dtype: the weights' type.
        """
        return self.initial_alignments(batch_size, dtype)


def masked_score(score: Tensor, memory_sequence_length: TensorLike | None, score_mask_value: float) -> Tensor:
    """The scores `[batch, steps]`, with a value in the place of those of steps that are not there where lengths are given."""
    if memory_sequence_length is None:
        return score
    # TensorFlow asserts by eleven nodes that no length is 0; later random nodes get their seeds by the count.
    get_default_graph().node_count.total += 11
    mask = sequence_mask(memory_sequence_length, maxlen=shape(score)[1])
    return where(mask, score, mul(ones_like(score), as_dtype(score.dtype).as_numpy_dtype(score_mask_value)))


def _plain(probability_fn: Callable[[Tensor], Tensor] | None) -> Probability:
    function = softmax if probability_fn is None else probability_fn
    return lambda score, _: function(score)


class LuongAttention(AttentionMechanism):
    """Weights by the product of the query and the memory, brought to the query's depth.

    Args:
        num_units: the depth of the queries.
        memory, memory_sequence_length, score_mask_value, custom_key_value_fn, name: as of every mechanism.
        scale: whether a variable "attention_g" multiplies the scores.
        probability_fn: makes weights of scores; softmax when None.
        dtype: the type of the variables.
    """

    scope_name = "luong_attention"

    def __init__(
        self, num_units: int, memory: TensorLike, memory_sequence_length: TensorLike | None = None, scale: bool = False,
        probability_fn: Callable[[Tensor], Tensor] | None = None, score_mask_value: float | None = None,
        dtype: DTypeLike | None = None, custom_key_value_fn: KeyValueFunction | None = None,
        name: str = "LuongAttention",
    ) -> None:  # fmt: skip
        kind = as_dtype(dtype or "float32")
        layer = Dense(num_units, name="memory_layer", use_bias=False, dtype=kind)
        super().__init__(
            None,
            memory,
            _plain(probability_fn),
            memory_sequence_length,
            layer,
            True,
            score_mask_value,
            custom_key_value_fn,
            name,
        )
        self._num_units = num_units
        self._scale = scale

    def score(self, query: Tensor) -> Tensor:
        """The products of the query with each step's key; ValueError where their depths differ."""
        return products_of(query, self.keys, self._scale)


def products_of(query: Tensor, keys: Tensor, scale: bool) -> Tensor:
    """The products `[batch, steps]` of a query `[batch, depth]` and the keys, scaled by "attention_g" if wished."""
    depth, width = query.shape[-1].value, keys.shape[-1].value
    if depth != width:
        raise ValueError(
            f"Incompatible or unknown inner dimensions between query and keys.  Query ({query}) has units: {depth}.  Keys "
            f"({keys}) have units: {width}.  Perhaps you need to set num_units to the query's dimension ({depth})?"
        )
    score = squeeze(matmul(expand_dims(query, 1), keys, transpose_b=True), [1])
    if scale:
        score = mul(get_variable("attention_g", (), query.dtype.base_dtype, Ones()), score)
    return score


class BahdanauAttention(AttentionMechanism):
    """Weights by a network of one layer of the query and the memory.

    Args:
        num_units: the size of the layer.
        memory, memory_sequence_length, score_mask_value, custom_key_value_fn, name: as of every mechanism.
        normalize: whether the last weights are normalized, with a factor "attention_g" and an offset "attention_b".
        probability_fn: makes weights of scores; softmax when None.
        dtype: the type of the variables.
    """

    scope_name = "bahdanau_attention"

    def __init__(
        self, num_units: int, memory: TensorLike, memory_sequence_length: TensorLike | None = None,
        normalize: bool = False, probability_fn: Callable[[Tensor], Tensor] | None = None,
        score_mask_value: float | None = None, dtype: DTypeLike | None = None,
        custom_key_value_fn: KeyValueFunction | None = None, name: str = "BahdanauAttention",
    ) -> None:  # fmt: skip
        kind = as_dtype(dtype or "float32")
        query_layer = Dense(num_units, name="query_layer", use_bias=False, dtype=kind)
        memory_layer = Dense(num_units, name="memory_layer", use_bias=False, dtype=kind)
        super().__init__(
            query_layer, memory, _plain(probability_fn), memory_sequence_length, memory_layer, True, score_mask_value,
            custom_key_value_fn, name,
        )  # fmt: skip
        self._num_units = num_units
        self._normalize = normalize

    def score(self, query: Tensor) -> Tensor:
        """What the network makes of the query and each step's key."""
        assert self.query_layer is not None
        return network_of(self.query_layer(query), self.keys, self._normalize)


def network_of(query: Tensor, keys: Tensor, normalize: bool) -> Tensor:
    """What a layer with the weights "attention_v" makes of a query `[batch, units]` and the keys: `[batch, steps]`."""
    units, dtype = keys.shape[2].value, query.dtype.base_dtype
    v: VariableLike = get_variable("attention_v", [units], dtype)
    if not normalize:
        return bahdanau_score(query, keys, v)
    g = get_variable("attention_g", (), dtype, Constant(math.sqrt(1.0 / (units or 1))))
    b = get_variable("attention_b", [units], dtype, Zeros())
    return bahdanau_score(query, keys, v, g, b)


def bahdanau_score(
    processed_query: Tensor, keys: Tensor, attention_v: Nest, attention_g: Nest = None, attention_b: Nest = None
) -> Tensor:
    """What a layer makes of a query and the keys.

    Args:
        processed_query: [batch, units].
        keys: [batch, steps, units].
        attention_v: [units], the layer's weights. Up to TensorFlow 1.13 a bool stood here, whether they are normalized, and the
            function made the variables.
        attention_g, attention_b: the factor, and the offset `[units]`, of normalized weights; None for others.

    Returns:
        The scores, `[batch, steps]`.
    """
    if isinstance(attention_v, bool):
        return network_of(processed_query, keys, attention_v)
    summed = add(keys, expand_dims(processed_query, 1))
    if attention_g is not None and attention_b is not None:
        attention_v = mul(mul(attention_g, attention_v), rsqrt(reduce_sum(square(attention_v))))
        summed = add(summed, attention_b)
    return reduce_sum(mul(attention_v, tanh(summed)), [2])


def hardmax(logits: TensorLike, name: str | None = None) -> Tensor:
    """One at the place of the greatest along the last dimension, zeros elsewhere.

    Args:
        logits: numbers `[..., size]` of a floating dtype.
    """
    with input_scope(name, "Hardmax", (logits,)):
        logits = convert_to_tensor(logits, name="logits")
        depth = logits.shape[-1].value
        return one_hot(argmax(logits, -1), shape(logits)[-1] if depth is None else depth, dtype=logits.dtype.base_dtype)
