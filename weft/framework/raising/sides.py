"""Which side of which predicate a node belongs to, and at which stage of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from weft.framework.op_types.op_role import Role
from weft.framework.raising.flat_graph import CONTROL_TRIGGER, DEEPEST, MERGES, SWITCHES, Node, Nodes, Output, in_order
from weft.framework.raising.merge_indices import tested_index
from weft.framework.registry.op_registry import role_of

Path: TypeAlias = tuple[tuple[Output, bool], ...]
"""The predicates that something depends on, from the outermost one on, each with what it has to be."""


class Stage(NamedTuple):
    """What belongs to one predicate and runs together; `number` counts how often the predicate's nodes were left before."""

    predicate: Output
    number: int


class Sides:
    """The paths and stages of nodes without loops.

    Args:
        nodes: the nodes.
        stages: those of nodes that belong to a later one than what they use tells.

    Raises:
        ValueError: a Merge's inputs do not come from the two sides of one predicate, or a node can never run.
    """

    def __init__(self, nodes: Nodes, stages: Mapping[str, Stage] | None = None) -> None:
        self._nodes = nodes
        self._known = stages or {}
        self._paths: dict[str, Path] = {}
        self._merged: dict[str, Output] = {}
        self._merged_sides: dict[str, list[bool]] = {}
        self._always: dict[str, int] = {}
        self._stages: dict[str, Stage] = {}
        self._left: dict[str, Mapping[Output, int]] = {}
        self._members: dict[Stage, list[str]] = {}
        self._merges: dict[Stage, list[str]] = {}
        for node in in_order(nodes):
            self._paths[node.name] = self._path_of(node)
            self._number(node)
        self._entries = frozenset(name for name, node in nodes.items() if self.is_entry(node))

    def entries(self) -> frozenset[str]:
        """The Switches by which values come into the outermost branches."""
        return self._entries

    def stages(self) -> list[Stage]:
        """All stages, those of one predicate in their order."""
        return sorted({*self._members, *self._merges}, key=lambda stage: stage.number)

    def members(self, stage: Stage) -> list[str]:
        """The nodes of a stage, those before others that use them."""
        return self._members.get(stage, [])

    def merges(self, stage: Stage) -> list[str]:
        """The Merges that bring the two sides of a stage together."""
        return self._merges.get(stage, [])

    def stage(self, name: str) -> Stage | None:
        """The stage of a node, None for one in no branch."""
        return self._stages.get(name)

    def sides_of(self, merge: Node) -> list[bool]:
        """The side that each input of an outermost Merge comes from."""
        return self._merged_sides[merge.name]

    def path_to(self, name: str) -> Path:
        """What it depends on whether a node runs; a Switch of a branch's own predicate has an output that never has a value."""
        return self._paths[name]

    def path(self, output: Output) -> Path:
        """What an output depends on; nothing for what is not among the nodes."""
        node = self._nodes.get(output.node)
        if node is None or output.node not in self._paths:
            return ()
        path = self._paths[output.node]
        if node.op not in SWITCHES:
            return path
        side = self.side(node, output.number)
        known = dict(path).get(side[0])
        if known is None:
            return (*path, side)
        if known != side[1]:
            raise ValueError(f"Output {output.number} of Switch {node.name!r} is used where its predicate is the other: it can "
                             "never run")  # fmt: skip
        return path

    def always(self) -> Mapping[str, int]:
        """The Merges of which one input, with this number, is alive wherever the other one is: it is what they hand on.

        So are the shapes of IndexedSlices, which belong to no branch.
        """
        return self._always

    def side(self, switch: Node, number: int) -> tuple[Output, bool]:
        """The predicate that an output of a Switch depends on, and what it has to be."""
        predicate = self.predicate(switch)
        index = tested_index(predicate, self._nodes)
        if index is None or index.merge not in self._merged:
            return predicate, number == 1
        chosen = self._merged_sides[index.merge][index.number]
        return self._merged[index.merge], chosen == (number == 1)

    def is_left(self, output: Output, consumer: Node) -> bool:
        """Whether an output is used by a node of another stage than its own that is not a Merge of its outermost predicate."""
        stage, other = self._stages.get(output.node), self._stages.get(consumer.name)
        return stage is not None and stage != other and (other is not None or consumer.op not in MERGES)

    def _path_of(self, node: Node) -> Path:
        if node.op == CONTROL_TRIGGER:
            return ()  # it runs whether those that it waits for are dead or not
        paths = [self.path(each) for each in node.inputs]
        if node.op in MERGES:
            return self._merged_path(node, paths)
        paths.extend(self._paths.get(name, ()) for name in node.waits)
        longest = max(paths, key=len, default=())
        if len(longest) > DEEPEST:
            raise ValueError(
                f"Node {node.name!r} is deeper than {DEEPEST} branches inside of each other, which cannot be raised"
            )
        if any(path != longest[: len(path)] for path in paths):
            raise ValueError(f"Node {node.name!r} uses values of branches that exclude each other: it can never run")
        return longest

    def _merged_path(self, merge: Node, paths: list[Path]) -> Path:
        if len(paths) == 2:
            one, other = paths
            if one and other == _other_side(one):
                self._merged[merge.name] = one[-1][0]
                self._merged_sides[merge.name] = [one[-1][1], other[-1][1]]
                return one[:-1]
            shorter, longer = sorted(paths, key=len)
            if len(shorter) < len(longer) and longer[: len(shorter)] == shorter:
                self._always[merge.name] = paths.index(shorter)
                return shorter
        raise ValueError(
            f"{merge.op} {merge.name!r} cannot be raised to an If: its {len(paths)} inputs do not come from the two sides of "
            "one Switch's predicate"
        )

    def is_entry(self, node: Node) -> bool:
        """Whether values come into an outermost branch by this node."""
        return node.op in SWITCHES and not self._paths[node.name]

    def is_switched(self, switch: Node) -> bool:
        """Whether a Switch stands in a branch of its own predicate, where it hands its input on."""
        return self.side(switch, 0)[0] in dict(self._paths[switch.name])

    def predicate(self, switch: Node) -> Output:
        """The predicate of a Switch, itself and not an Identity of it: the Switches of one branch use now this, now that."""
        output = switch.inputs[1]
        while (node := self._nodes.get(output.node)) is not None and role_of(node.op) is Role.ALIAS:
            if output.number >= len(node.inputs):
                raise ValueError(f"Node {node.name!r} has no output {output.number}, which Switch {switch.name!r} asks for")
            output = node.inputs[output.number]
        return output

    def _number(self, node: Node) -> None:
        """Give a node its stage: one higher for each time that a way to it has left the predicate's nodes."""
        path = self._paths[node.name]
        mine = path[0][0] if path else None
        left: dict[Output, int] = {}
        for source in node.sources():
            for predicate, count in self._left.get(source, {}).items():
                left[predicate] = max(count, left.get(predicate, 0))
            stage = self._stage_of_source(source)
            if stage is not None and stage.predicate != mine:
                left[stage.predicate] = max(stage.number + 1, left.get(stage.predicate, 0))
        if (known := self._known.get(node.name)) is not None:
            left[known.predicate] = max(known.number, left.get(known.predicate, 0))
        self._left[node.name] = left
        if mine is not None:
            stage = self._stages[node.name] = Stage(mine, left.get(mine, 0))
            self._members.setdefault(stage, []).append(node.name)
        elif node.name in self._merged:
            predicate = self._merged[node.name]
            self._merges.setdefault(Stage(predicate, left[predicate] - 1), []).append(node.name)

    def _stage_of_source(self, name: str) -> Stage | None:
        """The stage that a way through this node leaves; a Switch at the entry counts as a node of its predicate."""
        node = self._nodes.get(name)
        if node is not None and self.is_entry(node):
            predicate, _ = self.side(node, 0)
            return Stage(predicate, self._left[name].get(predicate, 0))
        return self._stages.get(name)


def _other_side(path: Path) -> Path:
    *outer, (predicate, side) = path
    return (*outer, (predicate, not side))
