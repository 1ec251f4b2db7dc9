"""HostProgram: a program planned for NumPy, once, as a list of bound calls.

Whatever a stage does on the host it does through one: pass values on, update variables, take rows of tables, run host ops, and
compute while it is not compiled. Four peepholes make the plain cases short:

- nodes that hand values on are no calls: who takes their results takes what went in; constants, and what follows from them, lie
  ready;
- neighbouring reads of variables are one call;
- arithmetic with scalars on what a random node draws is one call with it (`scaled_draw`);
- under the locks of all variables, updates of many small ones by the same rule are one call (`joint_updates`), and an update of
  rows works out beforehand what needs no variable.

On a parameter server between other processes each call of NumPy costs 2 to 4 µs, and what Python does around it as much again,
on caches that tables' rows have filled: that is why where arguments come from is found out once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np

from weft.errors import FailedPreconditionError, OpError
from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Operation
from weft.framework.op_types.op_role import Role
from weft.platform.process.interrupts import deferred_interrupts
from weft.runtime.host.calls import Call, Loads, RandomCall, RowUpdate, call_of
from weft.runtime.host.frame import PLAIN, Frame
from weft.runtime.host.host_control_flow import BranchCall, HostBody, LoopCall
from weft.runtime.host.joint_updates import JointUpdate, grouped
from weft.runtime.host.scaled_draw import ScaledDraw, scaled_draws
from weft.runtime.host.snapshot import Snapshot
from weft.runtime.program.kernel_errors import located, raise_located
from weft.runtime.program.program import FOLD_ELEMENTS, Argument, Instruction, Program
from weft.runtime.program.results import as_result
from weft.runtime.state.variable_slot import held, locks_of
from weft.runtime.state.variable_values import value_of

NodeSink: TypeAlias = Callable[[Operation, float, float], None]
"""Told of each node that ran, with its begin and end in seconds since the epoch."""

Check: TypeAlias = Callable[[], None]
"""Raises the error of a step that has ended."""
_WITHOUT_KERNEL: Final = frozenset((Role.VARIABLE, Role.ORDER))


class HostProgram:
    """A program ready to run on the host, any number of times and from any thread.

    Args:
        program: what to run.
        holds_locks: whether a run holds the locks of all its variables; else each update takes those that it needs.
        is_plain: whether each node shall be a call of its own, as where its time is taken.
        one_moment: whether variables are read at one moment, in a program that only reads them.
    """

    def __init__(self, program: Program, holds_locks: bool = False, is_plain: bool = False, one_moment: bool = False) -> None:
        planner = _Planner(program, holds_locks, is_plain, one_moment)
        self.calls: Sequence[Call] = planner.calls
        # Those of variables that are only read too: an update of rows finds nobody with a view of its array.
        self._locks = locks_of(program.slots) if holds_locks else None
        self._values = planner.values
        self._outputs = [planner.places[number] for number in program.output_numbers]
        self._ahead = planner.ahead
        self._settled = [program.slots[number] for number in program.settled]
        self._made = planner.made
        self._computes = any(not isinstance(call, Loads) for call in self.calls)
        self._nodes = program.nodes

    @property
    def size(self) -> int:
        """How many calls a run makes."""
        return len(self.calls)

    def run(self, inputs: Sequence[Array], frame: Frame) -> list[Array]:
        """Run the program on arrays in host memory; returns the outputs, then the settled variables' values.

        Raises:
            OpError: a node failed; the error carries it.
        """
        return self._run(self._with_inputs(inputs), frame)

    def run_checked(self, inputs: Sequence[Array], frame: Frame, check: Check) -> list[Array]:
        """As `run`, of a program that updates nothing; `check` is called before each node, and raises to end the run."""
        return self._run_checked(self._with_inputs(inputs), frame, check)

    def run_counted(self, inputs: Sequence[Array], frame: Frame, check: Check | None = None) -> tuple[list[Array], int]:
        """As `run`, or `run_checked`; returns also how many bytes the values have that it made."""
        values = self._with_inputs(inputs)
        results = self._run(values, frame) if check is None else self._run_checked(values, frame, check)
        return results, sum(values[place].nbytes for place in self._made if isinstance(values[place], np.ndarray))

    def run_each(
        self, inputs_of: Sequence[Sequence[Array]], frame: Frame, *, ends_at_failure: bool = False
    ) -> list[list[Array] | OpError]:
        """Run a program that updates nothing for several rounds side by side, call by call.

        Args:
            inputs_of: the inputs of each round.
            frame: what all of them need.
            ends_at_failure: whether rounds behind one that fails end with it, and have no result; else each is by itself.

        Returns:
            The results of each round, or its error.
        """
        rounds = [self._with_inputs(inputs) for inputs in inputs_of]
        errors: dict[int, OpError] = {}
        left = list(enumerate(rounds))
        with np.errstate(all="ignore"):
            for call in self.calls:
                if isinstance(call, RandomCall) and left and call.draw_together([values for _, values in left], frame):
                    continue
                run, count = call.run, len(errors)
                for number, values in left:
                    try:
                        run(values, frame)
                    except Exception as failure:
                        errors[number] = located(call.op, failure)
                        if ends_at_failure:
                            del rounds[number + 1 :]
                            break
                if len(errors) > count:
                    left = [each for each in left if each[0] < len(rounds) and each[0] not in errors]
        return [errors[number] if number in errors else self._results(values) for number, values in enumerate(rounds)]

    def run_inside(self, inputs: Sequence[Array], frame: Frame) -> list[Array]:
        """Run it as the body of a node, within another program's run."""
        return self._run_calls(self._with_inputs(inputs), frame)

    def run_traced(self, inputs: Sequence[Array], frame: Frame, sink: NodeSink) -> list[Array]:
        """Run the program and tell the time of each node; a node without a call, such as a variable, takes none."""
        values = self._with_inputs(inputs)
        calls: dict[Operation, list[Call]] = {op: [] for op in self._nodes}
        for call in self.calls:
            calls[call.op].append(call)
        with np.errstate(all="ignore"):
            for op, own in calls.items():
                begin = time.time()
                try:
                    for call in own:
                        call.run(values, frame)
                except Exception as error:
                    raise_located(op, error)
                sink(op, begin, time.time())
        return self._results(values)

    def _with_inputs(self, inputs: Sequence[Array]) -> list[Array]:
        values = self._values.copy()
        values[: len(inputs)] = inputs
        return values

    def _run(self, values: list[Array], frame: Frame) -> list[Array]:
        if not self._computes:
            return self._run_calls(values, frame)
        # Overflow and division by zero give inf and nan here as they do in compiled code, and no warnings.
        with np.errstate(all="ignore"):
            if self._locks is None:
                return self._run_calls(values, frame)
            for call in self._ahead:
                call.look_ahead(values)
            with deferred_interrupts(), held(self._locks):
                return self._run_calls(values, frame)

    def _run_checked(self, values: list[Array], frame: Frame, check: Check) -> list[Array]:
        with np.errstate(all="ignore"):
            for call in self.calls:
                check()
                try:
                    call.run(values, frame)
                except Exception as error:
                    raise_located(call.op, error)
        return self._results(values)

    def _run_calls(self, values: list[Array], frame: Frame) -> list[Array]:
        for call in self.calls:
            try:
                call.run(values, frame)
            except Exception as error:
                raise_located(call.op, error)
        return self._results(values)

    def _results(self, values: list[Array]) -> list[Array]:
        outputs = [values[place] for place in self._outputs]
        for slot in self._settled:
            value = value_of(slot)
            if value is None:
                raise FailedPreconditionError.of(f"Attempting to use uninitialized value {slot.name}")
            outputs.append(value)
        return outputs


class _Planner:
    """Makes the calls of a program.

    `values` are the values that each run begins with: constants at their places; `places` tells where the plan has the value of
    each number, which differ where a node only hands a value on; `made` are the places that calls fill; `ahead` are the calls
    that look ahead.
    """

    def __init__(self, program: Program, is_locked: bool, is_plain: bool, one_moment: bool) -> None:
        self.calls: list[Call] = []
        self.places = list(range(program.size))
        self.values: list[Array] = [None] * program.size
        self.ahead: list[RowUpdate] = []
        self.made: list[int] = []
        self._program = program
        self._is_locked = is_locked
        self._is_plain = is_plain
        # The places of the variables' values, where they are read together.
        self._snapshot: dict[int, int] = {}
        if one_moment and not is_locked and Snapshot.fits(program):
            self._snapshot = {slot: program.size + slot for slot in range(len(program.slots))}
            self.values += [None] * len(program.slots)
            self.calls.append(Snapshot(program))
        self._taken = frozenset(program.output_numbers).union(*(each.numbers() for each in program.instructions))
        # The places of what a run begins with, and those of constants and of what follows from them.
        self._known = set(range(len(program.inputs)))
        self._constants: set[int] = set()
        self._draws = {} if is_plain or not program.random_nodes else scaled_draws(program)
        joins = is_locked and not is_plain
        for part in grouped(program) if joins else [[each] for each in program.instructions]:
            if len(part) == 1:
                self._add(part[0])
            else:
                self.calls.append(JointUpdate(part, program, self._place, [self._call_of(each) for each in part]))

    def _place(self, number: int) -> int:
        return self.places[number]

    def _placed(self, argument: Argument) -> Argument:
        if argument is None:
            return None
        if isinstance(argument, list):
            return [self._place_or_slot(each) for each in argument]
        return self._place_or_slot(argument)

    def _place_or_slot(self, number: int) -> int:
        return self.places[number] if number >= 0 else self._snapshot.get(~number, number)

    def _add(self, instruction: Instruction) -> None:
        role = instruction.op_def.role
        if (chain := self._draws.get(instruction)) is not None:
            if instruction is chain[-1]:
                self._draw_scaled(chain)
        elif role is Role.CONSTANT and not self._is_plain:
            self._keep(instruction)
        elif instruction.op_def.hands_on and not self._is_plain:
            self._hand_on(instruction)
        elif role not in _WITHOUT_KERNEL and (self._is_plain or not (self._is_idle(instruction) or self._fold(instruction))):
            self.calls.append(self._call_of(instruction))
        for number, slot in instruction.ref_outputs:
            self._load(instruction.op, slot, number)

    def _draw_scaled(self, chain: Sequence[Instruction]) -> None:
        self.made += chain[-1].outputs
        arguments = [self._placed(argument) for argument in chain[0].arguments]
        self.calls.append(ScaledDraw(chain, arguments, self._program, self._place))

    def _is_idle(self, instruction: Instruction) -> bool:
        """Whether it is left out, such as the gradient for images that are fed, which only control edges ask for."""
        may_drop = instruction.op_def.droppable
        return may_drop is not None and self._taken.isdisjoint(instruction.outputs) and may_drop(instruction.op)

    def _keep(self, constant: Instruction) -> None:
        (place,) = constant.outputs
        self.values[place] = as_result(constant.op.attrs["value"], constant.tensors[0])
        self._note_constants(constant)

    def _fold(self, instruction: Instruction) -> bool:
        """Compute a node now if it follows from constants, as shapes and limits in functions of images do; say whether."""
        numbers = list(instruction.numbers())
        if not instruction.can_fold or not numbers or instruction.updates or instruction.random >= 0:
            return False
        if not all(number >= 0 and self.places[number] in self._constants for number in numbers):
            return False
        arguments = [self._placed(argument) for argument in instruction.arguments]
        try:
            with np.errstate(all="ignore"):
                call_of(instruction, arguments, self._program, self._is_locked).run(self.values, PLAIN)
        except Exception:
            # The run tells what is wrong.
            return False
        if any(self.values[place].size > FOLD_ELEMENTS for place in instruction.outputs):
            return False
        for place in instruction.outputs:
            # Who fetches it gets a copy.
            self.values[place].flags.writeable = False
        self._note_constants(instruction)
        return True

    def _note_constants(self, instruction: Instruction) -> None:
        self._known.update(instruction.outputs)
        self._constants.update(instruction.outputs)

    def _hand_on(self, instruction: Instruction) -> None:
        numbers = dict(zip(instruction.tensors, instruction.outputs, strict=True))
        for tensor, source in zip(instruction.op.outputs, instruction.numbers(), strict=True):
            number = numbers.get(tensor)
            if number is None:
                continue  # a variable's handle, which stands for the variable wherever it goes
            if source >= 0:
                self.places[number] = self.places[source]
            else:
                self._load(instruction.op, ~source, number)

    def _load(self, op: Operation, slot: int, place: int) -> None:
        if slot in self._snapshot:
            self.places[place] = self._snapshot[slot]
            return
        last = self.calls[-1] if self.calls else None
        if not isinstance(last, Loads) or self._is_plain:
            last = Loads(self._is_locked)
            self.calls.append(last)
        last.add(op, self._program.slots[slot], place)

    def _call_of(self, instruction: Instruction) -> Call:
        self.made += instruction.outputs
        arguments = [self._placed(argument) for argument in instruction.arguments]
        if instruction.control_flow is not None:
            kind = LoopCall if instruction.control_flow.is_loop else BranchCall
            bodies = [
                HostBody(body, HostProgram(body.program, is_plain=self._is_plain)) for body in instruction.control_flow.bodies
            ]
            return kind(instruction, arguments, self._program, bodies)
        call = call_of(instruction, arguments, self._program, self._is_locked)
        if isinstance(call, RowUpdate) and instruction.op_def.ahead is not None:
            self._look_ahead(call, arguments[len(instruction.updates) :])
        return call

    def _look_ahead(self, call: RowUpdate, others: Sequence[Argument]) -> None:
        """Have an update of rows look ahead if a run begins with all that it takes besides variables."""
        if all(type(each) is int and each in self._known for each in others):
            call.looks_ahead_in(len(self.values))
            self.values.append(None)
            self.ahead.append(call)
