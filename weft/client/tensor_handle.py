"""TensorHandle: what a program has of a tensor that stays in its session between runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any, Final, Protocol

from weft.errors import OpError
from weft.framework.building.run_signature import Feeds, typed_run
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types.dtypes import DType
from weft.ops.declaration import definition_of
from weft.ops.process.session_tensor import (
    delete_session_tensor,
    device_of,
    drop_tensor,
    get_session_tensor,
    keep_tensor,
    kept_tensor,
)

_DROPPED_AT_ONCE: Final = 10
_OF_HANDLE: Final = (definition_of(kept_tensor), definition_of(drop_tensor))


class Runner(Protocol):
    """The session that a handle belongs to."""

    @typed_run
    def run(self, fetches: object, feed_dict: Feeds | None = None) -> object:
        """Run a step."""
        ...


class TensorHandle:
    """A tensor that a session keeps, as a run of `tf.get_session_handle` returns it.

    Feed it for the placeholder of `tf.get_session_tensor`, or for any tensor that may be fed. The session forgets the tensor
    when the program drops the handle, unless it has taken the text with `get_raw_handle`.
    """

    def __init__(self, handle: str, dtype: DType, session: Runner, kept: KeptTensors) -> None:
        self._handle = handle
        self._dtype = dtype
        self._session = session
        self._kept = kept
        self._is_automatic = True

    @property
    def handle(self) -> str:
        """The text that stands for the tensor in a feed."""
        return self._handle

    @property
    def dtype(self) -> DType:
        """The dtype of the tensor."""
        return self._dtype

    def __str__(self) -> str:
        return self._handle

    def eval(self) -> Any:
        """The tensor's value.

        Raises:
            InvalidArgumentError: it was deleted.
        """
        holder, tensor = self._kept.reader(self._handle, self._dtype)
        return self._session.run(tensor, {holder: self._handle})

    def delete(self) -> None:
        """Have the session forget the tensor.

        Raises:
            InvalidArgumentError: it was deleted before.
        """
        self._is_automatic = False
        self._kept.delete(self._session, self._handle)

    def get_raw_handle(self) -> str:
        """The text that stands for the tensor, which the session keeps from now on until it is deleted explicitly."""
        self._is_automatic = False
        return self._handle

    def __del__(self) -> None:
        if getattr(self, "_is_automatic", False):
            self._kept.note_dropped(self._handle)


class KeptTensors:
    """The nodes by which a session reads and deletes what it keeps, one pair for each device, and the handles dropped so far.

    Safe from any thread.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._lock = threading.Lock()
        self._readers: dict[tuple[str, DType], tuple[Tensor, Tensor]] = {}
        self._deleters: dict[str, tuple[Tensor, Operation]] = {}
        self._dropped: list[str] = []

    def reader(self, handle: str, dtype: DType) -> tuple[Tensor, Tensor]:
        """The placeholder and the tensor that give the value of a handle; made at their first use."""
        key = device_of(handle), dtype
        with self._building():
            if key not in self._readers:
                self._readers[key] = get_session_tensor(handle, dtype)
            return self._readers[key]

    @contextlib.contextmanager
    def _building(self) -> Iterator[None]:
        """Keep the scopes that are open in the program away from these nodes."""
        graph = self._graph
        with self._lock, graph.as_default(), graph.name_scope(None), graph.control_dependencies(None):
            yield

    def _deleter(self, handle: str) -> tuple[Tensor, Operation]:
        key = device_of(handle)
        with self._building():
            if key not in self._deleters:
                self._deleters[key] = delete_session_tensor(handle)
            return self._deleters[key]

    def delete(self, session: Runner, handle: str) -> None:
        """Delete the tensor of a handle."""
        holder, deleter = self._deleter(handle)
        session.run(deleter, {holder: handle})

    def note_dropped(self, handle: str) -> None:
        """The program has no use for a handle any more; called by the garbage collector, so nothing is done yet."""
        self._dropped.append(handle)

    @property
    def has_dropped(self) -> bool:
        """Whether enough handles were dropped that their tensors should be deleted."""
        return len(self._dropped) >= _DROPPED_AT_ONCE

    def delete_dropped(self, session: Runner) -> None:
        """Delete the tensors of dropped handles; not in a finalized graph that has no node for it."""
        if self._graph.finalized and not self._deleters:
            return
        with self._lock:
            dropped, self._dropped = self._dropped, []
        for handle in dropped:
            # A task that was restarted has forgotten it already.
            with contextlib.suppress(OpError):
                self.delete(session, handle)

    @staticmethod
    def fed(tensor: Tensor, handle: TensorHandle) -> tuple[Tensor, Any]:
        """The feed for a handle: its text to the placeholder of a kept tensor on the same device, else the value itself."""
        consumers = [op for op in tensor.consumers() if op.op_def in _OF_HANDLE]
        if tensor.op.op_def.role is not Role.PLACEHOLDER or not consumers:
            return tensor, handle.eval()
        if consumers[0].device == device_of(handle.handle) or not consumers[0].outputs:
            return tensor, handle.handle
        return consumers[0].outputs[0], handle.eval()


def handle_dtype(tensor: Tensor) -> DType | None:
    """The dtype of the tensor that is kept, when a fetched tensor is a handle."""
    return tensor.op.inputs[0].dtype.base_dtype if tensor.op.op_def is definition_of(keep_tensor) else None
