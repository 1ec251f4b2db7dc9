"""TensorList nodes: what loops of TensorFlow's second version and their gradients keep their values in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.constant_value import constant_dims
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, dims_compatible, merge_dims
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.control_flow.held_list import HeldList
from weft.ops.control_flow.pieces import pieces_of
from weft.ops.declaration import op, scalar_shape
from weft.ops.held_objects import check_length, handle_of, held


def _list(handle: Array) -> HeldList:
    return held(handle, HeldList)


def _dims(shape: Array) -> Dims:
    """The shape that an integer tensor gives: -1 for one of unknown rank, and -1 for an unknown dimension."""
    if np.ndim(shape) == 0:
        return None
    return tuple(None if size < 0 else int(size) for size in shape)


def _told(shape: Tensor) -> Dims:
    """What is known of a shape that an integer tensor gives, before a run."""
    return None if shape.dims == () else constant_dims(shape)


def _argument(node: Operation, name: str) -> Tensor | None:
    return next((node.inputs[place] for place, arg in enumerate(node.op_def.inputs) if arg.name == name), None)


def _read(node: Operation) -> Dims:
    """The shape of the elements that a node reads, which one of its inputs says."""
    shape = _argument(node, "element_shape")
    return None if shape is None else _told(shape)


def _kept(handle: Tensor) -> Dims:
    """The shape of the elements of a list, as the node says that made it."""
    node = handle.op
    while (before := _argument(node, "input_handle") or _argument(node, "input_a")) is not None:
        node = before.op
    return _read(node)


def _element(node: Operation) -> list[Dims]:
    return [_read(node)]


def _several(node: Operation) -> list[Dims]:
    """As many elements as the node's attribute or its indices tell, joined."""
    element = _read(node)
    indices, number = _argument(node, "indices"), node.attrs.get("num_elements", -1)
    count = None if number < 0 else number
    if indices is not None and indices.dims:
        count = indices.dims[0]
    return [None if element is None else (count, *element)]


def _element_shape(node: Operation) -> list[Dims]:
    kept = _kept(node.inputs[0])
    return [None if kept is None else (len(kept),)]


def _missing(number: int) -> list[Array | None]:
    """So many elements that are not there."""
    return [None] * check_length(number, "TensorList")


def _long_enough(before: HeldList, length: int) -> HeldList:
    """A list with elements that are not there behind its own, if it has not so many yet."""
    more = length - len(before)
    if more <= 1:
        return before.push(None) if more == 1 else before
    return HeldList(before.dtype, before.element_shape, before.values() + _missing(more), before.most)


def _checked(held_list: HeldList, value: Array, dtype: DType) -> Array:
    if dtype is not held_list.dtype:
        raise InvalidArgumentError.of(
            f"Invalid data types; list elements {held_list.dtype.name} but tried to append {dtype.name}"
        )
    if not dims_compatible(held_list.element_shape, np.shape(value)):
        raise InvalidArgumentError.of(
            "Tried to append a tensor with incompatible shape to a list. "
            f"Op element shape: {list(np.shape(value))} list shape: {TensorShape(held_list.element_shape)}"
        )
    return np.array(value)


def _present(held_list: HeldList, value: Array | None, shape: Dims, dtype: DType) -> Array:
    """An element, or the zeros that stand for one that was never set."""
    if dtype is not held_list.dtype:
        raise InvalidArgumentError.of(f"Invalid data types; op elements {dtype.name} but list elements {held_list.dtype.name}")
    dims = _merged(held_list, shape)
    if value is not None:
        if not dims_compatible(dims, value.shape):
            raise InvalidArgumentError.of(
                f"Tried to read an element of shape {list(value.shape)} from a list as one of shape {TensorShape(dims)}"
            )
        return value
    if dims is None or None in dims:
        raise InvalidArgumentError.of(
            f"Trying to read an uninitialized element of a list but element_shape is not fully defined: {TensorShape(dims)}"
        )
    return np.zeros([size for size in dims if size is not None], dtype.as_numpy_dtype)


def _merged(held_list: HeldList, shape: Dims) -> Dims:
    if not dims_compatible(held_list.element_shape, shape):
        raise InvalidArgumentError.of(
            f"Incompatible shapes: a list of elements of shape {TensorShape(held_list.element_shape)} is read with elements of "
            f"shape {TensorShape(shape)}"
        )
    return merge_dims(held_list.element_shape, shape)


def _place(held_list: HeldList, index: Array) -> int:
    if not 0 <= int(index) < len(held_list):
        raise InvalidArgumentError.of(f"Trying to access element {int(index)} in a list with {len(held_list)} elements.")
    return int(index)


@op("EmptyTensorList", "element_shape: shape_type, max_num_elements: int32 -> handle: variant", infer=scalar_shape,
    gradient=None)  # fmt: skip
def empty_tensor_list(
    ctx: OpContext, element_shape: Array, max_num_elements: Array, *, element_dtype: DType, shape_type: DType
) -> Result:
    """A list without elements: `[n], scalar int32 -> scalar variant`."""
    return handle_of(HeldList(element_dtype, _dims(element_shape), most=int(max_num_elements)))


@op("TensorListReserve", "element_shape: shape_type, num_elements: int32 -> handle: variant", infer=scalar_shape,
    gradient=None)  # fmt: skip
def tensor_list_reserve(
    ctx: OpContext, element_shape: Array, num_elements: Array, *, element_dtype: DType, shape_type: DType
) -> Result:
    """A list of elements that are not there yet: `[n], scalar int32 -> scalar variant`."""
    if int(num_elements) < 0:
        raise InvalidArgumentError.of(f"The num_elements to reserve must be a non negative number, but got {int(num_elements)}")
    return handle_of(HeldList(element_dtype, _dims(element_shape), _missing(int(num_elements))))


@op("TensorListPushBack", "input_handle: variant, tensor: element_dtype -> output_handle: variant", infer=scalar_shape,
    gradient=None)  # fmt: skip
def tensor_list_push_back(ctx: OpContext, input_handle: Array, tensor: Array, *, element_dtype: DType) -> Result:
    """The list with one more element: `scalar variant, [*element] -> scalar variant`."""
    before = _list(input_handle)
    if 0 <= before.most <= len(before):
        raise InvalidArgumentError.of(
            f"Tried to push item into a full list: list size: {len(before)} max_num_elements: {before.most}"
        )
    return handle_of(before.push(_checked(before, tensor, element_dtype)))


def _popped(node: Operation) -> list[Dims]:
    return [(), _read(node)]


@op("TensorListPopBack", "input_handle: variant, element_shape: int32 -> output_handle: variant, tensor: element_dtype",
    infer=_popped, gradient=None)  # fmt: skip
def tensor_list_pop_back(
    ctx: OpContext, input_handle: Array, element_shape: Array, *, element_dtype: DType
) -> tuple[Result, Result]:
    """The list without its last element, and that element: `scalar variant, [n] int32 -> scalar variant, [*element]`."""
    before = _list(input_handle)
    if not len(before):
        raise InvalidArgumentError.of("Trying to pop from an empty list.")
    after, value = before.pop()
    return handle_of(after), _present(before, value, _dims(element_shape), element_dtype)


@op("TensorListLength", "input_handle: variant -> length: int32", infer=scalar_shape, gradient=None)
def tensor_list_length(ctx: OpContext, input_handle: Array) -> Result:
    """The number of elements: `scalar variant -> scalar int32`."""
    return np.int32(len(_list(input_handle)))


@op("TensorListElementShape", "input_handle: variant -> element_shape: shape_type", infer=_element_shape, gradient=None)
def tensor_list_element_shape(ctx: OpContext, input_handle: Array, *, shape_type: DType) -> Result:
    """The elements' shape, -1 for what is not known of it: `scalar variant -> [n]`."""
    dims = _list(input_handle).element_shape
    known: int | list[int] = -1 if dims is None else [-1 if size is None else size for size in dims]
    return np.array(known, shape_type.as_numpy_dtype)


@op("TensorListGetItem", "input_handle: variant, index: int32, element_shape: Tshape -> item: element_dtype", infer=_element,
    gradient=None, defaults={"Tshape": dtypes.int32})  # fmt: skip
def tensor_list_get_item(
    ctx: OpContext, input_handle: Array, index: Array, element_shape: Array, *, element_dtype: DType, Tshape: DType
) -> Result:
    """One element: `scalar variant, scalar int32, [n] int32 -> [*element]`."""
    source = _list(input_handle)
    return _present(source, source.get(_place(source, index)), _dims(element_shape), element_dtype)


@op("TensorListSetItem", "input_handle: variant, index: int32, item: element_dtype -> output_handle: variant",
    infer=scalar_shape, gradient=None)  # fmt: skip
def tensor_list_set_item(
    ctx: OpContext, input_handle: Array, index: Array, item: Array, *, element_dtype: DType,
    resize_if_index_out_of_bounds: bool = False,
) -> Result:  # fmt: skip
    """The list with another element in one place: `scalar variant, scalar int32, [*element] -> scalar variant`."""
    before = _list(input_handle)
    if resize_if_index_out_of_bounds:
        before = _long_enough(before, int(index) + 1)
    return handle_of(before.set(_place(before, index), _checked(before, item, element_dtype)))


def _all_present(source: HeldList, values: Sequence[Array | None], shape: Dims, dtype: DType) -> list[Array]:
    """Elements as arrays of one shape; those never set are zeros in the shape of the others."""
    known = next((value.shape for value in values if value is not None), None)
    dims = _merged(source, shape) if known is None else known
    result = [_present(source, value, dims, dtype) for value in values]
    for index, value in enumerate(result):
        if value.shape != result[0].shape:
            raise InvalidArgumentError.of(
                "Tried to stack list which contains elements of unlike shapes: "
                f"element 0 has shape {list(result[0].shape)} and element {index} has {list(value.shape)}"
            )
    return result


def _stacked(source: HeldList, values: Sequence[Array | None], shape: Dims, dtype: DType) -> Array:
    if values:
        return np.stack(_all_present(source, values, shape, dtype))
    dims = _merged(source, shape)
    if dims is None or None in dims:
        raise InvalidArgumentError.of(
            f"Tried to stack elements of an empty list with non-fully-defined element_shape: {TensorShape(dims)}"
        )
    return np.zeros([0, *(size for size in dims if size is not None)], dtype.as_numpy_dtype)


@op("TensorListStack", "input_handle: variant, element_shape: int32 -> tensor: element_dtype", infer=_several, gradient=None)
def tensor_list_stack(
    ctx: OpContext, input_handle: Array, element_shape: Array, *, element_dtype: DType, num_elements: int = -1
) -> Result:
    """All elements, joined: `scalar variant, [n] int32 -> [length, *element]`."""
    source = _list(input_handle)
    values = source.values()
    if num_elements not in (-1, len(values)):
        raise InvalidArgumentError.of(
            f"Operation expected a list with {num_elements} elements but got a list with {len(values)} elements."
        )
    return _stacked(source, values, _dims(element_shape), element_dtype)


@op("TensorListFromTensor", "tensor: element_dtype, element_shape: shape_type -> output_handle: variant", infer=scalar_shape,
    gradient=None)  # fmt: skip
def tensor_list_from_tensor(
    ctx: OpContext, tensor: Array, element_shape: Array, *, element_dtype: DType, shape_type: DType
) -> Result:
    """The parts of a tensor as a list: `[length, *element], [n] -> scalar variant`."""
    if np.ndim(tensor) == 0:
        raise InvalidArgumentError.of("Tensor must be at least a vector, but saw shape: []")
    return handle_of(HeldList(element_dtype, _dims(element_shape), [np.array(part) for part in tensor]))


@op("TensorListGather", "input_handle: variant, indices: int32, element_shape: int32 -> values: element_dtype", infer=_several,
    gradient=None)  # fmt: skip
def tensor_list_gather(
    ctx: OpContext, input_handle: Array, indices: Array, element_shape: Array, *, element_dtype: DType
) -> Result:
    """Some elements, joined: `scalar variant, [m] int32, [n] int32 -> [m, *element]`."""
    source = _list(input_handle)
    values = [source.get(_place(source, index)) for index in indices]
    return _stacked(source, values, _dims(element_shape), element_dtype)


def _scattered(before: HeldList, tensor: Array, indices: Array, dtype: DType) -> HeldList:
    if len(tensor) != len(indices):
        raise InvalidArgumentError.of(f"Invalid number of rows in input tensor. Expected: {len(indices)} Actual: {len(tensor)}")
    before = _long_enough(before, int(max(indices, default=-1)) + 1)
    for index, part in zip(indices, tensor, strict=True):
        before = before.set(_place(before, index), _checked(before, part, dtype))
    return before


@op("TensorListScatterV2",
    "tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32 -> output_handle: variant",
    infer=scalar_shape, gradient=None)  # fmt: skip
def tensor_list_scatter_v2(
    ctx: OpContext, tensor: Array, indices: Array, element_shape: Array, num_elements: Array, *, element_dtype: DType,
    shape_type: DType,
) -> Result:  # fmt: skip
    """A list of at least so many elements with the parts of a tensor in some places.

    `[m, *element], [m] int32, [n], scalar int32 -> scalar variant`
    """
    empty = HeldList(element_dtype, _dims(element_shape), _missing(max(int(num_elements), 0)))
    return handle_of(_scattered(empty, tensor, indices, element_dtype))


@op("TensorListScatter", "tensor: element_dtype, indices: int32, element_shape: shape_type -> output_handle: variant",
    infer=scalar_shape, gradient=None)  # fmt: skip
def tensor_list_scatter(
    ctx: OpContext, tensor: Array, indices: Array, element_shape: Array, *, element_dtype: DType, shape_type: DType
) -> Result:
    """A list with the parts of a tensor in some places: `[m, *element], [m] int32, [n] -> scalar variant`."""
    return handle_of(_scattered(HeldList(element_dtype, _dims(element_shape)), tensor, indices, element_dtype))


@op("TensorListScatterIntoExistingList",
    "input_handle: variant, tensor: element_dtype, indices: int32 -> output_handle: variant", infer=scalar_shape,
    gradient=None)  # fmt: skip
def tensor_list_scatter_into_existing_list(
    ctx: OpContext, input_handle: Array, tensor: Array, indices: Array, *, element_dtype: DType
) -> Result:
    """The list with the parts of a tensor in some places: `scalar variant, [m, *element], [m] int32 -> scalar variant`."""
    return handle_of(_scattered(_list(input_handle), tensor, indices, element_dtype))


def _joined_shapes(node: Operation) -> list[Dims]:
    element = _read(node)
    return [None if not element else (None, *element[1:]), (None,)]


@op("TensorListConcatV2",
    "input_handle: variant, element_shape: shape_type, leading_dims: int64 -> tensor: element_dtype, lengths: int64",
    infer=_joined_shapes, gradient=None)  # fmt: skip
def tensor_list_concat_v2(
    ctx: OpContext, input_handle: Array, element_shape: Array, leading_dims: Array, *, element_dtype: DType, shape_type: DType
) -> tuple[Result, Result]:
    """All elements one behind the other, and their lengths.

    `scalar variant, [n], [m] int64 -> [sum, *part], [length] int64`
    """
    source, shape = _list(input_handle), _dims(element_shape)
    part = None if shape is None else shape[1:]
    if len(leading_dims) > len(source):
        raise InvalidArgumentError.of(f"{len(leading_dims)} leading dims were given for a list of {len(source)} elements")
    lengths = [int(length) for length in leading_dims] + [None] * (len(source) - len(leading_dims))
    values = [
        _present(source, value, None if value is not None or part is None else (length, *part), element_dtype)
        for value, length in zip(source.values(), lengths, strict=True)
    ]  # fmt: skip
    if not values:
        return _stacked(source, [], (0, *(part or ())), element_dtype)[:, 0], np.zeros(0, np.int64)
    if any(value.ndim == 0 for value in values):
        raise InvalidArgumentError.of("Concat saw a scalar: the elements of a list that are joined have to be vectors at least")
    return np.concatenate(values), np.array([len(value) for value in values], np.int64)


@op("TensorListSplit", "tensor: element_dtype, element_shape: shape_type, lengths: int64 -> output_handle: variant",
    infer=scalar_shape, gradient=None)  # fmt: skip
def tensor_list_split(
    ctx: OpContext, tensor: Array, element_shape: Array, lengths: Array, *, element_dtype: DType, shape_type: DType
) -> Result:
    """Pieces of a tensor as a list: `[sum, *part], [n], [length] int64 -> scalar variant`."""
    pieces = pieces_of(tensor, lengths, "TensorListSplit")
    return handle_of(HeldList(element_dtype, _dims(element_shape), pieces))


@op("TensorListResize", "input_handle: variant, size: int32 -> output_handle: variant", infer=scalar_shape, gradient=None)
def tensor_list_resize(ctx: OpContext, input_handle: Array, size: Array) -> Result:
    """The list cut, or with elements that are not there, to a length: `scalar variant, scalar int32 -> scalar variant`."""
    before = _list(input_handle)
    if int(size) < 0:
        raise InvalidArgumentError.of(f"TensorListSlice expects size to be non-negative. Got: {int(size)}")
    values = before.values()[: int(size)]
    return handle_of(HeldList(before.dtype, before.element_shape, values + _missing(int(size) - len(values)), before.most))


@op("TensorListConcatLists", "input_a: variant, input_b: variant -> output: variant", infer=scalar_shape, gradient=None)
def tensor_list_concat_lists(ctx: OpContext, input_a: Array, input_b: Array, *, element_dtype: DType) -> Result:
    """The elements of one list, then those of another: `scalar variant, scalar variant -> scalar variant`."""
    first, second = _list(input_a), _list(input_b)
    return handle_of(HeldList(element_dtype, _merged(first, second.element_shape), first.values() + second.values()))
