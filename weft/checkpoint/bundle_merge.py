"""Merges the bundles that several tasks wrote for one checkpoint into one bundle, without copying their data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from weft import errors
from weft.checkpoint import files
from weft.checkpoint.bundle_format import Entry, data_filename, index_filename
from weft.checkpoint.bundle_index import BundleIndex, write_index
from weft.checkpoint.commit import Move, holds_records, publish, settle
from weft.platform.logs import tf_logging


@dataclass(frozen=True, slots=True)
class _DataFile:
    """One of the parts' data files: its number in the merged bundle, and how many bytes the part's index tells of."""

    number: int
    index: BundleIndex
    shard: int
    path: str
    size: int


@dataclass
class _Plan:
    """The parts of the merged bundle: its records, and the data files in the order of their new numbers."""

    parts: list[BundleIndex] = field(default_factory=list)
    entries: dict[bytes, Entry] = field(default_factory=dict)
    files: dict[str, _DataFile] = field(default_factory=dict)


def merge_bundles(
    shard_prefixes: Sequence[str], merged_prefix: str, *, delete_old_dirs: bool = True, sync: bool = True
) -> None:
    """Make the checkpoint `merged_prefix` of the bundles at `shard_prefixes`, whose files it takes over.

    The parts are checked before anything is changed. When a rename fails, all is put back; after a crash the same
    call goes on where the other stopped, as long as no other checkpoint was saved to `merged_prefix` in between.

    Args:
        shard_prefixes: the parts; slices of one variable may be spread over them.
        merged_prefix: the checkpoint's path without suffix.
        delete_old_dirs: remove the parts' directories as well when they are empty then.
        sync: wait until the result has reached the disk.

    Raises:
        NotFoundError: a part is not there, e.g. as the tasks share no file system.
        InvalidArgumentError: two parts hold the same tensor, or slices of tensors that differ in shape or type.
        DataLossError: a part's file is damaged or incomplete.
    """
    plan = _Plan()
    for prefix in shard_prefixes:
        _add_part(plan, prefix, merged_prefix)
    files.make_directory_of(merged_prefix)
    moves = _moves(plan, merged_prefix)
    waiting = [move for move in moves if files.exists(move.source)]
    settle(merged_prefix, {move.target for move in moves if move not in waiting})
    new_index = files.temporary_name(index_filename(merged_prefix))
    try:
        write_index(new_index, len(plan.files), plan.entries, sync)
        publish(merged_prefix, waiting, new_index, sync)
    except BaseException:
        files.remove_if_exists(new_index)
        raise
    _remove_parts(plan, merged_prefix, delete_old_dirs)


def _add_part(plan: _Plan, prefix: str, merged_prefix: str) -> None:
    try:
        index = BundleIndex(prefix)
    except errors.NotFoundError as error:
        message = (
            f"{index_filename(prefix)}: this part of checkpoint {merged_prefix} is not there. Every task that saves "
            "must write to a file system that the task which merges sees too: give a shared or remote directory"
        )
        raise errors.NotFoundError.of(message) from error
    plan.parts.append(index)
    for key, entry in index.records():
        plan.entries[key] = _merged_slices(plan, key, entry) if entry.slices else _renumbered(plan, key, entry, index)


def _renumbered(plan: _Plan, key: bytes, entry: Entry, index: BundleIndex) -> Entry:
    if key in plan.entries:
        message = f"{index.path}: tensor {key!r} is in another part of the checkpoint as well"
        raise errors.InvalidArgumentError.of(message)
    path = data_filename(index.prefix, entry.shard, index.shards)
    known = plan.files.get(path) or _DataFile(len(plan.files), index, entry.shard, path, 0)
    plan.files[path] = replace(known, size=max(known.size, entry.offset + entry.size))
    return replace(entry, shard=known.number)


def _merged_slices(plan: _Plan, key: bytes, entry: Entry) -> Entry:
    before = plan.entries.get(key)
    if before is None:
        return entry
    if not before.slices or (before.dtype, before.shape) != (entry.dtype, entry.shape):
        message = (
            f"parts of the checkpoint disagree on tensor {key!r}: slices of {entry.type_name} {list(entry.shape)} "
            f"came, but there is {before.type_name} {list(before.shape)}{'' if before.slices else ' as a whole'}"
        )
        raise errors.InvalidArgumentError.of(message)
    return replace(before, slices=before.slices + entry.slices)


def _moves(plan: _Plan, merged_prefix: str) -> list[Move]:
    moves = []
    for file in plan.files.values():
        move = Move(file.path, data_filename(merged_prefix, file.number, len(plan.files)))
        _check_data(file, move)
        moves.append(move)
    return moves


def _check_data(file: _DataFile, move: Move) -> None:
    if files.exists(move.source):
        size = files.size(move.source)
        if size < file.size:
            message = f"{move.source}: the file has {size} bytes, but the part's index tells of {file.size}"
            raise errors.DataLossError.of(message)
    elif not holds_records(move.target, file.index, file.shard):
        message = f"{move.source}; No such file or directory: data of checkpoint part {file.index.prefix} are missing"
        raise errors.NotFoundError.of(message)


def _remove_parts(plan: _Plan, merged_prefix: str, delete_old_dirs: bool) -> None:
    """Remove what is left of the parts; the checkpoint is complete, so a failure here is only told."""
    try:
        for part in plan.parts:
            if part.prefix == merged_prefix:
                continue
            for shard in range(part.shards):
                files.remove_if_exists(data_filename(part.prefix, shard, part.shards))
            files.remove_if_exists(part.path)
        directories = {os.path.dirname(part.prefix) for part in plan.parts} - {os.path.dirname(merged_prefix)}
        for directory in sorted(directories) if delete_old_dirs else ():
            files.remove_directory_if_empty(directory)
    except errors.OpError as error:
        tf_logging.warning("Checkpoint %s is complete, but parts of it could not be removed: %s", merged_prefix, error)
