"""KMeansClustering: k-means as an estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from weft.estimators.aliases import Features, InputFn
from weft.estimators.clustering import k_means, starts
from weft.estimators.clustering.beginning import Begin, side_by_side
from weft.estimators.clustering.k_means import KMeans
from weft.estimators.clustering.settling import StopWhenSettled
from weft.estimators.estimator import Estimator
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.export.export_output import ExportOutput, PredictOutput
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.feature_columns.input_layer import input_layer
from weft.models.metrics.mean import mean
from weft.ops.control_flow.ordering import group
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.summary.nodes import scalar
from weft.ops.variables.assign import assign_add
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.training_util import get_global_step


class KMeansClustering(Estimator):
    """Clusters points by k-means.

        kmeans = tf.contrib.factorization.KMeansClustering(num_clusters=5, use_mini_batch=False)
        kmeans.train(input_fn)
        kmeans.cluster_centers()

    Args:
        num_clusters: how many clusters there are.
        model_dir: where the model is kept.
        initial_clusters: `random`, `kmeans_plus_plus`, the centers, or a function from the points and the number to them.
        distance_metric: `squared_euclidean` or `cosine`.
        random_seed: for the first centers.
        use_mini_batch: whether each step has some of the points; else it has all.
        mini_batch_steps_per_iteration: at how many steps the moved centers are taken for what follows.
        kmeans_plus_plus_num_retries: of TensorFlow's way to draw the first centers; not used here.
        relative_tolerance: training ends when the loss changes by a smaller share from step to step; never when None. In
            mini-batches that may happen too early.
        config: how it is run.
        feature_columns: the columns that make points of features; the features side by side, in the order of their names, when
            None.

    Raises:
        ValueError: there is no such metric or beginning.
    """

    SQUARED_EUCLIDEAN_DISTANCE: Final = k_means.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE: Final = k_means.COSINE_DISTANCE
    RANDOM_INIT: Final = starts.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT: Final = starts.KMEANS_PLUS_PLUS_INIT
    SCORE: Final = "score"
    CLUSTER_INDEX: Final = "cluster_index"
    ALL_DISTANCES: Final = "all_distances"
    CLUSTER_CENTERS_VAR_NAME: Final = k_means.CLUSTERS_VAR_NAME

    def __init__(
        self, num_clusters: int, model_dir: str | None = None, initial_clusters: starts.Start = starts.RANDOM_INIT,
        distance_metric: str = k_means.SQUARED_EUCLIDEAN_DISTANCE, random_seed: int = 0, use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1, kmeans_plus_plus_num_retries: int = 2, relative_tolerance: float | None = None,
        config: RunConfig | None = None, feature_columns: Sequence[object] | None = None,
    ) -> None:  # fmt: skip
        if isinstance(initial_clusters, str) and initial_clusters not in (self.RANDOM_INIT, self.KMEANS_PLUS_PLUS_INIT):
            raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
        if distance_metric not in (self.SQUARED_EUCLIDEAN_DISTANCE, self.COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric {distance_metric}")

        def make(points: Tensor) -> KMeans:
            return KMeans(
                points, num_clusters, initial_clusters, distance_metric, use_mini_batch, mini_batch_steps_per_iteration,
                random_seed, kmeans_plus_plus_num_retries,
            )  # fmt: skip

        super().__init__(_model_fn(make, relative_tolerance, feature_columns), model_dir, config)

    def predict_cluster_index(self, input_fn: InputFn) -> Nest:
        """The cluster of each point, one after the other.

        Args:
            input_fn: gives the points, once.

        Returns:
            An iterator of numbers.
        """
        return (each[self.CLUSTER_INDEX] for each in self.predict(input_fn, predict_keys=[self.CLUSTER_INDEX]))

    def score(self, input_fn: InputFn) -> Nest:
        """The sum of the distances of all points of a batch from their centers.

        Args:
            input_fn: gives the points, once.
        """
        return self.evaluate(input_fn, steps=1)[self.SCORE]

    def transform(self, input_fn: InputFn) -> Nest:
        """The distances of each point from all centers, one point after the other.

        Args:
            input_fn: gives the points, once.

        Returns:
            An iterator of arrays; of the squares of distances where the metric is `squared_euclidean`.
        """
        return (each[self.ALL_DISTANCES] for each in self.predict(input_fn, predict_keys=[self.ALL_DISTANCES]))

    def cluster_centers(self) -> Nest:
        """The centers of the clusters, as an array."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)


def _model_fn(
    make: Callable[[Tensor], KMeans], tolerance: float | None, columns: Sequence[object] | None
) -> Callable[..., EstimatorSpec]:
    def model_fn(features: Features, labels: Nest, mode: str, config: RunConfig) -> EstimatorSpec:
        del labels  # the points have none
        built = make(_points(features, columns)).training_graph()
        loss = reduce_sum(built.scores[0])
        scalar("loss/raw", loss)
        step = get_global_step(get_default_graph())
        training = group(built.training_op, assign_add(step, 1)) if step is not None else built.training_op
        hooks: list[SessionRunHook] = [Begin(built.init_op, built.cluster_centers_initialized, "kmeans")]
        if tolerance is not None:
            hooks.append(StopWhenSettled(loss, tolerance))
        predictions = {
            KMeansClustering.ALL_DISTANCES: built.all_scores[0],
            KMeansClustering.CLUSTER_INDEX: built.cluster_idx[0],
        }
        outputs: dict[str, ExportOutput] = {
            "all_distances": PredictOutput(built.all_scores[0]), "cluster_index": PredictOutput(built.cluster_idx[0]),
            "serving_default": PredictOutput(built.cluster_idx[0]),
        }  # fmt: skip
        return EstimatorSpec(
            mode, predictions, loss, training, {KMeansClustering.SCORE: mean(loss)}, outputs, training_hooks=hooks
        )

    return model_fn


def _points(features: Features, columns: Sequence[object] | None) -> Tensor:
    if columns is not None:
        return input_layer(features, columns)
    return side_by_side(features)
