"""The weights of a model in a checkpoint, by the place of each layer, so that names need not agree.

The keys are TensorFlow's for models (`layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE`), so the weights of plain
layers that TensorFlow has saved in its own format are found. The graph of objects that TensorFlow writes
beside them is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from weft.checkpoint.bundle_writer import BundleWriter
from weft.checkpoint.checkpoint_reader import CheckpointReader
from weft.framework.aliases import VariableLike
from weft.networks.config import KerasObject
from weft.networks.layers.recurrent.rnn import RNN
from weft.networks.state.sessions import batch_get_value, batch_set_value


def _keys(model: KerasObject) -> Iterator[tuple[str, VariableLike]]:
    """Each variable of a model with its key."""
    layers = [layer for layer in model.layers if layer.weights]
    for number, layer in enumerate(layers):
        taken: dict[str, int] = {}
        for variable in layer.weights:
            name = variable.op.name.rpartition("/")[2]
            count = taken[name] = taken.get(name, 0) + 1
            part = f"cell/{name}" if isinstance(layer, RNN) else name
            suffix = f"_{count - 1}" if count > 1 else ""
            yield f"layer_with_weights-{number}/{part}{suffix}/.ATTRIBUTES/VARIABLE_VALUE", variable


def _checked(filepath: str | os.PathLike[str]) -> str:
    path = os.fspath(filepath)
    if path.endswith((".h5", ".keras", ".hdf5")):
        raise NotImplementedError(f"{path}: weft writes no HDF5; give a path without such a suffix, which becomes a checkpoint")
    return path


def save_weights(model: KerasObject, filepath: str | os.PathLike[str]) -> None:
    """Write the values of a model's variables to a checkpoint at a prefix."""
    pairs = list(_keys(model))
    values = batch_get_value([variable for _, variable in pairs])
    with BundleWriter(_checked(filepath)) as writer:
        for (key, _), value in zip(pairs, values, strict=True):
            writer.add(key, value)


def load_weights(model: KerasObject, filepath: str | os.PathLike[str]) -> None:
    """Give a model's variables the values in a checkpoint.

    Raises:
        NotFoundError: there is no checkpoint there, or it lacks a variable.
        ValueError: a value has another shape than its variable.
    """
    reader = CheckpointReader(_checked(filepath))
    pairs = [(variable, reader.get_tensor(key), key) for key, variable in _keys(model)]
    for variable, value, key in pairs:
        if tuple(variable.shape.as_list()) != value.shape:
            raise ValueError(f"{filepath}: {key} has shape {value.shape}, but {variable.name} has {variable.shape}")
    batch_set_value([(variable, value) for variable, value, _ in pairs])
