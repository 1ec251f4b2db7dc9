"""The servers on which sessions of this process were, for whoever tells their tasks how the process ends."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from tensorboard.compat.proto import config_pb2

from weft.distributed.master.steps.step_counts import OWN_SESSION

# By process as well: a forked child has its parent's, and had no session there itself.
_USED: Final[dict[tuple[int, str], config_pb2.ConfigProto | None]] = {}
_SPOKEN_FOR: Final[set[str]] = set()


def note(target: str, config: config_pb2.ConfigProto | None) -> None:
    """Note a session of the program; weft's own ones, and those in this process alone, do not count."""
    is_own = config is not None and config.experimental.session_metadata.name == OWN_SESSION
    if target and not is_own:
        _USED.setdefault((os.getpid(), target), config)


def speak_for(target: str) -> None:
    """Say that somebody else tells the tasks of this target how the training there goes, and how it ends."""
    _SPOKEN_FOR.add(target)


def untold() -> Mapping[str, config_pb2.ConfigProto | None]:
    """The targets that nobody speaks for, each with the ConfigProto of its first session."""
    return {target: config for (pid, target), config in _USED.items() if pid == os.getpid() and target not in _SPOKEN_FOR}
