"""Model analysis: parameters, floating-point operations, times and bytes of a graph, by scope, by type of op or by line.

The report is tfprof's of TensorFlow 1. Operations are counted of nodes whose shapes are known while the graph is built; the
rules are TensorFlow's, which count a multiplication and an addition as two. Times are those of a traced step; bytes are those
of the outputs that it made, as far as their shapes are known.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path
from typing import Final

from tensorboard.compat.proto import config_pb2

from weft.client.analysis.columns import selected_columns
from weft.client.analysis.costs import measured
from weft.client.analysis.node import GraphNode
from weft.client.analysis.options import TRAINABLE_VARS_PARAMS_STAT_OPTIONS, Options
from weft.client.analysis.views import ROOT, listed, view_of
from weft.client.timeline import Timeline
from weft.errors import InvalidArgumentError
from weft.framework.graphs.graph import Graph, get_default_graph

_HEAD: Final = "\n==================Model Analysis Report======================\n"
_FOOT: Final = "\n======================End of Report==========================\n"
_VIEWS: Final = ("scope", "op", "code")
_NAME_WIDTH: Final = 25


def print_model_analysis(
    graph: Graph | None = None,
    run_meta: config_pb2.RunMetadata | None = None,
    op_log: object = None,
    tfprof_cmd: str = "scope",
    tfprof_options: Options = TRAINABLE_VARS_PARAMS_STAT_OPTIONS,
) -> GraphNode:
    """Print what a graph has and what a step of it takes, and return the same as a tree.

    Args:
        graph: the graph; the default one when None.
        run_meta: the trace of a step, run with `tf.RunOptions.FULL_TRACE`; without it there are no times and bytes.
        op_log: accepted; weft counts operations itself.
        tfprof_cmd: 'scope', by name scope, 'op', by type of op, or 'code', by the lines of the program that made the nodes.
        tfprof_options: what to select, such as `TRAINABLE_VARS_PARAMS_STAT_OPTIONS`, or what a `ProfileOptionBuilder` built.

    Raises:
        ValueError: something is selected that is not counted.
        InvalidArgumentError: another view, or an output that weft does not write.
    """
    return report_of(graph, [] if run_meta is None else [run_meta], tfprof_cmd, tfprof_options)


def profile(
    graph: Graph | None = None,
    run_meta: config_pb2.RunMetadata | None = None,
    op_log: object = None,
    cmd: str = "scope",
    options: Options | None = None,
) -> GraphNode:
    """`print_model_analysis` under its later name.

    Args:
        graph: the graph; the default one when None.
        run_meta: the trace of a step, run with `tf.RunOptions.FULL_TRACE`; without it there are no times and bytes.
        op_log: accepted; weft counts operations itself.
        cmd: 'scope', by name scope, 'op', by type of op, or 'code', by the lines of the program that made the nodes.
        options: what a `ProfileOptionBuilder` built; when None the parameters of trainable variables.
    """
    return print_model_analysis(
        graph, run_meta, op_log, cmd, TRAINABLE_VARS_PARAMS_STAT_OPTIONS if options is None else options
    )


def report_of(graph: Graph | None, runs: Collection[config_pb2.RunMetadata], cmd: str, options: Options) -> GraphNode:
    """Put a report out, of the mean of some traced steps; returns its tree.

    Args:
        graph: the graph; the default one when None.
        runs: the traces of steps.
        cmd: the view.
        options: what to count and to show, and where to put it.
    """
    output = str(options.get("output", "stdout"))
    kind, _, file = output.partition(":outfile=")
    if kind == "timeline":
        return _write_timeline(runs, file)
    if cmd not in _VIEWS:
        raise InvalidArgumentError(
            None, None, f"unknown cmd: {cmd}; weft has the views {', '.join(_VIEWS)}; how nodes follow each other shows the "
            "output 'timeline:outfile=...' (ProfileOptionBuilder.with_timeline_output)"
        )  # fmt: skip
    if kind not in ("stdout", "file", "none"):
        raise InvalidArgumentError(None, None, f"unknown output: {output}; weft has stdout, file, timeline and none")
    selected = listed(options, "select")
    columns = selected_columns(selected)
    root = view_of(cmd, get_default_graph() if graph is None else graph, measured(runs), options)
    if cmd == "op":
        cells = [
            (each.name.ljust(_NAME_WIDTH), [column.of_type(each, root.total) for column in columns]) for each in root.children
        ]
        lines = [name + ", ".join(texts) for name, texts in cells]
    else:
        lines = [
            f"{'  ' * depth}{node.name} ({', '.join(column.of_scope(node) for column in columns)})"
            for depth, node in root.walk_with_depth()
        ]
    head = f"Profile:\nnode name | {' | '.join(column.head for column in columns)}"
    _put_out("\n".join([_HEAD, head, *lines, _FOOT]), kind, str(options.get("dump_to_file") or file))
    return root


def _write_timeline(runs: Collection[config_pb2.RunMetadata], file: str) -> GraphNode:
    if not runs:
        raise InvalidArgumentError(
            None, None, "A timeline needs the trace of a step: pass run_meta, or add_step to the Profiler"
        )
    *_, last = runs
    Path(file).write_text(Timeline(last.step_stats).generate_chrome_trace_format(), encoding="utf-8")
    return GraphNode(ROOT)


def _put_out(text: str, kind: str, file: str) -> None:
    if file:
        Path(file).write_text(text, encoding="utf-8")
    elif kind == "stdout":
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
