"""Inputs: a batch of examples as trees ask it, and their labels; `InputSpec` tells what its columns are."""

from __future__ import annotations

import functools
import re
from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.ops.forest.draws import Draws

_PARTS: Final = re.compile(r"dense_features_size: (\S+) dense: \[(.*)\] sparse: \[(.*)\]")
_COLUMN: Final = re.compile(r"\{name: .*? original_type: (\d+) size: (\S+)\}")


class ColumnType(IntEnum):
    """What a feature is: a number, which is split by a threshold, or a category, which is split off the others."""

    FLOAT = 0
    CATEGORICAL = 1


class InputSpec(NamedTuple):
    """The types of all dense features, and that of the sparse ones; None where there are none."""

    dense: tuple[ColumnType, ...]
    sparse: ColumnType | None


@functools.lru_cache(maxsize=64)
def spec_of(serialized: str) -> InputSpec:
    """What the text of a node's attribute says of its inputs.

    Raises:
        InvalidArgumentError: it is no such text, or the size of a dense column is not known.
    """
    parts = _PARTS.fullmatch(serialized)
    if parts is None:
        raise InvalidArgumentError.of(f"Expected the text of a TensorForestDataSpec as input_spec, found {serialized!r}")
    dense: list[ColumnType] = []
    for kind, size in _COLUMN.findall(parts[2]):
        if not size.isdigit():
            raise InvalidArgumentError.of(f"A dense column of a forest needs a known size, found {size!r} in {serialized!r}")
        dense.extend([ColumnType(int(kind))] * int(size))
    sparse = _COLUMN.findall(parts[3])
    return InputSpec(tuple(dense), ColumnType(int(sparse[0][0])) if sparse else None)


class Sample(NamedTuple):
    """A feature of an example, its type and its value there."""

    feature: int
    kind: ColumnType
    value: np.float32


class Inputs:
    """The features of a batch. Dense ones come first; a sparse one that an example lacks is 0.

    Args:
        spec: what they are.
        dense: `[batch, features] float32`, or of rank 1 for none.
        sparse_indices: `[n, 2] int64` in their order, or of rank 1 for none.
        sparse_values: `[n] float32`.
        sparse_shape: `[2] int64`.

    Raises:
        InvalidArgumentError: there are fewer features than the spec says.
    """

    def __init__(self, spec: InputSpec, dense: Array, sparse_indices: Array, sparse_values: Array, sparse_shape: Array) -> None:
        self._spec = spec
        self._dense = dense if dense.ndim == 2 else None
        self._indices = sparse_indices if sparse_indices.ndim == 2 else None
        self._sparse_values = sparse_values
        self._columns = int(sparse_shape[1]) if self._indices is not None else 0
        found = 0 if self._dense is None else self._dense.shape[1]
        if found < len(spec.dense):
            raise InvalidArgumentError.of(f"The forest's input has {found} dense features, its input_spec {len(spec.dense)}")
        if self._dense is not None:
            self.count = len(dense)
        else:
            self.count = int(sparse_shape[0]) if self._indices is not None else 0
        if self._indices is not None:
            self._keys = self._indices[:, 0] * self._columns + self._indices[:, 1]

    def values(self, examples: Array, features: Array) -> Array:
        """The values of features of examples, both broadcast against each other: `[...], [...] -> [...] float32`."""
        count = len(self._spec.dense)
        if self._indices is None:
            if features.size and features.max() >= count:
                raise InvalidArgumentError.of(
                    f"The tree splits by feature {features.max()}, but its input has {count}: it was trained with others"
                )
            # NumPy's own type for values of an index by arrays says nothing.
            found: Array = self._dense[examples, features] if self._dense is not None else np.zeros(0, np.float32)
            return found
        examples, features = np.broadcast_arrays(examples, features)
        found = np.zeros(features.shape, np.float32)
        is_dense = features < count
        if self._dense is not None and is_dense.any():
            found[is_dense] = self._dense[examples[is_dense], features[is_dense]]
        columns = features - count
        keys = np.where(is_dense | (columns >= self._columns), -1, examples * self._columns + columns)
        places = np.minimum(np.searchsorted(self._keys, keys), max(len(self._keys) - 1, 0))
        if len(self._keys):
            is_there = self._keys[places] == keys
            found[is_there] = self._sparse_values[places[is_there]]
        return found

    def sample(self, example: int, draws: Draws) -> Sample:
        """One of an example's features: a dense one, or a sparse one that it has.

        Raises:
            InvalidArgumentError: it has none.
        """
        dense = len(self._spec.dense)
        start = end = 0
        if self._indices is not None:
            start, end = np.searchsorted(self._indices[:, 0], [example, example + 1]).tolist()
        if dense + end - start == 0:
            raise InvalidArgumentError.of(f"Example {example} of the batch has no features, by which a tree could split")
        chosen = draws.below(dense + end - start)
        if chosen < dense:
            feature, kind = chosen, self._spec.dense[chosen]
        else:
            assert self._indices is not None
            feature = int(self._indices[start + chosen - dense, 1]) + dense
            kind = self._spec.sparse or ColumnType.FLOAT
        return Sample(feature, kind, self.values(np.array(example), np.array(feature))[()])


class Targets:
    """The labels of a batch and the weights of its examples, of which those that have none count once.

    Args:
        labels: `[batch]`, `[batch, 1]` or `[batch, outputs]` float32.
        weights: `[n] float32`; of the first examples.
        is_regression: whether labels are numbers, rather than those of classes.
        outputs: how many numbers an example has, or how many classes there are.

    Raises:
        InvalidArgumentError: labels are of another number, or none of the classes.
    """

    def __init__(self, labels: Array, weights: Array, is_regression: bool, outputs: int) -> None:
        each = labels.shape[1] if is_regression and labels.ndim > 1 else 1
        self.numbers = labels.reshape(-1, each)
        """`[batch, outputs] float32`."""
        self.weights = np.ones(len(self.numbers), np.float32)
        """`[batch] float32`."""
        given = weights.ravel()[: len(self.weights)]
        self.weights[: len(given)] = given
        if is_regression:
            if each < outputs:
                raise InvalidArgumentError.of(f"The forest has {outputs} outputs, its labels {each} numbers for each example")
            return
        self.classes = self.numbers[:, 0].astype(np.intp)
        """The labels as classes: `[batch]`; of a classification alone."""
        if len(self.classes) and not 0 <= self.classes.min() <= self.classes.max() < outputs:
            raise InvalidArgumentError.of(
                f"The labels of a forest of {outputs} classes are 0 to {outputs - 1}, found {self.classes.min()} to "
                f"{self.classes.max()}. Is params.num_classes set correctly?"
            )
