"""Frames (Enter, Merge, Switch, NextIteration, Exit) raised to While nodes.

The nodes of a loop live in a frame. An Enter brings a value in; a Merge hands on its Enter's value the first time and its
NextIteration's ever after; a Switch on the LoopCond hands it to the body or, at the end, to an Exit. An Enter that no Merge
takes is an invariant of the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from weft.framework.raising.branches import Body, add_body
from weft.framework.raising.flat_graph import (
    DEEPEST,
    ENTERS,
    EXITS,
    LOOP_CONDITION,
    MERGES,
    NEXT_ITERATIONS,
    SWITCHES,
    Node,
    Nodes,
    Output,
    closure,
    consumers_of,
    in_order,
    new_node,
    type_of,
    types_attr,
    unused_name,
    variable_behind,
)  # fmt: skip
from weft.framework.raising.functions import Argument, Library, argument, call_attrs
from weft.framework.types import attr_value, dtypes
from weft.framework.types.attr_value import FunctionName
from weft.framework.types.dtypes import DType

Frame: TypeAlias = tuple[str, ...]
"""The names of the frames around a node, from the outermost one on."""


def raise_loops(nodes: Nodes, library: Library) -> Nodes:
    """The nodes with each loop's raised to a While; each Exit becomes an Identity of the same name.

    Raises:
        ValueError: a frame has no LoopCond or several, or a loop variable has no next value.
    """
    if not any(node.op in ENTERS for node in nodes.values()):
        return nodes
    nodes = dict(nodes)
    by_frame: dict[Frame, list[str]] = {}
    for name, frame in _frames(nodes).items():
        if frame:
            by_frame.setdefault(frame, []).append(name)
    for frame in sorted(by_frame, key=len, reverse=True):
        members = {name: nodes[name] for name in by_frame[frame] if name in nodes}
        made = _Loop(frame, members, nodes, library).raised()
        for name in members:
            del nodes[name]
        nodes.update(made)
        # What an inner loop has become belongs to the loop around it.
        by_frame.get(frame[:-1], []).extend(made)
    return nodes


def _frames(nodes: Nodes) -> dict[str, Frame]:
    frames: dict[str, Frame] = {}
    for node in in_order(nodes, without=NEXT_ITERATIONS):
        known = [frames[source] for source in node.sources() if source in frames and nodes[source].op not in EXITS]
        known += [frames[source][:-1] for source in node.sources() if source in frames and nodes[source].op in EXITS]
        frame = max(known, key=len, default=())
        if len(frame) > DEEPEST:
            raise ValueError(f"Node {node.name!r} is deeper than {DEEPEST} loops inside of each other, which cannot be raised")
        frames[node.name] = (
            (*frame, node.proto.attr["frame_name"].s.decode(errors="backslashreplace")) if node.op in ENTERS else frame
        )
    return frames


class _Variable(NamedTuple):
    """A loop variable: where it enters, its Merge, its Switch if it has one, and the node of its next value."""

    enter: Node
    merge: Node
    switch: Node | None
    following: Node


class _Loop:
    """One frame without frames inside."""

    def __init__(self, frame: Frame, members: Nodes, nodes: Nodes, library: Library) -> None:
        self._frame = frame
        self._members = members
        self._nodes = nodes
        self._library = library
        conditions = [node for node in members.values() if node.op == LOOP_CONDITION]
        if len(conditions) != 1:
            raise ValueError(f"The loop of frame {frame[-1]!r} cannot be raised to a While: it has {len(conditions)} LoopCond "
                             f"nodes instead of one (nodes {_some(members)})")  # fmt: skip
        self._condition = conditions[0]
        self._consumers = consumers_of(members)
        self._variables = [self._variable(node) for node in members.values() if self._is_loop_merge(node)]
        taken = {each.enter.name for each in self._variables}
        self._invariants = [node for node in members.values() if node.op in ENTERS and node.name not in taken]

    def _is_loop_merge(self, node: Node) -> bool:
        return node.op in MERGES and any(self._op(each) in NEXT_ITERATIONS for each in node.inputs)

    def _op(self, output: Output) -> str:
        node = self._nodes.get(output.node)
        return "" if node is None else node.op

    def _variable(self, merge: Node) -> _Variable:
        enters = [self._nodes[each.node] for each in merge.inputs if self._op(each) in ENTERS]
        following = [self._nodes[each.node] for each in merge.inputs if self._op(each) in NEXT_ITERATIONS]
        if len(enters) != 1 or len(following) != 1:
            raise ValueError(f"Merge {merge.name!r} of the loop of frame {self._frame[-1]!r} has to have an Enter and a "
                             f"NextIteration as inputs, found {[each.node for each in merge.inputs]}")  # fmt: skip
        switches = [
            node for node in self._consumers.get(merge.name, ())
            if node.op in SWITCHES and node.inputs[1].node == self._condition.name
        ]  # fmt: skip
        return _Variable(enters[0], merge, switches[0] if switches else None, following[0])

    def raised(self) -> Nodes:
        """The While, and an Identity for each Exit."""
        entering = [*(each.enter for each in self._variables), *self._invariants]
        initial = [node.inputs[0] for node in entering]
        given = [Argument(type_of(each, self._nodes), variable_behind(each, self._nodes, {})) for each in initial]
        name = unused_name(self._frame[-1], self._nodes)
        cond = self._function(f"{name}_cond", given, [(self._condition.inputs[0], dtypes.bool)])
        following = [each.following.inputs[0] for each in self._variables]
        following += [Output(node.name, 0) for node in self._invariants]
        types = [each.dtype for each in given]
        ends = list(dict.fromkeys(wait for each in self._variables for wait in each.following.waits))
        body = self._function(f"{name}_body", given, list(zip(following, types, strict=True)), ends)
        stateful = self._library.is_stateful(cond) or self._library.is_stateful(body)
        loop = new_node(
            "While" if stateful else "StatelessWhile", name, initial, self._waits(entering), self._condition.proto.device,
            T=types_attr(each.dtype for each in given), **call_attrs(cond=cond, body=body),
            parallel_iterations=attr_value.encode("int", entering[0].proto.attr["parallel_iterations"].i or 10),
        )  # fmt: skip
        return {name: loop} | {node.name: node for node in self._behind(name)}

    def _waits(self, entering: Iterable[Node]) -> list[str]:
        """What the loop as a whole waits for: what its nodes wait for outside."""
        outside = [wait for node in entering for wait in node.waits]
        return [wait for wait in dict.fromkeys(outside) if wait not in self._members]

    def _behind(self, name: str) -> Iterable[Node]:
        """An Identity for each Exit, and the nodes that stand between the end of the loop and an Exit.

        A gradient that is gated has an Identity there, which waits for a group: they run once, when the loop has ended.
        """
        ends = self._ends(name)
        exits = [node for node in self._members.values() if node.op in EXITS]
        kept = closure(
            {key: node for key, node in self._members.items() if node.op in EXITS or not self._is_frame(node)},
            [node.name for node in exits],
            follow=lambda output: "" if output in ends else output.node,
        )
        for node in kept.values():
            inputs = [ends.get(each, each) for each in node.inputs]
            if lost := [each.node for each in inputs if each.node in self._members and each.node not in kept]:
                raise ValueError(f"Node {node.name!r} of the loop of frame {self._frame[-1]!r} leaves it with a value of "
                                 f"{lost[0]!r}, which is none that the loop hands on at its end")  # fmt: skip
            waits = [name if wait in self._members and wait not in kept else wait for wait in node.waits]
            if node.op in EXITS:
                yield new_node("Identity", node.name, inputs, waits, node.proto.device, T=node.proto.attr["T"])
            else:
                yield Node(node.proto, inputs, list(dict.fromkeys(waits)))

    def _ends(self, name: str) -> dict[Output, Output]:
        """What the values of the frame are once the loop has ended."""
        found = {Output(node.name, 0): node.inputs[0] for node in self._invariants}
        for index, variable in enumerate(self._variables):
            found[Output(variable.merge.name, 0)] = Output(name, index)
            if variable.switch is not None:
                found[Output(variable.switch.name, 0)] = Output(name, index)
        return found

    def _function(
        self, name: str, given: list[Argument], results: list[tuple[Output, DType]], ends: Sequence[str] = ()
    ) -> FunctionName:
        stand_ins = self._stand_ins()
        kept = closure(
            {key: node for key, node in self._members.items() if not self._is_frame(node)},
            [*(output.node for output, _ in results if output not in stand_ins), *ends],
            follow=lambda output: "" if output in stand_ins else output.node,
        )
        nodes = {}
        for key, node in kept.items():
            inputs = [stand_ins.get(each, each) for each in node.inputs]
            nodes[key] = Node(node.proto, inputs, [wait for wait in node.waits if wait in kept])
        returned = [(stand_ins.get(output, output), dtype) for output, dtype in results]
        return add_body(self._library, Body(name, given, nodes, returned, [end for end in ends if end in kept]))

    def _is_frame(self, node: Node) -> bool:
        """Whether a node makes the frame itself: the Switches and Merges of branches don't."""
        return (
            node.op in ENTERS | EXITS | NEXT_ITERATIONS
            or node.op == LOOP_CONDITION
            or self._is_loop_merge(node)
            or (node.op in SWITCHES and node.inputs[1].node == self._condition.name)
        )

    def _stand_ins(self) -> dict[Output, Output]:
        found: dict[Output, Output] = {}
        for index, variable in enumerate(self._variables):
            found[Output(variable.merge.name, 0)] = argument(index)
            if variable.switch is not None:
                found[Output(variable.switch.name, 1)] = argument(index)
        for index, node in enumerate(self._invariants, len(self._variables)):
            found[Output(node.name, 0)] = argument(index)
        return found


def _some(nodes: Nodes) -> str:
    names = sorted(nodes)
    return ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
