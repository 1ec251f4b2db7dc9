"""SentGraph: what of a client's graph a TensorFlow server has, and what it needs for a run."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from tensorboard.compat.proto.graph_pb2 import GraphDef

from weft.framework.graphs.graph import Graph
from weft.framework.graphs.growth import grown_operations
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.serial.exported_graph import exported_part

_COLOCATED = b"loc:@"


class SentGraph:
    """The nodes that were sent. A server gets those that runs need and no others: one that it cannot read does no harm then.

    Not safe from many threads; its session's lock guards it.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._names: set[str] = set()
        self._version = 0

    def missing(self, elements: Iterable[Tensor | Operation]) -> list[Operation]:
        """The nodes that these need and that were not sent, in the graph's order."""
        operations = (element.op if isinstance(element, Tensor) else element for element in elements)
        return _needed(self._graph, operations, self._names)

    def needed(self, names: Iterable[str]) -> list[Operation]:
        """The nodes that a run needs of tensors and operations with these names. For any thread."""
        operations = self._graph.operations
        return _needed(self._graph, [operations[name.partition(":")[0]] for name in names], ())

    def has_grown(self) -> bool:
        """Whether nodes that were sent have other outputs or functions since, which a server cannot be told of."""
        return any(op.name in self._names for op in grown_operations(self._graph, self._version))

    def all_with(self, missing: Iterable[Operation]) -> list[Operation]:
        """What was sent, and these."""
        names = self._names | {op.name for op in missing}
        return [op for op in self._graph.get_operations() if op.name in names]

    def graph_def(self, operations: list[Operation]) -> GraphDef:
        """The GraphDef of nodes, in TensorFlow's ops, with the functions that they run."""
        return exported_part(self._graph, self._graph.graph_def_versions, operations, self._names)

    def note_sent(self, operations: Iterable[Operation], version: int) -> None:
        """The server has these, as they were when the graph had that version."""
        self._names.update(op.name for op in operations)
        self._version = version

    def forget(self) -> None:
        """The server has nothing any more."""
        self._names.clear()
        self._version = 0


def _needed(graph: Graph, operations: Iterable[Operation], known: Container[str]) -> list[Operation]:
    """These nodes and those that they need, but for what is known by its name, in the graph's order."""
    waiting = list(operations)
    found: dict[str, Operation] = {}
    while waiting:
        op = waiting.pop()
        if op.name in known or op.name in found:
            continue
        found[op.name] = op
        waiting.extend(tensor.op for tensor in op.inputs)
        waiting.extend(op.control_inputs)
        waiting.extend(graph.operations[name] for name in _colocated(op) if name in graph.operations)
    return sorted(found.values(), key=lambda op: op.id)


def _colocated(op: Operation) -> Iterator[str]:
    return (group.removeprefix(_COLOCATED).decode() for group in op.colocation_groups())
