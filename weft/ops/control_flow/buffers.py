"""Buffers: the values behind TensorArrays, `[size, ...element]` tensors that are written element by element.

A buffer whose elements' shape is not known yet is `[size, 0]`; the first write gives it its shape. On the host a buffer of
elements that differ in shape is a vector of arrays, and marks tell which elements were written and read.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from weft.errors import InvalidArgumentError, UnimplementedError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import RowAccess
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.filling import zeros_like, zeros_of_objects
from weft.ops.array.shape_ops import shape
from weft.ops.control_flow.buffer_marks import marked, marks_of, new_marks, note_read, note_written, unmarked
from weft.ops.declaration import definition_of, not_differentiable, op, same_as_input, unknown
from weft.ops.math.elementwise import add
from weft.ops.traced_checks import note_wrong, rows_in_run
from weft.platform.imports.jax_modules import lax

_READ: Final = RowAccess("flow", is_checked=True)
_WRITTEN: Final = RowAccess("flow", keeps=True, is_checked=True)
_KEPT: Final = RowAccess("flow", keeps=True)


def is_unshaped(flow: Array) -> bool:
    """Whether the buffer's elements have no shape yet."""
    return len(flow.shape) == 2 and flow.shape[1] == 0


def _is_ragged(flow: Array, dtype: Array) -> bool:
    return isinstance(flow, np.ndarray) and flow.dtype == object and np.dtype(dtype) != object


def _new_shape(node: Operation) -> list[Dims]:
    element = node.attrs["element_shape"]
    if element is None or None in element:
        return [None]
    size = constant_value(node.inputs[0])
    return [(None if size is None else int(size), *element)]


def check_size(size: Array, name: str) -> None:
    """Raise InvalidArgumentError when no array can have that many elements."""
    if size < 0:
        raise InvalidArgumentError.of(f"Size should be >= 0. TensorArray {name!r} was made with size={int(size)}.")


@op("TensorBuffer", "size: int32 -> flow: dtype", infer=_new_shape, gradient=None, stateful=True, static=("size",))
def new_buffer(
    xp: ArrayModule,
    size: Array,
    *,
    dtype: DType,
    element_shape: Dims = None,
    clear_after_read: bool = True,
    tensor_array_name: str = "",
) -> Result:
    """A buffer of zeros: `scalar int32 -> [size, *element]`."""
    check_size(size, tensor_array_name)
    element: Any = (0,) if element_shape is None or None in element_shape else element_shape
    if dtype is dtypes.string:
        flow: Any = np.full((int(size), *element), b"", np.object_)
    else:
        flow = xp.zeros((int(size), *element), dtype.as_numpy_dtype)
    return marked(flow, new_marks(tensor_array_name, int(size), clear_after_read)) if xp is np else flow


@op("BufferUnstack", "value: T -> flow: T", infer=same_as_input, gradient=lambda node, grad: [grad], stateful=True)
def buffer_unstack(xp: ArrayModule, value: Array, *, clear_after_read: bool = True, tensor_array_name: str = "") -> Result:
    """A buffer of the parts of `value`, all of them written: `[size, *element] -> [size, *element]`."""
    if xp is not np:
        return value
    return marked(value, new_marks(tensor_array_name, value.shape[0], clear_after_read, is_written=True))


def _check_index(index: int, size: int, verb: str) -> None:
    if 0 <= index < size:
        return
    if verb == "read":
        raise InvalidArgumentError.of(f"TensorArray: Tried to read from index {index} but array size is: {size}")
    raise InvalidArgumentError.of(
        f"TensorArray: Tried to write to index {index} but array is not resizeable and size is: {size}. Indices begin with 0; "
        "dynamic_size=True lets it grow."
    )


def _written(flow: Array, index: int, value: Array) -> Array:
    """A copy of the buffer with one element replaced."""
    marks = marks_of(flow)
    takes_shape = is_unshaped(flow) and (marks is None or not marks.written.any())
    return note_written(flow, _with_element(unmarked(flow), index, np.asarray(value), takes_shape), (index,))


def _with_element(flow: Array, index: int, value: Array, takes_shape: bool) -> Array:
    if _is_ragged(flow, value.dtype):
        result = flow.copy()
        result[index] = value
        return result
    if takes_shape and value.shape != (0,):
        flow = np.full((flow.shape[0], *value.shape), b"" if value.dtype == object else 0, value.dtype)
    if flow.shape[1:] == value.shape:
        result = flow.copy()
        result[index] = value[()]
        return result
    result = np.empty(flow.shape[0], object)
    result[:] = list(flow)
    result[index] = value
    return result


@op("BufferZeros", "flow: T -> output: T", infer=same_as_input, gradient=not_differentiable, row_access=_KEPT)
def buffer_zeros(xp: ArrayModule, flow: Array) -> Result:
    """A buffer of zeros in the shapes of the elements: `[size, *element] -> [size, *element]`."""
    return _zeros_of(xp, flow)


def _zeros_of(xp: ArrayModule, flow: Array) -> Array:
    if xp is not np:
        return xp.zeros_like(flow)
    flow = unmarked(flow)
    return zeros_of_objects(flow) if flow.dtype == object else np.zeros_like(flow)


def _write_gradient(node: Operation, grad: Tensor) -> Gradients:
    _, index, value = node.inputs
    return [buffer_write(grad, index, zeros_like(value)), None, buffer_read(grad, index)]


@op("BufferWrite", "flow: T, index: int32, value: T -> output: T", infer=lambda node: [_merged(node)], gradient=_write_gradient,
    row_access=_WRITTEN)  # fmt: skip
def buffer_write(xp: ArrayModule, flow: Array, index: Array, value: Array) -> Result:
    """The buffer with one element replaced.

    `[size, *element], scalar int32, [*element] -> [size, *element]`
    """
    if xp is np:
        _check_index(int(index), flow.shape[0], "write")
        return _written(flow, int(index), value)
    note_wrong((index < 0) | (index >= rows_in_run(flow.shape[0])))
    if is_unshaped(flow):
        if value.shape == (0,):
            raise UnimplementedError.of("TensorArray: compiled code cannot tell an empty element from one that was not written")
        flow = xp.zeros((flow.shape[0], *value.shape), value.dtype)
    _check_shape(flow, value.shape)
    return xp.asarray(flow).at[index].set(value)


def _check_shape(flow: Array, element: tuple[int, ...]) -> None:
    """Refuse, while code is traced, to write an element of another shape: only a buffer of the host holds it."""
    if flow.shape[1:] != element:
        raise UnimplementedError.of(
            f"TensorArray: XLA has no array of elements of unlike shapes, {list(flow.shape[1:])} and {list(element)}"
        )


def _merged(node: Operation) -> Dims:
    dims = node.inputs[0].dims
    return None if dims is None else dims


def _grow_gradient(node: Operation, grad: Tensor) -> Gradients:
    flow, index, value = node.inputs
    cleared = buffer_write(grad, index, zeros_like(value))
    return [cleared[: shape(flow)[0]], None, buffer_read(grad, index)]


@op("GrowingBufferWrite", "flow: T, index: int32, value: T -> output: T", infer=unknown, gradient=_grow_gradient)
def growing_buffer_write(ctx: OpContext, flow: Array, index: Array, value: Array) -> Result:
    """The buffer with one element replaced; it grows to hold the index.

    `[size, *element], scalar int32, [*element] -> [new_size, *element]`
    """
    flow = _grown(flow, int(index) + 1, value.dtype)
    _check_index(int(index), flow.shape[0], "write")
    return _written(flow, int(index), value)


def _grown(flow: Array, size: int, dtype: Array) -> Array:
    """The buffer with at least that many elements."""
    missing = size - flow.shape[0]
    if missing <= 0:
        return flow
    marks = marks_of(flow)
    if _is_ragged(flow, dtype):
        more = np.empty(missing, object)
        more[:] = [np.zeros(0, dtype)] * missing
    else:
        more = np.full((missing, *flow.shape[1:]), b"" if flow.dtype == object else 0, flow.dtype)
    flow = np.concatenate([unmarked(flow), more])
    return flow if marks is None else marked(flow, marks.copy(flow.shape[0]))


def _element(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    return [None if dims is None else dims[1:]]


def _read_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [buffer_read_grad(*node.inputs, grad), None]


def _read_second_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [None, None, buffer_read(grad, node.inputs[1])]


@op("BufferReadGrad", "flow: T, index: int32, grad: T -> output: T", infer=same_as_input, gradient=_read_second_gradient,
    row_access=_KEPT)  # fmt: skip
def buffer_read_grad(xp: ArrayModule, flow: Array, index: Array, grad: Array) -> Result:
    """Zeros in the shapes of the buffer's elements, with the gradient of one that was read in its place.

    `[size, *element], scalar int32, [*element] -> [size, *element]`
    """
    return _zeros_and(xp, flow, index, grad)


def _zeros_and(xp: ArrayModule, flow: Array, index: Array, grad: Array) -> Array:
    result = _zeros_of(xp, flow)
    if xp is not np:
        return lax.dynamic_update_index_in_dim(result, grad, index, 0)
    result[int(index)] = grad
    return result


def _added_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [grad, None, buffer_read(grad, node.inputs[1])]


@op("BufferAddElement", "flow: T, index: int32, value: T -> output: T", infer=same_as_input, gradient=_added_gradient,
    row_access=_KEPT)  # fmt: skip
def buffer_add_element(xp: ArrayModule, flow: Array, index: Array, value: Array) -> Result:
    """The buffer with a value added to one element: `[size, *element], scalar int32, [*element] -> [size, *element]`."""
    if xp is not np:
        return lax.dynamic_update_index_in_dim(flow, flow[index] + value, index, 0)
    result = unmarked(flow).copy()
    result[int(index)] = result[int(index)] + value
    return result


def plus(total: Tensor, gradient: Tensor) -> Tensor:
    """The sum of two gradients: where the second is that of elements that were read, of no more than these.

    Else the gradients of a buffer from which a loop reads an element in each iteration would take as many additions of whole
    buffers.
    """
    op_def, inputs = gradient.op.op_def, gradient.op.inputs
    if op_def is definition_of(buffer_read_grad):
        return buffer_add_element(total, *inputs[1:])
    if op_def is definition_of(buffer_add_element):
        return buffer_add_element(plus(total, inputs[0]), *inputs[1:])
    return add(total, gradient)


@op("BufferRead", "flow: T, index: int32 -> value: T", infer=_element, gradient=_read_gradient, row_access=_READ)
def buffer_read(xp: ArrayModule, flow: Array, index: Array) -> Result:
    """One element of the buffer: `[size, *element], scalar int32 -> [*element]`."""
    if xp is not np:
        note_wrong((index < 0) | (index >= rows_in_run(flow.shape[0])))
        return xp.asarray(flow)[index]
    _check_index(int(index), flow.shape[0], "read")
    note_read(flow, (int(index),), has_shape(flow))
    return unmarked(flow)[int(index)]


def has_shape(flow: Array) -> bool:
    """Whether an element that was never written is zeros of a known shape."""
    return not is_unshaped(flow) and flow.dtype != object


def _stacked(node: Operation) -> list[Dims]:
    dims, element = node.inputs[0].dims, node.attrs["element_shape"]
    return [dims if element is None else (None if dims is None else dims[0], *element)]


@op("BufferStack", "flow: T -> value: T", infer=_stacked, gradient=lambda node, grad: [grad])
def buffer_stack(xp: ArrayModule, flow: Array, *, element_shape: Dims = None) -> Result:
    """All elements, of one shape, along a new first dimension: `[size, *element] -> [size, *element]`."""
    if xp is not np:
        return flow
    note_read(flow, range(flow.shape[0]), has_shape(flow))
    flow = unmarked(flow)
    if flow.shape[0] == 0 and is_unshaped(flow):
        return np.zeros((0, *_known_element(element_shape)), flow.dtype)
    if flow.dtype == object:
        _check_alike(flow)
    return flow


def _known_element(dims: Dims) -> tuple[int, ...]:
    known = [size for size in dims or () if size is not None]
    if dims is None or len(known) != len(dims):
        raise UnimplementedError.of(
            f"TensorArray has size zero, but element shape {TensorShape(dims)} is not fully defined. Currently "
            "only static shapes are supported when packing zero-size TensorArrays."
        )
    return tuple(known)


def _check_alike(flow: Array) -> None:
    shapes = [np.shape(each) for each in flow]
    other = next((number for number, shape in enumerate(shapes) if shape != shapes[0]), None)
    if other is not None:
        raise InvalidArgumentError.of(
            f"TensorArray has inconsistent shapes. Index 0 has shape: {list(shapes[0])} but index {other} has "
            f"shape: {list(shapes[other])}"
        )


def _scatter_gradient(node: Operation, grad: Tensor) -> Gradients:
    _, indices, value = node.inputs
    return [buffer_scatter(grad, indices, zeros_like(value)), None, buffer_gather(grad, indices)]


@op("BufferScatter", "flow: T, indices: int32, value: T -> output: T", infer=lambda node: [_merged(node)],
    gradient=_scatter_gradient, row_access=_WRITTEN)  # fmt: skip
def buffer_scatter(xp: ArrayModule, flow: Array, indices: Array, value: Array) -> Result:
    """The buffer with the elements at `indices` replaced by those of `value`.

    `[size, *element], [n] int32, [n, *element] -> [size, *element]`
    """
    old = flow
    if is_unshaped(flow) and value.shape[1:] != (0,):
        flow = xp.zeros((flow.shape[0], *value.shape[1:]), value.dtype)
    if xp is not np:
        note_wrong((indices < 0) | (indices >= rows_in_run(flow.shape[0])))
        _check_shape(flow, value.shape[1:])
        return xp.asarray(flow).at[indices].set(value)
    for index in indices:
        _check_index(int(index), flow.shape[0], "write")
    result = unmarked(flow).copy()
    result[indices] = value
    return note_written(old, result, indices.tolist())


def _grow_scatter_gradient(node: Operation, grad: Tensor) -> Gradients:
    flow, indices, value = node.inputs
    cleared = buffer_scatter(grad, indices, zeros_like(value))
    return [cleared[: shape(flow)[0]], None, buffer_gather(grad, indices)]


@op("GrowingBufferScatter", "flow: T, indices: int32, value: T -> output: T", infer=unknown, gradient=_grow_scatter_gradient)
def growing_buffer_scatter(ctx: OpContext, flow: Array, indices: Array, value: Array) -> Result:
    """The buffer with the elements at `indices` replaced by those of `value`; it grows to hold them.

    `[size, *element], [n] int32, [n, *element] -> [new_size, *element]`
    """
    for index in indices:
        _check_index(int(index), max(int(index) + 1, flow.shape[0]), "write")
    flow = _grown(flow, int(indices.max(initial=-1)) + 1, value.dtype)
    for index, each in zip(indices.tolist(), value, strict=True):
        flow = _written(flow, index, np.asarray(each))
    return flow


def _gathered(node: Operation) -> list[Dims]:
    dims, indices = node.inputs[0].dims, node.inputs[1].dims
    return [None if dims is None or indices is None else (*indices, *dims[1:])]


def _gather_second_gradient(node: Operation, grad: Tensor) -> Gradients:
    gathered: Tensor = buffer_gather(grad, node.inputs[1])
    return [None, None, gathered]


@op("BufferGatherGrad", "flow: T, indices: int32, grad: T -> output: T", infer=same_as_input,
    gradient=_gather_second_gradient, row_access=_KEPT)  # fmt: skip
def buffer_gather_grad(xp: ArrayModule, flow: Array, indices: Array, grad: Array) -> Result:
    """A buffer of what `grad` has for each element; one that was gathered several times gets the sum.

    `[size, *element], [n] int32, [n, *element] -> [size, *element]`
    """
    result = _zeros_of(xp, flow)
    if xp is not np:
        return result.at[indices].add(grad)
    if not holds_arrays(result):
        np.add.at(result, indices, grad)
        return result
    for index, each in zip(indices.tolist(), grad, strict=True):
        result[index] = result[index] + each
    return result


@op("BufferGather", "flow: T, indices: int32 -> value: T", infer=_gathered,
    gradient=lambda node, grad: [buffer_gather_grad(*node.inputs, grad), None], row_access=_READ)  # fmt: skip
def buffer_gather(xp: ArrayModule, flow: Array, indices: Array) -> Result:
    """The elements at `indices`, which are of one shape, stacked: `[size, *element], [n] int32 -> [n, *element]`."""
    if xp is not np:
        note_wrong((indices < 0) | (indices >= rows_in_run(flow.shape[0])))
        return flow[indices]
    for index in indices:
        _check_index(int(index), flow.shape[0], "read")
    note_read(flow, indices.tolist(), has_shape(flow))
    gathered = unmarked(flow)[indices]
    if not holds_arrays(gathered):
        return gathered
    _check_alike(gathered)
    return np.stack(gathered)


def holds_arrays(flow: Array) -> bool:
    """Whether a buffer of the host has elements that may differ in shape: a vector of arrays."""
    return bool(flow.dtype == object and flow.ndim == 1 and flow.size and np.ndim(flow[0]))
