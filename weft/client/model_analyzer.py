"""Model analysis: how many parameters and floating-point operations a graph has, by name scope or by type of op.

The report is tfprof's of TensorFlow 1. Operations are counted of nodes whose shapes are known while the graph is built; the
rules are TensorFlow's, which count a multiplication and an addition as two.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from weft.framework.collections import GraphKeys
from weft.framework.graph import Graph, get_default_graph
from weft.framework.operation import Operation
from weft.ops.float_operations import float_operations

Options = Mapping[str, object]

TRAINABLE_VARS_PARAMS_STAT_OPTIONS: Final[dict[str, object]] = {
    "max_depth": 10000, "min_bytes": 0, "min_micros": 0, "min_params": 0, "min_float_ops": 0, "order_by": "name",
    "account_type_regexes": ["_trainable_variables"], "start_name_regexes": [".*"], "trim_name_regexes": [],
    "show_name_regexes": [".*"], "hide_name_regexes": [], "account_displayed_op_only": True, "select": ["params"],
    "output": "stdout", "dump_to_file": "",
}  # fmt: skip
FLOAT_OPS_OPTIONS: Final[dict[str, object]] = {
    **TRAINABLE_VARS_PARAMS_STAT_OPTIONS, "min_float_ops": 1, "order_by": "float_ops", "account_type_regexes": [".*"],
    "select": ["float_ops"],
}  # fmt: skip

_HEAD: Final = "\n==================Model Analysis Report======================\n"
_COLUMNS: Final = {"params": "# parameters", "float_ops": "# float_ops"}
_FOOT: Final = "\n======================End of Report==========================\n"


@dataclass
class GraphNode:
    """A node or name scope of the report; totals are with those below."""

    name: str
    parameters: int = 0
    float_ops: int = 0
    total_parameters: int = 0
    total_float_ops: int = 0
    children: list[GraphNode] = field(default_factory=list)
    shape: str = ""

    def add_up(self) -> None:
        """Sum the totals, from below."""
        for child in self.children:
            child.add_up()
        self.total_parameters = self.parameters + sum(child.total_parameters for child in self.children)
        self.total_float_ops = self.float_ops + sum(child.total_float_ops for child in self.children)


def print_model_analysis(
    graph: Graph | None = None,
    run_meta: object = None,
    op_log: object = None,
    tfprof_cmd: str = "scope",
    tfprof_options: Options = TRAINABLE_VARS_PARAMS_STAT_OPTIONS,
) -> GraphNode:
    """Print how many parameters or operations a graph has, and return the same as a tree.

    Args:
        graph: the graph; the default one when None.
        run_meta, op_log: accepted; times are what `weft.explain` and `tf.train.ProfilerHook` tell.
        tfprof_cmd: 'scope', by name scope, or 'op', by type of op.
        tfprof_options: what to select, `TRAINABLE_VARS_PARAMS_STAT_OPTIONS` or `FLOAT_OPS_OPTIONS`, or such a dictionary.

    Raises:
        ValueError: another view, or something is selected that is not counted.
    """
    selected = [str(each) for each in _listed(tfprof_options, "select")]
    if unknown := [each for each in selected if each not in ("params", "float_ops")]:
        raise ValueError(f"Model analysis counts params and float_ops, not {unknown}: for times see tf.train.ProfilerHook")
    if tfprof_cmd not in ("scope", "op"):
        raise ValueError(f"Model analysis has the views 'scope' and 'op', not {tfprof_cmd!r}")
    found = get_default_graph() if graph is None else graph
    counted = [each for each in _counted(found, tfprof_options, selected) if each.parameters or each.float_ops]
    root = _by_scope(counted) if tfprof_cmd == "scope" else _by_type(counted, found)
    root.add_up()
    _sort(root, str(tfprof_options.get("order_by", "name")), int(str(tfprof_options.get("min_float_ops", 0))))
    columns = " | ".join(_COLUMNS[each] for each in selected)
    lines = _lines(root, selected, 0, tfprof_options)
    _put_out("\n".join([_HEAD, f"Profile:\nnode name | {columns}", *lines, _FOOT]), tfprof_options)
    return root


def profile(
    graph: Graph | None = None, run_meta: object = None, op_log: object = None, cmd: str = "scope",
    options: Options = TRAINABLE_VARS_PARAMS_STAT_OPTIONS,
) -> GraphNode:  # fmt: skip
    """`print_model_analysis` under its later name.

    Args:
        graph: the graph; the default one when None.
        run_meta, op_log: accepted; times are what `weft.explain` and `tf.train.ProfilerHook` tell.
        cmd: 'scope', by name scope, or 'op', by type of op.
        options: what to select, `TRAINABLE_VARS_PARAMS_STAT_OPTIONS` or `FLOAT_OPS_OPTIONS`, or such a dictionary.
    """
    return print_model_analysis(graph, run_meta, op_log, cmd, options)


def _listed(options: Options, key: str) -> Iterable[object]:
    found = options.get(key, ())
    return found if isinstance(found, list | tuple) else [found]


def _counted(graph: Graph, options: Options, selected: list[str]) -> list[GraphNode]:
    """What each node that the options ask for has."""
    trainable = {variable.op.name: variable for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
    patterns = [re.compile(str(each)) for each in _listed(options, "account_type_regexes")]
    hidden = [re.compile(str(each)) for each in _listed(options, "hide_name_regexes")]
    nodes = []
    for op in graph.get_operations():
        kinds = [op.type, *(["_trainable_variables"] if op.name in trainable else [])]
        if not any(pattern.fullmatch(kind) for pattern in patterns for kind in kinds):
            continue
        if any(pattern.fullmatch(op.name) for pattern in hidden):
            continue
        node = GraphNode(op.name)
        if "params" in selected and op.name in trainable:
            shape = trainable[op.name].get_shape()
            node.parameters = shape.num_elements() or 0
            node.shape = "x".join(str(size) for size in shape.as_list())
        if "float_ops" in selected:
            node.float_ops = float_operations(op)
        nodes.append(node)
    return nodes


def _by_scope(counted: list[GraphNode]) -> GraphNode:
    root = GraphNode("_TFProfRoot")
    by_name = {"": root}
    for node in counted:
        scope, _, _ = node.name.rpartition("/")
        parent = _scope(by_name, scope)
        found = by_name.get(node.name)
        if found is None:
            by_name[node.name] = node
            parent.children.append(node)
        else:
            found.parameters, found.float_ops, found.shape = node.parameters, node.float_ops, node.shape
    return root


def _scope(by_name: dict[str, GraphNode], name: str) -> GraphNode:
    found = by_name.get(name)
    if found is None:
        found = by_name[name] = GraphNode(name)
        _scope(by_name, name.rpartition("/")[0]).children.append(found)
    return found


def _by_type(counted: list[GraphNode], graph: Graph) -> GraphNode:
    root = GraphNode("_TFProfRoot")
    by_type: dict[str, GraphNode] = {}
    for node in counted:
        op: Operation = graph.get_operation_by_name(node.name)
        found = by_type.setdefault(op.type, GraphNode(op.type))
        found.parameters += node.parameters
        found.float_ops += node.float_ops
    root.children.extend(by_type.values())
    return root


def _sort(node: GraphNode, order_by: str, least: int) -> None:
    node.children = [shown for child in node.children for shown in _shown(child, least)]
    orders: dict[str, Callable[[GraphNode], object]] = {
        "float_ops": lambda child: -child.total_float_ops,
        "params": lambda child: -child.total_parameters,
    }
    node.children.sort(key=orders.get(order_by, lambda child: child.name))  # type: ignore[arg-type]
    for child in node.children:
        _sort(child, order_by, least)


def _shown(node: GraphNode, least: int) -> list[GraphNode]:
    """The node, or in the place of one that has too few operations of its own those below it."""
    if node.float_ops >= least:
        return [node]
    return [shown for child in node.children for shown in _shown(child, least)]


def _lines(node: GraphNode, selected: list[str], depth: int, options: Options) -> list[str]:
    parts = []
    if "params" in selected:
        own = f"{node.shape}, {_short(node.parameters)}" if node.parameters else "--"
        parts.append(f"{own}/{_short(node.total_parameters)} params")
    if "float_ops" in selected:
        parts.append(f"{_short(node.float_ops) if node.float_ops else '--'}/{_short(node.total_float_ops)} flops")
    lines = [f"{'  ' * depth}{node.name} ({', '.join(parts)})"]
    if depth < int(str(options.get("max_depth", 10000))):
        for child in node.children:
            lines.extend(_lines(child, selected, depth + 1, options))
    return lines


def _short(count: int) -> str:
    for limit, letter in ((10**9, "b"), (10**6, "m"), (10**3, "k")):
        if count >= limit:
            return f"{count / limit:.2f}{letter}"
    return str(count)


def _put_out(text: str, options: Options) -> None:
    file = str(options.get("dump_to_file") or "") or str(options.get("output", "stdout")).partition("file:outfile=")[2]
    if file:
        Path(file).write_text(text, encoding="utf-8")
    elif options.get("output", "stdout") != "none":
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
