"""The nodes that stand for a partition's borders in its serial form: arguments, sends and receives.

The executor never calls their kernels: it takes them as the names of edges and feeds.
"""

from __future__ import annotations

from typing import Final

from weft.errors import InternalError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import OpContext
from weft.framework.types.dtypes import DType
from weft.ops.declaration import Role, from_attr, no_outputs, op

SOURCE_NAME: Final = "_weft_source"
"""The attribute of an argument or a received value with the name of the tensor that it stands for, for traces and messages."""


def _not_executed(what: str) -> InternalError:
    return InternalError.of(f"{what} stands for an edge between tasks and is not executed")


@op("_Arg", "-> output: T", role=Role.ARGUMENT, infer=from_attr("_shape"), gradient=None, stateful=True, limits={"index": 0})
def arg(ctx: OpContext, *, T: DType, index: int) -> None:
    """The value of the feed of that index: `-> [*shape]`."""
    raise _not_executed("_Arg")


@op("_Recv", "-> tensor: tensor_type", role=Role.RECEIVE, infer=from_attr("_shape"), gradient=None, stateful=True)
def recv(
    ctx: OpContext, *, tensor_type: DType, tensor_name: str, send_device: str, send_device_incarnation: int,
    recv_device: str, client_terminated: bool = False,
) -> None:  # fmt: skip
    """A value from another task: `-> [*shape]`."""
    raise _not_executed("_Recv")


@op("_Send", "tensor: T ->", role=Role.SEND, infer=no_outputs, gradient=None, stateful=True)
def send(
    ctx: OpContext, tensor: Array, *, tensor_name: str, send_device: str, send_device_incarnation: int,
    recv_device: str, client_terminated: bool = False,
) -> None:  # fmt: skip
    """A value for another task: `[...] ->`."""
    raise _not_executed("_Send")


@op("_SendControl", "->", role=Role.SEND, infer=no_outputs, gradient=None, stateful=True)
def send_control(ctx: OpContext, *, tensor_name: str, send_device: str, send_device_incarnation: int, recv_device: str) -> None:
    """The news, for another task, that this node's control inputs ran: `->`."""
    raise _not_executed("_SendControl")
