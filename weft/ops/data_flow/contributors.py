"""Contributors: which sessions have added gradients to an accumulator since it was last emptied, and which of old have not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

from weft.framework.building.op_context import StepOwner

# A session that ended is spoken of for so long.
_REMEMBERED_S: Final = 600.0


@dataclass
class _Contribution:
    owner: StepOwner
    last_s: float
    count: int = 0
    has_given: bool = False
    has_ended: bool = False


class ReplicaReport(TypedDict):
    """What is known of one session.

    - `count`: how many gradients it gave for this update; `has_given`: whether it ever gave one;
    - `age_s`: how long ago its last came;
    - `has_left`: whether the session is closed, or its process dead or cut off; `has_ended`: whether it said that it ends.
    """

    name: str
    count: int
    has_given: bool
    age_s: float
    has_left: bool
    has_ended: bool


def late_replicas(replicas: Sequence[ReplicaReport]) -> dict[str, str]:
    """The tasks whose gradient an update lacks, of those that `Contributors.report` tells of, each with how late it is."""
    late = [replica for replica in replicas if not replica["count"]]
    return {task_of(each): "left" if each["has_left"] else f"late {each['age_s']:.0f} s" for each in late}


def task_of(replica: ReplicaReport) -> str:
    """The task of a session's name: /job:worker/task:1 of /job:worker/replica:0/task:1#2a."""
    return replica["name"].partition("#")[0].replace("/replica:0", "")


class Contributors:
    """Counts contributions by session. Used under its accumulator's lock; times are seconds of any one clock."""

    def __init__(self) -> None:
        self._known: dict[str, _Contribution] = {}

    def note(self, owner: StepOwner, now: float, is_fresh: bool) -> None:
        """Count a gradient; one that came too late shows only that its session is alive."""
        known = self._note(owner, now)
        known.count += is_fresh
        known.has_given = True
        # One that had come to the end of its input may have got more of it.
        known.has_ended = False

    def join(self, owner: StepOwner, now: float) -> None:
        """Know a session before its first gradient."""
        self._note(owner, now)

    def leave(self, owner: StepOwner) -> None:
        """Note that a session gives no more gradients until it does, and did not just lose its connection."""
        known = self._known.get(owner.name)
        if known is not None:
            known.has_ended = True

    def forget_all(self) -> None:
        """Know nobody any more: those who come are those of another job."""
        self._known.clear()

    def _note(self, owner: StepOwner, now: float) -> _Contribution:
        known = self._known.setdefault(owner.name, _Contribution(owner, now))
        known.last_s = now
        return known

    def begin_again(self) -> None:
        """Start counting for the next update."""
        for known in self._known.values():
            known.count = 0

    def report(self, now: float) -> list[ReplicaReport]:
        """What is known of each session."""
        self._known = {
            name: known
            for name, known in self._known.items()
            if not (known.owner.is_away and now - known.last_s > _REMEMBERED_S)
        }
        return [
            {
                "name": name,
                "count": known.count,
                "has_given": known.has_given,
                "age_s": now - known.last_s,
                "has_left": known.owner.is_away,
                "has_ended": known.has_ended,
            }
            for name, known in sorted(self._known.items())
        ]
