"""Tensors that stay in a session between its runs: an op that keeps one, one that gives it back, one that drops it.

A handle is the text `NODE;NUMBER;DEVICE`: the node that kept the tensor, its number in the session, and its device.
"""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Array, DTypeLike, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType, as_dtype
from weft.ops.array.placeholder import placeholder
from weft.ops.declaration import no_outputs, op, scalar_shape, unknown


@op("GetSessionHandle", "value: T -> handle: string", infer=scalar_shape, gradient=None, stateful=True, at_once=True)
def keep_tensor(ctx: OpContext, value: Array) -> Result:
    """Keep a value in the session; its handle: `[...] -> scalar string`."""
    return np.array(ctx.session_tensors.keep(np.asarray(value), ctx.node_name, ctx.device).encode(), np.object_)


@op("GetSessionTensor", "handle: string -> value: dtype", infer=unknown, gradient=None, stateful=True, at_once=True)
def kept_tensor(ctx: OpContext, handle: Array, *, dtype: DType) -> Result:
    """The value that a handle stands for; InvalidArgumentError when the session has none.

    `scalar string -> [...]`
    """
    text = _text(handle)
    value = ctx.session_tensors.find(text)
    found = as_dtype(value.dtype)
    if found is not dtype.base_dtype:
        raise TypeError(f"The tensor with handle {text!r} is of type {found.name}, and is taken as {dtype.name}")
    return value


@op("DeleteSessionTensor", "handle: string ->", infer=no_outputs, gradient=None, stateful=True, at_once=True)
def drop_tensor(ctx: OpContext, handle: Array) -> None:
    """Forget the value that a handle stands for; InvalidArgumentError when the session has none.

    `scalar string ->`
    """
    ctx.session_tensors.drop(_text(handle))


def _text(handle: Array) -> str:
    return bytes(np.asarray(handle).item()).decode()


def device_of(handle: str) -> str:
    """The device that holds the tensor of a handle."""
    return handle.split(";")[-1]


def get_session_handle(data: TensorLike, name: str | None = None) -> Tensor:
    """Keep the value of a tensor in the session until it is deleted; a run that fetches the result gets a TensorHandle.

    Args:
        data: the tensor.

    Returns:
        A scalar string, on the device of `data`.

    Raises:
        TypeError: `data` is no tensor.
    """
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with get_default_graph().colocate_with(data.op):
        result: Tensor = keep_tensor(data, name=name)
    return result


def get_session_tensor(handle: TensorLike, dtype: DTypeLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """A tensor that was kept with `get_session_handle`.

    Args:
        handle: the text of a handle; only its device counts.
        dtype: the tensor's dtype.

    Returns:
        A placeholder that is fed a handle (its text, or the TensorHandle), and the tensor of that handle, of unknown shape.
    """
    with get_default_graph().device(device_of(str(handle))):
        holder = placeholder(dtypes.string)
        return holder, kept_tensor(holder, dtype=as_dtype(dtype), name=name)


def delete_session_tensor(handle: TensorLike, name: str | None = None) -> tuple[Tensor, Operation]:
    """An operation that forgets a tensor that was kept with `get_session_handle`.

    Args:
        handle: the text of a handle; only its device counts.

    Returns:
        A placeholder that is fed a handle, and the operation that deletes the tensor of that handle.
    """
    with get_default_graph().device(device_of(str(handle))):
        holder = placeholder(dtypes.string)
        return holder, drop_tensor(holder, name=name)
