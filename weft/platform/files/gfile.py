"""Files and directories by path or URL, under TensorFlow 1.x's names.

Paths are local, or URLs such as `gs://bucket/name` of any store that fsspec knows. Errors are weft's: NotFoundError for
what is not there, AlreadyExistsError for what is in the way, PermissionDeniedError, FailedPreconditionError.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from typing import IO, Any, Final, Self

from weft import errors
from weft.platform.files.file_system import FileStatistics, FileSystem, errors_of, file_system
from weft.platform.logs import tf_logging

__all__ = [
    "Copy",
    "DeleteRecursively",
    "Exists",
    "FastGFile",
    "FileStatistics",
    "GFile",
    "Glob",
    "IsDirectory",
    "ListDirectory",
    "MakeDirs",
    "MkDir",
    "Open",
    "Remove",
    "Rename",
    "Stat",
    "Walk",
]

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

_MODES = ("r", "w", "a", "r+", "w+", "a+")
# The signs of patterns that stand for other names.
_SIGN: Final = re.compile(r"[*?\[]")


class GFile:
    """A file that is opened by its first read or write, and then like a built-in file object.

    Offsets and counts are bytes in every mode; without `b` in the mode, what is read is decoded from UTF-8. Reading and
    writing have a position each; reads see writes after `flush`. Not for several threads at once.

    Args:
        name: the file's path.
        mode: "r", "w" or "a", with "+" to do both and with "b" for bytes.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "notes.txt")
    >>> with tf.gfile.GFile(path, "w") as file:
    ...     file.write("first line")
    >>> tf.gfile.GFile(path).read()
    'first line'
    """

    def __init__(self, name: Path, mode: str = "r") -> None:
        self._name = name
        self._mode = mode
        self._binary = "b" in mode
        self._plain_mode = mode.replace("b", "")
        if self._plain_mode not in _MODES:
            raise errors.InvalidArgumentError.of(f"mode is not {' or '.join(map(repr, _MODES))}: {mode!r}")
        self._files, self._path = _resolve(name)
        self._reader: IO[bytes] | None = None
        self._writer: IO[bytes] | None = None

    def __repr__(self) -> str:
        return f"<tf.gfile.GFile {os.fspath(self._name)!r} mode={self._mode!r}>"

    @property
    def name(self) -> Path:
        """The path that the file was made with."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode that the file was made with."""
        return self._mode

    def size(self) -> int:
        """Return the file's size in bytes."""
        return self._files.stat(self._path).length

    def _readable(self) -> IO[bytes]:
        if self._reader is None:
            if self._plain_mode in ("w", "a"):
                raise errors.PermissionDeniedError.of("File isn't open for reading")
            if self._files.stat(self._path).is_directory:
                raise errors.FailedPreconditionError.of(f"{self._path}; Is a directory, and a file is wanted")
            self._reader = self._files.open(self._path, "rb")
        return self._reader

    def _writable(self) -> IO[bytes]:
        if self._writer is None:
            if self._plain_mode == "r":
                raise errors.PermissionDeniedError.of("File isn't open for writing")
            mode = {"r+": "r+b", "w+": "wb", "a+": "ab"}.get(self._plain_mode, self._plain_mode + "b")
            self._writer = self._files.open(self._path, mode)
        return self._writer

    def _decoded(self, data: bytes) -> Any:
        if self._binary:
            return data
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            error.reason += f": the file {self._name!r} is no text; the mode 'rb' reads its bytes"
            raise

    def write(self, file_content: str | bytes) -> None:
        """Write text, as UTF-8, or bytes.

        Args:
            file_content: str, or bytes for a binary file.

        Raises:
            TypeError: it is neither.
            ResourceExhaustedError: there is no room for it; `flush` and `close` may find that, too.
        """
        if not isinstance(file_content, str | bytes):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        writer = self._writable()
        with errors_of(self._path):
            writer.write(file_content.encode() if isinstance(file_content, str) else file_content)

    def read(self, n: int = -1) -> Any:
        """Read n bytes, or all that is left.

        Args:
            n: how many bytes, or characters of text; all when -1.

        Returns:
            A str, or bytes for a mode with "b"; empty at the end of the file.
        """
        return self._decoded(self._readable().read(n))

    def readline(self) -> Any:
        """Read up to the next newline and with it; empty at the end of the file.

        Returns:
            A str, or bytes for a mode with "b".
        """
        return self._decoded(self._readable().readline())

    def readlines(self) -> list[Any]:
        """Read the lines that are left.

        Returns:
            A list of str, or of bytes for a mode with "b", each with its newline.
        """
        return list(self)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Move the read position by `offset` from the start (0), the position (1) or the end (2).

        Args:
            offset: where to, in bytes.
            whence: from where: 0 the beginning, 1 here, 2 the end.
            position: another name of `offset`.

        Raises:
            TypeError: both `offset` and `position` are given, or neither.
        """
        if offset is not None and position is not None:
            raise TypeError("seek(): offset and position may not be set simultaneously.")
        offset = position if offset is None else offset
        if offset is None:
            raise TypeError("seek(): offset argument required")
        if whence not in (0, 1, 2):
            message = f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            raise errors.InvalidArgumentError.of(message)
        self._readable().seek(offset, whence)

    def tell(self) -> int:
        """Return the read position, or the write position of a file that is only written."""
        return (self._writable() if self._plain_mode in ("w", "a") else self._readable()).tell()

    def seekable(self) -> bool:
        """Return True."""
        return True

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        if self._writer is not None:
            with errors_of(self._path):
                self._writer.flush()

    def close(self) -> None:
        """Flush and close; a later read or write opens the file again."""
        opened = [file for file in (self._reader, self._writer) if file is not None]
        # A file that cannot be written to its end is closed all the same.
        self._reader = self._writer = None
        with errors_of(self._path):
            for file in opened:
                file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __del__(self) -> None:
        # Programs write `GFile(name).read()` and leave closing to the garbage collector. At the interpreter's end modules are
        # emptied before what is left of their objects; the file below then closes itself.
        if hasattr(self, "_writer") and errors is not None:
            try:
                self.close()
            except errors.OpError as error:
                tf_logging.warning("What was written last is not in the file: %s", error.message)


FastGFile = GFile
Open = GFile


def _resolve(path: Path) -> tuple[FileSystem, str]:
    return file_system(os.fsdecode(path))


def Exists(filename: Path) -> bool:
    """Whether a file or directory is there.

    >>> tf.gfile.Exists("/no/such/file")
    False

    Args:
        filename: the path.

    Returns:
        True where there is a file or a directory of that path.
    """
    try:
        Stat(filename)
    except (errors.NotFoundError, errors.FailedPreconditionError):
        return False
    return True


def IsDirectory(dirname: Path) -> bool:
    """Whether the path is a directory; False if it is not there.

    Args:
        dirname: the path.

    Returns:
        True where there is a directory of that path.
    """
    try:
        return Stat(dirname).is_directory
    except errors.OpError:
        return False


def Stat(filename: Path) -> FileStatistics:
    """Return size, time of change and kind.

    Args:
        filename: the path of a file or directory.
    """
    files, path = _resolve(filename)
    return files.stat(path)


def MkDir(dirname: Path) -> None:
    """Make a directory whose parent exists; one that is there already is fine.

    Args:
        dirname: the directory's path.

    Raises:
        NotFoundError: there is no parent.
        PermissionDeniedError: the process may not.
    """
    files, path = _resolve(dirname)
    if not _is_made(dirname):
        files.make_directory(path)


def MakeDirs(dirname: Path) -> None:
    """Make a directory and its parents; one that is there already is fine, and so is "", the one of the process.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.gfile.MakeDirs(f"{folder}/a/b")
    ...     print(os.path.isdir(f"{folder}/a/b"))
    True

    Args:
        dirname: the directory's path.

    Raises:
        FailedPreconditionError: a file is in the way.
        PermissionDeniedError: the process may not.
    """
    files, path = _resolve(dirname)
    if path and not _is_made(dirname):
        files.make_directories(path)


def _is_made(dirname: Path) -> bool:
    if IsDirectory(dirname):
        return True
    if not Exists(dirname):
        return False
    # Another thread or process may have made it between the two looks.
    if not IsDirectory(dirname):
        raise errors.FailedPreconditionError.of(f"{os.fsdecode(dirname)} is not a directory")
    return True


def ListDirectory(dirname: Path) -> list[str]:
    """Return the names in a directory, in no particular order, without `.` and `..`.

    Args:
        dirname: the directory's path.
    """
    files, path = _resolve(dirname)
    if not IsDirectory(dirname):
        raise errors.NotFoundError.of(f"Could not find directory {os.fsdecode(dirname)}")
    return files.children(path)


def Glob(filename: Path | list[str] | tuple[str, ...]) -> list[str]:
    """Return the paths that match a pattern, or any of several; `*` matches within one directory, hidden names too.

    Args:
        filename: a pattern with `*`, `?` and `[...]`, or a list of patterns.

    Returns:
        A new list of paths, empty where nothing matches.

    Raises:
        NotFoundError: on the local disk there is no folder to look in, the one before the first sign with a meaning.
        FailedPreconditionError: what should be that folder is a file.
    """
    patterns = filename if isinstance(filename, list | tuple) else [filename]
    found: list[str] = []
    for pattern in patterns:
        files, path = _resolve(pattern)
        here = files.glob(path)
        if not here and "://" not in os.fsdecode(pattern):
            _check_folder(path)
        found += here
    return found


def _check_folder(pattern: str) -> None:
    """Refuse a pattern, which nothing matches, if there is no folder to look in: an empty list would hide its misspelt name."""
    folder = os.path.dirname(_SIGN.split(pattern, maxsplit=1)[0])
    if not folder or IsDirectory(folder):
        return
    if Exists(folder):
        raise errors.FailedPreconditionError.of(f"{folder}; Not a directory: it should be one for {pattern}")
    raise errors.NotFoundError.of(f"{folder}; No such file or directory: it should be a folder for {pattern}")


def Walk(top: Path, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield (directory, names of directories in it, names of files in it), for `top` and all below it.

    Directories that cannot be listed are left out. With `in_order` a directory comes before what is in it, else after.

    Args:
        top: the directory's path.
        in_order: whether a directory comes before those in it.
    """
    here = os.fsdecode(top)
    try:
        names = ListDirectory(here)
    except errors.NotFoundError:
        return
    directories = [name for name in names if IsDirectory(os.path.join(here, name))]
    entry = (here, directories, [name for name in names if name not in directories])
    if in_order:
        yield entry
    for name in directories:
        yield from Walk(os.path.join(here, name), in_order)
    if not in_order:
        yield entry


def Remove(filename: Path) -> None:
    """Delete a file.

    Args:
        filename: the file's path.
    """
    files, path = _resolve(filename)
    if IsDirectory(filename):
        raise errors.FailedPreconditionError.of(f"{path}; Is a directory, and a file is wanted")
    files.remove(path)


def DeleteRecursively(dirname: Path) -> None:
    """Delete a directory and all that is in it.

    Args:
        dirname: the directory's path.

    Raises:
        NotFoundError: there is no such directory.
        PermissionDeniedError: the process may not.
    """
    files, path = _resolve(dirname)
    files.remove_recursively(path)


def Copy(oldpath: Path, newpath: Path, overwrite: bool = False) -> None:
    """Copy a file's content; both may live on different file systems.

    Args:
        oldpath, newpath: the paths of the two files.
        overwrite: whether a file at `newpath` is replaced.

    Raises:
        AlreadyExistsError: the target is there and `overwrite` is false.
    """
    _check_free(newpath, overwrite)
    files, path = _resolve(oldpath)
    target_files, target = _resolve(newpath)
    if files == target_files:
        files.copy(path, target)
        return
    with files.open(path, "rb") as source, target_files.open(target, "wb") as sink:
        shutil.copyfileobj(source, sink, 1 << 24)


def Rename(oldname: Path, newname: Path, overwrite: bool = False) -> None:
    """Move a file or directory within its file system.

    Args:
        oldname, newname: the paths before and after.
        overwrite: whether a file at `newname` is replaced.

    Raises:
        AlreadyExistsError: the target is there and `overwrite` is false.
        UnimplementedError: the target is on another file system.
    """
    _check_free(newname, overwrite)
    files, path = _resolve(oldname)
    target_files, target = _resolve(newname)
    if files != target_files:
        message = f"{path} and {target} are on different file systems; use Copy and Remove"
        raise errors.UnimplementedError.of(message)
    files.rename(path, target)


def _check_free(path: Path, overwrite: bool) -> None:
    if not overwrite and Exists(path):
        raise errors.AlreadyExistsError.of(f"file already exists: {os.fsdecode(path)}")
