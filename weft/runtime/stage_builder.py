"""From a partition to stages: grouping nodes, binding variables, wiring values, messages and order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from weft.framework.dtypes import resource
from weft.framework.operation import Operation, Tensor
from weft.passes.bodies import needed_static_inputs
from weft.passes.partition import Edge, Partition
from weft.passes.stage import Kind
from weft.runtime.program.program import Program
from weft.runtime.stage import Stage
from weft.runtime.state.binder import BINDINGS, Binder
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.variable_slot import VariableSlot

# A replica asks so until the chief has initialized the model; what its own graph declares must not get in the chief's way.
_ASKING: Final = frozenset(("IsVariableInitialized", "VarIsInitializedOp"))

_GroupKey = tuple[int, str, str, int]

# The level of groups behind all others, which read what several stages update.
_LAST: Final = 1 << 30


@dataclass
class StagePlan:
    """The stages of a partition and the numbering of its values.

    `recvs` maps an edge to the number of its value (-1 for none) and the stages that wait for it.
    """

    stages: list[Stage] = field(default_factory=list)
    feed_numbers: list[int] = field(default_factory=list)
    fetch_numbers: list[int] = field(default_factory=list)
    recvs: dict[int, tuple[int, list[Stage]]] = field(default_factory=dict)
    value_count: int = 0


def build_stages(partition: Partition, resources: ResourceManager) -> StagePlan:
    """Make the stages of a partition, bound to a task's resources.

    Raises:
        InvalidArgumentError: a variable is held with another dtype than this graph declares.
    """
    # A reference that is fed, or comes from another task, is the value and not the variable.
    values = [*partition.feeds, *(source for source in partition.recvs if isinstance(source, Tensor))]
    return _Builder(partition, Binder(resources, values, _only_asked(partition))).build()


def _only_asked(partition: Partition) -> set[Operation]:
    """The variables that the partition only asks whether they have a value."""
    asked = {tensor.op for op in partition.nodes if op.type in _ASKING for tensor in op.inputs}
    used = {tensor.op for op in partition.nodes if op.type not in _ASKING for tensor in op.inputs}
    leaving = {tensor.op for tensor in partition.fetches} | {edge.producer for edge in partition.sends}
    return asked - used - leaving


class _Builder:
    def __init__(self, partition: Partition, bind: Binder) -> None:
        self._partition = partition
        self._bind = bind
        self._feeds = set(partition.feeds)
        # What reads a variable for its rows alone, and the variable.
        self._reads = {op.outputs[0]: op.inputs[0] for op in partition.nodes if partition.kinds[op] is Kind.FREE and op.inputs}
        self._stage_of: dict[Operation, _GroupKey] = {}
        self._groups: dict[_GroupKey, list[Operation]] = {}
        self._numbers: dict[Tensor | VariableSlot, int] = {}
        self._settled: dict[_GroupKey, dict[VariableSlot, None]] = {}
        self._plan = StagePlan()

    def build(self) -> StagePlan:
        partition, plan = self._partition, self._plan
        self._group_nodes()
        self._group_settled()
        plan.feed_numbers = [self._number(tensor) for tensor in partition.feeds]
        for edge in partition.recvs.values():
            plan.recvs[edge.number] = (-1 if edge.is_control else self._number(_tensor(edge)), [])
        wanted = self._wanted_outputs()
        stages: dict[_GroupKey, Stage] = {}
        for key in sorted(self._groups, key=lambda key: (key[0], key[3])):
            stages[key] = self._make_stage(len(stages), key, wanted)
        plan.stages = list(stages.values())
        for key, stage in stages.items():
            self._connect(key, stage, stages)
        self._add_sends(stages)
        self._find_leaving()
        plan.fetch_numbers = [
            self._number(self._slot_behind(tensor) if tensor in partition.settled else tensor) for tensor in partition.fetches
        ]
        plan.value_count = len(self._numbers)
        return plan

    def _number(self, value: Tensor | VariableSlot) -> int:
        """The number of a tensor's value, or of the value that a variable has when the nodes that update it have run."""
        return self._numbers.setdefault(value, len(self._numbers))

    def _group_nodes(self) -> None:
        """Nodes of one device, level and kind are a stage, with the free nodes that they use; of host ops, only siblings are.

        Those are pure and wait for the same, so that none waits for another one's inputs, or while that one blocks.
        """
        partition = self._partition
        siblings: dict[tuple[int, str, frozenset[Any]], int] = {}
        leaving = {t.op for t in partition.fetches if t not in partition.settled} | {edge.producer for edge in partition.sends}
        consumed = {t.op for op in partition.nodes for t in op.inputs} | {
            c for op in partition.nodes for c in op.control_inputs
        }
        for position, op in enumerate(partition.nodes):
            kind = partition.kinds[op]
            if kind is Kind.FREE and op not in leaving and op in consumed:
                continue
            level, device = partition.levels[op], partition.devices[op]
            runs_as = Kind.COMPILED if kind is Kind.FREE else kind
            place = -1
            if kind is Kind.HOST:
                place = position if op.op_def.stateful else siblings.setdefault((level, device, self._waits_for(op)), position)
            key = (level, device, runs_as.value, place)
            self._stage_of[op] = key
            self._groups.setdefault(key, []).append(op)
        for key, nodes in self._groups.items():
            self._groups[key] = self._with_free_nodes(nodes)

    def _waits_for(self, op: Operation) -> frozenset[Any]:
        """The stages and edges that a node's inputs come from."""
        recvs = self._partition.recvs
        found: set[Any] = set()
        for source in self._sources(op):
            found.add(recvs[source].number if source in recvs else self._stage_of.get(_made_by(source)))
        return frozenset(found)

    def _sources(self, op: Operation) -> list[Tensor | Operation]:
        """What a node waits for."""
        return [*(t for t in op.inputs if t not in self._feeds), *op.control_inputs]

    def _group_settled(self) -> None:
        """A settled variable is read by the one stage that updates it, or by one that waits for all that do."""
        for tensor, updates in self._partition.settled.items():
            keys = {self._stage_of[op] for op in updates}
            key = keys.pop() if len(keys) == 1 else (_LAST, self._partition.devices[tensor.op], Kind.COMPILED.value, -1)
            self._groups.setdefault(key, [])
            self._settled.setdefault(key, {})[self._slot_behind(tensor)] = None

    def _slot_behind(self, tensor: Tensor) -> VariableSlot:
        while (slot := self._slot_of(tensor)) is None:
            tensor = tensor.op.inputs[0]
        return slot

    def _with_free_nodes(self, nodes: list[Operation]) -> list[Operation]:
        """Add constants and bindings that the nodes use, and what their static inputs need to be known."""
        inside = set(nodes)
        extra: dict[Operation, None] = {}
        seen: set[Operation] = set()
        for op in nodes:
            for tensor in op.inputs:
                source = self._reads.get(tensor, tensor).op
                if tensor not in self._feeds and self._is_free(source) and source not in inside:
                    extra[source] = None
            if self._partition.kinds[op] is Kind.COMPILED:
                for tensor in needed_static_inputs(op) or ():
                    self._add_static(tensor, inside, extra, seen)
        return [*sorted(extra, key=lambda op: (op.type in BINDINGS, op.id)), *nodes]

    def _is_free(self, op: Operation) -> bool:
        return self._partition.kinds.get(op) is Kind.FREE

    def _add_static(self, tensor: Tensor, inside: set[Operation], extra: dict[Operation, None], seen: set[Operation]) -> None:
        op = tensor.op
        if tensor in self._feeds or op in seen or op not in self._partition.kinds:
            return
        seen.add(op)
        # What a node of this stage is made of may belong to an earlier one.
        if op not in inside:
            extra[op] = None
        if not op.op_def.shape_only:
            for other in op.inputs:
                self._add_static(other, inside, extra, seen)

    def _wanted_outputs(self) -> set[Tensor]:
        """Tensors that leave the stage in which they are made."""
        partition = self._partition
        wanted = set(partition.fetches) - set(partition.settled) | {
            _tensor(edge) for edge in partition.sends if not edge.is_control
        }
        for nodes in self._groups.values():
            inside = set(nodes)
            wanted.update(t for op in nodes for t in op.inputs if t.op not in inside)
        return wanted

    def _make_stage(self, number: int, key: _GroupKey, wanted: set[Tensor]) -> Stage:
        nodes = self._groups[key]
        inside = set(nodes)
        inputs: dict[Tensor, None] = {}
        for op in nodes:
            for tensor in op.inputs:
                is_outside = tensor in self._feeds or tensor.op not in inside
                if is_outside and tensor not in self._reads and self._slot_of(tensor) is None:
                    inputs[tensor] = None
        own = [op for op in nodes if self._stage_of.get(op) == key]
        outputs = [t for op in own for t in op.outputs if t in wanted and t not in self._feeds]
        settled = list(self._settled.get(key, ()))
        program = Program(nodes, list(inputs), outputs, self._bind, self._reads, settled)
        static = [place for place, tensor in enumerate(inputs) if tensor in self._partition.static_feeds]
        stage = Stage(number, key[1], Kind(key[2]), program, static)
        stage.fed = tuple(place for place, tensor in enumerate(inputs) if tensor in self._feeds)
        outside = self._partition.recvs.keys() | self._feeds
        stage.outside = tuple(place for place, tensor in enumerate(inputs) if tensor in outside)
        stage.inputs = tuple(self._number(tensor) for tensor in inputs)
        stage.outputs = (*(self._number(tensor) for tensor in outputs), *(self._number(slot) for slot in settled))
        return stage

    def _slot_of(self, tensor: Tensor) -> VariableSlot | None:
        if not (tensor.dtype.is_ref or tensor.dtype is resource):
            return None
        return self._bind(tensor)

    def _connect(self, key: _GroupKey, stage: Stage, stages: dict[_GroupKey, Stage]) -> None:
        before: dict[_GroupKey, None] = {}
        edges: dict[int, None] = {}
        recvs = self._partition.recvs
        for op in self._groups[key]:
            for source in self._sources(op):
                if source in recvs:
                    edges[recvs[source].number] = None
                    continue
                other = self._stage_of.get(_made_by(source))
                if other is not None and other != key:
                    before[other] = None
        if key[0] == _LAST:
            updates = self._partition.settled.items()
            slots = self._settled[key]
            before.update((self._stage_of[op], None) for t, ops in updates for op in ops if self._slot_behind(t) in slots)
        for other in before:
            stages[other].then.append(stage)
        for edge in edges:
            self._plan.recvs[edge][1].append(stage)
        stage.pending = len(before) + len(edges)

    def _add_sends(self, stages: dict[_GroupKey, Stage]) -> None:
        bundles: dict[tuple[_GroupKey, str], list[Edge]] = {}
        for edge in self._partition.sends:
            bundles.setdefault((self._stage_of[edge.producer], edge.receiver), []).append(edge)
        for (key, peer), edges in bundles.items():
            numbers = tuple(-1 if edge.is_control else self._number(_tensor(edge)) for edge in edges)
            stages[key].sends.append((peer, tuple(edge.number for edge in edges), numbers))

    def _find_leaving(self) -> None:
        used = {number for stage in self._plan.stages for number in stage.inputs}
        used.update(self._number(tensor) for tensor in self._partition.fetches if tensor not in self._partition.settled)
        for stage in self._plan.stages:
            sent = {number for _, _, numbers in stage.sends for number in numbers}
            stage.leaving = tuple(place for place, number in enumerate(stage.outputs) if number in sent - used)


def _made_by(source: Tensor | Operation) -> Operation:
    return source if isinstance(source, Operation) else source.op


def _tensor(edge: Edge) -> Tensor:
    assert isinstance(edge.source, Tensor)
    return edge.source
