"""Forked processes that answer questions over a pipe: the tasks, and the clients that use them.

The parent has imported weft and started nothing of it, so that it can fork at any time; a fork costs milliseconds, a fresh
interpreter seconds.
"""

from __future__ import annotations

import faulthandler
import json
import multiprocessing.connection
import os
import signal
import threading
import traceback
from collections.abc import Callable
from dataclasses import asdict
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import weft as tf
from reliability.leaks import footprint
from reliability.leaks.footprint import Footprint
from weft.platform.hosts.free_ports import free_ports

ANSWER_S = 60.0


class Process:
    """A forked process and the pipe to it."""

    def __init__(self, run: Callable[[Connection], None]) -> None:
        self.pipe, theirs = Pipe()
        self.pid = os.fork()
        if not self.pid:
            status = 1
            try:
                self.pipe.close()
                faulthandler.register(signal.SIGUSR2)
                run(theirs)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        theirs.close()

    def hear(self) -> Any:
        """Wait for what the process says."""
        if not self.pipe.poll(ANSWER_S):
            raise TimeoutError(f"process {self.pid} said nothing within {ANSWER_S:.0f} s")
        return json.loads(self.pipe.recv_bytes())

    def footprint(self) -> Footprint:
        """Ask for what the process holds."""
        self.pipe.send_bytes(b"footprint")
        return Footprint(**self.hear())

    def kill(self) -> None:
        """End the process, as a crash would."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.pipe.close()


def say(pipe: Connection, **message: Any) -> None:
    """Say something to the parent."""
    pipe.send_bytes(json.dumps(message).encode())


def answer(pipe: Connection) -> None:
    """Answer the parent's questions until it is gone."""
    while True:
        try:
            pipe.recv_bytes()
        except EOFError:
            return
        say(pipe, **asdict(footprint.take()))


def free_cluster() -> dict[str, list[str]]:
    """Two tasks, on ports that are free now."""
    ps, worker = (f"127.0.0.1:{port}" for port in free_ports(2))
    return {"ps": [ps], "worker": [worker]}


def serve(cluster: dict[str, list[str]], job: str) -> Process:
    """Start a task of the cluster; returns once it serves."""

    def run(pipe: Connection) -> None:
        server = tf.train.Server(cluster, job, 0)
        say(pipe)
        threading.Thread(target=server.join, daemon=True).start()
        answer(pipe)

    process = Process(run)
    process.hear()
    return process


def wait_for_any(processes: list[Process], timeout_s: float) -> list[Process]:
    """Those that have said something."""
    ready = multiprocessing.connection.wait([each.pipe for each in processes], timeout_s)
    return [each for each in processes if each.pipe in ready]
