"""The options of a new variable beside its value: their checks, and the enums for copies of it."""

from __future__ import annotations

import enum
from collections.abc import Iterable


class VariableSynchronization(enum.Enum):
    """The times at which the copies of a distributed variable are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """The ways in which the copies of a distributed variable are brought together."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3


def checked_trainable(trainable: bool | None, synchronization: VariableSynchronization | int | None, name: str | None) -> bool:
    """Whether a variable is trainable; ValueError when it may not be, TypeError for a text."""
    if isinstance(trainable, str | bytes):
        raise TypeError(f"trainable of the variable {name!r} is {trainable!r}, a text, which is true; it takes True or False")
    given = checked_synchronization(synchronization, name)
    return given is not VariableSynchronization.ON_READ if trainable is None else trainable


def checked_synchronization(synchronization: VariableSynchronization | int | None, name: str | None) -> VariableSynchronization:
    """The times at which copies are brought together; ValueError when there are no such."""
    if synchronization is None:
        return VariableSynchronization.AUTO
    try:
        return VariableSynchronization(synchronization)
    except ValueError:
        raise ValueError(f"Invalid variable synchronization mode: {synchronization} for variable: {name}") from None


def checked_aggregation(aggregation: VariableAggregation | int | None, name: str | None) -> VariableAggregation:
    """The way in which copies are brought together; ValueError when there is no such way."""
    if aggregation is None:
        return VariableAggregation.NONE
    try:
        return VariableAggregation(aggregation)
    except ValueError:
        raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {name}") from None


def with_trainable_collection(
    collections: Iterable[str] | None, trainable: bool, default: str, trainable_key: str
) -> Iterable[str]:
    """The collections that a new variable goes to; ValueError unless they are a list, tuple or set."""
    if collections is None:
        collections = [default]
    if not isinstance(collections, list | tuple | set):
        raise ValueError(
            f"collections argument to Variable constructor must be a list, tuple, or set. Got {collections} of type "
            f"{type(collections)}"
        )
    if trainable and trainable_key not in collections:
        collections = [*collections, trainable_key]
    return collections


class _Default:
    """The kind of variables where neither the program nor its variable scopes say; one per process."""

    use_resource = False


def enable_resource_variables() -> None:
    """Make resource variables from here on, unless `use_resource` says otherwise."""
    _Default.use_resource = True


def disable_resource_variables() -> None:
    """Make variables of TensorFlow 1.x's usual kind from here on, unless `use_resource` says otherwise."""
    _Default.use_resource = False


def resource_variables_enabled() -> bool:
    """Whether variables are resource variables unless `use_resource` says otherwise."""
    return _Default.use_resource
