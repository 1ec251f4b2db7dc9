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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from benchmarks import profile
from benchmarks.catalogue import Measure
from benchmarks.framework import DETERMINISM_VARIABLE, FRAMEWORK_VARIABLE, ORIGINAL, ROOT, TENSORFLOW, WEFT
from benchmarks.timing import Sample

TITLES = {WEFT: "weft", TENSORFLOW: "TensorFlow", ORIGINAL: "TensorFlow 1"}
# Log lines are noise in a reason.
_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3"}
_CPU_ONLY = {"CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu"}
# What weft calls its version is that of the API which it has.
_VERSION_SOURCES = {
    WEFT: "import weft, importlib.metadata; print(importlib.metadata.version('weft'))",
    TENSORFLOW: "import tensorflow; print(tensorflow.__version__)",
    ORIGINAL: "import tensorflow; print(tensorflow.__version__)",
}
_REASON_CHARACTERS = 160
_GROUP_END_S = 2.0


@dataclass(frozen=True)
class Outcome:
    """What one process gave: a sample, or the reason why there is none."""

    sample: Sample | None
    reason: str | None = None


@dataclass(frozen=True)
class Answer:
    """What a program printed as its result, or the reason why there is nothing."""

    message: dict[str, Any] | None
    reason: str | None = None


@dataclass(frozen=True)
class Contender:
    """A framework and the interpreter that can import it."""

    name: str
    python: str
    sees_accelerators: bool = False
    """Whether its processes may use more than the CPU; no GPU is part of the comparison."""

    @property
    def title(self) -> str:
        return TITLES[self.name]

    def version(self) -> str:
        """Return the framework's version, or the reason why it cannot be imported."""
        source = _VERSION_SOURCES[self.name]
        done = subprocess.run(
            [self.python, "-c", source], cwd=ROOT, env=self._environment(None), capture_output=True, text=True
        )
        return done.stdout.split()[-1] if done.returncode == 0 else f"unavailable: {_reason(done.stderr)}"

    def run(self, measure: Measure, profile_directory: Path | None = None) -> Outcome:
        """Run one measure in a fresh process, blocking until all of its processes are gone."""
        answer = self.ask(measure.program, time_limit_s=measure.time_limit_s, profile_directory=profile_directory)
        if answer.message is None:
            return Outcome(None, answer.reason)
        return Outcome(Sample(*map(answer.message.get, ("value", "best", "count", "waits"))))

    def ask(
        self,
        program: str,
        *sizes: int,
        time_limit_s: float,
        profile_directory: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Answer:
        """Run a program, `family:function` and the sizes that it takes, as `run` does; return what it answers."""
        command = [self.python, "-m", "benchmarks.programs", program, *map(str, sizes)]
        with tempfile.TemporaryFile("w+", errors="replace") as log:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**self._environment(profile_directory), **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
            try:
                output, _ = process.communicate(timeout=time_limit_s)
            except subprocess.TimeoutExpired:
                return Answer(None, f"exceeded {time_limit_s:g} s")
            finally:
                _kill_group(process)
            return _answer(process.returncode, output, log)

    def _environment(self, profile_directory: Path | None) -> dict[str, str]:
        environment = {**os.environ, **_QUIET, FRAMEWORK_VARIABLE: self.name}
        # Importing is measured with the modules' code cached, as where a program is installed.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        if self.name == WEFT:
            # Else its code may come after the warm-up: it is made beside the steps.
            environment[DETERMINISM_VARIABLE] = "1"
        if not self.sees_accelerators:
            environment.update(_CPU_ONLY)
        if profile_directory is not None:
            environment[profile.DIRECTORY_VARIABLE] = str(profile_directory)
        return environment


def _answer(status: int, output: str, log: IO[str]) -> Answer:
    if status == 0 and output.strip():
        return Answer(json.loads(output))
    log.seek(0)
    return Answer(None, _reason(log.read()) or f"ended with status {status}")


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
