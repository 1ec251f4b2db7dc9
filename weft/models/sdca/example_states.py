"""ExampleStates: what the ascent keeps of each example between its batches, in one table or in several."""

from __future__ import annotations

from typing import Final

from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.partitioning import dynamic_partition, dynamic_stitch
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import shape
from weft.ops.control_flow.ordering import group
from weft.ops.lookup.tables import MutableDenseHashTable
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import add_n

_NAME: Final = "ShardedMutableHashTable"


class ExampleStates:
    """Four numbers for each example, zeros for one that was not there; see SdcaOptimizerV2.

    Args:
        shards: into how many tables they are spread, by the examples' fingerprints.
    """

    def __init__(self, shards: int) -> None:
        # By these names checkpoints hold them, TensorFlow's too.
        with get_default_graph().name_scope(_NAME):
            self._tables = [
                MutableDenseHashTable(
                    dtypes.int64, dtypes.float32, default_value=[0.0] * 4, empty_key=constant([0, 0], dtypes.int64),
                    deleted_key=constant([1, 1], dtypes.int64),
                    name=f"{_NAME}-{number + 1}-of-{shards}",
                )
                for number in range(shards)
            ]  # fmt: skip

    def lookup(self, keys: Tensor) -> Tensor:
        """The states of examples: `[batch, 2] -> [batch, 4]`."""
        if len(self._tables) == 1:
            return self._tables[0].lookup(keys)
        owners = self._owners(keys)
        parts = dynamic_partition(keys, owners, len(self._tables))
        places = dynamic_partition(range_of(shape(keys)[0]), owners, len(self._tables))
        found = dynamic_stitch(places, [table.lookup(part) for table, part in zip(self._tables, parts, strict=True)])
        found.set_shape([keys.shape[0], 4])
        return found

    def insert(self, keys: Tensor, states: Tensor) -> Operation:
        """Keep the states of examples."""
        if len(self._tables) == 1:
            return self._tables[0].insert(keys, states)
        owners = self._owners(keys)
        parts = [dynamic_partition(each, owners, len(self._tables)) for each in (keys, states)]
        return group(*(table.insert(*part) for table, *part in zip(self._tables, *parts, strict=True)))

    def exported(self) -> list[Tensor]:
        """All states, `[n, 4]` from each table."""
        return [table.export()[1] for table in self._tables]

    def size(self) -> Tensor:
        """How many examples there are."""
        return add_n([table.size() for table in self._tables])

    def _owners(self, keys: Tensor) -> Tensor:
        return cast(abs(keys[:, 0]) % len(self._tables), dtypes.int32)
