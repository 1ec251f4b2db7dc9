"""What a chief does with the values that it finds when its session begins: the rule, without I/O."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

SHARD: Final = "shard"
WHOLE: Final = "whole"
ALWAYS: Final = "always"
SCOPES: Final = (SHARD, WHOLE, ALWAYS)


class Revival(Enum):
    """What gives the variables of a model their values."""

    JOIN = "the model lives: nothing is restored"
    RESTORE_MISSING = "the variables without a value are restored"
    RESTORE_ALL = "all variables are restored"
    INITIALIZE_MISSING = "the variables without a value are initialized"
    INITIALIZE_ALL = "the model is initialized"


@dataclass(frozen=True)
class Run:
    """A training run's note beside its model: where its checkpoints are (None: nowhere), and whether its chief has ended it.

    A chief ends a run by closing its session, after an error as well; one that was killed has not.
    """

    checkpoints: str | None
    has_ended: bool


@dataclass(frozen=True)
class ModelFound:
    """What a chief finds on the tasks that hold the variables, and what there is to restore from.

    Args:
        live: how many variables have a value.
        missing: how many have none.
        live_step: the global step; None when it has no value or there is none.
        has_checkpoint: whether there is one.
        checkpoint_step: the global step in it, if it has one.
        checkpoints: where this chief's checkpoints are.
        run: the note of the last run; None when there is none.
        is_returning: whether this chief itself has had the model ready before, in this process.
        has_replicas: whether other replicas train now.
        is_half_made: whether a chief has died while it gave values to a model that had others.
    """

    live: int
    missing: int
    live_step: int | None = None
    has_checkpoint: bool = False
    checkpoint_step: int | None = None
    checkpoints: str | None = None
    run: Run | None = None
    is_returning: bool = False
    has_replicas: bool = False
    is_half_made: bool = False

    @property
    def is_own(self) -> bool:
        """Whether the values are those of this chief's training run, rather than left by another one."""
        if self.is_returning:
            return True
        if self.run is None:
            return self.has_replicas
        # A run that has ended may be begun again from nothing, by whoever removes its checkpoints.
        return self.run.checkpoints == self.checkpoints and (self.has_checkpoint or not self.run.has_ended)

    @property
    def is_behind(self) -> bool:
        """Whether the checkpoint is of a later step than what lives."""
        return self.live_step is not None and self.checkpoint_step is not None and self.live_step < self.checkpoint_step


def revival_of(found: ModelFound, scope: str) -> Revival:
    """What a chief does.

    Args:
        found: what it finds.
        scope: SHARD gives values only to variables without one, WHOLE to all as soon as one has none; ALWAYS asks nothing.
    """
    whole = Revival.RESTORE_ALL if found.has_checkpoint else Revival.INITIALIZE_ALL
    if scope == ALWAYS or not found.live or not found.is_own or found.is_behind or found.is_half_made:
        return whole
    if not found.missing:
        return Revival.JOIN
    if scope == WHOLE:
        return whole
    return Revival.RESTORE_MISSING if found.has_checkpoint else Revival.INITIALIZE_MISSING
