"""Multivariate normal distributions whose elements depend on each other: by a triangular scale, or by a covariance."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from weft.framework.building.aliases import TensorLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.counted_normal import CountedNormal
from weft.models.distributions.diagonal_nodes import TriangularNodes
from weft.models.distributions.distribution import FULLY_REPARAMETERIZED
from weft.models.distributions.divergence import RegisterKL
from weft.models.distributions.multivariate_normal import MultivariateNormalDiag
from weft.models.distributions.normal_of_vectors import NormalOfVectors
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.shape_ops import expand_dims, squeeze
from weft.ops.array.transposing import matrix_transpose
from weft.ops.debugging.checks import assert_near
from weft.ops.input_scope import input_scope
from weft.ops.linalg.decompositions import cholesky, matrix_triangular_solve
from weft.ops.linalg.matrix_bands import matrix_diag, matrix_diag_part
from weft.ops.linalg.matrix_parts import matrix_band_part
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import square
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import log, sqrt
from weft.ops.nn.activation import softplus


class MultivariateNormalTriL(CountedNormal):
    """The normal distribution of vectors with mean `loc` and covariance `scale_tril scale_tril^T`.

    Args:
        loc: the means `[..., size]`; 0 when None.
        scale_tril: `[..., size, size]`; what is above the diagonal counts for nothing.
        validate_args: kept for `copy`; there is nothing to check.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.

    Raises:
        ValueError: there is no `scale_tril`, which tells the size.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_tril: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalTriL",
    ) -> None:
        self._begin(loc, scale_tril, validate_args, allow_nan_stats, name, dict(locals()))

    def _begin(
        self, loc: TensorLike | None, scale_tril: TensorLike | None, validate_args: bool, allow_nan_stats: bool, name: str,
        parameters: Mapping[str, object],
    ) -> None:  # fmt: skip
        if scale_tril is None:
            raise ValueError(f"{type(self).__name__} needs scale_tril, which tells its size; it is None.")
        with input_scope(name, type(self).__name__, [loc, scale_tril]) as scope:
            given = convert_to_tensor(scale_tril, name="scale_tril")
            mean = None if loc is None else convert_to_tensor(loc, given.dtype.base_dtype, name="loc")
            count = get_default_graph().node_count
            before = count.total
            self._scale = scale = matrix_band_part(given, -1, 0)
            scale.shape.with_rank_at_least(2)
            self._given_loc = mean
            nothing = zeros_like(scale[..., 0])
            self._full_loc = nothing if mean is None else mean + nothing
            self._nodes = TriangularNodes(None if mean is None else mean.shape, scale.shape, self._full_loc.shape)
            count.total = before + self._nodes.construction()
        parents = [scale] if self._given_loc is None else [self._given_loc, scale]
        super().__init__(scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, scope)

    @property
    def scale_tril(self) -> Tensor:
        """The scale: `[..., size, size]`, zeros above the diagonal."""
        return self._scale

    def _scaled(self, z: Tensor) -> Tensor:
        return squeeze(matmul(self._scale, expand_dims(z, -1)), [-1])

    def _unscaled(self, value: Tensor) -> Tensor:
        far = expand_dims(value, -1)
        # A solver takes as many matrices as there are vectors.
        return matrix_triangular_solve(self._scale + zeros_like(far), far)[..., 0]

    def _log_scale(self) -> Tensor:
        return _log_determinant(self._scale + zeros_like(expand_dims(self._full_loc, -1)))

    def _covariance(self) -> Tensor:
        with self._as_many_as(self._nodes.stddev() - 2):
            return matmul(self._scale, self._scale, transpose_b=True)

    def _variance(self) -> Tensor:
        with self._as_many_as(self._nodes.stddev() - 1):
            return reduce_sum(square(self._scale), -1)

    def _stddev(self) -> Tensor:
        with self._as_many_as(self._nodes.stddev()):
            return sqrt(self._variance())


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The normal distribution of vectors with mean `loc` and a covariance.

    Args:
        loc: the means `[..., size]`; 0 when None.
        covariance_matrix: `[..., size, size]`, symmetric and positive definite.
        validate_args: whether runs check that it is symmetric.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.

    Raises:
        ValueError: there is no covariance.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        covariance_matrix: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ) -> None:
        parameters = dict(locals())
        if covariance_matrix is None:
            raise ValueError("MultivariateNormalFullCovariance needs covariance_matrix, which tells its size; it is None.")
        with input_scope(name, "MultivariateNormalFullCovariance", [loc, covariance_matrix]) as scope:
            scale = triangle_of(convert_to_tensor(covariance_matrix, name="covariance_matrix"), validate_args)
        self._begin(loc, scale, validate_args, allow_nan_stats, scope, parameters)


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """The normal distribution of vectors with independent elements, of deviations `softplus(scale_diag)`.

    Args:
        loc: `[..., size]` floats, the means; 0 when None.
        scale_diag: `[..., size]` floats of any sign.
        validate_args: whether runs check the arguments; without it, wrong ones give wrong numbers or NaN.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        name: the scope's name.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale_diag: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "MultivariateNormalDiagWithSoftplusScale", [scale_diag]) as scope:
            positive = softplus(scale_diag)
        super().__init__(loc, positive, None, validate_args, allow_nan_stats, scope)
        self._parameters = parameters


def triangle_of(matrix: Tensor, validate_args: bool) -> Tensor:
    """The Cholesky factor of matrices: `[..., size, size]`, zeros above the diagonal.

    Args:
        matrix: `[..., size, size]`, symmetric and positive definite.
        validate_args: whether runs check that it is symmetric.
    """
    message = "Matrix was not symmetric"
    checks = [assert_near(matrix, matrix_transpose(matrix), message=message)] if validate_args else []
    with control_dependencies(checks):
        return cholesky(matrix)


def _log_determinant(triangle: Tensor) -> Tensor:
    return reduce_sum(log(absolute(matrix_diag_part(triangle))), -1)


def _triangular(distribution: NormalOfVectors) -> Tensor:
    if isinstance(distribution, MultivariateNormalTriL):
        return distribution.scale_tril
    if isinstance(distribution, MultivariateNormalDiag):
        return matrix_diag(distribution.stddev())
    return cholesky(distribution.covariance())


@RegisterKL(NormalOfVectors, NormalOfVectors)
def _divergence(a: NormalOfVectors, b: NormalOfVectors, name: str | None = None) -> Tensor:
    with input_scope(name, "kl_mvn_mvn"), _counted(a, b):
        # Of one batch, as a solver wants them.
        batch = expand_dims(zeros_like(a.mean() + b.mean()), -1)
        scale_a, scale_b = _triangular(a) + batch, _triangular(b) + batch
        ratio = matrix_triangular_solve(scale_b, scale_a)
        moved = matrix_triangular_solve(scale_b, expand_dims(b.mean() - a.mean(), -1))
        squares = reduce_sum(square(ratio), [-2, -1]) + reduce_sum(square(moved), [-2, -1])
        size = reduce_sum(ones_like(batch), [-2, -1])
        return _log_determinant(scale_b) - _log_determinant(scale_a) + 0.5 * (squares - size)


def _counted(a: NormalOfVectors, b: NormalOfVectors) -> contextlib.AbstractContextManager[None]:
    """TensorFlow's count of a divergence, where both are triangular and of one known shape."""
    if not (isinstance(a, MultivariateNormalTriL) and isinstance(b, MultivariateNormalTriL)):
        return contextlib.nullcontext()
    shapes = [each.batch_shape.concatenate(each.event_shape) for each in (a, b)]
    is_known = all(each.is_fully_defined() for each in shapes) and shapes[0] == shapes[1]
    return get_default_graph().node_count.as_many_as(43) if is_known else contextlib.nullcontext()
