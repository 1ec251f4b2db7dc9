"""examples/elastic.py: a job that begins with one worker of three; others join it, and one is lost and comes back."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import alarms

ROOT = Path(__file__).parents[2]
ARGUMENTS = ("examples/elastic.py", "--shards=25", "--pause=0.02")


class Started:
    """A process of the example, whose lines are read as they come."""

    def __init__(self, *words: str) -> None:
        command = [sys.executable, "-m", "weft.cli", *words, *ARGUMENTS]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **alarms.SHOWN, "JAX_PLATFORMS": "cpu"}, text=True, **pipes
        )
        self.lines: list[str] = []

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Read until a line has the pattern."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            if found := re.search(pattern, line):
                return found
        raise AssertionError(f"{pattern} was not told:\n{''.join(self.lines)}")

    def end(self) -> list[str]:
        """Wait for the end, which has to be a good one; return the shards that it has trained on."""
        rest, _ = self.process.communicate(timeout=100)
        text = "".join(self.lines) + rest
        assert self.process.returncode == 0, text
        # The test kills a worker.
        assert alarms.unexpected(text.splitlines(), [r"task:2 is gone"]) == []
        return re.findall(r"trains on shard (\d+)", text)


@pytest.fixture
def started() -> Iterator[list[Started]]:
    running: list[Started] = []
    yield running
    for each in running:
        each.process.kill()
        each.process.communicate()


@pytest.mark.slow
def test_workers_join_and_leave_and_every_shard_is_trained_on(started: list[Started]) -> None:
    job = Started("launch", "--ps", "1", "--worker", "3", "--start", "1")
    started.append(job)
    target = job.wait_for(r"worker:1, worker:2 may join later: weft task --join (grpc://\S+)")[1]
    job.wait_for("task:0 has come: updates are made of 1 gradients")
    first = Started("task", "--join", target)
    started.append(first)
    lost = first.wait_for(r"worker:2 trains on shard (\d+)")[1]
    job.wait_for("task:2 has come: updates are made of 2 gradients")
    first.process.kill()
    job.wait_for("task:2 is gone: updates are made of 1 gradients")
    again = Started("task", "--join", target, "--as", "worker:2")
    other = Started("task", "--join", target, "--as", "worker:1")
    started.extend((again, other))
    job.wait_for("updates are made of 3 gradients")
    by_worker = [each.end() for each in (job, again, other)]
    assert all(by_worker)
    # The shard of the worker that was lost was handed out again.
    done = [shard for shards in by_worker for shard in shards]
    assert sorted(map(int, done)) == list(range(25))
    assert lost in done
