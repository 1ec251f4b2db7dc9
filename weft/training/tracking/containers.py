"""Lists and dicts that checkpoints save and layers take for their parts, and a namer of many objects."""

from __future__ import annotations

import collections.abc
from collections.abc import Iterable, Iterator
from typing import Protocol, cast

from weft.framework.building.aliases import VariableLike
from weft.models.layers.effects import Effects
from weft.ops.variables.variable import Variable
from weft.training.tracking.autotracking import TrackableBase
from weft.training.tracking.dependencies import held_in, is_trackable


class _UntrackableError(ValueError):
    """Something was to be held that no checkpoint can save."""


class _Layer(Protocol):
    """What a layer tells of itself."""

    trainable_variables: list[VariableLike]
    non_trainable_variables: list[VariableLike]
    updates: list[object]
    losses: list[object]


class _Parts:
    """What a container tells of the layers and variables that it holds."""

    trainable = True

    def _values(self) -> Iterable[object]:
        raise NotImplementedError

    @property
    def layers(self) -> list[_Layer]:
        """The layers, those in containers within too."""
        found: list[_Layer] = []
        for each in self._values():
            if isinstance(each, _Parts):
                found += each.layers
            elif isinstance(each, Effects):
                found.append(cast("_Layer", each))
        return found

    @property
    def trainable_weights(self) -> list[VariableLike]:
        """The variables that are trained; none when the container is frozen."""
        return self._weights(True) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[VariableLike]:
        """The variables that are not trained; all when the container is frozen."""
        return self._weights(False) if self.trainable else [*self._weights(True), *self._weights(False)]

    def _weights(self, trained: bool) -> list[VariableLike]:
        of_layers: list[VariableLike] = []
        own: list[VariableLike] = []
        for each in self._values():
            if isinstance(each, _Parts | Effects):
                layer = cast("_Layer", each)
                of_layers += layer.trainable_variables if trained else layer.non_trainable_variables
            elif isinstance(each, Variable) and each.trainable == trained:
                own.append(each)
        return [*of_layers, *own]

    @property
    def weights(self) -> list[VariableLike]:
        """All variables, the trained ones first."""
        return [*self.trainable_weights, *self.non_trainable_weights]

    @property
    def trainable_variables(self) -> list[VariableLike]:
        """See `trainable_weights`."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[VariableLike]:
        """See `non_trainable_weights`."""
        return self.non_trainable_weights

    @property
    def variables(self) -> list[VariableLike]:
        """See `weights`."""
        return self.weights

    @property
    def updates(self) -> list[object]:
        """The updates of the layers, which training has to run."""
        return [each for layer in self.layers for each in layer.updates]

    @property
    def losses(self) -> list[object]:
        """The losses of the layers, such as their regularization."""
        return [each for layer in self.layers for each in layer.losses]


def _taken(value: object) -> object:
    """The value as a container holds it: a list as a `List`, a dict as a `Mapping`."""
    if type(value) is list:
        return List(value)
    if type(value) is dict:
        return Mapping(value)
    if not is_trackable(value) and not isinstance(value, _Parts):
        raise _UntrackableError(
            "Only trackable objects (such as Layers or Optimizers) may be stored in a List object. Got "
            f"{value}, which does not inherit from Trackable."
        )
    return value


class List(_Parts, list[object]):
    """A list of variables, layers, optimizers and the like, which checkpoints save; it grows only.

    Args:
        args: none, or the first items.

    Raises:
        ValueError: an item can't be saved.
    """

    def __init__(self, *args: Iterable[object]) -> None:
        given: list[object] = list(*args)
        super().__init__([_taken(each) for each in given])

    def _values(self) -> Iterable[object]:
        return self

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """The items, by their numbers."""
        return [(str(number), each) for number, each in enumerate(self)]

    def append(self, value: object) -> None:
        """Add an item.

        Args:
            value: the item.

        Raises:
            ValueError: it can't be saved.
        """
        super().append(_taken(value))

    def extend(self, values: Iterable[object]) -> None:
        """Add items.

        Args:
            values: the items.

        Raises:
            ValueError: one can't be saved.
        """
        super().extend([_taken(each) for each in values])

    def __iadd__(self, values: Iterable[object]) -> List:
        self.extend(values)
        return self

    def __add__(self, other: Iterable[object]) -> List:
        return List([*self, *other])

    def __radd__(self, other: Iterable[object]) -> List:
        return List([*other, *self])

    def copy(self) -> List:
        """A list with the same items."""
        return List(self)

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)

    def __repr__(self) -> str:
        return f"List({super().__repr__()})"


class Mapping(_Parts, collections.abc.Mapping[str, object]):
    """A dict of variables, layers, optimizers and the like by text, which checkpoints save; it grows only.

    Args:
        args, kwargs: the first entries, as of a dict.

    Raises:
        TypeError: a key is no text.
        ValueError: a value can't be saved.
    """

    def __init__(self, *args: Mapping | dict[str, object], **kwargs: object) -> None:
        self._entries: dict[str, object] = {}
        self.update(*args, **kwargs)

    def _values(self) -> Iterable[object]:
        return self._entries.values()

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """The entries, in order."""
        return list(self._entries.items())

    def __getitem__(self, key: str) -> object:
        return self._entries[key]

    def __setitem__(self, key: str, value: object) -> None:
        if not isinstance(key, str):
            raise TypeError(f"Mapping accepts only string keys, but got a key {key!r}.")
        value = _taken(value)
        if self._entries.setdefault(key, value) is not value:
            raise ValueError(
                f"Mappings are an append-only data structure. Tried to overwrite the key '{key}' with value {value}, but it "
                f"already contains {self._entries[key]}"
            )

    def update(self, *args: Mapping | dict[str, object], **kwargs: object) -> None:
        """Add entries.

        Args:
            args, kwargs: the entries, as of a dict.
        """
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"Mapping({self._entries!r})"


class UniqueNameTracker(_Parts, TrackableBase):
    """Holds objects for checkpoints under names that it makes unique: `slot`, `slot_1`, `slot_2`."""

    def _values(self) -> Iterable[object]:
        return self._held_by_name().values()

    def track(self, trackable: object, base_name: str) -> object:
        """Hold an object.

        Args:
            trackable: the object.
            base_name: its name; with a number behind it if there is one of that name.

        Returns:
            The object.

        Raises:
            ValueError: it can't be saved.
        """
        if not held_in(trackable):
            raise ValueError(f"Expected a trackable value, got {trackable} which does not inherit from tf.track.Trackable.")
        name, number = base_name, 1
        while name in self._held_by_name():
            name, number = f"{base_name}_{number}", number + 1
        return self._track_trackable(trackable, name)
