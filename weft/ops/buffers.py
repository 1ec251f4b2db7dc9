"""Buffers: the values behind TensorArrays, `[size, ...element]` tensors that are written element by element.

A buffer whose elements' shape is not known yet is `[size, 0]`; the first write gives it its shape. On the host a buffer of
elements that differ in shape is a vector of arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework import dtypes
from weft.framework.constant_value import constant_value
from weft.framework.dtypes import DType
from weft.framework.operation import Operation
from weft.framework.tensor_shape import Dims
from weft.ops.declaration import op, unknown
from weft.ops.filling import zeros_like
from weft.ops.shape_ops import reshape, shape


def is_unshaped(flow: Any) -> bool:
    """Whether the buffer's elements have no shape yet."""
    return len(flow.shape) == 2 and flow.shape[1] == 0


def _is_ragged(flow: Any, dtype: Any) -> bool:
    return isinstance(flow, np.ndarray) and flow.dtype == object and np.dtype(dtype) != object


def _new_shape(node: Operation) -> list[Dims]:
    element = node.attrs["element_shape"]
    if element is None or None in element:
        return [None]
    size = constant_value(node.inputs[0])
    return [(None if size is None else int(size), *element)]


@op("TensorBuffer", "size: int32 -> flow: dtype", infer=_new_shape, gradient=None, static=("size",))
def new_buffer(xp, size, *, dtype: DType, element_shape: Dims = None):
    """A buffer of zeros."""
    element = (0,) if element_shape is None or None in element_shape else element_shape
    if dtype is dtypes.string:
        return np.full((int(size), *element), b"", object)
    return xp.zeros((int(size), *element), dtype.as_numpy_dtype)


def _check_index(index: int, size: int, verb: str) -> None:
    if not 0 <= index < size:
        resizable = "" if verb == "read" else "array is not resizeable and "
        what = (
            f"Tried to read from index {index} but array size is: {size}"
            if verb == "read"
            else (f"Tried to write to index {index} but {resizable}size is: {size}")
        )
        raise InvalidArgumentError(None, None, f"TensorArray: {what}")


def _written(flow: Any, index: int, value: Any) -> Any:
    """A copy of the buffer with one element replaced."""
    value = np.asarray(value)
    if _is_ragged(flow, value.dtype):
        result = flow.copy()
        result[index] = value
    elif is_unshaped(flow) and value.shape != (0,):
        result = np.zeros((flow.shape[0], *value.shape), value.dtype)
        result[index] = value
    elif flow.shape[1:] == value.shape:
        result = flow.copy()
        result[index] = value
    else:
        result = np.empty(flow.shape[0], object)
        result[:] = list(flow)
        result[index] = value
    return result


def _write_gradient(node: Operation, grad: Any) -> list[Any]:
    _, index, value = node.inputs
    return [buffer_write(grad, index, zeros_like(value)), None, buffer_read(grad, index)]


@op("BufferWrite", "flow: T, index: int32, value: T -> output: T", infer=lambda node: [_merged(node)], gradient=_write_gradient)
def buffer_write(xp, flow, index, value):
    """The buffer with one element replaced."""
    if xp is np:
        _check_index(int(index), flow.shape[0], "write")
        return _written(flow, int(index), value)
    if is_unshaped(flow) and value.shape != (0,):
        flow = xp.zeros((flow.shape[0], *value.shape), value.dtype)
    return xp.asarray(flow).at[index].set(value)


def _merged(node: Operation) -> Dims:
    dims = node.inputs[0]._dims
    return None if dims is None else dims


def _grow_gradient(node: Operation, grad: Any) -> list[Any]:
    flow, index, value = node.inputs
    cleared = buffer_write(grad, index, zeros_like(value))
    return [cleared[: shape(flow)[0]], None, buffer_read(grad, index)]


@op("GrowingBufferWrite", "flow: T, index: int32, value: T -> output: T", infer=unknown, gradient=_grow_gradient)
def growing_buffer_write(ctx, flow, index, value):
    """The buffer with one element replaced; it grows to hold the index."""
    missing = int(index) + 1 - flow.shape[0]
    if missing > 0:
        more = np.empty(missing, object) if _is_ragged(flow, value.dtype) else np.zeros((missing, *flow.shape[1:]), flow.dtype)
        flow = np.concatenate([flow, more])
    _check_index(int(index), flow.shape[0], "write")
    return _written(flow, int(index), value)


def _element(node: Operation) -> list[Dims]:
    dims = node.inputs[0]._dims
    return [None if dims is None else dims[1:]]


def _read_gradient(node: Operation, grad: Any) -> list[Any]:
    flow, index = node.inputs
    return [buffer_write(zeros_like(flow), index, grad), None]


@op("BufferRead", "flow: T, index: int32 -> value: T", infer=_element, gradient=_read_gradient)
def buffer_read(xp, flow, index):
    """One element of the buffer."""
    if xp is not np:
        return xp.asarray(flow)[index]
    _check_index(int(index), flow.shape[0], "read")
    if is_unshaped(flow):
        raise InvalidArgumentError(None, None, f"TensorArray: Could not read index {int(index)}: nothing has been written")
    return flow[int(index)]


def _scatter_gradient(node: Operation, grad: Any) -> list[Any]:
    _, indices, value = node.inputs
    return [buffer_scatter(grad, indices, zeros_like(value)), None, buffer_gather(grad, indices)]


@op("BufferScatter", "flow: T, indices: int32, value: T -> output: T", infer=lambda node: [_merged(node)],
    gradient=_scatter_gradient)  # fmt: skip
def buffer_scatter(xp, flow, indices, value):
    """The buffer with the elements at `indices` replaced by those of `value`."""
    if is_unshaped(flow) and value.shape[1:] != (0,):
        flow = xp.zeros((flow.shape[0], *value.shape[1:]), value.dtype)
    if xp is not np:
        return xp.asarray(flow).at[indices].set(value)
    for index in indices:
        _check_index(int(index), flow.shape[0], "write")
    result = flow.copy()
    result[indices] = value
    return result


def _gathered(node: Operation) -> list[Dims]:
    dims, indices = node.inputs[0]._dims, node.inputs[1]._dims
    return [None if dims is None or indices is None else (*indices, *dims[1:])]


@op("BufferGather", "flow: T, indices: int32 -> value: T", infer=_gathered,
    gradient=lambda node, grad: [buffer_scatter(zeros_like(node.inputs[0]), node.inputs[1], grad), None])  # fmt: skip
def buffer_gather(xp, flow, indices):
    """The elements at `indices`, stacked."""
    if xp is np:
        for index in indices:
            _check_index(int(index), flow.shape[0], "read")
    return flow[indices]


def _concat_shape(node: Operation) -> list[Dims]:
    dims = node.inputs[0]._dims
    if dims is None or len(dims) < 2:
        return [None]
    count = None if dims[0] is None or dims[1] is None else dims[0] * dims[1]
    return [(count, *dims[2:])]


@op("BufferConcat", "flow: T -> value: T", infer=_concat_shape,
    gradient=lambda node, grad: [reshape(grad, shape(node.inputs[0]))])  # fmt: skip
def buffer_concat(xp, flow):
    """The elements one after the other along their first dimension."""
    if isinstance(flow, np.ndarray) and flow.dtype == object and flow.ndim == 1 and flow.size:
        return np.concatenate([np.asarray(each) for each in flow])
    if len(flow.shape) < 2:
        raise InvalidArgumentError(None, None, "TensorArray: Concat saw a scalar shape; its elements must be vectors at least")
    return xp.reshape(flow, (flow.shape[0] * flow.shape[1], *flow.shape[2:]))


def _split_gradient(node: Operation, grad: Any) -> list[Any]:
    return [reshape(grad, shape(node.inputs[0])), None]


@op("BufferSplit", "value: T, lengths: int32 -> flow: T", infer=unknown, gradient=_split_gradient, static=("lengths",))
def buffer_split(xp, value, lengths):
    """A buffer of the parts of `value`, which are that long."""
    sizes = [int(length) for length in np.ravel(lengths)]
    if sum(sizes) != value.shape[0]:
        raise InvalidArgumentError(
            None, None, f"TensorArray: Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
            f"{sum(sizes)} and value's shape is: {list(value.shape)}"
        )  # fmt: skip
    if len(set(sizes)) <= 1:
        return xp.reshape(value, (len(sizes), sizes[0] if sizes else 0, *value.shape[1:]))
    result = np.empty(len(sizes), object)
    result[:] = np.split(np.asarray(value), np.cumsum(sizes)[:-1])
    return result
