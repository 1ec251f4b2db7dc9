"""Waiting for the checkpoints that another process writes, as an evaluator does."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

from weft.checkpoint.checkpoint_state import latest_checkpoint
from weft.platform.logs import tf_logging
from weft.platform.waits import wait_notice
from weft.platform.waits.wait_notice import WaitNotice


def wait_for_new_checkpoint(
    checkpoint_dir: str | os.PathLike[str],
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """Block until the latest checkpoint of a directory is another than `last_checkpoint`, and return its path.

    Args:
        checkpoint_dir: the directory; it need not exist yet.
        last_checkpoint: the checkpoint that is known.
        seconds_to_sleep: how long to wait between two looks.
        timeout: after how many seconds to give up and return None.
    """
    tf_logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    notice = WaitNotice()
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        found = latest_checkpoint(os.fspath(checkpoint_dir))
        if found is not None and found != last_checkpoint:
            tf_logging.info("Found new checkpoint at %s", found)
            return found
        if end is not None and time.monotonic() + seconds_to_sleep > end:
            return None
        # The next one comes after the time between two saves; the first one may never come.
        if notice.is_due() and (last_checkpoint is None or notice.waited_s >= wait_notice.RARELY_S):
            _tell(os.fspath(checkpoint_dir), last_checkpoint, notice.waited_s)
        time.sleep(seconds_to_sleep)


def _tell(folder: str, last: str | None, waited_s: float) -> None:
    there = f"The last one is {last!r}" if last else "There is none" if os.path.isdir(folder) else "There is no such folder"
    tf_logging.warning(
        "An evaluation has waited %.0f s for a new checkpoint in %r. %s: look whether the training runs, how often it saves "
        "(save_checkpoints_secs), and whether it does into this folder.", waited_s, folder, there,
    )  # fmt: skip


def checkpoints_iterator(
    checkpoint_dir: str | os.PathLike[str],
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Yield each new checkpoint of a directory; some are passed over when they come faster than they are taken.

    Args:
        checkpoint_dir: the directory; it need not exist yet.
        min_interval_secs: how long to wait at least between two.
        timeout: after how many seconds without a new one to stop; never when None.
        timeout_fn: asked at a timeout whether to stop; without it a timeout stops.
    """
    known: str | None = None
    while True:
        found = wait_for_new_checkpoint(checkpoint_dir, known, timeout=timeout)
        if found is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        start = time.monotonic()
        known = found
        yield found
        time.sleep(max(0.0, start + min_interval_secs - time.monotonic()))
