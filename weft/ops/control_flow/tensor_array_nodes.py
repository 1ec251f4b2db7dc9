"""TensorArrayV3 and its family, as graphs made by TensorFlow have them: a handle, and a `flow` that orders its uses."""

from __future__ import annotations

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.control_flow.pieces import pieces_of
from weft.ops.control_flow.tensor_array_state import HeldTensorArray
from weft.ops.declaration import no_outputs, op, scalar_shape, unknown
from weft.ops.held_objects import handle_of, held

_FLOW = np.float32(0)


def _array(handle: Array) -> HeldTensorArray:
    return held(handle, HeldTensorArray)


def _pair(node: Operation) -> list[Dims]:
    return [(2,), ()]


@op("TensorArrayV3", "size: int32 -> handle: resource, flow: float32", infer=_pair, gradient=None, stateful=True, at_once=True)
def tensor_array_v3(
    ctx: OpContext, size: Array, *, dtype: DType, element_shape: Dims = None, dynamic_size: bool = False,
    clear_after_read: bool = True, identical_element_shapes: bool = False, tensor_array_name: str = "",
) -> tuple[Result, Result]:  # fmt: skip
    """An array of `size` elements that have no values yet: `scalar int32 -> scalar resource, scalar float32`."""
    if int(size) < 0:
        raise InvalidArgumentError.of(f"Size should be >= 0, found {int(size)}: TensorArray {ctx.node_name!r}")
    made = HeldTensorArray(
        tensor_array_name or ctx.node_name, dtype, int(size), element_shape, dynamic_size, clear_after_read,
        identical_element_shapes,
    )  # fmt: skip
    return handle_of(made), _FLOW


@op("TensorArrayGradV3", "handle: resource, flow_in: float32 -> grad_handle: resource, flow_out: float32", infer=_pair,
    gradient=None, stateful=True, at_once=True)  # fmt: skip
def tensor_array_grad_v3(ctx: OpContext, handle: Array, flow_in: Array, *, source: str) -> tuple[Result, Result]:
    """The array of the gradients of an array's elements, one for each `source`.

    `scalar resource, scalar float32 -> scalar resource, scalar float32`
    """
    return handle_of(_array(handle).gradient(source)), _FLOW


@op("TensorArrayGradWithShape",
    "handle: resource, flow_in: float32, shape_to_prepend: int32 -> grad_handle: resource, flow_out: float32", infer=_pair,
    gradient=None, stateful=True, at_once=True)  # fmt: skip
def tensor_array_grad_with_shape(
    ctx: OpContext, handle: Array, flow_in: Array, shape_to_prepend: Array, *, source: str
) -> tuple[Result, Result]:
    """The array of gradients whose elements have further dimensions before those of the array's own.

    `scalar resource, scalar float32, [n] int32 -> scalar resource, scalar float32`
    """
    return handle_of(_array(handle).gradient(source, [int(size) for size in shape_to_prepend])), _FLOW


@op("TensorArrayWriteV3", "handle: resource, index: int32, value: T, flow_in: float32 -> flow_out: float32",
    infer=scalar_shape, gradient=None, stateful=True, at_once=True)  # fmt: skip
def tensor_array_write_v3(ctx: OpContext, handle: Array, index: Array, value: Array, flow_in: Array, *, T: DType) -> Result:
    """Write an element: `scalar resource, scalar int32, [*element], scalar float32 -> scalar float32`."""
    _array(handle).write(int(index), np.array(value), T)
    return _FLOW


@op("TensorArrayReadV3", "handle: resource, index: int32, flow_in: float32 -> value: dtype", infer=unknown, gradient=None,
    stateful=True, at_once=True)  # fmt: skip
def tensor_array_read_v3(ctx: OpContext, handle: Array, index: Array, flow_in: Array, *, dtype: DType) -> Result:
    """An element: `scalar resource, scalar int32, scalar float32 -> [*element]`."""
    return _array(handle).read(int(index), dtype)


def _gathered(node: Operation) -> list[Dims]:
    element, indices = node.attrs["element_shape"], node.inputs[1].dims
    return [None if element is None else (indices[0] if indices else None, *element)]


@op("TensorArrayGatherV3", "handle: resource, indices: int32, flow_in: float32 -> value: dtype", infer=_gathered,
    gradient=None, stateful=True, at_once=True)  # fmt: skip
def tensor_array_gather_v3(
    ctx: OpContext, handle: Array, indices: Array, flow_in: Array, *, dtype: DType, element_shape: Dims = None
) -> Result:
    """Elements of one shape, joined: `scalar resource, [n] int32, scalar float32 -> [n, *element]`."""
    values = _array(handle).read_all([int(index) for index in indices], dtype)
    return np.stack(values) if values else _array(handle).empty(element_shape)


@op("TensorArrayScatterV3", "handle: resource, indices: int32, value: T, flow_in: float32 -> flow_out: float32",
    infer=scalar_shape, gradient=None, stateful=True, at_once=True)  # fmt: skip
def tensor_array_scatter_v3(ctx: OpContext, handle: Array, indices: Array, value: Array, flow_in: Array, *, T: DType) -> Result:
    """Write the parts of a tensor as elements.

    `scalar resource, [n] int32, [n, *element], scalar float32 -> scalar float32`
    """
    if len(indices) != len(value):
        raise InvalidArgumentError.of(
            f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. {len(value)}: {ctx.node_name}"
        )
    array = _array(handle)
    for index, part in zip(indices, value, strict=True):
        array.write(int(index), np.array(part), T)
    return _FLOW


@op("TensorArrayConcatV3", "handle: resource, flow_in: float32 -> value: dtype, lengths: int64",
    infer=lambda node: [None, (None,)], gradient=None, stateful=True, at_once=True)  # fmt: skip
def tensor_array_concat_v3(
    ctx: OpContext, handle: Array, flow_in: Array, *, dtype: DType, element_shape_except0: Dims = None
) -> tuple[Result, Result]:
    """All elements, one behind the other, and the length of each.

    `scalar resource, scalar float32 -> [sum of lengths, *part], [n] int64`
    """
    array = _array(handle)
    values = [array.read(index, dtype) for index in range(len(array))]
    if not values:
        first = None if element_shape_except0 is None else (0, *element_shape_except0)
        return array.empty(first)[:, 0] if first else array.empty(None), np.zeros(0, np.int64)
    if any(value.ndim == 0 for value in values):
        raise InvalidArgumentError.of(f"Concat saw a scalar shape in {ctx.node_name}; elements have to be vectors at least")
    return np.concatenate(values), np.array([len(value) for value in values], np.int64)


@op("TensorArraySplitV3", "handle: resource, value: T, lengths: int64, flow_in: float32 -> flow_out: float32",
    infer=scalar_shape, gradient=None, stateful=True, at_once=True)  # fmt: skip
def tensor_array_split_v3(ctx: OpContext, handle: Array, value: Array, lengths: Array, flow_in: Array, *, T: DType) -> Result:
    """Write pieces of a tensor as elements.

    `scalar resource, [sum of lengths, *part], [n] int64, scalar float32 -> scalar float32`
    """
    pieces = pieces_of(value, lengths, ctx.node_name)
    array = _array(handle)
    array.set_size(len(pieces))
    for index, piece in enumerate(pieces):
        array.write(index, piece, T)
    return _FLOW


@op("TensorArraySizeV3", "handle: resource, flow_in: float32 -> size: int32", infer=scalar_shape, gradient=None,
    stateful=True, at_once=True)  # fmt: skip
def tensor_array_size_v3(ctx: OpContext, handle: Array, flow_in: Array) -> Result:
    """The number of elements: `scalar resource, scalar float32 -> scalar int32`."""
    return np.int32(len(_array(handle)))


@op("TensorArrayCloseV3", "handle: resource ->", infer=no_outputs, gradient=None, stateful=True, at_once=True)
def tensor_array_close_v3(ctx: OpContext, handle: Array) -> tuple[()]:
    """Nothing: an array ends with the last holder of its handle. `scalar resource ->`"""
    return ()
