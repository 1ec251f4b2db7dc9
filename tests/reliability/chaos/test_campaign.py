"""A few chaos jobs; `make chaos` runs two hundred."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reliability.chaos.campaign import table
from reliability.chaos.job import Outcome

ROOT = Path(__file__).parents[3]


def test_the_table_counts_jobs_and_times() -> None:
    outcomes = [
        Outcome(0, "async", "kill ps", detected_s=0.5, recovered_s=1.0, operations=7),
        Outcome(1, "sync", "kill ps", detected_s=1.5, recovered_s=3.0, operations=3, problems=["lost"]),
    ]
    shown = table(outcomes)
    assert "| kill ps | 2 | 1 | 1.00 s, 1.50 s | 2.00 s, 3.00 s |" in shown
    assert "1 of 2 jobs as they should; 10 operations" in shown


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_job_whose_worker_is_stopped_and_one_whose_connections_are_cut_end_as_they_should(tmp_path: Path) -> None:
    # In a process of its own: the jobs fork, which a process with threads cannot.
    for first in (4, 8):
        command = [sys.executable, "-m", "reliability", "chaos", "--jobs", "1", "--first", str(first), "--steps", "30"]
        done = subprocess.run([*command, "--keep", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=110)
        assert done.returncode == 0, done.stdout + done.stderr
