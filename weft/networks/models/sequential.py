"""Sequential: layers one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.framework.building.aliases import Array, Nest, TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.networks.config import Config, GivenConfig, KerasObject
from weft.networks.engine.calls import history
from weft.networks.engine.input_layer import Input, InputLayer
from weft.networks.engine.layer import Layer
from weft.networks.layers.catalog import deserialize, register
from weft.networks.layers.graph_layer import wrapped
from weft.networks.models.model import Model
from weft.networks.state.defaults import floatx


def _function_meant(layer: object) -> str:
    if isinstance(layer, type):
        return f": did you mean {layer.__name__}(...)?"
    return ": tf.keras.layers.Lambda(function) makes a layer of a function" if callable(layer) else ""


class Sequential(Model):
    """Layers one after the other.

    With the shape of its inputs known (from an InputLayer, or `input_shape` of the first layer) it is built as layers are
    added, else at its first call.

    Args:
        layers: the layers to begin with.
        name: its name.
    """

    def __init__(self, layers: Sequence[Nest] | None = None, name: str | None = None) -> None:
        super().__init__(name=name)
        self._chain: list[Nest] = []
        self.supports_masking = True
        for layer in layers or ():
            self.add(layer)

    @property
    def layers(self) -> list[Nest]:
        """The layers, without the one of the input."""
        return [each for each in self._chain if not isinstance(each, InputLayer)]

    def _inner_layers(self) -> list[Nest]:
        return self.layers if "_chain" in self.__dict__ else []

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """The layers by their numbers, and what attributes hold."""
        return [(name, held) for name, held in super().checkpoint_dependencies() if name != "_chain"]

    def _ordered_layers(self) -> list[Nest]:
        return list(self._chain)

    def add(self, layer: KerasObject) -> None:
        """Put a layer behind the others.

        Args:
            layer: a layer, or the tensor that `tf.keras.Input` gave.

        Raises:
            TypeError: it is no layer, or gives several outputs.
            ValueError: a layer of this name is there already.
        """
        if history.is_tensor(layer) and history.history_of(layer) is not None:
            layer = history.history_of(layer).layer  # type: ignore[union-attr]
        layer = wrapped(layer)
        if not isinstance(layer, Layer):
            raise TypeError(f"The added layer must be an instance of class Layer. Found: {layer}{_function_meant(layer)}")
        if any(each.name == layer.name for each in self.layers):
            raise ValueError(f'The name "{layer.name}" is used 2 times in the model. All layer names should be unique.')
        self.built = False
        if not self._chain:
            self._begin(layer)
        elif self.outputs:
            self._chain.append(layer)
            outputs = layer(self.outputs[0])
            if len(nest.flatten(outputs)) != 1:
                raise TypeError(_SINGLE)
            self.connect(self.inputs, outputs)
        else:
            self._chain.append(layer)

    def _begin(self, layer: KerasObject) -> None:
        if isinstance(layer, InputLayer):
            self._chain.append(layer)
            start = layer.inbound_nodes[0].output_tensors[0]
            self.inputs, self.outputs = [start], [start]
            return
        shape = _first_shape(layer)
        self._chain.append(layer)
        if shape is None:
            return
        dtype = layer.dtype if not isinstance(layer, Model) else None
        start = Input(batch_shape=shape, dtype=dtype or floatx(), name=f"{layer.name}_input")
        self._chain.insert(0, history.history_of(start).layer)  # type: ignore[union-attr]
        outputs = layer(start)
        if len(nest.flatten(outputs)) != 1:
            raise TypeError(_SINGLE)
        self.connect([start], outputs)

    def pop(self) -> None:
        """Take the last layer away; TypeError when there is none."""
        if not self.layers:
            raise TypeError("There are no layers in the model.")
        self._chain.pop()
        if not self.layers:
            self.outputs = self.inputs = None
            self.topology, self.built = None, False
        elif self.outputs:
            self.connect(self.inputs, self._chain[-1].output)

    def call(self, inputs: Nest, training: TensorLike | None = None, mask: Nest = None) -> Nest:
        """The outputs of the last layer.

        Args:
            training: whether layers such as dropout act as in training; each layer's default when None.
            mask: `[batch, steps]` bool, which steps of the inputs count; all when None.
        """
        if self.topology is not None:
            return super().call(inputs, training, mask)
        outputs = inputs
        for layer in self.layers:
            outputs = layer(outputs)
            if len(nest.flatten(outputs)) != 1:
                raise TypeError(_SINGLE)
        return outputs

    def build(self, input_shape: Nest = None) -> None:
        """Make the variables; ValueError without layers or a shape."""
        if self.topology is None:
            if input_shape is None:
                raise ValueError("Input shape must be defined when calling `build()` on a model without inputs.")
            super().build(input_shape)
        self.built = True

    def _has_own_build(self) -> bool:
        return type(self).build is not Sequential.build

    def compute_mask(self, inputs: Nest, mask: Nest = None) -> Nest:
        """None: the layers have given the outputs their masks."""
        return None

    def place_inputs(self, names: Sequence[str], values: Sequence[Array], given: Nest) -> None:
        """Make placeholders like arrays and call the layers on them."""
        if len(values) != 1:
            raise ValueError(f"Sequential takes one input, but got {len(values)}: {list(names)}")
        first = self.layers[0]
        start = Input(batch_shape=(None, *values[0].shape[1:]), name=f"{first.name}_input", dtype=floatx())
        outputs = start
        with get_default_graph().name_scope(self.name):
            for layer in self.layers:
                outputs = layer(outputs)
        self.connect([start], outputs)

    def predict_classes(self, x: Nest, batch_size: int = 32, verbose: int = 0) -> Array:
        """The numbers of the likeliest classes.

        Args:
            x: inputs, as for `predict`.
            batch_size: how many examples a batch has.
            verbose: 1 for a progress bar.
        """
        found = self.predict(x, batch_size=batch_size, verbose=verbose)
        return found.argmax(axis=-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")

    def predict_proba(self, x: Nest, batch_size: int = 32, verbose: int = 0) -> Array:
        """The outputs, as probabilities.

        Args:
            x: inputs, as for `predict`.
            batch_size: how many examples a batch has.
            verbose: 1 for a progress bar.
        """
        return self.predict(x, batch_size, verbose)

    def get_config(self) -> Config:
        """The layers, as plain data."""
        layers = [{"class_name": type(each).__name__, "config": each.get_config()} for each in self.layers]
        config: Config = {"name": self.name, "layers": layers}
        if self.topology is None and self.built and self.batch_input_shape is not None:
            config["build_input_shape"] = self.batch_input_shape
        if self.inputs is not None and layers and "batch_input_shape" not in layers[0]["config"]:
            layers[0]["config"]["batch_input_shape"] = tuple(self.inputs[0].shape.as_list())
        return config

    @classmethod
    def from_config(
        cls, config: GivenConfig | Sequence[GivenConfig], custom_objects: Mapping[str, object] | None = None
    ) -> Sequential:
        """A model of its config.

        Args:
            custom_objects: classes and functions by the names that the config has for them.
        """
        layers = config["layers"] if isinstance(config, Mapping) else config
        made = cls(name=config["name"] if isinstance(config, Mapping) else None)
        for each in layers:
            made.add(deserialize(each, custom_objects))
        if made.inputs is None and isinstance(config, Mapping) and config.get("build_input_shape"):
            made.build(config["build_input_shape"])
        return made


_SINGLE = (
    "All layers in a Sequential model should have a single output tensor. For multi-output layers, use the functional API."
)


def _first_shape(layer: KerasObject) -> tuple[int | None, ...] | None:
    """The shape of inputs that a layer, or the first layer in it, was made for."""
    if isinstance(layer, Model):
        if layer.inputs:
            return tuple(layer.inputs[0].shape.as_list())
        inner = layer.layers
        return _first_shape(inner[0]) if isinstance(layer, Sequential) and inner else layer.batch_input_shape
    shape: tuple[int | None, ...] | None = layer.batch_input_shape
    return shape


register("Sequential", Sequential)
register("Model", Model)
