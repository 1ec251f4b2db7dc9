"""Datasets of what is in memory."""

from __future__ import annotations

from weft.datasets import structure
from weft.datasets.selecting import Made, int64
from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.nodes.node_errors import naming
from weft.framework.types import dtypes
from weft.framework.types.dimension import Dimension
from weft.framework.types.tensor_shape import as_dims
from weft.ops.data import sources


def from_tensors(element: Nest) -> Made:
    """One element."""
    element = structure.normalized(element)
    spec = structure.spec_of(element)
    shapes = structure.flat_shapes(spec)
    return Made(sources.tensor_dataset(structure.to_tensors(spec, element), output_shapes=shapes), spec)


def from_tensor_slices(element: Nest) -> Made:
    """The rows of tensors; ValueError where these differ in number."""
    element = structure.normalized(element)
    batched = structure.spec_of(element)
    tensors = structure.to_batched_tensors(batched, element)
    spec = structure.unbatched(batched)
    if not tensors:
        raise ValueError("from_tensor_slices: the element has no components")
    first = _rows(tensors[0].dims)
    for tensor in tensors[1:]:
        with naming("All components need the same number of rows.", **{f"component {i}": t for i, t in enumerate(tensors)}):
            first.assert_is_compatible_with(_rows(tensor.dims))
    return Made(sources.tensor_slice_dataset(tensors, output_shapes=structure.flat_shapes(spec)), spec)


def _rows(dims: object) -> Dimension:
    known = as_dims(dims)
    return Dimension(known[0] if known else None)


def from_sparse_tensor_slices(sparse_tensor: SparseTensor) -> Made:
    """The rows of a sparse tensor as triples of indices, values and shape; TypeError for anything else."""
    if not isinstance(sparse_tensor, SparseTensor):
        raise TypeError("`sparse_tensor` must be a `tf.SparseTensor` object.")
    indices, shape = sparse_tensor.indices.dims, sparse_tensor.dense_shape.dims
    rank = (shape[0] if shape and shape[0] is not None else indices[1] if indices else None) or None
    left = None if rank is None else rank - 1
    spec = (TensorSpec((None, left), dtypes.int64), TensorSpec((None,), sparse_tensor.dtype), TensorSpec((left,), dtypes.int64))
    variant = sources.sparse_tensor_slice_dataset(sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape)
    return Made(variant, spec)


def number_range(*args: TensorLike) -> Made:
    """Numbers as `range` gives them; ValueError for too few or too many arguments."""
    if not 1 <= len(args) <= 3:
        raise ValueError(
            f"Invalid arguments to RangeDataset: {args}. Dataset.range takes (stop), (start, stop) or (start, stop, step)."
        )
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    spec = TensorSpec((), dtypes.int64)
    bounds = int64(start, "start"), int64(stop, "stop"), int64(step, "step")
    return Made(sources.range_dataset(*bounds, **structure.flat_attrs(spec)), spec)
