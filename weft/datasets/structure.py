"""What elements are: structures of specs, one for each leaf, and elements as flat lists of tensors and back."""

from __future__ import annotations

from collections.abc import Sequence

from weft.datasets import nest
from weft.datasets.leaves import (
    as_leaf,
    batched_leaf,
    component,
    component_dims,
    leaf_of,
    leaf_spec,
    row_of_leaf,
    rows_component,
)
from weft.framework.building.aliases import Nest
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.composites.sparse_tensor_spec import SparseTensorSpec
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType, as_dtype
from weft.framework.types.type_spec import ShapedTypeSpec, TypeSpec


def spec_of(structure: Nest) -> Nest:
    """The specs of the leaves of an element; TypeError for a leaf that cannot be in one."""
    return nest.map_structure(leaf_spec, structure)


def normalized(element: Nest) -> Nest:
    """An element with tensors, sparse tensors or datasets for leaves."""
    with get_default_graph().name_scope("normalize_element"):
        leaves = [as_leaf(leaf, f"component_{number}") for number, leaf in enumerate(nest.flatten(element))]
    return nest.pack_sequence_as(element, leaves)


def flat_types(spec: Nest) -> list[DType]:
    """The types of the components: what is no tensor is a variant."""
    return [leaf.dtype if isinstance(leaf, TensorSpec) else dtypes.variant for leaf in nest.flatten(spec)]


def flat_shapes(spec: Nest) -> list[Dims]:
    """The shapes of the components."""
    return [component_dims(leaf) for leaf in nest.flatten(spec)]


def flat_attrs(spec: Nest) -> dict[str, Nest]:
    """The attributes by which a dataset's node tells of its elements."""
    return {"output_types": flat_types(spec), "output_shapes": flat_shapes(spec)}


def to_tensors(spec: Nest, element: Nest) -> list[Tensor]:
    """The components of an element."""
    nest.assert_same_structure(spec, element)
    pairs = zip(nest.flatten(spec), nest.flatten(element), strict=True)
    return [component(leaf_spec, leaf) for leaf_spec, leaf in pairs]


def to_batched_tensors(spec: Nest, element: Nest) -> list[Tensor]:
    """The components of an element whose rows are to be elements.

    Raises:
        ValueError: a component is a scalar, or what has no rows, such as a dataset.
    """
    pairs = zip(nest.flatten(spec), nest.flatten(element), strict=True)
    return [rows_component(leaf_spec, leaf) for leaf_spec, leaf in pairs]


def from_tensors(spec: Nest, tensors: Sequence[Tensor]) -> Nest:
    """The element that has these components."""
    leaves = [leaf_of(leaf, tensor) for leaf, tensor in zip(nest.flatten(spec), tensors, strict=True)]
    return nest.pack_sequence_as(spec, leaves)


def batched(spec: Nest, size: int | None) -> Nest:
    """The specs of batches."""
    return nest.map_structure(lambda leaf: batched_leaf(leaf, size), spec)


def unbatched(spec: Nest) -> Nest:
    """The specs of the rows; ValueError for a leaf without rows."""
    return nest.map_structure(row_of_leaf, spec)


def legacy_types(spec: Nest) -> Nest:
    """The types of the leaves; what has none, such as a dataset, is its own spec."""
    return nest.map_structure(lambda leaf: leaf.dtype if isinstance(leaf, ShapedTypeSpec) else leaf, spec)


def legacy_shapes(spec: Nest) -> Nest:
    """The shapes of the leaves; what has none, such as a dataset, is its own spec."""
    return nest.map_structure(lambda leaf: leaf.shape if isinstance(leaf, ShapedTypeSpec) else leaf, spec)


def legacy_classes(spec: Nest) -> Nest:
    """The classes of the leaves: Tensor, SparseTensor; what is neither is its own spec."""
    return nest.map_structure(_legacy_class, spec)


def _legacy_class(leaf: TypeSpec) -> TypeSpec | type:
    if isinstance(leaf, SparseTensorSpec):
        return SparseTensor
    return Tensor if isinstance(leaf, TensorSpec) else leaf


def spec_of_legacy(types: Nest, shapes: Nest = None, classes: Nest = None) -> Nest:
    """The specs that types, shapes and classes tell; unknown shapes and dense tensors where these are not given.

    Raises:
        TypeError: the structures differ, or a class is neither Tensor nor SparseTensor.
    """
    types = nest.map_structure(lambda kind: kind if isinstance(kind, TypeSpec) else as_dtype(kind), types)
    flat = nest.flatten(types)
    flat_dims = [None] * len(flat) if shapes is None else nest.flatten_up_to(types, shapes)
    flat_classes = [Tensor] * len(flat) if classes is None else nest.flatten_up_to(types, classes)
    leaves = [_legacy_leaf(*each) for each in zip(flat, flat_dims, flat_classes, strict=True)]
    return nest.pack_sequence_as(types, leaves)


def _legacy_leaf(dtype: Nest, shape: object, kind: Nest) -> Nest:
    for told in (dtype, kind):
        if isinstance(told, TypeSpec):
            return told
    if kind is SparseTensor:
        return SparseTensorSpec(shape, dtype)
    if kind is Tensor or (isinstance(kind, type) and issubclass(kind, Tensor)):
        return TensorSpec(shape, dtype)
    raise TypeError(f"Could not build a structure for output class {getattr(kind, '__name__', kind)!r}")
