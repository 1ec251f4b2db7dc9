"""ExportOutput: an output of an exported model, and the signature by which a server offers it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import SignatureDef

from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.ops.array.constant import constant
from weft.training.saved_model import layout
from weft.training.saved_model.signatures import (
    build_signature_def,
    build_tensor_info,
    classification_signature_def,
    predict_signature_def,
    regression_signature_def,
)


class ExportOutput:
    """One output of an exported model."""

    __repr__ = printed("tf.estimator.export")

    def as_signature_def(self, receiver_tensors: Mapping[str, Tensor]) -> SignatureDef:
        """The signature that leads from the tensors of a request to this output.

        Args:
            receiver_tensors: the tensors of a request, by name.

        Raises:
            ValueError: the method that it is for cannot take these tensors.
        """
        raise NotImplementedError(f"as_signature_def is not implemented for {type(self).__name__}.")


class ClassificationOutput(ExportOutput):
    """Classes with their scores, for the method `classify`.

    Args:
        scores: a floating tensor [batch, classes] or [batch].
        classes: a string tensor of the same shape.

    Raises:
        ValueError: both are missing, or one has a wrong type.
    """

    def __init__(self, scores: Tensor | None = None, classes: Tensor | None = None) -> None:
        if scores is not None and not (isinstance(scores, Tensor) and scores.dtype.is_floating):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not (isinstance(classes, Tensor) and classes.dtype.base_dtype == dtypes.string):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        self._scores = scores
        self._classes = classes

    @property
    def scores(self) -> Tensor | None:
        """The scores of the classes."""
        return self._scores

    @property
    def classes(self) -> Tensor | None:
        """The names of the classes."""
        return self._classes

    def as_signature_def(self, receiver_tensors: Mapping[str, Tensor]) -> SignatureDef:
        """The signature from serialized Examples to classes and scores."""
        return classification_signature_def(_examples(receiver_tensors, "Classification"), self._classes, self._scores)


class RegressionOutput(ExportOutput):
    """A number for each Example, for the method `regress`.

    Args:
        value: a floating tensor [batch] or [batch, 1].

    Raises:
        ValueError: it is no floating tensor.
    """

    def __init__(self, value: Tensor) -> None:
        if not (isinstance(value, Tensor) and value.dtype.is_floating):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self._value = value

    @property
    def value(self) -> Tensor:
        """The numbers."""
        return self._value

    def as_signature_def(self, receiver_tensors: Mapping[str, Tensor]) -> SignatureDef:
        """The signature from serialized Examples to numbers."""
        return regression_signature_def(_examples(receiver_tensors, "Regression"), self._value)


class PredictOutput(ExportOutput):
    """Any tensors by name, for the method `predict`.

    Args:
        outputs: the tensors by name; a single one is called `output`.

    Raises:
        ValueError: a name is no text, or a value no tensor.
    """

    def __init__(self, outputs: Mapping[str, Tensor] | Tensor) -> None:
        self._outputs = _named_outputs(outputs, "output", "Prediction")

    @property
    def outputs(self) -> dict[str, Tensor]:
        """The tensors by name."""
        return self._outputs

    def as_signature_def(self, receiver_tensors: Mapping[str, Tensor]) -> SignatureDef:
        """The signature from the tensors of a request to these."""
        return predict_signature_def(receiver_tensors, self._outputs)


class _SupervisedOutput(ExportOutput):
    """What training or evaluation gives: loss, predictions and metrics, each tensor's name led by its kind."""

    METHOD_NAME = ""

    def __init__(self, loss: object = None, predictions: object = None, metrics: object = None) -> None:
        self._outputs: dict[str, Tensor] = {}
        for kind, given in (("loss", loss), ("predictions", predictions)):
            if given is not None:
                named = _named_outputs(given, kind, kind)
                self._outputs.update({_led(key, kind): value for key, value in named.items()})
        self._outputs.update(_metric_outputs(metrics if isinstance(metrics, dict) else {"metrics": metrics} if metrics else {}))

    @property
    def outputs(self) -> dict[str, Tensor]:
        """The tensors by name."""
        return self._outputs

    def as_signature_def(self, receiver_tensors: Mapping[str, Tensor]) -> SignatureDef:
        """The signature from features and labels to these tensors."""
        inputs = {name: build_tensor_info(tensor) for name, tensor in receiver_tensors.items()}
        outputs = {name: build_tensor_info(tensor) for name, tensor in self._outputs.items()}
        return build_signature_def(inputs, outputs, self.METHOD_NAME)


class TrainOutput(_SupervisedOutput):
    """The tensors of a graph that trains."""

    METHOD_NAME = layout.SUPERVISED_TRAIN_METHOD_NAME


class EvalOutput(_SupervisedOutput):
    """The tensors of a graph that evaluates."""

    METHOD_NAME = layout.SUPERVISED_EVAL_METHOD_NAME


def _examples(receiver_tensors: Mapping[str, Tensor], kind: str) -> Tensor:
    found = list(receiver_tensors.values())
    if len(found) != 1 or found[0].dtype.base_dtype != dtypes.string:
        raise ValueError(f"{kind} input must be a single string Tensor; got {receiver_tensors}")
    return found[0]


def _named_outputs(outputs: Any, default_name: str, label: str) -> dict[str, Tensor]:
    named = {}
    for key, value in (outputs if isinstance(outputs, dict) else {default_name: outputs}).items():
        if not isinstance(value, Tensor):
            raise ValueError(f"{label} output value must be a Tensor; got {value}.")
        named[_output_key(key, label)] = value
    return named


def _output_key(key: object, label: str) -> str:
    if isinstance(key, tuple):
        key = "/".join(key)
    if not isinstance(key, str):
        raise ValueError(f"{label} output key must be a string; got {key}.")
    return key


def _led(key: str, kind: str) -> str:
    return key if key.startswith(kind) else f"{kind}/{key}"


def _metric_outputs(metrics: Mapping[str, Any]) -> dict[str, Tensor]:
    outputs = {}
    for key, (value, update) in metrics.items():
        name = _led(_output_key(key, "metrics"), "metrics")
        if not isinstance(value, Tensor):
            raise ValueError(f"{name} output value must be a Tensor; got {value}.")
        if not isinstance(update, Tensor | Operation):
            raise ValueError(f"{name} update_op must be a Tensor or Operation; got {update}.")
        outputs[f"{name}/value"] = value
        outputs[f"{name}/update_op"] = update if isinstance(update, Tensor) else _tensor_of(update)
    return outputs


def _tensor_of(operation: Operation) -> Tensor:
    """An empty tensor that runs an operation when it is fetched."""
    with get_default_graph().control_dependencies([operation]):
        return constant([], name="metric_op_wrapper")
