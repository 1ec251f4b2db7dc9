"""Values of branches inside of branches that nodes of a later stage use, such as those that a gradient uses.

The If of the earlier stage cannot return what is alive on one side of an inner predicate only. So such a value is merged with
nothing up to the outermost predicate, and in the later stage switched again, as it was: a node that only this value puts on a
side of the inner predicate stays there, and so does what comes into an inner Merge. What comes from outside of all branches is
switched again alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.raising.flat_graph import SWITCHES, Node, Nodes, Output, new_node, type_attr, unused_name
from weft.framework.raising.functions import Arguments, source_of
from weft.framework.raising.sides import Path, Sides, Stage
from weft.framework.types import attr_value, dtypes
from weft.framework.types.attr_value import AttrValue
from weft.framework.types.dtypes import DType


def no_value(dtype: DType) -> dict[str, AttrValue]:
    """The attributes of the node that stands for a value which nobody looks at."""
    return {"dtype": type_attr(dtype), "shape": attr_value.encode("shape", None)}


def keep_inner_values(nodes: Nodes, arguments: Arguments) -> Sides:
    """Let the nodes of later stages take merged values, by nodes that are added; returns the sides as they are then."""
    return _Keeper(nodes, arguments).sides()


class _Keeper:
    def __init__(self, nodes: Nodes, arguments: Arguments) -> None:
        self._nodes = nodes
        self._arguments = arguments
        self._sides = Sides(nodes)
        self._merged: dict[Output, Output] = {}
        self._switched: dict[tuple[Output, Stage], Output] = {}
        self._alive: dict[tuple[Path, Stage], Output] = {}
        self._added: dict[str, Stage] = {}
        """The Switches that are added, each with the stage that it belongs to."""

    def sides(self) -> Sides:
        later = [
            (node, index)
            for node in self._nodes.values() for index, each in enumerate(node.inputs) if self._sides.is_left(each, node)
        ]  # fmt: skip
        # The sides are told from the inputs: all are asked for before one is changed.
        for (node, index), value in [(use, self._used_later(*use)) for use in later]:
            node.inputs[index] = value
        return Sides(self._nodes, self._added) if later else self._sides

    def _used_later(self, node: Node, index: int) -> Output:
        if node.op in SWITCHES and index == 1:
            # All Switches of one predicate take it by one name, by which they are told for those of one branch.
            return self._merged_up(self._sides.predicate(node))
        stage = self._sides.stage(node.name)
        assert stage is not None
        return self._value_in(node.inputs[index], stage)

    def _value_in(self, output: Output, stage: Stage) -> Output:
        """An output for nodes of a stage on the same sides of all predicates."""
        path = self._sides.path(output)[1:]
        if not path or self._sides.stage(output.node) == stage:
            return output
        if (output, stage) not in self._switched:
            value, kind = self._brought_in(output) or self._merged_up(output), type_attr(self._type(output))
            for predicate, side in path:
                value = Output(self._switch(output.node, value, self._predicate_in(predicate, stage), stage, kind), int(side))
            self._switched[output, stage] = value
        return self._switched[output, stage]

    def _brought_in(self, output: Output) -> Output | None:
        """What a Switch brings into the outermost branch, where an output is that through further Switches; else None.

        The handle of a variable has to come this way: an If returns values, and the later stage would not know the variable.
        """
        while (node := self._nodes.get(output.node)) is not None and node.op in SWITCHES:
            if self._sides.is_entry(node):
                return output
            output = node.inputs[0]
        return None

    def _predicate_in(self, predicate: Output, stage: Stage) -> Output:
        """The name of an inner predicate for the Switches of a stage."""
        return predicate if self._sides.stage(predicate.node) == stage else self._merged_up(predicate)

    def _merged_up(self, output: Output) -> Output:
        """The value of an output on its side of the outermost predicate, whatever the predicates inside of it are."""
        path, stage = self._sides.path(output), self._sides.stage(output.node)
        if len(path) < 2 or stage is None:
            return output
        if output not in self._merged:
            value, dtype = output, self._type(output)
            attrs = {"T": type_attr(dtype), "N": attr_value.encode("int", 2)}
            for depth in reversed(range(1, len(path))):
                predicate, side = path[depth]
                nothing = self._nothing(output.node, (*path[:depth], (predicate, not side)), stage, dtype)
                value = Output(self._add("Merge", output.node, [nothing, value] if side else [value, nothing], **attrs), 0)
            self._merged[output] = value
        return self._merged[output]

    def _nothing(self, base: str, path: Path, stage: Stage, dtype: DType) -> Output:
        """What a branch inside of others has for a value that only the other side of its predicate has."""
        waited = self._add("Identity", base, [self._alive_at(path, stage)], T=type_attr(dtypes.bool))
        return Output(self._add("NoValue", base, (), [waited], **no_value(dtype)), 0)

    def _alive_at(self, path: Path, stage: Stage) -> Output:
        """Something that is alive in a branch of a stage, and nowhere else."""
        predicate, side = path[-1]
        if (path, stage) not in self._alive:
            boolean = type_attr(dtypes.bool)
            if len(path) == 1:
                switch = self._add("Switch", predicate.node, [predicate, predicate], T=boolean)
            else:
                outer = self._alive_at(path[:-1], stage)
                switch = self._switch(predicate.node, outer, self._predicate_in(predicate, stage), stage, boolean)
            self._alive[path, stage] = Output(switch, int(side))
        return self._alive[path, stage]

    def _switch(self, base: str, value: Output, predicate: Output, stage: Stage, kind: AttrValue) -> str:
        name = self._add("Switch", base, [value, predicate], T=kind)
        self._added[name] = stage
        return name

    def _add(self, op: str, base: str, inputs: Sequence[Output], waits: Sequence[str] = (), **attrs: AttrValue) -> str:
        name = unused_name(f"{base}/{op}", self._nodes)
        self._nodes[name] = new_node(op, name, inputs, waits, **attrs)
        return name

    def _type(self, output: Output) -> DType:
        return source_of(output, self._nodes, self._arguments).dtype
