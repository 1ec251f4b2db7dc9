"""EstimatorSpec: the operations and objects that a model function hands to its estimator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeGuard, runtime_checkable

from weft.estimators.aliases import MetricOps
from weft.estimators.export.default_outputs import get_export_outputs
from weft.estimators.export.export_output import ExportOutput
from weft.estimators.mode_keys import ModeKeys
from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.shape_ops import reshape
from weft.ops.variables.variable import Variable
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.scaffold import Scaffold

LOSS_METRIC_KEY: Final = "loss"


@runtime_checkable
class MetricObject(Protocol):
    """A metric as an object with state, such as Keras has them."""

    name: str
    updates: list[Operation]
    variables: list[VariableLike]

    def result(self) -> Tensor:
        """The metric's value."""
        ...


class _Fields(NamedTuple):
    """What an EstimatorSpec holds."""

    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: MetricOps
    export_outputs: dict[str, ExportOutput] | None
    training_chief_hooks: tuple[SessionRunHook, ...]
    training_hooks: tuple[SessionRunHook, ...]
    scaffold: Scaffold
    evaluation_hooks: tuple[SessionRunHook, ...]
    prediction_hooks: tuple[SessionRunHook, ...]


class EstimatorSpec(_Fields):
    """What a model function returns: which parts are needed depends on the mode.

    Args:
        mode: one of ModeKeys.
        predictions: a tensor or a dict of tensors; needed to predict.
        loss: a scalar; needed to train and to evaluate.
        train_op: makes one training step; needed to train.
        eval_metric_ops: by name, pairs of a metric's value and its update, or Keras's metrics.
        export_outputs: by name, the ExportOutputs of a SavedModel; one of all predictions when None.
        training_chief_hooks: hooks of the chief while it trains.
        training_hooks: hooks of each task that trains.
        scaffold: how the graph is initialized and saved.
        evaluation_hooks, prediction_hooks: hooks of these modes.

    Raises:
        ValueError: a part that the mode needs is missing, is of another graph, or has a wrong shape.
        TypeError: a part has a wrong type.

    >>> tf.estimator.EstimatorSpec("infer", predictions={"x": tf.zeros([1])}).mode
    'infer'
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: TensorLike | Mapping[Any, Any] | None = None,
        loss: TensorLike | None = None,
        train_op: Operation | Tensor | None = None,
        eval_metric_ops: Mapping[str, object] | None = None,
        export_outputs: dict[str, ExportOutput] | None = None,
        training_chief_hooks: Iterable[SessionRunHook] | None = None,
        training_hooks: Iterable[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        evaluation_hooks: Iterable[SessionRunHook] | None = None,
        prediction_hooks: Iterable[SessionRunHook] | None = None,
    ) -> EstimatorSpec:
        """Check the parts and make the record."""
        checked_train_op = _checked_train_op(train_op, mode)
        checked_loss = _checked_loss(loss, mode)
        checked_predictions = _checked_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = get_export_outputs(export_outputs, checked_predictions)
        return super().__new__(
            cls,
            mode=mode,
            predictions=checked_predictions,
            loss=checked_loss,
            train_op=checked_train_op,
            eval_metric_ops=_checked_metrics(eval_metric_ops),
            export_outputs=export_outputs,
            training_chief_hooks=_checked_hooks(training_chief_hooks),
            training_hooks=_checked_hooks(training_hooks),
            scaffold=_checked_scaffold(scaffold),
            evaluation_hooks=_checked_hooks(evaluation_hooks),
            prediction_hooks=_checked_hooks(prediction_hooks),
        )

    def _replace(self, **changes: Any) -> EstimatorSpec:
        """A copy with other parts, checked again; the mode stays.

        Raises:
            ValueError: the mode differs.
        """
        if changes.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(**{**self._asdict(), **changes})


def _checked_train_op(train_op: Any, mode: str) -> object:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError(
                "Missing train_op. For training, the model_fn returns EstimatorSpec(mode, loss=..., train_op=...)."
            )
        return None
    if not isinstance(train_op, Operation | Tensor | Variable):
        meant = f". Does it lack its call, {getattr(train_op, '__name__', 'train_op')}(...)?" if callable(train_op) else ""
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}{meant}")
    if isinstance(train_op, Variable):
        train_op = train_op.op
    _check_graph(train_op, "train_op")
    return train_op


def _checked_loss(loss: Any, mode: str) -> object:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    _check_tensor(loss, "loss")
    shape = loss.get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}. tf.reduce_mean makes one number of a batch's losses.")
    _check_graph(loss, "loss")
    return loss if shape.is_compatible_with(TensorShape([])) else reshape(loss, [])


def _checked_predictions(predictions: Any, mode: str) -> Nest:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions. To predict, the model_fn returns EstimatorSpec(mode, predictions=...).")
        return {}
    if not isinstance(predictions, dict):
        _check_tensor(predictions, "predictions")
        _check_graph(predictions, "prediction values")
        return predictions
    for key, value in predictions.items():
        _check_tensor(value, f"predictions[{key}]")
    for key, value in predictions.items():
        _check_graph(value, "prediction values", key)
    return dict(predictions)


def _checked_metrics(metrics: Mapping[str, Any] | None) -> MetricOps:
    if metrics is None:
        return {}
    if not isinstance(metrics, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics}")
    for key, value in metrics.items():
        if _is_metric_object(value):
            if not value.updates:
                raise ValueError(f'Please call update_state(...) on the "{value.name}" metric')
        elif not isinstance(value, tuple) or len(value) != 2:
            raise TypeError(
                f"Values of eval_metric_ops must be (metric_value, update_op) tuples, given: {value} for key: {key}. "
                "A function of tf.metrics, such as tf.metrics.accuracy(labels, predictions), makes such a pair."
            )
    pairs = {key: _metric_ops(value) for key, value in metrics.items()}
    for key, pair in pairs.items():
        for part in nest.flatten(pair):
            _check_graph(part, "eval_metric_ops", key)
    return pairs


def _is_metric_object(value: object) -> TypeGuard[MetricObject]:
    return isinstance(value, MetricObject)


def _metric_ops(metric: Any) -> tuple[Tensor, Nest]:
    """The pair of a metric; the state of one that is an object is initialized with the local variables."""
    if not _is_metric_object(metric):
        return metric  # type: ignore[no-any-return]
    graph = get_default_graph()
    for collection in (GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES):
        present = graph.get_collection(collection)
        for variable in metric.variables:
            if all(variable is not each for each in present):
                graph.add_to_collection(collection, variable)
    return metric.result(), metric.updates[0]


def _checked_hooks(hooks: Iterable[SessionRunHook] | None) -> tuple[SessionRunHook, ...]:
    if isinstance(hooks, SessionRunHook):
        raise TypeError(f"Hooks must be a list of SessionRunHook instances, given: {hooks}: put it into a list, [hook].")
    checked = tuple(hooks or ())
    for hook in checked:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return checked


def _checked_scaffold(scaffold: Scaffold | None) -> Scaffold:
    scaffold = scaffold or Scaffold()
    if not isinstance(scaffold, Scaffold):
        raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
    return scaffold


def _check_tensor(value: object, name: str) -> None:
    if not isinstance(value, Tensor | Variable):
        raise TypeError(f"{name} must be Tensor, given: {value}")


def _check_graph(element: Any, part: str, key: str | None = None) -> None:
    if getattr(element, "graph", None) is get_default_graph():
        return
    name = getattr(element, "name", element)
    told = name if key is None else f"{key}: {name}"
    raise ValueError(
        f'{part} with "{told}" must be from the default graph. Possible causes of this error include: \n\n'
        f"1) {part} was created outside the context of the default graph.\n\n"
        '2) The object passed through to EstimatorSpec was not created in the most recent call to "model_fn".'
    )
