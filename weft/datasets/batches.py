"""Transformations between elements and batches of them."""

from __future__ import annotations

import numpy as np

from weft.datasets import nest, structure
from weft.datasets.leaves import DatasetLike, DatasetSpec
from weft.datasets.selecting import OF_BATCHES, Made, above_zero, truth
from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor_spec import SparseTensorSpec
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.nodes.constant_value import constant_value, constant_value_as_shape
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.ops.data import batching, reshaping


def batch(dataset: DatasetLike, batch_size: TensorLike, drop_remainder: TensorLike) -> Made:
    """Batches of elements; where none is shorter than others their size is known."""
    size = above_zero(batch_size, "batch_size", OF_BATCHES, what="Batch size")
    drops = truth(drop_remainder, "drop_remainder")
    known = constant_value(size) if constant_value(drops) else None
    spec = structure.batched(dataset.element_spec, None if known is None else int(known))
    return Made(batching.batch_dataset_v2(dataset.variant_tensor, size, drops, **structure.flat_attrs(spec)), spec)


def unbatch(dataset: DatasetLike) -> Made:
    """The rows of elements whose sparse components are those of whole batches; see `normalized_rows`."""
    spec = structure.unbatched(dataset.element_spec)
    sizes = {leaf.shape[0].value for leaf in nest.flatten(dataset.element_spec) if isinstance(leaf, TensorSpec)} - {None}
    if len(sizes) > 1:
        shapes = [str(leaf.shape) for leaf in nest.flatten(dataset.element_spec)]
        raise ValueError(
            f"Cannot unbatch an input whose components have different batch sizes. They have {sorted(sizes)} rows: the "
            f"shapes are {', '.join(shapes)}."
        )
    return Made(reshaping.unbatch_dataset(dataset.variant_tensor, **structure.flat_attrs(spec)), spec)


def window(
    dataset: DatasetLike, size: TensorLike, shift: TensorLike | None, stride: TensorLike, drop_remainder: TensorLike
) -> Made:
    """Datasets of neighbouring elements, one for each leaf."""
    spec = nest.map_structure(DatasetSpec, dataset.element_spec)
    sizes = (
        above_zero(size, "size", "it is how many elements a window has.", what="Window size"),
        above_zero(size if shift is None else shift, "shift", "it is how far apart windows begin.", what="Window shift"),
        above_zero(stride, "stride", "it is how far apart a window's elements are.", what="Window stride"),
        truth(drop_remainder, "drop_remainder"),
    )
    return Made(reshaping.window_dataset(dataset.variant_tensor, *sizes, **structure.flat_attrs(spec)), spec)


def padded_batch(
    dataset: DatasetLike, batch_size: TensorLike, padded_shapes: Nest, padding_values: Nest, drop_remainder: TensorLike
) -> Made:
    """Batches of elements that are padded to one shape.

    Raises:
        TypeError: an element has a sparse component, or a padding value another type.
        ValueError: a shape is smaller than the elements', or a padding value is no scalar.
    """
    spec = dataset.element_spec
    leaves = nest.flatten(spec)
    if not all(isinstance(leaf, TensorSpec) for leaf in leaves):
        raise TypeError("Batching of padded sparse tensors is not currently supported")
    size = above_zero(batch_size, "batch_size", OF_BATCHES, what="Batch size")
    _check_one_for_each(spec, padded_shapes, "padded_shapes")
    values = nest.map_structure(_default_padding, spec) if padding_values is None else padding_values
    given_shapes = _one_for_each(spec, padded_shapes, "padded_shapes")
    shapes = [_padded_shape(shape, leaf) for shape, leaf in zip(given_shapes, leaves, strict=True)]
    paddings = [
        _padding(value, leaf) for value, leaf in zip(_one_for_each(spec, values, "padding_values"), leaves, strict=True)
    ]
    drops = truth(drop_remainder, "drop_remainder")
    known = constant_value(size) if constant_value(drops) else None
    rows = None if known is None else int(known)
    specs = [
        TensorSpec(TensorShape([rows]).concatenate(constant_value_as_shape(shape)), leaf.dtype)
        for shape, leaf in zip(shapes, leaves, strict=True)
    ]
    made = nest.pack_sequence_as(spec, specs)
    variant = reshaping.padded_batch_dataset_v2(
        dataset.variant_tensor, size, shapes, paddings, drops, output_shapes=structure.flat_shapes(made)
    )
    return Made(variant, made)


def _check_one_for_each(spec: Nest, shapes: Nest, name: str) -> None:
    """Refuse several shapes for elements of one component."""
    if (
        nest.is_nested(spec)
        or not isinstance(shapes, list | tuple)
        or not any(isinstance(each, list | tuple) for each in shapes)
    ):
        return
    leaf_shape = structure.legacy_shapes(spec)
    raise ValueError(
        f"{name} {shapes} has {len(shapes)} shapes, and an element of the dataset is one tensor: {leaf_shape}. "
        f"Give one shape, such as {list(shapes[0]) if isinstance(shapes[0], list | tuple) else shapes[0]}."
    )


def _one_for_each(spec: Nest, given: Nest, name: str) -> list[Nest]:
    try:
        return nest.flatten_up_to(spec, given)
    except (TypeError, ValueError) as error:
        elements = structure.legacy_shapes(spec)
        raise type(error)(f"{error} {name} has the form of an element, whose shapes are {elements}; got {given}") from None


def _default_padding(leaf: TensorSpec) -> object:
    if leaf.dtype is dtypes.string:
        return ""
    return np.zeros((), leaf.dtype.as_numpy_dtype)


def _padded_shape(wanted: Nest, leaf: TensorSpec) -> Tensor:
    try:
        sizes = [-1 if size is None else size for size in TensorShape(wanted).as_list()]
        shape = convert_to_tensor(np.asarray(sizes, np.int64))
    except (TypeError, ValueError):
        shape = convert_to_tensor(wanted, preferred_dtype=dtypes.int64)
    if shape.dims is not None and len(shape.dims) != 1:
        raise ValueError(f"Padded shape {wanted} must be a 1-D tensor of tf.int64 values, but its shape was {shape.shape}.")
    if shape.dtype is not dtypes.int64:
        raise TypeError(
            f"Padded shape {wanted} must be a 1-D tensor of tf.int64 values, but its element type was {shape.dtype.name}."
        )
    known = constant_value_as_shape(shape)
    if not _may_be_padded(as_dims(known), as_dims(leaf.shape)):
        raise ValueError(
            f"The padded shape {known} is not compatible with the corresponding input component shape {leaf.shape}."
        )
    return shape


def _may_be_padded(wanted: Dims, found: Dims) -> bool:
    if wanted is None or found is None:
        return True
    if len(wanted) != len(found):
        return False
    return all(a is None or b is None or a >= b for a, b in zip(wanted, found, strict=True))


def _padding(value: Nest, leaf: TensorSpec) -> Tensor:
    tensor = convert_to_tensor(value, name="padding_value")
    if tensor.dims not in (None, ()):
        raise ValueError(f"Padding value should be a scalar, but is not: {tensor}")
    if tensor.dtype.base_dtype is not leaf.dtype:
        raise TypeError(
            f"Padding value tensor ({tensor}) does not match output type: {leaf.dtype}. "
            f"tf.constant(value, tf.{leaf.dtype.name}) makes one that does."
        )
    return tensor


def dense_to_sparse_batch(dataset: DatasetLike, batch_size: TensorLike, row_shape: Nest) -> Made:
    """Batches as sparse tensors; TypeError where elements have more than one component."""
    spec = dataset.element_spec
    if not isinstance(spec, TensorSpec):
        raise TypeError(
            "DenseToSparseDataset requires an input whose elements have a single component, whereas the input has "
            f"{structure.legacy_types(spec)!r}."
        )
    dims = as_dims(row_shape)
    made = SparseTensorSpec(None if dims is None else (None, *dims), spec.dtype)
    sizes = convert_to_tensor(np.asarray([-1 if size is None else size for size in dims or ()], np.int64), name="row_shape")
    size = above_zero(batch_size, "batch_size", OF_BATCHES, what="Batch size")
    variant = reshaping.dense_to_sparse_batch_dataset(dataset.variant_tensor, size, sizes, **structure.flat_attrs(made))
    return Made(variant, made)
