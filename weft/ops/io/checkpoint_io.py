"""The nodes of a Saver: writing, reading and merging checkpoints, and the names of their parts.

All are host ops: they run on the task that their device names and see its files only. Tensors are written from the
memory in which they are, whatever steps run meanwhile; of each task a save gets all variables as they are at one moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.checkpoint.bundle_merge import merge_bundles
from weft.checkpoint.bundle_reader import BundleReader
from weft.checkpoint.bundle_writer import BundleWriter
from weft.checkpoint.slice_file import SliceFileWriter
from weft.checkpoint.slice_file_reader import CheckpointFile, open_checkpoint
from weft.checkpoint.tensor_slice import parse_shape_and_slice
from weft.errors import InvalidArgumentError, NotFoundError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.devices import device_spec
from weft.framework.nodes.operation import Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types.dtypes import DType, datatype_name, string, variant
from weft.ops.declaration import no_outputs, op, scalar_shape, unknown
from weft.platform.hints.spelling import did_you_mean

_SHOWN_KEYS: Final = 6


def scalar_text(value: Array, what: str) -> str:
    """The text of a scalar; InvalidArgumentError for another shape."""
    if value.ndim:
        raise InvalidArgumentError.of(f"Input {what} should be a scalar tensor, got {list(value.shape)} instead.")
    return bytes(value.item()).decode()


def texts(value: Array) -> list[str]:
    """The texts of a vector."""
    return [bytes(item).decode() for item in value.ravel().tolist()]


def check_counts(names: list[str], slices: list[str], tensors: int) -> None:
    """Raise InvalidArgumentError unless there are as many of each."""
    if not len(names) == len(slices) == tensors:
        raise InvalidArgumentError.of(
            f"tensor_names, shape_and_slices and tensors must be equally many, got {len(names)}, {len(slices)} and {tensors}"
        )


@op("SaveV2", "prefix: string, tensor_names: string, shape_and_slices: string, tensors: [dtypes] ->",
    infer=no_outputs, gradient=None, stateful=True, one_moment=True, limits={"dtypes": 1})  # fmt: skip
def save_v2(
    ctx: OpContext, prefix: Array, tensor_names: Array, shape_and_slices: Array, tensors: Array, *, dtypes: list[DType]
) -> tuple[()]:
    """Write a checkpoint of the V2 format, whole or not at all; a shape-and-slice makes its tensor a part of one.

    `scalar string, [n] string, [n] string, n*[*shape] ->`
    """
    names, slices = texts(tensor_names), texts(shape_and_slices)
    check_counts(names, slices, len(tensors))
    with _writer(ctx, scalar_text(prefix, "prefix")) as writer:
        for name, box, value, dtype in zip(names, slices, tensors, dtypes, strict=True):
            ctx.raise_if_cancelled()
            add_tensor(writer, name, box, value, dtype)
    return ()


def _writer(ctx: OpContext, prefix: str) -> BundleWriter:
    try:
        return BundleWriter(prefix)
    except NotFoundError as error:
        task = device_spec.task_name(ctx.device)
        message = f"{error.message} ({task} writes {prefix}: the directory must exist on the file system of that task)"
        raise NotFoundError.of(message) from error


def add_tensor(writer: BundleWriter | SliceFileWriter, name: str, box: str, value: Array, dtype: DType) -> None:
    """Write a tensor, or the part of one that a shape-and-slice says."""
    if dtype is variant:
        dtype = _text_in(value, name)
    if box:
        _add_slice(writer, name, box, value, dtype)
    else:
        writer.add(name, value, dtype)


def _text_in(value: Array, name: str) -> DType:
    """The type by which a checkpoint holds a variant: the state of an iterator is text."""
    if not all(isinstance(item, bytes) for item in value.flat):
        raise InvalidArgumentError.of(
            f"tensor {name!r} is a variant that a checkpoint cannot hold: of variants, the state of an iterator can be saved "
            "(tf.data.experimental.make_saveable_from_iterator)"
        )
    return string


def _add_slice(writer: BundleWriter | SliceFileWriter, name: str, box: str, value: Tensor, dtype: DType) -> None:
    shape, piece = parse_shape_and_slice(box)
    wanted = piece.within(shape, name).sizes
    if tuple(value.shape) != wanted:
        raise InvalidArgumentError.of(
            f"Slice in shape_and_slice specification does not match the shape of the tensor to save: {box}, tensor "
            f"{name!r}: {list(value.shape)}"
        )
    writer.add_slice(name, shape, piece.starts, piece.sizes, value, dtype)


@op("RestoreV2", "prefix: string, tensor_names: string, shape_and_slices: string -> tensors: [dtypes]",
    role=Role.RESTORE, infer=unknown, gradient=None, stateful=True, limits={"dtypes": 1})  # fmt: skip
def restore_v2(ctx: OpContext, prefix: Array, tensor_names: Array, shape_and_slices: Array, *, dtypes: list[DType]) -> Array:
    """Read tensors, or the boxes of them that shape-and-slices name, from a checkpoint of the V2 format.

    `scalar string, [n] string, [n] string -> n*[*shape]`
    """
    names, slices = texts(tensor_names), texts(shape_and_slices)
    check_counts(names, slices, len(dtypes))
    values = []
    with open_checkpoint(scalar_text(prefix, "prefix")) as reader:
        check_present(reader, names)
        for name, box, dtype in zip(names, slices, dtypes, strict=True):
            ctx.raise_if_cancelled()
            values.append(read_tensor(reader, name, box, dtype))
    return tuple(values)


def read_tensor(reader: CheckpointFile, name: str, box: str, dtype: DType) -> Array:
    """Read a tensor of that type, or the box of one that a shape-and-slice says."""
    _check_dtype(reader, name, dtype)
    return _read_slice(reader, name, box) if box else reader.lookup(name)


def check_present(reader: CheckpointFile, names: list[str]) -> None:
    """Raise NotFoundError, naming them, when the checkpoint lacks tensors."""
    missing = [name for name in names if not reader.has(name)]
    if not missing:
        return
    message = f"Key {missing[0]} not found in checkpoint {reader.prefix}"
    if len(missing) > 1:
        more = f" and {len(missing) - 9} others" if len(missing) > 9 else ""
        message += f"; of {len(names)} keys asked for, it also lacks {', '.join(missing[1:9])}{more}"
    raise NotFoundError.of(f"{message}.{_alike(reader, missing[0])}")


def _alike(reader: CheckpointFile, name: str) -> str:
    """The key that a variable of another name, or another scope, is likely to be stored under."""
    keys = reader.keys()
    same_end = [key for key in keys if key.endswith("/" + name) or name.endswith("/" + key)]
    return (
        f" The checkpoint has {same_end[0]!r}: tf.train.Saver({{{same_end[0]!r}: variable}}) maps it."
        if same_end
        else did_you_mean(name, keys) or _some(keys)
    )


def _some(keys: Sequence[str]) -> str:
    """What a checkpoint has, where it has nothing of a similar name."""
    shown = ", ".join(sorted(keys)[:_SHOWN_KEYS])
    more = f" and {len(keys) - _SHOWN_KEYS} more" if len(keys) > _SHOWN_KEYS else ""
    return (
        f" The checkpoint has {shown}{more}: a Saver of fewer variables, tf.train.Saver([...]), restores those alone, and one "
        "of a dict {name in the checkpoint: variable} those of other names."
    )


def _check_dtype(reader: CheckpointFile, name: str, dtype: DType) -> None:
    wanted, stored = dtype.base_dtype, reader.dtype(name)
    if stored is not (string if wanted is variant else wanted):
        raise InvalidArgumentError.of(
            f"tensor_name = {name}; expected dtype {datatype_name(wanted)} does not equal original dtype "
            f"{datatype_name(stored.base_dtype)}"
        )


def _read_slice(reader: CheckpointFile, name: str, box: str) -> Array:
    shape, piece = parse_shape_and_slice(box)
    stored = reader.shape(name)
    if shape != stored:
        raise InvalidArgumentError.of(
            f"tensor_name = {name}; shape in shape_and_slice spec {list(shape)} does not match the shape stored in "
            f"checkpoint: {list(stored)}"
        )
    return reader.lookup_slice(name, piece.starts, piece.sizes)


@op("MergeV2Checkpoints", "checkpoint_prefixes: string, destination_prefix: string ->",
    infer=no_outputs, gradient=None, stateful=True)  # fmt: skip
def merge_v2_checkpoints(
    ctx: OpContext,
    checkpoint_prefixes: Array,
    destination_prefix: Array,
    *,
    delete_old_dirs: bool = True,
    allow_missing_files: bool = False,
) -> tuple[()]:
    """Make one checkpoint of those that several tasks wrote, by renaming their data files and merging their tables.

    `[n] string, scalar string ->`
    """
    parts, destination = texts(checkpoint_prefixes), scalar_text(destination_prefix, "destination_prefix")
    if allow_missing_files:
        parts = [part for part in parts if _is_there(part)]
    try:
        merge_bundles(parts, destination, delete_old_dirs=delete_old_dirs)
    except NotFoundError as error:
        raise NotFoundError.of(f"{error.message} (merging on {device_spec.task_name(ctx.device)})") from error
    return ()


def _is_there(prefix: str) -> bool:
    try:
        BundleReader(prefix).close()
    except NotFoundError:
        return False
    return True


@op("ShardedFilename", "basename: string, shard: int32, num_shards: int32 -> filename: string",
    ranks={"basename": 0, "shard": 0, "num_shards": 0},
    infer=scalar_shape, gradient=None)  # fmt: skip
def sharded_filename(ctx: OpContext, basename: Array, shard: Array, num_shards: Array) -> Result:
    """`BASENAME-00002-of-00005`: `scalar string, scalar int32, scalar int32 -> scalar string`."""
    return _boxed(f"{scalar_text(basename, 'basename')}-{int(shard):05d}-of-{int(num_shards):05d}")


@op(
    "ShardedFilespec",
    "basename: string, num_shards: int32 -> filename: string",
    ranks={"basename": 0, "num_shards": 0},
    infer=scalar_shape,
    gradient=None,
)
def sharded_filespec(ctx: OpContext, basename: Array, num_shards: Array) -> Result:
    """The pattern of all shards' names, `BASENAME-?????-of-00005`.

    `scalar string, scalar int32 -> scalar string`
    """
    return _boxed(f"{scalar_text(basename, 'basename')}-?????-of-{int(num_shards):05d}")


def _boxed(text: str) -> Array:
    array = np.empty((), np.object_)
    array[()] = text.encode()
    return array
