"""From a partition to stages: grouping nodes, binding variables, wiring values, messages and order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types.dtypes import resource
from weft.passes.bodies import needed_static_inputs
from weft.passes.partition import Edge, Partition
from weft.passes.stage import Kind
from weft.runtime.program.host_stages import HostStages
from weft.runtime.program.program import Program
from weft.runtime.program.program_builder import build_program
from weft.runtime.stage import Stage
from weft.runtime.state.binder import Binder
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.variable_slot import VariableSlot
from weft.runtime.ways.wiring import Wiring

_GroupKey: TypeAlias = tuple[int, str, str, int]
"""Level, device, kind, and the position of the first node of a stage that is told from others by it, else -1."""

# The level of groups behind all others, which read what several stages update.
_LAST: Final = 1 << 30


@dataclass(frozen=True)
class StagePlan:
    """The stages of a partition and the numbering of its values.

    `recvs` maps an edge to the number of its value (-1 for none) and the numbers of the stages that wait for it.
    """

    stages: tuple[Stage, ...]
    feed_numbers: tuple[int, ...]
    fetch_numbers: tuple[int, ...]
    recvs: Mapping[int, tuple[int, tuple[int, ...]]]
    value_count: int

    def validate(self) -> None:
        """Check what a step relies on; for tests.

        Raises:
            AssertionError: a value is made twice or by nobody, a stage waits for more or less than what wakes it, or stages
                wait for each other in a circle.
        """
        made: dict[int, int] = dict.fromkeys(self.feed_numbers, -1)
        made.update((value, -1) for value, _ in self.recvs.values() if value >= 0)
        wakes = dict.fromkeys(range(len(self.stages)), 0)
        for _, waiting in self.recvs.values():
            for number in waiting:
                wakes[number] += 1
        for number, stage in enumerate(self.stages):
            where = f"stage {number} of {len(self.stages)}"
            assert stage.number == number, f"{where} is numbered {stage.number}"
            stage.program.validate()
            assert len(stage.inputs) == len(stage.program.inputs), f"{where} has inputs {stage.inputs}"
            assert len(stage.outputs) == len(stage.program.outputs) + len(stage.program.settled), f"{where}: {stage.outputs}"
            for value in stage.outputs:
                assert value not in made, f"{where} makes value {value}, as {made[value]} does"
                made[value] = number
            for follower in stage.wiring.then:
                assert follower > number, f"{where} is followed by {follower}"
                wakes[follower] += 1
        for stage in self.stages:
            where = f"stage {stage.number}"
            assert all(value in made and made[value] < stage.number for value in stage.inputs), f"{where} has {stage.inputs}"
            assert wakes[stage.number] == stage.wiring.pending, f"{where} waits for {stage.wiring.pending}"
            sent = [value for _, _, values in stage.sends for value in values]
            assert all(value == -1 or value in made for value in sent), f"{where} sends {sent}"
        assert set(self.fetch_numbers) <= made.keys(), f"{self.fetch_numbers} are not all made"
        assert set(made) <= set(range(self.value_count)), f"{len(made)} values, {self.value_count} numbers"


def build_stages(partition: Partition, resources: ResourceManager, waits_for_code: bool = False) -> StagePlan:
    """Make the stages of a partition, bound to a task's resources.

    Args:
        partition: what to run.
        resources: the task's.
        waits_for_code: whether the session's steps wait for code, rather than have it made beside them.

    Raises:
        InvalidArgumentError: a variable is held with another dtype than this graph declares.
    """
    # A reference that is fed, or comes from another task, is the value and not the variable.
    values = [*partition.feeds, *(source for source in partition.recvs if isinstance(source, Tensor))]
    bind = Binder(resources, values, _only_asked(partition), _assigned(partition))
    return _Builder(partition, bind, waits_for_code).build()


def _only_asked(partition: Partition) -> set[Operation]:
    """The variables that the partition only asks whether they have a value."""
    # A replica asks so until the chief has initialized the model; what its own graph declares must not get in the chief's way.
    asked = {tensor.op for op in partition.nodes if op.op_def.role is Role.PROBE for tensor in op.inputs}
    used = {tensor.op for op in partition.nodes if op.op_def.role is not Role.PROBE for tensor in op.inputs}
    leaving = {tensor.op for tensor in partition.fetches} | {edge.producer for edge in partition.sends}
    return asked - used - leaving


def _assigned(partition: Partition) -> set[Operation]:
    """What makes the handles of the variables that the partition gives a value."""
    return {op.inputs[0].op for op in partition.nodes if op.op_def.role is Role.ASSIGNMENT}


class _Builder:
    def __init__(self, partition: Partition, bind: Binder, waits_for_code: bool) -> None:
        self._waits_for_code = waits_for_code
        self._partition = partition
        self._bind = bind
        self._feeds = set(partition.feeds)
        # What reads a variable for its rows alone, and the variable.
        self._reads = {op.outputs[0]: op.inputs[0] for op in partition.nodes if partition.kinds[op] is Kind.FREE and op.inputs}
        self._stage_of: dict[Operation, _GroupKey] = {}
        self._groups: dict[_GroupKey, list[Operation]] = {}
        self._numbers: dict[Tensor | VariableSlot, int] = {}
        self._settled: dict[_GroupKey, dict[VariableSlot, None]] = {}
        self._order: dict[_GroupKey, int] = {}
        self._programs: dict[_GroupKey, Program] = {}
        self._waiting: dict[int, list[int]] = {edge.number: [] for edge in partition.recvs.values()}

    def build(self) -> StagePlan:
        partition = self._partition
        self._group_nodes()
        self._group_settled()
        feeds = tuple(self._number(tensor) for tensor in partition.feeds)
        received = {edge.number: -1 if edge.is_control else self._number(_tensor(edge)) for edge in partition.recvs.values()}
        keys = sorted(self._groups, key=lambda key: (key[0], key[3]))
        self._order = {key: number for number, key in enumerate(keys)}
        wanted = self._wanted_outputs()
        self._programs = {key: self._program_of(key, wanted) for key in keys}
        inputs = {key: tuple(self._number(tensor) for tensor in self._programs[key].inputs) for key in keys}
        outputs = {key: self._outputs_of(key) for key in keys}
        before = {key: self._before(key) for key in keys}
        then: dict[_GroupKey, list[int]] = {key: [] for key in keys}
        for key in keys:
            for other in before[key]:
                then[other].append(self._order[key])
        sends = self._sends()
        fetches = [t if t not in partition.settled else self._slot_behind(t) for t in partition.fetches]
        used = {value for values in inputs.values() for value in values}
        used.update(self._number(tensor) for tensor in partition.fetches if tensor not in partition.settled)
        stages = []
        for number, key in enumerate(keys):
            sent = {value for _, _, values in sends[key] for value in values} - used
            wiring = Wiring(
                inputs[key],
                outputs[key],
                len(before[key]) + len(self._edges_of(key)),
                tuple(then[key]),
                sends[key],
                *self._places_of(key),
                tuple(place for place, value in enumerate(outputs[key]) if value in sent),
                tuple(p for p, tensor in enumerate(self._programs[key].inputs) if tensor in partition.static_feeds),
                partition.one_moment,
            )
            stages.append(Stage(number, key[1], Kind(key[2]), self._programs[key], wiring, self._waits_for_code))
        return StagePlan(
            tuple(stages),
            feeds,
            tuple(self._number(value) for value in fetches),
            {edge: (received[edge], tuple(waiting)) for edge, waiting in self._waiting.items()},
            len(self._numbers),
        )

    def _number(self, value: Tensor | VariableSlot) -> int:
        """The number of a tensor's value, or of the value that a variable has when the nodes that update it have run."""
        return self._numbers.setdefault(value, len(self._numbers))

    def _group_nodes(self) -> None:
        """Nodes of one device, level and kind are a stage, with the free nodes that they use; of host ops see `HostStages`."""
        partition = self._partition
        host = HostStages(partition)
        leaving = {t.op for t in partition.fetches if t not in partition.settled} | {edge.producer for edge in partition.sends}
        consumed = {t.op for op in partition.nodes for t in op.inputs} | {
            c for op in partition.nodes for c in op.control_inputs
        }
        # What names a resource first: all such nodes are one stage, whatever their places.
        for position, op in sorted(enumerate(partition.nodes), key=lambda each: not host.is_first(each[1])):
            kind = partition.kinds[op]
            if kind is Kind.FREE and op not in leaving and op in consumed:
                continue
            level, device = partition.levels[op], partition.devices[op]
            runs_as = Kind.COMPILED if kind is Kind.FREE else kind
            place = -1
            if kind is Kind.HOST:
                place = host.place(op, position, self._waits_for(op))
            key = (level, device, runs_as.value, place)
            self._stage_of[op] = key
            self._groups.setdefault(key, []).append(op)
        for key, nodes in self._groups.items():
            self._groups[key] = self._with_free_nodes(nodes)

    def _waits_for(self, op: Operation) -> frozenset[object]:
        """What a node's inputs come from: edges of other tasks, positions of stages of host ops, and other stages."""
        recvs = self._partition.recvs
        found: set[object] = set()
        for source in self._sources(op):
            if source in recvs:
                found.add(("edge", recvs[source].number))
                continue
            key = self._stage_of.get(_made_by(source))
            if key is not None:
                found.add(key[3] if key[2] == Kind.HOST.value else key)
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
        return [*sorted(extra, key=lambda op: (op.op_def.role is Role.VARIABLE, op.id)), *nodes]

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

    def _program_of(self, key: _GroupKey, wanted: set[Tensor]) -> Program:
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
        return build_program(nodes, list(inputs), outputs, self._bind, self._reads, list(self._settled.get(key, ())))

    def _outputs_of(self, key: _GroupKey) -> tuple[int, ...]:
        values = [*self._programs[key].outputs, *self._settled.get(key, ())]
        return tuple(self._number(value) for value in values)

    def _places_of(self, key: _GroupKey) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The places of a stage's inputs that are fed, and of those that come from outside of the partition."""
        inputs = self._programs[key].inputs
        of_program = () if self._partition.owns_feeds else self._feeds
        fed = tuple(place for place, tensor in enumerate(inputs) if tensor in of_program)
        outside = self._partition.recvs.keys() | self._feeds
        return fed, tuple(place for place, tensor in enumerate(inputs) if tensor in outside)

    def _slot_of(self, tensor: Tensor) -> VariableSlot | None:
        if not (tensor.dtype.is_ref or tensor.dtype is resource):
            return None
        return self._bind(tensor)

    def _before(self, key: _GroupKey) -> dict[_GroupKey, None]:
        """The stages that one waits for; notes for which messages it does."""
        before: dict[_GroupKey, None] = {}
        for op in self._groups[key]:
            for source in self._sources(op):
                if source in self._partition.recvs:
                    continue
                other = self._stage_of.get(_made_by(source))
                if other is not None and other != key:
                    before[other] = None
        if key[0] == _LAST:
            updates = self._partition.settled.items()
            slots = self._settled[key]
            before.update((self._stage_of[op], None) for t, ops in updates for op in ops if self._slot_behind(t) in slots)
        for edge in self._edges_of(key):
            self._waiting[edge].append(self._order[key])
        return before

    def _edges_of(self, key: _GroupKey) -> set[int]:
        """The messages that a stage waits for."""
        recvs = self._partition.recvs
        return {recvs[source].number for op in self._groups[key] for source in self._sources(op) if source in recvs}

    def _sends(self) -> dict[_GroupKey, tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]]:
        """For each stage what it sends: one bundle for each peer."""
        bundles: dict[tuple[_GroupKey, str], list[Edge]] = {}
        for edge in self._partition.sends:
            bundles.setdefault((self._stage_of[edge.producer], edge.receiver), []).append(edge)
        found: dict[_GroupKey, list[tuple[str, tuple[int, ...], tuple[int, ...]]]] = {key: [] for key in self._groups}
        for (key, peer), edges in bundles.items():
            numbers = tuple(-1 if edge.is_control else self._number(_tensor(edge)) for edge in edges)
            found[key].append((peer, tuple(edge.number for edge in edges), numbers))
        return {key: tuple(sends) for key, sends in found.items()}


def _made_by(source: Tensor | Operation) -> Operation:
    return source if isinstance(source, Operation) else source.op


def _tensor(edge: Edge) -> Tensor:
    assert isinstance(edge.source, Tensor)
    return edge.source
