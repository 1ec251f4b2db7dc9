"""The contents of a checkpoint, given its path or its directory."""

from __future__ import annotations

import os

from weft.checkpoint.checkpoint_reader import CheckpointReader
from weft.checkpoint.checkpoint_state import latest_checkpoint
from weft.framework.types.value_types import NumpyArray
from weft.platform.files import gfile


def checkpoint_path(ckpt_dir_or_file: str | bytes | os.PathLike[str]) -> str:
    """The path of the checkpoint given, or of the latest one in the directory given.

    Raises:
        ValueError: the directory has none.
    """
    given = os.fsdecode(ckpt_dir_or_file)
    if not gfile.IsDirectory(given):
        return given
    found = latest_checkpoint(given)
    if found is None:
        raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {given}")
    return found


def load_checkpoint(ckpt_dir_or_file: str | bytes | os.PathLike[str]) -> CheckpointReader:
    """A reader of a checkpoint, or of the latest one in a directory; ValueError when the directory has none.

    Args: those of `tf.contrib.framework.list_variables`.
    """
    return CheckpointReader(checkpoint_path(ckpt_dir_or_file))


def load_variable(ckpt_dir_or_file: str | bytes | os.PathLike[str], name: str) -> NumpyArray:
    """The value of one variable, whose name may end in `:0`.

    Args:
        ckpt_dir_or_file: the checkpoint's path, or a directory, whose latest one it is.
    """
    value: NumpyArray = load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))
    return value


def list_variables(ckpt_dir_or_file: str | bytes | os.PathLike[str]) -> list[tuple[str, list[int]]]:
    """The names and shapes of all variables, in order of name.

    Args:
        ckpt_dir_or_file: the checkpoint's path, or a directory, whose latest one it is.
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())
