"""Buffers as one tensor: their elements one after the other along the first dimension, and the way back."""

from __future__ import annotations

import numpy as np

from weft.errors import InvalidArgumentError, UnimplementedError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims
from weft.ops.control_flow.buffer_marks import note_read, unmarked
from weft.ops.control_flow.buffers import has_shape, holds_arrays
from weft.ops.declaration import op, same_as_input, unknown


def _concat_shape(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    if dims is None or len(dims) < 2:
        return [None]
    count = None if dims[0] is None or dims[1] is None else dims[0] * dims[1]
    return [(count, *dims[2:])]


def _concat_second_gradient(node: Operation, grad: Tensor) -> Gradients:
    joined: Tensor = buffer_concat(grad)
    return [None, joined]


@op("BufferConcatGrad", "flow: T, grad: T -> output: T", infer=same_as_input, gradient=_concat_second_gradient)
def buffer_concat_grad(xp: ArrayModule, flow: Array, grad: Array) -> Result:
    """The parts of `grad` that belong to the elements of the buffer.

    `[size, rows, *inner], [total, *inner] -> [size, rows, *inner]`
    """
    if xp is not np:
        return xp.reshape(grad, flow.shape)
    return _cut(grad, unmarked(flow))


def _cut(value: Array, flow: Array) -> Array:
    """The value in consecutive parts, as long as the elements of a buffer."""
    if not holds_arrays(flow):
        return np.reshape(value, flow.shape)
    result = np.empty(flow.shape[0], object)
    result[:] = np.split(value, np.cumsum([len(each) for each in flow])[:-1])
    return result


@op("BufferConcat", "flow: T -> value: T", infer=_concat_shape,
    gradient=lambda node, grad: [buffer_concat_grad(node.inputs[0], grad)])  # fmt: skip
def buffer_concat(xp: ArrayModule, flow: Array) -> Result:
    """The elements one after the other along their first dimension.

    `[size, rows, *inner] -> [total, *inner]`
    """
    if isinstance(flow, np.ndarray):
        note_read(flow, range(flow.shape[0]), has_shape(flow))
        flow = unmarked(flow)
    if isinstance(flow, np.ndarray) and holds_arrays(flow):
        return np.concatenate([np.asarray(each) for each in flow])
    if len(flow.shape) < 2:
        raise InvalidArgumentError.of("TensorArray: Concat saw a scalar shape; its elements must be vectors at least")
    return xp.reshape(flow, (flow.shape[0] * flow.shape[1], *flow.shape[2:]))


def _split_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [buffer_split_grad(node.inputs[0], grad), None]


@op("BufferSplitGrad", "value: T, grad: T -> output: T", infer=same_as_input,
    gradient=lambda node, grad: [None, buffer_concat_grad(node.inputs[1], grad)])  # fmt: skip
def buffer_split_grad(xp: ArrayModule, value: Array, grad: Array) -> Result:
    """The elements of a buffer of gradients, joined in the shape of the value that was split.

    `[total, *inner], [size, rows, *inner] -> [total, *inner]`
    """
    if xp is np and grad.dtype == object and grad.ndim == 1:
        return np.concatenate([np.asarray(each) for each in grad])
    return xp.reshape(grad, value.shape)


@op("BufferSplit", "value: T, lengths: int32 -> flow: T", infer=unknown, gradient=_split_gradient, static=("lengths",))
def buffer_split(xp: ArrayModule, value: Array, lengths: Array, *, size: int = -1, infer_shape: bool = False) -> Result:
    """A buffer of the parts of `value`, which are that long; of `size` parts, of one shape if it is to be inferred.

    `[total, *inner], [size] int32 -> [size, rows, *inner]`
    """
    sizes = [int(length) for length in np.ravel(lengths)]
    if sum(sizes) != value.shape[0]:
        raise InvalidArgumentError.of(
            f"TensorArray: Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
            f"{sum(sizes)} and value's shape is: {list(value.shape)}"
        )
    if size not in (-1, len(sizes)):
        raise InvalidArgumentError.of(
            f"TensorArray's size is not equal to the size of lengths ({size} vs. {len(sizes)}), and the "
            "TensorArray is not marked as dynamically resizeable"
        )
    if len(set(sizes)) <= 1:
        return xp.reshape(value, (len(sizes), sizes[0] if sizes else 0, *value.shape[1:]))
    if infer_shape:
        other = next(number for number, length in enumerate(sizes) if length != sizes[0])
        raise InvalidArgumentError.of(
            f"TensorArray: Could not write to TensorArray index {other} because the value shape is "
            f"{[sizes[other], *value.shape[1:]]} which is incompatible with the TensorArray's inferred element shape: "
            f"{[sizes[0], *value.shape[1:]]} (consider setting infer_shape=False)."
        )
    if xp is not np:
        raise UnimplementedError.of(f"TensorArray: XLA has no array of elements of unlike lengths, {sizes}")
    result = np.empty(len(sizes), object)
    result[:] = np.split(np.asarray(value), np.cumsum(sizes)[:-1])
    return result
