"""The views of a report: what is counted, arranged by name scope, by type of op, or by the lines of the program."""

from __future__ import annotations

import os.path
import re
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from weft.client.analysis.columns import COLUMNS
from weft.client.analysis.costs import Measured, costs_of, shapes_of_variables
from weft.client.analysis.node import GraphNode
from weft.client.analysis.options import Options
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation

ROOT: Final = "_TFProfRoot"
_SCOPE: Final = "_kTFScopeParent"
"""The type by which TensorFlow counts name scopes."""


def listed(options: Options, key: str) -> list[str]:
    """The texts of an option."""
    found = options.get(key, ())
    return [str(each) for each in (found if isinstance(found, list | tuple) else [found])]


class _Names(NamedTuple):
    """Regular expressions, one of which has to match a whole name."""

    patterns: Sequence[re.Pattern[str]]

    @classmethod
    def of(cls, options: Options, key: str) -> _Names:
        """The expressions of an option; ValueError for what is none."""
        try:
            return cls([re.compile(each) for each in listed(options, key)])
        except re.error as error:
            raise ValueError(f"{key} takes regular expressions: {error.pattern!r} is none, {error}") from None

    def match(self, name: str) -> bool:
        return any(pattern.fullmatch(name) for pattern in self.patterns)


class _Shown:
    """Which lines of a tree are shown, by names, depth and least figures."""

    def __init__(self, options: Options) -> None:
        self._start, self._show, self._hide, self._trim = (
            _Names.of(options, f"{part}_name_regexes") for part in ("start", "show", "hide", "trim")
        )
        least: dict[str, int] = {
            key: int(str(value)) for key, value in options.items() if key.startswith("min_") and value is not None
        }
        self._least = {
            "parameters": least.get("min_params", 0),
            "float_ops": least.get("min_float_ops", 0),
            "total_exec_micros": least.get("min_micros", 0),
            "total_cpu_exec_micros": least.get("min_cpu_micros", 0),
            "total_accelerator_exec_micros": least.get("min_accelerator_micros", 0),
            "total_requested_bytes": max(least.get("min_bytes", 0), least.get("min_output_bytes", 0)),
        }
        self._least_occurrence = least.get("min_occurrence", 0)
        self._depth = int(str(options.get("max_depth", 10000)))

    def begin(self, root: GraphNode) -> list[GraphNode]:
        """What is shown below the root: all of it, or what begins with the lines whose names the options give."""
        if self._start.match(root.name):
            return [shown for child in root.children for shown in self._of(child, 1)]
        found, waiting = [], deque(root.children)
        while waiting:
            node = waiting.popleft()
            if self._start.match(node.name):
                found += self._of(node, 1)
            else:
                waiting.extendleft(reversed(node.children))
        return found

    def _of(self, node: GraphNode, depth: int) -> list[GraphNode]:
        """The line with what is shown below it, or in the place of one that is not shown those below it."""
        if depth > self._depth or self._trim.match(node.name):
            return []
        below = [shown for child in node.children for shown in self._of(child, depth + 1)]
        return [GraphNode(node.name, node.own, node.total, below, node.shape, node.is_counted)] if self.has(node) else below

    def has(self, node: GraphNode) -> bool:
        """Whether a line is one of those that are shown, wherever it stands."""
        if not self._show.match(node.name) or self._hide.match(node.name):
            return False
        return all(getattr(node, figure) >= number for figure, number in self._least.items())

    def occurs(self, node: GraphNode) -> bool:
        """Whether there are as many nodes of a type as are asked for."""
        return node.own.definition_count >= self._least_occurrence


def view_of(cmd: str, graph: Graph, found: Measured, options: Options) -> GraphNode:
    """The tree that a report shows.

    Args:
        cmd: "scope", "op" or "code".
        graph: the graph.
        found: what was measured of its nodes.
        options: what is counted and shown.
    """
    shown = _Shown(options)
    variables = shapes_of_variables(graph)
    types = _Names.of(options, "account_type_regexes")
    counted = []
    for op in graph.get_operations():
        if types.match(op.type) or (op.name in variables and types.match("_trainable_variables")):
            counted.append((op, GraphNode(op.name, costs_of(op, variables, found), shape=variables.get(op.name, ""))))
    order = str(options.get("order_by", "name"))
    counts_shown_only = bool(options.get("account_displayed_op_only", True))
    if cmd == "op":
        root = _by_type(counted)
        _sort(root, order, by_own=True)
        root.add_up_in_order()
        root.children = [each for each in root.children if shown.has(each) and shown.occurs(each)]
        if counts_shown_only:
            root.add_up_in_order()
        return root
    root = _by_scope(counted, types.match(_SCOPE)) if cmd == "scope" else _by_line(counted)
    root.add_up()
    _sort(root, order, by_own=False)
    root.children = shown.begin(root)
    if counts_shown_only:
        root.add_up()
    return root


_Counted = Iterable[tuple[Operation, GraphNode]]


def _by_scope(counted: _Counted, scopes_count: bool) -> GraphNode:
    root = GraphNode(ROOT, is_counted=False)
    by_name = {"": root}
    for _, node in counted:
        found = by_name.get(node.name)
        if found is None:
            by_name[node.name] = node
            _scope(by_name, node.name.rpartition("/")[0], scopes_count).children.append(node)
        else:
            found.own, found.shape, found.is_counted = node.own, node.shape, True
    return root


def _scope(by_name: dict[str, GraphNode], name: str, counts: bool) -> GraphNode:
    found = by_name.get(name)
    if found is None:
        found = by_name[name] = GraphNode(name, is_counted=counts)
        _scope(by_name, name.rpartition("/")[0], counts).children.append(found)
    return found


def _by_type(counted: _Counted) -> GraphNode:
    by_type: dict[str, GraphNode] = {}
    for op, node in counted:
        found = by_type.setdefault(op.type, GraphNode(op.type))
        found.own = found.own.plus(node.own)
    return GraphNode(ROOT, children=list(by_type.values()))


def _by_line(counted: _Counted) -> GraphNode:
    """Each line of the program below the one that called it; nodes out of a GraphDef, which no line made, below the root."""
    root = GraphNode(ROOT, is_counted=False)
    by_path: dict[tuple[str, ...], GraphNode] = {(): root}
    for op, node in counted:
        path: tuple[str, ...] = ()
        for file, line, function, _ in op.traceback:
            above = by_path[path]
            path = (*path, f"{os.path.basename(file)}:{line}:{function}")
            if path not in by_path:
                by_path[path] = GraphNode(path[-1])
                above.children.append(by_path[path])
        by_path[path].own = by_path[path].own.plus(node.own)
    return root


def _sort(root: GraphNode, order_by: str, by_own: bool) -> None:
    """Sort all lines by a figure, the largest first, of the line itself or with all below; by name for any other word."""
    column = COLUMNS.get(order_by)

    def place(node: GraphNode) -> tuple[int, str]:
        return (0 if column is None else -column.figure(node.own if by_own else node.total)), node.name

    for node in root.walk():
        node.children.sort(key=place)
