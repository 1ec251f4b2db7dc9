"""FileWriter: writes summaries, graphs and session logs to event files; FileWriterCache: one writer per directory."""

from __future__ import annotations

import os
import threading
import time
import warnings
from typing import Any, SupportsInt

from tensorboard.compat.proto import event_pb2, graph_pb2, meta_graph_pb2, summary_pb2

from weft.events.event_file import EventFile
from weft.framework.building.aliases import SessionLike
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.registry.op_list import describe
from weft.framework.types.printed import printed
from weft.platform.files import gfile
from weft.platform.frames.program_frames import level_of_program
from weft.platform.hints.argument_checks import check_arguments
from weft.proto.messages import RunMetadata


class FileWriter:
    """Writes events to a new file in a directory. Safe from any thread; a context manager that closes it.

    The file begins with the first event: a writer that nothing is written by leaves none, as in TensorFlow.

    Args:
        logdir: the directory, which is made when it is missing.
        graph: a graph to write at once, as `add_graph` does.
        max_queue: how many events to buffer at most.
        flush_secs: how many seconds to buffer an event at most.
        graph_def: a GraphDef to write at once; `graph` is preferred.
        filename_suffix: put after the name that the file gets.
        session: accepted and not used.

    Raises:
        TypeError: `logdir` is no path.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tf.summary.FileWriter(folder, tf.get_default_graph()):
    ...         pass
    ...     print(len(os.listdir(folder)))
    1
    """

    __repr__ = printed("tf.summary", lambda writer: "closed" if getattr(writer, "_closed", False) else "")

    def __init__(
        self,
        logdir: str | os.PathLike[str],
        graph: Graph | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: graph_pb2.GraphDef | None = None,
        filename_suffix: str | None = None,
        session: SessionLike | None = None,
    ) -> None:
        if not isinstance(logdir, str | bytes | os.PathLike):
            raise TypeError(f"logdir of a FileWriter must be a folder, such as 'logs', got {logdir!r}")
        check_arguments(FileWriter.__init__, max_queue=max_queue, flush_secs=flush_secs, graph_def=graph_def, session=session)
        self._logdir = os.fsdecode(logdir)
        if not isinstance(filename_suffix, str | bytes | None):
            raise TypeError(f"Expected binary or unicode string, got {filename_suffix!r} for filename_suffix.")
        self._file_args = (self._logdir, max_queue, flush_secs, filename_suffix or "")
        gfile.MakeDirs(self._logdir)
        self._file: EventFile | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._described_tags: set[str] = set()
        self._run_tags: set[str] = set()
        if isinstance(graph, graph_pb2.GraphDef):
            # Programs from before the Graph argument passed the GraphDef in its place.
            graph, graph_def = None, graph
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)
            written = graph_def if graph is None else graph.as_graph_def(add_shapes=True)
            meta_graph = meta_graph_pb2.MetaGraphDef(graph_def=written)
            describe(meta_graph)
            self.add_meta_graph(meta_graph)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The directory."""
        return self._logdir

    def add_summary(self, summary: object, global_step: SupportsInt | None = None) -> None:
        """Write a Summary, or the bytes of one as a summary op makes them.

        Args:
            summary: the Summary.
            global_step: the step to file it under.

        Raises:
            TypeError: it is none.
        """
        if isinstance(summary, bytes):
            summary = summary_pb2.Summary.FromString(summary)
        if not isinstance(summary, summary_pb2.Summary):
            raise TypeError(
                f"add_summary takes a tf.Summary, or the bytes that running a summary op gives, got {_told(summary)}"
            )
        described = summary_pb2.Summary()
        described.CopyFrom(summary)
        with self._lock:
            for value in described.value:
                # TensorBoard reads a tag's metadata once; later copies would only fill the file.
                if value.HasField("metadata"):
                    if value.tag in self._described_tags:
                        value.ClearField("metadata")
                    self._described_tags.add(value.tag)
        self._add(event_pb2.Event(summary=described), global_step)

    def add_session_log(self, session_log: object, global_step: SupportsInt | None = None) -> None:
        """Write a SessionLog: that a session starts, stops, or saved a checkpoint.

        Args:
            session_log: the SessionLog.
            global_step: the step to file it under.
        """
        self._add(event_pb2.Event(session_log=session_log), global_step)

    def add_graph(
        self, graph: Graph | None = None, global_step: SupportsInt | None = None, graph_def: graph_pb2.GraphDef | None = None
    ) -> None:
        """Write a graph for TensorBoard to draw.

        Args:
            graph: the Graph.
            global_step: the step to file it under.
            graph_def: a GraphDef in its place; deprecated.

        Raises:
            ValueError: both or neither of `graph` and `graph_def` are given.
            TypeError: `graph` is no Graph.
        """
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        if isinstance(graph, graph_pb2.GraphDef):
            graph, graph_def = None, graph
        if graph is not None:
            if not isinstance(graph, Graph):
                meant = ": a session's is session.graph" if hasattr(graph, "graph") else ""
                raise TypeError(f"The passed graph must be an instance of `Graph`, got {type(graph).__name__}{meant}")
            graph_def = graph.as_graph_def(add_shapes=True)
        if graph_def is None:
            raise ValueError("The argument graph must be passed, or the deprecated graph_def.")
        self._add(event_pb2.Event(graph_def=graph_def.SerializeToString()), global_step)

    def add_meta_graph(self, meta_graph_def: meta_graph_pb2.MetaGraphDef, global_step: SupportsInt | None = None) -> None:
        """Write a MetaGraphDef.

        Args:
            meta_graph_def: the MetaGraphDef.
            global_step: the step to file it under.

        Raises:
            TypeError: it is none.
        """
        if not isinstance(meta_graph_def, meta_graph_pb2.MetaGraphDef):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def).__name__}")
        self._add(event_pb2.Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_run_metadata(self, run_metadata: RunMetadata, tag: str, global_step: SupportsInt | None = None) -> None:
        """Write the RunMetadata of a run under a tag of its own.

        Args:
            run_metadata: what a run with `run_metadata=` filled.
            tag: its name, which no other has in this file.
            global_step: the step to file it under.

        Raises:
            ValueError: the tag was used before.
        """
        check_arguments(FileWriter.add_run_metadata, run_metadata=run_metadata, tag=tag)
        with self._lock:
            if tag in self._run_tags:
                raise ValueError(f"The provided tag was already used for this event type: {tag!r}")
            self._run_tags.add(tag)
        tagged = event_pb2.TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add(event_pb2.Event(tagged_run_metadata=tagged), global_step)

    def _add(self, event: Any, step: Any) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = _as_number(step)
        self.add_event(event)

    def add_event(self, event: object) -> None:
        """Write an Event as it is; a closed writer drops it with a warning.

        Args:
            event: the Event.

        Raises:
            TypeError: it is none.
        """
        if self._closed:
            warnings.warn("Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is "
                          "explicitly reopened.", stacklevel=level_of_program())  # fmt: skip
            return
        if getattr(getattr(event, "DESCRIPTOR", None), "name", "") != "Event":
            raise TypeError(
                f"add_event takes a tf.Event, got {event!r} of type {type(event).__name__!r}. A tf.Summary is written by "
                "add_summary(summary, step)."
            )
        self.begin().add(event)

    def begin(self) -> EventFile:
        """Begin the file now, unless it is begun, and not with the first event; returns it."""
        with self._lock:
            if self._file is None:
                self._file = EventFile(*self._file_args)
            return self._file

    def flush(self) -> None:
        """Write to disk what is buffered."""
        if not self._closed and self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Write what is buffered and close the file."""
        self._closed = True
        if self._file is not None:
            self._file.close()

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called, and `reopen` was not since."""
        return self._closed

    def reopen(self) -> None:
        """Go on in another file after `close`; nothing happens while the writer is open."""
        if self._closed:
            self._file = None
            self._closed = False


class FileWriterCache:
    """One FileWriter for each directory, so that hooks and programs write to the same file."""

    _cache: dict[str, FileWriter] = {}  # noqa: RUF012
    _lock = threading.Lock()

    @staticmethod
    def get(logdir: str | os.PathLike[str]) -> FileWriter:
        """The writer of a directory; made when there is none, and then given the default graph to write.

        Args:
            logdir: the directory.
        """
        key = os.fsdecode(logdir)
        with FileWriterCache._lock:
            writer = FileWriterCache._cache.get(key)
            if writer is None:
                writer = FileWriterCache._cache[key] = FileWriter(key, graph=get_default_graph())
            return writer

    @staticmethod
    def clear() -> None:
        """Close and forget all writers."""
        with FileWriterCache._lock:
            writers = list(FileWriterCache._cache.values())
            FileWriterCache._cache.clear()
        for writer in writers:
            writer.close()


def _as_number(step: SupportsInt) -> int:
    try:
        return int(step)
    except (TypeError, ValueError) as error:
        if hasattr(step, "op"):
            # Tensors tell themselves that a run has their values.
            raise
        told = f"{error}: global_step is the number of the step to file it under, such as 10, got {step!r}."
        raise type(error)(told) from None


def _told(summary: object) -> str:
    if hasattr(summary, "op"):
        return f"{summary!r}. Run it first: writer.add_summary(session.run({summary.op.name}), step)."
    return (
        f"{summary!r} of type {type(summary).__name__!r}. A plain number becomes one by "
        "tf.Summary(value=[tf.Summary.Value(tag='loss', simple_value=number)])."
    )
