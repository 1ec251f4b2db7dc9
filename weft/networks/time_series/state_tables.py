"""StateTables: the states of a model at times of a series, in hash tables."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.identity import identity
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.control_flow.ordering import group
from weft.ops.lookup.tables import MutableDenseHashTable

_EMPTY_KEY, _DELETED_KEY = -1, -2


class StateTables:
    """A table for each part of a state, by whole numbers.

    Args:
        default: the state of numbers that are not there: tensors of known shapes.
        name: what the tables' names begin with.
        checkpoint: whether checkpoints have them.
    """

    def __init__(self, default: Nest, name: str, checkpoint: bool) -> None:
        self._structure = default
        self._parts = [_PartTable(part, f"{name}_{number}", checkpoint) for number, part in enumerate(nest.flatten(default))]

    def lookup(self, keys: Tensor) -> Nest:
        """The states of numbers, `[...] int64 -> [..., part]` each."""
        return nest.pack_sequence_as(self._structure, [part.lookup(keys) for part in self._parts])

    def insert(self, keys: Tensor, values: Nest) -> Operation:
        """An operation that sets the states of numbers: `[...] int64`, `[..., part]` each."""
        # No part may be set before all are computed: one may depend on what another table had.
        flat = [identity(value) for value in nest.flatten(values)]
        with get_default_graph().control_dependencies(flat):
            return group(*(part.insert(keys, value) for part, value in zip(self._parts, flat, strict=True)))


class _PartTable:
    """The table of one part, whose values are flat."""

    def __init__(self, default: Tensor, name: str, checkpoint: bool) -> None:
        # Elements of a state have known shapes, without the batch.
        self._shape = [size or 0 for size in default.get_shape().as_list()]
        self._size = int(np.prod(self._shape))
        empty, deleted = (constant(key, dtypes.int64) for key in (_EMPTY_KEY, _DELETED_KEY))
        self._table = MutableDenseHashTable(
            key_dtype=dtypes.int64, value_dtype=default.dtype.base_dtype, default_value=reshape(default, [-1]),
            empty_key=empty, deleted_key=deleted, name=name, checkpoint=checkpoint,
        )  # fmt: skip

    def lookup(self, keys: Tensor) -> Tensor:
        """The values of keys."""
        found = self._table.lookup(reshape(keys, [-1]))
        return reshape(found, concat([shape(keys), constant(self._shape, dtypes.int32)], 0))

    def insert(self, keys: Tensor, values: Tensor) -> Operation:
        """An operation that sets the values of keys."""
        return self._table.insert(reshape(keys, [-1]), reshape(values, [-1, self._size]))
