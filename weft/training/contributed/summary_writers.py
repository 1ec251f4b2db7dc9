"""The writers of tf.contrib.summary: event files that operations begin, write to and close, in the process of the program."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Final, NoReturn

from weft.client.session import get_default_session
from weft.events.file_writer import FileWriter
from weft.framework.building.aliases import Array
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.printed import printed
from weft.ops.process.script import py_func

# Not among the graph's public collections.
INITIALIZERS: Final = "_SUMMARY_WRITER_V2"


class SummaryWriter:
    """An event file for the summaries of a graph; made by `create_file_writer`. Its operations may run in any threads.

    Args:
        logdir: the folder.
        max_queue: how many events may wait.
        flush_millis: how long they wait at most, in milliseconds.
        filename_suffix: the end of the file's name.
    """

    __repr__ = printed("tf.contrib.summary", lambda writer: f"{writer._logdir!r}")

    def __init__(self, logdir: str, max_queue: int | None, flush_millis: int | None, filename_suffix: str | None) -> None:
        self._logdir = logdir
        self._options = (max_queue or 10, (flush_millis or 120_000) / 1000, filename_suffix)
        self._lock = threading.Lock()
        self._file: FileWriter | None = None
        get_default_graph().add_to_collection(INITIALIZERS, self.init())

    def file(self) -> FileWriter:
        """The event file, which is begun now unless it was before."""
        with self._lock:
            if self._file is None:
                queue, flush_s, suffix = self._options
                self._file = FileWriter(self._logdir, max_queue=queue, flush_secs=max(int(flush_s), 1), filename_suffix=suffix)
                self._file.begin()
            return self._file

    def set_as_default(self) -> None:
        """Let summaries go here from now on."""
        _WRITER.set(self)

    @contextlib.contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        """Let summaries go here, for the extent of a block."""
        try:
            with _default(self):
                yield self
        finally:
            if get_default_session() is None and self._file is not None:
                self._file.flush()

    def init(self) -> Operation:
        """The operation that begins the event file."""
        return calling(self.file)

    def flush(self) -> Operation:
        """The operation that writes what waits."""
        return calling(lambda: self.file().flush())

    def close(self) -> Operation:
        """The operation that writes what waits and closes the file; a later summary begins another."""
        return calling(self._end)

    def _end(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


class NoopSummaryWriter:
    """A writer that takes no summaries, of `create_file_writer(None)`."""

    __repr__ = printed("tf.contrib.summary")

    def set_as_default(self) -> None:
        """Let no summary be written from now on."""
        _WRITER.set(None)

    def as_default(self) -> contextlib.AbstractContextManager[None]:
        """Let no summary be written, for the extent of a block."""
        return _default(None)

    def init(self) -> None:
        """Return None: there is no file to begin."""

    def flush(self) -> None:
        """Return None: nothing waits."""

    def close(self) -> None:
        """Return None: there is no file."""


_WRITER: Final[ContextVar[SummaryWriter | None]] = ContextVar("weft_summary_writer", default=None)


def default_writer() -> SummaryWriter | None:
    """The writer to which summaries go where the graph is being built; None for none."""
    return _WRITER.get()


@contextlib.contextmanager
def _default(writer: SummaryWriter | None) -> Iterator[None]:
    token = _WRITER.set(writer)
    try:
        yield
    finally:
        _WRITER.reset(token)


def calling(function: Callable[..., object], *inputs: Tensor) -> Operation:
    """The operation that calls a function with the values of tensors."""

    def call(*values: Array) -> list[Array]:
        function(*values)
        return []

    made: Operation = py_func(call, inputs, [])  # type: ignore[assignment]
    return made


def create_file_writer(
    logdir: str | None, max_queue: int | None = None, flush_millis: int | None = None, filename_suffix: str | None = None,
    name: str | None = None,
) -> SummaryWriter | NoopSummaryWriter:  # fmt: skip
    """A writer of summaries into an event file of a folder.

    Args:
        logdir: the folder; None for a writer that takes none.
        max_queue: how many events may wait before they are written.
        flush_millis: how many milliseconds they wait at most.
        filename_suffix: the end of the file's name; ".v2" when None.
        name: not used.

    Returns:
        The writer: `with writer.as_default(), tf.contrib.summary.always_record_summaries(): ...`.
    """
    if logdir is None:
        return NoopSummaryWriter()
    return SummaryWriter(str(logdir), max_queue, flush_millis, ".v2" if filename_suffix is None else filename_suffix)


def create_db_writer(*args: object, **kwargs: object) -> NoReturn:
    """Refuse: weft writes event files, no data bases.

    Args:
        args, kwargs: not used.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("create_db_writer: weft writes event files, by tf.contrib.summary.create_file_writer(logdir)")
