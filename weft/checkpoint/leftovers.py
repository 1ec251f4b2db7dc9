"""Finds and removes what saves left that were killed: the files under temporary names, and directories of parts.

Who writes a checkpoint holds a lock (flock) on its temporary data file until the file has its final name. The kernel drops the
lock when the process dies, in whatever way, so a temporary file that can be locked belongs to nobody. Not all file systems of
other machines hand locks on to each other, and the files beside the data file have none: so what was written to within the last
minute is left alone as well.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Iterator
from typing import Final

from weft.checkpoint import files
from weft.platform.logs import tf_logging

_IDLE_S: Final = 60.0
_TEMPORARY: Final = re.compile(r"\.tempstate(?P<save>[0-9a-f]{16})$")
_PARTS_SUFFIX: Final = "_temp"
STAGING_PREFIX: Final = ".saving-"
_STAGING: Final = re.compile(re.escape(STAGING_PREFIX) + "[0-9a-f]{16}")
_PART: Final = re.compile(r"^part-\d{5}-of-\d{5}\.(index|data-\d{5}-of-\d{5})(\.tempstate[0-9a-f]{16})?$")


class Claim:
    """Says to other processes that a file which exists is in use, until `release` or the end of this process."""

    def __init__(self, path: str) -> None:
        self._descriptor = -1
        # A file system without locks leaves the age of the file.
        if files.is_local(path):
            with contextlib.suppress(OSError):
                self._descriptor = os.open(files.local_path(path), os.O_RDONLY | os.O_CLOEXEC)
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(self) -> None:
        """Take the claim back; once is enough."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def sweep(directory: str) -> int:
    """Remove from a directory what killed saves left there, and log how much; returns the bytes.

    A directory behind a URL is left as it is, and so is a file that cannot be removed.
    """
    if not files.is_local(directory):
        return 0
    before_s = time.time() - _IDLE_S
    doomed = [path for group in _groups(files.local_path(directory) or ".") if _is_dead(group, before_s) for path in group]
    size = sum(map(_remove, doomed))
    for folder in {os.path.dirname(path) for path in doomed}:
        _remove_own_directories(folder)
    if doomed:
        message = "Removed %d temporary files (%.1f MiB) from %s, which saves had left that were killed"
        tf_logging.info(message, len(doomed), size / 2**20, directory)
    return size


def _groups(directory: str) -> Iterator[list[str]]:
    """The files that belong together: the temporary ones of one save, and all that is in a directory of parts."""
    saves: dict[str, list[str]] = {}
    for entry in _entries(directory):
        match = _TEMPORARY.search(entry.name)
        if match:
            saves.setdefault(match["save"], []).append(entry.path)
        elif _STAGING.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
            yield [os.path.join(folder, name) for folder, _, names in os.walk(entry.path) for name in names]
        elif entry.name.endswith(_PARTS_SUFFIX) and entry.is_dir(follow_symlinks=False):
            inside = list(_entries(entry.path))
            if inside and all(_PART.match(part.name) for part in inside):
                yield [part.path for part in inside]
    yield from saves.values()


def _entries(directory: str) -> list[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(directory) as found:
        return list(found)
    return []


def _is_dead(paths: list[str], before_s: float) -> bool:
    return all(_is_idle(path, before_s) and not _is_claimed(path) for path in paths)


def _is_idle(path: str, before_s: float) -> bool:
    try:
        return os.stat(path).st_mtime < before_s
    except OSError:
        return False


def _is_claimed(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _remove_own_directories(folder: str) -> None:
    """Remove a directory of parts, and those of a staging place above it, as far as they are empty."""
    while folder.endswith(_PARTS_SUFFIX) or STAGING_PREFIX in folder:
        files.remove_directory_if_empty(folder)
        folder = os.path.dirname(folder)


def _remove(path: str) -> int:
    try:
        size = os.stat(path).st_size
        os.unlink(path)
    except OSError as error:
        tf_logging.warning("The temporary file %s of a save that was killed could not be removed: %s", path, error)
        return 0
    return size
