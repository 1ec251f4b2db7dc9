"""VectorDistribution: the shapes of distributions of vectors; diagonal scales, and covariances of parts of one whole."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.distributions.distribution import Distribution
from weft.ops.array.filling import ones_like
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.linalg.matrix_bands import matrix_set_diag
from weft.ops.math.products import matmul


class VectorDistribution(Distribution):
    """A distribution of vectors, whose batch and event a tensor of `batch_shape + [size]` tells."""

    def _vectors(self) -> Tensor:
        """A tensor of the shape of the batch and the event: `[..., size]`."""
        raise NotImplementedError(f"_vectors is not implemented: {type(self).__name__}")

    def _batch_shape(self) -> TensorShape:
        found: TensorShape = self._vectors().shape.with_rank_at_least(1)[:-1]
        return found

    def _batch_shape_tensor(self) -> Tensor:
        return shape_of(self._vectors())[:-1]

    def _event_shape(self) -> TensorShape:
        found: TensorShape = self._vectors().shape.with_rank_at_least(1)[-1:]
        return found

    def _event_shape_tensor(self) -> Tensor:
        return shape_of(self._vectors())[-1:]


def shared_covariance(first: Tensor, second: Tensor, variance: Tensor) -> Tensor:
    """The covariance of parts that take from each other: `-first second^T`, with the variance on the diagonal.

    Args:
        first, second: `[..., size]`.
        variance: `[..., size]`.

    Returns:
        `[..., size, size]`.
    """
    return matrix_set_diag(-matmul(expand_dims(first, -1), expand_dims(second, -2)), variance)


def diagonal_scale(scale_diag: TensorLike | None, multiplier: TensorLike | None, like: Tensor | None) -> Tensor:
    """The diagonal of a scale: `[..., size]`.

    Args:
        scale_diag: `[..., size]`; ones when None.
        multiplier: `[...]`, added to `scale_diag`, or what the ones are multiplied by; none when None.
        like: `[..., size]`, which tells the size where there is no `scale_diag`.
    """
    if scale_diag is not None:
        diag = convert_to_tensor(scale_diag, name="scale_diag")
    else:
        assert like is not None
        diag = ones_like(like)
    if multiplier is None:
        return diag
    same = expand_dims(convert_to_tensor(multiplier, diag.dtype, name="multiplier"), -1)
    return diag * same if scale_diag is None else diag + same
