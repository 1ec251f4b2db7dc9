"""Resource variables as graph nodes: handles, and the ops that read and replace the values behind them.

The runtime hands kernels the value behind the handle, as it does for mutable tensors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result
from weft.framework.building.op_context import OpContext
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.framework.types.dtypes import DType
from weft.ops.array.constant import constant
from weft.ops.array.gather_scatter import scatter_nd_node
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims, reshape, size
from weft.ops.declaration import Role, no_outputs, not_differentiable, op, scalar_shape
from weft.ops.handle_shapes import check_handle_type, handle_shape
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import NUMBERS
from weft.ops.state.reference_state import INDICES, check_update, raised_by_one
from weft.ops.state.scatter_update import check_position_inputs, check_positions, check_rows


@op("VarHandleOp", "-> resource: resource", role=Role.VARIABLE, infer=scalar_shape, gradient=None, stateful=True)
def var_handle_op(
    *, container: str = "", shared_name: str = "", debug_name: str = "", dtype: DType, shape: Dims,
    allowed_devices: list[str] = [],  # noqa: B006 - a declaration, which nobody changes
) -> Result:  # fmt: skip
    """A handle of a variable's slot; the runtime binds it by container and name, so there is nothing to compute.

    `-> scalar resource`
    """


def _value_shape(node: Operation) -> list[Dims]:
    return [handle_shape(node.inputs[0])]


@op("ReadVariableOp", "resource: resource -> value: dtype", role=Role.READ,
    infer=_value_shape, stateful=True, reads=("resource",),
    gradient=lambda node, grad: [grad])  # fmt: skip
def read_variable_op(xp: ArrayModule, resource: Array, *, dtype: DType) -> Result:
    """The value of the variable: `scalar resource -> [...]`."""
    return resource


def _same_shape(node: Operation) -> list[Dims]:
    """There are no outputs; ValueError where the value cannot have the variable's shape."""
    merge_dims(handle_shape(node.inputs[0]), node.inputs[1].dims)
    return []


@op("AssignVariableOp", "resource: resource, value: dtype ->", role=Role.ASSIGNMENT,
    infer=_same_shape, gradient=None, stateful=True,
    updates=("resource",), allows_uninitialized=True)  # fmt: skip
def assign_variable_op(resource: Array, value: Array, *, dtype: DType, validate_shape: bool = False) -> Array:
    """The value, which becomes that of the variable: `scalar resource, [...] ->`."""
    return value


@op("AssignAddVariableOp", "resource: resource, value: dtype ->", infer=_same_shape, gradient=None, stateful=True,
    updates=("resource",), types={"dtype": NUMBERS})  # fmt: skip
def assign_add_variable_op(resource: Array, value: Array, *, dtype: DType) -> Array:
    """The variable plus the value: `scalar resource, [...] ->`."""
    check_update(resource, value)
    return resource + value


@op("AssignSubVariableOp", "resource: resource, value: dtype ->", infer=_same_shape, gradient=None, stateful=True,
    updates=("resource",), types={"dtype": NUMBERS})  # fmt: skip
def assign_sub_variable_op(resource: Array, value: Array, *, dtype: DType) -> Array:
    """The variable minus the value: `scalar resource, [...] ->`."""
    check_update(resource, value)
    return resource - value


@op("DisableCopyOnRead", "resource: resource ->", infer=no_outputs, gradient=None, stateful=True, reads=("resource",),
    allows_uninitialized=True)  # fmt: skip
def disable_copy_on_read(ctx: OpContext, resource: Array) -> None:
    """Nothing: a read of a variable copies nothing here. `scalar resource ->`."""


@op("VarIsInitializedOp", "resource: resource -> is_initialized: bool", role=Role.PROBE,
    infer=scalar_shape, gradient=not_differentiable,
    stateful=True, at_once=True, reads=("resource",), allows_uninitialized=True)  # fmt: skip
def var_is_initialized_op(ctx: OpContext, resource: Array) -> Result:
    """Whether the variable has a value: `scalar resource -> scalar bool`."""
    return resource is not None


def _rank_of_value(node: Operation) -> list[Dims]:
    shape = handle_shape(node.inputs[0])
    return [(None,) if shape is None else (len(shape),)]


@op("VariableShape", "input: resource -> output: out_type", infer=_rank_of_value, gradient=not_differentiable, stateful=True,
    reads=("input",), types={"out_type": INDICES})  # fmt: skip
def variable_shape_node(xp: ArrayModule, input: Array, *, out_type: DType = dtypes.int32) -> Result:
    """The shape of the value: `scalar resource -> [rank]`."""
    return np.asarray(input.shape, out_type.as_numpy_dtype)


def variable_shape(handle: Tensor) -> Tensor:
    """The shape of the variable behind a handle, as a constant when it is known."""
    shape = handle_shape(handle)
    if shape is None or None in shape:
        return variable_shape_node(handle)
    return constant([size for size in shape if size is not None], dtypes.int32)


def _gathered(node: Operation) -> list[Dims]:
    check_handle_type(node.inputs[0], node.attrs["dtype"])
    shape, indices = handle_shape(node.inputs[0]), node.inputs[1].dims
    batch = node.attrs["batch_dims"]
    if shape is not None and len(shape) <= batch:
        raise ValueError(f"Shape must be at least rank {batch + 1} but is rank {len(shape)}")
    if shape is None or indices is None:
        return [None]
    return [shape[:batch] + indices[batch:] + shape[batch + 1 :]]


def _gather_gradient(node: Operation, grad: Tensor) -> Gradients:
    handle, indices = node.inputs
    shape: Any = variable_shape(handle)
    count = expand_dims(size(indices), 0)
    values = reshape(grad, concat([count, shape[1:]], 0))
    return [IndexedSlices(values, reshape(indices, count), shape), None]


def _check_gathered(node: Operation, variable: Array, indices: Array) -> None:
    if variable is not None and indices is not None:
        check_rows(indices, variable.shape[node.attrs["batch_dims"]])


@op("ResourceGather", "resource: resource, indices: Tindices -> output: dtype", infer=_gathered, stateful=True,
    gradient=_gather_gradient, reads=("resource",), by_row=True, check=_check_gathered,
    types={"Tindices": INDICES})  # fmt: skip
def resource_gather(
    xp: ArrayModule, resource: Array, indices: Array, *, batch_dims: int = 0, validate_indices: bool = True,
    dtype: DType,
) -> Result:  # fmt: skip
    """The rows of the variable that the indices name: `scalar resource, [...] -> [..., *inner]`."""
    if xp is np and indices.size:
        check_rows(indices, resource.shape[batch_dims])
    if not batch_dims:
        return xp.take(resource, indices, axis=0)
    shape = indices.shape + (1,) * (resource.ndim - batch_dims - 1)
    spread = indices.reshape((*indices.shape[:batch_dims], -1, *shape[indices.ndim :]))
    rows = xp.take_along_axis(resource, spread, axis=batch_dims)
    return rows.reshape(resource.shape[:batch_dims] + indices.shape[batch_dims:] + resource.shape[batch_dims + 1 :])


def _gathered_nd(node: Operation) -> list[Dims]:
    check_handle_type(node.inputs[0], node.attrs["dtype"])
    shape, indices = handle_shape(node.inputs[0]), node.inputs[1].dims
    if shape is None or indices is None or indices[-1] is None:
        return [None]
    return [indices[:-1] + shape[indices[-1] :]]


def _gather_nd_gradient(node: Operation, grad: Tensor) -> Gradients:
    handle, indices = node.inputs
    shape: Any = variable_shape(handle)
    if indices.dims is not None and len(indices.dims) == 2 and indices.dims[-1] == 1:
        return [IndexedSlices(grad, reshape(indices, [-1]), shape), None]
    return [scatter_nd_node(indices, grad, cast(shape, indices.dtype)), None]


@op("ResourceGatherNd", "resource: resource, indices: Tindices -> output: dtype", infer=_gathered_nd, stateful=True,
    gradient=_gather_nd_gradient, reads=("resource",), by_row=True, check=check_position_inputs,
    types={"Tindices": INDICES})  # fmt: skip
def resource_gather_nd(xp: ArrayModule, resource: Array, indices: Array, *, dtype: DType) -> Result:
    """The parts of the variable that the rows of the indices name.

    `scalar resource, [..., depth] -> [..., *inner]`
    """
    if xp is np:
        check_positions(indices, resource.shape)
    if not indices.shape[-1]:
        return xp.broadcast_to(resource, (*indices.shape[:-1], *resource.shape))
    return resource[tuple(indices[..., axis] for axis in range(indices.shape[-1]))]


def _counted(node: Operation) -> list[Dims]:
    check_handle_type(node.inputs[0], node.attrs["T"])
    return [()]


@op("ResourceCountUpTo", "resource: resource -> output: T", infer=_counted, gradient=None, stateful=True,
    updates=("resource",), types={"T": INDICES})  # fmt: skip
def resource_count_up_to(ctx: OpContext, resource: Array, *, limit: int, T: DType) -> Array:
    """The counter before it is raised by one, in one locked update; OutOfRangeError at the limit.

    `scalar resource -> scalar`
    """
    return raised_by_one(resource, limit)
