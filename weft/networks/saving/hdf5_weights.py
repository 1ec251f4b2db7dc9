"""The weights of layers in HDF5: a group for each layer, by its name, with a dataset for each weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.framework.building.aliases import Array, Nest, VariableLike
from weft.networks.config import KerasObject
from weft.networks.saving.hdf5_store import read_arrays, read_names, text_attribute, write_arrays, write_names
from weft.networks.saving.old_weights import converted
from weft.networks.state.sessions import batch_get_value, batch_set_value
from weft.platform.logs import tf_logging

VERSION = "2.2.4-tf"


def weights_of(layer: KerasObject) -> list[VariableLike]:
    """The weights of a layer in the order of files: the trained ones first, also where models are layers."""
    return [*layer.trainable_weights, *layer.non_trainable_weights]


def write_layers(group: Any, layers: Sequence[KerasObject]) -> None:
    """Write the weights of layers."""
    write_names(group, "layer_names", [layer.name for layer in layers])
    group.attrs["backend"] = b"tensorflow"
    group.attrs["keras_version"] = VERSION.encode()
    of_layers = [weights_of(layer) for layer in layers]
    values = iter(batch_get_value([each for weights in of_layers for each in weights]))
    for layer, weights in zip(layers, of_layers, strict=True):
        write_arrays(group.create_group(layer.name), [each.name for each in weights], [next(values) for _ in weights])


def _converted(group: Any, layer: KerasObject, arrays: list[Array]) -> list[Array]:
    version = text_attribute(group, "keras_version") or "1"
    return converted(layer, arrays, version, text_attribute(group, "backend"))


def read_layers(group: Any, layers: Sequence[KerasObject]) -> None:
    """Give layers the weights of a file, by their order; those without weights do not count.

    Raises:
        ValueError: the file has another number of layers, or one of them another number of weights or another shape.
    """
    wanted = [layer for layer in layers if weights_of(layer)]
    names = [name for name in read_names(group, "layer_names") if read_names(group[name], "weight_names")]
    if len(names) != len(wanted):
        raise ValueError(
            f"You are trying to load a weight file containing {len(names)} layers into a model with {len(wanted)} layers."
        )
    pairs: list[tuple[VariableLike, Array]] = []
    for number, (name, layer) in enumerate(zip(names, wanted, strict=True)):
        variables, values = weights_of(layer), _converted(group, layer, read_arrays(group[name]))
        if len(values) != len(variables):
            raise ValueError(
                f'Layer #{number} (named "{layer.name}" in the current model) was found to correspond to layer {name} in the '
                f"save file. However the new layer {layer.name} expects {len(variables)} weights, but the saved weights have "
                f"{len(values)} elements."
            )
        _check_shapes(number, layer, variables, values)
        pairs += zip(variables, values, strict=True)
    batch_set_value(pairs)


def read_layers_by_name(group: Any, layers: Sequence[KerasObject], skip_mismatch: bool = False) -> None:
    """Give those layers that a file has under their names its weights.

    Args:
        group: the file, or the group in it.
        layers: the layers.
        skip_mismatch: whether layers with other numbers or shapes of weights are left as they are, with a warning.

    Raises:
        ValueError: a layer has another number of weights, or another shape.
    """
    pairs: list[tuple[VariableLike, Array]] = []
    for number, name in enumerate(read_names(group, "layer_names")):
        for layer in (each for each in layers if each.name == name):
            variables, values = weights_of(layer), _converted(group, layer, read_arrays(group[name]))
            try:
                if len(values) != len(variables):
                    raise ValueError(
                        f'Layer #{number} (named "{layer.name}") expects {len(variables)} weight(s), but the saved weights '
                        f"have {len(values)} element(s)."
                    )
                _check_shapes(number, layer, variables, values)
            except ValueError as error:
                if not skip_mismatch:
                    raise
                tf_logging.warning("Skipping loading of weights for layer %s: %s", layer.name, error)
                continue
            pairs += zip(variables, values, strict=True)
    batch_set_value(pairs)


def _check_shapes(number: int, layer: KerasObject, variables: Sequence[VariableLike], values: Sequence[Nest]) -> None:
    for variable, value in zip(variables, values, strict=True):
        shape = tuple(variable.shape.as_list())
        if shape != value.shape:
            raise ValueError(
                f'Layer #{number} (named "{layer.name}"), weight {variable.name} has shape {shape}, but the saved weight has '
                f"shape {value.shape}."
            )
