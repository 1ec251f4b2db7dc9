"""Handles that are the objects themselves: for what lives in one step of one task, and ends with its last holder."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.aliases import Array

T = TypeVar("T")


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
