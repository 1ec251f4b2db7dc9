"""Monotonic attention: steps of a memory are looked at in their order, none before one that was chosen (arXiv:1704.00784)."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import DTypeLike, Nest, SizeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import as_dtype
from weft.models.layers.core import Dense
from weft.models.layers.layer import Layer
from weft.models.rnn.cell import batch_size_of
from weft.models.seq2seq.attention import AttentionMechanism, Probability, network_of, products_of
from weft.ops.array.filling import one_hot, ones, zeros
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.array.transposing import transpose
from weft.ops.control_flow.functional import scan
from weft.ops.math.casting import cast
from weft.ops.math.clip import clip_by_value
from weft.ops.math.comparison import greater
from weft.ops.math.division import truediv
from weft.ops.math.elementwise import add, mul, sub
from weft.ops.math.scans import cumprod, cumsum
from weft.ops.math.unary import exp, log, sigmoid
from weft.ops.random.functions import random_normal
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Constant


def safe_cumprod(x: TensorLike, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """The products of the elements up to each, by their logarithms: for elements from 0 to 1, with gradients near 0.

    Args:
        x: numbers from 0 to 1, of a floating dtype.
        axis: the dimension.
        exclusive: whether an element's own factor is left out.
        reverse: whether products begin at the end.
    """
    with get_default_graph().name_scope("SafeCumprod"):
        tensor = convert_to_tensor(x, name="x")
        least = float(np.finfo(tensor.dtype.as_numpy_dtype).tiny)
        return exp(cumsum(log(clip_by_value(tensor, least, 1.0)), axis, exclusive, reverse))


def monotonic_attention(p_choose_i: TensorLike, previous_attention: TensorLike, mode: str) -> Tensor:
    """The weights of steps that are chosen from left to right, beginning where the ones before lay.

    Args:
        p_choose_i: `[batch, steps]`, how likely each step is chosen when it is come to.
        previous_attention: `[batch, steps]`, the weights before; at first all on the first step.
        mode: "recursive" is exact and a loop; "parallel" needs none, and is not exact for long memories; "hard" is for
            probabilities that are 0 or 1.

    Returns:
        `[batch, steps]`.

    Raises:
        ValueError: another mode.
    """
    choose = convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        return mul(choose, _reached(choose, previous))
    if mode == "parallel":
        passed = safe_cumprod(sub(1.0, choose), axis=1, exclusive=True)
        # Never divide by 0.
        share = cumsum(truediv(previous, clip_by_value(passed, 1e-10, 1.0)), axis=1)
        return mul(mul(choose, passed), share)
    if mode == "hard":
        left = mul(choose, cumsum(previous, axis=1))
        return mul(left, cumprod(sub(1.0, left), axis=1, exclusive=True))
    raise ValueError(f"mode must be 'recursive', 'parallel', or 'hard', it is {mode!r}.")


def _reached(choose: Tensor, previous: Tensor) -> Tensor:
    """How likely each step is come to: from the one before, which was not chosen, or by starting at it."""
    batch = batch_size_of(choose, 0)
    passed = concat([ones([batch, 1], choose.dtype.base_dtype), sub(1.0, choose[:, :-1])], 1)
    found = scan(
        lambda before, each: reshape(add(mul(each[0], before), each[1]), [batch]), [transpose(passed), transpose(previous)],
        zeros([batch], choose.dtype.base_dtype),
    )  # fmt: skip
    return transpose(found)


def _choosing(noise: float, mode: str, seed: int | None) -> Probability:
    def weights(score: Tensor, previous: Nest) -> Tensor:
        dtype = score.dtype.base_dtype
        if noise > 0:
            score = add(score, mul(random_normal(shape(score), dtype=dtype, seed=seed), noise))
        choose = cast(greater(score, 0), dtype) if mode == "hard" else sigmoid(score)
        return monotonic_attention(choose, previous, mode)

    return weights


class _MonotonicMechanism(AttentionMechanism):
    """A mechanism that chooses steps in their order; "attention_score_bias" is added to its scores."""

    def __init__(
        self, query_layer: Layer | None, memory_layer: Layer, memory: TensorLike, lengths: TensorLike | None,
        score_mask_value: float | None, probability: Probability, bias: float, name: str,
    ) -> None:  # fmt: skip
        super().__init__(query_layer, memory, probability, lengths, memory_layer, True, score_mask_value, name=name)
        self._first_bias = bias

    def _biased(self, score: Tensor) -> Tensor:
        return add(score, get_variable("attention_score_bias", (), score.dtype.base_dtype, Constant(self._first_bias)))

    def initial_alignments(self, batch_size: SizeLike, dtype: DTypeLike) -> Tensor:
        """The weights before the first step: all on the first step of the memory."""
        return one_hot(zeros([batch_size], dtypes.int32), self.alignments_size, dtype=as_dtype(dtype))


class BahdanauMonotonicAttention(_MonotonicMechanism):
    """Monotonic attention by a network of one layer of the query and the memory.

    Args:
        num_units: the size of the layer.
        memory, memory_sequence_length, score_mask_value, name: as of every mechanism.
        normalize: whether the last weights are normalized, as of BahdanauAttention.
        sigmoid_noise: the deviation of what is added to scores while training, so that choices become clear.
        sigmoid_noise_seed: makes it repeatable.
        score_bias_init: what is added to all scores at first.
        mode: see `monotonic_attention`.
        dtype: the type of the variables.
    """

    scope_name = "bahdanau_monotonic_attention"

    def __init__(
        self, num_units: int, memory: TensorLike, memory_sequence_length: TensorLike | None = None,
        normalize: bool = False, score_mask_value: float | None = None, sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None, score_bias_init: float = 0.0, mode: str = "parallel",
        dtype: DTypeLike | None = None, name: str = "BahdanauMonotonicAttention",
    ) -> None:  # fmt: skip
        kind = as_dtype(dtype or "float32")
        query_layer, memory_layer = (
            Dense(num_units, name=f"{what}_layer", use_bias=False, dtype=kind) for what in ("query", "memory")
        )
        super().__init__(
            query_layer, memory_layer, memory, memory_sequence_length, score_mask_value,
            _choosing(sigmoid_noise, mode, sigmoid_noise_seed), score_bias_init, name,
        )  # fmt: skip
        self._normalize = normalize

    def score(self, query: Tensor) -> Tensor:
        """What the network makes of the query and each step's key."""
        assert self.query_layer is not None
        return self._biased(network_of(self.query_layer(query), self.keys, self._normalize))


class LuongMonotonicAttention(_MonotonicMechanism):
    """Monotonic attention by the product of the query and the memory, brought to the query's depth.

    Args:
        num_units: the depth of the queries.
        scale: whether a variable "attention_g" multiplies the scores.
        memory, memory_sequence_length, score_mask_value, name: as of every mechanism.
        sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode, dtype: as of BahdanauMonotonicAttention.
    """

    scope_name = "luong_monotonic_attention"

    def __init__(
        self, num_units: int, memory: TensorLike, memory_sequence_length: TensorLike | None = None, scale: bool = False,
        score_mask_value: float | None = None, sigmoid_noise: float = 0.0, sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0, mode: str = "parallel", dtype: DTypeLike | None = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:  # fmt: skip
        layer = Dense(num_units, name="memory_layer", use_bias=False, dtype=as_dtype(dtype or "float32"))
        super().__init__(
            None, layer, memory, memory_sequence_length, score_mask_value,
            _choosing(sigmoid_noise, mode, sigmoid_noise_seed), score_bias_init, name,
        )  # fmt: skip
        self._scale = scale

    def score(self, query: Tensor) -> Tensor:
        """The products of the query with each step's key; ValueError where their depths differ."""
        return self._biased(products_of(query, self.keys, self._scale))
