"""SessionTensors: the values that one session keeps on one task between its runs."""

from __future__ import annotations

import itertools
from typing import Any

from weft.errors import InvalidArgumentError


class SessionTensors:
    """Values by handle; they live until they are dropped, or the session ends. Safe from any thread."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._values: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self._values)

    def keep(self, value: Any, node_name: str, device: str) -> str:
        """Keep an array, which nobody changes from now on; returns its handle, `NODE;NUMBER;DEVICE`."""
        value.flags.writeable = False
        handle = f"{node_name};{next(self._numbers)};{device}"
        self._values[handle] = value
        return handle

    def find(self, handle: str) -> Any:
        """The value of a handle; InvalidArgumentError when there is none."""
        value = self._values.get(handle)
        if value is None:
            raise InvalidArgumentError.of(f"The tensor with handle '{handle}' is not in the session store.")
        return value

    def drop(self, handle: str) -> None:
        """Forget a value; InvalidArgumentError when there is none."""
        if self._values.pop(handle, None) is None:
            raise InvalidArgumentError.of(f"Failed to delete a tensor with handle '{handle}' in the session store.")
