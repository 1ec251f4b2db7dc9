"""BoardView: a replica's look at the board of its job: the other replicas, the last training run, and the fence."""

from __future__ import annotations

import json
import threading
from dataclasses import astuple, dataclass
from typing import Final

from weft.errors import OpError, UnavailableError
from weft.platform.logs import tf_logging
from weft.protocol.job_watch import MEMBER
from weft.training.sessions.board import Board
from weft.training.sessions.model_signature import ModelSignature, as_plain, from_plain
from weft.training.sessions.revival import Run

LEASE_S: Final = 6.0
NO: Final = ""
CAN: Final = "can"
IS: Final = "is"
# What the run's note stands under; a replica's name has a colon, as no other note's.
_RUN: Final = "run"
# The fence around a model whose values are being replaced.
_FENCE: Final = "fence"


@dataclass(frozen=True)
class Replica:
    """A replica's note of itself.

    `process` is the host and the process, `state` what it does: 'initializing' and 'ready' for the chief, 'waiting' and
    'training' for the others. `pause` says of one that trains whether its steps wait for a fence to be lowered: NO, CAN or IS.
    """

    is_chief: bool
    address: str
    process: str
    state: str
    signature: ModelSignature
    pause: str = NO

    def __str__(self) -> str:
        return f"{'chief' if self.is_chief else 'replica'} {self.address} (process {self.process})"

    def as_note(self) -> bytes:
        """The note to post."""
        plain = [self.is_chief, self.address, self.process, self.state, as_plain(self.signature), self.pause]
        return json.dumps(plain).encode()

    @staticmethod
    def from_note(note: bytes) -> Replica:
        """The contents of a note."""
        is_chief, address, process, state, signature, pause = json.loads(note)
        return Replica(is_chief, address, process, state, from_plain(signature), pause)


def is_replica(member: str) -> bool:
    """Whether a note is a replica's own; those that tell servers how a job goes stand under addresses too."""
    return ":" in member and not member.startswith(MEMBER)


class BoardView:
    """What one member sees on the board.

    Args:
        board: the member's board.
        lock: of the board.
        member: the name that its own note stands under.
        signature: its own model's.
    """

    def __init__(self, board: Board, lock: threading.Lock, member: str, signature: ModelSignature) -> None:
        self.signature = signature
        self._board = board
        self._lock = lock
        self._member = member
        self._is_fenced = False

    def keep_run(self, run: Run) -> None:
        """Leave a note of a training run. Under the board's lock."""
        self._board.keep(_RUN, json.dumps(astuple(run)).encode())

    def others(self) -> list[Replica]:
        """The replicas of other sessions that are there now; none when the board cannot be read. Blocks for a few seconds."""
        try:
            with self._lock:
                found = self._board.read()
        except OpError as error:
            tf_logging.debug("The replica board cannot be read: %s", error.message)
            return []
        return self._others_of(found)

    def refresh(self) -> bool:
        """Look at the board; returns whether it could be read. Blocks for a few seconds."""
        try:
            with self._lock:
                self._is_fenced = _FENCE in self._board.read()
        except (OpError, RuntimeError):  # the session was closed
            return False
        return True

    def _others_of(self, found: dict[str, tuple[bytes, float]]) -> list[Replica]:
        self._is_fenced = _FENCE in found
        fresh = (
            note for member, (note, age) in found.items() if is_replica(member) and member != self._member and age < LEASE_S
        )
        return [Replica.from_note(note) for note in fresh]

    def job(self) -> tuple[Run | None, list[Replica]]:
        """The note of the last training run, and the replicas of other sessions that are there now.

        Raises:
            UnavailableError: the board cannot be read now.
        """
        try:
            with self._lock:
                found = self._board.read()
        except OpError as error:
            raise UnavailableError(error.node_def, error.op, f"The replica board cannot be read: {error.message}") from error
        run = Run(*json.loads(found[_RUN][0])) if _RUN in found else None
        return run, self._others_of(found)

    @property
    def is_fenced(self) -> bool:
        """Whether the last look found a model whose values a chief has begun to replace, and not finished."""
        return self._is_fenced

    def raise_fence(self) -> None:
        """Have replicas wait, and the next chief begin anew, until the fence is lowered, also if this process dies; blocks."""
        self._is_fenced = True
        with self._lock:
            self._board.keep(_FENCE, b"values are replaced")

    def lower_fence(self) -> None:
        """Say that the model has all its values; blocks if there is a fence."""
        if self._is_fenced:
            with self._lock:
                self._board.leave(_FENCE)
            self._is_fenced = False
