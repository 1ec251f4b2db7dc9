"""A CPU client of XLA that computes on the thread that calls it, for code that takes less time than waking another thread.

XLA's usual client gives what it dispatches to threads of its own, and divides what is larger than a few hundred kilobytes
between them. For arithmetic on half a megabyte that doubles the time, and leaves the result in another core's cache.
"""

from __future__ import annotations

import threading
from typing import Final

from weft.framework.building.aliases import Array
from weft.platform.imports.jax_modules import jax, xla_client
from weft.runtime.xla import engine_options
from weft.runtime.xla.compiler_options import KEEP_BARRIERS

# Makes code that is not divided between threads.
COMPILER_OPTIONS: Final = {"xla_disable_hlo_passes": f"{KEEP_BARRIERS},cpu-parallel-task-assigner"}


class _Client:
    """The client of this process, made when it is first asked for. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._device: jax.Device | None = None

    def device(self) -> jax.Device:
        """Its only device."""
        with self._lock:
            if self._device is None:
                with engine_options.environment():
                    client: Array = xla_client.make_cpu_client(asynchronous=False)  # JAX gives it no type
                self._device = client.local_devices()[0]
            return self._device


_CLIENT: Final = _Client()


def calling_thread_device() -> jax.Device:
    """The JAX device whose computations run on the calling thread; XLA has been started."""
    return _CLIENT.device()
