"""ReaderState: the resource behind a reader's handle. It takes work units from a queue and gives the records in them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from weft.errors import InvalidArgumentError, OpError, UnimplementedError
from weft.framework.building.op_context import OpContext
from weft.framework.op_types.unshared import unshared
from weft.framework.types import dtypes
from weft.ops.cancellable_lock import CancellableLock
from weft.ops.data_flow.queue_nodes import SharedQueue
from weft.ops.io.work_units import Record
from weft.platform.text import as_text
from weft.proto.reader_base_pb2 import ReaderBaseState


@unshared
class ReaderState:
    """A reader that outlives steps and sessions. Safe from any thread; one thread reads at a time, the others wait.

    Args:
        description: kind and name for messages, such as "TextLineReaderV2 'reader'".
        open_work: the records of a work unit.
        is_one_each: whether each work unit has exactly one record; only such a reader's state can be saved.
    """

    def __init__(self, description: str, open_work: Callable[[str], Iterator[Record]], is_one_each: bool) -> None:
        self._description = description
        self._open_work = open_work
        self._is_one_each = is_one_each
        self._lock = CancellableLock()
        self._records: Iterator[Record] | None = None
        self._error: OpError | None = None
        self._work = ""
        self.work_units_completed = 0
        self.records_produced = 0

    def read(self, ctx: OpContext, queue: SharedQueue, count: int) -> list[Record]:
        """The next record, or up to `count` of one work unit; at least one.

        Waits for a work unit when the last one is used up. OutOfRangeError when the queue is closed and empty.
        """
        found: list[Record] = []
        with self._lock.held(ctx):
            while not found:
                if self._records is None:
                    self._work = _next_work(ctx, queue)
                    self._records = self._open_work(self._work)
                found = self._take(count)
        return found

    def _take(self, count: int) -> list[Record]:
        """Records of the present work unit, which is over when there are fewer than asked for.

        A unit that cannot be read (any further) is given up with its error, after the records that were read.
        """
        records, error = self._records, self._error
        assert records is not None
        found: list[Record] = []
        try:
            if error is not None:
                raise error
            for record in itertools.islice(records, count):
                found.append(record)
        except OpError as failure:
            self._records, self._error = (records, failure) if found else (None, None)
            if not found:
                raise
        else:
            if len(found) < count or self._is_one_each:
                self._records = None
                self.work_units_completed += 1
        self.records_produced += len(found)
        return found

    def reset(self, ctx: OpContext) -> None:
        """Forget the present work unit and the counts."""
        with self._lock.held(ctx):
            self._records, self._error, self._work = None, None, ""
            self.work_units_completed = self.records_produced = 0

    def serialize(self, ctx: OpContext) -> bytes:
        """The reader's place; UnimplementedError for one that may be in the middle of a file."""
        self._check_savable("SerializeState")
        with self._lock.held(ctx):
            done = self.work_units_completed
            return ReaderBaseState(
                work_started=done,
                work_finished=done,
                num_records_produced=self.records_produced,
                current_work=self._work.encode(),
            ).SerializeToString()

    def restore(self, ctx: OpContext, text: bytes) -> None:
        """Go back to where `serialize` was called; InvalidArgumentError for anything else."""
        self._check_savable("RestoreState")
        state = ReaderBaseState()
        try:
            state.ParseFromString(text)
        except Exception as error:
            raise self._unreadable(text) from error
        if state.work_started < 0 or state.work_finished != state.work_started or state.num_records_produced < 0:
            raise self._unreadable(text)
        with self._lock.held(ctx):
            self._records, self._error, self._work = None, None, state.current_work.decode()
            self.work_units_completed = state.work_finished
            self.records_produced = state.num_records_produced

    def _check_savable(self, what: str) -> None:
        if not self._is_one_each:
            raise UnimplementedError.of(f"Reader {what}: {self._description} cannot save where it is")

    def _unreadable(self, text: bytes) -> InvalidArgumentError:
        return InvalidArgumentError.of(f"Could not parse state for {self._description}: {text[:80]!r}")


def _next_work(ctx: OpContext, queue: SharedQueue) -> str:
    types = queue.signature.component_types
    if types != (dtypes.string,):
        raise InvalidArgumentError.of(
            f"Expected queue '{queue.name}' with work for a reader to hold single strings, it holds "
            f"[{', '.join(each.name for each in types)}]"
        )
    work: Any = np.asarray(queue.state.dequeue(ctx, 1)[0][0])
    if work.size != 1:
        raise InvalidArgumentError.of(f"Expected single string in queue '{queue.name}', got shape {list(work.shape)}")
    return as_text(work.item())
