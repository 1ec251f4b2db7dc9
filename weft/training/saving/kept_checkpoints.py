"""KeptCheckpoints: which of a Saver's checkpoints are kept, and which are deleted when."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from weft import errors
from weft.checkpoint import checkpoint_state
from weft.platform.logs import tf_logging

_SECONDS_PER_HOUR = 3600


class KeptCheckpoints:
    """The last checkpoints of one Saver, oldest first, with the times at which they were written.

    What becomes too many is deleted by `delete_oldest`, unless it is the one of its period that is kept for ever.
    """

    def __init__(self) -> None:
        self._items: list[tuple[str, float]] = []
        self._doomed: list[tuple[str, float]] = []
        self._period_s = math.inf
        self._period_end_s = math.inf

    def set_period(self, period_hours: float) -> None:
        """Keep one checkpoint for ever each time so many hours have passed from now."""
        self._period_s = period_hours * _SECONDS_PER_HOUR
        self._period_end_s = time.time() + self._period_s

    @property
    def paths(self) -> list[str]:
        """The checkpoints, oldest first."""
        return [path for path, _ in self._items]

    def replace(self, items: Sequence[tuple[str, float]]) -> None:
        """Forget the list and go on with this one."""
        self._items = list(items)

    def note(self, path: str, max_to_keep: int) -> None:
        """Add a checkpoint that was just written, or move it to the end; with no limit nothing is noted."""
        if not max_to_keep:
            return
        self._items = [item for item in self._items if item[0] != path]
        self._items.append((path, time.time()))
        if len(self._items) > max_to_keep:
            self._doomed.append(self._items.pop(0))

    def delete_oldest(self, version: int, meta_graph_suffix: str) -> None:
        """Delete the checkpoint that is too many, if there is one; a failure is only told."""
        if not self._doomed:
            return
        path, written_s = self._doomed.pop(0)
        if written_s > self._period_end_s:
            self._period_end_s += self._period_s
            return
        try:
            checkpoint_state.remove_checkpoint(path, version, meta_graph_suffix)
        except errors.OpError as error:
            tf_logging.warning("Checkpoint %s could not be deleted: %s", path, error)
