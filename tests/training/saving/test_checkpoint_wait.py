"""Waiting for checkpoints, on a clock that the test turns."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf
from weft.checkpoint.bundle_writer import BundleWriter
from weft.checkpoint.checkpoint_state import update_checkpoint_state
from weft.platform.waits import wait_notice
from weft.training.saving import checkpoint_wait
from weft.training.saving.checkpoint_wait import wait_for_new_checkpoint


class Clock:
    """A clock that sleeping turns; at given times something is done."""

    def __init__(self) -> None:
        self.now = 0.0
        self.plans: dict[float, str] = {}

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        for when in [when for when in self.plans if when <= self.now]:
            write(Path(self.plans.pop(when)))


def write(path: Path) -> None:
    with BundleWriter(str(path)) as writer:
        writer.add("v", 1)
    update_checkpoint_state(str(path.parent), str(path))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    fake = Clock()
    monkeypatch.setattr(checkpoint_wait, "time", fake)
    return fake


def test_a_new_checkpoint_is_waited_for(clock: Clock, tmp_path: Path) -> None:
    clock.plans = {5.0: str(tmp_path / "m-1"), 9.0: str(tmp_path / "m-2")}
    first = wait_for_new_checkpoint(str(tmp_path))
    assert (first, clock.now) == (str(tmp_path / "m-1"), 5.0)
    assert wait_for_new_checkpoint(str(tmp_path), first) == str(tmp_path / "m-2")
    assert wait_for_new_checkpoint(str(tmp_path), str(tmp_path / "m-2"), timeout=10) is None
    assert clock.now <= 19.0


def test_who_waits_for_the_first_checkpoint_is_told_where(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_S", 0.0)
    wait_for_new_checkpoint(tmp_path / "none", timeout=3)
    assert f"for a new checkpoint in '{tmp_path}/none'. There is no such folder: look whether the training runs" in caplog.text
    caplog.clear()
    # The next one is awaited for as long as lies between two saves.
    wait_for_new_checkpoint(tmp_path, str(tmp_path / "m-1"), timeout=3)
    assert "for a new checkpoint" not in caplog.text


def test_an_iterator_yields_what_is_new_until_it_times_out(clock: Clock, tmp_path: Path) -> None:
    clock.plans = {2.0: str(tmp_path / "m-1"), 30.0: str(tmp_path / "m-2")}
    asked = []

    def is_over() -> bool:
        asked.append(clock.now)
        return len(asked) == 2

    found = list(tf.train.checkpoints_iterator(str(tmp_path), min_interval_secs=5, timeout=40, timeout_fn=is_over))
    assert found == [str(tmp_path / "m-1"), str(tmp_path / "m-2")]
    assert len(asked) == 2
