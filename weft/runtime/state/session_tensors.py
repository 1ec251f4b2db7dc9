"""SessionTensors: the values that one session keeps on one task between its runs."""

from __future__ import annotations

import itertools
import threading
from typing import Any

from weft.errors import InvalidArgumentError
from weft.protocol.limits import ServerLimits, exceeded


class SessionTensors:
    """Values by handle; they live until they are dropped, or the session ends. Safe from any thread.

    Args:
        limits: how many they may be; None for any number.
    """

    def __init__(self, limits: ServerLimits | None = None) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._values: dict[str, Any] = {}
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._values)

    def keep(self, value: Any, node_name: str, device: str) -> str:
        """Keep an array, which nobody changes from now on; returns its handle, `NODE;NUMBER;DEVICE`.

        Raises:
            ResourceExhaustedError: the session keeps too much already.
        """
        value.flags.writeable = False
        handle = f"{node_name};{next(self._numbers)};{device}"
        with self._lock:
            self._check_room(value.nbytes)
            self._values[handle] = value
            self._bytes += value.nbytes
        return handle

    def _check_room(self, size_bytes: int) -> None:
        limits = self._limits
        if limits is None:
            return
        if len(self._values) >= limits.max_kept_tensors:
            what = "The session keeps too many tensors by handles; delete some"
            raise exceeded(what, len(self._values) + 1, "max_kept_tensors", limits.max_kept_tensors)
        if self._bytes + size_bytes > limits.max_kept_bytes:
            what = "The tensors that the session keeps by handles have too many bytes; delete some"
            raise exceeded(what, self._bytes + size_bytes, "max_kept_bytes", limits.max_kept_bytes)

    def find(self, handle: str) -> Any:
        """The value of a handle; InvalidArgumentError when there is none."""
        value = self._values.get(handle)
        if value is None:
            raise InvalidArgumentError.of(f"The tensor with handle '{handle}' is not in the session store.")
        return value

    def drop(self, handle: str) -> None:
        """Forget a value; InvalidArgumentError when there is none."""
        with self._lock:
            value = self._values.pop(handle, None)
            if value is None:
                raise InvalidArgumentError.of(f"Failed to delete a tensor with handle '{handle}' in the session store.")
            self._bytes -= value.nbytes
