"""Losses, checks, lists and optionals under the names of their other versions."""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Gradients, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.registry.op_registry import lookup
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.array.shape_ops import expand_dims
from weft.ops.declaration import not_differentiable, op, same_as_input
from weft.ops.math.elementwise import FLOATS, mul
from weft.ops.nn.ctc import loss_shapes

_RAW: Final = (
    dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.uint16, dtypes.uint8, dtypes.int16, dtypes.int8,
    dtypes.int64, dtypes.bfloat16,
)  # fmt: skip


def _ctc_gradient(node: Operation, grad: Tensor, gradient_grad: Tensor) -> Gradients:
    made = None if grad is None else mul(expand_dims(expand_dims(grad, -1), 0), node.outputs[1])
    return [made, None, None, None]


@op("CTCLossV2", "inputs: float, labels_indices: int64, labels_values: int32, sequence_length: int32 -> loss: float, "
    "gradient: float", ranks={"inputs": 3, "labels_indices": 2, "labels_values": 1, "sequence_length": 1}, infer=loss_shapes,
    gradient=_ctc_gradient)  # fmt: skip
def ctc_loss_v2(
    ctx: OpContext, inputs: Array, labels_indices: Array, labels_values: Array, sequence_length: Array, *,
    preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
) -> tuple[Result, Result]:  # fmt: skip
    """CTCLoss whose blank is the first class.

    `[steps, batch, classes], [n, 2] int64, [n] int32, [batch] int32 -> [batch], [steps, batch, classes]`
    """
    turned = np.concatenate([inputs[..., 1:], inputs[..., :1]], -1)
    loss, gradient = lookup("CTCLoss").kernel(
        ctx, turned, labels_indices, labels_values - 1, sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated, ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )  # fmt: skip
    return loss, np.concatenate([gradient[..., -1:], gradient[..., :-1]], -1)


def _check_gradient(node: Operation, grad: Tensor) -> Gradients:
    found = "Not a number (NaN) or infinity (Inf) values detected in gradient."
    return [check_numerics_v2(grad, message=f"{found} {node.attrs['message']}")]


@op("CheckNumericsV2", "tensor: T -> output: T", infer=same_as_input, gradient=_check_gradient, stateful=True,
    types={"T": FLOATS})  # fmt: skip
def check_numerics_v2(ctx: OpContext, tensor: Array, *, message: str) -> Result:
    """The input, unless it holds NaN or infinity, of which the sign is told: `[...] -> [...]`."""
    tests = (("-Inf", np.isneginf), ("+Inf", np.isposinf), ("NaN", np.isnan))
    found = [what for what, test in tests if test(tensor.astype(np.float64)).any()]
    if found:
        told = found[0] if len(found) == 1 else f"{', '.join(found[:-1])} and {found[-1]}"
        raise InvalidArgumentError.of(f"{message} : Tensor had {told} values")
    return tensor


# Lists.


def _any_shape(node: Operation) -> list[Dims]:
    return [None, (None,)]


@op("TensorListConcat", "input_handle: variant -> tensor: element_dtype, lengths: int64", infer=_any_shape,
    gradient=None)  # fmt: skip
def tensor_list_concat(
    ctx: OpContext, input_handle: Array, *, element_dtype: DType, element_shape: Dims = None
) -> tuple[Result, Result]:
    """All elements one behind the other, and their lengths: `scalar variant -> [sum, *part], [length] int64`."""
    sizes = np.array(-1 if element_shape is None else [-1 if size is None else size for size in element_shape], np.int64)
    none = np.zeros(0, np.int64)
    joined, lengths = lookup("TensorListConcatV2").kernel(
        ctx, input_handle, sizes, none, element_dtype=element_dtype, shape_type=dtypes.int64
    )
    return joined, lengths


def _as_handles(node: Operation) -> list[Dims]:
    return [node.inputs[0].dims]


@op("TensorListPushBackBatch", "input_handles: variant, tensor: element_dtype -> output_handles: variant", infer=_as_handles,
    gradient=None)  # fmt: skip
def tensor_list_push_back_batch(ctx: OpContext, input_handles: Array, tensor: Array, *, element_dtype: DType) -> Result:
    """Lists with a row of a tensor behind each: `[...] variant, [..., *element] -> [...] variant`."""
    if tensor.shape[: input_handles.ndim] != input_handles.shape:
        raise InvalidArgumentError.of(f"there are {list(input_handles.shape)} lists, and a tensor of {list(tensor.shape)}")
    made = np.empty(input_handles.shape, np.object_)
    push = lookup("TensorListPushBack").kernel
    for place in np.ndindex(*input_handles.shape):
        handle = np.empty((), np.object_)
        handle[()] = input_handles[place]
        made[place] = push(ctx, handle, tensor[place], element_dtype=element_dtype)[()]
    return made


# Bytes.


def _padded_shape(node: Operation) -> list[Dims]:
    dims, length = node.inputs[0].dims, constant_value(node.inputs[1])
    width = np.dtype(node.attrs["out_type"].as_numpy_dtype).itemsize
    return [None if dims is None else (*dims, None if length is None else int(length) // width)]


@op("DecodePaddedRaw", "input_bytes: string, fixed_length: int32 -> output: out_type", ranks={"fixed_length": 0},
    infer=_padded_shape, gradient=not_differentiable, types={"out_type": _RAW})  # fmt: skip
def decode_padded_raw(
    ctx: OpContext, input_bytes: Array, fixed_length: Array, *, out_type: DType, little_endian: bool = True
) -> Result:
    """The bytes of each string as numbers, cut or filled with zeros to one length: `[...], scalar -> [..., n]`."""
    length, width = int(fixed_length), np.dtype(out_type.as_numpy_dtype).itemsize
    if length <= 0 or length % width:
        message = f"fixed_length ({length}) must be greater than zero and a multiple of the size of out_type ({width})"
        raise InvalidArgumentError.of(message)
    if not input_bytes.size:
        return np.zeros((*input_bytes.shape, length // width), out_type.as_numpy_dtype)
    filled = np.empty(input_bytes.shape, object)
    for place in np.ndindex(*input_bytes.shape):
        filled[place] = input_bytes[place][:length].ljust(length, b"\0")
    return lookup("DecodeRaw").kernel(ctx, filled, out_type=out_type, little_endian=little_endian)
