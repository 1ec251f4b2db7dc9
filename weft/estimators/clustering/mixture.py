"""GmmAlgorithm: the graph that fits a mixture of Gaussians by expectation and maximization (Dempster et al. 1977)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.estimators.clustering.starts import RANDOM_INIT, Start
from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.filling import fill, zeros
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims, reshape, shape
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import tile
from weft.ops.array.transposing import transpose
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group
from weft.ops.debugging.checks import assert_less_equal
from weft.ops.linalg.decompositions import cholesky, matrix_triangular_solve
from weft.ops.linalg.matrix_bands import matrix_diag_part
from weft.ops.linalg.matrix_parts import eye
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import add_n, square
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import argmax, reduce_logsumexp, reduce_mean, reduce_sum
from weft.ops.math.unary import exp, log
from weft.ops.random.functions import random_uniform
from weft.ops.variables.assign import assign
from weft.ops.variables.variable import Variable

FULL_COVARIANCE: Final = "full"
DIAG_COVARIANCE: Final = "diag"
_LITTLE: Final = float(np.finfo(float).eps)  # keeps the mean of a component without points a number
_LEAST_VARIANCE: Final = 1e-3  # on the diagonal, so that every covariance can be inverted


class GmmAlgorithm:
    """The graph of a mixture of Gaussians: each run of `training_ops` is one round of expectation and maximization.

    Args:
        data: tensors `[points, size]` of float32, whose points are fitted together.
        num_classes: how many components the mixture has.
        initial_means: `[num_classes, size]`, the first means; points of the data, drawn by `random_seed`, when None.
        params: what training changes: `w`eights, `m`eans and `c`ovariances, as letters.
        covariance_type: `full` or `diag`.
        random_seed: for the first means.

    Raises:
        ValueError: there is no such type of covariances.
    """

    CLUSTERS_WEIGHT: Final = "alphas"
    CLUSTERS_VARIABLE: Final = "clusters"
    CLUSTERS_COVS_VARIABLE: Final = "clusters_covs"

    def __init__(
        self, data: Sequence[TensorLike], num_classes: int, initial_means: TensorLike | None = None, params: str = "wmc",
        covariance_type: str = FULL_COVARIANCE, random_seed: int = 0,
    ) -> None:  # fmt: skip
        if covariance_type not in (FULL_COVARIANCE, DIAG_COVARIANCE):
            raise ValueError(f"Invalid covariance type: {covariance_type!r}. A mixture has 'full' or 'diag' ones.")
        shards = [convert_to_tensor(each, dtypes.float32) for each in data]
        self._count, self._params, self._is_full = num_classes, params, covariance_type == FULL_COVARIANCE
        self._means: VariableLike = Variable(_nothing(), name=self.CLUSTERS_VARIABLE, validate_shape=False)
        self._covariances: VariableLike = Variable(_nothing(), name=self.CLUSTERS_COVS_VARIABLE, validate_shape=False)
        even = fill([num_classes], 1.0 / num_classes)
        self._weights: VariableLike = Variable(even, name=self.CLUSTERS_WEIGHT, validate_shape=False)
        self._initialized: VariableLike = Variable(False, name="initialized")
        self._init_op = self._begin(shards, initial_means, random_seed)
        densities = [self._log_densities(points) for points in shards]
        self._log_likelihoods = [reduce_logsumexp(each, 1, keepdims=True) for each in densities]
        self._shares = [exp(each - total) for each, total in zip(densities, self._log_likelihoods, strict=True)]
        self._training_op = self._maximize(shards)

    def __repr__(self) -> str:
        return f"<tf.contrib.factorization.GmmAlgorithm of {self._count} components>"

    def init_ops(self) -> Operation:
        """What lets means and covariances begin, once; further runs change nothing."""
        return self._init_op

    def training_ops(self) -> Operation:
        """One round: what share each component has in each point, and the mixture that fits these shares best."""
        return self._training_op

    def is_initialized(self) -> VariableLike:
        """Whether means and covariances have begun: a variable, `[] bool`."""
        return self._initialized

    def alphas(self) -> VariableLike:
        """The components' weights: a variable, `[num_classes] float32`."""
        return self._weights

    def clusters(self) -> VariableLike:
        """The components' means: a variable, `[num_classes, 1, size] float32`."""
        return self._means

    def covariances(self) -> VariableLike:
        """The components' covariances: a variable, `[num_classes, size, size] float32`; without an axis of size for `diag`."""
        return self._covariances

    def assignments(self) -> list[Tensor]:
        """The components that have the greatest share in each point.

        Returns:
            For each tensor of the data, the numbers of components, `[points] int64`.
        """
        return [argmax(each, 1) for each in self._shares]

    def scores(self) -> Tensor:
        """The logarithm of each point's likelihood, `[points, 1] float32`, of all tensors of the data one after the other."""
        return concat(self._log_likelihoods, 0) if len(self._log_likelihoods) > 1 else self._log_likelihoods[0]

    def log_likelihood_op(self) -> Tensor:
        """The logarithm of the sum of all points' likelihoods, `[] float32`."""
        return reduce_logsumexp(stack([reduce_logsumexp(each) for each in self._log_likelihoods]))

    def _begin(self, data: Sequence[Tensor], initial_means: TensorLike | None, seed: int) -> Operation:
        def first() -> Tensor:
            means = _random_points(data, self._count, seed) if initial_means is None else initial_means
            own = _covariance(data[0])
            covariance = own if self._is_full else matrix_diag_part(own)
            copies = tile(expand_dims(covariance, 0), [self._count] + [1] * (2 if self._is_full else 1))
            assigned = [
                assign(self._means, expand_dims(means, 1), validate_shape=False),
                assign(self._covariances, copies, validate_shape=False),
            ]
            with control_dependencies(assigned):
                return convert_to_tensor(assign(self._initialized, constant(True)))

        begun: Tensor = cond(convert_to_tensor(self._initialized), lambda: constant(True), first)
        return begun.op

    def _log_densities(self, points: Tensor) -> Tensor:
        """The logarithm of each component's density at each point, times its weight: `[points, components]`."""
        apart = expand_dims(points, 0) - convert_to_tensor(self._means)
        if self._is_full:
            roots = cholesky(convert_to_tensor(self._covariances) + _least(points))
            log_determinants = 2.0 * reduce_sum(log(matrix_diag_part(roots)), 1)
            distances = reduce_sum(square(matrix_triangular_solve(roots, transpose(apart, [0, 2, 1]))), 1)
        else:
            variances = convert_to_tensor(self._covariances) + _LEAST_VARIANCE
            log_determinants = reduce_sum(log(variances), 1)
            distances = reduce_sum(square(apart) / expand_dims(variances, 1), 2)
        size = cast(shape(points)[1], dtypes.float32)
        densities = -0.5 * (transpose(distances) + size * float(np.log(2 * np.pi)) + log_determinants)
        return densities + log(convert_to_tensor(self._weights))

    def _maximize(self, data: Sequence[Tensor]) -> Operation:
        """New values, all from the old ones: no variable is written before its old value has made the shares."""
        counts = add_n([reduce_sum(each, 0) for each in self._shares])
        sums = add_n([matmul(share, points, transpose_a=True) for share, points in zip(self._shares, data, strict=True)])
        squares = add_n([_squares(share, points) for share, points in zip(self._shares, data, strict=True)])
        known = reshape(counts, [self._count, 1, 1]) + _LITTLE
        updates = []
        with control_dependencies([counts, sums, squares]):
            if "w" in self._params:
                updates.append(assign(self._weights, counts / (reduce_sum(counts) + _LITTLE)))
            means = convert_to_tensor(self._means)
            if "m" in self._params:
                means = convert_to_tensor(assign(self._means, expand_dims(sums, 1) / known))
                updates.append(means)
            if "c" in self._params:
                covariances = squares / known - matmul(means, means, transpose_a=True) + _least(data[0])
                new = covariances if self._is_full else matrix_diag_part(covariances)
                updates.append(assign(self._covariances, new, validate_shape=False))
        return group(*updates)


def gmm(
    inp: Nest, initial_clusters: Start, num_clusters: int, random_seed: int, covariance_type: str = FULL_COVARIANCE,
    params: str = "wmc",
) -> tuple[Tensor, Tensor, list[list[Tensor]], Operation, Operation, VariableLike]:  # fmt: skip
    """Build the graph that fits a mixture of Gaussians.

    Args:
        inp: points `[n, size]` of float32, or a list of such tensors.
        initial_clusters: the first means: `random` for points of the input, the means, or a function from the points and the
            number of components to them.
        num_clusters: how many components the mixture has.
        random_seed: for the first means.
        covariance_type: `full` or `diag`.
        params: what training changes: `w`eights, `m`eans and `c`ovariances, as letters.

    Returns:
        The logarithm of the sum of all likelihoods; that of each point's, `[n, 1]`; a list that holds the list of each input's
        components, `[n] int64`; what trains; what lets the mixture begin; the variable that tells whether it has.

    Raises:
        ValueError: there is no such beginning or type of covariances.
    """
    data = [convert_to_tensor(each, dtypes.float32) for each in (inp if isinstance(inp, list) else [inp])]
    means = None
    if not isinstance(initial_clusters, str):
        points: Nest = data[0] if len(data) == 1 else concat(data, 0)
        given: Nest = initial_clusters(points, num_clusters) if callable(initial_clusters) else initial_clusters
        means = convert_to_tensor(given, dtypes.float32)
    elif initial_clusters != RANDOM_INIT:
        raise ValueError(f"Unsupported initial clusters passed to gmm {initial_clusters!r}: it takes 'random' or the means.")
    built = GmmAlgorithm(data, num_clusters, means, params, covariance_type, random_seed)
    return (
        built.log_likelihood_op(), built.scores(), [built.assignments()], built.training_ops(), built.init_ops(),
        built.is_initialized(),
    )  # fmt: skip


def _nothing() -> Tensor:
    return zeros([0])


def _random_points(data: Sequence[Tensor], count: int, seed: int) -> Tensor:
    points = concat(data, 0) if len(data) > 1 else data[0]
    known = shape(points)[0]
    with control_dependencies([assert_less_equal(count, known)]):
        return gather(points, random_uniform([count], 0, cast(known, dtypes.int64), dtypes.int64, seed=seed))


def _least(points: Tensor) -> Tensor:
    return eye(shape(points)[1]) * _LEAST_VARIANCE


def _covariance(points: Tensor) -> Tensor:
    apart = points - reduce_mean(points, 0, keepdims=True)
    return matmul(apart, apart, transpose_a=True) / (cast(shape(points)[0], dtypes.float32) - 1) + _least(points)


def _squares(shares: Tensor, points: Tensor) -> Tensor:
    """The sum over the points of their outer products, by each component's share: `[components, size, size]`."""
    weighted = expand_dims(transpose(shares), 1) * expand_dims(transpose(points), 0)
    return matmul(weighted, tile(expand_dims(points, 0), [shape(shares)[1], 1, 1]))
