"""What stays behind is told by name; a short leak proof runs in a process of its own."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from reliability.leaks import footprint

ROOT = Path(__file__).parents[3]


def test_growth_is_told_by_name() -> None:
    before = footprint.Footprint(10, 20, 5, 100 << 20, {"weft.a.Step": 3})
    assert footprint.growth(before, before, 100) == []
    after = dataclasses.replace(before, threads=40, objects={"weft.a.Step": 103})
    assert footprint.growth(before, after, 100) == ["100 more objects weft.a.Step", "30 more threads: 40, 10 before"]


def test_a_process_knows_what_it_holds() -> None:
    held = footprint.take()
    assert held.threads >= 1
    assert held.descriptors >= 3
    assert held.resident_bytes > 1 << 20


@pytest.mark.slow
@pytest.mark.timeout(200)
def test_nothing_stays_of_steps_sessions_and_clients_that_ended_badly() -> None:
    command = [sys.executable, "-m", "reliability", "leaks", "--steps", "200", "--sessions", "30", "--clients", "20"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr
