"""One framework in one sitting: its interpreter, its version, and how a measure is run in it.

Every measure runs in a fresh process in a process group of its own. A crash or an exceeded time limit becomes an
outcome with a reason, and the whole group is killed either way.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from benchmarks import profile
from benchmarks.catalogue import Measure
from benchmarks.framework import FRAMEWORK_VARIABLE, MODULES, ROOT, TENSORFLOW, WEFT
from benchmarks.timing import Sample

TITLES = {WEFT: "weft", TENSORFLOW: "TensorFlow"}
# Log lines are noise in a reason, and no GPU is part of the comparison.
_ENVIRONMENT = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu"}
_REASON_CHARACTERS = 160
_GROUP_END_S = 2.0


@dataclass(frozen=True)
class Outcome:
    """What one process gave: a sample, or the reason why there is none."""

    sample: Sample | None
    reason: str | None = None


@dataclass(frozen=True)
class Contender:
    """A framework and the interpreter that can import it."""

    name: str
    python: str

    @property
    def title(self) -> str:
        return TITLES[self.name]

    def version(self) -> str:
        """Return the framework's version, or the reason why it cannot be imported."""
        module = MODULES[self.name]
        source = f"import {module} as m; print(getattr(m, '__version__', 'unversioned'))"
        done = subprocess.run(
            [self.python, "-c", source], cwd=ROOT, env=self._environment(None), capture_output=True, text=True
        )
        return done.stdout.split()[-1] if done.returncode == 0 else f"unavailable: {_reason(done.stderr)}"

    def run(self, measure: Measure, profile_directory: Path | None = None) -> Outcome:
        """Run one measure in a fresh process, blocking until all of its processes are gone."""
        command = [self.python, "-m", "benchmarks.programs", measure.program]
        with tempfile.TemporaryFile("w+", errors="replace") as log:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self._environment(profile_directory),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
            try:
                output, _ = process.communicate(timeout=measure.time_limit_s)
            except subprocess.TimeoutExpired:
                return Outcome(None, f"exceeded {measure.time_limit_s:g} s")
            finally:
                _kill_group(process)
            return _outcome(process.returncode, output, log)

    def _environment(self, profile_directory: Path | None) -> dict[str, str]:
        environment = {**os.environ, **_ENVIRONMENT, FRAMEWORK_VARIABLE: self.name}
        if profile_directory is not None:
            environment[profile.DIRECTORY_VARIABLE] = str(profile_directory)
        return environment


def _outcome(status: int, output: str, log: IO[str]) -> Outcome:
    if status == 0 and output.strip():
        message = json.loads(output)
        return Outcome(Sample(message["value"], message["best"], message["count"]))
    log.seek(0)
    return Outcome(None, _reason(log.read()) or f"ended with status {status}")


def _reason(log: str) -> str:
    """Return the first exception of a log, which caused the others, in one line; or the log's last line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line.split(":")[0] and " " not in line.split(":")[0]]
    chosen = errors[0] if errors else lines[-1] if lines else ""
    return chosen if len(chosen) <= _REASON_CHARACTERS else chosen[: _REASON_CHARACTERS - 1] + "…"


def _kill_group(process: subprocess.Popen[str]) -> None:
    """Kill whatever is left of the process and its children, collect it, and wait until none is left.

    The wait is bounded: where nobody collects orphans, a dead child stays in the group for good.
    """
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        gives_up_at = time.monotonic() + _GROUP_END_S
        while time.monotonic() < gives_up_at:
            os.killpg(process.pid, 0)
            time.sleep(0.01)
    process.communicate()
