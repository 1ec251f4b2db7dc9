"""LackingOps: which nodes of a client's graph need ops that weft lacks, themselves or in the functions that they run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from tensorboard.compat.proto import function_pb2, node_def_pb2

from weft.framework.raising.raise_control_flow import RAISED
from weft.framework.registry import op_registry
from weft.platform.hints.spelling import nearest

Lacking: TypeAlias = dict[str, node_def_pb2.NodeDef]
"""Op types that weft lacks, each with the first node that needs it."""

_OPS_NAMED: Final = 5


class LackingOps:
    """Knows the functions of a graph, which come piece by piece."""

    def __init__(self) -> None:
        self._functions: set[str] = set()
        self._by_function: dict[str, Lacking] = {}

    def take_in(self, functions: Iterable[function_pb2.FunctionDef]) -> None:
        """Look through functions; a function is given together with those that it runs, or after them.

        Takes as long as the functions have nodes, times the number of op types that are lacking.
        """
        new = [each for each in functions if each.signature.name not in self._functions]
        self._functions.update(each.signature.name for each in new)
        callers: dict[str, list[str]] = {}
        for function in new:
            name = function.signature.name
            for node in function.node_def:
                for called in _functions_run_by(node):
                    callers.setdefault(called, []).append(name)
                if self._is_lacking(node.op):
                    self._by_function.setdefault(name, {}).setdefault(node.op, node)
        waiting = [name for name in callers if name in self._by_function]
        while waiting:
            name = waiting.pop()
            for caller in callers.get(name, ()):
                if self._add(self._by_function.setdefault(caller, {}), self._by_function[name]):
                    waiting.append(caller)

    def _add(self, to: Lacking, more: Mapping[str, node_def_pb2.NodeDef]) -> bool:
        before = len(to)
        for op, node in more.items():
            to.setdefault(op, node)
        return len(to) > before

    def _is_lacking(self, op: str) -> bool:
        return op not in RAISED and op not in self._functions and not op_registry.is_registered(op)

    def of_function(self, name: str) -> Lacking:
        """What a function needs; nothing for one that weft can run."""
        return self._by_function.get(name, {})

    def of(self, node: node_def_pb2.NodeDef) -> Lacking:
        """What a node needs."""
        if self._is_lacking(node.op):
            return {node.op: node}
        found: Lacking = {}
        for name in _functions_run_by(node):
            self._add(found, self.of_function(name))
        return found


def _functions_run_by(node: node_def_pb2.NodeDef) -> Iterable[str]:
    """The functions that a node may run, by name; some names may be those of ops instead."""
    yield node.op
    for attr in node.attr.values():
        if attr.HasField("func"):
            yield attr.func.name
        yield from (each.name for each in attr.list.func)


def lacking_text(lacking: Mapping[str, node_def_pb2.NodeDef]) -> str:
    """The message for a step that needs these ops."""
    known = [definition.name for definition in op_registry.registered()]
    parts = []
    for op, node in list(lacking.items())[:_OPS_NAMED]:
        alike = nearest(op, known)
        parts.append(
            f"Op type not registered {op!r}, which node {node.name!r} needs" + (f" (the nearest is {alike!r})" if alike else "")
        )
    more = len(lacking) - _OPS_NAMED
    return "; ".join(parts) + (f"; and {more} more" if more > 0 else "") + ": this version of weft has no op of that name"
