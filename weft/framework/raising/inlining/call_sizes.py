"""How many nodes the calls of a graph stand for, which is known before any of them is made.

Functions that call others twice double with each call: a few lines would fill the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from tensorboard.compat.proto import graph_pb2, node_def_pb2

from weft.framework.raising.flat_graph import DEEPEST

_MOST_NODES: Final = 100_000


class _Size(NamedTuple):
    """How many nodes something stands for, and how deep the calls in it go."""

    nodes: int
    depth: int


def check_sizes(proto: graph_pb2.GraphDef, called: Callable[[node_def_pb2.NodeDef], str]) -> None:
    """Refuse a graph whose calls go too deep, or stand for too many nodes.

    Args:
        proto: the graph.
        called: gives the name of the function that a node calls, '' for a node that is no call.

    Raises:
        ValueError: a function calls itself, or calls go deeper than can be raised; or there are more than 100,000 nodes in
            the functions that are called, counted for each call.
    """
    bodies = {function.signature.name: function.node_def for function in proto.library.function}
    known: dict[str, _Size] = {}

    def size_of(nodes: Iterable[node_def_pb2.NodeDef], above: int) -> _Size:
        sizes = [size_of_call(name, above + 1) for node in nodes if (name := called(node)) in bodies]
        return _Size(sum(each.nodes for each in sizes), max((each.depth for each in sizes), default=0))

    def size_of_call(name: str, above: int) -> _Size:
        if above <= DEEPEST and name not in known:
            inner = size_of(bodies[name], above)
            known[name] = _Size(len(bodies[name]) + inner.nodes, 1 + inner.depth)
        if above > DEEPEST or known[name].depth > DEEPEST:
            raise ValueError(f"Function {name!r} calls itself, or calls go deeper than {DEEPEST}: such calls cannot be run")
        if known[name].nodes > _MOST_NODES:
            raise ValueError(f"The calls of function {name!r} and others stand for more than {_MOST_NODES} nodes")
        return known[name]

    total = sum(size_of(nodes, 0).nodes for nodes in (proto.node, *bodies.values()))
    if total > _MOST_NODES:
        raise ValueError(f"The calls of functions in the graph stand for more than {_MOST_NODES} nodes")
