"""Contributors: which sessions have added gradients to an accumulator since it was last emptied, and which of old have not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from weft.framework.op_context import StepOwner

# A session that ended is spoken of for so long.
_REMEMBERED_S: Final = 600.0


@dataclass
class _Contribution:
    owner: StepOwner
    last_s: float
    count: int


class Contributors:
    """Counts contributions by session. Used under its accumulator's lock; times are seconds of any one clock."""

    def __init__(self) -> None:
        self._known: dict[str, _Contribution] = {}

    def note(self, owner: StepOwner, now: float, is_fresh: bool) -> None:
        """Count a gradient; one that came too late shows only that its session is alive."""
        known = self._known.setdefault(owner.name, _Contribution(owner, now, 0))
        known.last_s = now
        known.count += is_fresh

    def begin_again(self) -> None:
        """Start counting for the next update."""
        for known in self._known.values():
            known.count = 0

    def report(self, now: float) -> list[dict[str, Any]]:
        """Each session's name, how many gradients it gave for this update, how long ago its last came, and whether it ended."""
        self._known = {
            name: known
            for name, known in self._known.items()
            if not (known.owner.is_closed and now - known.last_s > _REMEMBERED_S)
        }
        return [
            {"name": name, "count": known.count, "age_s": now - known.last_s, "has_left": known.owner.is_closed}
            for name, known in sorted(self._known.items())
        ]
