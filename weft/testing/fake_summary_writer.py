"""FakeSummaryWriter: keeps what a program writes to an event file, for tests of hooks and loops."""

from __future__ import annotations

import os
import unittest
from collections.abc import Mapping, Sequence

from tensorboard.compat.proto import config_pb2, event_pb2, graph_pb2, meta_graph_pb2, summary_pb2

from weft.events.file_writer import FileWriterCache
from weft.framework.graphs.graph import Graph

_Defs = Sequence[graph_pb2.GraphDef] | None
_MetaGraphs = Sequence[meta_graph_pb2.MetaGraphDef] | None


class FakeSummaryWriter:
    """Has the methods of a FileWriter, and writes nothing: `summaries` has what it was given.

    Args:
        logdir: the directory that it would write to.
        graph: the graph that it would write.
    """

    _kept: object = None

    @classmethod
    def install(cls) -> None:
        """Have `tf.summary.FileWriterCache` give fake writers, until `uninstall`.

        Raises:
            ValueError: it is installed already.
        """
        if cls._kept is not None:
            raise ValueError("FakeSummaryWriter already installed.")
        cls._kept = vars(FileWriterCache)["get"]
        made: dict[str, FakeSummaryWriter] = {}
        FileWriterCache.get = staticmethod(  # type: ignore[method-assign, assignment]
            lambda logdir: made.setdefault(os.fsdecode(logdir), cls(logdir))
        )

    @classmethod
    def uninstall(cls) -> None:
        """Have `tf.summary.FileWriterCache` give real writers again.

        Raises:
            ValueError: it is not installed.
        """
        if cls._kept is None:
            raise ValueError("FakeSummaryWriter not installed.")
        FileWriterCache.get = cls._kept  # type: ignore[method-assign, assignment]
        cls._kept = None

    def __init__(self, logdir: str | os.PathLike[str], graph: Graph | None = None) -> None:
        self._logdir = logdir
        self._graph = graph
        self._summaries: dict[int | None, list[summary_pb2.Summary]] = {}
        self._added_graphs: list[Graph | graph_pb2.GraphDef] = []
        self._added_meta_graphs: list[meta_graph_pb2.MetaGraphDef] = []
        self._added_session_logs: list[event_pb2.SessionLog] = []
        self._added_run_metadata: dict[str, config_pb2.RunMetadata] = {}

    def __repr__(self) -> str:
        return f"<tf.contrib.testing.FakeSummaryWriter of {self._logdir}: summaries of {len(self._summaries)} steps>"

    @property
    def summaries(self) -> Mapping[int | None, Sequence[summary_pb2.Summary]]:
        """The summaries that were added, by step."""
        return self._summaries

    def assert_summaries(
        self,
        test_case: unittest.TestCase,
        expected_logdir: str | None = None,
        expected_graph: Graph | None = None,
        expected_summaries: Mapping[int, Mapping[str, object]] | None = None,
        expected_added_graphs: _Defs = None,
        expected_added_meta_graphs: _MetaGraphs = None,
        expected_session_logs: Sequence[event_pb2.SessionLog] | None = None,
    ) -> None:
        """Let a test fail unless the writer was made so and was given this; what is None is not compared.

        Args:
            test_case: the test.
            expected_logdir: the directory.
            expected_graph: the graph that it was made with.
            expected_summaries: the scalar values, by step and tag.
            expected_added_graphs: what `add_graph` was given.
            expected_added_meta_graphs: what `add_meta_graph` was given.
            expected_session_logs: what `add_session_log` was given.
        """
        found = {step: {value.tag: value.simple_value for each in of_step for value in each.value}
                 for step, of_step in self._summaries.items()}  # fmt: skip
        for what, expected, got in (
            ("logdir", expected_logdir, self._logdir),
            ("graph", expected_graph, self._graph),
            ("summaries", expected_summaries, found),
            ("added graphs", expected_added_graphs, self._added_graphs),
            ("added meta graphs", expected_added_meta_graphs, self._added_meta_graphs),
            ("session logs", expected_session_logs, self._added_session_logs),
        ):
            if expected is not None and expected != got:
                test_case.fail(f"The {what} differ: expected {expected}, found {got}")

    def add_summary(self, summ: bytes | summary_pb2.Summary, current_global_step: int | None = None) -> None:
        """Keep a summary.

        Args:
            summ: a Summary, or its bytes.
            current_global_step: its step.
        """
        kept = summary_pb2.Summary.FromString(summ) if isinstance(summ, bytes) else summ
        self._summaries.setdefault(current_global_step, []).append(kept)

    def add_graph(
        self, graph: Graph | None, global_step: int | None = None, graph_def: graph_pb2.GraphDef | None = None
    ) -> None:
        """Keep a graph.

        Args:
            graph: the graph.
            global_step: its step, which is not kept.
            graph_def: a GraphDef instead.

        Raises:
            ValueError: none or both are given.
        """
        if (graph is None) == (graph_def is None):
            raise ValueError("add_graph: either graph or graph_def is given, and not both.")
        self._added_graphs.append(graph if graph is not None else graph_def)

    def add_meta_graph(self, meta_graph_def: meta_graph_pb2.MetaGraphDef, global_step: int | None = None) -> None:
        """Keep a MetaGraphDef.

        Args:
            meta_graph_def: the MetaGraphDef.
            global_step: its step, which is not kept.
        """
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log: event_pb2.SessionLog, global_step: int | None = None) -> None:
        """Keep a SessionLog.

        Args:
            session_log: the SessionLog.
            global_step: its step, which is not kept.
        """
        self._added_session_logs.append(session_log)

    def add_run_metadata(self, run_metadata: config_pb2.RunMetadata, tag: str, global_step: int | None = None) -> None:
        """Keep a step's RunMetadata.

        Args:
            run_metadata: the RunMetadata.
            tag: its name.
            global_step: its step, which is not kept.
        """
        self._added_run_metadata[tag] = run_metadata

    def flush(self) -> None:
        """Nothing is written."""

    def reopen(self) -> None:
        """Nothing was closed."""

    def close(self) -> None:
        """Nothing is open."""
