"""The former names of specs in tf.data.experimental, whose type comes before the shape."""

from __future__ import annotations

from weft.datasets.optional import OptionalSpec
from weft.framework.composites.sparse_tensor_spec import SparseTensorSpec
from weft.framework.composites.tensor_spec import TensorSpec
from weft.ops.control_flow.tensor_array_spec import TensorArraySpec
from weft.ops.ragged.spec import RaggedTensorSpec

OptionalStructure = OptionalSpec


def TensorStructure(dtype: object, shape: object) -> TensorSpec:
    """A TensorSpec.

    Args:
        dtype: the dtype.
        shape: the shape, perhaps partly known.
    """
    return TensorSpec(shape, dtype)


def SparseTensorStructure(dtype: object, shape: object) -> SparseTensorSpec:
    """A SparseTensorSpec.

    Args:
        dtype: the type of the values.
        shape: the shape, perhaps partly known.
    """
    return SparseTensorSpec(shape, dtype)


def RaggedTensorStructure(dtype: object, shape: object, ragged_rank: int) -> RaggedTensorSpec:
    """A RaggedTensorSpec.

    Args:
        dtype: the type of the values.
        shape: the shape, None for sizes that differ.
        ragged_rank: how many dimensions are partitioned into rows.
    """
    return RaggedTensorSpec(shape, dtype, ragged_rank)


def TensorArrayStructure(dtype: object, element_shape: object, dynamic_size: bool, infer_shape: bool) -> TensorArraySpec:
    """A TensorArraySpec.

    Args:
        dtype: the elements' type.
        element_shape: their shape, perhaps partly known.
        dynamic_size: whether the array grows.
        infer_shape: whether all elements have one shape.
    """
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)
