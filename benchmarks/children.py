"""The processes that a benchmark program starts beside itself: servers, workers, echo partners.

A child is `module:function` run in a fresh interpreter as `function(channel, **arguments)`. Children share the process
group of the program, so the harness ends all of them at once.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import traceback
from types import TracebackType
from typing import Any

from benchmarks import profile
from benchmarks.channel import Channel, claim_standard_streams

EXIT_GRACE_S = 5.0


class Child:
    """A started child process and the channel to it."""

    def __init__(self, role: str, arguments: dict[str, Any]) -> None:
        self.role = role
        command = [sys.executable, "-m", "benchmarks.children", role, json.dumps(arguments)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        assert self._process.stdin is not None
        self._channel = Channel(self._process.stdout, self._process.stdin)

    @property
    def pid(self) -> int:
        return self._process.pid

    def tell(self, **message: Any) -> None:
        self._channel.send(**message)

    def hear(self) -> dict[str, Any]:
        """Block for the child's next message."""
        message = self._channel.receive()
        if message is None:
            raise RuntimeError(f"child {self.role} ended with status {self._process.wait()} before it answered")
        return message

    def ask(self, **message: Any) -> dict[str, Any]:
        self.tell(**message)
        return self.hear()

    def end(self) -> None:
        """Close the child's input, give it a moment, then kill it."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(EXIT_GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Children:
    """A context that ends whatever was started in it, last first."""

    def __init__(self) -> None:
        self._children: list[Child] = []

    def start(self, role: str, **arguments: Any) -> Child:
        child = Child(role, arguments)
        self._children.append(child)
        return child

    def __enter__(self) -> Children:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for child in reversed(self._children):
            child.end()


def main(role: str, arguments: str) -> None:
    """Run a role and leave without the framework's own shutdown, which may wait for threads of a live server."""
    channel = claim_standard_streams()
    module, _, function = role.partition(":")
    status = 0
    try:
        with profile.of_process(role):
            getattr(importlib.import_module(module), function)(channel, **json.loads(arguments))
    except Exception:
        traceback.print_exc()
        status = 1
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
