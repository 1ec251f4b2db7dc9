"""The multivariate normal distribution whose elements are independent."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.distribution import FULLY_REPARAMETERIZED
from weft.models.distributions.divergence import RegisterKL
from weft.models.distributions.normal_of_vectors import NormalOfVectors
from weft.models.distributions.vectors import diagonal_scale
from weft.ops.array.filling import zeros_like
from weft.ops.input_scope import input_scope
from weft.ops.linalg.matrix_bands import matrix_diag
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import square
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import log


class MultivariateNormalDiag(NormalOfVectors):
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
            mean = None if loc is None else convert_to_tensor(loc, name="loc")
            diag = diagonal_scale(scale_diag, scale_identity_multiplier, mean)
            self._diag = diag
            self._given_loc = mean
            self._full_loc = zeros_like(diag) if mean is None else mean + zeros_like(diag)
        parents = [diag] if mean is None else [mean, diag]
        super().__init__(diag.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, scope)

    def _scaled(self, z: Tensor) -> Tensor:
        return z * self._diag

    def _unscaled(self, value: Tensor) -> Tensor:
        return value / self._diag

    def _log_scale(self) -> Tensor:
        return reduce_sum(log(absolute(self._diag)) + zeros_like(self._full_loc), -1)

    def _stddev(self) -> Tensor:
        return absolute(self._diag)

    def _variance(self) -> Tensor:
        return square(self._stddev())

    def _covariance(self) -> Tensor:
        return matrix_diag(square(self._diag))


@RegisterKL(MultivariateNormalDiag, MultivariateNormalDiag)
def _kl_diag_diag(a: MultivariateNormalDiag, b: MultivariateNormalDiag, name: str | None = None) -> Tensor:
    with input_scope(name, "kl_mvn_mvn"):
        variance = b.variance()
        ratio = a.variance() / variance
        return 0.5 * reduce_sum(square(a.mean() - b.mean()) / variance + ratio - 1.0 - log(ratio), -1)
