"""Losses over very many classes that look at a few sampled ones: noise-contrastive estimation, sampled softmax."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.array.filling import ones_like, zeros, zeros_like
from weft.ops.array.identity import stop_gradient
from weft.ops.array.joining import concat
from weft.ops.array.padding import slice_of
from weft.ops.array.shape_ops import expand_dims, reshape, shape, shape_internal
from weft.ops.array.slicing import slice_helper
from weft.ops.array.stacking import stack
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import mul
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import log
from weft.ops.nn.embedding import embedding_lookup
from weft.ops.nn.loss import sigmoid_cross_entropy_with_logits
from weft.ops.nn.sampler import compute_accidental_hits, log_uniform_candidate_sampler
from weft.ops.nn.softmax import softmax_cross_entropy_with_logits_v2, sparse_softmax_cross_entropy_with_logits
from weft.ops.sparse.tensors import sparse_to_dense
from weft.ops.variables.partitioned_variable import PartitionedVariable


def _sampled_logits(
    weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: int,
    num_classes: int, num_true: int, sampled_values: Sequence[TensorLike] | None, subtract_log_q: bool,
    remove_accidental_hits: bool, partition_strategy: str, name: str | None, seed: int | None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Logits of the true classes and then of the sampled ones, and labels that fit them."""
    parts = list(weights) if isinstance(weights, list | PartitionedVariable) else [weights]
    with input_scope(name, "compute_sampled_logits", (*parts, biases, inputs, labels)):
        labels = cast(convert_to_tensor(labels), dtypes.int64)
        inputs = convert_to_tensor(inputs)
        flat = reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)
        sampled, true_count, sampled_count = (stop_gradient(each) for each in sampled_values)
        sampled = cast(sampled, dtypes.int64)
        ids = concat([flat, sampled], 0)
        kind = inputs.dtype.base_dtype
        rows = cast(embedding_lookup(parts, ids, partition_strategy=partition_strategy), kind)
        offsets = cast(embedding_lookup(biases, ids, partition_strategy=partition_strategy), kind)
        true_logits, sampled_logits = _logits(inputs, rows, offsets, shape_internal(flat), num_true)
        if remove_accidental_hits:
            sampled_logits += _ruled_out(labels, sampled, num_true, num_sampled, kind)
        if subtract_log_q:
            true_logits -= log(true_count)
            sampled_logits -= log(sampled_count)
        targets = ones_like(true_logits)
        joined = concat([targets / num_true, zeros_like(sampled_logits)], 1)
        return concat([true_logits, sampled_logits], 1), joined


def _logits(inputs: Tensor, rows: Tensor, offsets: Tensor, count: Tensor, num_true: int) -> tuple[Tensor, Tensor]:
    """The logits of the true classes, whose rows come first, and of the sampled ones."""
    # TensorFlow sums products by a matrix of ones, and takes sizes again and again: later seeds go by the count.
    get_default_graph().node_count.total += 23
    split = slice_helper(count, 0)
    true_rows = slice_of(rows, [0, 0], stack([split, -1]))
    sampled_rows = slice_of(rows, stack([split, 0]), [-1, -1])
    true_offsets = reshape(slice_of(offsets, [0], count), [-1, num_true])
    sampled_offsets = slice_of(offsets, count, [-1])
    width = slice_helper(shape_internal(true_rows), slice(1, 2))
    products = mul(expand_dims(inputs, 1), reshape(true_rows, concat([[-1, num_true], width], 0)))
    true_logits = reduce_sum(products, -1)
    sampled_logits = matmul(inputs, sampled_rows, transpose_b=True)
    return true_logits + true_offsets, sampled_logits + sampled_offsets


def _ruled_out(labels: TensorLike, sampled: Tensor, num_true: int, num_sampled: int, kind: DType) -> Tensor:
    """The terms that rule out samples that are true classes, to be added to the logits."""
    get_default_graph().node_count.total += 2
    rows, places, weights = compute_accidental_hits(labels, sampled, num_true)
    columns = cast(reshape(places, [-1, 1]), dtypes.int32)
    indices = concat([reshape(rows, [-1, 1]), columns], 1, "sparse_indices")
    sizes = concat([slice_helper(shape_internal(labels), slice(None, 1)), [num_sampled]], 0)
    return sparse_to_dense(indices, sizes, cast(weights, kind), default_value=0.0, validate_indices=False)


def nce_loss(
    weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: int,
    num_classes: int, num_true: int = 1, sampled_values: Sequence[TensorLike] | None = None,
    remove_accidental_hits: bool = False, partition_strategy: str = "mod", name: str = "nce_loss",
) -> Tensor:  # fmt: skip
    """The loss of noise-contrastive estimation, one number per example.

    Args:
        weights: the rows of the classes, `[num_classes, width]`, or a list of parts of them.
        biases: a number per class.
        labels: the true classes, `[batch, num_true]`.
        inputs: `[batch, width]`.
        num_sampled: how many classes to sample per batch.
        num_classes: how many there are.
        num_true: how many are true of each example.
        sampled_values: what a candidate sampler returned; the log-uniform one's when None.
        remove_accidental_hits: whether samples that are true classes do not count.
        partition_strategy: how classes are dealt to parts, "mod" or "div".
        name: the name scope.
    """
    logits, targets = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True,
        remove_accidental_hits, partition_strategy, name, None,
    )  # fmt: skip
    losses = sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name="sampled_losses")
    get_default_graph().node_count.total += 10  # of the sum, which TensorFlow has a product with ones for
    return reduce_sum(losses, 1)


def sampled_softmax_loss(
    weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: int,
    num_classes: int, num_true: int = 1, sampled_values: Sequence[TensorLike] | None = None,
    remove_accidental_hits: bool = True, partition_strategy: str = "mod", name: str = "sampled_softmax_loss",
    seed: int | None = None,
) -> Tensor:  # fmt: skip
    """The cross-entropy of softmax over the true and the sampled classes; arguments as of nce_loss.

    Args:
        weights: [num_classes, dim] tensor or variable of a floating dtype, or a list of parts of it.
        biases: [num_classes] tensor of the same dtype.
        labels: [batch, num_true] int64: the true classes of each example.
        inputs: [batch, dim] tensor of the same dtype.
        num_sampled: how many classes to draw for the whole batch.
        num_classes: how many classes there are.
        num_true: how many true classes an example has.
        sampled_values: what a candidate sampler returned; log-uniform samples when None.
        remove_accidental_hits: whether samples that are true classes of an example do not count for it.
        partition_strategy: how rows are dealt to several parts of `weights`: "mod" or "div".
        seed: the op seed of the drawing.

    Returns:
        [batch] tensor of the same dtype.
    """
    logits, targets = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True,
        remove_accidental_hits, partition_strategy, name, seed,
    )  # fmt: skip
    targets = stop_gradient(targets, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=targets, logits=logits)


def sampled_sparse_softmax_loss(
    weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: int,
    num_classes: int, sampled_values: Sequence[TensorLike] | None = None, remove_accidental_hits: bool = True,
    partition_strategy: str = "mod", name: str = "sampled_sparse_softmax_loss",
) -> Tensor:  # fmt: skip
    """The cross-entropy of softmax over the true class, one for each example, and the sampled ones; see sampled_softmax_loss.

    Args:
        weights: [num_classes, dim] tensor or variable of a floating dtype, or a list of parts of it.
        biases: [num_classes] tensor of the same dtype.
        labels: [batch, 1] int64: the true class of each example.
        inputs: [batch, dim] tensor of the same dtype.
        num_sampled: how many classes to draw for the whole batch.
        num_classes: how many classes there are.
        sampled_values: what a candidate sampler returned; log-uniform samples when None.
        remove_accidental_hits: whether samples that are the true class of an example do not count for it.
        partition_strategy: how rows are dealt to several parts of `weights`: "mod" or "div".

    Returns:
        [batch] tensor of the same dtype.
    """
    logits, _ = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, 1, sampled_values, True,
        remove_accidental_hits, partition_strategy, name, None,
    )  # fmt: skip
    # The true class stands first.
    targets = zeros([shape(logits)[0]], dtypes.int64)
    return sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)
