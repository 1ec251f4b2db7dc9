"""RecordYielder: the records of files of TFRecords in a shuffled order, round and round; each once in a round."""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from weft.checkpoint.records import records
from weft.errors import NotFoundError
from weft.platform.files import gfile

# So many records of a file are read, as in TensorFlow, before the last of them goes into the buffer.
_AHEAD: Final = 16


@dataclass(frozen=True)
class RecordSource:
    """What is read, and how.

    Args:
        pattern: the files' names, with `*`, `?` and `[...]`.
        seed: of the shuffling.
        shift_ratio: by which part of the files the list of them is rotated after shuffling, 0 to 1.
        buffer_size: among how many records the next one is chosen.
        parallelism: how many files are read by turns.
        compression: "", "ZLIB" or "GZIP".
    """

    pattern: str
    seed: int
    shift_ratio: float
    buffer_size: int
    parallelism: int
    compression: str


class RecordYielder:
    """The resource behind a RecordInput. Safe from any thread."""

    def __init__(self, source: RecordSource) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._records = self._rounds()

    def take(self, count: int) -> list[bytes]:
        """The next records.

        Raises:
            NotFoundError: no file has a name of the pattern, or none has a record.
            DataLossError: a file is damaged.
        """
        with self._lock:
            try:
                return [next(self._records) for _ in range(count)]
            except Exception:
                # A generator that has raised is at its end: the next step begins a round anew.
                self._records = self._rounds()
                raise

    def _rounds(self) -> Iterator[bytes]:
        chance = random.Random(self._source.seed)
        number = 0
        while True:
            number += 1
            yielded = 0
            for record in self._round(number, chance):
                yield record
                yielded += 1
            if not yielded:
                raise NotFoundError.of(f"Found no records at {self._source.pattern}: its files are empty")

    def _round(self, number: int, chance: random.Random) -> Iterator[bytes]:
        buffer: list[bytes] = []
        for read in self._read(number):
            while read and len(buffer) < self._source.buffer_size:
                place = chance.randrange(len(buffer) + 1)
                buffer.append(read.pop())
                buffer[place], buffer[-1] = buffer[-1], buffer[place]
            if len(buffer) >= self._source.buffer_size:
                yield buffer.pop()
        while buffer:
            yield buffer.pop()

    def _read(self, number: int) -> Iterator[list[bytes]]:
        """What has been read of a file and is to go into the buffer, from its end, of all files in one round."""
        source = self._source
        try:
            names = sorted(gfile.Glob(source.pattern))
        except NotFoundError:
            names = []
        if not names:
            raise NotFoundError.of(f"Found no files at {source.pattern}")
        random.Random(f"{source.seed} {number}").shuffle(names)
        if 0 <= source.shift_ratio < 1:
            shift = int(source.shift_ratio * len(names))
            names = names[shift:] + names[:shift]
        shards = deque(self._read_shard(names[first :: source.parallelism]) for first in range(source.parallelism))
        while shards:
            shard = shards.popleft()
            read = next(shard, None)
            if read is not None:
                shards.append(shard)
                yield read

    def _read_shard(self, names: list[str]) -> Iterator[list[bytes]]:
        read: list[bytes] = []
        for name in names:
            for record in records(name, self._source.compression):
                read.append(record)
                if len(read) >= _AHEAD:
                    yield read
        while read:
            yield read
