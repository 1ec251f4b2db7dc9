"""Puts the files of a finished bundle in their place, so that at every moment the checkpoint there can be read.

The rename of the index is the commit: before it the old checkpoint is there, after it the new one. Where data files
of the same names exist, as when a program saves over its last checkpoint, the old ones are kept under a second name
until the commit is done. A failed commit puts everything back. After a crash between the renames, a reader finds the
old data under their second names, and the next save settles which of the two belong to the index. On a store behind a
URL nothing is kept: saving over a checkpoint there is as safe as the store's own replacing of single objects.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from weft import errors
from weft.checkpoint import files
from weft.checkpoint.bundle_format import KEPT_SUFFIX, data_filename, index_filename, kept_name
from weft.checkpoint.bundle_index import BundleIndex
from weft.checkpoint.entry_reader import RecordReader
from weft.checkpoint.files import RandomAccessFile


@dataclass(frozen=True, slots=True)
class Move:
    """A data file's rename."""

    source: str
    target: str


def publish(prefix: str, moves: Sequence[Move], new_index: str, sync: bool) -> None:
    """Rename the data files and then the index `new_index` to those of the bundle `prefix`; call `settle` before.

    When a rename fails, those done are undone and the error is raised.
    """
    done: list[Move] = []
    try:
        for move in moves:
            _keep(move.target)
            files.rename(move.source, move.target)
            done.append(move)
        files.rename(new_index, index_filename(prefix))
    except BaseException:
        _undo(done)
        settle(prefix, ())
        raise
    if sync:
        files.sync_directory(index_filename(prefix))
    for kept in _kept_files(prefix):
        files.remove_if_exists(kept)


def adopt(staged: str, prefix: str, sync: bool = True) -> None:
    """Make the finished bundle at `staged`, of the same file system, the one at `prefix`."""
    shards = BundleIndex(staged).shards
    moves = [Move(data_filename(staged, shard, shards), data_filename(prefix, shard, shards)) for shard in range(shards)]
    settle(prefix, ())
    publish(prefix, moves, index_filename(staged), sync)


def settle(prefix: str, moved_already: Collection[str]) -> None:
    """Settle what a crashed save left: of each data file with two versions, leave the one that the index tells of.

    Files in `moved_already` keep both: the caller goes on with the save that moved them.
    """
    for kept in _kept_files(prefix):
        path = kept.removesuffix(KEPT_SUFFIX)
        if path in moved_already:
            continue
        if _belongs_to_index(prefix, path):
            files.remove_if_exists(kept)
        else:
            files.rename(kept, path)


def holds_records(path: str, index: BundleIndex, shard: int) -> bool:
    """Whether the file at `path` has what `index` tells of its data file `shard`; reads all of it."""
    records = [(key, entry) for key, entry in index.records() if entry.shard == shard and not entry.slices]
    try:
        with contextlib.closing(RandomAccessFile(path)) as file:
            for key, entry in records:
                RecordReader(file, entry, repr(key)).verify()
    except (errors.DataLossError, errors.NotFoundError):
        return False
    return True


def _keep(target: str) -> None:
    if files.exists(target) and not files.exists(kept_name(target)):
        files.keep_as(target, kept_name(target))


def _undo(done: Sequence[Move]) -> None:
    for move in reversed(done):
        # The first failure is what the caller gets to see; a reader still finds the kept file.
        with contextlib.suppress(errors.OpError):
            files.rename(move.target, move.source)
            if files.exists(kept_name(move.target)):
                files.rename(kept_name(move.target), move.target)


def _kept_files(prefix: str) -> list[str]:
    if not files.is_local(prefix):
        return []
    return files.matching(f"{files.escape(prefix)}.data-?????-of-?????{KEPT_SUFFIX}")


def _belongs_to_index(prefix: str, path: str) -> bool:
    """Whether a data file is what the index tells of; True when no index tells of it."""
    try:
        index = BundleIndex(prefix)
    except (errors.NotFoundError, errors.DataLossError):
        return True
    for shard in range(index.shards):
        if data_filename(prefix, shard, index.shards) == path:
            return holds_records(path, index, shard)
    return True
