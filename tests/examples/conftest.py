"""The example programs as a user runs them: in processes of their own, from the project's root."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import alarms

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python with the arguments given, to its end; a good one alarms nobody."""

    def run_command(*arguments: object, timeout_s: float = 200) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=ROOT,
            env={**os.environ, **alarms.SHOWN, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        if not done.returncode:
            assert alarms.unexpected([*done.stdout.splitlines(), *done.stderr.splitlines()]) == []
        return done

    return run_command
