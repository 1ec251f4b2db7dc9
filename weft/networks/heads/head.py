"""Head: a task as tf.estimator has it: losses, predictions, Keras's metrics and the EstimatorSpec of a model's logits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.estimators.aliases import Features, Labels
from weft.estimators.canned.keys import MetricKeys
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.export.export_output import ExportOutput
from weft.estimators.mode_keys import ModeKeys
from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.printed import printed
from weft.networks.metrics.metric import Mean, Metric
from weft.networks.optimizers.optimizer import Optimizer
from weft.ops.control_flow.ordering import group
from weft.ops.math.elementwise import add_n
from weft.ops.summary.nodes import scalar


class Head:
    """A task: what a model's logits mean, what is lost by them, how good they are, and how they are exported.

    A subclass says all that raises NotImplementedError here. Keys of metrics and summaries end in the head's name.
    """

    __repr__ = printed("tf.estimator")

    @property
    def name(self) -> str | None:
        """What keys of metrics and summaries end in."""
        raise NotImplementedError(f"name is not implemented for {type(self).__name__}.")

    @property
    def logits_dimension(self) -> int:
        """The size of the logits' last dimension."""
        raise NotImplementedError(f"logits_dimension is not implemented for {type(self).__name__}.")

    @property
    def loss_reduction(self) -> str:
        """How the losses of examples become one, of `tf.keras.losses.Reduction`."""
        raise NotImplementedError(f"loss_reduction is not implemented for {type(self).__name__}.")

    def loss(
        self,
        labels: Labels,
        logits: Nest,
        features: Features = None,
        mode: str | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> Tensor:
        """The loss to train on.

        Args:
            labels: of the head's own kind.
            logits: `[..., logits_dimension]`.
            features: by name; the weights of examples are among them.
            mode: one of ModeKeys.
            regularization_losses: are added.

        Returns:
            A scalar.
        """
        with get_default_graph().name_scope("losses"):
            loss = self.training_loss(features, logits, labels)
            return loss if regularization_losses is None else loss + add_n(list(regularization_losses))

    def predictions(self, logits: Nest, keys: Sequence[str] | None = None) -> dict[Any, Tensor]:
        """The predictions of logits by name: those that `keys` lists, or all.

        Args:
            logits: `[batch, ..., logits_dimension]`; by head for several.
            keys: names out of `PredictionKeys`; all when None or empty.
        """
        raise NotImplementedError(f"predictions is not implemented for {type(self).__name__}.")

    def metrics(self, regularization_losses: Sequence[Tensor] | None = None) -> dict[str, Metric]:
        """The metrics by name: new ones, which have taken nothing in.

        Args:
            regularization_losses: scalars, whose presence adds a metric for their mean; None for no such metric.
        """
        with get_default_graph().name_scope("metrics"):
            made = self.new_metrics()
            if regularization_losses is not None:
                made[self.key(MetricKeys.LOSS_REGULARIZATION)] = Mean(name=MetricKeys.LOSS_REGULARIZATION)
            return made

    def update_metrics(
        self,
        eval_metrics: dict[str, Metric],
        features: Features,
        logits: Nest,
        labels: Labels,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> dict[str, Metric]:
        """Let the metrics that `metrics` made take in a batch, and return them.

        Args:
            eval_metrics: the metrics.
            features, logits, labels: of the batch, see `loss`.
            regularization_losses: as `metrics` had them.
        """
        self.take_in(eval_metrics, features, logits, labels)
        if regularization_losses is not None:
            eval_metrics[self.key(MetricKeys.LOSS_REGULARIZATION)].update_state(add_n(list(regularization_losses)))
        return eval_metrics

    def training_loss(self, features: Features, logits: Nest, labels: Labels) -> Tensor:
        """The loss without that of regularization.

        Args:
            features: the inputs by name, from which weights are taken.
            logits: `[batch, ..., logits_dimension]`; by head for several.
            labels: what is right, as the head's kind asks for it.
        """
        raise NotImplementedError(f"training_loss is not implemented for {type(self).__name__}.")

    def new_metrics(self) -> dict[str, Metric]:
        """New metrics by their whole keys, but that of regularization.

        Returns:
            By key a metric that has taken nothing in.
        """
        raise NotImplementedError(f"new_metrics is not implemented for {type(self).__name__}.")

    def take_in(self, metrics: dict[str, Metric], features: Features, logits: Nest, labels: Labels) -> None:
        """Let the metrics that `new_metrics` made take in a batch; others may be added to them.

        Args:
            metrics: metrics by key.
            features: the inputs by name, from which weights are taken.
            logits: `[batch, ..., logits_dimension]`; by head for several.
            labels: what is right, as the head's kind asks for it.
        """
        raise NotImplementedError(f"take_in is not implemented for {type(self).__name__}.")

    def export_outputs(self, predictions: dict[Any, Tensor]) -> dict[str, ExportOutput]:
        """The outputs of an exported model, from all predictions.

        Args:
            predictions: all that `predictions` gives.
        """
        raise NotImplementedError(f"export_outputs is not implemented for {type(self).__name__}.")

    def create_estimator_spec(
        self,
        features: Features,
        mode: str,
        logits: Nest,
        labels: Labels = None,
        optimizer: Optimizer | None = None,
        trainable_variables: Sequence[VariableLike] | None = None,
        train_op_fn: Callable[[Tensor], Nest] | None = None,
        update_ops: Sequence[Operation] | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> EstimatorSpec:
        """The whole of a model from its logits.

        Args:
            features: by name; the weights are among them.
            mode: one of ModeKeys.
            logits: `[..., logits_dimension]`.
            labels: needed to train and to evaluate.
            optimizer: one of `tf.keras.optimizers`, which makes the loss smaller.
            trainable_variables: what the optimizer changes.
            train_op_fn: makes the training operation from the loss, instead of an optimizer.
            update_ops: run with the training operation.
            regularization_losses: are added to the loss.

        Raises:
            ValueError: there is no way to train or there are two, the optimizer is another one than Keras's or has no
                variables, or labels or logits have a wrong shape.
        """
        with get_default_graph().name_scope(self.name or "head"):
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions, export_outputs=self.export_outputs(predictions))
            loss = self.loss(labels, logits, features, mode, regularization_losses)
            if mode == ModeKeys.EVAL:
                metrics = self.update_metrics(
                    self.metrics(regularization_losses), features, logits, labels, regularization_losses
                )
                return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
            train_op = train_op_of(loss, optimizer, trainable_variables, train_op_fn, update_ops)
        with get_default_graph().name_scope(""):
            scalar(self.key(MetricKeys.LOSS), loss)
            if regularization_losses is not None:
                scalar(self.key(MetricKeys.LOSS_REGULARIZATION), add_n(list(regularization_losses)))
        return EstimatorSpec(mode, predictions, loss, train_op)

    def key(self, key: str) -> str:
        """A metric's or summary's key, with the head's name behind it.

        Args:
            key: a name out of `MetricKeys`.
        """
        return f"{key}/{self.name}" if self.name else key


def train_op_of(
    loss: Tensor,
    optimizer: Optimizer | None,
    trainable_variables: Sequence[VariableLike] | None,
    train_op_fn: Callable[[Tensor], Nest] | None,
    update_ops: Sequence[Operation] | None,
) -> Nest:
    """The training operation, with the updates; ValueError when there is no way to train or two, or nothing to train."""
    if update_ops is not None and not isinstance(update_ops, list | tuple):
        raise ValueError(f"update_ops should be a list or a tuple. Given type: {type(update_ops)}")
    with get_default_graph().name_scope(""), get_default_graph().name_scope("training"):
        if optimizer is not None:
            if train_op_fn is not None:
                raise ValueError("train_op_fn and optimizer cannot both be set.")
            trained = _checked_variables(optimizer, trainable_variables)
            train_op = optimizer.get_updates(loss, trained)[0]
        elif train_op_fn is not None:
            train_op = train_op_fn(loss)
        else:
            raise ValueError("train_op_fn and optimizer cannot both be None.")
        return train_op if update_ops is None else group(train_op, *update_ops)


def _checked_variables(optimizer: Optimizer, variables: Sequence[VariableLike] | None) -> Sequence[VariableLike]:
    if not isinstance(optimizer, Optimizer):
        raise ValueError(
            f"The given optimizer is not a tf.keras.optimizers.Optimizer instance. Given: {optimizer}. One of tf.train goes "
            "into train_op_fn=lambda loss: optimizer.minimize(loss, tf.train.get_global_step())."
        )
    if variables is None:
        raise ValueError(
            "trainable_variables cannot be None. Given None. Pass tf.trainable_variables(), or the variables of the model."
        )
    if not isinstance(variables, list | tuple):
        raise ValueError(f"trainable_variables should be a list or a tuple. Given type: {type(variables)}")
    return variables
