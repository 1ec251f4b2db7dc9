"""ModelFnOps: what a contrib.learn model function returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.export.export_output import ClassificationOutput, ExportOutput, PredictOutput, RegressionOutput
from weft.estimators.learn.keys import MetricKey, PredictionKey, ProblemType
from weft.estimators.learn.latest_metric import latest
from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import convert_to_tensor_or_sparse_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.shape_ops import reshape
from weft.platform.logs import tf_logging
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.saved_model import layout
from weft.training.scaffold import Scaffold


class ModeKeys:
    """The mode that a model function gets: to train, to evaluate or to predict."""

    TRAIN: Final = "train"
    EVAL: Final = "eval"
    INFER: Final = "infer"

    @classmethod
    def validate(cls, key: object) -> None:
        """Raise ValueError unless this is one of them.

        Args:
            key: what is said to be a mode.
        """
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


class _Fields(NamedTuple):
    """What ModelFnOps hold."""

    predictions: Any
    loss: Tensor | None
    train_op: Operation | None
    eval_metric_ops: dict[str, Any]
    output_alternatives: Mapping[str, tuple[int, dict[str, Tensor]]] | None
    training_chief_hooks: Sequence[SessionRunHook]
    training_hooks: Sequence[SessionRunHook]
    scaffold: Scaffold | None
    mode: str


class ModelFnOps(_Fields):
    """What a model function returns.

    Args:
        mode: one of ModeKeys.
        predictions: a tensor or a dict of tensors; needed to evaluate and to predict.
        loss: a scalar; needed to train and to evaluate.
        train_op: makes one training step; needed to train.
        eval_metric_ops: by name, pairs of a metric's value and its update; or a tensor, of which the last batch counts.
        output_alternatives: by name, pairs of a ProblemType and tensors by name, to export.
        training_chief_hooks, training_hooks: SessionRunHooks.
        scaffold: how the graph is initialized and saved.

    Raises:
        ValueError: a part that the mode needs is missing.
        TypeError: a hook is none.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Nest = None,
        loss: Tensor | None = None,
        train_op: Operation | Tensor | None = None,
        eval_metric_ops: dict[str, Any] | None = None,
        output_alternatives: Mapping[str, tuple[int, dict[str, Tensor]]] | None = None,
        training_chief_hooks: Sequence[SessionRunHook] | None = None,
        training_hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
    ) -> ModelFnOps:
        """Check the parts and make the record."""
        ModeKeys.validate(mode)
        if eval_metric_ops is not None and not isinstance(eval_metric_ops, dict):
            raise ValueError("eval_metric_ops must be a dict.")
        hooks = [*(training_hooks or ()), *(training_chief_hooks or ())]
        for hook in hooks:
            if not isinstance(hook, SessionRunHook):
                raise TypeError(
                    f"All hooks returned from model_fn must be SessionRunHook instances, got instance of {type(hook)}: {hook}"
                )
        return super().__new__(
            cls,
            predictions=_checked_predictions(predictions, mode),
            loss=_checked_loss(loss, mode),
            train_op=_checked_train_op(train_op, mode),
            eval_metric_ops={} if eval_metric_ops is None else eval_metric_ops,
            output_alternatives=output_alternatives,
            training_chief_hooks=list(training_chief_hooks or ()),
            training_hooks=list(training_hooks or ()),
            scaffold=scaffold,
            mode=mode,
        )

    def estimator_spec(self, default_serving_output_alternative_key: str | None = None) -> EstimatorSpec:
        """The same for a tf.estimator.

        Args:
            default_serving_output_alternative_key: which of several outputs is the default of an exported model.
        """
        outputs = None
        if self.output_alternatives:
            outputs = {key: _export_output(*each) for key, each in self.output_alternatives.items()}
            if len(outputs) > 1 and layout.DEFAULT_SERVING_SIGNATURE_DEF_KEY not in outputs:
                assert default_serving_output_alternative_key is not None
                outputs[layout.DEFAULT_SERVING_SIGNATURE_DEF_KEY] = outputs[default_serving_output_alternative_key]
        return EstimatorSpec(
            self.mode,
            self.predictions,
            self.loss,
            self.train_op,
            self._metrics() if self.mode == ModeKeys.EVAL else None,
            outputs,
            self.training_chief_hooks,
            self.training_hooks,
            self.scaffold,
        )

    def _metrics(self) -> dict[str, object]:
        metrics = {key: value for key, value in self.eval_metric_ops.items() if key != MetricKey.LOSS}
        return {key: latest(value) if isinstance(value, Tensor) else value for key, value in metrics.items()}


def _checked_train_op(train_op: Operation | Tensor | None, mode: str) -> Operation | None:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    return train_op if isinstance(train_op, Operation) else convert_to_tensor(train_op).op


def _checked_loss(loss: Tensor | None, mode: str) -> Tensor | None:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    loss = convert_to_tensor(loss)
    shape = loss.get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar: {loss}.")
    return loss if shape.is_compatible_with(TensorShape([])) else reshape(loss, [])


def _checked_predictions(predictions: Nest, mode: str) -> Nest:
    if predictions is None:
        if mode in (ModeKeys.INFER, ModeKeys.EVAL):
            raise ValueError("Missing predictions.")
        return None
    if isinstance(predictions, dict):
        return {key: convert_to_tensor_or_sparse_tensor(value) for key, value in predictions.items()}
    return convert_to_tensor_or_sparse_tensor(predictions)


def _export_output(problem_type: int, tensors: dict[str, Tensor]) -> ExportOutput:
    scores = tensors.get(PredictionKey.SCORES)
    if scores is None:
        scores = tensors.get(PredictionKey.PROBABILITIES)
    match problem_type:
        case ProblemType.LINEAR_REGRESSION:
            if scores is None:
                raise ValueError(f"A regression is exported by its {PredictionKey.SCORES!r}; given: {sorted(tensors)}")
            return RegressionOutput(scores)
        case ProblemType.CLASSIFICATION | ProblemType.LOGISTIC_REGRESSION:
            classes = tensors.get(PredictionKey.CLASSES)
            if classes is None or classes.dtype != dtypes.string:
                tf_logging.warning("classes is not string, Servo inference will not have class ids.")
                classes = None
            return ClassificationOutput(scores, classes)
        case ProblemType.UNSPECIFIED:
            return PredictOutput(tensors)
        case _:
            raise ValueError(f"Unknown problem_type={problem_type}")
