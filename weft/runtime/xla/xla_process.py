"""Whether this process may use XLA, and the one way to look at an array that XLA made.

XLA's threads do not survive a fork. A process that has not compiled anything may fork and both go on; a child that is forked
after that is told so as soon as it would compute, or look at a value that may never be ready.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
import weakref
from typing import Final, Protocol

import numpy as np

from weft.framework.building.aliases import Array
from weft.platform.imports import jax_modules
from weft.platform.imports.jax_modules import jax
from weft.platform.process.interrupts import deferred_interrupts
from weft.runtime.xla import engine_options
from weft.runtime.xla.allocation import keep_freed_memory
from weft.runtime.xla.code_cache import use_code_cache


class _Client(Protocol):
    def live_arrays(self) -> list[object]: ...


class _Use:
    """Of XLA by this process: in which one it was started, and, in a child forked after that, in which one it was lost."""

    def __init__(self) -> None:
        self.started_in = 0
        self.lost_in = 0
        self.is_ready = False
        self.lock = threading.Lock()
        """Held while it starts, on whatever thread."""
        self.clients: Final[weakref.WeakSet[_Client]] = weakref.WeakSet()
        """XLA's, of the devices that weft computes on."""

    def note_fork(self) -> None:
        """In a forked child."""
        self.lost_in = self.started_in
        self.lock = threading.Lock()


_USE: Final = _Use()


class ForkedProcessError(RuntimeError):
    """XLA was started in this process's parent, before the fork."""


os.register_at_fork(after_in_child=_USE.note_fork)


def is_started() -> bool:
    """Whether this process has compiled code, and therefore must not be forked any more."""
    return _USE.started_in != 0 and _USE.lost_in == 0


def start(uses_accelerators: bool = False) -> None:
    """Use XLA from now on; the first call decides whether accelerators are used.

    Raises:
        ForkedProcessError: a parent of this process used it before it forked; its threads did not survive the fork.
    """
    check()
    if _USE.is_ready:
        return
    # JAX imports a part of itself when it first translates a function. What an interrupt stops there cannot be imported again.
    with deferred_interrupts(), _USE.lock:
        if _USE.is_ready:
            return
        _USE.started_in = os.getpid()
        jax_modules.load()
        keep_freed_memory()
        # A program's own verbosity is not meant for JAX, which would tell about every platform that is not there.
        logging.getLogger("jax").setLevel(logging.WARNING)
        use_code_cache(os.environ)
        engine_options.start(uses_accelerators, jax.devices)
        jax.jit(_same).lower(np.float32(0))
        _USE.clients.update(device.client for device in jax.devices())
        _USE.is_ready = True


def _same(value: Array) -> Array:
    return value


def check() -> None:
    """Raise ForkedProcessError when this process has lost XLA by a fork."""
    if _USE.lost_in:
        raise ForkedProcessError(
            f"Process {os.getpid()} was forked from process {_USE.lost_in}, which had compiled code running: XLA's threads do "
            "not survive a fork, so this process cannot compute. Start it with multiprocessing.get_context('spawn'), use "
            "weft.LocalCluster, or fork before the first compiled step."
        )


def owners_of_threads() -> list[object]:
    """What has threads of XLA in this process, and waits for them when it is destroyed.

    These are XLA's clients, also those that JAX has let go of at its end, and the pool that JAX lowers programs with.
    """
    if not jax_modules.is_imported():
        return []
    # By their types: `isinstance` asks an object for its class, which a proxy may load something for.
    clients = [value.client for value in gc.get_objects() if issubclass(type(value), jax.Device)]
    # JAX shows the pool nowhere else.
    pool = getattr(sys.modules.get("jax._src.interpreters.mlir"), "global_thread_pool", None)
    return clients if pool is None else [*clients, pool]


def live_arrays() -> list[object]:
    """The arrays that JAX has in this process, of the devices that weft computes on."""
    return [array for client in list(_USE.clients) for array in client.live_arrays()]
