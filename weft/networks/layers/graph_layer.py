"""The layers of tf.layers as layers of Keras, so that models can have them."""

from __future__ import annotations

from typing import Any

from weft.framework.aliases import Nest, TensorLike
from weft.networks.engine.layer import Layer
from weft.models.layers.layer import Layer as GraphLayer


class GraphLayerWrapper(Layer):
    """A layer of tf.layers in a model: its variables are in a variable scope, as always."""

    def __init__(self, layer: GraphLayer) -> None:
        super().__init__(name=layer.name)
        self.layer = layer

    def call(self, inputs: Nest, training: TensorLike | None = None) -> Nest:
        """What the layer makes of the inputs."""
        if training is not None and "training" in type(self.layer).call.__code__.co_varnames:
            return self.layer(inputs, training=training)
        return self.layer(inputs)

    def get_config(self) -> dict[str, Any]:
        """Refuse: a layer of tf.layers has no config."""
        raise NotImplementedError(f"{self.name}: a layer of tf.layers has no config; use the one of tf.keras.layers")


def wrapped(layer: Any) -> Any:
    """A layer of Keras as it is, one of tf.layers in a wrapper, anything else as it is."""
    return GraphLayerWrapper(layer) if isinstance(layer, GraphLayer) and not isinstance(layer, Layer) else layer
