"""Nodes that write and read checkpoints of the V1 format. `RestoreV2` reads both formats."""

from __future__ import annotations

from weft.checkpoint.slice_file import SliceFileWriter
from weft.checkpoint.slice_file_reader import open_checkpoint
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.op_types.op_role import Role
from weft.framework.types.dtypes import DType
from weft.ops.declaration import no_outputs, op, unknown
from weft.ops.io.checkpoint_io import add_tensor, check_counts, check_present, read_tensor, scalar_text, texts


def _write(ctx: OpContext, path: str, names: list[str], slices: list[str], data: Array, types: list[DType]) -> None:
    check_counts(names, slices, len(data))
    with SliceFileWriter(path) as writer:
        for name, box, value, dtype in zip(names, slices, data, types, strict=True):
            ctx.raise_if_cancelled()
            add_tensor(writer, name, box, value, dtype)


@op("SaveSlices", "filename: string, tensor_names: string, shapes_and_slices: string, data: [T] ->",
    infer=no_outputs, gradient=None, stateful=True, one_moment=True, limits={"T": 1})  # fmt: skip
def save_slices(
    ctx: OpContext, filename: Array, tensor_names: Array, shapes_and_slices: Array, data: Array, *, T: list[DType]
) -> tuple[()]:
    """Write a file of the V1 format, whole or not at all; a shape-and-slice makes its tensor a part of one.

    `scalar string, [n] string, [n] string, n*[*shape] ->`
    """
    _write(ctx, scalar_text(filename, "filename"), texts(tensor_names), texts(shapes_and_slices), data, T)
    return ()


@op("Save", "filename: string, tensor_names: string, data: [T] ->", infer=no_outputs, gradient=None, stateful=True,
    one_moment=True, limits={"T": 1})  # fmt: skip
def save(ctx: OpContext, filename: Array, tensor_names: Array, data: Array, *, T: list[DType]) -> tuple[()]:
    """Write a file of the V1 format: `scalar string, [n] string, n*[*shape] ->`."""
    names = texts(tensor_names)
    _write(ctx, scalar_text(filename, "filename"), names, [""] * len(names), data, T)
    return ()


def _read(pattern: Array, name: Array, box: str, dtype: DType) -> Array:
    wanted = scalar_text(name, "tensor_name")
    with open_checkpoint(scalar_text(pattern, "file_pattern")) as reader:
        check_present(reader, [wanted])
        return read_tensor(reader, wanted, box, dtype)


@op("Restore", "file_pattern: string, tensor_name: string -> tensor: dt", role=Role.RESTORE, infer=unknown, gradient=None,
    stateful=True)  # fmt: skip
def restore(ctx: OpContext, file_pattern: Array, tensor_name: Array, *, dt: DType, preferred_shard: int = -1) -> Result:
    """Read a tensor from a checkpoint of either format: `scalar string, scalar string -> [*shape]`."""
    return _read(file_pattern, tensor_name, "", dt)


@op("RestoreSlice", "file_pattern: string, tensor_name: string, shape_and_slice: string -> tensor: dt", role=Role.RESTORE,
    infer=unknown, gradient=None, stateful=True)  # fmt: skip
def restore_slice(
    ctx: OpContext, file_pattern: Array, tensor_name: Array, shape_and_slice: Array, *, dt: DType, preferred_shard: int = -1
) -> Result:
    """Read a tensor, or the box of one that a shape-and-slice says, from a checkpoint of either format.

    `scalar string, scalar string, scalar string -> [*shape]`
    """
    return _read(file_pattern, tensor_name, scalar_text(shape_and_slice, "shape_and_slice"), dt)
