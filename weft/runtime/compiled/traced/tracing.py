"""Tracing: runs a program's kernels on what is traced, which makes it one compiled function.

An If becomes a `lax.cond` and a While a `lax.while_loop`; see `control_flow`. What is known while tracing, such as
shapes and what follows from constants, is computed by NumPy there and then, so that it stays known.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Final

import numpy as np

from weft.errors import FailedPreconditionError
from weft.framework.building.aliases import Array
from weft.framework.building.run_shapes import run_shapes
from weft.framework.nodes.operation import Tensor
from weft.framework.op_types.op_role import Role
from weft.platform.imports.jax_modules import jnp
from weft.runtime.compiled.traced.control_flow import BodyTracer, run_branch, run_loop
from weft.runtime.compiled.traced.state import BodyState, State, TracedState
from weft.runtime.compiled.traced.streams import TracedStream
from weft.runtime.program.kernel_errors import check_assigned, raise_located, uninitialized
from weft.runtime.program.program import Body, Instruction, Program
from weft.runtime.program.results import as_result, results_of


# Overflow and division by zero in what NumPy computes give inf and nan, as they do in compiled code, and no warnings.
@np.errstate(all="ignore")
def trace(program: Program, inputs: Sequence[Array], state: State, streams: Sequence[TracedStream]) -> list[Array]:
    """Run a program on values some of which are traced; returns those of its outputs and of its settled variables.

    Args:
        program: what to run.
        inputs: the values of its inputs.
        state: its variables.
        streams: those of its random nodes.

    Raises:
        OpError: a kernel refused what it got; the error carries the node.
    """
    return _Tracer(program, inputs, state, streams, None).run()


@np.errstate(all="ignore")
def compute(program: Program, inputs: Sequence[Array]) -> list[Array]:
    """Run a program without variables on values that are known, by NumPy, while something else is traced."""
    return _Tracer(program, inputs, TracedState([]), (), np).run()


def trace_body(body: Body, arguments: Sequence[Array], state: State, streams: Sequence[TracedStream]) -> list[Array]:
    """Run a body on its node's arguments and the state of the program around it; returns the node's results."""
    values = [arguments[place] for place in body.inputs]
    return body.results(trace(body.program, values, BodyState(state, body.slots), streams[body.randoms]))


class _Bodies:
    """Traces the bodies of nodes, for those who trace the nodes."""

    def trace(self, body: Body, arguments: Sequence[Array], state: State, streams: Sequence[TracedStream]) -> list[Array]:
        return trace_body(body, arguments, state, streams)

    def compute(self, program: Program, inputs: Sequence[Array]) -> list[Array]:
        return compute(program, inputs)


_BODIES: Final[BodyTracer] = _Bodies()


class _Tracer:
    def __init__(
        self,
        program: Program,
        inputs: Sequence[Array],
        state: State,
        streams: Sequence[TracedStream],
        namespace: ModuleType | None,
    ) -> None:
        self._program = program
        self._always = namespace
        self._values: list[Array] = [None] * program.size
        self._values[: len(inputs)] = inputs
        self._state = state
        self._streams = streams

    def run(self) -> list[Array]:
        for instruction in self._program.instructions:
            try:
                self._run(instruction)
            except Exception as error:
                raise_located(instruction.op, error)
        return self._results()

    def _run(self, instruction: Instruction) -> None:
        if instruction.op_def.role is not Role.VARIABLE:
            made = self._run_bodies(instruction) if instruction.control_flow is not None else self._run_kernel(instruction)
            for number, result, tensor in zip(instruction.outputs, made, instruction.tensors, strict=True):
                self._values[number] = _as_typed(result, tensor)
        for number, slot in instruction.ref_outputs:
            self._values[number] = self._read(slot, instruction)

    def _results(self) -> list[Array]:
        settled = [self._state.read(number) for number in self._program.settled]
        for number, value in zip(self._program.settled, settled, strict=True):
            if value is None:
                name = self._program.slots[number].name
                raise FailedPreconditionError.of(f"Attempting to use uninitialized value {name}")
        return [*(self._values[number] for number in self._program.output_numbers), *settled]

    def _read(self, slot: int, instruction: Instruction) -> Array:
        value = self._state.read(slot)
        if value is None and not instruction.op_def.allows_uninitialized:
            raise uninitialized(instruction.op, self._program.slots[slot].name)
        return value

    def _value(self, number: int, instruction: Instruction) -> Array:
        return self._values[number] if number >= 0 else self._read(~number, instruction)

    def _arguments(self, instruction: Instruction) -> list[Array]:
        return [
            None if each is None
            else [self._value(item, instruction) for item in each] if isinstance(each, list)
            else self._value(each, instruction)
            for each in instruction.arguments
        ]  # fmt: skip

    def _run_bodies(self, instruction: Instruction) -> list[Array]:
        control_flow = instruction.control_flow
        assert control_flow is not None
        run = run_loop if control_flow.is_loop else run_branch
        results = run(control_flow, self._arguments(instruction), self._state, self._streams, _BODIES)
        return [results[place] for place in instruction.value_places]

    def _run_kernel(self, instruction: Instruction) -> list[Array]:
        definition, keywords = instruction.op_def, instruction.keywords
        arguments = self._arguments(instruction)
        if instruction.random >= 0:
            keywords = {**keywords, "take": self._streams[instruction.random].take}
        head = (self._always or _namespace(instruction, arguments),) if definition.takes_xp else ()
        kernel = partial(definition.kernel, *head, **keywords)
        shapes = run_shapes(definition, instruction.op)
        if shapes is not None:
            shapes.check(arguments, kernel)
        made = kernel(*arguments)
        results = results_of(made, len(instruction.updates) + len(instruction.outputs))
        if definition.role is Role.ASSIGNMENT:
            check_assigned(instruction.op, arguments[0], results[0])
        for slot, value in zip(instruction.updates, results, strict=False):
            self._state.write(slot, value)
        return results[len(instruction.updates) :]


def _namespace(instruction: Instruction, arguments: Sequence[Array]) -> ModuleType:
    """NumPy for what is known at trace time, so that shapes stay concrete; else JAX's."""
    if not instruction.can_fold:
        return jnp
    if instruction.op_def.shape_only:
        return np
    for argument in arguments:
        for value in argument if type(argument) is list else (argument,):
            if not isinstance(value, np.ndarray | np.generic):
                return jnp
    return np


def _as_typed(result: Array, tensor: Tensor) -> Array:
    """A result in the type of its tensor; NumPy's stay NumPy's."""
    if isinstance(result, np.ndarray | np.generic | int | float | bool | complex):
        return as_result(result, tensor)
    wanted = tensor.dtype.as_numpy_dtype
    return result if result is None or result.dtype == wanted else result.astype(wanted)
