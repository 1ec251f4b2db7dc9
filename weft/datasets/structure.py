"""What elements are: a spec for each leaf, which turns values of its kind into tensors and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from weft.datasets import nest
from weft.framework import dtypes
from weft.framework.aliases import Nest
from weft.framework.dims import Dims
from weft.framework.dtypes import DType, as_dtype
from weft.framework.graph import get_default_graph
from weft.framework.operation import Tensor
from weft.framework.sparse_tensor import SparseTensor, is_sparse
from weft.framework.tensor_conversion import convert_to_tensor
from weft.framework.tensor_shape import TensorShape, as_dims
from weft.framework.tensor_spec import TensorSpec
from weft.ops.sparse.serialization import deserialize_sparse, serialize_many_sparse, serialize_sparse


class SparseTensorSpec:
    """Sparse tensors: a shape, perhaps partly known, and the type of the values."""

    def __init__(self, shape: object = None, dtype: object = dtypes.float32) -> None:
        self._dims: Dims = as_dims(shape)
        self._dtype = as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return TensorShape(self._dims)

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return self._dtype

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseTensorSpec):
            return NotImplemented
        return (as_dims(self.shape), self.dtype) == (as_dims(other.shape), other.dtype)

    def __hash__(self) -> int:
        return hash((self._dims, self._dtype))

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self.shape}, {self.dtype!r})"


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


class DatasetSpec:
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

    @property
    def shape(self) -> TensorShape:
        """The shape of the tensor of datasets."""
        return TensorShape(self._dims)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DatasetSpec) and self.element_spec == other.element_spec and self.shape == other.shape

    def __hash__(self) -> int:
        return hash(DatasetSpec)

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec!r}, {self.shape})"


def spec_of(structure: Nest) -> Nest:
    """The specs of the leaves of an element; TypeError for a leaf that cannot be in one."""
    return nest.map_structure(_leaf_spec, structure)


def _leaf_spec(leaf: Nest) -> Nest:
    if isinstance(leaf, Tensor):
        return TensorSpec(leaf.shape, leaf.dtype.base_dtype)
    if is_sparse(leaf):
        sparse = SparseTensor.from_value(leaf)
        return SparseTensorSpec(sparse.shape, sparse.dtype)
    if hasattr(leaf, "variant_tensor"):
        return DatasetSpec(leaf.element_spec)
    return _leaf_spec(convert_to_tensor(leaf))


def normalized(element: Nest) -> Nest:
    """An element with tensors, sparse tensors or datasets for leaves."""
    with get_default_graph().name_scope("normalize_element"):
        leaves = [as_leaf(leaf, f"component_{number}") for number, leaf in enumerate(nest.flatten(element))]
    return nest.pack_sequence_as(element, leaves)


def as_leaf(value: Nest, name: str | None = None) -> Nest:
    """A leaf of an element: a tensor, a sparse tensor or a dataset."""
    if hasattr(value, "variant_tensor"):
        return value
    return SparseTensor.from_value(value) if is_sparse(value) else convert_to_tensor(value, name=name)


def flat_types(spec: Nest) -> list[DType]:
    """The types of the components: a sparse tensor or a dataset is a variant."""
    return [leaf.dtype if isinstance(leaf, TensorSpec) else dtypes.variant for leaf in nest.flatten(spec)]


def flat_shapes(spec: Nest) -> list[Dims]:
    """The shapes of the components."""
    return [None if isinstance(leaf, SparseTensorSpec) else as_dims(leaf.shape) for leaf in nest.flatten(spec)]


def flat_attrs(spec: Nest) -> dict[str, Nest]:
    """The attributes by which a dataset's node tells of its elements."""
    return {"output_types": flat_types(spec), "output_shapes": flat_shapes(spec)}


def to_tensors(spec: Nest, element: Nest) -> list[Tensor]:
    """The components of an element."""
    nest.assert_same_structure(spec, element)
    pairs = zip(nest.flatten(spec), nest.flatten(element), strict=True)
    return [_component(leaf_spec, leaf) for leaf_spec, leaf in pairs]


def _component(spec: Nest, leaf: Nest) -> Tensor:
    if isinstance(spec, SparseTensorSpec):
        return serialize_sparse(leaf, out_type=dtypes.variant)
    if isinstance(spec, DatasetSpec):
        return leaf.variant_tensor  # type: ignore[no-any-return]
    return convert_to_tensor(leaf, spec.dtype)


def to_batched_tensors(spec: Nest, element: Nest) -> list[Tensor]:
    """The components of an element whose rows are to be elements.

    Raises:
        ValueError: a component is a scalar, or a dataset.
    """
    tensors = []
    for leaf_spec, leaf in zip(nest.flatten(spec), nest.flatten(element), strict=True):
        if isinstance(leaf_spec, DatasetSpec):
            raise ValueError("A dataset has no rows: slices are those of tensors")
        if isinstance(leaf_spec, SparseTensorSpec):
            tensors.append(serialize_many_sparse(leaf, out_type=dtypes.variant))
        else:
            if leaf.dims == ():
                raise ValueError(
                    f"Value {leaf} has insufficient rank for batching: it is one value, and has no rows to slice. A list makes "
                    "an element of each of its items; tf.data.TextLineDataset and TFRecordDataset read files."
                )
            tensors.append(leaf)
    return tensors


def from_tensors(spec: Nest, tensors: Sequence[Tensor]) -> Nest:
    """The element that has these components."""
    leaves = [_leaf(leaf, tensor) for leaf, tensor in zip(nest.flatten(spec), tensors, strict=True)]
    return nest.pack_sequence_as(spec, leaves)


def _leaf(spec: Nest, tensor: Tensor) -> Nest:
    if isinstance(spec, DatasetSpec):
        return DatasetSpec.make(tensor, spec.element_spec)
    if isinstance(spec, SparseTensorSpec):
        sparse = deserialize_sparse(tensor, dtype=spec.dtype, rank=spec.shape.ndims)
        sparse.set_shape(spec.shape)
        return sparse
    tensor.set_shape(spec.shape)
    return tensor


def batched(spec: Nest, size: int | None) -> Nest:
    """The specs of batches."""
    return nest.map_structure(lambda leaf: _reshaped(leaf, lambda dims: None if dims is None else (size, *dims)), spec)


def unbatched(spec: Nest) -> Nest:
    """The specs of the rows; ValueError for a leaf without rows."""

    def row(dims: Dims) -> Dims:
        if dims == ():
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return None if dims is None else dims[1:]

    return nest.map_structure(lambda leaf: _reshaped(leaf, row), spec)


def _reshaped(leaf: Nest, change: Callable[[Dims], Dims]) -> Nest:
    dims = change(as_dims(leaf.shape))
    if isinstance(leaf, DatasetSpec):
        return DatasetSpec(leaf.element_spec, dims)
    return type(leaf)(dims, leaf.dtype)


def legacy_types(spec: Nest) -> Nest:
    """The types of the leaves; a dataset is its own spec."""
    return nest.map_structure(lambda leaf: leaf if isinstance(leaf, DatasetSpec) else leaf.dtype, spec)


def legacy_shapes(spec: Nest) -> Nest:
    """The shapes of the leaves; a dataset is its own spec."""
    return nest.map_structure(lambda leaf: leaf if isinstance(leaf, DatasetSpec) else leaf.shape, spec)


def legacy_classes(spec: Nest) -> Nest:
    """The classes of the leaves: Tensor, SparseTensor; a dataset is its own spec."""
    return nest.map_structure(
        lambda leaf: leaf if isinstance(leaf, DatasetSpec) else SparseTensor if isinstance(leaf, SparseTensorSpec) else Tensor,
        spec,
    )


def spec_of_legacy(types: Nest, shapes: Nest = None, classes: Nest = None) -> Nest:
    """The specs that types, shapes and classes tell; unknown shapes and dense tensors where these are not given.

    Raises:
        TypeError: the structures differ, or a class is neither Tensor nor SparseTensor.
    """
    types = nest.map_structure(lambda kind: kind if isinstance(kind, DatasetSpec) else as_dtype(kind), types)
    flat = nest.flatten(types)
    flat_dims = [None] * len(flat) if shapes is None else nest.flatten_up_to(types, shapes)
    flat_classes = [Tensor] * len(flat) if classes is None else nest.flatten_up_to(types, classes)
    leaves = [_legacy_leaf(*each) for each in zip(flat, flat_dims, flat_classes, strict=True)]
    return nest.pack_sequence_as(types, leaves)


def _legacy_leaf(dtype: Nest, shape: object, kind: Nest) -> Nest:
    if isinstance(dtype, DatasetSpec):
        return dtype
    if kind is SparseTensor:
        return SparseTensorSpec(shape, dtype)
    if kind is Tensor or (isinstance(kind, type) and issubclass(kind, Tensor)):
        return TensorSpec(shape, dtype)
    raise TypeError(f"Could not build a structure for output class {getattr(kind, '__name__', kind)!r}")
