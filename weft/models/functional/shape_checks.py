"""Tensors that have the shape which is expected of them: checked while building where it is known, in the run otherwise."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import ShapeLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.identity import identity
from weft.ops.array.shape_ops import rank, reshape, shape, size
from weft.ops.control_flow.assertion import assert_that
from weft.ops.control_flow.cond import cond
from weft.ops.math.comparison import equal, logical_or
from weft.ops.math.elementwise import add_n
from weft.ops.math.reduce_functions import reduce_all, reduce_sum


def with_same_shape(expected_tensor: Tensor, tensor: Tensor) -> Tensor:
    """A tensor that has the shape of another: itself, or one whose run fails with InvalidArgumentError where it has not.

    Args:
        expected_tensor: the tensor whose shape is expected.
        tensor: the tensor to check.

    Raises:
        ValueError: the shapes are known to differ.
    """
    known = expected_tensor.shape
    return with_shape(known.as_list() if known.is_fully_defined() else shape(expected_tensor), tensor)


def with_shape(expected_shape: ShapeLike | Tensor, tensor: Tensor) -> Tensor:
    """A tensor that has an expected shape: itself, or one whose run fails with InvalidArgumentError where it has another.

    Args:
        expected_shape: the sizes, -1 for any, or an int32 tensor of them.
        tensor: the tensor; of one element it is made a scalar if one is expected.

    Raises:
        ValueError: the shape is known to be another, or the expected one is no vector of int32.
    """
    if isinstance(tensor, SparseTensor):
        raise ValueError("SparseTensor not supported.")
    expected = _checked(expected_shape, tensor)
    if isinstance(expected, list) and tensor.shape.is_fully_defined():
        return _known(expected, tensor)
    with get_default_graph().name_scope(f"{tensor.op.name}/"):
        if expected == []:
            return reshape(tensor, [])
        with get_default_graph().control_dependencies([_assertion(expected, tensor)]):
            made = identity(tensor)
        if isinstance(expected, list):
            made.set_shape([None if each == -1 else each for each in expected])
        return made


def _checked(expected: ShapeLike | Tensor, tensor: Tensor) -> list[int] | Tensor:
    """The expected sizes as a list, where they are no tensor."""
    if isinstance(expected, Tensor):
        if expected.dtype.base_dtype != dtypes.int32:
            raise ValueError(f"Invalid dtype {expected.dtype} for shape {expected} expected of tensor {tensor.name}.")
        return expected
    if isinstance(expected, TensorShape):
        return [-1 if each is None else each for each in expected.as_list()]
    sizes = np.asarray(expected)
    if sizes.ndim > 1:
        raise ValueError(f"Invalid rank {sizes.ndim} for shape {expected} expected of tensor {tensor.name}.")
    if sizes.size and sizes.dtype.kind != "i":
        raise ValueError(f"Invalid dtype {sizes.dtype} for shape {expected} expected of tensor {tensor.name}.")
    return [int(each) for each in sizes.reshape(-1)]


def _known(expected: list[int], tensor: Tensor) -> Tensor:
    found = tensor.shape
    if found.is_compatible_with([None if each == -1 else each for each in expected]):
        return tensor
    if not expected and found.is_compatible_with([1]):
        with get_default_graph().name_scope(f"{tensor.op.name}/"):
            return reshape(tensor, [])
    raise ValueError(f"Invalid shape for tensor {tensor.name}, expected {expected}, got {found}.")


def _assertion(expected: list[int] | Tensor, tensor: Tensor) -> Operation:
    wanted, found = convert_to_tensor(expected, dtypes.int32), shape(tensor)
    # Sizes can be compared only where there are equally many.
    fits = cond(
        equal(rank(tensor), size(wanted)),
        lambda: reduce_all(logical_or(equal(wanted, -1), equal(wanted, found))), lambda: convert_to_tensor(False),
    )  # fmt: skip
    return assert_that(fits, [f"Wrong shape for {tensor.name} [expected] [actual].", wanted, found])


def reduce_sum_n(tensors: list[Tensor], name: str | None = None) -> Tensor:
    """The sum of all elements of all tensors, a [] tensor.

    Args:
        tensors: a list of number tensors of one dtype, of any shapes.
        name: the name scope.

    Raises:
        ValueError: there are no tensors.
    """
    if not tensors:
        raise ValueError("No tensors provided.")
    with get_default_graph().name_scope(name or "reduce_sum_n"):
        sums = [reduce_sum(each, name=f"{each.op.name}/sum") for each in tensors]
        return sums[0] if len(sums) == 1 else add_n(sums)
