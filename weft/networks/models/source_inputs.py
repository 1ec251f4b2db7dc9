"""What a tensor of a model was made of, and kernels of models that came from Theano."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.framework.building.aliases import Nest
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
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
    if history.history_of(tensor) is None:
        return tensor
    call = _call_of(tensor)
    if layer is not None and node_index is not None:
        call = layer.call_record.inbound[node_index] if layer.call_record.inbound else None
    if call is None:
        return [tensor]
    found: dict[str, Tensor] = {}
    # Each call on the way is looked at once: residual networks have very many ways.
    seen: set[history.Node] = set()
    waiting = [call]
    while waiting:
        call = waiting.pop()
        if call in seen:
            continue
        seen.add(call)
        ends = isinstance(call.outbound_layer, InputLayer)
        for each in nest.flatten(call.output_tensors) if ends else reversed(call.inputs()):
            before = None if ends else _call_of(each)
            if before is None:
                found.setdefault(history.key_of(each), each)
            else:
                waiting.append(before)
    return list(found.values())


def _call_of(tensor: Tensor) -> history.Node | None:
    """The call of a layer that made a tensor; None where none is known."""
    known = history.history_of(tensor)
    calls: Sequence[history.Node] = () if known is None else known.layer.call_record.inbound
    return calls[known.node_index] if known is not None and calls else None


def convert_all_kernels_in_model(model: KerasObject) -> None:
    """Turn the kernels of all convolutions of a model round: Theano's are TensorFlow's from the other end.

    Args:
        model: the model, whose weights are changed.
    """
    kernels = [layer.kernel for layer in model.layers if type(layer).__name__ in _CONVOLUTIONS]
    values = batch_get_value(kernels)
    flipped = [np.copy(each[tuple([slice(None, None, -1)] * (each.ndim - 2))]) for each in values]
    batch_set_value(list(zip(kernels, flipped, strict=True)))
