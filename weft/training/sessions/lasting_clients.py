"""Clients of masters in other processes, which stay connected when their training is over, until their own process ends.

A server that is joined ends with its job when nobody is there any more (`protocol.job_watch`). A process that is a task itself
is there as long as it lives. Of one that is only a client, such as a notebook beside the cluster, servers would know nothing
between two of its sessions, and end while somebody looks at a curve.
"""

from __future__ import annotations

import os
from typing import Final

from weft.distributed.server.in_process import local_servers
from weft.training.sessions.board import Board

# By process as well: a forked child has no connection of its own.
_LASTING: Final[dict[tuple[int, str], Board]] = {}


def end_training(address: str, board: Board) -> None:
    """Close the board of a session that has ended, or keep it until the process ends, for its connection.

    Args:
        address: the session's server, `host:port`.
        board: the session's; nothing is posted to it any more.
    """
    if local_servers.find(address) is not None:
        board.close()
        return
    key = os.getpid(), address
    before = _LASTING.get(key)
    _LASTING[key] = board
    if before is not None:
        before.close()


def leave() -> None:
    """Close those that were kept: the process ends."""
    for key in [key for key in _LASTING if key[0] == os.getpid()]:
        _LASTING.pop(key).close()
