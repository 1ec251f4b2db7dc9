"""GraphSize: how much graph a client has sent for one session, and how much it may."""

from __future__ import annotations

from tensorboard.compat.proto.graph_pb2 import GraphDef

from weft.protocol.limits import ServerLimits, exceeded


class GraphSize:
    """The nodes and bytes of one session's graph, as they were sent. Its owner serialises the calls.

    Args:
        limits: how many they may be.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self.nodes = 0
        self.size_bytes = 0

    def add(self, graph_def: GraphDef) -> None:
        """Count what a client has sent, before anything is made of it.

        Raises:
            ResourceExhaustedError: that is too much, and nothing is counted.
        """
        nodes = self.nodes + len(graph_def.node) + sum(len(function.node_def) for function in graph_def.library.function)
        size_bytes = self.size_bytes + graph_def.ByteSize()
        limits = self._limits
        if nodes > limits.max_graph_nodes:
            raise exceeded("The session's graph has too many nodes", nodes, "max_graph_nodes", limits.max_graph_nodes)
        if size_bytes > limits.max_graph_bytes:
            what = "The session's graph has too many bytes; large values belong into variables or feeds"
            raise exceeded(what, size_bytes, "max_graph_bytes", limits.max_graph_bytes)
        self.nodes, self.size_bytes = nodes, size_bytes
