"""Models of their configs: layers are made and called as the config says."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from weft.framework.building.aliases import Nest
from weft.framework.types.dimension import Dimension
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.networks.config import Config, GivenConfig, KerasObject
from weft.networks.engine.calls import history
from weft.networks.engine.input_layer import Input
from weft.networks.engine.network_config import first_call
from weft.networks.layers.catalog import deserialize


def model_config(model: KerasObject) -> Config:
    """A model's class and config, with the versions of what wrote it."""
    return {
        "class_name": type(model).__name__,
        "config": model.get_config(),
        "keras_version": "2.2.4-tf",
        "backend": "tensorflow",
    }


def jsonable(value: Any) -> Nest:
    """What JSON does not know, as what it knows."""
    if isinstance(value, TensorShape):
        return value.as_list()
    if isinstance(value, Dimension):
        return value.value
    if isinstance(value, DType):
        return value.name
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if hasattr(value, "__name__"):
        return value.__name__
    raise TypeError("Not JSON Serializable:", value)


def tensors_of(config: GivenConfig, custom_objects: Mapping[str, object] | None) -> tuple[Nest, Nest]:
    """The inputs and outputs of the network that a config describes; its layers are made and called."""
    layers = {each["name"]: deserialize(each, custom_objects) for each in config["layers"]}
    waiting = [
        (each["name"], index, call)
        for each in config["layers"]
        for index, call in enumerate(each["inbound_nodes"], first_call(layers[each["name"]]))
    ]
    made: dict[tuple[str, int], list[Nest]] = {
        (name, 0): [layers[name].inbound_nodes[0].output_tensors[0]]
        for name in layers
        if type(layers[name]).__name__ == "InputLayer"
    }
    while waiting:
        left = []
        for name, index, call in waiting:
            inputs = _inputs_of(call, made)
            if inputs is None or any((name, before) not in made for before in range(first_call(layers[name]), index)):
                left.append((name, index, call))
                continue
            outputs = layers[name](inputs[0] if len(inputs) == 1 else inputs, **_arguments_of(call))
            made[name, index] = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
        if len(left) == len(waiting):
            raise ValueError(f"Model config: the inputs of {sorted({name for name, _, _ in left})} come from no layer in it")
        waiting = left
    inputs, outputs = (_gathered(config[key], made) for key in ("input_layers", "output_layers"))
    return inputs, outputs


def _places(call: Nest) -> Sequence[Sequence[Nest]]:
    return [call] if isinstance(call[0], str) else call


def _inputs_of(call: Nest, made: Mapping[tuple[str, int], Sequence[Nest]]) -> list[Nest] | None:
    places = _places(call)
    if any((place[0], place[1]) not in made for place in places):
        return None
    return [made[place[0], place[1]][place[2]] for place in places]


def _arguments_of(call: Nest) -> Config:
    first = _places(call)[0]
    return dict(first[3]) if len(first) > 3 else {}


def _gathered(places: Nest, made: Mapping[tuple[str, int], Sequence[Nest]]) -> Nest:
    listed = [places] if places and isinstance(places[0], str) else places
    found = [made[place[0], place[1]][place[2]] for place in listed]
    return found[0] if len(found) == 1 else found


def model_from_config(config: GivenConfig, custom_objects: Mapping[str, object] | None = None) -> KerasObject:
    """The model of a class and config.

    Args:
        config: a dict of `class_name` and `config`.
        custom_objects: further classes and functions by name.
    """
    return deserialize(config, custom_objects)


def model_from_json(json_string: str, custom_objects: Mapping[str, object] | None = None) -> KerasObject:
    """The model of what `to_json` gave.

    Args:
        json_string: the text.
        custom_objects: further classes and functions by name.

    Raises:
        ValueError: the text is no JSON, or names a layer that nobody knows.
        KeyError: a part is missing that `to_json` writes.
    """
    return _described(json.loads(json_string), custom_objects)


def model_from_yaml(yaml_string: str, custom_objects: Mapping[str, object] | None = None) -> KerasObject:
    """The model of what `to_yaml` gave.

    Args:
        yaml_string: the text.
        custom_objects: further classes and functions by name.

    Raises:
        ImportError: PyYAML is not installed.
        ValueError: the text names a layer that nobody knows.
        KeyError: a part is missing that `to_yaml` writes.
        yaml.YAMLError: the text is no YAML.
    """
    return _described(yaml_module("model_from_yaml").safe_load(yaml_string), custom_objects)


def _described(config: GivenConfig, custom_objects: Mapping[str, object] | None) -> KerasObject:
    """The model of a text's config, which may be cut short or changed by hand."""
    try:
        return deserialize(config, custom_objects)
    except KeyError as error:
        raise KeyError(f"Improper config format: it lacks {error}, which `to_json` and `to_yaml` write") from error


def yaml_module(what: str) -> ModuleType:
    """PyYAML, which few programs need."""
    try:
        return importlib.import_module("yaml")
    except ImportError as error:
        raise ImportError(f"{what} needs PyYAML: pip install pyyaml; to_json and model_from_json need nothing") from error


def clone_model(
    model: KerasObject, input_tensors: Nest = None, clone_function: Callable[[KerasObject], KerasObject] | None = None
) -> KerasObject:
    """A model with layers like another's, and variables of its own.

    Args:
        model: the model, functional or Sequential.
        input_tensors: tensors to build it on, instead of new Inputs.
        clone_function: makes a new layer of an old one; one of the same config when None. Inputs are made anew without it.

    Raises:
        ValueError: the model has a `call` of its own, or the function is none.
    """
    if clone_function is not None and not callable(clone_function):
        raise ValueError("Expected `model` argument to be a functional `Model` instance, but got a subclass model instead.")
    if type(model).__name__ != "Sequential" and not model.is_graph_network:
        raise ValueError("Expected `model` argument to be a functional `Model` instance, but got a subclass model instead.")
    if input_tensors is None and clone_function is None:
        return type(model).from_config(model.get_config())
    copied = clone_function or (lambda layer: type(layer).from_config(layer.get_config()))
    if type(model).__name__ == "Sequential":
        return _cloned_chain(model, input_tensors, copied)
    return _cloned_graph(model, input_tensors, copied)


def _starts(model: KerasObject, input_tensors: Nest) -> list[Nest]:
    """Tensors with histories to build a clone on."""
    if input_tensors is None:
        return [
            Input(batch_shape=tuple(each.shape.as_list()), dtype=each.dtype.name, name=name)
            for each, name in zip(model.inputs, model.input_names, strict=True)
        ]
    given = list(input_tensors) if isinstance(input_tensors, list | tuple) else [input_tensors]
    return [
        each if history.history_of(each) is not None else Input(tensor=each, name=f"input_wrapper_for_{name}")
        for each, name in zip(given, model.input_names, strict=True)
    ]


def _cloned_chain(model: KerasObject, input_tensors: Nest, copied: Callable[[KerasObject], KerasObject]) -> KerasObject:
    layers = [copied(layer) for layer in model.layers]
    # The first of these layers need not know what the first of the model was given.
    if input_tensors is None and not model.inputs:
        return type(model)(layers, name=model.name)
    (start,) = _starts(model, input_tensors)
    found = history.history_of(start)
    assert found is not None
    return type(model)([found.layer, *layers], name=model.name)


def _cloned_graph(model: KerasObject, input_tensors: Nest, copied: Callable[[KerasObject], KerasObject]) -> KerasObject:
    starts = _starts(model, input_tensors)
    made: dict[str, Nest] = dict(zip(map(history.key_of, model.inputs), starts, strict=True))
    layers = {layer.name: copied(layer) for layer in model.layers if type(layer).__name__ != "InputLayer"}
    outputs = model.topology.replayed(made, [None] * len(starts), model.output_structure, layers)
    return type(model)(starts[0] if len(starts) == 1 else starts, outputs, name=model.name)
