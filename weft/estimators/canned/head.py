"""Head: the last part of a model: predictions, loss, metrics and training from its logits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from weft.estimators.aliases import Features, Labels, MetricOps
from weft.estimators.canned.head_inputs import LossFn, check_loss_fn, checked_logits
from weft.estimators.canned.keys import MetricKeys
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.export.export_output import ExportOutput
from weft.estimators.mode_keys import ModeKeys
from weft.framework.building.aliases import Nest
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.printed import printed
from weft.models.feature_columns.numeric import NumericColumn
from weft.models.losses import Reduction
from weft.models.metrics.mean import mean
from weft.ops.array.filling import ones_like
from weft.ops.control_flow.ordering import group
from weft.ops.math.elementwise import add_n
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.summary.nodes import scalar
from weft.training.optimizers.optimizer import Optimizer
from weft.training.training_util import get_global_step


class LossSpec(NamedTuple):
    """A head's loss: the one to train on, that of each example, their weights, and the labels as the loss takes them."""

    training_loss: Tensor
    unreduced_loss: Tensor
    weights: Tensor | float
    processed_labels: Tensor


class SpecRequest(NamedTuple):
    """What `create_estimator_spec` was asked; its arguments are described there."""

    features: Features
    mode: str
    logits: Nest
    labels: Labels
    optimizer: Optimizer | None
    train_op_fn: Callable[[Tensor], Nest] | None
    regularization_losses: Sequence[Tensor] | None


class Head:
    """A task: makes an EstimatorSpec of a model's logits.

    Args:
        weight_column: the feature with the weights of examples, or its numeric column.
        loss_reduction: how the losses of examples become one, of `tf.losses.Reduction`.
        loss_fn: makes the losses of examples from `labels`, `logits` and perhaps `features`, instead of the head's own.
        name: added to the names of summaries and metrics.

    Raises:
        ValueError: the reduction is none, or the function takes other arguments.
    """

    __repr__ = printed("tf.contrib.estimator")

    def __init__(
        self,
        weight_column: str | NumericColumn | None = None,
        loss_reduction: str = Reduction.SUM,
        loss_fn: LossFn | None = None,
        name: str | None = None,
    ) -> None:
        if loss_reduction not in Reduction.all() or loss_reduction == Reduction.NONE:
            raise ValueError(f"Invalid loss_reduction: {loss_reduction}")
        if loss_fn is not None:
            check_loss_fn(loss_fn)
        self._weight_column = weight_column
        self._loss_reduction = loss_reduction
        self._loss_fn = loss_fn
        self._name = name

    @property
    def name(self) -> str | None:
        """What is added to the names of summaries and metrics."""
        return self._name

    @property
    def weight_column(self) -> str | NumericColumn | None:
        """The feature with the weights of examples, or its numeric column."""
        return self._weight_column

    @property
    def logits_dimension(self) -> int:
        """The size of the logits' last dimension."""
        raise NotImplementedError(f"logits_dimension is not implemented for {type(self).__name__}.")

    def create_loss(self, features: Features, mode: str, logits: Tensor, labels: Labels) -> LossSpec:
        """The loss of logits for labels.

        Args:
            features: the batch, in which the weights are.
            mode: one of `tf.estimator.ModeKeys`.
            logits: those of the model, `[batch, logits_dimension]`.
            labels: what the head learns, as `input_fn` gave it.
        """
        raise NotImplementedError(f"create_loss is not implemented for {type(self).__name__}.")

    def predictions(self, logits: Tensor) -> dict[str, Tensor]:
        """The predictions of logits, by name.

        Args:
            logits: those of the model, `[batch, logits_dimension]`.
        """
        raise NotImplementedError(f"predictions is not implemented for {type(self).__name__}.")

    def export_outputs(self, predictions: dict[str, Tensor]) -> dict[str, ExportOutput]:
        """The outputs of an exported model.

        Args:
            predictions: what `predictions` gave.
        """
        raise NotImplementedError(f"export_outputs is not implemented for {type(self).__name__}.")

    def metrics(self, predictions: dict[str, Tensor], loss: LossSpec) -> MetricOps:
        """The metrics but those of the loss, by their names without the head's.

        Args:
            predictions: what `predictions` gave.
            loss: what `create_loss` gave.
        """
        raise NotImplementedError(f"metrics is not implemented for {type(self).__name__}.")

    def create_estimator_spec(
        self,
        features: Features,
        mode: str,
        logits: Nest,
        labels: Labels = None,
        optimizer: Optimizer | None = None,
        train_op_fn: Callable[[Tensor], Nest] | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> EstimatorSpec:
        """The whole of a model from its logits.

        Args:
            features: by name; the weights are among them.
            mode: one of ModeKeys.
            logits: `[..., logits_dimension]`; of a MultiHead also by the heads' names.
            labels: needed to train and to evaluate; of a MultiHead by the heads' names.
            optimizer: makes the loss smaller; needed to train.
            train_op_fn: makes the training operation from the loss, instead.
            regularization_losses: are added to the loss.

        Raises:
            ValueError: labels or logits have a wrong shape, or there is no optimizer to train with, or two.
        """
        return self.spec_of(SpecRequest(features, mode, logits, labels, optimizer, train_op_fn, regularization_losses))

    def spec_of(self, request: SpecRequest) -> EstimatorSpec:
        """The whole of a model, as it was asked for.

        Args:
            request: mode, features, labels, logits, and what makes the training operation.
        """
        with get_default_graph().name_scope(self._name or "head"):
            logits = checked_logits(request.logits, self.logits_dimension)
            predictions = self.predictions(logits)
            if request.mode == ModeKeys.PREDICT:
                return EstimatorSpec(request.mode, predictions, export_outputs=self.export_outputs(predictions))
            loss = self.create_loss(request.features, request.mode, logits, request.labels)
            penalty = add_n(request.regularization_losses) if request.regularization_losses else None
            total = loss.training_loss if penalty is None else add_n([loss.training_loss, penalty])
            if request.mode == ModeKeys.EVAL:
                metrics = self._all_metrics(predictions, loss, penalty)
                return EstimatorSpec(request.mode, predictions, total, eval_metric_ops=metrics)
            train_op = train_op_of(total, request.optimizer, request.train_op_fn)
            average = self._average(loss)
        with get_default_graph().name_scope(""):
            for key, value in (
                (MetricKeys.LOSS, total),
                (MetricKeys.LOSS_MEAN, average),
                (MetricKeys.LOSS_REGULARIZATION, penalty),
            ):
                if value is not None:
                    scalar(self._key(key), value)
        return EstimatorSpec(request.mode, predictions, total, train_op)

    def _average(self, loss: LossSpec) -> Tensor | None:
        """The loss of an example, where the loss to train on is their sum."""
        if self._loss_reduction != Reduction.SUM:
            return None
        return loss.training_loss / reduce_sum(loss.weights * ones_like(loss.unreduced_loss))

    def _all_metrics(self, predictions: dict[str, Tensor], loss: LossSpec, penalty: Tensor | None) -> MetricOps:
        with get_default_graph().name_scope("metrics"):
            found: MetricOps = {
                MetricKeys.LOSS_MEAN: mean(loss.unreduced_loss, weights=loss.weights, name=MetricKeys.LOSS_MEAN)
            }
            found.update(self.metrics(predictions, loss))
            if penalty is not None:
                found[MetricKeys.LOSS_REGULARIZATION] = mean(penalty, name=MetricKeys.LOSS_REGULARIZATION)
        return {self._key(key): pair for key, pair in found.items()}

    def _key(self, key: str) -> str:
        return f"{key}/{self._name}" if self._name else key


def train_op_of(loss: Tensor, optimizer: Optimizer | None, train_op_fn: Callable[[Tensor], Nest] | None) -> Operation:
    """The training operation, with the updates that layers ask for; ValueError when there is no way to train, or two."""
    if optimizer is not None:
        if train_op_fn is not None:
            raise ValueError("train_op_fn and optimizer cannot both be set.")
        train_op = optimizer.minimize(loss, global_step=get_global_step())
    elif train_op_fn is not None:
        train_op = train_op_fn(loss)
    else:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    updates = get_default_graph().get_collection(GraphKeys.UPDATE_OPS)
    return group(train_op, *updates) if updates else train_op
