"""JSON lines between a benchmark process and the one that started it.

A child's standard output belongs to the channel alone: whatever a library prints goes to standard error, so a stray
line can never be read as a result. The child ends when its standard input closes, hence no child outlives its parent.
"""

from __future__ import annotations

import json
import os
import sys
from typing import IO, Any


class Channel:
    """One end of the conversation; messages are JSON objects, one a line."""

    def __init__(self, reader: IO[str], writer: IO[str]) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, **message: Any) -> None:
        self._writer.write(json.dumps(message) + "\n")
        self._writer.flush()

    def receive(self) -> dict[str, Any] | None:
        """Block for the next message; None once the other end has gone."""
        line = self._reader.readline()
        if not line:
            return None
        message: dict[str, Any] = json.loads(line)
        return message


def claim_standard_streams() -> Channel:
    """Take this process's standard input and output for a channel, and send other output to standard error."""
    own_output = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return Channel(sys.stdin, os.fdopen(own_output, "w", encoding="utf-8"))
