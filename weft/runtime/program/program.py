"""Program: a stage's nodes as a list of instructions over numbered values and numbered variables.

It is plain data, which `program_builder` makes of nodes. Two readers give it a meaning: `host` plans it for NumPy, `compiled`
traces it for XLA. `validate` says what both rely on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import OpDef
from weft.framework.op_types.op_role import Role
from weft.runtime.state.variable_slot import VariableSlot

FOLD_ELEMENTS: Final = 4096
"""Folding at trace time makes literals of the compiled code, and on the host memory that the plan keeps, so only values of so
many elements are worth it."""

Argument: TypeAlias = int | list[int] | None
"""The number of a value, `~number` of a variable, or a list of these; None for a variable that a body gets by reference."""

_MOVING: Final = frozenset((Role.VARIABLE, Role.CONSTANT, Role.ORDER, Role.ASSIGNMENT))


class Instruction:
    """One node: where its arguments come from and where its results go.

    `updates` are the numbers of the variables that it changes, which its first arguments are; `outputs` are the numbers of the
    results that are plain values, and `tensors` the node's outputs behind them; `ref_outputs` pairs the numbers of other
    results with those of the variables that they stand for. `random` counts the program's random nodes, -1 for another.
    """

    __slots__ = (
        "arguments",
        "can_fold",
        "control_flow",
        "keywords",
        "op",
        "op_def",
        "outputs",
        "random",
        "ref_outputs",
        "tensors",
        "updates",
        "value_places",
    )  # fmt: skip

    def __init__(self, op: Operation) -> None:
        definition = op.op_def
        self.op = op
        self.op_def: OpDef = definition
        self.keywords: Mapping[str, object] = {key: op.attrs.get(key) for key in definition.kernel_attrs if key in op.attrs}
        self.arguments: list[Argument] = []
        self.updates: tuple[int, ...] = ()
        self.outputs: tuple[int, ...] = ()
        self.tensors: tuple[Tensor, ...] = ()
        self.ref_outputs: tuple[tuple[int, int], ...] = ()
        # Of an op with bodies, which of its results the outputs are.
        self.value_places: tuple[int, ...] = ()
        self.random = -1
        self.control_flow: ControlFlow | None = None
        is_plain = not (definition.stateful or definition.compiled_only or definition.is_host or definition.bodies)
        sizes = [t.shape.num_elements() for t in op.outputs]
        is_small = all(size is None or size <= FOLD_ELEMENTS for size in sizes)
        # Whether NumPy may compute it while code is traced, of values that are known then.
        self.can_fold = is_plain and (is_small or definition.shape_only)

    def numbers(self) -> Iterator[int]:
        """The numbers of all arguments, lists flattened."""
        for argument in self.arguments:
            if isinstance(argument, list):
                yield from argument
            elif argument is not None:
                yield argument


@dataclass(frozen=True)
class Body:
    """One function of a node, bound to the program that the node is part of.

    `inputs` are the places of the arguments that are plain values, `outputs` those of the results that are. `slots` are the
    outer program's numbers of the body's variables, `randoms` those of its random nodes. `invariant` are the arguments that a
    loop's body never changes, `absent` the results for which only the other branch has a value.
    """

    program: Program
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    slots: tuple[int, ...]
    randoms: slice
    invariant: frozenset[int]
    absent: frozenset[int] = frozenset()

    @property
    def written(self) -> list[int]:
        """The outer program's numbers of the variables that the body changes."""
        return sorted(self.slots[number] for number in self.program.written_slots)

    def results(self, made: Sequence[object]) -> list[object]:
        """The node's results, None for those that stand for a variable."""
        results: list[object] = [None] * (self.outputs[-1] + 1 if self.outputs else 0)
        for place, value in zip(self.outputs, made, strict=True):
            results[place] = value
        return results


@dataclass(frozen=True)
class Counter:
    """How often a loop runs, where that is known while it is traced.

    `condition` and `step` are programs over the arguments at `places`; `step` makes those at `varying` of them anew.
    """

    condition: Program
    step: Program
    places: tuple[int, ...]
    varying: tuple[int, ...]


@dataclass(frozen=True)
class ControlFlow:
    """The functions of one If or While node: two branches, or a condition and a body."""

    op: Operation
    # A gradient that is asked for later makes the node return more, which this program does not know of.
    outputs: tuple[Tensor, ...]
    bodies: tuple[Body, Body]
    counter: Counter | None

    @property
    def is_loop(self) -> bool:
        """Whether the node runs its body repeatedly, rather than one of two once."""
        return self.op.op_def.is_loop

    @property
    def randoms(self) -> slice:
        """The program's numbers of the random nodes in the bodies."""
        first, second = self.bodies
        return slice(first.randoms.start, second.randoms.stop)

    @property
    def written(self) -> list[int]:
        """The program's numbers of the variables that a body changes."""
        return sorted({slot for body in self.bodies for slot in body.written})

    @property
    def types(self) -> list[np.dtype]:
        """The NumPy types of the results."""
        found: list[Array] = [tensor.dtype.as_numpy_dtype for tensor in self.outputs]
        return found


@dataclass
class Program:
    """The instructions of one stage, or of one body of a node.

    Values are numbered: the inputs first, in the order in which a run gets them. `slots` are the variables, by their numbers;
    `read_slots` those whose value from before the program counts, `written_slots` those that it changes, `conditional_slots`
    those of bodies, which may not run. `settled` are the variables whose values when all instructions have run are wanted,
    after the outputs.
    """

    nodes: list[Operation]
    inputs: list[Tensor]
    outputs: list[Tensor]
    instructions: list[Instruction] = field(default_factory=list)
    output_numbers: list[int] = field(default_factory=list)
    settled: list[int] = field(default_factory=list)
    size: int = 0
    slots: list[VariableSlot] = field(default_factory=list)
    random_nodes: list[Operation] = field(default_factory=list)
    read_slots: set[int] = field(default_factory=set)
    written_slots: set[int] = field(default_factory=set)
    conditional_slots: set[int] = field(default_factory=set)

    @property
    def has_bodies(self) -> bool:
        """Whether a node runs functions."""
        return any(instruction.control_flow is not None for instruction in self.instructions)

    @cached_property
    def code_nodes(self) -> int:
        """Of how many nodes code is made: with those of bodies, which cost as much to compile, however often they run."""
        flows = (instruction.control_flow for instruction in self.instructions)
        return len(self.nodes) + sum(body.program.code_nodes for flow in flows if flow is not None for body in flow.bodies)

    @property
    def moving_randoms(self) -> list[int]:
        """The numbers of the random nodes in bodies: only a run tells how often they run."""
        flows = (instruction.control_flow for instruction in self.instructions)
        slices = [flow.randoms for flow in flows if flow is not None]
        return [number for each in slices for number in range(each.start, each.stop)]

    @property
    def is_alias(self) -> bool:
        """Whether the program computes nothing: it only passes values, constants and variables on, also into variables."""
        return all(each.op_def.hands_on or each.op_def.role in _MOVING for each in self.instructions)

    def updated_bytes(self) -> int:
        """How much memory the variables take whose new values are made of their old ones, as far as they have a value."""
        values = [self.slots[number].value for number in self.written_slots & self.read_slots]
        return sum(value.nbytes for value in values if value is not None)

    def validate(self) -> None:
        """Check what those rely on who run the program; for tests.

        Raises:
            AssertionError: an instruction reads a value before it is made or makes one twice, a number is out of range, or what
                is noted about variables is not what the instructions do.
        """
        known = set(range(len(self.inputs)))
        written: set[int] = set()
        for each in self.instructions:
            where = f"{each.op.type} {each.op.name!r}"
            for number in each.numbers():
                assert number < 0 or number in known, f"{where} reads value {number} before it is made"
                assert ~number < len(self.slots), f"{where} reads variable {~number} of {len(self.slots)}"
            assert each.arguments[: len(each.updates)] == [~number for number in each.updates], (
                f"{where} updates {each.updates}, its arguments are {each.arguments}"
            )
            written.update(each.updates)
            if each.control_flow is not None:
                written.update(each.control_flow.written)
                for body in each.control_flow.bodies:
                    self._validate_body(body, where)
            made = [*each.outputs, *(number for number, _ in each.ref_outputs)]
            assert len(each.outputs) == len(each.tensors), f"{where} has values {each.outputs} for {len(each.tensors)} tensors"
            assert known.isdisjoint(made), f"{where} makes one of the values {made} again"
            assert len(set(made)) == len(made), f"{where} makes one of the values {made} twice"
            assert all(0 <= number < self.size for number in made), f"{where} makes {made} of {self.size} values"
            assert all(slot < len(self.slots) for _, slot in each.ref_outputs), f"{where} stands for a variable that is none"
            known.update(made)
        assert written == self.written_slots, f"the instructions write {written}, the program says {self.written_slots}"
        assert set(self.output_numbers) <= known, f"outputs {self.output_numbers} are not all made"
        assert len(self.output_numbers) == len(self.outputs)
        numbers = {*self.settled, *self.read_slots, *self.conditional_slots}
        assert numbers <= set(range(len(self.slots))), f"variables {numbers} of {len(self.slots)}"
        randoms = [each.random for each in self.instructions if each.random >= 0]
        assert randoms == sorted(set(randoms)), f"the random nodes are numbered {randoms}"

    def _validate_body(self, body: Body, where: str) -> None:
        body.program.validate()
        assert len(body.inputs) == len(body.program.inputs), f"{where}: a body's arguments are {body.inputs}"
        assert len(body.outputs) == len(body.program.outputs), f"{where}: a body's results are {body.outputs}"
        assert [self.slots[number] for number in body.slots] == body.program.slots, f"{where}: a body has other variables"
        assert self.random_nodes[body.randoms] == body.program.random_nodes, f"{where}: a body has other random nodes"
