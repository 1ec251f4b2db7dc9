"""HeldList: the value behind a TensorList, a list that never changes and whose newest version is cheap to make another of.

The versions of one list share an array that belongs to the one used last; each other version has the change that leads from
its neighbour to itself (Baker, "Shallow binding makes functional arrays fast", 1991). So loops that push, pop or set one
element an iteration take constant time for it, and older versions stay right.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.framework.types.dims import Dims, merge_dims
from weft.framework.types.dtypes import DType
from weft.ops.held_objects import Held, handle_of, is_handle

_SHORTER: Final[Array] = np.empty(0)
"""The change of a list that has one element less."""


class _Version:
    """A version: the array itself, or what to do to the array of the next version."""

    __slots__ = ("array", "index", "next", "value")

    def __init__(self, array: list[Array | None] | None) -> None:
        self.array = array
        self.next: _Version | None = None
        self.index = 0
        self.value: Array | None = None


class HeldList(Held):
    """Tensors of one type, each of which may be missing. Safe from any thread.

    Args:
        dtype: the elements' type.
        element_shape: what is known of the elements' shape.
        values: the elements.
        most: the most elements that it may have; negative for any number.
    """

    __slots__ = ("_lock", "_version", "dtype", "element_shape", "most")

    def __init__(self, dtype: DType, element_shape: Dims, values: Sequence[Array | None] = (), most: int = -1) -> None:
        self.dtype = dtype
        self.element_shape = element_shape
        self.most = most
        self._lock = threading.Lock()
        array: list[Array | None] = list(values)
        self._version = _Version(array)

    def _changed(self, version: _Version) -> HeldList:
        other = HeldList.__new__(HeldList)
        other.dtype, other.element_shape, other.most, other._lock, other._version = (
            self.dtype, self.element_shape, self.most, self._lock, version,
        )  # fmt: skip
        return other

    def _array(self) -> list[Array | None]:
        """The array, turned into this version's."""
        behind = []
        version = self._version
        while version.array is None:
            assert version.next is not None
            behind.append(version)
            version = version.next
        for each in reversed(behind):
            array, after = version.array, version
            assert array is not None
            _apply(array, each, after)
            each.array, each.next = array, None
            after.array, after.next = None, each
            version = each
        own = self._version.array
        assert own is not None
        return own

    def values(self) -> list[Array | None]:
        """The elements; None for those that are missing."""
        with self._lock:
            return list(self._array())

    def __len__(self) -> int:
        with self._lock:
            return len(self._array())

    def get(self, index: int) -> Array | None:
        """One element; IndexError when there is none of that number."""
        with self._lock:
            return self._array()[index]

    def push(self, value: Array | None) -> HeldList:
        """The list with one more element."""
        with self._lock:
            return self._with(len(self._array()), value)

    def set(self, index: int, value: Array | None) -> HeldList:
        """The list with another element in that place, which it has to have."""
        with self._lock:
            return self._with(index, value)

    def pop(self) -> tuple[HeldList, Array | None]:
        """The list without its last element, and that element; IndexError for an empty list."""
        with self._lock:
            array = self._array()
            last = array[-1]
            return self._with(len(array) - 1, _SHORTER), last

    def __add__(self, other: object) -> Held:
        """The list of the sums of two lists' elements; one that is missing counts as zeros."""
        if not isinstance(other, HeldList) or len(other) != len(self):
            found = f"one of {len(other)}" if isinstance(other, HeldList) else type(other).__name__
            raise InvalidArgumentError.of(f"Trying to add two lists of tensors with different lengths: {len(self)} and {found}")
        sums = [
            theirs if ours is None else ours if theirs is None else _sum(ours, theirs)
            for ours, theirs in zip(self.values(), other.values(), strict=True)
        ]
        return HeldList(self.dtype, merge_dims(self.element_shape, other.element_shape), sums)

    def zeros(self) -> Held:
        """The list with zeros in the place of its elements."""
        return HeldList(self.dtype, self.element_shape, [None if value is None else _zeros(value) for value in self.values()])

    def _with(self, index: int, value: Array | None) -> HeldList:
        old, array = self._version, self._array()
        new = _Version(array)
        old.array, old.next, old.index, old.value = None, new, index, value
        _apply(array, old, old)
        return self._changed(new)


def _sum(ours: Array, theirs: Array) -> Array:
    return handle_of(ours[()] + theirs[()]) if is_handle(ours) else np.asarray(ours + theirs)


def _zeros(value: Array) -> Array:
    return handle_of(value[()].zeros()) if is_handle(value) else np.zeros_like(value)


def _apply(array: list[Array | None], change: _Version, undo: _Version) -> None:
    """Do a version's change to the array, and leave in `undo` what takes it back."""
    index, value = change.index, change.value
    undo.index = index
    if value is _SHORTER:
        undo.value = array.pop()
    elif index == len(array):
        array.append(value)
        undo.value = _SHORTER
    else:
        undo.value, array[index] = array[index], value
