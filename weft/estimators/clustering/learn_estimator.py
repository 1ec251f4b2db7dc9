"""KMeansClustering of tf.contrib.learn: k-means with `fit`, `score` and `transform`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

import numpy as np

from weft.estimators.aliases import Features, InputFn
from weft.estimators.clustering import k_means, starts
from weft.estimators.clustering.beginning import Begin, side_by_side
from weft.estimators.clustering.k_means import KMeans
from weft.estimators.clustering.settling import StopWhenSettled
from weft.estimators.learn.estimator import Estimator
from weft.estimators.learn.model_fn_ops import ModelFnOps
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Array, Nest, VariableLike
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.summary.nodes import scalar
from weft.ops.variables.assign import assign_add
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.training_util import get_global_step


class KMeansClustering(Estimator):
    """Clusters points by k-means. `tf.contrib.factorization.KMeansClustering` has the methods of a `tf.estimator.Estimator`.

        kmeans = tf.contrib.learn.KMeansClustering(num_clusters=5)
        kmeans.fit(input_fn=lambda: (tf.constant(points), None), steps=20)
        kmeans.clusters()

    Args:
        num_clusters: how many clusters there are.
        model_dir: where the model is kept.
        initial_clusters: `random`, `kmeans_plus_plus`, the centers, or a function from the points and the number to them.
        distance_metric: `squared_euclidean` or `cosine`.
        random_seed: for the first centers.
        use_mini_batch: whether each step has some of the points; else it has all.
        mini_batch_steps_per_iteration: at how many steps the moved centers are taken for what follows.
        kmeans_plus_plus_num_retries: of TensorFlow's way to draw the first centers; not used here.
        relative_tolerance: training ends when the loss changes by a smaller share from step to step; never when None.
        config: how it is run.
    """

    SQUARED_EUCLIDEAN_DISTANCE: Final = k_means.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE: Final = k_means.COSINE_DISTANCE
    RANDOM_INIT: Final = starts.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT: Final = starts.KMEANS_PLUS_PLUS_INIT
    SCORES: Final = "scores"
    CLUSTER_IDX: Final = "cluster_idx"
    CLUSTERS: Final = k_means.CLUSTERS_VAR_NAME
    ALL_SCORES: Final = "all_scores"
    LOSS_OP_NAME: Final = "kmeans_loss"

    def __init__(
        self, num_clusters: int, model_dir: str | os.PathLike[str] | None = None,
        initial_clusters: starts.Start = starts.RANDOM_INIT, distance_metric: str = k_means.SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0, use_mini_batch: bool = True, mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2, relative_tolerance: float | None = None, config: RunConfig | None = None,
    ) -> None:  # fmt: skip
        def model_fn(features: Features, labels: Nest, mode: str) -> ModelFnOps:
            if labels is not None:
                raise ValueError(f"Points that are clustered have no labels; the input gives {labels}.")
            built = KMeans(
                side_by_side(features), num_clusters, initial_clusters, distance_metric, use_mini_batch,
                mini_batch_steps_per_iteration, random_seed, kmeans_plus_plus_num_retries,
            ).training_graph()  # fmt: skip
            loss = reduce_sum(built.scores[0], name=self.LOSS_OP_NAME)
            scalar("loss/raw", loss)
            step: VariableLike = get_global_step()
            trained = with_dependencies([built.training_op, assign_add(step, 1)], loss)
            hooks: list[SessionRunHook] = [Begin(built.init_op, built.cluster_centers_initialized, "kmeans")]
            if relative_tolerance is not None:
                hooks.append(StopWhenSettled(loss, relative_tolerance))
            predictions = {self.ALL_SCORES: built.all_scores[0], self.CLUSTER_IDX: built.cluster_idx[0]}
            return ModelFnOps(mode, predictions, loss, trained, {self.SCORES: loss}, training_hooks=hooks)

        super().__init__(model_fn, model_dir, config)

    def predict_cluster_idx(self, input_fn: InputFn | None = None) -> Iterator[Nest]:
        """The cluster of each point, one after the other.

        Args:
            input_fn: gives the points, once.

        Returns:
            An iterator of numbers.
        """
        return (each[self.CLUSTER_IDX] for each in self.predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX]))

    def score(self, input_fn: InputFn | None = None, steps: int | None = None) -> Nest:
        """The sum of the distances of the points of a batch from their centers.

        Args:
            input_fn: gives the points.
            steps: how many batches; None until the input ends. The last one counts.
        """
        return np.sum(self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES])

    def transform(self, input_fn: InputFn | None = None, as_iterable: bool = False) -> Nest:
        """The distances of each point from all centers; their squares where the metric is `squared_euclidean`.

        Args:
            input_fn: gives the points, once.
            as_iterable: whether they are given one point after the other.

        Returns:
            An array `[points, num_clusters] float32`, or an iterator of dicts with the distances at `all_scores`.
        """
        found = self.predict(input_fn=input_fn, outputs=[self.ALL_SCORES], as_iterable=as_iterable)
        return found if as_iterable else found[self.ALL_SCORES]

    def clusters(self) -> Array:
        """The centers of the clusters, `[num_clusters, size] float32`."""
        return self.get_variable_value(self.CLUSTERS)
