"""Profiler: reports over the traced steps of a training, and what takes most of their time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from tensorboard.compat.proto import config_pb2

from weft.client.analysis.columns import COLUMNS
from weft.client.analysis.model_analyzer import report_of
from weft.client.analysis.node import GraphNode
from weft.client.analysis.options import Options, ProfileOptionBuilder
from weft.framework.graphs.graph import Graph, get_default_graph

_CHECKERS: Final = ("ExpensiveOperationChecker", "AcceleratorUtilizationChecker", "OperationChecker")
ALL_ADVICE: Final[Mapping[str, Mapping[str, object]]] = {name: {} for name in _CHECKERS}
_MOST_EXPENSIVE: Final = 3


class Checker(NamedTuple):
    """What one checker says."""

    reports: list[str]


class Advice(NamedTuple):
    """What each checker says, by its name."""

    checkers: dict[str, Checker]

    def __str__(self) -> str:
        """The reports below the names of their checkers."""
        return "\n".join("\n".join((f"{name}:", *checker.reports, "")) for name, checker in self.checkers.items())


class Profiler:
    """Reports over the steps of a training that were traced.

        profiler = tf.profiler.Profiler(sess.graph)
        metadata = tf.RunMetadata()
        sess.run(train, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
        profiler.add_step(step, metadata)
        options = tf.profiler.ProfileOptionBuilder.time_and_memory()
        profiler.profile_operations(options)

    A report is of one step where the options name it (`with_step`), else of the mean of all.

    Args:
        graph: the graph; the default one when None.
        op_log: accepted; weft counts operations itself.
    """

    def __init__(self, graph: Graph | None = None, op_log: object = None) -> None:
        self._graph = get_default_graph() if graph is None else graph
        self._runs: dict[int, config_pb2.RunMetadata] = {}

    def __repr__(self) -> str:
        """How many steps it has."""
        return f"<Profiler of {len(self._runs)} steps>"

    def add_step(self, step: int, run_meta: config_pb2.RunMetadata) -> None:
        """Add the trace of a step; one that was added under the same number before goes.

        Args:
            step: its number.
            run_meta: what `Session.run` filled under `tf.RunOptions.FULL_TRACE`. It is copied.
        """
        kept = config_pb2.RunMetadata()
        kept.CopyFrom(run_meta)
        self._runs[step] = kept

    def profile_python(self, options: Options) -> GraphNode:
        """Report by the lines of the program that made the nodes.

        Args:
            options: what a `ProfileOptionBuilder` built.

        Returns:
            The report's root: its numbers are those of all lines.
        """
        return self._report("code", options)

    def profile_operations(self, options: Options) -> GraphNode:
        """Report by the types of ops.

        Args:
            options: what a `ProfileOptionBuilder` built.

        Returns:
            The report's root: its numbers are those of all types.
        """
        return self._report("op", options)

    def profile_name_scope(self, options: Options) -> GraphNode:
        """Report by name scopes.

        Args:
            options: what a `ProfileOptionBuilder` built.

        Returns:
            The report's root: its numbers are those of all scopes.
        """
        return self._report("scope", options)

    def profile_graph(self, options: Options) -> GraphNode:
        """Write how the nodes of a step followed each other.

        Args:
            options: what a `ProfileOptionBuilder` built, `with_timeline_output`.

        Returns:
            The report's root: its numbers are those of all nodes.

        Raises:
            InvalidArgumentError: the output is another one: as text weft has the other three views.
        """
        return self._report("graph", options)

    def advise(self, options: Mapping[str, Mapping[str, object]] | None = None) -> Advice:
        """Print and return what takes most of the time of the steps.

        Args:
            options: the checkers that are asked, with their options; all when None or empty.

        Raises:
            ValueError: a checker of that name is not known.
        """
        wanted = options or ALL_ADVICE
        if unknown := [name for name in wanted if name not in _CHECKERS]:
            raise ValueError(f"There are the checkers {', '.join(_CHECKERS)}, not {unknown}")
        by_name = {"ExpensiveOperationChecker": self._most_expensive}
        advice = Advice({name: Checker(by_name[name]() if name in by_name else []) for name in wanted})
        print(advice)
        return advice

    def _report(self, cmd: str, options: Options) -> GraphNode:
        step = int(str(options.get("step", -1)))
        if step >= 0 and step not in self._runs:
            raise ValueError(f"The profiler has no step {step}: {sorted(self._runs)} were added")
        return report_of(self._graph, [self._runs[step]] if step >= 0 else list(self._runs.values()), cmd, options)

    def _most_expensive(self) -> list[str]:
        options = ProfileOptionBuilder(ProfileOptionBuilder.time_and_memory(min_bytes=0)).with_empty_output().build()
        root = self.profile_operations(options)
        lines = []
        for place, found in enumerate(root.children[:_MOST_EXPENSIVE], 1):
            cpu, accelerator, both = (COLUMNS[name] for name in ("cpu_micros", "accelerator_micros", "micros"))
            times = [each.text(each.figure(found.own)) for each in (cpu, accelerator, both)]
            share = 100.0 * found.exec_micros / root.total_exec_micros
            text = "cpu: {}, accelerator: {}, total: {}".format(*times)
            lines.append(f"top {place} operation type: {found.name}, {text} ({share:.2f}%)")
        return lines


def advise(
    graph: Graph | None = None,
    run_meta: config_pb2.RunMetadata | None = None,
    options: Mapping[str, Mapping[str, object]] | None = None,
) -> Advice:
    """Print and return what takes most of the time of a traced step.

    Args:
        graph: the graph; the default one when None.
        run_meta: the trace of the step.
        options: the checkers that are asked, with their options; all when None or empty.

    Raises:
        ValueError: a checker of that name is not known.
    """
    profiler = Profiler(graph)
    if run_meta is not None:
        profiler.add_step(0, run_meta)
    return profiler.advise(options)
