"""Programs of the guides as processes: started with free addresses, watched line by line, killed with all their children."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from tests import alarms
from tests.warm_python import WarmProcess

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"


class Program:
    """A Python program that runs; its output is collected while it does.

    Args:
        path: the file; a bare name is one of `programs/`.
        arguments: its command line.
    """

    def __init__(self, path: str | Path, *arguments: object) -> None:
        left_out = ("PYTEST_CURRENT_TEST", "PYTHONUNBUFFERED")
        environment = {key: value for key, value in os.environ.items() if key not in left_out}
        environment |= {"PYTHONPATH": str(ROOT), **alarms.SHOWN}
        self._process = WarmProcess([str(PROGRAMS / path), *map(str, arguments)], environment)
        self._changed = threading.Condition()
        self._lines: list[str] = []
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stdout:
            with self._changed:
                self._lines.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    @property
    def output(self) -> list[str]:
        """The lines printed so far."""
        with self._changed:
            return list(self._lines)

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def wait_for(self, text: str, timeout_s: float = 30.0) -> str:
        """Block until a line contains `text`; return the first such line."""
        with self._changed:
            found = self._changed.wait_for(lambda: self._ended or self._find(text) is not None, timeout_s)
            line = self._find(text)
        assert line is not None, f"{text!r} {'was never' if found else 'not yet'} printed:\n" + "\n".join(self.output)
        return line

    def _find(self, text: str) -> str | None:
        return next((line for line in self._lines if text in line), None)

    def send_line(self) -> None:
        """Give the program a line to read."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def wait(self, timeout_s: float = 60.0, expected: Sequence[str] = ()) -> list[str]:
        """Block until the program ends by itself, with success and without alarms; return what it printed.

        Args:
            timeout_s: how long that may take.
            expected: patterns of the alarms that it brings about.
        """
        code, output = self.wait_for_end(timeout_s)
        assert code == 0, "\n".join(output)
        found = alarms.unexpected(output, expected)
        assert not found, found
        return output

    def wait_for_end(self, timeout_s: float = 60.0) -> tuple[int, list[str]]:
        """Block until the program ends by itself; return its exit code and what it printed."""
        code = self._process.wait(timeout_s)
        self._reader.join(timeout_s)
        return code, self.output

    def pause(self, seconds: float) -> bool:
        """Watch the program for some time; return whether it still runs after that."""
        deadline = time.monotonic() + seconds
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, deadline - time.monotonic()))
        return self.is_running

    def kill(self) -> None:
        """End it and all processes that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join(10.0)
        for stream in (self._process.stdin, self._process.stdout):
            stream.close()
