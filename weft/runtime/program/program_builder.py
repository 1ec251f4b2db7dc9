"""From nodes to a Program: numbers their values and variables, and binds the functions that they run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from weft.errors import InvalidArgumentError
from weft.framework.graphs.func_graph import FuncGraph, bodies_of, first_argument, input_arguments, is_invariant
from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types.dtypes import resource
from weft.passes.bodies import body_nodes, counters
from weft.passes.prune import prune
from weft.runtime.program.program import Body, ControlFlow, Counter, Instruction, Program
from weft.runtime.state.binder import Binder
from weft.runtime.state.variable_slot import VariableSlot


def build_program(
    nodes: Sequence[Operation],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    bind: Binder,
    reads: Mapping[Tensor, Tensor] = MappingProxyType({}),
    settled: Sequence[VariableSlot] = (),
) -> Program:
    """Make the program of some nodes.

    Args:
        nodes: the nodes in order, the constants and bindings that they use included.
        inputs: tensors whose values come from outside, in the order in which a run gets them.
        outputs: tensors whose values are wanted.
        bind: gives the slot of a tensor that stands for a variable, None for a plain value.
        reads: values that are those of variables, at the time when an instruction takes them.
        settled: variables whose values when all nodes have run are wanted, after the outputs.

    Raises:
        InvalidArgumentError: a node updates a variable for which the run feeds a plain value.
    """
    return _Builder(Program(list(nodes), list(inputs), list(outputs)), bind, reads).build(settled)


class _Builder:
    def __init__(self, program: Program, bind: Binder, reads: Mapping[Tensor, Tensor]) -> None:
        self._program = program
        self._bind = bind
        self._reads = reads
        self._wanted = set(program.outputs)
        self._numbers: dict[Tensor, int] = {}
        self._slot_numbers: dict[VariableSlot, int] = {}

    def build(self, settled: Sequence[VariableSlot]) -> Program:
        program = self._program
        for tensor in program.inputs:
            self._number(tensor)
        program.instructions = [self._instruction(op) for op in program.nodes]
        program.output_numbers = [self._numbers[tensor] for tensor in program.outputs]
        program.settled = [self._slot_number(slot) for slot in settled]
        for number in program.settled:
            self._note_read(number)
        program.size = len(self._numbers)
        return program

    def _number(self, tensor: Tensor) -> int:
        return self._numbers.setdefault(tensor, len(self._numbers))

    def _slot_number(self, slot: VariableSlot) -> int:
        number = self._slot_numbers.get(slot)
        if number is None:
            number = self._slot_numbers[slot] = len(self._program.slots)
            self._program.slots.append(slot)
        return number

    def _instruction(self, op: Operation) -> Instruction:
        instruction = Instruction(op)
        definition = op.op_def
        if definition.bodies:
            self._add_bodies(op, instruction)
            return instruction
        updates: list[int] = []
        for arg, members in group(definition.inputs, op.attrs, op.inputs):
            if isinstance(members, list):
                instruction.arguments.append([self._argument(op, tensor) for tensor in members])
                continue
            number = self._argument(op, members, writes=arg.name in definition.updates)
            instruction.arguments.append(number)
            if arg.name in definition.updates:
                if number >= 0:
                    raise InvalidArgumentError.of(
                        f"{op.type} {op.name!r} updates a variable, but the run feeds {members.name!r} a plain value", op
                    )
                updates.append(~number)
        self._program.written_slots.update(updates)
        instruction.updates = tuple(updates)
        if definition.is_random:
            instruction.random = len(self._program.random_nodes)
            self._program.random_nodes.append(op)
        self._add_outputs(op, instruction)
        return instruction

    def _argument(self, op: Operation, tensor: Tensor, writes: bool = False) -> int:
        tensor = self._reads.get(tensor, tensor)
        slot = self._slot_of(tensor)
        if slot is None:
            return self._number(tensor)
        number = self._slot_number(slot)
        if not (op.op_def.allows_uninitialized and (writes or op.op_def.is_host)):
            self._note_read(number)
        return ~number

    def _slot_of(self, tensor: Tensor) -> VariableSlot | None:
        return self._bind(tensor) if tensor.dtype.is_ref or tensor.dtype is resource else None

    def _note_read(self, number: int) -> None:
        if number not in self._program.written_slots:
            self._program.read_slots.add(number)

    def _add_outputs(self, op: Operation, instruction: Instruction) -> None:
        plain: dict[Tensor, int] = {}
        refs: list[tuple[int, int]] = []
        for tensor in op.outputs:
            slot = self._slot_of(tensor)
            if slot is None:
                plain[tensor] = self._number(tensor)
            elif tensor in self._wanted:
                number = self._slot_number(slot)
                if tensor.dtype is not resource:
                    self._note_read(number)
                refs.append((self._number(tensor), number))
        instruction.tensors, instruction.outputs = tuple(plain), tuple(plain.values())
        instruction.ref_outputs = tuple(refs)

    def _add_bodies(self, op: Operation, instruction: Instruction) -> None:
        head = first_argument(op)
        instruction.arguments = [self._argument(op, tensor) for tensor in op.inputs[:head]]
        slots: list[VariableSlot | None] = []
        for tensor, wanted in zip(op.inputs[head:], input_arguments(op)[head:], strict=True):
            by_reference = wanted.dtype.is_ref or wanted.dtype is resource
            slot = self._bind(tensor) if by_reference else None
            slots.append(slot)
            # What a body does to a variable is noted with its nodes; the node itself does not read it.
            instruction.arguments.append(self._argument(op, tensor) if slot is None else None)
        first, second = (self._body(op, function, slots) for function in bodies_of(op))
        instruction.control_flow = ControlFlow(op, tuple(op.outputs), (first, second), self._counter(op))
        self._add_outputs(op, instruction)
        bound = {t for t in op.outputs if t.dtype is resource and self._bind(t) is not None}
        instruction.value_places = tuple(place for place, t in enumerate(op.outputs) if t not in bound)

    def _body(self, op: Operation, function: FuncGraph, slots: Sequence[VariableSlot | None]) -> Body:
        """Bind one function of the node; its variables and random nodes become this program's too."""
        outer = self._program
        arguments = dict(zip(function.inputs, slots, strict=True))
        inputs = tuple(place for place, slot in enumerate(slots) if slot is None)
        bound = {tensor for tensor, slot in arguments.items() if slot is not None}
        outputs = [tensor for tensor in function.outputs if tensor not in bound]
        program = build_program(
            body_nodes(function), [function.inputs[p] for p in inputs], outputs, self._bind.inside(arguments)
        )
        numbers = tuple(self._slot_number(slot) for slot in program.slots)
        for number in sorted(program.read_slots | program.written_slots):
            # A body that is not run leaves the old value, so writing a variable needs it as much as reading does.
            self._note_read(numbers[number])
        outer.written_slots.update(numbers[number] for number in program.written_slots)
        outer.conditional_slots.update(numbers[number] for number in program.read_slots | program.written_slots)
        randoms = slice(len(outer.random_nodes), len(outer.random_nodes) + len(program.random_nodes))
        outer.random_nodes.extend(program.random_nodes)
        count = len(function.inputs) if op.op_def.is_loop and function.outputs[1:] else 0
        same = frozenset(i for i in range(min(count, len(function.outputs))) if is_invariant(function, i))
        places = tuple(place for place, tensor in enumerate(function.outputs) if tensor not in bound)
        absent = frozenset(p for p, tensor in enumerate(function.outputs) if tensor.op.op_def.role is Role.ABSENT)
        return Body(program, inputs, places, numbers, randoms, same, absent)

    def _counter(self, op: Operation) -> Counter | None:
        if op.op_def.role is not Role.RECORDING_LOOP:
            return None
        condition, body = bodies_of(op)
        counted = counters(condition, body)
        if counted is None:
            return None
        places = tuple(sorted(counted))
        varying = [place for place in places if not is_invariant(body, place)]
        steps = [body.outputs[place] for place in varying]
        inputs = [body.inputs[place] for place in places]
        tests = [condition.inputs[place] for place in places]
        bind = self._bind.inside({})
        return Counter(
            build_program(prune(condition.outputs, tests, ()), tests, condition.outputs, bind),
            build_program(prune(steps, inputs, ()), inputs, steps, bind),
            places,
            tuple(places.index(place) for place in varying),
        )
