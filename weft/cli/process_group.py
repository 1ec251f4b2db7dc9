"""The processes of a job, as one process group that cannot outlive the launcher.

The group's leader is the watchdog, which ends the group when the launcher is gone, even by SIGKILL. Tasks join the
group before they execute anything, so neither they nor what they start escape, unless they make a session of their own.
Being in another group than the launcher's, they do not get the terminal's Ctrl-C: the launcher alone decides.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from weft.platform.process.launcher_link import VARIABLE, descriptor_text

_WATCHDOG = Path(__file__).with_name("watchdog.py")


class ProcessGroup:
    """A process group, used as an async context manager; whatever is left in it at the end is killed."""

    def __init__(self) -> None:
        # Isolated and without site-packages it starts in some 10 ms.
        command = [sys.executable, "-I", "-S", str(_WATCHDOG)]
        null = subprocess.DEVNULL
        self._watchdog = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=null, stderr=null, process_group=0, cwd="/")
        self._pipes: list[asyncio.BaseTransport] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        for pipe in self._pipes:
            pipe.close()
        # The event loop closes them in its next turn, which may be its last.
        await asyncio.sleep(0)
        os.killpg(self._watchdog.pid, signal.SIGKILL)
        self._watchdog.wait()
        if self._watchdog.stdin is not None:
            self._watchdog.stdin.close()

    async def start(
        self, command: Sequence[str], environment: Mapping[str, str], payload: bytes | None = None
    ) -> tuple[asyncio.subprocess.Process, asyncio.StreamReader, asyncio.StreamReader]:
        """Start a process; return it, what it and its children write, both streams in the order of writing, and its news.

        The output ends when the last of them has closed it, which may be after the process's own end. The news are what the
        process tells its launcher (`weft.platform.process.launcher_link`). It reads the payload on its standard input, which
        then stays open as long as this process lives; without one there is no input.
        """
        read_end, write_end = os.pipe()
        news_end, telling_end = os.pipe()
        os.set_blocking(telling_end, False)
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=subprocess.DEVNULL if payload is None else subprocess.PIPE,
                stdout=write_end,
                stderr=write_end,
                env={**environment, VARIABLE: descriptor_text(telling_end)},
                pass_fds=[telling_end],
                process_group=self._watchdog.pid,
            )
        except BaseException:
            os.close(read_end)
            os.close(news_end)
            raise
        finally:
            os.close(write_end)
            os.close(telling_end)
        if payload is not None and process.stdin is not None:
            process.stdin.write(payload)
        return process, await self._stream(read_end), await self._stream(news_end)

    async def _stream(self, descriptor: int) -> asyncio.StreamReader:
        stream = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(stream)
        pipe, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(descriptor, "rb", buffering=0))
        self._pipes.append(pipe)
        return stream


def send_signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Send a signal to a process, if it has not ended."""
    with suppress(ProcessLookupError):
        process.send_signal(number)


def tell(process: asyncio.subprocess.Process, words: bytes) -> None:
    """Have a process read something, if it has not ended."""
    if process.stdin is not None:
        with suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(words)
