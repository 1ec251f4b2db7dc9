"""HeldParts: the layers, cells and variables that an object has among its attributes, also inside lists and dicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from weft.framework.attribute_tracking import NoDependency, tracks_attributes
from weft.framework.building.aliases import Nest
from weft.models.layers.effects import Effects
from weft.models.layers.layer import Layer as GraphLayer
from weft.networks.config import Config
from weft.ops.variables.variable import Variable

# What Keras itself keeps in a layer's attributes, which holds none of the layer's parts.
_OWN: Final = frozenset(
    ("kept_arguments", "call_record", "inputs", "outputs", "input_spec", "_parts", "input_names",
     "output_names", "history", "callbacks", "optimizer", "states", "_states", "_trainable_weights", "_non_trainable_weights")
)  # fmt: skip


def parts_in(value: object) -> Iterator[Any]:
    """The layers, cells and variables in a value, those in lists and dicts too."""
    if isinstance(value, Effects | Variable):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from parts_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from parts_in(each)


class HeldParts(GraphLayer):
    """A layer that knows its parts, in the order in which it got them."""

    _parts: Config

    def _hold_parts(self) -> None:
        """Begin to; those that it got before its constructor has run stay."""
        object.__setattr__(self, "_parts", self.__dict__.get("_parts", {}))

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, NoDependency):
            object.__setattr__(self, name, value.value)
            return
        if not tracks_attributes(self):
            object.__setattr__(self, name, value)
            return
        parts = self.__dict__.get("_parts")
        if parts is None and name not in _OWN and any(True for _ in parts_in(value)):
            self._check_begun()
            # A layer may hold others before its constructor has run.
            object.__setattr__(self, "_parts", parts := {})
        if parts is not None and name not in _OWN and not name.startswith("_added_"):
            parts.pop(name, None)
            if isinstance(value, Effects | Variable | list | tuple | Mapping):
                parts[name] = value
                for each in parts_in(value):
                    # The variables of a graph's layers and cells are of Keras' kind in a layer of Keras.
                    if isinstance(each, Effects):
                        each.makes_resource_variables = True
        object.__setattr__(self, name, value)

    def _check_begun(self) -> None:
        """Refuse to hold a part before the constructor has run, where that is a mistake."""

    def __delattr__(self, name: str) -> None:
        self._parts.pop(name, None)
        object.__delattr__(self, name)

    def _track_trackable(self, trackable: object, name: str, overwrite: bool = False) -> object:
        """Hold a part under a name of checkpoints, as attributes do by themselves: wrappers of programs' own say so."""
        self._parts[name] = trackable
        return trackable

    def _inner_layers(self) -> list[Nest]:
        """The layers and cells that this one holds, in the order in which it got them."""
        found = (each for value in self._parts.values() for each in parts_in(value) if isinstance(each, Effects))
        return [*dict.fromkeys(found)]

    def _from_inner(self, name: str) -> list[Nest]:
        return [each for layer in self._inner_layers() for each in getattr(layer, name)]
