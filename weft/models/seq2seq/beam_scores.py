"""What a beam search thinks of its beams: their probabilities, and the penalties of Wu et al. (2016, arXiv:1609.08144)."""

from __future__ import annotations

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.seq2seq.attention_wrapper import AttentionWrapperState
from weft.ops.array.filling import one_hot, ones_like, zeros_like
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import expand_dims, shape
from weft.ops.array.stacking import stack
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, logical_or, minimum
from weft.ops.math.division import power, truediv
from weft.ops.math.elementwise import add, mul
from weft.ops.math.reduce_functions import reduce_mean, reduce_sum
from weft.ops.math.unary import log


def only_end_after_end(log_probs: Tensor, end_token: Tensor, finished: Tensor) -> Tensor:
    """Logarithms `[batch, beams, classes]` in which a beam that is finished, `[batch, beams]`, can only end again."""
    dtype = log_probs.dtype.base_dtype
    with get_default_graph().node_count.as_many_as(23):  # TensorFlow tiles both to the shape of the logarithms.
        certain = one_hot(end_token, shape(log_probs)[2], 0.0, dtype.min, dtype=dtype)
        wide = logical_or(expand_dims(finished, 2), zeros_like(log_probs, dtype=dtypes.bool))
        return where(wide, add(zeros_like(log_probs), certain), log_probs)


def attention_seen(cell_state: Nest, weight: TensorLike) -> Tensor | None:
    """How much each step of the memories was seen, `[batch, beams, steps]`, their mean where there are several.

    None where coverage counts nothing. ValueError: it counts, and no cell of the state attends.
    """
    if isinstance(weight, int | float) and weight == 0.0:
        return None
    states = [cell_state] if isinstance(cell_state, AttentionWrapperState) else cell_state
    states = [each for each in states if isinstance(each, AttentionWrapperState)] if isinstance(states, tuple | list) else []
    if not states:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    seen = [_mean(each.alignments) if isinstance(each.alignments, tuple) else each.alignments for each in states]
    return seen[0] if len(seen) == 1 else _mean(seen)


def _mean(tensors: Nest) -> Tensor:
    return reduce_mean(stack(list(tensors), -1), -1)


def scored(
    log_probs: Tensor, lengths: Tensor, length_weight: TensorLike, coverage_weight: TensorLike, finished: Tensor,
    seen: Tensor | None,
) -> Tensor:  # fmt: skip
    """What continuations are ordered by: their logarithms over the penalty of their lengths, plus that of coverage.

    Args:
        log_probs: `[batch, beams, classes]`.
        lengths: `[batch, beams, classes]`.
        length_weight, coverage_weight: what the penalties count; nothing at 0.
        finished: `[batch, beams]`; coverage is that of whole sequences.
        seen: `[batch, beams, steps]`, the sum of what was seen until now; needed where coverage counts.
    """
    scores = truediv(log_probs, cast(_length_penalty(lengths, length_weight), log_probs.dtype.base_dtype))
    weight = convert_to_tensor(coverage_weight, name="coverage_penalty_weight")
    if weight.shape.ndims != 0:
        raise ValueError(f"coverage_penalty_weight should be a scalar, but saw shape: {weight.shape}")
    if constant_value(weight) == 0.0:
        return scores
    if seen is None:
        raise ValueError("accumulated_attention_probs can be None only if coverage penalty is disabled.")
    # Steps of the memory that are not there were never seen: they shall cost nothing.
    there = where(equal(seen, 0.0), ones_like(seen), seen)
    coverage = mul(reduce_sum(log(minimum(there, 1.0)), 2), cast(finished, dtypes.float32))
    return add(scores, expand_dims(mul(coverage, weight), 2))


def _length_penalty(lengths: Tensor, weight: TensorLike) -> TensorLike:
    factor = convert_to_tensor(weight, name="penalty_factor")
    factor.set_shape(())
    if constant_value(factor) == 0:
        return 1.0
    return truediv(power(cast(lengths, dtypes.float32) + 5.0, factor), power(6.0, factor))
