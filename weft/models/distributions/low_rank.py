"""The multivariate normal distribution whose scale is a diagonal and a matrix of low rank."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.distribution import FULLY_REPARAMETERIZED
from weft.models.distributions.normal_of_vectors import NormalOfVectors
from weft.models.distributions.vectors import diagonal_scale
from weft.models.linear_operators.diagonal import LinearOperatorDiag
from weft.models.linear_operators.low_rank_update import LinearOperatorLowRankUpdate
from weft.models.linear_operators.operator import LinearOperator
from weft.ops.array.filling import zeros_like
from weft.ops.input_scope import input_scope
from weft.ops.math.elementwise import square
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import sqrt


class MultivariateNormalDiagPlusLowRank(NormalOfVectors):
    """The normal distribution of vectors with mean `loc` and the scale `D + U P U^T`, D and P diagonal.

    Args:
        loc: the means `[..., size]`; 0 when None.
        scale_diag: `[..., size]`, the diagonal of D.
        scale_identity_multiplier: `[...]`, added to it; when both are None, D is the identity.
        scale_perturb_factor: U, `[..., size, rank]`; none when None.
        scale_perturb_diag: `[..., rank]`, the diagonal of P; ones when None.
        validate_args: kept for `copy`; there is nothing to check.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.

    Raises:
        ValueError: nothing tells the size.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        scale_perturb_factor: TensorLike | None = None,
        scale_perturb_diag: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagPlusLowRank",
    ) -> None:
        parameters = dict(locals())
        given = [loc, scale_diag, scale_identity_multiplier, scale_perturb_factor, scale_perturb_diag]
        if loc is None and scale_diag is None and scale_perturb_factor is None:
            raise ValueError(
                "MultivariateNormalDiagPlusLowRank needs loc, scale_diag or scale_perturb_factor, which tell its size: all are "
                "None."
            )
        with input_scope(name, "MultivariateNormalDiagPlusLowRank", given) as scope:
            mean = None if loc is None else convert_to_tensor(loc, name="loc")
            factor = None if scale_perturb_factor is None else convert_to_tensor(scale_perturb_factor, name="factor")
            like = mean if factor is None else factor[..., 0]
            diag = diagonal_scale(scale_diag, scale_identity_multiplier, like)
            self._scale: LinearOperator = LinearOperatorDiag(diag)
            shape = zeros_like(diag)
            if factor is not None:
                among = scale_perturb_diag
                if among is not None:
                    among = convert_to_tensor(among, factor.dtype, name="perturb_diag")
                self._scale = LinearOperatorLowRankUpdate(self._scale, factor, among)
                shape += zeros_like(factor[..., 0])
            self._given_loc = mean
            self._full_loc = shape if mean is None else mean + shape
        parents = [*([] if mean is None else [mean]), *self._scale.graph_parents]
        super().__init__(diag.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, scope)

    def _scaled(self, z: Tensor) -> Tensor:
        return self._scale.matvec(z)

    def _unscaled(self, value: Tensor) -> Tensor:
        return self._scale.solvevec(value)

    def _log_scale(self) -> Tensor:
        return self._scale.log_abs_determinant() + zeros_like(self._full_loc[..., 0])

    def _covariance(self) -> Tensor:
        scale = self._scale.to_dense()
        return matmul(scale, scale, transpose_b=True)

    def _variance(self) -> Tensor:
        return reduce_sum(square(self._scale.to_dense()), -1)

    def _stddev(self) -> Tensor:
        return sqrt(self._variance())
