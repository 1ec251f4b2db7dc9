"""The layers of tf.layers as layers of Keras, so that models can have them."""

from __future__ import annotations

from weft.framework.building.aliases import Nest, TensorLike
from weft.models.layers.layer import Layer as GraphLayer
from weft.networks.config import Config, KerasObject
from weft.networks.engine.layer import Layer
from weft.networks.state.graph_state import track_variable


class GraphLayerWrapper(Layer):
    """A layer of tf.layers in a model: its variables are in a variable scope, as always."""

    def __init__(self, layer: GraphLayer) -> None:
        super().__init__(name=layer.name)
        self.layer = layer

    def call(self, inputs: Nest, training: TensorLike | None = None) -> Nest:
        """What the layer makes of the inputs."""
        takes_phase = training is not None and "training" in type(self.layer).call.__code__.co_varnames
        known = len(self.layer.weights)
        made = self.layer(inputs, training=training) if takes_phase else self.layer(inputs)
        for variable in self.layer.weights[known:]:
            track_variable(variable)
        return made

    def get_config(self) -> Config:
        """Refuse: a layer of tf.layers has no config."""
        raise NotImplementedError(f"{self.name}: a layer of tf.layers has no config; use the one of tf.keras.layers")


def wrapped(layer: KerasObject) -> Nest:
    """A layer of Keras as it is, one of tf.layers in a wrapper, anything else as it is."""
    return GraphLayerWrapper(layer) if isinstance(layer, GraphLayer) and not isinstance(layer, Layer) else layer
