"""The order in which the nodes of a GraphDef can be added: it may list them in any."""

from __future__ import annotations

from tensorboard.compat.proto import graph_pb2, node_def_pb2


def in_order(proto: graph_pb2.GraphDef, names: set[str]) -> list[node_def_pb2.NodeDef]:
    """The nodes, which have these names, so that inputs come first; ValueError when some wait for each other."""
    by_name = {node.name: node for node in proto.node}
    done: set[str] = set()
    order: list[node_def_pb2.NodeDef] = []
    for root in proto.node:
        stack = [(root, iter(root.input))]
        entered = {root.name}
        while stack:
            node, inputs = stack[-1]
            if node.name in done:
                stack.pop()
                continue
            for item in inputs:
                source = _source(item)
                if source in names and source not in done:
                    if source in entered:
                        raise ValueError(
                            f"{_count_stuck(proto, names)} nodes in a cycle, or behind one: it goes through node {source!r}. "
                            "Loops must be While functions"
                        )
                    entered.add(source)
                    stack.append((by_name[source], iter(by_name[source].input)))
                    break
            else:
                done.add(node.name)
                order.append(node)
                stack.pop()
    return order


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
