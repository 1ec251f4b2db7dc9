"""tf.io.gfile: files and folders of local and remote file systems, by the later names of tf.gfile."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from weft.errors import OpError
from weft.platform.files import gfile as _gfile
from weft.platform.files.file_system import FileStatistics
from weft.platform.files.gfile import GFile as GFile
from weft.platform.files.gfile import Path as _Path

# Under a name of its own: type checkers take a renamed import for the module's private business.
former = _gfile


def copy(src: _Path, dst: _Path, overwrite: bool = False) -> None:
    """Copy a file; AlreadyExistsError where there is one and `overwrite` is False.

    Args:
        src, dst: the paths of the file and of the copy.
        overwrite: whether a file in its place is replaced.
    """
    former.Copy(src, dst, overwrite)


def exists(path: _Path) -> bool:
    """Whether there is a file or a folder.

    Args:
        path: the path, of a file system of this machine or of fsspec (`gs://...`).
    """
    return former.Exists(path)


def glob(pattern: str | list[str] | tuple[str, ...]) -> list[str]:
    """The files and folders that fit a pattern, or one of several.

    Args:
        pattern: a pattern with `*`, `?` and `[...]`, or several.
    """
    return former.Glob(pattern)


def isdir(path: _Path) -> bool:
    """Whether there is such a folder.

    Args:
        path: the path, of a file system of this machine or of fsspec (`gs://...`).
    """
    return former.IsDirectory(path)


def listdir(path: _Path) -> list[str]:
    """The names of what is in a folder; NotFoundError where there is none.

    Args:
        path: the path, of a file system of this machine or of fsspec (`gs://...`).
    """
    return former.ListDirectory(path)


def makedirs(path: _Path) -> None:
    """Make a folder and those above it; nothing where it is there.

    Args:
        path: the path, of a file system of this machine or of fsspec (`gs://...`).
    """
    former.MakeDirs(path)


def mkdir(path: _Path) -> None:
    """Make a folder; NotFoundError without the one above it.

    Args:
        path: the path, of a file system of this machine or of fsspec (`gs://...`).
    """
    former.MkDir(path)


def remove(path: _Path) -> None:
    """Remove a file; NotFoundError where there is none.

    Args:
        path: the path, of a file system of this machine or of fsspec (`gs://...`).
    """
    former.Remove(path)


def rename(src: _Path, dst: _Path, overwrite: bool = False) -> None:
    """Move a file; AlreadyExistsError where there is one and `overwrite` is False.

    Args:
        src, dst: the old and the new path.
        overwrite: whether a file in its place is replaced.
    """
    former.Rename(src, dst, overwrite)


def rmtree(path: _Path) -> None:
    """Remove a folder with all that is in it.

    Args:
        path: the path, of a file system of this machine or of fsspec (`gs://...`).
    """
    former.DeleteRecursively(path)


def stat(path: _Path) -> FileStatistics:
    """The size and the times of a file; NotFoundError where there is none.

    Args:
        path: the path, of a file system of this machine or of fsspec (`gs://...`).
    """
    return former.Stat(path)


def walk(
    top: _Path, topdown: bool = True, onerror: Callable[[OpError], None] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder from `top` on with the names of the folders and files in it; `onerror` is told if `top` cannot be read.

    Args:
        top: the folder to begin with.
        topdown: whether a folder comes before those in it.
        onerror: a function of the error; errors are passed over when None.
    """
    if onerror is not None:
        try:
            former.ListDirectory(top)
        except OpError as error:
            onerror(error)
            return
    yield from former.Walk(top, topdown)
