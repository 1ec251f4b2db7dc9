"""Wishart's distributions: of the covariance of normal vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping

from weft.framework.building.aliases import TensorLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from weft.models.distributions.multivariate_tril import triangle_of
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import where_v2
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_less_equal, assert_positive
from weft.ops.input_scope import input_scope
from weft.ops.linalg.decompositions import cholesky, matrix_triangular_solve
from weft.ops.linalg.matrix_bands import matrix_diag_part, matrix_set_diag
from weft.ops.linalg.matrix_parts import matrix_band_part
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import square
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.special_functions import digamma, lgamma
from weft.ops.math.unary import log, sqrt
from weft.ops.random.functions import random_gamma, random_normal


class Wishart(Distribution):
    """The distribution of `sum x x^T` for `df` normal vectors x; what the two public classes share.

    A subclass gives the scale's triangle to `_begin`.
    """

    def _begin(
        self, df: TensorLike, scale_tril: Tensor, of_triangles: bool, validate_args: bool, allow_nan_stats: bool, scope: str,
        parameters: Mapping[str, object],
    ) -> None:  # fmt: skip
        self._tril = matrix_band_part(scale_tril, -1, 0)
        size = self._tril.shape.as_list()[-1]
        self._size = cast(shape_of(self._tril)[-1] if size is None else size, self._tril.dtype)
        self._df = self._checked(convert_to_tensor(df, self._tril.dtype.base_dtype, name="df"), size, validate_args)
        self._of_triangles = of_triangles
        # One df for each matrix, and one matrix for each df.
        self._all_df = self._df + zeros_like(self._tril[..., 0, 0])
        self._all_tril = self._tril + zeros_like(self._all_df)[..., None, None]
        Distribution.__init__(
            self, self._tril.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._df, self._tril], scope,
        )  # fmt: skip

    def _checked(self, df: Tensor, size: int | None, validate_args: bool) -> Tensor:
        """`df` once it is known to be no less than the size, or to be so by the runs."""
        known = constant_value(df)
        told = "Degrees of freedom (df = {}) cannot be less than dimension of scale matrix (scale.dimension = {})"
        if known is not None and size is not None:
            if (known < size).any():
                raise ValueError(told.format(known, size))
            return df
        if not validate_args:
            return df
        return with_dependencies([assert_less_equal(self._size, df, message=told.format(df, self._size))], df)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df

    @property
    def dimension(self) -> Tensor:
        """How many rows a matrix has, as a float."""
        return self._size

    @property
    def cholesky_input_output_matrices(self) -> bool:
        """Whether triangles are taken and given instead of matrices."""
        return self._of_triangles

    def scale(self) -> Tensor:
        """The scale matrix; its triangle where triangles are given."""
        return self._tril if self._of_triangles else _product(self._tril)

    def _batch_shape(self) -> TensorShape:
        return self._all_df.shape

    def _batch_shape_tensor(self) -> Tensor:
        return shape_of(self._all_df)

    def _event_shape(self) -> TensorShape:
        found: TensorShape = self._tril.shape[-2:]
        return found

    def _event_shape_tensor(self) -> Tensor:
        return shape_of(self._tril)[-2:]

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        sizes = concat([[n], shape_of(self._all_tril)], 0)
        below = matrix_band_part(random_normal(sizes, dtype=self.dtype, seed=seed), -1, 0)
        # The diagonal of Bartlett's triangle: roots of chi-squared numbers.
        freedom = self._steps(self._all_df)
        shapes = 0.5 * freedom
        squares = random_gamma([n], shapes, 0.5, dtype=self.dtype, seed=None if seed is None else seed + 1)
        triangle = matmul(self._all_tril + zeros_like(below), matrix_set_diag(below, sqrt(squares)))
        return triangle if self._of_triangles else _product(triangle)

    def _steps(self, value: Tensor) -> Tensor:
        """`value - i` for each row i: `[...] -> [..., size]`."""
        return expand_dims(value, -1) - range_of(0.0, self._size, 1.0, dtype=self.dtype)

    def _log_prob(self, value: Tensor) -> Tensor:
        root = value if self._of_triangles else cholesky(value)
        tril = self._all_tril + zeros_like(root)
        trace = reduce_sum(square(matrix_triangular_solve(tril, root + zeros_like(tril))), [-2, -1])
        half_log = reduce_sum(log(matrix_diag_part(root)), -1)
        return (self._all_df - self._size - 1.0) * half_log - 0.5 * trace - self.log_normalization()

    def _half_log_scale(self) -> Tensor:
        return reduce_sum(log(matrix_diag_part(self._all_tril)), -1)

    def log_normalization(self, name: str = "log_normalization") -> Tensor:
        """The logarithm of what the density is divided by: `batch_shape`.

        Args:
            name: the scope's name.
        """
        with input_scope(name, name):
            p = self._size
            gamma = 0.25 * p * (p - 1.0) * math.log(math.pi) + reduce_sum(lgamma(0.5 * self._steps(self._all_df)), -1)
            return self._all_df * (self._half_log_scale() + 0.5 * p * math.log(2.0)) + gamma

    def mean_log_det(self, name: str = "mean_log_det") -> Tensor:
        """The mean of the logarithm of the determinant: `batch_shape`.

        Args:
            name: the scope's name.
        """
        with input_scope(name, name):
            angles = reduce_sum(digamma(0.5 * self._steps(self._all_df)), -1)
            return angles + self._size * math.log(2.0) + 2.0 * self._half_log_scale()

    def _entropy(self) -> Tensor:
        rest = 0.5 * (self._all_df - self._size - 1.0) * self.mean_log_det()
        return self.log_normalization() - rest + 0.5 * self._all_df * self._size

    def _times(self, number: Tensor) -> Tensor:
        """A multiple of the scale, as a matrix or its triangle."""
        if self._of_triangles:
            return sqrt(number)[..., None, None] * self._all_tril
        return number[..., None, None] * _product(self._all_tril)

    def _mean(self) -> Tensor:
        return self._times(self._all_df)

    def _mode(self) -> Tensor:
        free = self._all_df - self._size - 1.0
        return self._times(where_v2(free < 0.0, ones_like(free) * float("nan"), free))

    def _variance(self) -> Tensor:
        scale = _product(self._all_tril)
        diagonal = sqrt(matrix_diag_part(scale))[..., None]
        variance = self._all_df[..., None, None] * (square(scale) + square(matmul(diagonal, diagonal, transpose_b=True)))
        return cholesky(variance) if self._of_triangles else variance

    def _stddev(self) -> Tensor:
        if self._of_triangles:
            raise ValueError("Computing std. dev. when is cholesky_input_output_matrices=True does not make sense.")
        # As in TensorFlow: the factor of the matrix of variances, not the root of each.
        return cholesky(self._variance())


class WishartCholesky(Wishart):
    """Wishart's distribution of matrices, by the triangle of its scale.

    `stddev()` is the Cholesky factor of `variance()`, as in TensorFlow, and not the root of each element.

    Args:
        df: the degrees of freedom, at least the number of rows; checked as soon as they are known.
        scale: `[..., size, size]`, the lower triangle L of the scale `L L^T`.
        cholesky_input_output_matrices: whether samples and values are such triangles too.
        validate_args: whether runs check the arguments.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        name: the scope's name.

    Raises:
        ValueError: `df` is less than the number of rows.
    """

    def __init__(
        self,
        df: TensorLike,
        scale: TensorLike,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartCholesky",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "WishartCholesky", [df, scale]) as scope:
            tril = convert_to_tensor(scale, name="scale")
            message = "scale must be positive definite"
            checks = [assert_positive(matrix_diag_part(tril), message=message)] if validate_args else []
            with control_dependencies(checks):
                self._begin(df, tril, cholesky_input_output_matrices, validate_args, allow_nan_stats, scope, parameters)


class WishartFull(Wishart):
    """Wishart's distribution of matrices, by its scale.

    `stddev()` is the Cholesky factor of `variance()`, as in TensorFlow, and not the root of each element.

    Args:
        df: the degrees of freedom, at least the number of rows; checked as soon as they are known.
        scale: `[..., size, size]`, symmetric and positive definite.
        cholesky_input_output_matrices: whether samples and values are lower triangles.
        validate_args: whether runs check the arguments.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        name: the scope's name.

    Raises:
        ValueError: `df` is less than the number of rows.
    """

    def __init__(
        self,
        df: TensorLike,
        scale: TensorLike,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartFull",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "WishartFull", [df, scale]) as scope:
            tril = triangle_of(convert_to_tensor(scale, name="scale"), validate_args)
            self._begin(df, tril, cholesky_input_output_matrices, validate_args, allow_nan_stats, scope, parameters)


def _product(triangle: Tensor) -> Tensor:
    return matmul(triangle, triangle, transpose_b=True)
