"""ReceivedGraph: a client's graph as a master has it, which grows by what the client sends."""

from __future__ import annotations

from collections.abc import Iterable

from tensorboard.compat.proto import graph_pb2, node_def_pb2

from weft.errors import NotFoundError
from weft.framework import op_registry
from weft.framework.graph import Graph
from weft.framework.graph_def import to_graph_def
from weft.framework.importer import add_nodes
from weft.framework.raising.flat_graph import CONTROL_FLOW
from weft.framework.raising.raise_control_flow import has_dataflow_control, raise_control_flow
from weft.platform.spelling import nearest

_NODES_NAMED = 5


class ReceivedGraph:
    """A graph that comes piece by piece.

    Nodes of ops that weft lacks are set aside, with those that need them, so that all other nodes can be run.

    Where the client builds Switch, Merge and Enter nodes, a later piece can change what an earlier one is raised to: the
    gradient of a loop adds nodes to the loop. So from the first such piece on the pieces are kept, and `graph` is another
    one after each.
    """

    def __init__(self) -> None:
        self.graph = Graph()
        self._sent = 0
        self._aside: dict[str, node_def_pb2.NodeDef] = {}
        self._pieces: graph_pb2.GraphDef | None = None

    @property
    def version(self) -> int:
        """How many nodes have come."""
        return self._sent

    def extend(self, piece: graph_pb2.GraphDef) -> None:
        """Add nodes; some of them may be in the graph when that fails.

        Raises:
            ValueError, TypeError, LookupError, InvalidArgumentError: the nodes are no graph together with those before.
        """
        if self._pieces is None and has_dataflow_control(piece):
            self._pieces = to_graph_def(self.graph)
            self._pieces.node.extend(self._aside.values())
        if self._pieces is None:
            again = sum(node.name in self.graph.operations for node in piece.node)
            add_nodes(self.graph, self._without_unknown(piece))
        else:
            again = 0
            self._pieces.MergeFrom(piece)
            self._aside = {}
            graph = Graph()
            add_nodes(graph, raise_control_flow(self._without_unknown(self._pieces)))
            self.graph = graph
        self._sent += len(piece.node) - again

    def _without_unknown(self, piece: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
        aside = _needing_unknown(piece.node, self._aside)
        if not aside:
            return piece
        rest = graph_pb2.GraphDef(versions=piece.versions, library=piece.library)
        rest.node.extend(node for node in piece.node if node.name not in aside)
        self._aside.update((node.name, node) for node in piece.node if node.name in aside)
        return rest

    def raise_if_aside(self, names: Iterable[str]) -> None:
        """Raise NotFoundError when the nodes or tensors of these names need ops that weft lacks; it names all of these."""
        waiting = [name.lstrip("^").partition(":")[0] for name in names]
        seen: set[str] = set()
        lacking: dict[str, node_def_pb2.NodeDef] = {}
        while waiting:
            name = waiting.pop()
            if name in seen or name not in self._aside:
                continue
            seen.add(name)
            node = self._aside[name]
            if _is_unknown(node):
                lacking.setdefault(node.op, node)
            waiting.extend(source.lstrip("^").partition(":")[0] for source in node.input)
        if lacking:
            first = next(iter(lacking.values()))
            raise NotFoundError(node_def_pb2.NodeDef(name=first.name, op=first.op), None, _lacking_text(lacking))


def _is_unknown(node: node_def_pb2.NodeDef) -> bool:
    return node.op not in CONTROL_FLOW and not op_registry.is_registered(node.op)


def _needing_unknown(nodes: Iterable[node_def_pb2.NodeDef], before: Iterable[str]) -> set[str]:
    """The names of nodes whose op weft lacks, and of those that need them or nodes set aside before."""
    users: dict[str, list[str]] = {}
    waiting = list(before)
    for node in nodes:
        if _is_unknown(node):
            waiting.append(node.name)
        for source in node.input:
            users.setdefault(source.lstrip("^").partition(":")[0], []).append(node.name)
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(users.get(name, ()))
    return found


def _lacking_text(lacking: dict[str, node_def_pb2.NodeDef]) -> str:
    known = [definition.name for definition in op_registry.registered()]
    parts = []
    for op, node in list(lacking.items())[:_NODES_NAMED]:
        alike = nearest(op, known)
        parts.append(
            f"Op type not registered {op!r}, which node {node.name!r} needs" + (f" (the nearest is {alike!r})" if alike else "")
        )
    more = len(lacking) - _NODES_NAMED
    return "; ".join(parts) + (f"; and {more} more" if more > 0 else "") + ": this version of weft has no op of that name"
