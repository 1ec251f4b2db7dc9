"""Losses of embeddings: near each other where labels are the same, far apart where they are not."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import expand_dims, reshape, squeeze
from weft.ops.array.transposing import transpose
from weft.ops.control_flow.assertion import print_values
from weft.ops.linalg.matrix_bands import matrix_set_diag
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, greater, logical_and, logical_not, maximum
from weft.ops.math.division import truediv
from weft.ops.math.elementwise import add, mul, square, squared_difference, sub
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_any, reduce_max, reduce_mean, reduce_min, reduce_sum
from weft.ops.math.unary import exp, log, sqrt
from weft.ops.nn.softmax import softmax_cross_entropy_with_logits_v2

# Added to a distance of 0 before its root, whose derivative there is none.
_LITTLE = 1e-16


def contrastive_loss(
    labels: TensorLike, embeddings_anchor: TensorLike, embeddings_positive: TensorLike, margin: float = 1.0
) -> Tensor:
    """The mean loss of pairs (Hadsell et al., 2006): squared distances of pairs, and how far others are within the margin.

    Args:
        labels: `[batch]`, 1 for two of a kind and 0 for others.
        embeddings_anchor, embeddings_positive: `[batch, depth]`, the sides of the pairs.
        margin: how far apart others shall be.
    """
    distances = sqrt(reduce_sum(squared_difference(embeddings_anchor, embeddings_positive), 1))
    alike = cast(labels, distances.dtype.base_dtype)
    apart = square(maximum(sub(margin, distances), 0.0))
    return reduce_mean(add(mul(alike, square(distances)), mul(sub(1.0, alike), apart)), name="contrastive_loss")


def triplet_semihard_loss(labels: TensorLike, embeddings: TensorLike, margin: float = 1.0) -> Tensor:
    """The mean loss of pairs of a kind and the nearest other that is farther off (Schroff et al., 2015, arXiv:1503.03832).

    Where no other is farther off than the pair is apart, the farthest is taken.

    Args:
        labels: `[batch]` integers.
        embeddings: `[batch, depth]` of length 1.
        margin: how much farther the other shall be.
    """
    distances, same = _squared_distances(convert_to_tensor(embeddings)), _same(labels)
    other = logical_not(same)
    # Of each anchor, its partner and a third: [batch, batch, batch].
    thirds = expand_dims(distances, 1)
    farther = logical_and(expand_dims(other, 1), greater(thirds, expand_dims(distances, 2)))
    nearest = _least_where(thirds, farther)
    farthest = expand_dims(_greatest_where(distances, other), 1)
    negatives = where(reduce_any(farther, 2), nearest, mul(farthest, ones_like(distances)))
    pairs = _without_diagonal(cast(same, dtypes.float32))
    losses = maximum(mul(add(margin, sub(distances, negatives)), pairs), 0.0)
    return truediv(reduce_sum(losses), reduce_sum(pairs), name="triplet_semihard_loss")


def lifted_struct_loss(labels: TensorLike, embeddings: TensorLike, margin: float = 1.0) -> Tensor:
    """The mean loss of pairs of a kind against all others of both (Song et al., 2016, arXiv:1511.06452).

    Args:
        labels: `[batch]` integers.
        embeddings: `[batch, depth]`.
        margin: how far apart others shall be.
    """
    distances, same = _distances(convert_to_tensor(embeddings)), _same(labels)
    other = logical_not(same)
    short = sub(margin, distances)
    greatest = expand_dims(_greatest_where(short, other), 1)
    greatest = maximum(greatest, transpose(greatest))
    # Less the greatest exponent, that none overflows.
    exponents = exp(sub(expand_dims(short, 1), expand_dims(greatest, 2)))
    weights = reduce_sum(mul(exponents, expand_dims(cast(other, dtypes.float32), 1)), 2)
    losses = add(add(greatest, log(add(weights, transpose(weights)))), distances)
    pairs = _without_diagonal(cast(same, dtypes.float32))
    summed = reduce_sum(square(maximum(mul(losses, pairs), 0.0)))
    return truediv(mul(0.25, summed), truediv(reduce_sum(pairs), 2.0), name="liftedstruct_loss")


def npairs_loss(
    labels: TensorLike, embeddings_anchor: TensorLike, embeddings_positive: TensorLike, reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Tensor:  # fmt: skip
    """The cross-entropy of each anchor's products with all partners, and the lengths of the embeddings (Sohn, 2016).

    Args:
        labels: `[batch]` integers.
        embeddings_anchor, embeddings_positive: `[batch, depth]`, the sides of the pairs.
        reg_lambda: how much the lengths count.
        print_losses: whether each run prints both parts.
    """
    anchors, partners = convert_to_tensor(embeddings_anchor), convert_to_tensor(embeddings_positive)
    lengths = add(reduce_mean(reduce_sum(square(anchors), 1)), reduce_mean(reduce_sum(square(partners), 1)))
    length_loss = mul(0.25 * reg_lambda, lengths, name="l2loss")
    same = cast(_same(labels), dtypes.float32)
    shares = truediv(same, reduce_sum(same, 1, keepdims=True))
    losses = softmax_cross_entropy_with_logits_v2(labels=shares, logits=matmul(anchors, partners, transpose_b=True))
    loss = reduce_mean(losses, name="xentropy")
    if print_losses:
        loss = print_values(loss, ["cross entropy:", loss, "l2loss:", length_loss])
    return length_loss + loss


def _same(labels: TensorLike) -> Tensor:
    """Whether two have the same label: `[batch, batch]`; ValueError for labels that are no vector."""
    vector = convert_to_tensor(labels)
    if vector.shape.ndims not in (None, 1):
        raise ValueError(f"labels must be a vector with one integer for each embedding, but their shape is {vector.shape}")
    column = reshape(vector, [-1, 1])
    return equal(column, transpose(column))


def _squared_distances(embeddings: Tensor) -> Tensor:
    lengths = reduce_sum(square(embeddings), 1, keepdims=True)
    squares = sub(add(lengths, transpose(lengths)), mul(2.0, matmul(embeddings, embeddings, transpose_b=True)))
    return _without_diagonal(maximum(squares, 0.0))


def _distances(embeddings: Tensor) -> Tensor:
    squares = _squared_distances(embeddings)
    apart = cast(greater(squares, 0.0), dtypes.float32)
    return mul(sqrt(add(squares, mul(sub(1.0, apart), _LITTLE))), apart)


def _without_diagonal(matrix: Tensor) -> Tensor:
    return matrix_set_diag(matrix, zeros_like(reduce_sum(matrix, 1)))


def _greatest_where(values: Tensor, mask: Tensor) -> Tensor:
    """The greatest along the last dimension of those in the mask; the least of all where there is none."""
    least = reduce_min(values, -1, keepdims=True)
    chosen = reduce_max(mul(sub(values, least), cast(mask, dtypes.float32)), -1, keepdims=True)
    return squeeze(add(chosen, least), [-1])


def _least_where(values: Tensor, mask: Tensor) -> Tensor:
    """The least along the last dimension of those in the mask; the greatest of all where there is none."""
    greatest = reduce_max(values, -1, keepdims=True)
    chosen = reduce_min(mul(sub(values, greatest), cast(mask, dtypes.float32)), -1, keepdims=True)
    return squeeze(add(chosen, greatest), [-1])
