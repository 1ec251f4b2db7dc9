"""Looks into a checkpoint without a graph: TensorFlow's `train.NewCheckpointReader`."""

from __future__ import annotations

import os
from typing import Any

from weft.checkpoint.slice_file_reader import open_checkpoint
from weft.framework.types.dtypes import DType


class CheckpointReader:
    """The variables of a checkpoint by name; several threads may use one reader.

    Raises:
        NotFoundError: there is no checkpoint at that path, or no such variable in it.
        DataLossError: the files are damaged or something else than a checkpoint's.
    """

    def __init__(self, filepattern: str | bytes | os.PathLike[str]) -> None:
        self._bundle = open_checkpoint(os.fsdecode(filepattern))

    def has_tensor(self, tensor_str: str | bytes) -> bool:
        """Whether there is a variable of this name."""
        return self._bundle.has(_name(tensor_str))

    def get_tensor(self, tensor_str: str | bytes) -> Any:
        """Return a variable's value: an array, or of a scalar the NumPy scalar; a partitioned variable as a whole."""
        return self._bundle.lookup(_name(tensor_str))[()]

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Return the shape of every variable."""
        return {name: list(self._bundle.shape(name)) for name in self._bundle}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """Return the element type of every variable."""
        return {name: self._bundle.dtype(name) for name in self._bundle}

    def debug_string(self) -> bytes:
        """Return a line per variable with its name, type and shape."""
        return self._bundle.debug_string().encode()


def NewCheckpointReader(filepattern: str | bytes | os.PathLike[str]) -> CheckpointReader:
    """Open the checkpoint at a path, given without the `.index` or `.data` suffix; one of the V1 format by its file's name.

    Args:
        filepattern: the path.

    Returns:
        A CheckpointReader.
    """
    return CheckpointReader(filepattern)


def _name(tensor_str: str | bytes) -> str:
    return tensor_str.decode() if isinstance(tensor_str, bytes) else tensor_str
