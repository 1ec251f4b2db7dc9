"""SVM: a support vector machine over contrib.layers' columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from weft.estimators.aliases import Features, InputFn, Labels, MetricOps
from weft.estimators.canned.head_inputs import as_floats, checked_labels, checked_weights
from weft.estimators.learn.canned import LinearClassifier
from weft.estimators.learn.estimator import BaseEstimator
from weft.estimators.learn.keys import MetricKey, PredictionKey
from weft.estimators.learn.tasks import Classes, TaskLoss
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.models.feature_columns.column import FeatureColumn
from weft.models.losses import Reduction, compute_weighted_loss
from weft.models.metrics.mean import accuracy
from weft.models.sdca.sdca_optimizer import SDCAOptimizer
from weft.ops.array.filling import zeros_like
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims
from weft.ops.math.reduce_functions import argmax
from weft.ops.nn.activation import relu


class _Sides(Classes):
    """The two sides of a plane, by the hinge loss."""

    dual_loss = "hinge_loss"

    def predictions(self, logits: Tensor) -> dict[str, Tensor]:
        """The side and the distance."""
        by_class = concat([zeros_like(logits), logits], axis=1)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.CLASSES: argmax(by_class, axis=1, name=PredictionKey.CLASSES),
        }

    def loss(self, features: Features, logits: Tensor, labels: Tensor) -> TaskLoss:
        """The mean hinge loss."""
        known = as_floats(checked_labels(labels, logits, 1))
        weights = checked_weights(features, self.weight_column_name, logits)
        losses = relu(1.0 - (2.0 * known - 1.0) * logits)
        return TaskLoss(compute_weighted_loss(losses, weights, reduction=Reduction.MEAN), known, weights)

    def metrics(self, predictions: dict[str, Tensor], made: TaskLoss) -> MetricOps:
        """The accuracy."""
        classes = expand_dims(predictions[PredictionKey.CLASSES], -1)
        return {MetricKey.ACCURACY: accuracy(made.labels, classes, weights=made.weights, name=MetricKey.ACCURACY)}


class SVM(LinearClassifier):
    """A linear support vector machine for two classes, with L1 and L2 regularization.

    Args:
        example_id_column: the feature with the names of examples, strings `[batch]`.
        feature_columns: columns of contrib.layers.
        weight_column_name: the feature with the weights of examples.
        model_dir, config, feature_engineering_fn: see LinearClassifier.
        l1_regularization, l2_regularization: the strengths of the regularization; that of L2 is 1 at least.
        num_loss_partitions: how many processes train at a time.
        kernels: None; other kernels have `tf.contrib.kernel_methods`.

    Raises:
        ValueError: there are kernels.
    """

    def __init__(
        self, example_id_column: str, feature_columns: Iterable[FeatureColumn], weight_column_name: str | None = None,
        model_dir: str | None = None, l1_regularization: float = 0.0, l2_regularization: float = 0.0,
        num_loss_partitions: int = 1, kernels: None = None, config: RunConfig | None = None,
        feature_engineering_fn: Callable[[Features, Labels], tuple[Features, Labels]] | None = None,
    ) -> None:  # fmt: skip
        if kernels is not None:
            raise ValueError("Kernel SVMs are not currently supported; tf.contrib.kernel_methods maps features for them.")
        optimizer = SDCAOptimizer(
            example_id_column, num_loss_partitions, symmetric_l1_regularization=l1_regularization,
            symmetric_l2_regularization=l2_regularization,
        )  # fmt: skip
        super().__init__(
            feature_columns, model_dir, 2, weight_column_name, optimizer, config=config,
            feature_engineering_fn=feature_engineering_fn,
        )  # fmt: skip
        self._task = _Sides(2, weight_column_name)

    def predict(
        self, x: Nest = None, input_fn: InputFn | None = None, batch_size: int | None = None,
        outputs: Sequence[str] | None = None, as_iterable: bool = True, iterate_batches: bool = False,
    ) -> Nest:  # fmt: skip
        """All outputs by their names, or those that are asked for; see `BaseEstimator.predict`."""
        return BaseEstimator.predict(self, x, input_fn, batch_size, outputs, as_iterable, iterate_batches)
