"""A bundle's `.index` file: writing it, and reading it, with one clear error for whatever is no bundle."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping

from weft import errors
from weft.checkpoint import files
from weft.checkpoint.bundle_format import (
    HEADER_KEY,
    Entry,
    decode_entry,
    decode_header,
    encode_entry,
    encode_header,
    index_filename,
)
from weft.checkpoint.table import Table, TableWriter
from weft.checkpoint.tensor_slice import SLICE_KEY_START, TensorSlice, slice_key
from weft.platform.files.missing_file import what_is_there
from weft.platform.hints.spelling import did_you_mean


class BundleIndex:
    """The records of the bundle at `prefix`; reads the whole table when made, may be used by several threads.

    Raises:
        NotFoundError: there is no such bundle.
        DataLossError: there is something else at that path, or the table is damaged.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.path = index_filename(prefix)
        self._table = Table(_read_table(prefix, self.path), self.path)
        header = self._table.get(HEADER_KEY)
        if header is None:
            raise errors.DataLossError.of(f"{self.path}: the table has no header: it is no checkpoint's")
        self.shards = decode_header(header, self.path)

    def find(self, name: str) -> Entry | None:
        """Return the record of a tensor, None when there is none."""
        key = name.encode()
        if not key or key.startswith(SLICE_KEY_START):
            return None
        data = self._table.get(key)
        return None if data is None else decode_entry(data, name, self.path)

    def entry(self, name: str) -> Entry:
        """Return the record of a tensor; NotFoundError when there is none."""
        entry = self.find(name)
        if entry is None:
            raise errors.NotFoundError.of(f"Key {name} not found in checkpoint {self.prefix}{self._nearest(name)}")
        return entry

    def _nearest(self, name: str) -> str:
        """A tensor of the checkpoint whose name is like this one, or ends like it."""
        names = [key.decode(errors="replace") for key, _ in self._table.items() if key and not key.startswith(SLICE_KEY_START)]
        meant = did_you_mean(name, names) or next(
            (f" Did you mean {each!r}?" for each in names if each.endswith(f"/{name}")), ""
        )
        return f".{meant}" if meant else ""

    def slice_entry(self, name: str, piece: TensorSlice) -> Entry:
        """Return the record of one stored slice of a partitioned variable."""
        data = self._table.get(slice_key(name, piece))
        if data is None:
            message = f"{self.path}: tensor {name!r} should have a slice {piece}, but there is no record of it"
            raise errors.DataLossError.of(message)
        return decode_entry(data, f"{name} {piece}", self.path)

    def records(self) -> Iterator[tuple[bytes, Entry]]:
        """Iterate over all keys but the header's, slices' included, in key order."""
        for key, value in self._table.items():
            if key != HEADER_KEY:
                yield key, decode_entry(value, key.decode(errors="backslashreplace"), self.path)

    def tensors(self) -> Iterator[tuple[str, Entry]]:
        """Iterate over the names and records of tensors, a partitioned one once, in the order of the names' bytes."""
        for key, entry in self.records():
            if not key.startswith(SLICE_KEY_START):
                yield key.decode(errors="backslashreplace"), entry


def _read_table(prefix: str, path: str) -> bytes:
    try:
        return files.read_bytes(path)
    except errors.NotFoundError:
        raise _not_a_bundle(prefix) from None
    except errors.FailedPreconditionError as error:
        raise errors.DataLossError.of(f"Unable to open table file {path}: {error.message}") from error


def _not_a_bundle(prefix: str) -> errors.OpError:
    """Say what is at a path that has no `.index`; the first words are those that programs look for."""
    if not (files.exists(prefix) or files.matching(prefix)):
        message = (
            f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {prefix}.{_others(prefix)}"
        )
        return errors.NotFoundError.of(message)
    what = "it is a directory" if files.is_directory(prefix) else "it is not a checkpoint of the V2 format"
    message = (
        f"Unable to open table file {prefix}: {what}: perhaps your file is in a different file format and you need to use a "
        f"different restore operator? There is no {prefix}.index: name the checkpoint without .index or "
        f".data{'; tf.train.latest_checkpoint(folder) names the last of a folder' if files.is_directory(prefix) else ''}"
    )
    return errors.DataLossError.of(message)


def _others(prefix: str) -> str:
    """The checkpoints that the folder has, which are named without the end of their files."""
    found = sorted({each.removesuffix(".index") for each in files.matching(os.path.join(os.path.dirname(prefix), "*.index"))})
    if not found:
        return what_is_there(prefix)
    meant = did_you_mean(prefix, found)
    return meant or f" The folder has {', '.join(found[-4:])}: tf.train.latest_checkpoint(folder) names the last."


def write_index(path: str, shards: int, entries: Mapping[bytes, Entry], sync: bool) -> None:
    """Write the table of a bundle with so many data files to a new file."""
    table = io.BytesIO()
    writer = TableWriter(table)
    writer.add(HEADER_KEY, encode_header(shards))
    for key in sorted(entries):
        writer.add(key, encode_entry(entries[key]))
    writer.finish()
    file = files.create(path)
    try:
        files.write(file, path, table.getbuffer())
    finally:
        files.close_durably(file, path, sync)
