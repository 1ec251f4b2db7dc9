"""Processes that begin with weft and JAX loaded: copies of one that has done nothing else. Loading takes 3 s of CPU time each.

There is one such process for each environment that is asked for, and it lives as long as the process of the tests. It copies
itself twice: the first copy waits for the second, which runs the program, and tells how that ended.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Final

_MOST_BYTES: Final = 1 << 16
_RUN: Final = """
import runpy, sys
from tests.warm_python import serve
serve(int(sys.argv[1]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class WarmProcess:
    """A Python program that runs in a session of its own; what it prints, on both streams, comes out of `stdout`.

    Args:
        command: the program's file and its arguments.
        environment: all of its environment.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        input_end, own_input = os.pipe()
        own_output, output_end = os.pipe()
        self._status, status_end = os.pipe()
        self.stdin = os.fdopen(own_input, "w")
        self.stdout = os.fdopen(own_output)
        self._returncode: int | None = None
        ends = (input_end, output_end, status_end)
        request = json.dumps([list(command), os.getcwd()]).encode()
        try:
            socket.send_fds(_origin(frozenset(environment.items())), [request], ends)
        finally:
            for end in ends:
                os.close(end)
        self.pid = self._next_number()

    def poll(self) -> int | None:
        """The exit code, as of a `subprocess.Popen`, or None while it runs."""
        if self._returncode is None and select.select([self._status], [], [], 0)[0]:
            self._note_end()
        return self._returncode

    def wait(self, timeout: float | None = None) -> int:
        """Block until it has ended.

        Raises:
            subprocess.TimeoutExpired: it still runs then.
        """
        if self._returncode is None and not select.select([self._status], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        return self._note_end()

    def _note_end(self) -> int:
        if self._returncode is None:
            self._returncode = self._next_number()
            os.close(self._status)
        return self._returncode

    def _next_number(self) -> int:
        line = b""
        while not line.endswith(b"\n"):
            read = os.read(self._status, 1)
            assert read, "the process that programs are copied from has died"
            line += read
        return int(line)


@functools.cache
def _origin(environment: frozenset[tuple[str, str]]) -> socket.socket:
    """The connection with the process that has all loaded, in an environment."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-c", _RUN, str(there.fileno())]
    with there:
        # It ends when this process does, whose end of the connection then closes.
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, env=dict(environment), pass_fds=[there.fileno()], start_new_session=True
        )
    atexit.register(process.wait)
    atexit.register(here.close)
    return here


def serve(number: int) -> None:
    """Start the programs that a connection, of this number, asks for; returns in their processes, where they are to run."""
    for module in ("weft.namespace", "jax"):
        importlib.import_module(module)
    connection = socket.socket(fileno=number)
    # Copies that wait are of no interest once they end.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        data, ends, *_ = socket.recv_fds(connection, _MOST_BYTES, 3)
        if not data:
            os._exit(0)
        if not _fork():
            connection.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return _begin(*json.loads(data), ends)
        for end in ends:
            os.close(end)


def _fork() -> int:
    with warnings.catch_warnings(action="ignore"):  # of threads, which BLAS has
        return os.fork()


def _begin(command: list[str], folder: str, ends: Sequence[int]) -> None:
    """In the first copy: make the second one, in which this returns, and tell how it ends."""
    input_end, output_end, status_end = ends
    process_id = _fork()
    if process_id:
        os.close(input_end)
        os.close(output_end)
        os.write(status_end, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(process_id, 0)[1]))
        os._exit(0)
    os.setsid()
    os.write(status_end, b"%d\n" % os.getpid())
    for own, end in ((0, input_end), (1, output_end), (2, output_end)):
        os.dup2(end, own)
    for end in ends:
        os.close(end)
    # Whole lines come at once, also from processes that share the output.
    assert isinstance(sys.stdout, io.TextIOWrapper)
    sys.stdout.reconfigure(line_buffering=True)
    sys.argv[:] = command
    os.chdir(folder)
