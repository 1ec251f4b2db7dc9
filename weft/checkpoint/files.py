"""The file access that checkpoints need: reading at an offset, durable writing, atomic replacing.

Everything blocks and raises weft's errors. On a local disk a rename is atomic and `sync` reaches the medium; a store
behind a URL has neither promise beyond its own.
"""

from __future__ import annotations

import contextlib
import errno
import glob as _glob
import os
import threading
import uuid
import weakref
from collections.abc import Iterator
from typing import IO, Final

import numpy as np
import numpy.typing as npt

from weft import errors
from weft.platform.files.file_system import LocalFileSystem, file_system, waits_of_disk

Bytes = npt.NDArray[np.uint8]

_READ_LIMIT: Final = 1 << 30


class RandomAccessFile:
    """A file opened for reading at any offset, by several threads; closed by `close` or when it is forgotten."""

    def __init__(self, path: str) -> None:
        self.path = path
        files, on_store = file_system(path)
        status = files.stat(on_store)
        if status.is_directory:
            raise errors.FailedPreconditionError.of(f"{path}; Is a directory, and a file is wanted")
        self.size = status.length
        self._file: IO[bytes] = files.open(on_store, "rb")
        # Not __del__: an error's traceback makes cycles, in which the file itself may be finalized first and warn.
        weakref.finalize(self, self._file.close).atexit = False
        self._descriptor = self._file.fileno() if isinstance(files, LocalFileSystem) else None
        self._lock = threading.Lock()

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    def read_into(self, offset: int, buffer: Bytes) -> int:
        """Fill `buffer` from `offset` on; returns the bytes read, fewer than asked for only at the end of the file."""
        view = buffer.data
        done = 0
        while done < len(view):
            count = self._read_once(offset + done, view[done : done + _READ_LIMIT])
            if count == 0:
                break
            done += count
        return done

    def _read_once(self, offset: int, view: memoryview) -> int:
        if self._descriptor is not None:
            with waits_of_disk(self.path):
                return os.preadv(self._descriptor, [view], offset)
        with self._lock:
            self._file.seek(offset)
            return int(self._file.readinto(view))  # type: ignore[attr-defined]


def read_bytes(path: str) -> bytes:
    """Return a whole file's contents."""
    files, on_store = file_system(path)
    if files.stat(on_store).is_directory:
        raise errors.FailedPreconditionError.of(f"{path}; Is a directory, and a file is wanted")
    with files.open(on_store, "rb") as file:
        return file.read()


def create(path: str) -> IO[bytes]:
    """Open a new file for writing; its directory must exist."""
    files, on_store = file_system(path)
    return files.open(on_store, "wb")


def write(file: IO[bytes], path: str, data: bytes | memoryview) -> None:
    """Append to a file that `create` opened."""
    with _write_errors(path):
        file.write(data)


def close_durably(file: IO[bytes], path: str, sync: bool) -> None:
    """Close a file that `create` opened; with `sync`, only after its contents have reached the disk."""
    with _write_errors(path), file:
        if sync and is_local(path):
            file.flush()
            with waits_of_disk(path):
                os.fsync(file.fileno())


@contextlib.contextmanager
def _write_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        kind = errors.ResourceExhaustedError if full else errors.UnknownError
        raise kind.of(f"{path}; {error.strerror or error}") from error


def write_atomically(path: str, data: bytes) -> None:
    """Replace a file's contents so that a reader sees all of the old or all of the new, even after a crash."""
    temporary = temporary_name(path)
    file = create(temporary)
    try:
        write(file, temporary, data)
        close_durably(file, temporary, sync=True)
        rename(temporary, path)
    except BaseException:
        file.close()
        remove_if_exists(temporary)
        raise
    sync_directory(path)


def unique_tag() -> str:
    """Return 16 hexadecimal digits that tell the files of one save from those of all others."""
    return uuid.uuid4().hex[:16]


def temporary_name(path: str, tag: str = "") -> str:
    """Return a name beside `path` that nobody else uses; files with the same tag belong together."""
    return f"{path}.tempstate{tag or unique_tag()}"


def is_local(path: str) -> bool:
    """Whether a path names a file of this machine's file systems."""
    return isinstance(file_system(path)[0], LocalFileSystem)


def local_path(path: str) -> str:
    """Return what the operating system calls a file of this machine's file systems."""
    return file_system(path)[1]


def exists(path: str) -> bool:
    """Whether there is a file or directory."""
    files, on_store = file_system(path)
    try:
        files.stat(on_store)
    except (errors.NotFoundError, errors.FailedPreconditionError):
        return False
    return True


def is_directory(path: str) -> bool:
    """Whether there is a directory."""
    files, on_store = file_system(path)
    try:
        return files.stat(on_store).is_directory
    except (errors.NotFoundError, errors.FailedPreconditionError):
        return False


def matching(pattern: str) -> list[str]:
    """Return the files that a shell pattern names, sorted."""
    files, on_store = file_system(pattern)
    return sorted(files.glob(on_store))


def escape(path: str) -> str:
    """Return a pattern that matches exactly this path."""
    return _glob.escape(path)


def size(path: str) -> int:
    """Return a file's size in bytes."""
    files, on_store = file_system(path)
    return files.stat(on_store).length


def modified_s(path: str) -> float:
    """Return when a file was last changed, in seconds since 1970."""
    files, on_store = file_system(path)
    return files.stat(on_store).mtime_nsec / 1e9


def rename(source: str, target: str) -> None:
    """Move a file, replacing the target."""
    files, from_path = file_system(source)
    files.rename(from_path, file_system(target)[1])


def keep_as(path: str, kept: str) -> bool:
    """Keep a file's present contents under a second name as well; False where a store has no cheap way to."""
    if not is_local(path):
        return False
    source, target = file_system(path)[1], file_system(kept)[1]
    try:
        os.link(source, target)
    except OSError:
        # Some mounted stores have no hard links; for a moment the file then has its second name only.
        rename(path, kept)
    return True


def remove_if_exists(path: str) -> None:
    """Remove a file when it is there."""
    files, on_store = file_system(path)
    with contextlib.suppress(errors.NotFoundError):
        files.remove(on_store)


def make_directory_of(path: str) -> None:
    """Make the directory that a file is to lie in, one level only, unless it exists or the path has none."""
    directory = os.path.dirname(path)
    files, on_store = file_system(directory)
    if directory and not exists(directory):
        with contextlib.suppress(errors.AlreadyExistsError):
            files.make_directory(on_store)


def remove_directory_if_empty(directory: str) -> None:
    """Remove a directory unless something is in it; a store that has no directories has nothing to remove."""
    files, on_store = file_system(directory)
    if isinstance(files, LocalFileSystem):
        with contextlib.suppress(OSError):
            os.rmdir(on_store)
        return
    with contextlib.suppress(errors.OpError):
        if not files.children(on_store):
            files.remove_recursively(on_store)


def sync_directory(path: str) -> None:
    """Make the renames in a local file's directory survive a crash of the machine."""
    if not is_local(path):
        return
    descriptor = os.open(os.path.dirname(file_system(path)[1]) or ".", os.O_RDONLY)
    try:
        with waits_of_disk(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
