"""Forms of loops that record what they compute, and of what their gradients take out of the records.

A RecordingWhile is a While with a TensorList for each stack, to which its body adds a value in each iteration
(`weft.framework.lowered.recording` adds that to the body where it is written).
"""

from __future__ import annotations

from weft.framework.building.op_builder import build
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.registry.op_registry import lookup
from weft.framework.registry.tensorflow_form import Lists
from weft.framework.types import dtypes
from weft.framework.types.dtypes import variant
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros_like
from weft.ops.array.gather_scatter import gather
from weft.ops.array.shape_ops import expand_dims, reshape, shape_node
from weft.ops.array.tensor_scatter import tensor_scatter_update_node
from weft.ops.control_flow.nodes import recorded_value, recording_while, unrecorded
from weft.ops.control_flow.tensor_lists import empty_tensor_list, tensor_list_get_item, tensor_list_length, tensor_list_stack
from weft.ops.declaration import definition_of
from weft.ops.tensorflow_forms.form import form, register_for_lists


@form(recording_while, with_lists=True)
def _recording_while(node: Operation, input: list[Tensor], lists: Lists) -> list[Tensor]:
    attrs = node.attrs
    count, stacks = len(input), node.outputs[len(input) :]
    types = [variant if lists.get(stack, 1) > 1 else stack.dtype for stack in stacks]
    shapes = [_shape_vector(stack, lists) for stack in stacks]
    empty = [_empty(shape, dtype) for shape, dtype in zip(shapes, types, strict=True)]
    dims = [() if tensor in lists else tensor.dims for tensor in node.outputs[:count]]
    copied = {key: attrs[key] for key in ("cond", "body", "parallel_iterations")}
    loop = build(lookup("While"), [[*input, *empty]], {**copied, "output_shapes": [*dims, *([()] * len(empty))]}, "While")
    made = [
        handle if stack in lists else _stacked(handle, shape, dtype)
        for stack, handle, shape, dtype in zip(stacks, loop.outputs[count:], shapes, types, strict=True)
    ]
    return [*loop.outputs[:count], *made]


def _empty(shape: Tensor, dtype: dtypes.DType) -> Tensor:
    made: Tensor = empty_tensor_list(shape, constant(-1), element_dtype=dtype, name=None)
    return made


def _stacked(handle: Tensor, shape: Tensor, dtype: dtypes.DType) -> Tensor:
    stack: Tensor = tensor_list_stack(handle, shape, element_dtype=dtype)
    return stack


def _shape_vector(stack: Tensor, lists: Lists) -> Tensor:
    """The shape of a stack's values as TensorLists take it: -1 for each size that is not known, or for all of them."""
    if lists.get(stack, 1) > 1:
        return constant([], dtypes.int32)
    dims = None if stack.dims is None else stack.dims[1:]
    if dims is None or (stack in lists and None in dims):
        return constant(-1)
    return constant([-1 if size is None else size for size in dims], dtypes.int32)


@form(recorded_value, with_lists=True)
def _recorded_value(node: Operation, stack: Tensor, index: Tensor, lists: Lists) -> Tensor:
    source, value = node.inputs[0], node.outputs[0]
    if source not in lists:
        return gather(stack, index)
    dtype = variant if value in lists else value.dtype
    item: Tensor = tensor_list_get_item(stack, index, _shape_vector(source, lists), element_dtype=dtype, name=None)
    return item


def _length(node: Operation, stack: Tensor) -> Tensor:
    """The shape of a stack, of which a gradient asks for the first size."""
    return reshape(tensor_list_length(stack), [1])


register_for_lists(definition_of(shape_node), _length)


@form(unrecorded)
def _unrecorded(node: Operation, stack: Tensor, index: Tensor, grad: Tensor) -> Tensor:
    return tensor_scatter_update_node(zeros_like(stack), reshape(index, [1, 1]), expand_dims(grad, 0))
