"""KMeans: the graph of k-means clustering (Lloyd 1982; in mini-batches, Sculley 2010)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from weft.estimators.clustering.starts import RANDOM_INIT, Distances, Start, first_centers
from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones, ones_like, zeros, zeros_like
from weft.ops.array.identity import identity
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum
from weft.ops.math.elementwise import square
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import argmin, reduce_min, reduce_sum
from weft.ops.math.segment import unsorted_segment_sum
from weft.ops.nn.norm import l2_normalize
from weft.ops.variables.assign import assign, assign_sub
from weft.ops.variables.variable import Variable

SQUARED_EUCLIDEAN_DISTANCE: Final = "squared_euclidean"
COSINE_DISTANCE: Final = "cosine"
CLUSTERS_VAR_NAME: Final = "clusters"
_LITTLE: Final = 1e-6  # keeps the center of a cluster without points a number


class TrainingGraph(NamedTuple):
    """What `KMeans.training_graph` gives.

    Args:
        all_scores: for each input, the distances of its points from the centers, `[points, clusters]`.
        cluster_idx: for each input, the clusters of its points.
        scores: for each input, the distances of its points from their centers.
        cluster_centers_initialized: whether the centers have begun.
        init_op: lets the centers begin, once.
        training_op: moves the centers.
    """

    all_scores: list[Tensor]
    cluster_idx: list[Tensor]
    scores: list[Tensor]
    cluster_centers_initialized: VariableLike
    init_op: Operation
    training_op: Operation


class KMeans:
    """The graph of k-means clustering.

    Args:
        inputs: points `[n, size]`, or a list of such tensors.
        num_clusters: how many clusters there are.
        initial_clusters: `random`, `kmeans_plus_plus`, the centers, or a function from the points and the number to them.
        distance_metric: `squared_euclidean` or `cosine`.
        use_mini_batch: whether each step has some of the points, and moves the centers a little; else it has all.
        mini_batch_steps_per_iteration: at how many steps the moved centers are taken for what follows.
        random_seed: for the first centers.
        kmeans_plus_plus_num_retries, kmc2_chain_length: of TensorFlow's ways to draw the first centers; not used here.

    Raises:
        ValueError: there is no such metric.
    """

    def __init__(
        self, inputs: Nest, num_clusters: int, initial_clusters: Start = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE, use_mini_batch: bool = False,
        mini_batch_steps_per_iteration: int = 1, random_seed: int = 0, kmeans_plus_plus_num_retries: int = 2,
        kmc2_chain_length: int = 200,
    ) -> None:  # fmt: skip
        if distance_metric not in _DISTANCES:
            raise ValueError(f"Unsupported distance metric passed to Kmeans {distance_metric!r}: it takes {list(_DISTANCES)}.")
        self._inputs = [convert_to_tensor(each, dtypes.float32) for each in (inputs if isinstance(inputs, list) else [inputs])]
        self._count, self._start, self._seed = num_clusters, initial_clusters, random_seed
        self._metric: Distances = _DISTANCES[distance_metric]
        self._is_cosine = distance_metric == COSINE_DISTANCE
        self._mini, self._steps = use_mini_batch, mini_batch_steps_per_iteration

    def __repr__(self) -> str:
        return f"<tf.contrib.factorization.KMeans of {self._count} clusters>"

    def training_graph(self) -> TrainingGraph:
        """Build the graph: the points' clusters, and what trains them.

        Returns:
            Scores, clusters, whether the centers have begun, what lets them begin and what trains them.
        """
        size = self._inputs[0].shape[1]
        centers: VariableLike = Variable(zeros([0, size]), name=CLUSTERS_VAR_NAME, validate_shape=False, trainable=False)
        initialized: VariableLike = Variable(False, trainable=False, name="initialized")
        batches = self._mini_batches(centers, size) if self._mini else None
        moving = centers if batches is None else batches.moving
        begin = self._begin(centers, moving, initialized)
        known = l2_normalize(centers, 1) if self._is_cosine else convert_to_tensor(centers)
        known.set_shape([self._count, size])
        all_scores = [self._metric(points, known) for points in self._inputs]
        clusters = [argmin(each, 1) for each in all_scores]
        training = self._all_points(clusters, centers) if batches is None else self._mini_batch(clusters, batches)
        scores = [reduce_min(each, 1) for each in all_scores]
        return TrainingGraph(all_scores, clusters, scores, initialized, begin, training)

    def _begin(self, centers: VariableLike, moving: VariableLike, initialized: VariableLike) -> Operation:
        def first() -> Tensor:
            points = concat(self._inputs, 0) if len(self._inputs) > 1 else self._inputs[0]
            chosen = first_centers(points, self._count, self._start, self._metric, self._seed)
            places = {id(each): each for each in (centers, moving)}.values()
            assigned = [assign(each, chosen, validate_shape=False) for each in places]
            with control_dependencies(assigned):
                return convert_to_tensor(assign(initialized, constant(True)))

        begun: Tensor = cond(convert_to_tensor(initialized), lambda: constant(True), first)
        return begun.op

    def _points(self) -> list[Tensor]:
        return [l2_normalize(each, 1) for each in self._inputs] if self._is_cosine else self._inputs

    def _sums(self, clusters: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """The sum of the points of each cluster, and how many there are, `[clusters, 1]`."""
        points, places = concat(self._points(), 0), concat(clusters, 0)
        each_once = ones_like(cast(places, dtypes.float32))
        return (
            unsorted_segment_sum(points, places, self._count),
            expand_dims(unsorted_segment_sum(each_once, places, self._count), 1),
        )

    def _all_points(self, clusters: Sequence[Tensor], centers: VariableLike) -> Operation:
        sums, counts = self._sums(clusters)
        means = sums / (counts + _LITTLE)
        return assign(centers, l2_normalize(means, 1) if self._is_cosine else means, validate_shape=False).op

    def _mini_batches(self, centers: VariableLike, size: int) -> _MiniBatches:
        if self._steps <= 1:
            # A first center counts as one point.
            had = Variable(ones([self._count], dtypes.int64), trainable=False)
            return _MiniBatches(centers, had, None)
        moving = Variable(zeros([0, size]), name="clusters_updated", validate_shape=False, trainable=False)
        wait: VariableLike = Variable(self._steps, dtype=dtypes.int64, name="update_in_steps", trainable=False)
        had = Variable(zeros([self._count], dtypes.int64), trainable=False)

        def take() -> Tensor:
            moved = l2_normalize(moving, 1) if self._is_cosine else convert_to_tensor(moving)
            begun = [assign(wait, self._steps - 1), assign(centers, moved, validate_shape=False)]
            with control_dependencies(begun), control_dependencies([assign(had, zeros_like(had))]):
                return identity(wait)

        taken: Tensor = cond(wait <= 0, take, lambda: convert_to_tensor(assign_sub(wait, 1)))
        return _MiniBatches(moving, had, taken.op)

    def _mini_batch(self, clusters: Sequence[Tensor], batches: _MiniBatches) -> Operation:
        """Each center goes to the mean of all points that it has had: by the share that the new ones have in them."""
        sums, counts = self._sums(clusters)
        with control_dependencies([] if batches.taken is None else [batches.taken]):
            old, before = identity(batches.moving), identity(batches.had)
        new = old + (sums - counts * old) / maximum(expand_dims(cast(before, dtypes.float32), 1) + counts, 1.0)
        moved = assign(batches.moving, new, validate_shape=False)
        with control_dependencies([moved]):
            return group(moved, assign(batches.had, before + cast(counts[:, 0], dtypes.int64)))


class _MiniBatches(NamedTuple):
    """What mini-batches change.

    Args:
        moving: the centers that each step moves; those that others see, or a copy.
        had: how many points each has had, as int64.
        taken: makes the moved centers those that others see, in some steps; None where these are the same.
    """

    moving: VariableLike
    had: VariableLike
    taken: Operation | None


def _squared(points: Tensor, centers: Tensor) -> Tensor:
    own, theirs = reduce_sum(square(points), 1, keepdims=True), expand_dims(reduce_sum(square(centers), 1), 0)
    return own - 2.0 * matmul(points, centers, transpose_b=True) + theirs


def _cosine(points: Tensor, centers: Tensor) -> Tensor:
    return 1.0 - matmul(l2_normalize(points, 1), l2_normalize(centers, 1), transpose_b=True)


_DISTANCES: Final[dict[str, Distances]] = {SQUARED_EUCLIDEAN_DISTANCE: _squared, COSINE_DISTANCE: _cosine}
