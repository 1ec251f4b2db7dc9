"""Runs archives of cases in processes of TensorFlow and of weft. A library that dies of a case loses that case only."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

from tensorboard.compat.proto import op_def_pb2

from tests.differential.ops.archive import Reader
from tests.tensorflows import VARIABLES, environment

_HERE: Final = Path(__file__).parent
_ROOT: Final = _HERE.parents[2]
# A machine that others use lets a case wait, which compiles code.
_CASE_TIMEOUT_S: Final = 300
# A library is imported before its first case, on a machine that may be busy.
_START_TIMEOUT_S: Final = 600
# A process that ran so many archives is replaced: weft's keeps the code of all that it compiled.
_ARCHIVES_OF_A_PROCESS: Final = 40
_DESCRIBE: Final = """
import sys
import tensorflow as tf
try:
    from tensorflow.python.client.pywrap_tf_session import TF_GetAllOpList, TF_GetBuffer
except ImportError:
    from tensorflow.python.pywrap_tensorflow import TF_GetAllOpList, TF_GetBuffer
sys.stdout.buffer.write(TF_GetBuffer(TF_GetAllOpList()))
"""


def python_of(version: str) -> str | None:
    """The Python that has a TensorFlow, None where there is none."""
    return os.environ.get(VARIABLES[version])


def definitions(python: str) -> dict[str, op_def_pb2.OpDef]:
    """The declarations of all ops of a TensorFlow, by name."""
    found = subprocess.run([python, "-W", "ignore", "-c", _DESCRIBE], capture_output=True, check=True, env=environment())
    return {each.name: each for each in op_def_pb2.OpList.FromString(found.stdout).op}


class Results(NamedTuple):
    """What came of cases, by their numbers, and what has the arrays."""

    of: dict[int, Any]
    reader: Reader


class Library:
    """A library that runs cases in a process of its own, which is started anew when it dies of a case.

    With a folder to keep results in, a case that it has run before is not run again. `limit_s` is the time for one archive: the
    cases that it has not come to by then have no result.
    """

    def __init__(self, python: str, module: str, ways: str = "cold", kept: Path | None = None, limit_s: float = 600) -> None:
        self._command = [python, "-W", "ignore", str(_HERE / "runner.py"), module, "--ways", ways]
        self._environment = environment()
        if module == "weft":
            self._environment |= {"PYTHONPATH": str(_ROOT), "JAX_PLATFORMS": "cpu"}
        self._kept = kept
        self._limit_s = limit_s
        self._archives = 0
        self._thread = ThreadPoolExecutor(1)
        self._process: subprocess.Popen[str] | None = None

    def start(self, archive: Path, only: Collection[int] | None = None) -> Future[Results]:
        """Begin to run the cases of an archive, or some of them."""
        return self._thread.submit(self._run, archive, only)

    def close(self) -> None:
        """End the process."""
        self._thread.shutdown()
        self._end()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _run(self, archive: Path, only: Collection[int] | None) -> Results:
        count = len(Reader(str(archive)).records)
        results = archive.with_suffix(f".{id(self)}.npz")
        if self._kept is not None:
            results = self._kept / f"{hashlib.sha256(archive.read_bytes()).hexdigest()}.npz"
        died: list[int] = []
        self._archives += 1
        if self._archives % _ARCHIVES_OF_A_PROCESS == 0:
            self._end()
        deadline = time.monotonic() + self._limit_s
        unwanted = [] if only is None else [number for number in range(count) if number not in only]
        while not results.exists():
            order = {"cases": str(archive), "results": str(results), "skipped": [*unwanted, *died]}
            order["limit_s"] = max(deadline - time.monotonic(), 0)
            last = self._attempt(order)
            if last is not None:
                died.append(last)
        reader = Reader(str(results))
        return Results(
            {**{number: {"died": True} for number in died}, **{each["number"]: each for each in reader.records}}, reader
        )

    def _attempt(self, order: Any) -> int | None:
        """Give an order; the case that the process died of, if it did."""
        if self._process is None:
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                self._command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=self._environment
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        last = None
        limit_s = _START_TIMEOUT_S
        # What a library itself prints is no number.
        while line := self._read_line(self._process, limit_s):
            limit_s = _CASE_TIMEOUT_S
            if line == "written\n":
                return None
            last = int(line) if line.strip().isdigit() else last
        self._end()
        if last is None:
            raise RuntimeError(f"{' '.join(self._command)} could not start")
        return last

    def _read_line(self, process: subprocess.Popen[str], limit_s: float) -> str:
        """The next line, "" where the process has died or hangs."""
        assert process.stdout is not None
        timer = threading.Timer(limit_s, process.kill)
        timer.start()
        try:
            return process.stdout.readline()
        finally:
            timer.cancel()


def weft(ways: str, limit_s: float) -> Library:
    """This weft."""
    return Library(sys.executable, "weft", ways, limit_s=limit_s)


def tensorflow(python: str, kept: Path | None, limit_s: float) -> Library:
    """A TensorFlow, whose results are kept in a folder, if there is one."""
    return Library(python, "tensorflow.compat.v1", kept=kept, limit_s=limit_s)
