"""CapturedWrites: what a test's block has written to a stream, also where C++ wrote it."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import IO


class CapturedWrites:
    """What was written to a stream in the block of `captureWritesToStream`.

    Args:
        path: the file that the stream was led to.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def __repr__(self) -> str:
        return f"<CapturedWrites {self._path}>"

    def contents(self) -> str:
        """All that was written, as text; once the block is left."""
        with open(self._path, encoding="utf-8", errors="replace") as file:
            return file.read()


@contextlib.contextmanager
def capture(stream: IO[str], directory: str) -> Iterator[CapturedWrites]:
    """Lead a stream's file descriptor to a file for the block.

    Args:
        stream: sys.stdout or sys.stderr, or any stream with a descriptor.
        directory: where the file is made.
    """
    # A test runner may have put a stream without a descriptor in the place of the process's own.
    number = stream.fileno() if stream not in (sys.stdout, sys.stderr) else 1 if stream is sys.stdout else 2
    stream.flush()
    kept = os.dup(number)
    with tempfile.NamedTemporaryFile(dir=directory, delete=False) as file:
        os.dup2(file.fileno(), number)
    try:
        yield CapturedWrites(file.name)
    finally:
        stream.flush()
        os.dup2(kept, number)
        os.close(kept)
