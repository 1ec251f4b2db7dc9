"""Whether this process may use XLA, and the one way to look at an array that XLA made.

XLA's threads do not survive a fork. A process that has not compiled anything may fork and both go on; a child that is forked
after that is told so as soon as it would compute, or look at a value that may never be ready.
"""

from __future__ import annotations

import logging
import os
from typing import Any

import jax
import numpy as np

from weft.platform.interrupts import deferred_interrupts
from weft.runtime.xla import engine_options
from weft.runtime.xla.allocation import keep_freed_memory

_started_in: list[int] = []
_lost_in: list[int] = []


class ForkedProcessError(RuntimeError):
    """XLA was started in this process's parent, before the fork."""


def _note_fork() -> None:
    _lost_in[:] = _started_in


os.register_at_fork(after_in_child=_note_fork)


def is_started() -> bool:
    """Whether this process has compiled code, and therefore must not be forked any more."""
    return bool(_started_in) and not _lost_in


def start(uses_accelerators: bool = False) -> None:
    """Use XLA from now on; the first call decides whether accelerators are used.

    Raises:
        ForkedProcessError: a parent of this process used it before it forked; its threads did not survive the fork.
    """
    check()
    if _started_in:
        return
    _started_in.append(os.getpid())
    keep_freed_memory()
    # A program's own verbosity is not meant for JAX, which would tell about every platform that is not there.
    logging.getLogger("jax").setLevel(logging.WARNING)
    # JAX imports a part of itself when it first translates a function. What an interrupt stops there cannot be imported again.
    with deferred_interrupts():
        engine_options.start(uses_accelerators, jax.devices)
        jax.jit(_same).lower(np.float32(0))


def _same(value: Any) -> Any:
    return value


def check() -> None:
    """Raise ForkedProcessError when this process has lost XLA by a fork."""
    if _lost_in:
        raise ForkedProcessError(
            f"Process {os.getpid()} was forked from process {_lost_in[0]}, which had compiled code running: XLA's threads do "
            "not survive a fork, so this process cannot compute. Start it with multiprocessing.get_context('spawn'), use "
            "weft.LocalCluster, or fork before the first compiled step."
        )


def as_numpy(value: Any) -> Any:
    """The value as an array in host memory; blocks until it is computed, copies nothing on the CPU.

    Raises:
        RuntimeError: the array was donated meanwhile, or ForkedProcessError.
    """
    if isinstance(value, np.ndarray):
        return value
    if _lost_in:
        check()
    return np.asarray(value)
