"""What a chief does with the values that it finds."""

from __future__ import annotations

import dataclasses

import pytest

from weft.training.sessions.revival import ALWAYS, SHARD, WHOLE, ModelFound, Revival, Run, revival_of

ALIVE = ModelFound(
    live=5, missing=0, live_step=1600, has_checkpoint=True, checkpoint_step=0, checkpoints="/d", run=Run("/d", has_ended=False)
)


def found(**changes: object) -> ModelFound:
    return dataclasses.replace(ALIVE, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("scope", [SHARD, WHOLE])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"live_step": 0},
        {"live_step": None, "checkpoint_step": None},
        {"has_checkpoint": False, "checkpoint_step": None},
        {"run": Run("/d", has_ended=True)},
        {"run": None, "has_replicas": True},
        {"run": None, "is_returning": True},
        {"has_checkpoint": False, "checkpoints": None, "run": Run(None, has_ended=False)},
    ],
)
def test_a_model_that_lives_is_joined(scope: str, changes: dict[str, object]) -> None:
    assert revival_of(found(**changes), scope) is Revival.JOIN


@pytest.mark.parametrize("scope", [SHARD, WHOLE])
@pytest.mark.parametrize(
    "changes",
    [
        # What another run has left, or nobody has announced.
        {"checkpoints": "/other"},
        {"run": None},
        {"run": Run("/d", has_ended=True), "has_checkpoint": False},
        {"checkpoints": None, "run": Run(None, has_ended=True), "has_checkpoint": False},
        # What a chief that died has left half made.
        {"is_half_made": True},
        {"is_half_made": True, "is_returning": True, "missing": 2},
        # A checkpoint of a later step than what lives.
        {"checkpoint_step": 1601},
        {"checkpoint_step": 1601, "is_returning": True, "missing": 2},
        # Nothing lives.
        {"live": 0, "missing": 5, "live_step": None, "is_returning": True},
    ],
)
def test_values_that_are_not_the_runs_are_replaced(scope: str, changes: dict[str, object]) -> None:
    expected = Revival.RESTORE_ALL if changes.get("has_checkpoint", True) else Revival.INITIALIZE_ALL
    assert revival_of(found(**changes), scope) is expected


def test_a_lost_shard_is_restored_alone_or_with_the_whole() -> None:
    lost = found(live=3, missing=2)
    assert revival_of(lost, SHARD) is Revival.RESTORE_MISSING
    assert revival_of(lost, WHOLE) is Revival.RESTORE_ALL
    unsaved = dataclasses.replace(lost, has_checkpoint=False)
    assert revival_of(unsaved, SHARD) is Revival.INITIALIZE_MISSING
    assert revival_of(unsaved, WHOLE) is Revival.INITIALIZE_ALL


def test_always_asks_nothing() -> None:
    assert revival_of(ALIVE, ALWAYS) is Revival.RESTORE_ALL
    assert revival_of(found(has_checkpoint=False), ALWAYS) is Revival.INITIALIZE_ALL
