"""Program: a stage's nodes as a list of instructions over numbered values and numbered state.

The same program is run in two ways: on NumPy arrays, instruction by instruction, and once on JAX tracers, which makes it one
compiled function. What differs between the two is the array namespace and how state is reached (`state.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from weft.errors import FailedPreconditionError, InvalidArgumentError
from weft.framework.dtypes import resource, string
from weft.framework.func_graph import FuncGraph, bodies_of, first_argument, input_arguments, is_invariant
from weft.framework.node_types import group
from weft.framework.operation import Operation, Tensor
from weft.passes.bodies import body_nodes, counters
from weft.passes.prune import prune
from weft.runtime.program.bodies import Body
from weft.runtime.program.control_flow import ControlFlow, Counter
from weft.runtime.program.kernel_errors import raise_located, uninitialized
from weft.runtime.state.binder import BINDINGS, Binder
from weft.runtime.state.state import State
from weft.runtime.state.variable_slot import VariableSlot
from weft.runtime.xla.xla_process import as_numpy

# Trace-time folding makes literals of the compiled code, so only small values are worth it.
_FOLD_ELEMENTS: Final = 4096
ALIASES: Final = frozenset(("Identity", "StopGradient", "PreventGradient", "NoOp", "ReadVariableOp", "PlaceholderWithDefault",
                            "Const", "IdentityN", "CheckpointBarrier")) | BINDINGS  # fmt: skip

_LONE_NAMESPACE: Final[list[Callable[[Any], Any]]] = []
_ASSIGNMENTS: Final = frozenset(("Assign", "AssignVariableOp"))


class Instruction:
    """One node: where its arguments come from and where its results go.

    An argument is the number of a value, `~number` for a state, or a list of these.
    """

    __slots__ = (
        "arguments",
        "can_fold",
        "control_flow",
        "dtypes",
        "kernel",
        "keywords",
        "op",
        "outputs",
        "random",
        "ref_outputs",
        "small",
        "takes_xp",
        "types",
        "updates",
        "value_slots",
    )  # fmt: skip

    def __init__(self, op: Operation) -> None:
        definition = op.op_def
        self.op = op
        self.kernel = definition.kernel
        self.takes_xp = definition.takes_xp
        self.keywords = {key: op.attrs.get(key) for key in definition.kernel_attrs if key in op.attrs}
        self.arguments: list[Any] = []
        self.updates: tuple[int, ...] = ()
        self.outputs: tuple[int, ...] = ()
        self.ref_outputs: tuple[tuple[int, int], ...] = ()
        self.value_slots: tuple[int, ...] = ()
        self.random = -1
        self.control_flow: ControlFlow | None = None
        self.can_fold = not (definition.stateful or definition.compiled_only or definition.is_host or definition.bodies)
        sizes = [t.shape.num_elements() for t in op.outputs]
        self.small = all(size is None or size <= _FOLD_ELEMENTS for size in sizes)
        self.dtypes = tuple(t.dtype.as_numpy_dtype for t in op.outputs)
        self.types = tuple(t.dtype.base_dtype for t in op.outputs)


class Program:
    """The instructions of one stage.

    Args:
        nodes: the stage's nodes in order, the constants and bindings that they use included.
        inputs: tensors whose values come from outside, in the order in which `run` gets them.
        outputs: tensors whose values are wanted.
        bind: gives the slot of a tensor that stands for a variable, None for a plain value.
        reads: values that are those of variables, at the time when an instruction takes them.
        settled: variables whose values when all nodes have run are wanted, after the outputs.
    """

    def __init__(
        self,
        nodes: Sequence[Operation],
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        bind: Binder,
        reads: Mapping[Tensor, Tensor] = MappingProxyType({}),
        settled: Sequence[VariableSlot] = (),
    ) -> None:
        self.nodes = list(nodes)
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.slots: list[VariableSlot] = []
        self.random_nodes: list[Operation] = []
        self.read_slots: set[int] = set()
        self.written_slots: set[int] = set()
        self.conditional_slots: set[int] = set()
        self._bind = bind
        self._reads = reads
        self._numbers: dict[Tensor, int] = {}
        self._slot_numbers: dict[VariableSlot, int] = {}
        for tensor in self.inputs:
            self._number(tensor)
        self._wanted = set(self.outputs)
        self.instructions = [self._instruction(op) for op in self.nodes]
        self.output_numbers = [self._numbers[tensor] for tensor in self.outputs]
        self._settled = [self._slot_number(slot) for slot in settled]
        for number in self._settled:
            self._note_read(number)
        self.size = len(self._numbers)

    def _number(self, tensor: Tensor) -> int:
        return self._numbers.setdefault(tensor, len(self._numbers))

    def _slot_number(self, slot: VariableSlot) -> int:
        number = self._slot_numbers.get(slot)
        if number is None:
            number = self._slot_numbers[slot] = len(self.slots)
            self.slots.append(slot)
        return number

    def _instruction(self, op: Operation) -> Instruction:
        instruction = Instruction(op)
        definition = op.op_def
        if definition.bodies:
            self._add_bodies(op, instruction)
            return instruction
        first_update = -1
        updates: list[int] = []
        for arg, members in group(definition.inputs, op.attrs, op.inputs):
            if isinstance(members, list):
                instruction.arguments.append([self._argument(op, tensor) for tensor in members])
                continue
            number = self._argument(op, members, writes=arg.name in definition.updates)
            instruction.arguments.append(number)
            if arg.name in definition.updates:
                if number >= 0:
                    raise InvalidArgumentError(
                        None, op, f"{op.type} {op.name!r} updates a variable, but the run feeds {members.name!r} a plain value"
                    )
                updates.append(~number)
        if updates:
            first_update = updates[0]
            self.written_slots.update(updates)
        instruction.updates = tuple(updates)
        if definition.takes_run_index:
            instruction.random = len(self.random_nodes)
            self.random_nodes.append(op)
        self._add_outputs(op, instruction, first_update)
        return instruction

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
        bodies = [self._body(op, function, slots) for function in bodies_of(op)]
        instruction.control_flow = ControlFlow(op, bodies, self._counter(op))
        self._add_outputs(op, instruction, -1)
        bound = {t for t in op.outputs if t.dtype is resource and self._bind(t) is not None}
        instruction.value_slots = tuple(place for place, t in enumerate(op.outputs) if t not in bound)

    def _body(self, op: Operation, function: FuncGraph, slots: Sequence[VariableSlot | None]) -> Body:
        """Bind one function of the node; its variables and random nodes become this program's too."""
        arguments = dict(zip(function.inputs, slots, strict=True))
        inputs = [place for place, slot in enumerate(slots) if slot is None]
        bound = {tensor for tensor, slot in arguments.items() if slot is not None}
        outputs = [tensor for tensor in function.outputs if tensor not in bound]
        program = Program(body_nodes(function), [function.inputs[p] for p in inputs], outputs, self._bind.inside(arguments))
        numbers = [self._slot_number(slot) for slot in program.slots]
        for number in sorted(program.read_slots | program.written_slots):
            # A body that is not run leaves the old value, so writing a variable needs it as much as reading does.
            self._note_read(numbers[number])
        self.written_slots.update(numbers[number] for number in program.written_slots)
        self.conditional_slots.update(numbers[number] for number in program.read_slots | program.written_slots)
        randoms = slice(len(self.random_nodes), len(self.random_nodes) + len(program.random_nodes))
        self.random_nodes.extend(program.random_nodes)
        count = len(function.inputs) if op.op_def.is_loop and function.outputs[1:] else 0
        same = frozenset(i for i in range(min(count, len(function.outputs))) if is_invariant(function, i))
        places = [place for place, tensor in enumerate(function.outputs) if tensor not in bound]
        absent = frozenset(place for place, tensor in enumerate(function.outputs) if tensor.op.type == "NoValue")
        return Body(program, inputs, places, numbers, randoms, same, absent)

    def _counter(self, op: Operation) -> Counter | None:
        if op.type != "RecordingWhile":
            return None
        condition, body = bodies_of(op)
        counted = counters(condition, body)
        if counted is None:
            return None
        places = sorted(counted)
        varying = [place for place in places if not is_invariant(body, place)]
        steps = [body.outputs[place] for place in varying]
        inputs = [body.inputs[place] for place in places]
        tests = [condition.inputs[place] for place in places]
        return Counter(
            Program(prune(condition.outputs, tests, ()), tests, condition.outputs, self._bind.inside({})),
            Program(prune(steps, inputs, ()), inputs, steps, self._bind.inside({})),
            places,
            varying,
        )

    @property
    def has_bodies(self) -> bool:
        """Whether a node runs functions."""
        return any(instruction.control_flow is not None for instruction in self.instructions)

    def _argument(self, op: Operation, tensor: Tensor, writes: bool = False) -> int:
        tensor = self._reads.get(tensor, tensor)
        if tensor.dtype.is_ref or tensor.dtype is resource:
            slot = self._bind(tensor)
            if slot is not None:
                number = self._slot_number(slot)
                if not (op.op_def.allows_uninitialized and (writes or op.op_def.is_host)):
                    self._note_read(number)
                return ~number
        return self._number(tensor)

    def _note_read(self, number: int) -> None:
        if number not in self.written_slots:
            self.read_slots.add(number)

    def _add_outputs(self, op: Operation, instruction: Instruction, first_update: int) -> None:
        plain: list[int] = []
        refs: list[tuple[int, int]] = []
        for tensor in op.outputs:
            slot = self._bind(tensor) if tensor.dtype.is_ref or tensor.dtype is resource else None
            if slot is None:
                plain.append(self._number(tensor))
            elif tensor in self._wanted:
                number = self._slot_number(slot)
                if tensor.dtype is not resource:
                    self._note_read(number)
                refs.append((self._number(tensor), number))
        instruction.outputs = tuple(plain)
        instruction.ref_outputs = tuple(refs)

    @property
    def is_alias(self) -> bool:
        """Whether the program computes nothing: it only passes values, constants and variables on, also into variables."""
        return all(i.op.type in ALIASES or i.op.type in _ASSIGNMENTS for i in self.instructions)

    # Overflow and division by zero give inf and nan here as they do in compiled code, and no warnings.
    @np.errstate(all="ignore")
    def run(self, xp: Any, inputs: Sequence[Any], state: State, run_indices: Sequence[Any], context: Any = None) -> list[Any]:
        """Run all instructions and return the outputs' values.

        Args:
            xp: the array namespace, `numpy` or `jax.numpy`.
            inputs: the values of `self.inputs`.
            state: the variables.
            run_indices: for each random node, how often it has run.
            context: called with a node, gives the OpContext for a host op.

        Raises:
            OpError: a kernel failed; the error carries the node.
        """
        values: list[Any] = [None] * self.size
        values[: len(inputs)] = inputs
        self.run_some(self.instructions, xp, values, state, run_indices, context)
        return self.results(values, state)

    def run_some(
        self,
        instructions: Sequence[Instruction],
        xp: Any,
        values: list[Any],
        state: State,
        run_indices: Sequence[Any],
        context: Any = None,
    ) -> None:
        """Run some instructions on the values that there are by now; see `run`."""
        for instruction in instructions:
            try:
                execute(instruction, xp, values, state, run_indices, context)
            except Exception as error:
                raise_located(instruction.op, error)

    @property
    def settled(self) -> Sequence[int]:
        """The variables whose values at the program's end are among its results."""
        return self._settled

    def results(self, values: Sequence[Any], state: State) -> list[Any]:
        """What the program returns when all instructions have run: the outputs, then the settled variables."""
        made = [values[number] for number in self.output_numbers]
        if not self._settled:
            return made
        settled = [state.read(number) for number in self._settled]
        for number, value in zip(self._settled, settled, strict=True):
            if value is None:
                name = self.slots[number].name
                raise FailedPreconditionError(None, None, f"Attempting to use uninitialized value {name}")
        return [*made, *settled]


def execute(
    instruction: Instruction, xp: Any, values: list[Any], state: State, run_indices: Sequence[Any], context: Any
) -> None:
    """Run one instruction: gather its arguments, call the kernel, store the results."""
    op = instruction.op
    if op.type in BINDINGS:
        _store_refs(instruction, values, state)
        return
    if instruction.control_flow is not None:
        _run_bodies(instruction, xp, values, state, run_indices, context)
        return
    definition = op.op_def
    if definition.compiled_only and xp is np and _LONE_NAMESPACE:
        with _LONE_NAMESPACE[0](instruction) as lone:
            _call_kernel(instruction, lone, values, state, run_indices, context)
            for number in instruction.outputs:
                values[number] = np.asarray(values[number])
        return
    _call_kernel(instruction, xp, values, state, run_indices, context)


def _run_bodies(
    instruction: Instruction, xp: Any, values: list[Any], state: State, run_indices: Sequence[Any], context: Any
) -> None:
    arguments = [None if a is None else _gather(a, values, state, instruction) for a in instruction.arguments]
    assert instruction.control_flow is not None
    results = instruction.control_flow.run(xp, arguments, state, run_indices, context)
    for number, place in zip(instruction.outputs, instruction.value_slots, strict=True):
        result, tensor = results[place], instruction.op.outputs[place]
        values[number] = result if result is None or xp is not np else _as_numpy(result, tensor.dtype.as_numpy_dtype, tensor)
    _store_refs(instruction, values, state)


def set_lone_namespace(function: Callable[[Instruction], Any]) -> None:
    """Tell how an instruction that only JAX can do is run by itself; the engine calls this once."""
    _LONE_NAMESPACE[:] = [function]


def _call_kernel(
    instruction: Instruction, xp: Any, values: list[Any], state: State, run_indices: Sequence[Any], context: Any
) -> None:
    op = instruction.op
    definition = op.op_def
    keywords = instruction.keywords
    if instruction.random >= 0:
        keywords = {**keywords, "run_index": run_indices[instruction.random]}
    head = (context(op),) if definition.is_host else ()

    def call(updated: Sequence[Any]) -> Any:
        arguments = [
            values[a] if type(a) is int and a >= 0 else _gather(a, values, state, instruction) for a in instruction.arguments
        ]
        if updated:
            places = [p for p, a in enumerate(instruction.arguments) if type(a) is int and a in update_keys]
            for position, value in zip(places, updated, strict=True):
                arguments[position] = value
        if instruction.takes_xp:
            return instruction.kernel(_namespace(xp, instruction, arguments), *arguments, **keywords)
        return instruction.kernel(*head, *arguments, **keywords)

    if instruction.updates:
        update_keys = {~number for number in instruction.updates}
        results: list[Any] = []

        def replace(old: list[Any]) -> Sequence[Any]:
            if not definition.allows_uninitialized:
                for value in old:
                    if value is None:
                        raise uninitialized(op)
            new = call([_in_namespace(xp, value) for value in old])
            made = list(new) if isinstance(new, tuple | list) else [new]
            count = len(instruction.updates)
            if definition.name in ("Assign", "AssignVariableOp"):
                _check_assigned(op, old[0], made[0])
            results.extend(made[count:])
            return [_typed(xp, value, slot) for value, slot in zip(made[:count], instruction.updates, strict=True)]

        state.update(instruction.updates, replace)
    else:
        update_keys = set()
        made = call(())
        results = list(made) if isinstance(made, tuple | list) else [made] if instruction.outputs else []
    _store(instruction, xp, values, results)
    _store_refs(instruction, values, state)


def _check_assigned(op: Operation, old: Any, new: Any) -> None:
    """Refuse a value of another shape than the variable's, which its node declares or else its value tells."""
    if op.type == "Assign":
        dims = op.inputs[0].dims if op.attrs["validate_shape"] else tuple(new.shape)
        if (dims is None or None in dims) and old is not None:
            dims = tuple(old.shape)
    else:
        dims = op.inputs[0].op.attrs.get("shape")
    if dims is not None and None not in dims and tuple(new.shape) != dims:
        raise InvalidArgumentError(
            None,
            op,
            "Assign requires shapes of both tensors to match. "
            f"lhs shape= {list(dims)} rhs shape= {list(new.shape)} (variable {op.inputs[0].op.name!r})",
        )


def _typed(xp: Any, value: Any, slot: int) -> Any:
    return np.asarray(value) if xp is np else value


def _in_namespace(xp: Any, value: Any) -> Any:
    return value if xp is not np or value is None else as_numpy(value)


def _gather(argument: Any, values: list[Any], state: State, instruction: Instruction) -> Any:
    if type(argument) is list:
        return [values[item] if item >= 0 else _gather(item, values, state, instruction) for item in argument]
    if argument >= 0:
        return values[argument]
    value = state.read(~argument)
    if value is None and not instruction.op.op_def.allows_uninitialized:
        raise uninitialized(instruction.op)
    return value


def _namespace(xp: Any, instruction: Instruction, arguments: list[Any]) -> Any:
    """NumPy for what is known at trace time, so that shapes stay concrete; else the program's own namespace."""
    if xp is np or not instruction.can_fold or not (instruction.small or instruction.op.op_def.shape_only):
        return xp
    if instruction.op.op_def.shape_only:
        return np
    for argument in arguments:
        for value in argument if type(argument) is list else (argument,):
            if not isinstance(value, np.ndarray | np.generic):
                return xp
    return np


def _store(instruction: Instruction, xp: Any, values: list[Any], results: list[Any]) -> None:
    for number, result, tensor in zip(instruction.outputs, results, _plain_outputs(instruction), strict=True):
        wanted = tensor.dtype.as_numpy_dtype
        if type(result) is np.ndarray and result.dtype == wanted:
            values[number] = result
            continue
        if xp is np or isinstance(result, np.ndarray | np.generic | int | float | bool | complex):
            if not hasattr(result, "devices"):
                result = _as_numpy(result, wanted, tensor)
        elif result.dtype != wanted:
            result = result.astype(wanted)
        values[number] = result


def _as_numpy(result: Any, wanted: Any, tensor: Tensor) -> Any:
    if isinstance(result, np.ndarray):
        # A vector of arrays that differ in shape, such as a TensorArray may be, stays one.
        return result if result.dtype == wanted or result.dtype == object else np.asarray(result, wanted)
    if tensor.dtype.base_dtype is string:
        boxed = np.empty((), np.object_)
        boxed[()] = result
        return boxed
    return np.asarray(result, wanted)


def _plain_outputs(instruction: Instruction) -> list[Tensor]:
    outputs = instruction.op.outputs
    if len(outputs) == len(instruction.outputs):
        return outputs
    return [tensor for tensor in outputs if not tensor.dtype.is_ref]


def _store_refs(instruction: Instruction, values: list[Any], state: State) -> None:
    for number, slot in instruction.ref_outputs:
        value = state.read(slot)
        if value is None:
            raise uninitialized(instruction.op)
        values[number] = value
