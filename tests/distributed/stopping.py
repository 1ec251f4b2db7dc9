"""Tasks that stand still for a while, as with Ctrl-Z or on a machine that swaps."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import weft as tf
from tests.distributed.waiting import until


@contextlib.contextmanager
def stopped(cluster: tf.LocalCluster, job: str) -> Iterator[None]:
    """A job's first process stands still in the block, and goes on behind it."""
    process_id = cluster.process_id(job, 0)
    os.kill(process_id, signal.SIGSTOP)
    try:
        if sys.platform == "linux":
            until(lambda: _all_stand_still(process_id))
        yield
    finally:
        os.kill(process_id, signal.SIGCONT)


def _all_stand_still(process_id: int) -> bool:
    """Whether every thread has met the signal: one that computes does so at the end of its time slice."""
    states = [path.read_text().rpartition(")")[2].split()[0] for path in Path(f"/proc/{process_id}/task").glob("*/stat")]
    return set(states) <= {"T", "t"}
