"""Which objects a checkpoint reaches from another one, and by which names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, runtime_checkable

from weft.ops.variables.variable import Variable


@runtime_checkable
class Trackable(Protocol):
    """An object that says what it holds: layers, models, cells, optimizers, checkpoints."""

    def checkpoint_dependencies(self) -> Iterable[tuple[str, object]]:
        """What it holds, by names that are unique in it."""
        ...


@runtime_checkable
class SlotOwner(Protocol):
    """An optimizer: it holds variables that belong to other variables."""

    def get_slot_names(self) -> list[str]:
        """The names of its slots."""
        ...

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """The slot of a variable; None or a KeyError when there is none."""
        ...


def is_trackable(item: object) -> bool:
    """Whether a checkpoint takes the object itself; lists and dicts it takes as attributes only."""
    return isinstance(item, Variable | Trackable)


def held_in(item: object) -> bool:
    """Whether a checkpoint follows an attribute with this value."""
    return is_trackable(item) or isinstance(item, list | Mapping)


def dependencies_of(item: object) -> list[tuple[str, object]]:
    """What an object holds that a checkpoint follows, by name.

    Raises:
        ValueError: a dict has something to save under a key that is no string.
    """
    if isinstance(item, Variable):
        return []
    if isinstance(item, Trackable):
        return [(name, held) for name, held in item.checkpoint_dependencies() if held_in(held)]
    if isinstance(item, list):
        return [(str(index), held) for index, held in enumerate(item) if held_in(held)]
    return list(_entries(item)) if isinstance(item, Mapping) else []


def _entries(mapping: Mapping[object, object]) -> Iterator[tuple[str, object]]:
    for key in sorted(mapping, key=str):
        if not held_in(mapping[key]):
            continue
        if not isinstance(key, str):
            raise ValueError(
                f"Unable to save the object {dict(mapping)} (a dictionary wrapper constructed automatically on attribute "
                "assignment). The wrapped dictionary contains a non-string key which maps to a trackable object or mutable "
                f"data structure: {key!r}. Use strings as keys, or keep the dictionary outside of what is saved."
            )
        yield key, mapping[key]


def slot_of(optimizer: SlotOwner, variable: object, name: str) -> Variable | None:
    """A variable's slot in an optimizer, None when there is none."""
    if not isinstance(variable, Variable):
        return None
    try:
        return optimizer.get_slot(variable, name)
    except KeyError:
        return None
