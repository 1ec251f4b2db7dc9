"""examples/hybrid.py: tables on parameter servers, and a network whose gradients four workers sum by collectives."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import alarms

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_four_workers_keep_their_copies_the_same_and_learn_the_tables_on_the_servers() -> None:
    command = [sys.executable, "-m", "weft.cli", "launch", "--ps", "2", "--worker", "4", "examples/hybrid.py", "--steps=200"]
    environment = {**os.environ, **alarms.SHOWN, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=115, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    sums = re.findall(r"worker:(\d) \| trained: .* the copy's weights sum to (\S+)", done.stdout)
    assert sorted(worker for worker, _ in sums) == ["0", "1", "2", "3"]
    assert len({total for _, total in sums}) == 1
    losses = re.findall(r"step \d+: loss (\S+),", done.stdout)
    assert float(losses[-1]) < 0.8 * float(losses[0])
    assert "only in the chief's graph" not in done.stdout
    assert alarms.unexpected([*done.stdout.splitlines(), *done.stderr.splitlines()]) == []
