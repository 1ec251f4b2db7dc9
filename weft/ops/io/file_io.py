"""Files as tensors: reading, writing and finding them from within a graph, on the task that the node is placed on."""

from __future__ import annotations

import os

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.op_types.op_def import AtMost
from weft.framework.types.dims import Dims
from weft.ops.declaration import no_outputs, op, scalar_shape
from weft.platform.files import gfile


def _path(value: Array, what: str) -> str:
    if value.ndim:
        raise InvalidArgumentError.of(f"{what} tensor must be scalar, but had shape: {list(value.shape)}")
    return os.fsdecode(value.item())


@op("ReadFile", "filename: string -> contents: string", ranks={"filename": 0}, infer=scalar_shape, gradient=None,
    may_wait=True)  # fmt: skip
def read_file(ctx: OpContext, filename: Array) -> Result:
    """The bytes of a file: `scalar string -> scalar string`.

    Args:
        filename: the path.
    """
    with gfile.GFile(_path(filename, "Input filename"), "rb") as file:
        return _boxed(file.read())


@op(
    "WriteFile",
    "filename: string, contents: string ->",
    ranks={"filename": 0, "contents": 0},
    infer=no_outputs,
    gradient=None,
    stateful=True,
)
def write_file(ctx: OpContext, filename: Array, contents: Array) -> tuple[()]:
    """Write a file, and the directories above it that are missing: `scalar string, scalar string ->`.

    Args:
        filename: the path.
        contents: the bytes.

    Returns:
        The Operation.
    """
    path = _path(filename, "Input filename")
    if contents.ndim:
        raise InvalidArgumentError.of(f"Contents tensor must be scalar, but had shape: {list(contents.shape)}")
    directory = os.path.dirname(path)
    if directory:
        gfile.MakeDirs(directory)
    with gfile.GFile(path, "wb") as file:
        file.write(contents.item())
    return ()


def _some(node: Operation) -> list[Dims]:
    return [(None,)]


@op("MatchingFiles", "pattern: string -> filenames: string", ranks={"pattern": AtMost(1)}, infer=_some, gradient=None,
    may_wait=True)  # fmt: skip
def matching_files(ctx: OpContext, pattern: Array) -> Result:
    """The names of the files that match a pattern or any of several, sorted: `[...] string -> [n] string`.

    Args:
        pattern: the patterns, with `*`, `?` and `[...]`.
    """
    found: list[str] = []
    for item in np.ravel(pattern).tolist():
        found += gfile.Glob(os.fsdecode(item))
    names = np.empty(len(found), np.object_)
    names[:] = [os.fsencode(name) for name in sorted(found)]
    return names


def _boxed(data: bytes) -> Array:
    array = np.empty((), np.object_)
    array[()] = data
    return array
