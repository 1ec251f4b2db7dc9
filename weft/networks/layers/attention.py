"""Attention: each query's mean of values, weighted by how well the values' keys fit it."""

from __future__ import annotations

from typing import Final

from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.networks.config import Options
from weft.networks.engine.layer import Layer
from weft.networks.objects.arguments import keeps_arguments
from weft.ops.array.filling import ones
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.linalg.matrix_parts import matrix_band_part
from weft.ops.math.casting import cast
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import tanh
from weft.ops.nn.softmax import softmax

# What is taken from the score of a value that must not be seen.
_UNSEEN: Final = 1.0e9


class _Attention(Layer):
    """What the kinds of attention share: `[query, value, key]`, where the key may be missing, to what each query sees.

    `[batch, queries, depth], [batch, values, depth] -> [batch, queries, depth]`
    """

    supports_masking = True
    causal = False

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """How well keys fit queries: `[batch, queries, values]`.

        Args:
            query: `[batch, queries, depth]`.
            key: `[batch, values, depth]`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no scores")

    def _checked(self, inputs: Nest, mask: Nest) -> None:
        name = type(self).__name__
        if not isinstance(inputs, list):
            raise ValueError(f"{name} layer must be called on a list of inputs, namely [query, value] or [query, value, key].")
        if not 2 <= len(inputs) <= 3:
            raise ValueError(
                f"{name} layer accepts inputs list of length 2 or 3, namely [query, value] or [query, value, key]. Given "
                f"length: {len(inputs)}"
            )
        if mask is not None and not isinstance(mask, list):
            raise ValueError(f"{name} layer mask must be a list, namely [query_mask, value_mask].")

    def call(self, inputs: Nest, mask: Nest = None) -> Tensor:
        """What each query sees of the values; none of those that a mask or the order of time hides.

        Args:
            mask: a bool tensor for the queries, `[batch, queries]`, and one for the values, `[batch, values]`; None for all.
        """
        self._checked(inputs, mask)
        query, value, key = (*inputs, inputs[1])[:3]
        of_query, of_value = (mask[0], mask[1]) if mask is not None else (None, None)
        scores = self.scores(query, key)
        seen = None if of_value is None else expand_dims(cast(of_value, scores.dtype), -2)
        if self.causal:
            before = matrix_band_part(ones(shape_of(scores), scores.dtype), -1, 0)
            seen = before if seen is None else before * seen
        if seen is not None:
            scores = scores - _UNSEEN * (1 - seen)
        made = matmul(softmax(scores), value)
        return made if of_query is None else made * expand_dims(cast(of_query, made.dtype), -1)

    def compute_mask(self, inputs: Nest, mask: Nest = None) -> Nest:
        """The mask of the queries."""
        self._checked(inputs, mask)
        return None if mask is None else mask[0]


class Attention(_Attention):
    """Attention by products of queries and keys (Luong et al., 2015).

    Args:
        use_scale: whether scores are multiplied by a variable.
        causal: whether a query sees no later values.
        kwargs: `name`, `trainable` and others of `tf.keras.layers.Layer`.
    """

    @keeps_arguments
    def __init__(self, use_scale: bool = False, causal: bool = False, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.use_scale, self.causal = use_scale, causal

    def build(self, input_shape: Nest) -> None:
        """Make the scale."""
        self.scale = self.add_weight("scale", (), initializer="ones") if self.use_scale else None
        self.built = True

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """The products, scaled."""
        made = matmul(query, key, transpose_b=True)
        return made if self.scale is None else made * self.scale


class AdditiveAttention(_Attention):
    """Attention by the activated sum of query and key (Bahdanau et al., 2015).

    Args:
        use_scale: whether its elements are weighted by a variable.
        causal: whether a query sees no later values.
        kwargs: `name`, `trainable` and others of `tf.keras.layers.Layer`.
    """

    @keeps_arguments
    def __init__(self, use_scale: bool = True, causal: bool = False, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.use_scale, self.causal = use_scale, causal

    def build(self, input_shape: Nest) -> None:
        """Make the scale, of the depth."""
        depth = TensorShape(input_shape[1]).as_list()[-1]
        self.scale = self.add_weight("scale", (depth,), initializer="glorot_uniform") if self.use_scale else None
        self.built = True

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """The sums of the activated sums."""
        made = tanh(expand_dims(query, -2) + expand_dims(key, -3))
        return reduce_sum(made if self.scale is None else self.scale * made, axis=-1)
