"""One task's process on a node that the launcher is not on: started, watched and ended for it.

The process has the group of a watchdog, which ends the group when this process is gone, in whatever way.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weft.cli.task_output import TaskOutput
from weft.platform.process.launcher_link import VARIABLE, TaskNews, descriptor_text

_WATCHDOG: Final = Path(__file__).with_name("watchdog.py")
_CHUNK: Final = 1 << 16


@dataclass(frozen=True)
class NodeNews:
    """What has happened since the last time: lines, what the task told its launcher, and its exit code once it has ended."""

    lines: tuple[str, ...] = ()
    told: tuple[TaskNews, ...] = ()
    return_code: int | None = None


class NodeTask:
    """The process of one task. Methods may be called from several threads; `start` again only after the end."""

    def __init__(self) -> None:
        self._watchdog = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_WATCHDOG)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, process_group=0, cwd="/",
        )  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None
        self._news: queue.SimpleQueue[NodeNews] = queue.SimpleQueue()

    def start(self, command: Sequence[str], environment: Mapping[str, str], folder: str) -> int:
        """Start the process; returns its number.

        Raises:
            OSError: the folder or the program is not there.
        """
        self._news = queue.SimpleQueue()
        news_end, telling_end = os.pipe()
        os.set_blocking(telling_end, False)
        try:
            self._process = process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder,
                env={**os.environ, **environment, VARIABLE: descriptor_text(telling_end)}, pass_fds=[telling_end],
                process_group=self._watchdog.pid,
            )  # fmt: skip
        except BaseException:
            os.close(news_end)
            raise
        finally:
            os.close(telling_end)
        threading.Thread(target=self._watch, args=(process, self._news), name="weft-output", daemon=True).start()
        threading.Thread(target=self._listen, args=(news_end, self._news), name="weft-news", daemon=True).start()
        return process.pid

    def news(self, limit_s: float = 1.0) -> NodeNews:
        """Block until there is news, or for so many seconds; returns all that there is."""
        lines: list[str] = []
        told: list[TaskNews] = []
        with suppress(queue.Empty):
            each = self._news.get(timeout=limit_s)
            while True:
                lines.extend(each.lines)
                told.extend(each.told)
                if each.return_code is not None:
                    return NodeNews(tuple(lines), tuple(told), each.return_code)
                each = self._news.get_nowait()
        return NodeNews(tuple(lines), tuple(told))

    def signal(self, number: int) -> None:
        """Send a signal to the process, if it has not ended."""
        if self._process is not None:
            self._process.send_signal(signal.Signals(number))

    def close(self) -> None:
        """Kill what is left."""
        with suppress(ProcessLookupError):
            os.killpg(self._watchdog.pid, signal.SIGKILL)
        self._watchdog.wait()
        if self._watchdog.stdin is not None:
            self._watchdog.stdin.close()

    @staticmethod
    def _watch(process: subprocess.Popen[bytes], news: queue.SimpleQueue[NodeNews]) -> None:
        output = TaskOutput()
        if process.stdout is not None:
            with process.stdout as stream:
                while data := os.read(stream.fileno(), _CHUNK):
                    news.put(NodeNews(tuple(output.feed(data))))
        news.put(NodeNews(tuple(output.end()), return_code=process.wait()))

    @staticmethod
    def _listen(descriptor: int, news: queue.SimpleQueue[NodeNews]) -> None:
        with os.fdopen(descriptor, "rb") as told:
            for line in told:
                found = TaskNews.decode(line)
                if found is not None:
                    news.put(NodeNews(told=(found,)))
