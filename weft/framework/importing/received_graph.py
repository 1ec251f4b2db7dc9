"""ReceivedGraph: a client's graph as a master has it, which grows by what the client sends."""

from __future__ import annotations

from collections.abc import Iterable

from tensorboard.compat.proto import graph_pb2, node_def_pb2

from weft.errors import NotFoundError
from weft.framework.graphs.graph import Graph
from weft.framework.graphs.late_reads import LateReads
from weft.framework.importing.importer import add_nodes
from weft.framework.importing.lacking_ops import Lacking, LackingOps, lacking_text
from weft.framework.raising.raise_control_flow import needs_raising, raise_control_flow
from weft.framework.serial.graph_def import to_graph_def


class ReceivedGraph:
    """A graph that comes piece by piece.

    Nodes of ops that weft lacks are set aside, with those that need them, so that all other nodes can be run.

    Where the client builds Switch, Merge and Enter nodes, a later piece can change what an earlier one is raised to: the
    gradient of a loop adds nodes to the loop. So from the first piece that needs raising on the pieces are kept, and `graph`
    is another one after each.

    Args:
        by_tensorflow: whether a TensorFlow built it, whose reads of variables see later updates.
    """

    def __init__(self, by_tensorflow: bool = False) -> None:
        self.graph = Graph()
        self._reads = LateReads() if by_tensorflow else None
        self._sent = 0
        self._aside: dict[str, node_def_pb2.NodeDef] = {}
        self._lacking = LackingOps()
        self._lacking_by_node: dict[str, Lacking] = {}
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
        if self._pieces is None and needs_raising(piece):
            self._pieces = to_graph_def(self.graph)
            self._pieces.node.extend(self._aside.values())
        if self._pieces is None:
            again = sum(node.name in self.graph.operations for node in piece.node)
            add_nodes(self.graph, self._without_unknown(piece), self._reads)
        else:
            again = 0
            self._join(self._pieces, piece)
            self._aside = {}
            graph, self._reads = Graph(), None if self._reads is None else LateReads()
            add_nodes(graph, raise_control_flow(self._without_unknown(self._pieces)), self._reads)
            self.graph = graph
        self._sent += len(piece.node) - again

    def _join(self, pieces: graph_pb2.GraphDef, piece: graph_pb2.GraphDef) -> None:
        """Put a piece behind those before; a client sends functions again with each."""
        known = {function.signature.name for function in pieces.library.function}
        pieces.node.extend(piece.node)
        pieces.library.function.extend(each for each in piece.library.function if each.signature.name not in known)
        pieces.library.gradient.extend(each for each in piece.library.gradient if each.function_name not in known)
        pieces.versions.CopyFrom(piece.versions)

    def _without_unknown(self, piece: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
        self._lacking.take_in(piece.library.function)
        own = {node.name: lacking for node in piece.node if (lacking := self._lacking.of(node))}
        if not own and not self._aside:
            return piece
        aside = _with_users(piece.node, [*own, *self._aside])
        rest = graph_pb2.GraphDef(versions=piece.versions)
        rest.node.extend(node for node in piece.node if node.name not in aside)
        rest.library.gradient.extend(piece.library.gradient)
        rest.library.function.extend(
            each for each in piece.library.function if not self._lacking.of_function(each.signature.name)
        )
        self._aside.update((node.name, node) for node in piece.node if node.name in aside)
        self._lacking_by_node.update(own)
        return rest

    def raise_if_aside(self, names: Iterable[str]) -> None:
        """Raise NotFoundError when the nodes or tensors of these names need ops that weft lacks; it names all of these."""
        waiting = [_node_of(name) for name in names]
        seen: set[str] = set()
        lacking: Lacking = {}
        while waiting:
            name = waiting.pop()
            if name in seen or name not in self._aside:
                continue
            seen.add(name)
            lacking = {**self._lacking_by_node.get(name, {}), **lacking}
            waiting.extend(_node_of(source) for source in self._aside[name].input)
        if lacking:
            first = next(iter(lacking.values()))
            raise NotFoundError(node_def_pb2.NodeDef(name=first.name, op=first.op), None, lacking_text(lacking))


def _node_of(reference: str) -> str:
    return reference.lstrip("^").partition(":")[0]


def _with_users(nodes: Iterable[node_def_pb2.NodeDef], wanted: Iterable[str]) -> set[str]:
    """The names of nodes, and of all that need them."""
    users: dict[str, list[str]] = {}
    for node in nodes:
        for source in node.input:
            users.setdefault(_node_of(source), []).append(node.name)
    found: set[str] = set()
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(users.get(name, ()))
    return found
