"""All layers by name, and layers of their configs."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Final

from weft.framework.building.aliases import Nest
from weft.networks.config import Config, GivenConfig, KerasObject
from weft.networks.engine.input_layer import InputLayer
from weft.networks.engine.layer import Layer
from weft.networks.layers import (
    activation_layers,
    attention,
    core,
    embeddings,
    feature_columns,
    merging,
    noise,
    normalization,
    wrappers,
)
from weft.networks.layers.recurrent import cells, cudnn, own_cells, rnn
from weft.networks.layers.recurrent import convolutional as conv_recurrent
from weft.networks.layers.recurrent import layers as recurrent
from weft.networks.layers.spatial import borders, convolutional, local, pooling
from weft.networks.objects import registry

_MODULES: Final = (
    activation_layers, attention, borders, cells, conv_recurrent, convolutional, core, cudnn, embeddings, feature_columns,
    local, merging, noise, normalization, own_cells, pooling, recurrent, rnn, wrappers,
)  # fmt: skip


def _layers_of(module: ModuleType) -> Config:
    own = (each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Layer))
    return {each.__name__: each for each in own if each.__module__ == module.__name__ and not each.__name__.startswith("_")}


LAYERS: Final[Config] = {"InputLayer": InputLayer, "Layer": Layer}
for _module in _MODULES:
    LAYERS.update(_layers_of(_module))


wrappers.know(LAYERS)


def register(name: str, layer: KerasObject) -> None:
    """Let a class that is above this module be known by its name, as models are."""
    LAYERS[name] = layer
    wrappers.know({name: layer})


def deserialize(config: GivenConfig, custom_objects: Mapping[str, object] | None = None) -> Nest:
    """The layer of a config with its class's name.

    Args:
        config: a dict of `class_name` and `config`.
        custom_objects: further classes and functions by name.
    """
    return registry.deserialize_keras_object(config, LAYERS, custom_objects, "layer")


serialize = registry.serializer("layer")
