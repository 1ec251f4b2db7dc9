"""Graphs with control flow of TensorFlow's first version as graphs with that of its second."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final

from tensorboard.compat.proto import function_pb2, graph_pb2

from weft.framework.raising.branches import raise_branches
from weft.framework.raising.flat_graph import CONTROL_FLOW, read_nodes
from weft.framework.raising.functions import Library, in_graph
from weft.framework.raising.inlining.calls import CALLS, inline_calls
from weft.framework.raising.inlining.cases import CASES, cases_as_calls
from weft.framework.raising.inlining.symbolic import SYMBOLIC, with_gradients
from weft.framework.raising.loops import raise_loops
from weft.framework.serial.function_def import functions_named_by, functions_run_by
from weft.framework.serial.node_order import CycleError, inputs_first

RAISED: Final = CONTROL_FLOW | CALLS | CASES.keys() | {SYMBOLIC}
"""The op types of nodes that others take the place of."""


def needs_raising(proto: graph_pb2.GraphDef) -> bool:
    """Whether a graph has nodes that others have to take the place of: Switch, Enter, PartitionedCall, Case ..."""
    functions = {function.signature.name for function in proto.library.function}
    bodies = (node for function in proto.library.function for node in function.node_def)
    return any(node.op in RAISED or node.op in functions for node in itertools.chain(proto.node, bodies))


def raise_control_flow(proto: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
    """The graph with If and While nodes in place of Switch, Merge, Enter, Exit, NextIteration and LoopCond, and without calls.

    Each Merge and each Exit becomes an Identity of its name, so that what came out of a branch or a loop is found as before;
    the nodes inside go into functions of the graph's library. The nodes of functions take the place of their calls. A graph
    without such nodes is returned as it is.

    Raises:
        ValueError: nodes that cannot be raised, which the message names.
    """
    try:
        _check_recursion(proto)
        proto = inline_calls(cases_as_calls(with_gradients(proto)))
        if not any(node.op in CONTROL_FLOW for node in proto.node):
            return proto
        library = Library(proto.library.function)
        nodes = raise_loops(read_nodes(proto.node), library)
        return _without_replaced(in_graph(raise_branches(nodes, library), library, proto))
    except RecursionError:
        raise ValueError("GraphDef has branches, loops or calls deeper inside of each other than can be raised") from None


def _check_recursion(proto: graph_pb2.GraphDef) -> None:
    """ValueError where a function runs itself, by calls or by branches and loops: its nodes could not be told in advance."""
    if not proto.library.function:
        return
    functions = {function.signature.name: _Function(function.signature.name, function) for function in proto.library.function}
    runs = {name: functions_named_by(function.proto.node_def, functions.keys()) for name, function in functions.items()}
    try:
        inputs_first(functions.values(), lambda each: (functions[name] for name in sorted(runs[each.name])))
    except CycleError as error:
        raise ValueError(f"Function {error.node!r} calls itself, or others that call it: such calls cannot be run") from None


@dataclass(frozen=True, slots=True)
class _Function:
    name: str
    proto: function_pb2.FunctionDef


def _without_replaced(graph: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
    """The graph without functions of such nodes that nobody runs: they are in the places of all calls."""
    run = functions_run_by(graph.node, graph.library)
    functions = graph.library.function
    for index in reversed(range(len(functions))):
        has_raised = any(node.op in RAISED for node in functions[index].node_def)
        if has_raised and functions[index].signature.name not in run:
            del functions[index]
    return graph
