"""The multivariate normal distribution whose elements are independent."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.counted_normal import CountedNormal
from weft.models.distributions.diagonal_nodes import DiagonalNodes
from weft.models.distributions.distribution import FULLY_REPARAMETERIZED
from weft.models.distributions.divergence import RegisterKL
from weft.models.distributions.vectors import diagonal_scale
from weft.ops.array.filling import zeros_like
from weft.ops.input_scope import input_scope
from weft.ops.linalg.matrix_bands import matrix_diag
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import square
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import log


class MultivariateNormalDiag(CountedNormal):
    """The normal distribution of vectors with mean `loc` and the diagonal scale `scale_diag + scale_identity_multiplier`.

    Args:
        loc: the means `[..., size]`; 0 when None.
        scale_diag: the standard deviations `[..., size]`.
        scale_identity_multiplier: a standard deviation `[...]` of all elements alike, added to `scale_diag`; when both are
            None, 1.
        validate_args: kept for `copy`; there is nothing to check.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.

    Raises:
        ValueError: neither `loc` nor `scale_diag` tells the size.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:
        parameters = dict(locals())
        if loc is None and scale_diag is None:
            raise ValueError("MultivariateNormalDiag needs loc or scale_diag, which tell its size; both are None.")
        with input_scope(name, "MultivariateNormalDiag", [loc, scale_diag, scale_identity_multiplier]) as scope:
            count = get_default_graph().node_count
            before = count.total
            mean = None if loc is None else convert_to_tensor(loc, name="loc")
            count.total += count.total - before  # TensorFlow makes two tensors of means that are none yet.
            deviations = None if scale_diag is None else convert_to_tensor(scale_diag, name="scale_diag")
            factor = None
            if scale_identity_multiplier is not None:
                given = mean if deviations is None else deviations
                factor = convert_to_tensor(scale_identity_multiplier, None if given is None else given.dtype)
            before = count.total
            self._diag = diagonal_scale(deviations, factor, mean)
            self._given_loc = mean
            self._full_loc = zeros_like(self._diag) if mean is None else mean + zeros_like(self._diag)
            self._nodes = DiagonalNodes(
                None if mean is None else mean.shape,
                None if deviations is None else self._diag.shape,
                None if factor is None else factor.shape,
                self._full_loc.shape,
            )
            count.total = before + self._nodes.construction()
        parents = [self._diag] if mean is None else [mean, self._diag]
        super().__init__(self._diag.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, scope)

    def _scaled(self, z: Tensor) -> Tensor:
        return z * self._diag

    def _unscaled(self, value: Tensor) -> Tensor:
        return value / self._diag

    def _log_scale(self) -> Tensor:
        return reduce_sum(log(absolute(self._diag)) + zeros_like(self._full_loc), -1)

    def _stddev(self) -> Tensor:
        with self._as_many_as(self._nodes.stddev()):
            return absolute(self._diag)

    def _variance(self) -> Tensor:
        with self._as_many_as(self._nodes.stddev()):
            return square(absolute(self._diag))

    def _covariance(self) -> Tensor:
        with self._as_many_as(self._nodes.stddev() + 1):
            return matrix_diag(square(self._diag))

    def divergence_from(self, other: MultivariateNormalDiag) -> Tensor:
        """KL(self || other).

        Args:
            other: a distribution of vectors of as many elements, whose batch broadcasts with this one's.

        Returns:
            [...] tensor of both batches' shape.
        """
        with self._as_many_as(self._nodes.divergence(other._nodes)):
            variance = other.variance()
            ratio = self.variance() / variance
            return 0.5 * reduce_sum(square(self.mean() - other.mean()) / variance + ratio - 1.0 - log(ratio), -1)


@RegisterKL(MultivariateNormalDiag, MultivariateNormalDiag)
def _kl_diag_diag(a: MultivariateNormalDiag, b: MultivariateNormalDiag, name: str | None = None) -> Tensor:
    with input_scope(name, "kl_mvn_mvn"):
        return a.divergence_from(b)
