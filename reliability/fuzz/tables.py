"""Mutated tables of checkpoints whose checksums are right, so that they reach what lies behind: blocks, entries, records."""

from __future__ import annotations

import io
import random
from typing import Any, ClassVar

import weft as tf
from reliability.fuzz.byte_mutation import mutate
from reliability.fuzz.checkpoints import Checkpoints
from reliability.fuzz.message_mutation import MessageMutation
from weft.checkpoint.bundle_format import HEADER_KEY
from weft.checkpoint.coding import crc32c, fixed32, mask_crc, varints
from weft.checkpoint.table import FOOTER_BYTES, Table, TableWriter
from weft.proto.saved_tensor_slice_pb2 import SavedTensorSlices
from weft.proto.tensor_bundle_pb2 import BundleEntryProto, BundleHeaderProto


class Tables(Checkpoints):
    """Reads a checkpoint whose index is changed: in one record, in a block's bytes, or in the place of a block."""

    name = "tables"
    header: ClassVar[Any] = BundleHeaderProto
    record: ClassVar[Any] = BundleEntryProto

    def __init__(self) -> None:
        super().__init__()
        data = self._files[self._names[self._table]]
        self._magic = data[-8:]
        self._entries = list(Table(data, "table").items())
        self._records = MessageMutation([self.record.FromString(value) for key, value in self._entries if key != HEADER_KEY])
        self._headers = MessageMutation([self.header.FromString(self._entries[0][1])])
        self._block = _block(self._entries)

    def make(self, source: random.Random) -> bytes:
        """Make the number of the table's file, one byte, and its changed content."""
        made = self._changed_records(source) if source.random() < 0.5 else self._changed_block(source)
        return bytes([self._table]) + made

    def _changed_records(self, source: random.Random) -> bytes:
        entries = dict(self._entries)
        for _ in range(source.randint(1, 2)):
            key, value = source.choice(self._entries)
            if source.random() < 0.3:
                value = mutate(source, value)
            elif key == HEADER_KEY:
                value = self._headers.mutate(source, self.header.FromString(value)).SerializeToString()
            else:
                value = self._records.mutate(source, self.record.FromString(value)).SerializeToString()
            if source.random() < 0.2:
                entries.pop(key, None)
                key = mutate(source, key)
            entries[key] = value
        table = io.BytesIO()
        writer = TableWriter(table)
        for key in sorted(entries):
            writer.add(key, entries[key])
        writer.finish()
        return table.getvalue()

    def _changed_block(self, source: random.Random) -> bytes:
        block, place = self._block, varints((0, len(self._block)))
        if source.random() < 0.8:
            block = mutate(source, block)
            place = varints((0, len(block)))
        else:
            place = mutate(source, place)
        return self._file(block, place)

    def _file(self, block: bytes, place: bytes) -> bytes:
        """A table of one block of records, which its index says is at `place`."""
        metaindex = fixed32(0) + fixed32(1)
        index = varints((0, 1, len(place))) + b"\xff" + place + fixed32(0) + fixed32(1)
        data, places = b"", b""
        for contents in (block, metaindex, index):
            places = places + varints((len(data), len(contents)))
            typed = contents + b"\0"
            data += typed + fixed32(mask_crc(crc32c(typed)))
        # The footer has the places of the last two.
        footer = places[len(varints((0, len(block)))) :]
        return data + footer.ljust(FOOTER_BYTES - len(self._magic), b"\0") + self._magic


class SliceTables(Tables):
    """Reads a checkpoint of the V1 format, of which the same is changed: its table has the values, too."""

    name = "slice_tables"
    version = tf.train.SaverDef.V1
    # The empty key is the header's in both formats.
    header = SavedTensorSlices
    record = SavedTensorSlices


class Blocks(Tables):
    """Reads a checkpoint of whose index the input is the block of records, with right checksums around it."""

    name = "blocks"

    def seeds(self) -> list[bytes]:
        """A good block of records."""
        return [self._block]

    def run(self, data: bytes) -> str:
        """Write the index around the block, and read everything that the checkpoint holds."""
        return super().run(bytes([self._table]) + self._file(data, varints((0, len(data)))))


def _block(entries: list[tuple[bytes, bytes]]) -> bytes:
    """The block of these entries, each with a whole key."""
    return b"".join(varints((0, len(key), len(value))) + key + value for key, value in entries) + fixed32(0) + fixed32(1)
