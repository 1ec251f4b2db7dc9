"""The live page of a job that is launched: a `weft watch` of its own, which also has the lines that the tasks write."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from typing import Final, Self

from weft.cli.display import Display
from weft.credentials.cluster_token import VARIABLE as TOKEN
from weft.platform.process.launcher_link import VARIABLE as LAUNCHER_LINK

# What a pipe takes whole or not at all.
_LONGEST: Final = 4000
_ENDS_S: Final = 5.0


class WatchedDisplay:
    """A display whose lines the live page shows too, from `follow` on.

    A page that does not keep up loses lines: no task waits for it.

    Args:
        inner: the display.
        port: the page's; 0 for any.
    """

    def __init__(self, inner: Display, port: int) -> None:
        self._inner = inner
        self._port = port
        self._page: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def follow(self, address: str, token: str = "") -> None:
        """Begin to show the cluster of a task, and tell where; blocks until the page is there.

        Args:
            address: the task's `host:port`; it need not listen yet.
            token: the cluster's, where it is not that of this process's environment.
        """
        self.close()
        command = [sys.executable, "-m", "weft.cli", "watch", address, "--wait", "--log", "--port", str(self._port)]
        environment = {**os.environ, **({TOKEN: token} if token else {})}
        environment.pop(LAUNCHER_LINK, None)
        # In a process group of its own it outlives Ctrl-C, until its standard input ends with this process.
        self._page = page = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, process_group=0,
            env=environment,
        )  # fmt: skip
        assert page.stdin is not None
        assert page.stdout is not None
        os.set_blocking(page.stdin.fileno(), False)
        told = page.stdout.readline().strip()
        if told.startswith("Watching"):
            url = told.rpartition(" ")[2]
            # A page that is opened anew, for a cluster that was started again elsewhere, stays where it is.
            self._port = int(url.rstrip("/").rpartition(":")[2])
            self._inner.note(f"live page at {url}")
        else:
            self._inner.note(f"there is no live page: {told.removeprefix('weft watch: ') or 'weft watch ended'}")

    def close(self) -> None:
        """End the page."""
        page, self._page = self._page, None
        if page is None:
            return
        assert page.stdin is not None
        assert page.stdout is not None
        page.stdin.close()
        try:
            page.wait(_ENDS_S)
        except subprocess.TimeoutExpired:
            page.kill()
            page.wait()
        page.stdout.close()

    def _feed(self, name: str, line: str) -> None:
        if self._page is None or self._page.stdin is None:
            return
        with suppress(OSError):  # it is behind, or gone
            os.write(self._page.stdin.fileno(), f"{name} | {line}".encode(errors="replace")[:_LONGEST] + b"\n")

    def task_line(self, name: str, line: str) -> None:
        self._inner.task_line(name, line)
        self._feed(name, line)

    def task_state(self, name: str, state: str) -> None:
        self._inner.task_state(name, state)

    def progress(self, text: str) -> None:
        self._inner.progress(text)

    def note(self, text: str) -> None:
        self._inner.note(text)
        self._feed("launch", text)
