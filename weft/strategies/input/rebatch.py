"""The division of a dataset's batches among replicas."""

from __future__ import annotations

from typing import Final

from weft.datasets.dataset import Dataset
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nested import nest
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation
from weft.framework.types import dtypes
from weft.framework.types.replica_values import Value
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.data import batching, reshaping
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum

# The ops that make batches, and which of their inputs says how large.
_BATCHING: Final = {
    each.op_def  # type: ignore[attr-defined]
    for each in (batching.batch_dataset_v2, reshaping.padded_batch_dataset_v2)
}


def rebatched(dataset: Value, parts: int) -> Value:
    """The dataset with each batch cut into so many, which follow each other.

    All batches of one size are cut alike. Of a shorter last one the first parts are full and the others missing, as if the
    dataset had been batched so from the start.

    Raises:
        ValueError: the size of the batches is known and cannot be divided.
    """
    if parts == 1:
        return dataset
    size = batch_size(dataset)
    if size is not None and size % parts:
        raise ValueError(
            f"The batch size {size} is not divisible by the number of replicas, {parts}: each replica takes an equal part of a "
            "global batch. Choose another size, or give each replica batches of its own by make_input_fn_iterator"
        )

    def cut(*element: Value) -> Dataset:
        value = element[0] if len(element) == 1 else element
        if size is not None:
            whole = _is_static(dataset)
            return Dataset.from_tensor_slices(value).batch(size // parts, drop_remainder=whole)
        rows = cast(_rows(nest.flatten(value)[0]), dtypes.int64)
        return Dataset.from_tensor_slices(value).batch(maximum((rows + (parts - 1)) // parts, 1))

    return dataset.flat_map(cut)


def _rows(leaf: Value) -> Value:
    return leaf.dense_shape[0] if isinstance(leaf, SparseTensor) else shape_of(leaf)[0]


def _is_static(dataset: Value) -> bool:
    """Whether no batch is shorter than others."""
    shapes = [getattr(each, "shape", None) for each in nest.flatten(dataset.element_spec)]
    return all(shape is not None and shape.ndims and shape.as_list()[0] is not None for shape in shapes)


def batch_size(dataset: Value) -> int | None:
    """The size of a dataset's batches, where it was batched by a constant; None where nobody can tell."""
    if _is_static(dataset):
        return int(nest.flatten(dataset.element_spec)[0].shape.as_list()[0])
    op: Operation | None = dataset.variant_tensor.op
    while op is not None:
        if op.op_def in _BATCHING:
            size = constant_value(op.inputs[1])
            return None if size is None else int(size)
        # What only orders, repeats or keeps elements leaves their shapes as they are, and has one dataset as its input.
        before = [each for each in op.inputs if each.dtype is dtypes.variant]
        same = len(before) == 1 and before[0].op.attrs.get("output_shapes") == op.attrs.get("output_shapes")
        op = before[0].op if same and not op.op_def.bodies else None
    return None
