"""Board: the replica board of a job as one member uses it, in a session and a graph of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Final

from tensorboard.compat.proto import config_pb2

from weft.client.session import Session
from weft.distributed.master.steps.step_counts import OWN_SESSION
from weft.errors import AbortedError, OpError, UnavailableError
from weft.framework.building.aliases import Feeds, Fetches
from weft.framework.graphs.graph import Graph
from weft.framework.types import dtypes
from weft.ops.array.placeholder import placeholder
from weft.ops.data_flow.replica_board import CONTAINER, NAME, replica_board_leave, replica_board_post, replica_board_read

_TIMEOUT_MS: Final = 5000
_BOARD: Final = {"container": CONTAINER, "shared_name": NAME}


class Board:
    """The board as one member uses it. Used under its owner's lock.

    Args:
        target: the session's target.
        config: the session's ConfigProto, whose device filters hold here too.
        tasks: the devices that have a board each; a note is posted on all of them.
        timeout_ms: how long each call may take.
    """

    def __init__(
        self, target: str, config: config_pb2.ConfigProto | None, tasks: Sequence[str], timeout_ms: int = _TIMEOUT_MS
    ) -> None:
        self._target = target
        self._config = _board_config(config, timeout_ms)
        self._session: Session | None = None
        self._graph = Graph()
        self._kept_on: dict[str, object] = {}
        with self._graph.as_default():
            self._member = placeholder(dtypes.string, [])
            self._note = placeholder(dtypes.string, [])
            self._posts, self._keeps, self._leaves, self._reads = [], [], [], []
            for task in tasks:
                with self._graph.device(task):
                    self._posts.append(replica_board_post(self._member, self._note, **_BOARD))
                    self._keeps.append(replica_board_post(self._member, self._note, is_kept=True, **_BOARD))
                    self._leaves.append(replica_board_leave(self._member, **_BOARD))
                    self._reads.append(replica_board_read(**_BOARD))

    def _opened(self) -> Session:
        if self._session is None:
            self._session = Session(self._target, graph=self._graph, config=self._config)
        return self._session

    def devices(self) -> list[str]:
        """The devices on which it could keep notes: those of its session."""
        return [device.name for device in self._opened().list_devices()]

    def _run(self, fetches: Fetches, feeds: Feeds | None = None) -> Any:
        try:
            return self._opened().run(fetches, feeds)
        except (AbortedError, UnavailableError):
            # Its containers were reset, or a task was restarted: the next one finds it again.
            self.close()
            raise

    def post(self, member: str, note: bytes) -> bool:
        """Post a note, or with an empty one say that the member is still there; tells whether every task has its note."""
        return all(self._run(self._posts, {self._member: member, self._note: note}))

    def keep(self, member: str, note: bytes) -> None:
        """Post a note that stays when its member is silent."""
        self._run(self._keeps, {self._member: member, self._note: note})

    def keep_on(self, tasks: Sequence[str], member: str, note: bytes) -> None:
        """Post a note that stays on tasks of the session, whether or not they are those of the board."""
        with self._graph.as_default():
            for task in tasks:
                if task not in self._kept_on:
                    with self._graph.device(task):
                        self._kept_on[task] = replica_board_post(self._member, self._note, is_kept=True, **_BOARD)
        self._run([self._kept_on[task] for task in tasks], {self._member: member, self._note: note})

    def leave(self, member: str) -> None:
        """Take the member's note away."""
        self._run(self._leaves, {self._member: member})

    def read(self) -> dict[str, tuple[bytes, float]]:
        """Each member's note and its age in seconds, the youngest of all tasks."""
        found: dict[str, tuple[bytes, float]] = {}
        for members, notes, ages in self._run(self._reads):
            for member, note, age in zip(members.tolist(), notes.tolist(), ages.tolist(), strict=True):
                name = member.decode()
                if name not in found or age < found[name][1]:
                    found[name] = note, age
        return found

    def close(self) -> None:
        """End the session."""
        session, self._session = self._session, None
        if session is not None:
            with contextlib.suppress(OpError):
                session.close()


def _board_config(config: config_pb2.ConfigProto | None, timeout_ms: int) -> config_pb2.ConfigProto:
    """The session's config with a time limit, and without what only the program's own graph is for."""
    own = config_pb2.ConfigProto()
    if config is not None:
        own.CopyFrom(config)
    own.operation_timeout_in_ms = timeout_ms
    own.allow_soft_placement = True
    own.log_device_placement = False
    own.ClearField("graph_options")
    own.experimental.session_metadata.name = OWN_SESSION
    return own
