"""Weights as other versions and backends of Keras wrote them, in the order and layout of this one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.networks.config import KerasObject


def converted(layer: KerasObject, weights: Sequence[Array], version: str, backend: str | None) -> list[Array]:
    """A layer's weights in this version's form.

    Args:
        layer: the layer, whose inner layers are looked at too.
        weights: its weights, the trained ones first.
        version: the version of Keras that wrote them; "1" for all of the first.
        backend: its backend; "theano" kept kernels of convolutions mirrored.
    """
    kind, given = type(layer).__name__, list(weights)
    if kind == "Bidirectional":
        half = len(given) // 2
        return [
            *converted(layer.forward_layer, given[:half], version, backend),
            *converted(layer.backward_layer, given[half:], version, backend),
        ]
    if kind == "TimeDistributed":
        return converted(layer.layer, given, version, backend)
    if kind in ("Model", "Sequential"):
        return _of_layers(layer, given, version, backend)
    if version.startswith("1") and kind in _FROM_FIRST:
        given = _FROM_FIRST[kind](layer, given)
    if kind in _CONVOLUTIONS and given:
        given = _of_convolution(layer, given, backend)
    return _between_recurrent_forms(layer, kind, given)


def _of_layers(model: KerasObject, weights: list[Array], version: str, backend: str | None) -> list[Array]:
    cut = len(model.trainable_weights)
    trained, frozen = weights[:cut], weights[cut:]
    made_trained: list[Array] = []
    made_frozen: list[Array] = []
    for each in model.layers:
        many, rest = len(each.trainable_weights), len(each.non_trainable_weights)
        if many + rest:
            made = converted(each, [*trained[:many], *frozen[:rest]], version, backend)
            made_trained += made[:many]
            made_frozen += made[many:]
        trained, frozen = trained[many:], frozen[rest:]
    return [*made_trained, *made_frozen]


def _first_conv1d(layer: KerasObject, weights: list[Array]) -> list[Array]:
    kernel = weights[0]
    if kernel.shape[:2] != (layer.kernel_size[0], 1) or kernel.shape[3] != layer.filters:
        kernel = kernel.transpose(2, 3, 1, 0)
    return [kernel[:, 0, :, :], *weights[1:]]


def _first_conv2d(layer: KerasObject, weights: list[Array]) -> list[Array]:
    is_old = layer.data_format == "channels_first"
    return [weights[0].transpose(2, 3, 1, 0), *weights[1:]] if is_old else weights


def _first_transposed(layer: KerasObject, weights: list[Array]) -> list[Array]:
    order = (0, 1, 3, 2) if layer.data_format == "channels_last" else (2, 3, 0, 1)
    return [weights[0].transpose(order), *weights[1:]]


def _first_conv3d(layer: KerasObject, weights: list[Array]) -> list[Array]:
    is_old = layer.data_format == "channels_first"
    return [weights[0].transpose(2, 3, 4, 1, 0), *weights[1:]] if is_old else weights


def _joined_gates(order: Sequence[int]) -> Callable[[KerasObject, list[Array]], list[Array]]:
    """The gates' kernels, recurrent kernels and biases, which were weights of their own, side by side in an order."""

    def join(layer: KerasObject, weights: list[Array]) -> list[Array]:
        if len(weights) != 3 * len(order):
            return weights
        return [np.concatenate([weights[3 * gate + part] for gate in order], axis=-1) for part in range(3)]

    return join


# The first version kept LSTM's gates in the order input, candidate, forget, output.
_FROM_FIRST: Final[dict[str, Callable[[KerasObject, list[Array]], list[Array]]]] = {
    "Conv1D": _first_conv1d, "Conv2D": _first_conv2d, "Conv2DTranspose": _first_transposed, "Conv3D": _first_conv3d,
    "GRU": _joined_gates((0, 1, 2)), "LSTM": _joined_gates((0, 2, 1, 3)), "ConvLSTM2D": _joined_gates((0, 2, 1, 3)),
}  # fmt: skip
_CONVOLUTIONS: Final = ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "ConvLSTM2D")


def _of_convolution(layer: KerasObject, weights: list[Array], backend: str | None) -> list[Array]:
    kernels = 2 if type(layer).__name__ == "ConvLSTM2D" else 1
    for index in range(kernels):
        if backend == "theano":
            mirrored = tuple(slice(None, None, -1) for _ in range(weights[index].ndim - 2))
            weights[index] = weights[index][mirrored].copy()
    if tuple(layer.weights[0].shape.as_list()) != weights[0].shape and weights[0].ndim == 4:
        for index in range(kernels):
            weights[index] = weights[index].transpose(3, 2, 0, 1)
    return weights


def _between_recurrent_forms(layer: KerasObject, kind: str, weights: list[Array]) -> list[Array]:
    """Weights of a CuDNN layer for one that is none, or the other way round: layout and number of biases differ.

    Raises:
        ValueError: a GRU whose reset gate is applied before the product cannot use weights of one where it is applied after it.
    """
    gates = {"LSTM": 4, "CuDNNLSTM": 4, "GRU": 3, "CuDNNGRU": 3}.get(kind)
    if gates is None or len(weights) != 3:
        return weights
    units, bias = weights[1].shape[0], weights[2]
    is_cudnn = bias.shape == (2 * units * gates,)
    if not is_cudnn and bias.shape not in ((units * gates,), (2, units * gates)):
        raise ValueError(f"Invalid bias shape: {bias.shape}")
    if is_cudnn == kind.startswith("CuDNN"):
        return weights
    if kind in ("LSTM", "CuDNNLSTM"):
        bias = bias.reshape(2, -1).sum(axis=0) if is_cudnn else np.tile(0.5 * bias, 2)
    elif is_cudnn:
        if not layer.cell.reset_after:
            raise ValueError("CuDNNGRU is not compatible with GRU(reset_after=False)")
        bias = bias.reshape(2, -1)
    else:
        if bias.ndim != 2:
            raise ValueError("GRU(reset_after=False) is not compatible with CuDNNGRU")
        bias = bias.reshape(-1)
    return [_relaid(weights[0], gates, is_cudnn), _transposed(weights[1], gates), bias]


def _relaid(kernel: Array, gates: int, is_cudnn: bool) -> Array:
    """The gates' kernels, each read column by column instead of row by row, or back."""
    parts = np.split(kernel, gates, axis=1)
    if is_cudnn:
        return np.hstack([each.reshape(-1).reshape(each.shape, order="F") for each in parts])
    return np.hstack([each.reshape(-1, order="F").reshape(each.shape) for each in parts])


def _transposed(kernel: Array, gates: int) -> Array:
    return np.hstack([each.T for each in np.split(kernel, gates, axis=1)])
