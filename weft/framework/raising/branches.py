"""Switch and Merge raised to If nodes.

A Switch hands its first input to one of its two outputs, as its second one, the predicate, says; the other output is dead, and
so is what uses it, down to a Merge, which hands on whichever input is alive. So a node belongs to one side of a predicate when
what it uses comes out of that side of the predicate's Switches (`sides`).

What belongs to a predicate becomes one If or several: the nodes of a gradient belong to the same predicate and come after the
loss, which needs what the first ones merged. A *stage* of a predicate counts how often the ways to a node have left the
predicate's nodes before. The If of a stage returns what is merged behind it, and what later stages use of its nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from weft.framework.raising.flat_graph import (
    MERGES,
    SWITCHES,
    Node,
    Nodes,
    Output,
    closure,
    new_node,
    type_attr,
    type_of,
    types_attr,
    unused_name,
)  # fmt: skip
from weft.framework.raising.functions import Argument, Arguments, Library, add_end, argument, call_attrs, source_of
from weft.framework.raising.inner_values import keep_inner_values, no_value
from weft.framework.raising.merge_indices import hand_on, switch_by
from weft.framework.raising.sides import Sides, Stage
from weft.framework.types import dtypes
from weft.framework.types.attr_value import AttrValue, FunctionName
from weft.framework.types.dtypes import DType


def raise_branches(nodes: Nodes, library: Library) -> Nodes:
    """The nodes with their Switches and Merges raised to If nodes; each Merge becomes an Identity of the same name.

    Args:
        nodes: nodes without loops of control flow by dead values.
        library: gets the bodies.

    Raises:
        ValueError: a Merge's inputs do not come from the two sides of one predicate.
    """
    if not _has_branches(nodes):
        return nodes
    nodes = _copies(nodes)
    _simplify(nodes, [])
    return _Raiser(nodes, library, {}).raised()


def _has_branches(nodes: Nodes) -> bool:
    return any(node.op in SWITCHES or node.op in MERGES for node in nodes.values())


def _copies(nodes: Nodes) -> Nodes:
    return {name: Node(node.proto, list(node.inputs), list(node.waits)) for name, node in nodes.items()}


class Body(NamedTuple):
    """A function on its way into the library: its nodes, what it returns, and the nodes that have to run besides."""

    name: str
    arguments: Sequence[Argument]
    nodes: Nodes
    results: Sequence[tuple[Output, DType]]
    ends: Sequence[str] = ()


def add_body(library: Library, body: Body) -> FunctionName:
    """Raise the branches of a body and add it to the library; returns its name there."""
    nodes, outputs = _copies(body.nodes), [output for output, _ in body.results]
    waits = add_end(nodes, body.ends)
    if _has_branches(nodes):
        outputs = _settle(nodes, _simplify(nodes, outputs))
        nodes = _Raiser(nodes, library, {argument(index).node: each for index, each in enumerate(body.arguments)}).raised()
    results = [(output, dtype) for output, (_, dtype) in zip(outputs, body.results, strict=True)]
    return library.add(body.name, body.arguments, nodes, results, waits)


def _simplify(nodes: Nodes, results: list[Output]) -> list[Output]:
    """Leave Merges alone of two sides, and Switches alone of predicates; returns the results, as they are called afterwards."""
    sides = Sides(nodes)
    hand_on(nodes, sides.always())
    asking = {}
    for node in nodes.values():
        if node.op in SWITCHES and (predicate := sides.side(node, 0))[0] != sides.predicate(node):
            asking[node.name] = predicate
    return switch_by(nodes, asking, results)


def _settle(nodes: Nodes, results: list[Output]) -> list[Output]:
    """Turn Switches into Identity nodes whose predicate can only be one thing, since a body could not return its results else.

    A loop of a gradient inside of a branch switches what it uses on the branch's predicate again. Returns the results, as they
    are called afterwards.
    """
    sides = Sides(nodes)
    while settled := {predicate: side for each in results for predicate, side in sides.path(each)}:
        alive: dict[Output, Output] = {}
        for node in [node for node in nodes.values() if node.op in SWITCHES and sides.predicate(node) in settled]:
            side = settled[sides.predicate(node)]
            nodes[node.name] = new_node("Identity", node.name, node.inputs[:1], node.waits, T=node.proto.attr["T"])
            alive[Output(node.name, int(side))] = Output(node.name, 0)
        for node in nodes.values():
            node.inputs = [alive.get(each, each) for each in node.inputs]
        results = [alive.get(each, each) for each in results]
        sides = Sides(nodes)
    return results


class _Result(NamedTuple):
    """What an If returns: the output that each side returns, None for a side that has none."""

    false: Output | None
    true: Output | None
    dtype: DType


class _Raiser:
    """Turns one stage after the other into an If: what comes later then finds its outputs."""

    def __init__(self, nodes: Nodes, library: Library, arguments: Arguments) -> None:
        self._nodes = nodes
        self._library = library
        self._arguments = arguments
        self._sides = keep_inner_values(nodes, arguments)
        self._users: dict[str, dict[str, None]] = {}
        """The names of nodes that use each node; may have some that no longer do, or are no longer there."""
        for node in nodes.values():
            self._note_uses(node)

    def _note_uses(self, node: Node) -> None:
        for source in node.sources():
            self._users.setdefault(source, {})[node.name] = None

    def _users_of(self, names: Iterable[str]) -> list[Node]:
        found = dict.fromkeys(user for name in names for user in self._users.get(name, ()))
        return [self._nodes[name] for name in found if name in self._nodes]

    def _add(self, op: str, base: str, inputs: Sequence[Output], waits: Sequence[str] = (), **attrs: AttrValue) -> str:
        name = unused_name(f"{base}/{op}", self._nodes)
        self._put(new_node(op, name, inputs, waits, **attrs))
        return name

    def _put(self, node: Node) -> None:
        self._nodes[node.name] = node
        self._note_uses(node)

    def _type(self, output: Output) -> DType:
        return source_of(output, self._nodes, self._arguments).dtype

    def raised(self) -> Nodes:
        """The result."""
        for stage in self._sides.stages():
            self._raise(stage)
        for name in self._sides.entries():
            self._remove_entry(self._nodes.pop(name))
        return self._nodes

    def _remove_entry(self, switch: Node) -> None:
        """Let what waits for a Switch wait for what goes into it: a Switch runs whatever its predicate is."""
        sources = [source for source in switch.sources() if source in self._nodes]
        for node in self._users_of([switch.name]):
            if switch.name in node.waits:
                node.waits = list(dict.fromkeys([*(wait for wait in node.waits if wait != switch.name), *sources]))
                self._note_uses(node)

    def _raise(self, stage: Stage) -> None:
        members = {name: self._nodes[name] for name in self._sides.members(stage)}
        merges = [self._nodes[name] for name in self._sides.merges(stage)]
        behind = [node for node in self._users_of(members) if node.name not in members]
        merged = set(self._sides.merges(stage))
        uses = [each for node in behind if node.name not in merged for each in node.inputs if each.node in members]
        used = list(dict.fromkeys(uses))
        ends = list(dict.fromkeys(wait for node in behind for wait in node.waits if wait in members))
        results = [*(self._merged_result(merge) for merge in merges), *(self._used_result(output) for output in used)]
        name = unused_name(f"{stage.predicate.node.rpartition('/')[0] or 'raised'}/If", self._nodes)
        if results or ends:
            self._put(self._if_node(name, stage, members, results, ends))
        places = {output: Output(name, len(merges) + index) for index, output in enumerate(used)}
        for node in behind:
            node.inputs = [places.get(each, each) for each in node.inputs]
            node.waits = list(dict.fromkeys(name if wait in members else wait for wait in node.waits))
            self._note_uses(node)
        for index, merge in enumerate(merges):
            self._put(self._identity(merge, stage.predicate, Output(name, index)))
        for member in members:
            del self._nodes[member]

    def _merged_result(self, merge: Node) -> _Result:
        dtype = type_of(Output(merge.name, 0), self._nodes)
        by_side = dict(zip(self._sides.sides_of(merge), merge.inputs, strict=True))
        return _Result(by_side[False], by_side[True], dtype)

    def _used_result(self, output: Output) -> _Result:
        side = self._sides.path(output)[0][1]
        return _Result(None, output, self._type(output)) if side else _Result(output, None, self._type(output))

    def _if_node(self, name: str, stage: Stage, members: Nodes, results: Sequence[_Result], ends: Sequence[str]) -> Node:
        branches = [_Branch(side, self._nodes, self._sides, members) for side in (False, True)]
        for branch in branches:
            branch.fill([result.true if branch.side else result.false for result in results], results, ends)
        captured = list(dict.fromkeys(each for branch in branches for each in branch.captured))
        given = [source_of(each, self._nodes, self._arguments) for each in captured]
        names = [
            branch.function(f"{name}_{str(branch.side).lower()}", self._library, dict(zip(captured, given, strict=True)))
            for branch in branches
        ]
        stateful = any(self._library.is_stateful(each) for each in names)
        waits = dict.fromkeys(wait for branch in branches for wait in branch.waits)
        return new_node(
            "If" if stateful else "StatelessIf", name, [stage.predicate, *captured], waits, branches[1].device,
            Tcond=type_attr(self._type(stage.predicate)), Tin=types_attr(each.dtype for each in given),
            Tout=types_attr(each.dtype for each in results), **call_attrs(then_branch=names[1], else_branch=names[0]),
        )  # fmt: skip

    def _identity(self, merge: Node, predicate: Output, result: Output) -> Node:
        """What takes the place of a Merge; its second output, which few use, is the number of the input that was alive."""
        kind = merge.proto.attr["T"]
        if not any(each == Output(merge.name, 1) for node in self._users_of([merge.name]) for each in node.inputs):
            return new_node("Identity", merge.name, [result], device=merge.proto.device, T=kind)
        compared = predicate
        if self._sides.sides_of(merge)[0]:
            compared = Output(self._add("LogicalNot", merge.name, [predicate]), 0)
        chosen = self._add("Cast", merge.name, [compared], SrcT=type_attr(dtypes.bool), DstT=type_attr(dtypes.int32))
        types = types_attr([type_of(Output(merge.name, 0), self._nodes), dtypes.int32])
        return new_node("IdentityN", merge.name, [result, Output(chosen, 0)], device=merge.proto.device, T=types)


class _Branch:
    """One side of a stage on its way to become a function."""

    def __init__(self, side: bool, nodes: Nodes, sides: Sides, members: Nodes) -> None:
        self.side = side
        self._graph = nodes
        self._sides = sides
        self._members = {name: node for name, node in members.items() if sides.path_to(name)[0][1] is side}
        self._kept: Nodes = {}
        self._results: list[tuple[Output, DType]] = []
        self._ends: list[str] = []
        self.captured: dict[Output, None] = {}
        self.waits: dict[str, None] = {}

    @property
    def device(self) -> str:
        """The device that one of its nodes asks for."""
        return next((node.proto.device for node in self._kept.values() if node.proto.device), "")

    def fill(self, outputs: Sequence[Output | None], results: Sequence[_Result], ends: Sequence[str]) -> None:
        """Take over the nodes that the outputs and the ends of control edges need."""
        wanted = [self._live(output) for output in outputs if output is not None]
        self._ends = [end for end in ends if end in self._members]
        names = [*(each.node for each in wanted), *self._ends]
        for name, node in closure(self._members, names, follow=lambda each: self._live(each).node).items():
            inputs = [self._live(each) for each in node.inputs]
            self._kept[name] = Node(node.proto, inputs, [wait for wait in node.waits if wait in self._members])
            self.waits.update(dict.fromkeys(wait for wait in node.waits if not self._is_inside(wait)))
            self.captured.update(dict.fromkeys(each for each in inputs if each.node not in self._members))
        for output, result in zip(outputs, results, strict=True):
            self._results.append((self._nothing(result.dtype) if output is None else self._live(output), result.dtype))
        self.captured.update(dict.fromkeys(each for each in wanted if each.node not in self._members))

    def _is_inside(self, name: str) -> bool:
        return name in self._members or name in self._sides.entries()

    def _live(self, output: Output) -> Output:
        """The output behind the Switches through which it comes into this branch."""
        while (node := self._graph.get(output.node)) is not None and node.op in SWITCHES and self._hands_on(node):
            output = node.inputs[0]
        return output

    def _hands_on(self, switch: Node) -> bool:
        return self._sides.is_entry(switch) or self._sides.is_switched(switch)

    def _nothing(self, dtype: DType) -> Output:
        name = unused_name("no_value", self._kept)
        self._kept[name] = new_node("NoValue", name, (), **no_value(dtype))
        return Output(name, 0)

    def function(self, name: str, library: Library, captured: dict[Output, Argument]) -> FunctionName:
        """Add it to the library, with these arguments; returns its name there."""
        stand_ins = {output: argument(index) for index, output in enumerate(captured)}
        for node in self._kept.values():
            node.inputs = [stand_ins.get(each, each) for each in node.inputs]
        results = [(stand_ins.get(output, output), dtype) for output, dtype in self._results]
        return add_body(library, Body(name, list(captured.values()), self._kept, results, self._ends))
