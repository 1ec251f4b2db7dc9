"""tf.contrib.seq2seq: attention, decoders, beam search and what feeds them, and the loss of sequences of classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.seq2seq.attention import AttentionMechanism as AttentionMechanism
from weft.models.seq2seq.attention import BahdanauAttention as BahdanauAttention
from weft.models.seq2seq.attention import LuongAttention as LuongAttention
from weft.models.seq2seq.attention import hardmax as hardmax
from weft.models.seq2seq.attention_wrapper import AttentionWrapper as AttentionWrapper
from weft.models.seq2seq.attention_wrapper import AttentionWrapperState as AttentionWrapperState
from weft.models.seq2seq.beam_layout import tile_batch as tile_batch
from weft.models.seq2seq.beam_search import BeamSearchDecoder as BeamSearchDecoder
from weft.models.seq2seq.beam_search import BeamSearchDecoderOutput as BeamSearchDecoderOutput
from weft.models.seq2seq.beam_search import BeamSearchDecoderState as BeamSearchDecoderState
from weft.models.seq2seq.beam_search import FinalBeamSearchDecoderOutput as FinalBeamSearchDecoderOutput
from weft.models.seq2seq.decoder import BasicDecoder as BasicDecoder
from weft.models.seq2seq.decoder import BasicDecoderOutput as BasicDecoderOutput
from weft.models.seq2seq.decoder import Decoder as Decoder
from weft.models.seq2seq.decoder import dynamic_decode as dynamic_decode
from weft.models.seq2seq.helper import CustomHelper as CustomHelper
from weft.models.seq2seq.helper import GreedyEmbeddingHelper as GreedyEmbeddingHelper
from weft.models.seq2seq.helper import Helper as Helper
from weft.models.seq2seq.helper import InferenceHelper as InferenceHelper
from weft.models.seq2seq.helper import SampleEmbeddingHelper as SampleEmbeddingHelper
from weft.models.seq2seq.helper import TrainingHelper as TrainingHelper
from weft.models.seq2seq.monotonic import BahdanauMonotonicAttention as BahdanauMonotonicAttention
from weft.models.seq2seq.monotonic import LuongMonotonicAttention as LuongMonotonicAttention
from weft.models.seq2seq.monotonic import monotonic_attention as monotonic_attention
from weft.models.seq2seq.monotonic import safe_cumprod as safe_cumprod
from weft.models.seq2seq.scheduled_helpers import ScheduledEmbeddingTrainingHelper as ScheduledEmbeddingTrainingHelper
from weft.models.seq2seq.scheduled_helpers import ScheduledOutputTrainingHelper as ScheduledOutputTrainingHelper
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.division import div_no_nan
from weft.ops.math.reduce_functions import count_nonzero, reduce_sum
from weft.ops.nn.beam_search import gather_tree as gather_tree
from weft.ops.nn.softmax import sparse_softmax_cross_entropy_with_logits


def sequence_loss(
    logits: TensorLike, targets: TensorLike, weights: TensorLike, average_across_timesteps: bool = True,
    average_across_batch: bool = True, sum_over_timesteps: bool = False, sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Tensor] | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The weighted cross-entropy of sequences of logits.

    Args:
        logits: `[batch, steps, classes]`.
        targets: `[batch, steps]` class numbers.
        weights: `[batch, steps]`, what each step counts.
        average_across_timesteps, average_across_batch: whether to sum over steps, or sequences, and divide by the weights.
        sum_over_timesteps, sum_over_batch: whether to sum over steps, or sequences, and divide by how many count.
        softmax_loss_function: a function `(labels=, logits=)` in place of sparse softmax cross-entropy.
        name: the name scope.

    Returns:
        A scalar, `[batch]`, `[steps]` or `[batch, steps]`, as is summed over.

    Raises:
        ValueError: a shape is of another rank, or both an average and a sum are asked for.
    """
    logits, targets, weights = (convert_to_tensor(each) for each in (logits, targets, weights))
    for what, tensor, rank, text in (
        ("Logits", logits, 3, "[batch_size x sequence_length x logits]"),
        ("Targets", targets, 2, "[batch_size x sequence_length]"),
        ("Weights", weights, 2, "[batch_size x sequence_length]"),
    ):
        if tensor.shape.ndims not in (None, rank):
            raise ValueError(f"{what} must be a {rank}-D {text} tensor")
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError("average_across_timesteps and sum_over_timesteps cannot be set to True at same time.")
    if average_across_batch and sum_over_batch:
        raise ValueError("average_across_batch and sum_over_batch cannot be set to True at same time.")
    with input_scope(name, "sequence_loss", (logits, targets, weights)):
        classes = shape(logits)[2]
        flat_logits, flat_targets = reshape(logits, [-1, classes]), reshape(targets, [-1])
        function = softmax_loss_function or sparse_softmax_cross_entropy_with_logits
        losses = function(labels=flat_targets, logits=flat_logits) * reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return div_no_nan(reduce_sum(losses), reduce_sum(weights))
        if sum_over_timesteps and sum_over_batch:
            return div_no_nan(reduce_sum(losses), cast(count_nonzero(weights), losses.dtype.base_dtype))
        losses = reshape(losses, shape(logits)[0:2])
        if average_across_timesteps and not average_across_batch:
            return div_no_nan(reduce_sum(losses, 1), reduce_sum(weights, 1))
        if average_across_batch and not average_across_timesteps:
            return div_no_nan(reduce_sum(losses, 0), reduce_sum(weights, 0))
        if sum_over_timesteps:
            return div_no_nan(reduce_sum(losses, 1), cast(count_nonzero(weights, 1), losses.dtype.base_dtype))
        if sum_over_batch:
            return div_no_nan(reduce_sum(losses, 0), cast(count_nonzero(weights, 0), losses.dtype.base_dtype))
        return losses
