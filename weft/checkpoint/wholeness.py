"""Tells whether a checkpoint is whole, and finds the newest one that is."""

from __future__ import annotations

from collections.abc import Sequence

from weft import errors
from weft.checkpoint.slice_file_reader import open_checkpoint
from weft.platform.logs import tf_logging


def damage_of(prefix: str) -> errors.OpError | None:
    """Return what is wrong with a checkpoint's files, None when all of them are there and every checksum holds.

    Reads all of the checkpoint once, 1 MiB at a time.
    """
    try:
        with open_checkpoint(prefix) as reader:
            reader.verify()
    except (errors.DataLossError, errors.NotFoundError) as error:
        return error
    return None


def newest_whole(prefixes: Sequence[str]) -> str | None:
    """Return the first of these checkpoints that is whole, None when none is; warns of each that is passed over."""
    for prefix in prefixes:
        damage = damage_of(prefix)
        if damage is None:
            return prefix
        warn_passed_over(prefix, damage)
    return None


def warn_passed_over(prefix: str, damage: errors.OpError) -> None:
    """Tell loudly that a checkpoint is not used, and why."""
    tf_logging.warning("Checkpoint %s is not whole and is passed over: %s", prefix, damage.message)
