"""ToldFile: an open file whose long reads and writes are told of.

A store's library fetches and uploads blocks while a program reads and writes, and tries again for minutes by itself; a disk
that hangs, such as that of a network file system whose server is gone, keeps whoever reads and writes for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import IO, Final

_BUFFERED_BYTES: Final = 1 << 12


class ToldFile:
    """A file whose every call that may reach the store is one watched block; the rest is the file's own.

    Args:
        file: the store's file, or the disk's.
        watched: makes the block that is watched.
    """

    def __init__(self, file: IO[bytes], watched: Callable[[], AbstractContextManager[None]]) -> None:
        self._file = file
        self._watched = watched

    def __repr__(self) -> str:
        return f"<ToldFile of {self._file!r}>"

    def __getattr__(self, name: str) -> object:
        if name == "_file":  # of a copy that is being made: it has none yet
            raise AttributeError(name)
        found: object = getattr(self._file, name)
        return found

    def read(self, size: int = -1) -> bytes:
        """Read that many bytes, or all that is left."""
        with self._watched():
            return self._file.read(size)

    def readinto(self, buffer: memoryview | bytearray) -> int:
        """Fill a buffer, and say how far."""
        with self._watched():
            return int(self._file.readinto(buffer))  # type: ignore[attr-defined]

    def readline(self, limit: int = -1) -> bytes:
        """Read to the end of the line."""
        with self._watched():
            return self._file.readline(limit)

    def readlines(self, hint: int = -1) -> list[bytes]:
        """Read the lines that are left."""
        with self._watched():
            return self._file.readlines(hint)

    def write(self, data: bytes | memoryview) -> int:
        """Append, and upload where a block is full."""
        with self._watched():
            return self._file.write(data)

    def writelines(self, lines: Iterable[bytes]) -> None:
        """Append several, and upload where a block is full."""
        with self._watched():
            self._file.writelines(lines)

    def truncate(self, size: int | None = None) -> int:
        """Cut the file off."""
        with self._watched():
            return self._file.truncate(size)

    def flush(self) -> None:
        """Upload what is buffered, as far as the store takes it now."""
        with self._watched():
            self._file.flush()

    def close(self) -> None:
        """Upload what is left, and end."""
        with self._watched():
            self._file.close()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        with self._watched():
            return next(self._file)

    def __enter__(self) -> ToldFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._watched():
            self._file.__exit__(kind, error, trace)


class ToldDiskFile(ToldFile):
    """The same of a disk: lines and small writes, which come and go by a buffer, are too many to watch each."""

    def __init__(self, file: IO[bytes], watched: Callable[[], AbstractContextManager[None]]) -> None:
        super().__init__(file, watched)
        self.readline = file.readline  # type: ignore[method-assign, assignment]

    def write(self, data: bytes | memoryview) -> int:
        """Append."""
        size = data.nbytes if isinstance(data, memoryview) else len(data)
        return self._file.write(data) if size < _BUFFERED_BYTES else super().write(data)

    def __next__(self) -> bytes:
        return next(self._file)
