"""export_saved_model and load_from_saved_model: Keras models as SavedModels, with a graph for serving and those of training."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from weft.client.session import Session
from weft.estimators.export.export_output import EvalOutput, ExportOutput, PredictOutput, TrainOutput
from weft.estimators.mode_keys import ModeKeys
from weft.framework.building.aliases import Array
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.networks.config import KerasObject
from weft.networks.models.blueprint import Blueprint
from weft.networks.models.building import model_from_json
from weft.networks.state.phase import learning_phase_scope
from weft.networks.state.sessions import batch_get_value, value_setter
from weft.ops.control_flow.ordering import group
from weft.ops.variables.collections import local_variables_initializer
from weft.platform.files import gfile
from weft.training.saved_model import layout
from weft.training.saved_model.builder import SavedModelBuilder
from weft.training.saving.saver import Saver
from weft.training.tracking.object_graph import ObjectGraph

_CONFIG: Final = "saved_model.json"
_TAGS: Final = {
    ModeKeys.TRAIN: (layout.TRAINING, layout.DEFAULT_TRAIN_SIGNATURE_DEF_KEY),
    ModeKeys.EVAL: (layout.EVAL, layout.DEFAULT_EVAL_SIGNATURE_DEF_KEY),
    ModeKeys.PREDICT: (layout.SERVING, layout.DEFAULT_SERVING_SIGNATURE_DEF_KEY),
}
"""The tag and the name of the signature of each mode's graph."""


def export_saved_model(
    model: KerasObject, saved_model_path: str | os.PathLike[str], custom_objects: Mapping[str, object] | None = None,
    as_text: bool = False, input_signature: object = None, serving_only: bool = False,
) -> None:  # fmt: skip
    """Write a model as a SavedModel: a graph that serves it and, if it is compiled, one that trains and one that evaluates it.

    Its config lies among the assets, and the checkpoint tells variables by their layers, so that `load_from_saved_model`
    makes the model again, here and in TensorFlow 1.

    Args:
        model: the model, functional or Sequential with known inputs.
        saved_model_path: a folder that does not exist yet.
        custom_objects: the program's own classes and functions, by name.
        as_text: whether the graphs are written as text.
        input_signature: refused: the model's Inputs are its signature.
        serving_only: leave out the graphs of training and evaluation, and with them the optimizer.

    Raises:
        AssertionError: the folder exists and has something in it.
        NotImplementedError: the model has a `call` of its own, or an input signature is given.
        ValueError: the model is Sequential and its input is not known yet.
    """
    if input_signature is not None:
        raise NotImplementedError(
            "export_saved_model(input_signature=...): a model is exported with the shapes and types of its Inputs. Make the "
            "model with Inputs of the shapes that it is to be asked with"
        )
    if type(model).__name__ != "Sequential" and not model.is_graph_network:
        raise NotImplementedError(
            "Subclassed models can only be exported for serving, and by another function, also with serving_only=True: a model "
            f"is made anew from its config here, and one with a `call` of its own, as {type(model).__name__} is, has none. Run "
            "tf.saved_model.simple_save(tf.keras.backend.get_session(), path, {'x': inputs}, {'y': model(inputs)})"
        )
    if not model.inputs:
        raise ValueError(
            "Weights for sequential model have not yet been created. Weights are created when the Model is first called on "
            "inputs or `build()` is called with an `input_shape`, or the first layer in the model has `input_shape` during "
            f"construction: {model.name!r} has neither, so there is no input to export it with"
        )
    path = os.fspath(saved_model_path)
    builder = SavedModelBuilder(path)
    builder.note_variables()
    blueprint = Blueprint(model, custom_objects or {})
    is_compiled = getattr(model, "optimizer", None) is not None and not serving_only
    modes = [ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT] if is_compiled else [ModeKeys.PREDICT]
    prefix = os.path.join(path, layout.VARIABLES_DIRECTORY, layout.VARIABLES_FILENAME)
    weights = ObjectGraph(model).variables
    values = dict(zip(weights, batch_get_value(list(weights.values())), strict=True))
    for mode in modes:
        with Graph().as_default(), learning_phase_scope(int(mode == ModeKeys.TRAIN)):
            made, objects = _add_graph(builder, blueprint, mode)
            if mode == modes[0]:
                _write(made, objects, values, prefix)
    folder = os.path.join(path, layout.ASSETS_DIRECTORY)
    gfile.MakeDirs(folder)
    with gfile.GFile(os.path.join(folder, _CONFIG), "w") as file:
        file.write(model.to_json())
    builder.save(as_text)


def load_from_saved_model(
    saved_model_path: str | os.PathLike[str], custom_objects: Mapping[str, object] | None = None
) -> KerasObject:
    """Make the model anew that `export_saved_model` wrote, here or in TensorFlow 1, with its weights; it is not compiled.

    Args:
        saved_model_path: the SavedModel's folder.
        custom_objects: the program's own classes and functions, by name.

    Returns:
        The model.

    Raises:
        NotFoundError: there is no config in the folder: another program wrote the SavedModel, or there is none.
    """
    path = os.fspath(saved_model_path)
    with gfile.GFile(os.path.join(path, layout.ASSETS_DIRECTORY, _CONFIG), "r") as file:
        model = model_from_json(file.read(), dict(custom_objects or {}))
    model.load_weights(os.path.join(path, layout.VARIABLES_DIRECTORY, layout.VARIABLES_FILENAME))
    return model


def _add_graph(builder: SavedModelBuilder, blueprint: Blueprint, mode: str) -> tuple[KerasObject, ObjectGraph]:
    """Add the graph of a mode; its model and objects. The first one has all variables that any has."""
    model = blueprint.model()
    inputs: dict[str, Tensor] = dict(zip(model.input_names, model.inputs, strict=True))
    outputs = dict(zip(model.output_names, model.outputs, strict=True))
    output: ExportOutput = PredictOutput(outputs)
    if mode != ModeKeys.PREDICT:
        blueprint.compile(model)
        program = model.compilation.program()
        get_default_graph().add_to_collection(GraphKeys.GLOBAL_STEP, model.optimizer.iterations)
        if mode == ModeKeys.TRAIN:
            get_default_graph().add_to_collection(layout.TRAIN_OP_KEY, program.train_op(model.optimizer))
        inputs.update((f"{each.name}_target", each.target) for each in program.endpoints if each.target is not None)
        kind = TrainOutput if mode == ModeKeys.TRAIN else EvalOutput
        output = kind(program.loss, outputs, _metrics(program))
    tag, key = _TAGS[mode]
    signatures = {key: output.as_signature_def(inputs)}
    objects = ObjectGraph(model)
    saver = Saver(objects.variables, sharded=True) if objects.variables else Saver(allow_empty=True)
    ready = group(local_variables_initializer(), name="init_local")
    builder.add_meta_graph([tag], signatures, main_op=ready, saver=saver)
    return model, objects


def _metrics(program: KerasObject) -> dict[str, tuple[Tensor, Tensor]]:
    """The values and the updates of the metrics by name, but for the losses of several outputs; their states are local."""
    graph = get_default_graph()
    losses = [each.loss_metric for each in program.endpoints]
    found = {}
    for name, metric, update in program.named_metrics():
        for variable in metric.variables:
            graph.add_to_collection(GraphKeys.LOCAL_VARIABLES, variable)
        if not any(metric is each for each in losses):
            found[name] = metric.result(), update
    return found


def _write(model: KerasObject, objects: ObjectGraph, values: Mapping[str, Array], prefix: str) -> None:
    """Write the values that the original has, and the first ones of the variables of which it has none yet."""
    with Session() as session:
        session.run([each.initializer for each in objects.variables.values()])
        pairs = [(variable, values[key]) for key, variable in objects.variables.items() if key in values]
        setter, feeds = value_setter(pairs)
        session.run(setter, feed_dict=feeds)
        model.save_weights(prefix, save_format="tf")
