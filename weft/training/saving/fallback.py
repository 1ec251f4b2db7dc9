"""Restores a model from the newest checkpoint that is whole, where the latest one was damaged."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft import errors
from weft.checkpoint.wholeness import damage_of, warn_passed_over
from weft.platform.logs import tf_logging


def restore_newest_whole(restore: Callable[[str], object], paths: Sequence[str]) -> str:
    """Restore the first of these checkpoints whose files are whole, and return its path.

    A checkpoint is looked at only when restoring it has failed, so a whole one is read once. What a failed restore gave to some
    variables is replaced by the next one.

    Args:
        restore: restores a checkpoint, as `Saver.restore` does in a session.
        paths: the checkpoints, the latest first.

    Raises:
        ValueError, OpError: none is whole, or a whole one does not fit the graph.
    """
    failure: Exception | None = None
    for path in paths:
        try:
            restore(path)
        except (errors.DataLossError, errors.NotFoundError, ValueError) as error:
            damage = damage_of(path)
            if damage is None:
                # The files are whole, so it is the graph that does not fit: an older checkpoint would not fit either.
                raise
            warn_passed_over(path, damage)
            failure = failure or error
        else:
            if failure is not None:
                tf_logging.warning("Restored %s instead of %s: what was trained between the two is lost", path, paths[0])
            return path
    assert failure is not None
    raise failure
