"""model_to_estimator: an Estimator that trains a compiled model of Keras."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weft.estimators.estimator import Estimator
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.export.export_output import ExportOutput, PredictOutput
from weft.estimators.mode_keys import ModeKeys
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Array, Nest, SessionLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.networks.config import KerasObject
from weft.networks.engine.input_layer import Input
from weft.networks.models.blueprint import Blueprint
from weft.networks.models.model import Model
from weft.networks.saving.model_files import load_model
from weft.networks.state.phase import set_learning_phase
from weft.networks.state.sessions import value_setter
from weft.ops.array.shape_ops import expand_dims
from weft.ops.math.casting import cast
from weft.training.scaffold import Scaffold
from weft.training.training_util import get_or_create_global_step

_SERVING = "serving_default"


def model_to_estimator(
    keras_model: KerasObject = None, keras_model_path: str | os.PathLike[str] | None = None,
    custom_objects: Mapping[str, object] | None = None, model_dir: str | os.PathLike[str] | None = None,
    config: RunConfig | None = None, checkpoint_format: str = "saver",
) -> Estimator:  # fmt: skip
    """An Estimator that trains, evaluates and serves a model as it was compiled, and begins with the weights that it has now.

    Features come as a dict by the names of the model's inputs, or as a tensor for a model with one; labels likewise.

    Args:
        keras_model: a compiled model, functional or Sequential with a known input.
        keras_model_path: an HDF5 file of one, instead.
        custom_objects: the program's own classes and functions, by name.
        model_dir: where checkpoints are.
        config: how the Estimator runs.
        checkpoint_format: "saver": by the variables' names.

    Raises:
        ValueError: neither a model nor a path is given or both are, or the model was not compiled.
        NotImplementedError: the model has a `call` of its own, so that it cannot be built anew in the Estimator's graphs.
    """
    if keras_model is None and keras_model_path is None:
        raise ValueError("Either `keras_model` or `keras_model_path` needs to be provided.")
    if keras_model is not None and keras_model_path is not None:
        raise ValueError("Please specity either `keras_model` or `keras_model_path`, but not both.")
    if checkpoint_format not in (None, "saver"):
        raise NotImplementedError(f"model_to_estimator(checkpoint_format={checkpoint_format!r}): an Estimator's are a 'saver'")
    if keras_model is None:
        keras_model = load_model(keras_model_path, custom_objects)
    if getattr(keras_model, "optimizer", None) is None:
        raise ValueError(
            "The given keras model has not been compiled yet. Please compile the model with `model.compile()` before calling "
            "`model_to_estimator()`."
        )
    if not keras_model.is_graph_network:
        raise NotImplementedError(
            f"model_to_estimator: {type(keras_model).__name__} has a `call` of its own or no known input, and cannot be built "
            "anew in the Estimator's graphs; write a model_fn that makes it"
        )
    return Estimator(_model_fn(_Original(keras_model, custom_objects or {})), model_dir=model_dir, config=config)


class _Original:
    """What the Estimator's models are made of: the blueprint of a model, the names of its inputs and outputs, and the weights.

    Args:
        model: the model.
        custom_objects: the program's own classes and functions.
    """

    def __init__(self, model: KerasObject, custom_objects: Mapping[str, object]) -> None:
        self._blueprint = Blueprint(model, custom_objects)
        self.input_names: list[str] = list(model.input_names)
        self._output_names: list[str] = list(model.output_names)
        self._weights: list[Array] = model.get_weights()

    def model_on(self, inputs: Sequence[Nest]) -> Model:
        """A model like the original, on tensors in place of its Inputs."""
        copy = self._blueprint.model()
        starts = [Input(tensor=each, name=f"{name}_features") for each, name in zip(inputs, self.input_names, strict=True)]
        outputs = copy(starts[0] if len(starts) == 1 else starts)
        made = Model(starts, outputs, name=copy.name)
        made.output_names = self._output_names
        return made

    def compile(self, model: Model, labels: Nest) -> None:
        """Compile a model as the original was, with labels as its targets, and the global step as the optimizer's count."""
        self._blueprint.compile(model, self._targets(model, labels), get_or_create_global_step())

    def _targets(self, model: Model, labels: Nest) -> list[Tensor]:
        given = _in_order(labels, self._output_names, "labels", "model output")
        return [_as_target(each, output) for each, output in zip(given, model.outputs or (), strict=True)]

    def initializer(self, model: Model) -> Callable[[Scaffold, SessionLike], None]:
        """What gives a new model's variables the original's values."""
        pairs = list(zip(model.weights, self._weights, strict=True))

        def initialize(scaffold: Scaffold, session: SessionLike) -> None:
            setter, feeds = value_setter(pairs)
            session.run(setter, feed_dict=feeds)

        return initialize


def _model_fn(original: _Original) -> Callable[..., EstimatorSpec]:
    def model_fn(features: Nest, labels: Nest, mode: str) -> EstimatorSpec:
        """The model on features, as an EstimatorSpec."""
        set_learning_phase(int(mode == ModeKeys.TRAIN))
        inputs = _in_order(features, original.input_names, "features", "model input")
        model = original.model_on([_as_input(each) for each in inputs])
        predictions = dict(zip(model.output_names or (), model.outputs or (), strict=True))
        scaffold = Scaffold(init_fn=original.initializer(model)) if model.weights else None
        if mode == ModeKeys.PREDICT:
            served: dict[str, ExportOutput] = {_SERVING: PredictOutput(predictions)}
            return EstimatorSpec(mode, predictions=predictions, export_outputs=served, scaffold=scaffold)
        original.compile(model, labels)
        program = model.compilation.program()
        for metric in program.metrics():
            for variable in metric.variables:
                get_default_graph().add_to_collection(GraphKeys.LOCAL_VARIABLES, variable)
        return EstimatorSpec(
            mode, predictions, program.loss, program.train_op(model.optimizer) if mode == ModeKeys.TRAIN else None,
            {name: (metric.result(), update) for name, metric, update in program.named_metrics()}, scaffold=scaffold,
        )  # fmt: skip

    return model_fn


def _in_order(given: Nest, names: Sequence[str], what: str, expected: str) -> list[Nest]:
    """Features or labels in the order of a model's inputs or outputs.

    Raises:
        ValueError: they are missing, or of other names or another number.
    """
    if given is None:
        raise ValueError(f"model_to_estimator: the input function gave no {what}, but the model needs {list(names)}")
    if isinstance(given, Mapping):
        found = {str(name).removesuffix("_features"): value for name, value in given.items()}
        missing = set(names) - set(found)
        if missing:
            raise ValueError(
                f"Difference(s) found between {what} names and {expected} names: {sorted(missing)} are missing; the "
                f"{what} are {sorted(found)} and the {expected}s {list(names)}"
            )
        return [found[name] for name in names]
    flat = list(given) if isinstance(given, list | tuple) else [given]
    if len(flat) != len(names):
        raise ValueError(f"model_to_estimator: {len(flat)} {what} for {len(names)} {expected}s: {list(names)}")
    return flat


def _as_input(value: Any) -> Nest:
    if isinstance(value, SparseTensor):
        return value
    tensor = convert_to_tensor(value)
    return cast(tensor, "float32") if tensor.dtype.name == "float64" else tensor


def _as_target(value: Any, output: Tensor) -> Tensor:
    tensor = convert_to_tensor(value)
    is_vector = tensor.shape.ndims == 1 and output.shape.ndims == 2
    return expand_dims(tensor, -1) if is_vector else tensor
