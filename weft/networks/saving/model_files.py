"""Whole models in HDF5 files: the config, the weights, what `compile` was told, and the optimizer's state."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from weft.errors import OpError
from weft.framework.building.aliases import Nest
from weft.framework.nested import nest
from weft.framework.serial.proto_reading import UnparsableFileError
from weft.networks import losses
from weft.networks.config import Config, GivenConfig, KerasObject
from weft.networks.layers.catalog import deserialize
from weft.networks.models.building import jsonable, model_config
from weft.networks.optimizers import catalog as optimizers
from weft.networks.saving.hdf5_store import has_endless_heap, hdf5, is_hdf5_file, read_arrays, text_attribute, write_arrays
from weft.networks.saving.hdf5_weights import VERSION, read_layers, write_layers
from weft.platform.files.missing_file import what_is_there
from weft.platform.logs import tf_logging

# How h5py begins what it says of a file that is cut short or changed; it has no class for that.
_DAMAGED: Final = ("Unable to ", "Can't ")


def may_write(path: str, overwrite: bool) -> bool:
    """Whether a file may be written: it is not there yet, may be overwritten, or whoever sits there says yes."""
    if overwrite or not os.path.isfile(path):
        return True
    answer = ""
    while answer not in ("y", "n"):
        answer = input(f"[WARNING] {path} already exists - overwrite? [y/n]").strip().lower()
    return answer == "y"


@contextmanager
def opened(file: Nest, mode: str, what: str) -> Iterator[Any]:
    """An HDF5 file of a path, closed afterwards, or one that is open already, as it is.

    Raises:
        DataLossError: the file is damaged; names it. It is an OSError as well.
    """
    if not isinstance(file, str | os.PathLike):
        yield file
        return
    path = os.fspath(file)
    if mode == "r" and os.path.isfile(path) and has_endless_heap(path):
        raise UnparsableFileError(None, None, f"Cannot read {path}: a heap of texts in the HDF5 file is damaged")
    try:
        with hdf5(what).File(path, mode) as made:
            yield made
    except (OSError, KeyError, RuntimeError, ValueError, TypeError) as error:
        text = str(error.args[0]) if error.args else ""
        if mode == "r" and text.startswith(_DAMAGED) and not isinstance(error, OpError):
            raise UnparsableFileError(None, None, f"Cannot read {path}: the HDF5 file is damaged: {text}") from error
        if path not in text:
            error.add_note(f"It was the HDF5 file {path}")
        raise


def save_model(
    model: KerasObject, filepath: Nest, overwrite: bool = True, include_optimizer: bool = True,
    save_format: str | None = None, signatures: object = None,
) -> None:  # fmt: skip
    """Write a model: its config, weights, what `compile` was told, and the optimizer's state.

    Args:
        model: the model, functional or Sequential.
        filepath: the path, or an open file of h5py.
        overwrite: whether a file there is overwritten without asking.
        include_optimizer: whether the optimizer and its state are written.
        save_format: "h5".
        signatures: refused with the format of SavedModels, to which they belong.

    Raises:
        NotImplementedError: the model has a `call` of its own, or the format is that of SavedModels.
        ImportError: h5py is not installed.
    """
    if save_format not in (None, "h5", "hdf5") or signatures is not None:
        raise NotImplementedError(
            f"save_model(save_format={save_format!r}): weft writes models as HDF5. "
            "tf.keras.experimental.export_saved_model(model, path) makes a SavedModel"
        )
    if not model.is_graph_network and type(model).__name__ != "Sequential":
        raise NotImplementedError(
            "Saving the model to HDF5 format requires the model to be a Functional model or a Sequential model. It does not "
            "work for subclassed models, because such models are defined via the body of a Python method, which isn't safely "
            "serializable. Consider using `save_weights`."
        )
    if isinstance(filepath, str | os.PathLike) and not may_write(os.fspath(filepath), overwrite):
        return
    described = _description(model, include_optimizer)
    with opened(filepath, "w", "save_model") as file:
        for key, value in described.items():
            file.attrs[key] = value.encode("utf8") if isinstance(value, str) else json.dumps(value, default=jsonable).encode()
        write_layers(file.create_group("model_weights"), model.layers)
        weights = model.optimizer.weights if "training_config" in described else []
        if weights:
            write_arrays(file.create_group("optimizer_weights"), [each.name for each in weights], model.optimizer.get_weights())


def _description(model: KerasObject, include_optimizer: bool) -> Config:
    own = model_config(model)
    described: Config = {
        "keras_version": VERSION,
        "backend": "tensorflow",
        "model_config": {"class_name": own["class_name"], "config": own["config"]},
    }
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None or not include_optimizer:
        return described
    if isinstance(optimizer, optimizers.TFOptimizer):
        tf_logging.warning(
            "TensorFlow optimizers do not make it possible to access optimizer attributes or optimizer state after "
            "instantiation. As a result, we cannot save the optimizer as part of the model save file. You will have to compile "
            "your model again after loading it. Prefer using a Keras optimizer instead (see keras.io/optimizers)."
        )
        return described
    said = model.compilation.arguments
    described["training_config"] = {
        "loss": said["loss"], "metrics": said["metrics"], "weighted_metrics": said["weighted_metrics"],
        "sample_weight_mode": model.sample_weight_mode, "loss_weights": said["loss_weights"],
        "optimizer_config": {"class_name": type(optimizer).__name__, "config": optimizer.get_config()},
    }  # fmt: skip
    return described


def load_model(filepath: Nest, custom_objects: Mapping[str, object] | None = None, compile: bool = True) -> KerasObject:
    """Read a model that `save_model` wrote, here or in TensorFlow.

    Args:
        filepath: the path, or an open file of h5py.
        custom_objects: the program's own classes and functions, by the names that the file has for them.
        compile: whether to compile it as it was, with the optimizer's state.

    Returns:
        The model, compiled where the file says how and `compile` is true.

    Raises:
        OSError: there is no HDF5 file, or it is damaged, which is a DataLossError as well.
        ValueError: the file has no model in it, or a class that nobody knows.
    """
    if isinstance(filepath, str | os.PathLike):
        path = os.fspath(filepath)
        if not os.path.exists(path):
            raise OSError(
                f"SavedModel file does not exist at: {path}: there is neither an HDF5 file nor a SavedModel."
                f"{what_is_there(path)}"
            )
        if not is_hdf5_file(path):
            raise OSError(
                f"Unable to load model. {path} is no HDF5 file. The graph of a SavedModel is loaded by "
                "tf.saved_model.load(session, ['serve'], path), and a model that export_saved_model wrote by "
                "tf.keras.experimental.load_from_saved_model(path). For another model of Keras, save it as HDF5 where it was "
                "made: model.save('model.h5')."
            )
    with opened(filepath, "r", "load_model") as file:
        config = text_attribute(file, "model_config")
        if config is None:
            raise ValueError(
                f"No model found in config file. {file.filename} has weights alone, for model.load_weights, or is damaged"
            )
        model = _described(config, file.filename, custom_objects)
        read_layers(file["model_weights"], model.layers)
        if compile:
            _compile(model, file, custom_objects or {})
    return model


def _described(config: str, path: str, custom_objects: Mapping[str, object] | None) -> KerasObject:
    try:
        return deserialize(json.loads(config), custom_objects)
    except json.JSONDecodeError as error:
        raise ValueError(f"The model in {path} cannot be read: its config is no JSON: {error}") from error


def _compile(model: KerasObject, file: Any, custom_objects: Mapping[str, object]) -> None:
    text = text_attribute(file, "training_config")
    if text is None:
        tf_logging.warning("No training configuration found in save file: the model was *not* compiled. Compile it manually.")
        return
    model.compile(**compile_arguments(json.loads(text), custom_objects))
    if "optimizer_weights" not in file:
        return
    if not model.is_graph_network:
        tf_logging.warning(
            "Sequential models without an `input_shape` passed to the first layer cannot reload their optimizer state. As a "
            "result, your model is starting with a freshly initialized optimizer."
        )
        return
    model.compilation.prepare_training()
    try:
        model.optimizer.set_weights(read_arrays(file["optimizer_weights"]))
    except ValueError as error:
        tf_logging.warning(
            "Error in loading the saved optimizer state. As a result, your model is starting with a freshly initialized "
            "optimizer. (%s)", error,
        )  # fmt: skip


def compile_arguments(training_config: GivenConfig, custom_objects: Mapping[str, object]) -> Config:
    """The arguments of `compile` in a file's training config."""

    def known(value: Nest) -> Nest:
        return custom_objects.get(value, value) if isinstance(value, str) else value

    loss = training_config["loss"]
    if isinstance(loss, Mapping) and "class_name" in loss:
        loss = losses.deserialize(loss, custom_objects)
    return {
        "optimizer": optimizers.deserialize(training_config["optimizer_config"], custom_objects),
        "loss": nest.map_structure(known, loss),
        "metrics": nest.map_structure(known, training_config["metrics"]),
        "weighted_metrics": nest.map_structure(known, training_config.get("weighted_metrics")),
        "loss_weights": training_config["loss_weights"],
        "sample_weight_mode": training_config["sample_weight_mode"],
    }
