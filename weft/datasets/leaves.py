"""The leaves of elements: tensors, sparse and ragged ones, datasets, optionals; each kind has one tensor for a component."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor, is_sparse
from weft.framework.composites.sparse_tensor_spec import SparseTensorSpec
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.framework.types.type_spec import ShapedTypeSpec, TypeSpec
from weft.ops.ragged.spec import RaggedTensorSpec
from weft.ops.ragged.tensor import RaggedTensor
from weft.ops.ragged.value import RaggedTensorValue
from weft.ops.ragged.variants import ragged_tensor_from_variant, ragged_tensor_to_variant
from weft.ops.sparse.serialization import deserialize_sparse, serialize_many_sparse, serialize_sparse


class VariantSpec(TypeSpec):
    """A spec of values that are one variant tensor."""

    __slots__ = ()

    @property
    def variant_dims(self) -> Dims:
        """The shape of that tensor."""
        return ()

    @property
    def _component_specs(self) -> TensorSpec:
        return TensorSpec(self.variant_dims, dtypes.variant)

    def carry(self, tensor: Tensor) -> Nest:
        """The value that is this tensor.

        Args:
            tensor: the variant.
        """
        raise NotImplementedError(f"{type(self).__name__}.carry")


class DatasetLike(Protocol):
    """A dataset: a variant tensor, and what its elements are."""

    @property
    def variant_tensor(self) -> Tensor:
        """The node's output."""
        ...

    @property
    def element_spec(self) -> Nest:
        """What its elements are."""
        ...


class DatasetSpec(VariantSpec):
    """Datasets as elements, such as the windows of another one.

    Args:
        element_spec: the structure of specs of an element.
        dataset_shape: the shape of the tensor that has such datasets.
    """

    make: Callable[[Tensor, Nest], DatasetLike]
    """Makes a dataset of a variant tensor; set where the class of datasets is."""

    def __init__(self, element_spec: Nest, dataset_shape: object = ()) -> None:
        self.element_spec = element_spec
        self._dims = as_dims(dataset_shape)

    @staticmethod
    def from_value(value: DatasetLike) -> DatasetSpec:
        """The spec of a dataset.

        Args:
            value: the dataset.
        """
        return DatasetSpec(value.element_spec)

    @property
    def value_type(self) -> type:
        """The class of datasets."""
        return type(self).make  # type: ignore[return-value]

    @property
    def shape(self) -> TensorShape:
        """The shape of the tensor of datasets."""
        return TensorShape(self._dims)

    @property
    def variant_dims(self) -> Dims:
        """The shape of the tensor of datasets."""
        return self._dims

    def _serialize(self) -> tuple[object, ...]:
        return self.element_spec, self.shape

    def carry(self, tensor: Tensor) -> DatasetLike:
        """The dataset that is this tensor.

        Args:
            tensor: the variant.
        """
        return DatasetSpec.make(tensor, self.element_spec)


def leaf_spec(leaf: Nest) -> TypeSpec:
    """The spec of a leaf; TypeError for one that cannot be in an element."""
    if isinstance(leaf, Tensor):
        return TensorSpec(leaf.shape, leaf.dtype.base_dtype)
    if hasattr(leaf, "variant_tensor"):
        found: TypeSpec = leaf.leaf_spec
        return found
    if isinstance(leaf, RaggedTensor):
        return RaggedTensorSpec.from_value(leaf)
    if is_sparse(leaf):
        return SparseTensorSpec.from_value(SparseTensor.from_value(leaf))
    return leaf_spec(as_leaf(leaf))


def as_leaf(value: Nest, name: str | None = None) -> Nest:
    """A leaf of an element: a tensor, a sparse or ragged one, or what is carried as a variant."""
    if hasattr(value, "variant_tensor") or isinstance(value, RaggedTensor):
        return value
    if isinstance(value, RaggedTensorValue):
        return RaggedTensor.from_nested_row_splits(value.flat_values, list(value.nested_row_splits), name=name, validate=False)
    return SparseTensor.from_value(value) if is_sparse(value) else convert_to_tensor(value, name=name)


def component_dims(spec: Nest) -> Dims:
    """The shape of a leaf's component, as far as it is told."""
    if isinstance(spec, VariantSpec):
        return spec.variant_dims
    if isinstance(spec, RaggedTensorSpec):
        return ()
    return None if isinstance(spec, SparseTensorSpec) else as_dims(spec.shape)


def component(spec: Nest, leaf: Nest) -> Tensor:
    """The component of a leaf."""
    if isinstance(spec, SparseTensorSpec):
        return serialize_sparse(leaf, out_type=dtypes.variant)
    if isinstance(spec, VariantSpec):
        return leaf.variant_tensor  # type: ignore[no-any-return]
    if isinstance(spec, RaggedTensorSpec):
        return _ragged_variant(spec, leaf, batched_input=False)
    return convert_to_tensor(leaf, spec.dtype)


def _ragged_variant(spec: RaggedTensorSpec, leaf: Nest, batched_input: bool) -> Tensor:
    splits, values = (list(leaf.nested_row_splits), leaf.flat_values) if isinstance(leaf, RaggedTensor) else ([], leaf)
    attrs = {"batched_input": batched_input, "Tsplits": spec.row_splits_dtype}
    made: Tensor = ragged_tensor_to_variant(splits, values, **attrs)
    return made


def rows_component(spec: Nest, leaf: Nest) -> Tensor:
    """The component of a leaf whose rows are to be elements; ValueError for a leaf without rows."""
    if isinstance(spec, VariantSpec):
        raise ValueError(f"{type(spec).__name__.removesuffix('Spec')} has no rows: slices are those of tensors")
    if isinstance(spec, SparseTensorSpec):
        return serialize_many_sparse(leaf, out_type=dtypes.variant)
    if isinstance(spec, RaggedTensorSpec):
        return _ragged_variant(spec, leaf, batched_input=True)
    tensor: Tensor = leaf
    if tensor.dims == ():
        raise ValueError(
            f"Value {leaf} has insufficient rank for batching: it is one value, and has no rows to slice. A list makes "
            "an element of each of its items; tf.data.TextLineDataset and TFRecordDataset read files."
        )
    return tensor


def leaf_of(spec: Nest, tensor: Tensor) -> Nest:
    """The leaf that has this component."""
    if isinstance(spec, VariantSpec):
        return spec.carry(tensor)
    if isinstance(spec, RaggedTensorSpec):
        return _ragged_leaf(spec, tensor)
    if isinstance(spec, SparseTensorSpec):
        sparse = deserialize_sparse(tensor, dtype=spec.dtype, rank=spec.shape.ndims)
        sparse.set_shape(spec.shape)
        return sparse
    tensor.set_shape(spec.shape)
    return tensor


def _ragged_leaf(spec: RaggedTensorSpec, tensor: Tensor) -> Nest:
    """A ragged tensor; a plain one where no dimension of it is partitioned, as of the rows of a ragged tensor."""
    with get_default_graph().name_scope("RaggedFromVariant"):
        return _ragged_of(spec, tensor)


def _ragged_of(spec: RaggedTensorSpec, tensor: Tensor) -> Nest:
    splits, values = ragged_tensor_from_variant(
        tensor, input_ragged_rank=-1, output_ragged_rank=spec.ragged_rank, Tvalues=spec.dtype, Tsplits=spec.row_splits_dtype
    )
    if not splits:
        values.set_shape(spec.shape)
        return values
    dims = as_dims(spec.shape)
    if dims is not None:
        values.set_shape((None, *dims[spec.ragged_rank + 1 :]))
        if dims[0] is not None:
            splits[0].set_shape((dims[0] + 1,))
    return RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def batched_leaf(spec: Nest, size: int | None) -> Nest:
    """The spec of batches of a leaf."""
    dims = as_dims(_shape_of(spec, "batched"))
    return _reshaped(spec, None if dims is None else (size, *dims), 1)


def row_of_leaf(spec: Nest) -> Nest:
    """The spec of a leaf's rows; ValueError for one without rows."""
    dims = as_dims(_shape_of(spec, "unbatched"))
    if dims == ():
        raise ValueError(
            f"Unbatching a tensor is only supported for rank >= 1. The dataset's elements have {spec}, which has no rows to "
            "part: they are no batches."
        )
    return _reshaped(spec, None if dims is None else dims[1:], -1)


def _shape_of(spec: Nest, what: str) -> TensorShape:
    if not isinstance(spec, ShapedTypeSpec | DatasetSpec):
        raise TypeError(f"{spec!r} cannot be {what}: only tensors, sparse and ragged ones can, and datasets")
    return spec.shape


def _reshaped(spec: Nest, dims: Dims, levels: int) -> Nest:
    if isinstance(spec, DatasetSpec):
        return DatasetSpec(spec.element_spec, dims)
    if isinstance(spec, RaggedTensorSpec):
        return RaggedTensorSpec(dims, spec.dtype, spec.ragged_rank + levels, spec.row_splits_dtype)
    return type(spec)(dims, spec.dtype)
