"""The order in which nodes can be added: a GraphDef may list them in any."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from tensorboard.compat.proto import graph_pb2, node_def_pb2


class Named(Protocol):
    """A node: its name tells it from all others."""

    @property
    def name(self) -> str:
        """Its name."""
        ...


NodeT = TypeVar("NodeT", bound=Named)


class CycleError(ValueError):
    """Nodes wait for each other; `node` is one of them."""

    def __init__(self, node: str) -> None:
        super().__init__(f"nodes wait for each other in a cycle through {node!r}")
        self.node = node


def inputs_first(nodes: Iterable[NodeT], inputs_of: Callable[[NodeT], Iterable[NodeT]]) -> list[NodeT]:
    """The nodes, and what they wait for, so that a node's inputs come before it; else in the order given.

    Raises:
        CycleError: some wait for each other.
    """
    done: set[str] = set()
    order: list[NodeT] = []
    for root in nodes:
        # Not by recursion: a chain of nodes may be longer than Python's stack.
        stack = [(root, iter(inputs_of(root)))]
        entered = {root.name}
        while stack:
            node, inputs = stack[-1]
            if node.name in done:
                stack.pop()
                continue
            for source in inputs:
                if source.name in done:
                    continue
                if source.name in entered:
                    raise CycleError(source.name)
                entered.add(source.name)
                stack.append((source, iter(inputs_of(source))))
                break
            else:
                done.add(node.name)
                order.append(node)
                stack.pop()
    return order


def in_order(proto: graph_pb2.GraphDef, names: set[str]) -> list[node_def_pb2.NodeDef]:
    """The nodes, which have these names, so that inputs come first; ValueError when some wait for each other."""
    by_name: dict[str, node_def_pb2.NodeDef] = {node.name: node for node in proto.node}

    def inputs_of(node: node_def_pb2.NodeDef) -> Iterable[node_def_pb2.NodeDef]:
        return (by_name[source] for item in node.input if (source := _source(item)) in names)

    try:
        return inputs_first(proto.node, inputs_of)
    except CycleError as error:
        raise ValueError(
            f"{_count_stuck(proto, names)} nodes in a cycle, or behind one: it goes through node {error.node!r}. "
            "Loops must be While functions"
        ) from None


def _count_stuck(proto: graph_pb2.GraphDef, names: set[str]) -> int:
    """How many nodes wait for themselves or for such nodes."""
    waits_for = {node.name: {_source(item) for item in node.input} & names for node in proto.node}
    consumers: dict[str, list[str]] = {}
    for name, sources in waits_for.items():
        for source in sources:
            consumers.setdefault(source, []).append(name)
    ready = [name for name, sources in waits_for.items() if not sources]
    for name in ready:
        for consumer in consumers.get(name, ()):
            waits_for[consumer].discard(name)
            if not waits_for[consumer]:
                ready.append(consumer)
    return len(names) - len(ready)


def _source(item: str) -> str:
    return item.lstrip("^").partition(":")[0]
