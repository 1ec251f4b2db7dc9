"""Forms of updates of rows: weft's kernels add up what is for one row, TensorFlow's take one after the other.

So optimizers of TensorFlow's add up before, by a Unique and an UnsortedSegmentSum, and so do graphs that are written.
"""

from __future__ import annotations

from weft.framework.building.op_builder import build
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import OpDef
from weft.framework.registry.op_registry import declared
from weft.ops.array.joining import concat
from weft.ops.array.sets import unique_node
from weft.ops.array.shape_ops import size
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import tile
from weft.ops.declaration import definition_of
from weft.ops.math.segment import unsorted_segment_sum
from weft.ops.tensorflow_forms.form import Form, form, register
from weft.ops.training import update_functions as update_functions
from weft.ops.training.repeated_rows import sum_distinct_rows, sum_repeated_rows


def _distinct(values: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """The different indices and the sum of the slices of each."""
    distinct, places = unique_node(indices)
    return unsorted_segment_sum(values, places, size(distinct)), distinct


@form(sum_distinct_rows)
def _sum_rows(node: Operation, values: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    return _distinct(values, indices)


@form(sum_repeated_rows)
def _sum_and_keep_sizes(node: Operation, values: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    # As many rows as before: the shapes of what is made of them stand in the graph. Those left over add zero to the first.
    distinct, places = unique_node(indices)
    count = size(indices)
    left_over = tile(indices[:1], stack([count - size(distinct)]))
    return unsorted_segment_sum(values, places, count), concat([distinct, left_over], 0)


_DISTINCT = tuple(definition_of(each) for each in (unique_node, sum_distinct_rows, sum_repeated_rows))


def _update(definition: OpDef, values: str, indices: str) -> Form:
    names = [arg.name for arg in definition.inputs]

    def rule(node: Operation, *inputs: Tensor) -> Operation | None:
        if node.inputs[names.index(indices)].op.op_def in _DISTINCT:
            return None
        given = list(inputs)
        places = [names.index(values), names.index(indices)]
        for place, summed in zip(places, _distinct(*(given[place] for place in places)), strict=True):
            given[place] = summed
        attrs = {key: value for key, value in node.attrs.items() if not key.startswith("_")}
        return build(definition, given, attrs, None)

    return rule


def _register_updates() -> None:
    for definition in declared():
        names = {arg.name for arg in definition.inputs}
        if definition.by_row and definition.updates and {"grad", "indices"} <= names:
            register(definition, _update(definition, "grad", "indices"))


_register_updates()
