"""The replica board: where the replicas of a training job leave notes for each other, on a task that all of them reach.

A member posts a note under its own name and posts again to say that it is still there. A note may be one to keep, however long
its member is silent: it says of a training run what has to outlive every process of it. Readers get every note with its age by
the clock of the board's task, so clocks of several hosts are never compared.
"""

from __future__ import annotations

import threading
import time
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types.dims import Dims
from weft.ops.declaration import no_outputs, op, scalar_shape

CONTAINER: Final = "weft"
"""The container of the board of a training job."""
NAME: Final = "replicas"
"""Its name there."""

# Who has been silent for so long is forgotten; readers decide themselves whom they count as gone before.
_FORGOTTEN_S: Final = 600.0


class ReplicaBoard:
    """The notes by member. Safe from any thread; never blocks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._notes: dict[bytes, tuple[bytes, float]] = {}
        self._kept: set[bytes] = set()

    def post(self, member: bytes, note: bytes, now: float, is_kept: bool = False) -> bool:
        """Put up a member's note; an empty one keeps the note that is there. Tells whether there is a note now."""
        with self._lock:
            posted = note or self._notes.get(member, (b"", now))[0]
            if posted:
                self._notes[member] = posted, now
                if is_kept:
                    self._kept.add(member)
            return bool(posted)

    def leave(self, member: bytes) -> None:
        """Take a member's note away."""
        with self._lock:
            self._notes.pop(member, None)
            self._kept.discard(member)

    def notes_under(self, prefix: bytes) -> list[bytes]:
        """The notes of those whose names begin so."""
        with self._lock:
            return [note for member, (note, _) in self._notes.items() if member.startswith(prefix)]

    def read(self, now: float) -> list[tuple[bytes, bytes, float]]:
        """Member, note and the seconds since the last post, of every member."""
        with self._lock:
            self._notes = {
                member: note for member, note in self._notes.items() if member in self._kept or now - note[1] < _FORGOTTEN_S
            }
            return [(member, note, now - posted) for member, (note, posted) in self._notes.items()]


def _board(ctx: OpContext) -> ReplicaBoard:
    return ctx.find_or_create(ReplicaBoard, ReplicaBoard)


@op("ReplicaBoardPost", "member: string, note: string -> has_note: bool", infer=scalar_shape, gradient=None, stateful=True,
    at_once=True)  # fmt: skip
def replica_board_post(
    ctx: OpContext, member: Array, note: Array, *, container: str = "", shared_name: str = "", is_kept: bool = False
) -> Result:
    """Put up a member's note, or with an empty one say that it is still there; false when the board knows no note of it.

    With `is_kept` the note stays when its member is silent.

    `scalar string, scalar string -> scalar bool`
    """
    return np.asarray(_board(ctx).post(member.item(), note.item(), time.monotonic(), is_kept))


@op("ReplicaBoardLeave", "member: string ->", infer=no_outputs, gradient=None, stateful=True, at_once=True)
def replica_board_leave(ctx: OpContext, member: Array, *, container: str = "", shared_name: str = "") -> tuple[()]:
    """Take a member's note away: `scalar string ->`."""
    _board(ctx).leave(member.item())
    return ()


def _vectors(node: Operation) -> list[Dims]:
    return [(None,), (None,), (None,)]


@op("ReplicaBoardRead", "-> members: string, notes: string, ages: float", infer=_vectors, gradient=None, stateful=True,
    at_once=True)  # fmt: skip
def replica_board_read(ctx: OpContext, *, container: str = "", shared_name: str = "") -> tuple[Result, Result, Result]:
    """Members, their notes, and the seconds since each posted last.

    `-> [members] string, [members] string, [members] float`
    """
    found = _board(ctx).read(time.monotonic())
    members, notes = np.empty(len(found), np.object_), np.empty(len(found), np.object_)
    members[:] = [member for member, _, _ in found]
    notes[:] = [note for _, note, _ in found]
    return members, notes, np.array([age for _, _, age in found], np.float32)
