"""Forms of the buffers behind TensorArrays: tensors of which one element is replaced after the other.

A buffer whose elements have no shape yet is `[size, 0]`; writing gives it the shape of what is written.
"""

from __future__ import annotations

from typing import Final

from weft.framework.building.graph_functions import control_dependencies
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.ops.array.constant import constant
from weft.ops.array.filling import fill, zero_of, zeros_like
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims, reshape, shape, size
from weft.ops.array.stacking import stack
from weft.ops.array.tensor_scatter import tensor_scatter_add_node, tensor_scatter_update_node
from weft.ops.control_flow import buffer_joins, buffers
from weft.ops.control_flow.assertion import assert_node
from weft.ops.control_flow.tensor_lists import empty_tensor_list, tensor_list_stack
from weft.ops.math.comparison import equal, less_equal, maximum, minimum
from weft.ops.math.elementwise import add, mul, sub
from weft.ops.math.reduce_functions import reduce_max, reduce_min, reduce_prod
from weft.ops.tensorflow_forms.form import form

_UNLIKE: Final = (
    "TensorArray has elements of several shapes, which only servers and sessions of weft hold together; the one to be written:"
)
_UNLIKE_PARTS: Final = (
    "TensorArray has elements of several shapes, which only servers and sessions of weft hold together; it is split by lengths:"
)


@form(buffers.new_buffer)
def _new(node: Operation, count: Tensor) -> Tensor:
    element, dtype = node.attrs["element_shape"], node.attrs["dtype"]
    if element is None and constant_value(node.inputs[0]) == 0:
        return _nothing(dtype)
    sizes = [0] if element is None else [size or 0 for size in element]
    return fill(stack([count, *sizes]), zero_of(dtype))


def _nothing(dtype: dtypes.DType) -> Tensor:
    """A buffer without elements, whose first size is not to be seen before the run.

    TensorFlow's optimizer takes what it knows to be empty before a loop, and to change its rank there, for empty behind it.
    """
    shape_of_none = constant([0])
    handle = empty_tensor_list(shape_of_none, constant(-1), element_dtype=dtype, name=None)
    made: Tensor = tensor_list_stack(handle, shape_of_none, element_dtype=dtype)
    return made


@form(buffers.buffer_unstack)
def _unstack(node: Operation, flow: Tensor) -> Tensor:
    return flow


@form(buffers.buffer_stack)
def _stack(node: Operation, flow: Tensor) -> Tensor:
    dims = node.outputs[0].dims
    if dims is None or None in dims[1:] or (flow.dims is not None and flow.dims[1:] == dims[1:]):
        return flow
    # One that nothing was written to has elements without a shape.
    return reshape(flow, concat([shape(flow)[:1], constant([size or 0 for size in dims[1:]], dtypes.int32)], 0))


@form(buffers.buffer_zeros)
def _zeros(node: Operation, flow: Tensor) -> Tensor:
    return zeros_like(flow)


@form(buffers.buffer_write)
def _write(node: Operation, flow: Tensor, index: Tensor, value: Tensor) -> Tensor:
    whole = flow if _is_shaped(flow.dims, value.dims) else _widened(flow, shape(flow)[0], shape(value))
    return _replaced(whole, reshape(index, [1]), expand_dims(value, 0))


@form(buffers.growing_buffer_write)
def _growing_write(node: Operation, flow: Tensor, index: Tensor, value: Tensor) -> Tensor:
    count = maximum(shape(flow)[0], add(index, 1))
    return _replaced(_widened(flow, count, shape(value)), reshape(index, [1]), expand_dims(value, 0))


@form(buffers.buffer_scatter)
def _scatter(node: Operation, flow: Tensor, indices: Tensor, value: Tensor) -> Tensor:
    element = None if value.dims is None else value.dims[1:]
    whole = flow if _is_shaped(flow.dims, element) else _widened(flow, shape(flow)[0], shape(value)[1:])
    return _replaced(whole, indices, value)


@form(buffers.growing_buffer_scatter)
def _growing_scatter(node: Operation, flow: Tensor, indices: Tensor, value: Tensor) -> Tensor:
    needed = add(reduce_max(concat([indices, [-1]], 0)), 1)
    return _replaced(_widened(flow, maximum(shape(flow)[0], needed), shape(value)[1:]), indices, value)


@form(buffers.buffer_read)
def _read(node: Operation, flow: Tensor, index: Tensor) -> Tensor:
    return gather(flow, index)


@form(buffers.buffer_read_grad)
def _read_grad(node: Operation, flow: Tensor, index: Tensor, grad: Tensor) -> Tensor:
    return _replaced(zeros_like(flow), reshape(index, [1]), expand_dims(grad, 0))


@form(buffers.buffer_add_element)
def _add_element(node: Operation, flow: Tensor, index: Tensor, value: Tensor) -> Tensor:
    added: Tensor = tensor_scatter_add_node(flow, expand_dims(reshape(index, [1]), 1), expand_dims(value, 0))
    return added


@form(buffers.buffer_gather)
def _gather(node: Operation, flow: Tensor, indices: Tensor) -> Tensor:
    return gather(flow, indices)


@form(buffers.buffer_gather_grad)
def _gather_grad(node: Operation, flow: Tensor, indices: Tensor, grad: Tensor) -> Tensor:
    added: Tensor = tensor_scatter_add_node(zeros_like(flow), expand_dims(indices, 1), grad)
    return added


@form(buffer_joins.buffer_concat)
def _concat(node: Operation, flow: Tensor) -> Tensor:
    sizes = shape(flow)
    return reshape(flow, concat([reshape(mul(sizes[0], sizes[1]), [1]), sizes[2:]], 0))


@form(buffer_joins.buffer_concat_grad)
def _concat_grad(node: Operation, flow: Tensor, grad: Tensor) -> Tensor:
    return reshape(grad, shape(flow))


@form(buffer_joins.buffer_split)
def _split(node: Operation, value: Tensor, lengths: Tensor) -> Tensor:
    sizes, known = shape(value), constant_value(node.inputs[1])
    parts = concat([reshape(size(lengths), [1]), [-1], sizes[1:]], 0)
    if known is not None and len(set(known.ravel().tolist())) <= 1:
        return reshape(value, parts)
    alike = assert_node(less_equal(reduce_max(lengths), reduce_min(lengths)), [constant(_UNLIKE_PARTS), lengths])
    with control_dependencies([alike]):
        return reshape(value, parts)


@form(buffer_joins.buffer_split_grad)
def _split_grad(node: Operation, value: Tensor, grad: Tensor) -> Tensor:
    return reshape(grad, shape(value))


def _is_shaped(flow: Dims, element: Dims) -> bool:
    """Whether a buffer is known to have the shape of the elements that are written."""
    if flow is None or element is None or len(flow) != len(element) + 1:
        return False
    return len(flow) != 2 or (flow[1] not in (0, None)) or element == (0,)


def _widened(flow: Tensor, count: Tensor, element: Tensor) -> Tensor:
    """The buffer with `count` elements of that shape; those that it has not are zeros.

    Elements that it has in another shape are an error of the run: a tensor cannot hold them together.
    """
    sizes = concat([reshape(count, [1]), element], 0)
    held = mul(shape(flow)[0], minimum(size(flow), 1))
    fits = assert_node(equal(size(flow), mul(held, reduce_prod(element))), [constant(_UNLIKE), element])
    missing = sub(reduce_prod(sizes), size(flow))
    with control_dependencies([fits]):
        flat = reshape(flow, [-1])
    return reshape(concat([flat, fill(reshape(missing, [1]), zero_of(flow.dtype.base_dtype))], 0), sizes)


def _replaced(flow: Tensor, indices: Tensor, values: Tensor) -> Tensor:
    replaced: Tensor = tensor_scatter_update_node(flow, expand_dims(indices, 1), values)
    return replaced
