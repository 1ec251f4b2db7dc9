"""RaggedTensorValue: a fetched ragged tensor, as arrays; and such values of nested lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from weft.framework.building.aliases import DTypeLike, Nest
from weft.framework.types.dtypes import as_dtype

V = TypeVar("V")


class RaggedTensorValue:
    """The values of all rows, an array or again a ragged value, and where the rows begin and end.

    Args:
        values: an array, or a RaggedTensorValue whose splits have the same type.
        row_splits: `[rows + 1]`, int32 or int64.

    Raises:
        TypeError: the splits are no vector of int32 or int64, or the values no array.
        ValueError: the splits of both have other dtypes.
    """

    def __init__(self, values: np.ndarray | np.generic | RaggedTensorValue, row_splits: np.ndarray) -> None:
        if not (
            isinstance(row_splits, np.ndarray | np.generic)
            and row_splits.dtype in (np.int64, np.int32)
            and row_splits.ndim == 1
        ):
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not isinstance(values, np.ndarray | np.generic | RaggedTensorValue):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        if isinstance(values, RaggedTensorValue) and row_splits.dtype != values.row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype")
        self._values = values
        self._row_splits = row_splits

    @property
    def values(self) -> np.ndarray | np.generic | RaggedTensorValue:
        """The values of all rows, one row's after the other's."""
        return self._values

    @property
    def row_splits(self) -> np.ndarray:
        """Where each row begins, and where the last one ends."""
        return self._row_splits

    @property
    def dtype(self) -> np.dtype:
        """The type of the values."""
        return self._values.dtype

    @property
    def flat_values(self) -> np.ndarray | np.generic:
        """The innermost values."""
        return self._values.flat_values if isinstance(self._values, RaggedTensorValue) else self._values

    @property
    def nested_row_splits(self) -> tuple[np.ndarray, ...]:
        """The splits of all ragged dimensions, the outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensorValue) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The number of rows, None for each ragged dimension, and the sizes of the others."""
        return (len(self._row_splits) - 1, None, *self._values.shape[1:])

    def to_list(self) -> list[Nest]:
        """The rows as nested lists."""
        values = self._values.to_list() if isinstance(self._values, RaggedTensorValue) else self._values.tolist()
        return [values[start:limit] for start, limit in zip(self._row_splits[:-1], self._row_splits[1:], strict=True)]

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"


def constant_value(
    pylist: Nest,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    row_splits_dtype: str = "int64",
) -> Nest:
    """A RaggedTensorValue of nested lists, or an array where they have no ragged dimension.

    Args:
        pylist: nested lists whose scalars all lie at the same depth.
        dtype: the type of the values; by default that of the scalars.
        ragged_rank: how many dimensions are ragged; by default all but the first and those of `inner_shape`.
        inner_shape: the sizes of the dimensions that are not ragged.
        row_splits_dtype: 'int32' or 'int64'.

    Raises:
        ValueError: the lists do not fit one another, `ragged_rank` or `inner_shape`.
    """
    splits_type = as_dtype(row_splits_dtype).as_numpy_dtype
    wanted = None if dtype is None else as_dtype(dtype).as_numpy_dtype

    def inner(values: Nest, shape: tuple[int, ...] | None) -> np.ndarray | RaggedTensorValue:
        array = np.array(values, wanted)
        return array if shape is None else array.reshape(shape)

    def outer(values: np.ndarray | RaggedTensorValue, splits: list[int]) -> np.ndarray | RaggedTensorValue:
        return RaggedTensorValue(values, np.array(splits, splits_type))

    return build(pylist, ragged_rank, inner_shape, inner, outer)


def build(
    pylist: Nest,
    ragged_rank: int | None,
    inner_shape: Sequence[int] | None,
    inner: Callable[[Nest, tuple[int, ...] | None], V],
    outer: Callable[[V, list[int]], V],
) -> V:
    """What `inner` makes of the values and `outer` of the splits of nested lists, from the innermost dimension outwards."""
    if not _is_nested(pylist):
        _check_scalar(pylist, ragged_rank, inner_shape)
        return inner(pylist, ())
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank!r}: must be nonnegative")
    shape = None if inner_shape is None else tuple(inner_shape)
    scalar_depth, depth = _depths(pylist)
    _check_depths(pylist, scalar_depth, depth, ragged_rank, shape)
    if ragged_rank == 0 or (ragged_rank is None and depth - len(shape or ()) < 2):
        return inner(pylist, shape)
    if shape is None:
        shape = () if ragged_rank is None else _inner_shape(pylist, ragged_rank)
    if ragged_rank is None:
        ragged_rank = max(1, depth - 1 if scalar_depth is None else scalar_depth - 1 - len(shape))
    nested, values = _flattened(pylist, ragged_rank)
    result = inner(values, (len(values), *shape))
    for splits in reversed(nested):
        result = outer(result, splits)
    return result


def _is_nested(item: object) -> bool:
    return isinstance(item, list | tuple) or np.ndim(item) != 0  # type: ignore[arg-type]


def _check_scalar(pylist: object, ragged_rank: int | None, inner_shape: Sequence[int] | None) -> None:
    if ragged_rank:
        raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
    if inner_shape:
        raise ValueError(f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner_shape)}")


def _check_depths(
    pylist: object, scalar_depth: int | None, depth: int, ragged_rank: int | None, shape: tuple[int, ...] | None
) -> None:
    if scalar_depth is not None and depth > scalar_depth:
        raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting")
    if shape is None or ragged_rank is None:
        return
    expected = ragged_rank + len(shape) + 1
    if (expected != scalar_depth) if scalar_depth is not None else (expected < depth):
        raise ValueError(
            f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and dim(inner_shape)={len(shape)}"
        )


def _depths(item: Nest) -> tuple[int | None, int]:
    """The depth of the scalars (None without any), and the greatest depth, empty lists included."""
    if not _is_nested(item):
        return 0, 0
    scalar, greatest = None, 1
    for child in item:
        child_scalar, child_greatest = _depths(child)
        if child_scalar is not None:
            if scalar is not None and scalar != child_scalar + 1:
                raise ValueError("all scalar values must have the same nesting depth")
            scalar = child_scalar + 1
        greatest = max(greatest, child_greatest + 1)
    return scalar, greatest


def _flattened(pylist: Nest, ragged_rank: int) -> tuple[list[list[int]], list[Nest]]:
    nested, values = [], list(pylist)
    for _ in range(ragged_rank):
        splits = [0]
        for row in values:
            splits.append(splits[-1] + len(row))
        nested.append(splits)
        values = [value for row in values for value in row]
    return nested, values


def _inner_shape(pylist: Nest, ragged_rank: int) -> tuple[int, ...]:
    values = list(pylist)
    for level in range(ragged_rank):
        if not all(map(_is_nested, values)):
            raise ValueError(
                f"pylist has scalar values depth {level + 1}, but ragged_rank={ragged_rank} requires scalar value depth "
                f"greater than {ragged_rank}"
            )
        values = [value for row in values for value in row]
    shape = _leftmost_shape(values)
    _check_shape(values, shape)
    return shape[1:]


def _leftmost_shape(item: Nest) -> tuple[int, ...]:
    if not _is_nested(item):
        return ()
    return (len(item), *_leftmost_shape(item[0])) if len(item) else (0,)


def _check_shape(item: Nest, shape: tuple[int, ...]) -> None:
    nested = _is_nested(item)
    if nested != bool(shape) or (nested and shape[0] != len(item)):
        raise ValueError("inner values have inconsistent shape")
    if nested:
        for child in item:
            _check_shape(child, shape[1:])


def value_of(parts: Sequence[np.ndarray]) -> RaggedTensorValue:
    """The value of a ragged tensor, of its innermost values and its splits, the outermost first."""
    flat, *nested = parts
    result: Nest = flat
    for splits in reversed(nested):
        result = RaggedTensorValue(result, splits)
    assert isinstance(result, RaggedTensorValue)
    return result
