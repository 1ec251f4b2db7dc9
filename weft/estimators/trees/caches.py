"""TrainingCache: where the examples of a dataset that is one batch are in the ensemble."""

from __future__ import annotations

from typing import NamedTuple

from weft.framework.building.aliases import TensorLike, VariableLike
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.filling import fill, zeros
from weft.ops.array.placeholder import placeholder_with_default
from weft.ops.array.shape_ops import shape
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group
from weft.ops.math.comparison import equal
from weft.ops.variables.assign import assign
from weft.ops.variables.variable import Variable

_NO_NODE = -1


class Places(NamedTuple):
    """The tree and node that each example has come to, `[batch] int32`, and its logits there, `[batch, 1] float32`."""

    tree_ids: Tensor
    node_ids: Tensor
    logits: Tensor


def beginning(batch_size: Tensor, logits_dimension: int) -> Places:
    """The places of examples that no tree has seen."""
    return Places(
        zeros([batch_size], dtypes.int32), fill([batch_size], _NO_NODE), zeros([batch_size, logits_dimension], dtypes.float32)
    )


def kept_variable(initial_value: TensorLike, name: str) -> VariableLike:
    """A variable of the trainer's own: resource, not trained, of any shape."""
    made: VariableLike = Variable(initial_value, trainable=False, validate_shape=False, name=name, use_resource=True)
    return made


class TrainingCache:
    """Variables with the places of all examples.

    Args:
        batch_size: how many there are.
        logits_dimension: how many logits each has.
    """

    def __init__(self, batch_size: Tensor, logits_dimension: int) -> None:
        self._batch_size, self._logits_dimension = batch_size, logits_dimension
        # Without examples: variables get their values before there is a batch to tell how many it has.
        first = beginning(constant(0), logits_dimension)
        self._kept = [
            kept_variable(placeholder_with_default(each, [None, *(each.dims or ())[1:]]), f"{name}_cache")
            for each, name in zip(first, Places._fields, strict=True)
        ]

    def lookup(self) -> Places:
        """The places that were kept last; where those are of another number of examples, their beginning."""
        kept = [each.value() for each in self._kept]
        is_kept = equal(shape(kept[0])[0], self._batch_size)
        found = cond(is_kept, lambda: kept, lambda: list(beginning(self._batch_size, self._logits_dimension)))
        for each, width in zip(found, (None, None, self._logits_dimension), strict=True):
            each.set_shape([None] if width is None else [None, width])
        return Places(*found)

    def insert(self, places: Places) -> Operation:
        """An operation that keeps places."""
        changes = [assign(kept, place) for kept, place in zip(self._kept, places, strict=True)]
        return group(*changes, name="cache_insert")
