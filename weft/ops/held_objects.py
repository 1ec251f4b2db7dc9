"""Handles that are the objects themselves: for what lives in one step of one task, and ends with its last holder."""

from __future__ import annotations

from typing import Final, TypeVar

import numpy as np

from weft.errors import InvalidArgumentError, ResourceExhaustedError
from weft.framework.building.aliases import Array

T = TypeVar("T")

_MOST_ELEMENTS: Final = 1 << 24
"""So many elements of a list or array, each an object, take 134 MB before any of them is there."""


class Held:
    """An object that a variant stands for, and of which gradients make sums and zeros."""

    __slots__ = ()

    def __add__(self, other: object) -> Held:
        """The sum, element by element."""
        raise InvalidArgumentError.of(f"{type(self).__name__.lstrip('_')} values cannot be added")

    def zeros(self) -> Held:
        """One of zeros in the same shapes."""
        raise InvalidArgumentError.of(f"{type(self).__name__.lstrip('_')} values have no zeros")


def handle_of(thing: object) -> Array:
    """The handle of an object: a scalar that holds it."""
    handle = np.empty((), np.object_)
    handle[()] = thing
    return handle


def is_handle(value: Array) -> bool:
    """Whether a value is the handle of an object: one of a list of a loop's, say, that gradients add and make zeros of."""
    return isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 0 and isinstance(value[()], Held)


def held(handle: Array, kind: type[T]) -> T:
    """The object that a handle is.

    Raises:
        InvalidArgumentError: the handle is of another kind of object, or came from another task.
    """
    thing = handle[()] if isinstance(handle, np.ndarray) else handle
    if not isinstance(thing, kind):
        raise InvalidArgumentError.of(
            f"Expected the handle of a {kind.__name__.lstrip('_')} made in this step on this task, found {type(thing).__name__}"
        )
    return thing


def check_length(length: int, what: str) -> int:
    """The length of a list or array, which a client's number gives.

    Raises:
        ResourceExhaustedError: it is more than 16,777,216.
    """
    if length > _MOST_ELEMENTS:
        raise ResourceExhaustedError.of(f"{what} would have {length} elements: at most {_MOST_ELEMENTS} can be kept in one")
    return length
