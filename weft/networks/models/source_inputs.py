"""What a tensor of a model was made of, and kernels of models that came from Theano."""

from __future__ import annotations

import numpy as np

from weft.framework import nest
from weft.framework.aliases import Nest
from weft.framework.operation import Tensor
from weft.networks.config import KerasObject
from weft.networks.engine.calls import history
from weft.networks.engine.input_layer import InputLayer
from weft.networks.state.sessions import batch_get_value, batch_set_value

_CONVOLUTIONS = frozenset(("Conv1D", "Conv2D", "Conv3D", "Convolution1D", "Convolution2D", "Convolution3D", "Conv2DTranspose"))


def get_source_inputs(tensor: Tensor, layer: KerasObject = None, node_index: int | None = None) -> Nest:
    """The Inputs that a tensor was made of by layers; the tensor itself where no layer has made it.

    Args:
        tensor: what a layer has made.
        layer: the layer, where another one than that which is known.
        node_index: which of the layer's calls.
    """
    known = history.history_of(tensor)
    if known is None:
        return tensor
    maker, index = (known.layer, known.node_index) if layer is None or node_index is None else (layer, node_index)
    if not maker.call_record.inbound:
        return [tensor]
    node = maker.call_record.inbound[index]
    if isinstance(maker, InputLayer):
        return nest.flatten(node.output_tensors)
    found: dict[str, Tensor] = {}
    for each in node.inputs():
        sources = get_source_inputs(each)
        for source in sources if isinstance(sources, list) else [sources]:
            found.setdefault(history.key_of(source), source)
    return list(found.values())


def convert_all_kernels_in_model(model: KerasObject) -> None:
    """Turn the kernels of all convolutions of a model round: Theano's are TensorFlow's from the other end.

    Args:
        model: the model, whose weights are changed.
    """
    kernels = [layer.kernel for layer in model.layers if type(layer).__name__ in _CONVOLUTIONS]
    values = batch_get_value(kernels)
    flipped = [np.copy(each[tuple([slice(None, None, -1)] * (each.ndim - 2))]) for each in values]
    batch_set_value(list(zip(kernels, flipped, strict=True)))
