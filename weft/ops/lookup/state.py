"""The resources behind lookup tables: filled once (static), changed by steps (mutable), or with keys set aside (dense)."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.errors import FailedPreconditionError, InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.framework.op_types.unshared import unshared
from weft.framework.types.dtypes import DType
from weft.ops.array.shape_ops import brackets


@dataclass(frozen=True)
class TableSignature:
    """The properties of a table that all programs that share it must agree on."""

    kind: str
    key_dtype: DType
    value_dtype: DType
    value_shape: tuple[int, ...] = ()
    key_shape: tuple[int, ...] = ()


@unshared
class LookupTable:
    """Keys and their values. Safe from any thread; a step sees the table before or after another step's change.

    Args:
        name: the table's name, for messages.
        signature: the types of keys and values.
    """

    def __init__(self, name: str, signature: TableSignature) -> None:
        self.name = name
        self.signature = signature
        self._lock = threading.Lock()
        self._values: dict[object, Array] = {}

    @property
    def size(self) -> int:
        """The number of keys."""
        return len(self._values)

    def find(self, keys: Array, default: Array) -> Array:
        """The values of keys; where there is none, `default`: one value, or one for each key."""
        shape, wanted = self.signature.value_shape, self._each(keys)
        whole = self._rows(keys) + shape
        if default.shape not in (shape, whole):
            raise InvalidArgumentError.of(
                f"Table '{self.name}': expected a default value of shape {brackets(shape)} or "
                f"{brackets(whole)}, got {brackets(default.shape)}"
            )
        if not shape and not default.ndim:
            # Of single values a list is made in C: half the time of the loop.
            missing = default.item()
            with self._lock:
                values = [self._values.get(key, missing) for key in wanted]
            return np.array(values, self.signature.value_dtype.as_numpy_dtype).reshape(whole)
        defaults = np.broadcast_to(default, whole).reshape(len(wanted), *shape)
        found = np.empty((len(wanted), *shape), self.signature.value_dtype.as_numpy_dtype)
        with self._lock:
            for row, key in enumerate(wanted):
                value = self._values.get(key)
                found[row] = defaults[row] if value is None else value
        return found.reshape(whole)

    def insert(self, keys: Array, values: Array) -> None:
        """Set the values of keys."""
        items = self._items(keys, values)
        with self._lock:
            self._values.update(items)

    def replace(self, keys: Array, values: Array) -> None:
        """Make these the only keys."""
        items = self._items(keys, values)
        with self._lock:
            self._values = dict(items)

    def remove(self, keys: Array) -> None:
        """Drop keys; those that are not there are no error."""
        with self._lock:
            for key in self._each(keys):
                self._values.pop(key, None)

    def export(self) -> tuple[Array, Array]:
        """All keys, [n, *key], and their values, [n, *value]."""
        with self._lock:
            items = list(self._values.items())
        signature = self.signature
        keys = np.empty((len(items), *signature.key_shape), signature.key_dtype.as_numpy_dtype)
        values = np.empty((len(items), *signature.value_shape), signature.value_dtype.as_numpy_dtype)
        for row, (key, value) in enumerate(items):
            keys[row] = key if not signature.key_shape else np.array(key).reshape(signature.key_shape)
            values[row] = value
        return keys, values

    def _each(self, keys: Array) -> list[object]:
        """The keys as they are kept: scalars, or tuples of the elements of each."""
        if not self.signature.key_shape:
            each: list[object] = keys.ravel().tolist()
            return each
        return [tuple(key) for key in keys.reshape(math.prod(self._rows(keys)), -1).tolist()]

    def _rows(self, keys: Array) -> tuple[int, ...]:
        """How many keys there are, in each dimension."""
        shape = self.signature.key_shape
        rows = keys.ndim - len(shape)
        if rows < 0 or keys.shape[rows:] != shape:
            raise InvalidArgumentError.of(
                f"Input key shape {brackets(keys.shape)} must end with the table's key shape {brackets(shape)}; table "
                f"{self.name!r}"
            )
        counts: tuple[int, ...] = keys.shape[:rows]
        return counts

    def _items(self, keys: Array, values: Array) -> Sequence[tuple[object, Array]]:
        expected = self._rows(keys) + self.signature.value_shape
        if values.shape != expected:
            raise InvalidArgumentError.of(f"Expected shape {brackets(expected)} for value, got {brackets(values.shape)}")
        each = self._each(keys)
        rows = values.reshape(len(each), *self.signature.value_shape)
        # A scalar is kept as itself; a row is copied, since its array belongs to the step.
        flat = rows.tolist() if rows.ndim == 1 else [row.copy() for row in rows]
        return list(zip(each, flat, strict=True))


class StaticTable(LookupTable):
    """A table that its initializer fills; reading it before is an error, and another value for a key too."""

    is_initialized = False

    def find(self, keys: Array, default: Array) -> Array:
        """The values of keys, `default` where there is none."""
        if not self.is_initialized:
            raise FailedPreconditionError.of("Table not initialized.")
        return super().find(keys, default)

    def insert(self, keys: Array, values: Array) -> None:
        """Refused."""
        raise InvalidArgumentError.of(f"Table '{self.name}' is filled by its initializer alone; use a MutableHashTable")

    def remove(self, keys: Array) -> None:
        """Refused."""
        self.insert(keys, keys)

    def replace(self, keys: Array, values: Array) -> None:
        """Fill the table; a second time with the same keys and values changes nothing.

        Raises:
            InvalidArgumentError: there are no keys.
            FailedPreconditionError: a key has two values.
        """
        if not keys.size:
            raise InvalidArgumentError.of(f"keys and values cannot be empty tensors. Table {self.name!r} needs a key at least")
        merged = dict(self._values)
        for key, value in self._items(keys, values):
            known = merged.setdefault(key, value)
            if known != value:
                raise FailedPreconditionError.of(
                    f"HashTable has different value for same key. Key {_text(key)} has {_text(known)} and trying "
                    f"to add value {_text(value)}"
                )
        with self._lock:
            self._values = merged
            self.is_initialized = True


class DenseTable(LookupTable):
    """A mutable table two of whose keys are set aside, as those of an open addressing scheme are."""

    def __init__(self, name: str, signature: TableSignature, empty_key: Array, deleted_key: Array) -> None:
        super().__init__(name, signature)
        self._reserved = {"empty_key": self._each(empty_key)[0], "deleted_key": self._each(deleted_key)[0]}
        if self._reserved["empty_key"] == self._reserved["deleted_key"]:
            raise InvalidArgumentError.of("Empty and deleted keys cannot be equal")

    def find(self, keys: Array, default: Array) -> Array:
        """The values of keys, `default` where there is none."""
        self._check(keys)
        return super().find(keys, default)

    def remove(self, keys: Array) -> None:
        """Drop keys."""
        self._check(keys)
        super().remove(keys)

    def _items(self, keys: Array, values: Array) -> Sequence[tuple[object, Array]]:
        self._check(keys)
        return super()._items(keys, values)

    def _check(self, keys: Array) -> None:
        given = set(self._each(keys))
        for what, key in self._reserved.items():
            if key in given:
                raise InvalidArgumentError.of(f"Using the {what} as a table key is not allowed")


def _text(item: object) -> str:
    return item.decode(errors="replace") if isinstance(item, bytes) else str(item)
