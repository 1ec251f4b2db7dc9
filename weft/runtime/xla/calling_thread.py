"""A CPU client of XLA that computes on the thread that calls it, for code that takes less time than waking another thread.

XLA's usual client gives what it dispatches to threads of its own, and divides what is larger than a few hundred kilobytes
between them. For arithmetic on half a megabyte that doubles the time, and leaves the result in another core's cache.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final

import jaxlib.xla_client
import numpy as np

from weft.platform.aligned_memory import aligned_copy, is_aligned
from weft.runtime.xla import engine_options

# Makes code that is not divided between threads.
COMPILER_OPTIONS: Final = {"xla_disable_hlo_passes": "cpu-parallel-task-assigner"}

# Where XLA cannot use a larger array as it lies, it has it copied by another thread.
_COPIED_AT_ONCE_BYTES: Final = 100 << 10

_lock: Final = threading.Lock()
_devices: Final[list[Any]] = []


def calling_thread_device() -> Any:
    """The JAX device whose computations run on the calling thread; XLA has been started."""
    with _lock:
        if not _devices:
            with engine_options.environment():
                client: Any = jaxlib.xla_client.make_cpu_client(asynchronous=False)
            _devices.append(client.local_devices()[0])
        return _devices[0]


def usable(inputs: Sequence[Any]) -> Sequence[Any]:
    """The inputs, those copied that XLA would have another thread copy."""
    return [
        aligned_copy(value)
        if isinstance(value, np.ndarray) and value.nbytes >= _COPIED_AT_ONCE_BYTES and not is_aligned(value)
        else value
        for value in inputs
    ]
