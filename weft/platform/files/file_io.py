"""`tensorflow.python.lib.io.file_io`: the functions of gfile under the names that TensorFlow's own modules use."""

from __future__ import annotations

import os
import uuid

from weft.platform.files.gfile import Copy as copy
from weft.platform.files.gfile import DeleteRecursively as delete_recursively
from weft.platform.files.gfile import Exists as file_exists
from weft.platform.files.gfile import GFile, Glob
from weft.platform.files.gfile import GFile as FileIO
from weft.platform.files.gfile import IsDirectory as is_directory
from weft.platform.files.gfile import ListDirectory as list_directory
from weft.platform.files.gfile import MakeDirs as recursive_create_dir
from weft.platform.files.gfile import MkDir as create_dir
from weft.platform.files.gfile import Remove as delete_file
from weft.platform.files.gfile import Rename as rename
from weft.platform.files.gfile import Stat as stat
from weft.platform.files.gfile import Walk as walk

__all__ = (
    "FileIO", "atomic_write_string_to_file", "copy", "create_dir", "delete_file", "delete_recursively", "file_exists",
    "get_matching_files", "is_directory", "list_directory", "read_file_to_string", "recursive_create_dir", "rename", "stat",
    "walk", "write_string_to_file",
)  # fmt: skip

_Path = str | os.PathLike[str]


def read_file_to_string(filename: _Path, binary_mode: bool = False) -> str | bytes:
    """The whole file, as text or as bytes.

    Raises:
        NotFoundError: there is no such file.
    """
    with GFile(filename, "rb" if binary_mode else "r") as file:
        content: str | bytes = file.read()
    return content


def write_string_to_file(filename: _Path, file_content: str | bytes) -> None:
    """Make the file of this text, or these bytes."""
    with GFile(filename, "wb" if isinstance(file_content, bytes) else "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(filename: _Path, contents: str | bytes, overwrite: bool = True) -> None:
    """Make the file so that readers see the old one or all of the new one.

    Raises:
        AlreadyExistsError: the file is there, and is not to be overwritten.
    """
    written = f"{os.fspath(filename)}.tmp{uuid.uuid4().hex}"
    write_string_to_file(written, contents)
    try:
        rename(written, filename, overwrite)
    except BaseException:
        delete_file(written)
        raise


def get_matching_files(filename: str | list[str] | tuple[str, ...]) -> list[str]:
    """The files that fit a pattern, or one of several."""
    return Glob(filename)
