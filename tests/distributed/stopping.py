"""Tasks that stand still for a while, as with Ctrl-Z or on a machine that swaps."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

import weft as tf


@contextlib.contextmanager
def stopped(cluster: tf.LocalCluster, job: str) -> Iterator[None]:
    """A job's first process stands still in the block, and goes on behind it."""
    process_id = cluster.process_id(job, 0)
    os.kill(process_id, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process_id, signal.SIGCONT)
