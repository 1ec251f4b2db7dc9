"""Where files live: the local disk through `os`, anything with a URL (`gs://`, `s3://`, `memory://`) through fsspec.

`file_system(path)` returns the file system and the path on it. Both kinds raise weft's errors: NotFoundError for what
is missing, FailedPreconditionError for a directory where a file is expected and the other way round, and so on.
"""

from __future__ import annotations

import errno
import glob
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final, Protocol, cast

from weft import errors
from weft.platform.files.file_access import FileAccess, current_access
from weft.platform.files.told_file import ToldDiskFile, ToldFile
from weft.platform.imports.later import Later

if TYPE_CHECKING:
    import fsspec
else:
    # Comes with asyncio: 80 ms, and only for files that are not local.
    fsspec = Later("fsspec")

_CODES: Final[dict[int, int]] = {
    errno.ENOENT: errors.NOT_FOUND,
    errno.EEXIST: errors.ALREADY_EXISTS,
    errno.EACCES: errors.PERMISSION_DENIED,
    errno.EPERM: errors.PERMISSION_DENIED,
    errno.EROFS: errors.PERMISSION_DENIED,
    errno.EISDIR: errors.FAILED_PRECONDITION,
    errno.ENOTDIR: errors.FAILED_PRECONDITION,
    errno.ENOTEMPTY: errors.FAILED_PRECONDITION,
    errno.ENOSPC: errors.RESOURCE_EXHAUSTED,
    errno.EDQUOT: errors.RESOURCE_EXHAUSTED,
    errno.EMFILE: errors.RESOURCE_EXHAUSTED,
    errno.EINVAL: errors.INVALID_ARGUMENT,
    errno.ENAMETOOLONG: errors.INVALID_ARGUMENT,
}

# What tells of long waits; a thread, which there need not be where graphs are only built.
_watched: Callable[[Callable[[], str], str], AbstractContextManager[None]] = lambda describe, advice: nullcontext()  # noqa: E731


def tell_waits_by(watched: Callable[[Callable[[], str], str], AbstractContextManager[None]]) -> None:
    """Have waits for stores told of: `watched` gets what waits and what to look at, and makes the block that it watches."""
    global _watched
    _watched = watched


_UNREACHABLE: Final = (
    "Look whether this host reaches it: the name and port of its endpoint, proxies, firewalls, credentials; its library tries "
    "again by itself."
)
_HANGING: Final = (
    "Look whether its disk answers (ls, df), which of a network file system is its server's matter, and what dmesg says of it; "
    "a pipe waits for its other end."
)


@dataclass(frozen=True)
class FileStatistics:
    """A file's size in bytes, its last change in nanoseconds since 1970, and whether it is a directory."""

    length: int
    mtime_nsec: int
    is_directory: bool


class FileSystem(Protocol):
    """The operations on paths that `gfile` is made of; all block, and raise weft's errors. Equal ones are one store."""

    def open(self, path: str, mode: str) -> IO[bytes]: ...
    def stat(self, path: str) -> FileStatistics: ...
    def children(self, path: str) -> list[str]: ...
    def glob(self, pattern: str) -> list[str]: ...
    def make_directory(self, path: str) -> None: ...
    def make_directories(self, path: str) -> None: ...
    def remove(self, path: str) -> None: ...
    def remove_recursively(self, path: str) -> None: ...
    def copy(self, source: str, target: str) -> None: ...
    def rename(self, source: str, target: str) -> None: ...


_OF_PATTERN: Final = (
    ". If it is a pattern, tf.gfile.Glob(pattern) gives the files' names, and tf.train.match_filenames_once(pattern) a "
    "tensor of them"
)


@contextmanager
def errors_of(path: str) -> Iterator[None]:
    """Raise an OSError from the body as the error of weft that fits, naming the file that it names, else the path."""
    try:
        yield
    except OSError as error:
        # fsspec raises FileNotFoundError(path) and the like, without an errno.
        code = error.errno or _ERRNO_OF_CLASS.get(type(error), 0)
        reason = os.strerror(code) if code else str(error)
        # Of a copy's two files either may be the one.
        named = error.filename if isinstance(error.filename, str) else path
        remedy = _OF_PATTERN if code == errno.ENOENT and any(sign in named for sign in "*?[") else ""
        raise errors.from_status(_CODES.get(code, errors.UNKNOWN), f"{named}; {reason}{remedy}") from error


_ERRNO_OF_CLASS: Final[dict[type[OSError], int]] = {
    FileNotFoundError: errno.ENOENT,
    FileExistsError: errno.EEXIST,
    PermissionError: errno.EACCES,
    IsADirectoryError: errno.EISDIR,
    NotADirectoryError: errno.ENOTDIR,
}


@contextmanager
def _told_of(path: str) -> Iterator[None]:
    """The same for a store, whose library may try for minutes to reach it; who waits is told so."""
    with _waits_of(path), errors_of(path):
        yield


def _waits_of(path: str) -> AbstractContextManager[None]:
    return _watched(lambda: f"A store has not answered about {path}", _UNREACHABLE)


def waits_of_disk(path: str) -> AbstractContextManager[None]:
    """A block in which a path of this machine's file systems is waited for; who waits long is told so."""
    return _watched(lambda: f"The file system has not answered about {path}", _HANGING)


@contextmanager
def _told_of_disk(path: str) -> Iterator[None]:
    with waits_of_disk(path), errors_of(path):
        yield


@dataclass(frozen=True)
class LocalFileSystem:
    """The disks of this machine, as far as they are open."""

    _access: FileAccess | None = None

    def open(self, path: str, mode: str) -> IO[bytes]:
        with _told_of_disk(path):
            file = cast("IO[bytes]", open(path, mode))  # noqa: SIM115
        return cast("IO[bytes]", ToldDiskFile(file, lambda: waits_of_disk(path)))

    def stat(self, path: str) -> FileStatistics:
        with _told_of_disk(path):
            status = os.stat(path)
        return FileStatistics(status.st_size, status.st_mtime_ns, os.path.isdir(path))

    def children(self, path: str) -> list[str]:
        with _told_of_disk(path):
            return os.listdir(path)

    def glob(self, pattern: str) -> list[str]:
        access = self._access
        if access is not None:
            access.check_pattern(pattern)
        with waits_of_disk(pattern):
            found = glob.glob(pattern, include_hidden=True)
        return found if access is None else [path for path in found if access.allows(path)]

    def make_directory(self, path: str) -> None:
        with _told_of_disk(path):
            os.mkdir(path)

    def make_directories(self, path: str) -> None:
        with _told_of_disk(path):
            os.makedirs(path, exist_ok=True)

    def remove(self, path: str) -> None:
        with _told_of_disk(path):
            os.unlink(path)

    def remove_recursively(self, path: str) -> None:
        with _told_of_disk(path):
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)

    def copy(self, source: str, target: str) -> None:
        with _told_of_disk(source):
            shutil.copyfile(source, target)

    def rename(self, source: str, target: str) -> None:
        with _told_of_disk(source):
            os.replace(source, target)


@dataclass(frozen=True)
class RemoteFileSystem:
    """A store that fsspec reaches, such as a bucket; directories may exist only as prefixes of names."""

    _store: Any

    def open(self, path: str, mode: str) -> IO[bytes]:
        with _told_of(path):
            file = cast("IO[bytes]", self._store.open(path, mode))
        return cast("IO[bytes]", ToldFile(file, lambda: _waits_of(path)))

    def stat(self, path: str) -> FileStatistics:
        with _told_of(path):
            info = self._store.info(path)
        changed = info.get("mtime") or info.get("created") or 0
        changed_s = changed.timestamp() if hasattr(changed, "timestamp") else float(changed)
        return FileStatistics(int(info["size"] or 0), int(changed_s * 1e9), info["type"] == "directory")

    def children(self, path: str) -> list[str]:
        with _told_of(path):
            return [os.path.basename(name.rstrip("/")) for name in self._store.ls(path, detail=False)]

    def glob(self, pattern: str) -> list[str]:
        with _told_of(pattern):
            return [self._store.unstrip_protocol(name) for name in self._store.glob(pattern)]

    def make_directory(self, path: str) -> None:
        with _told_of(path):
            self._store.mkdir(path, create_parents=False)

    def make_directories(self, path: str) -> None:
        with _told_of(path):
            self._store.makedirs(path, exist_ok=True)

    def remove(self, path: str) -> None:
        with _told_of(path):
            self._store.rm_file(path)

    def remove_recursively(self, path: str) -> None:
        with _told_of(path):
            self._store.rm(path, recursive=True)

    def copy(self, source: str, target: str) -> None:
        with _told_of(source):
            self._store.cp_file(source, target)

    def rename(self, source: str, target: str) -> None:
        with _told_of(source):
            self._store.mv(source, target, recursive=self._store.isdir(source))


_LOCAL: Final = LocalFileSystem()


def file_system(path: str) -> tuple[FileSystem, str]:
    """Return the file system that a path or URL names, and the path on it.

    Raises:
        PermissionDeniedError: the code that asks runs for somebody who may not touch it; see `file_access`.
        UnimplementedError: no store of the URL's scheme is installed.
    """
    access = current_access()
    if access is not None:
        access.check(path)
    if path.startswith("file://") or "://" not in path:
        return _LOCAL if access is None else LocalFileSystem(access), path.removeprefix("file://")
    try:
        store, stripped = fsspec.core.url_to_fs(path)
    except (ValueError, ImportError) as error:
        scheme = path.partition("://")[0]
        message = f"{path}: no file system for {scheme}:// is installed ({error})"
        raise errors.UnimplementedError.of(message) from error
    return RemoteFileSystem(store), stripped
