"""If and While nodes on the host: their bodies are host programs, called as often as the node says."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Tensor
from weft.runtime.compiled.traced.values import is_true
from weft.runtime.host.frame import Frame
from weft.runtime.host.gathering import gatherer_of, taker_of
from weft.runtime.host.hot_loops.hot_loop import HOT_ITERATIONS, Finished, HotLoop
from weft.runtime.program.program import Argument, Body, Instruction, Program
from weft.runtime.program.results import as_result


class BodyPlan(Protocol):
    """The host program of a body, by which the planner breaks a circle."""

    @property
    def size(self) -> int:
        """How many calls a run makes."""
        ...

    def run_inside(self, inputs: Sequence[Array], frame: Frame) -> Sequence[Array]:
        """Run it as a part of a run that is going on."""
        ...


class HostBody:
    """One function of a node, ready to run."""

    def __init__(self, body: Body, plan: BodyPlan) -> None:
        self._body = body
        self._plan = plan
        self._take = taker_of(body.inputs)
        self._has_all_results = body.outputs == tuple(range(len(body.outputs)))

    def frame(self, frame: Frame) -> Frame:
        """The frame of its runs within a run of the program around, for `run` and `note_runs`."""
        return frame.inside(frame.streams[self._body.randoms])

    def run(self, arguments: list[Array], inner: Frame) -> Sequence[Array]:
        """Run it on the node's arguments; returns the node's results, with None for those that stand for variables."""
        made = self._plan.run_inside(self._take(arguments), inner)
        return made if self._has_all_results else self._body.results(made)

    def note_runs(self, count: int, inner: Frame, frame: Frame) -> None:
        """Note in the frame of the program around that it ran so often."""
        frame.nodes_run += count * self._plan.size + inner.nodes_run


class _BodiesCall:
    def __init__(
        self, instruction: Instruction, arguments: Sequence[Argument], program: Program, bodies: Sequence[HostBody]
    ) -> None:
        assert instruction.control_flow is not None
        self.op = instruction.op
        self._instruction = instruction
        self._control_flow = instruction.control_flow
        self._gather = gatherer_of(arguments, program, instruction.op, is_locked=False)
        self._bodies = bodies

    def _store(self, results: Sequence[Array], values: list[Array]) -> None:
        instruction = self._instruction
        for number, place, tensor in zip(instruction.outputs, instruction.value_places, instruction.tensors, strict=True):
            result = results[place]
            values[number] = result if result is None else as_result(result, tensor)


class BranchCall(_BodiesCall):
    """An If: runs one of two bodies."""

    def run(self, values: list[Array], frame: Frame) -> None:
        """Run the branch that the first argument chooses."""
        condition, *others = self._gather(values)
        body = self._bodies[0] if is_true(condition) else self._bodies[1]
        inner = body.frame(frame)
        self._store(body.run(others, inner), values)
        body.note_runs(1, inner, frame)


class LoopCall(_BodiesCall):
    """A While: runs its body until its condition is false. A long one goes on compiled, and one whose runs have taken long in
    all, where sizes keep changing, begins so; see `hot_loop`.
    """

    def __init__(
        self, instruction: Instruction, arguments: Sequence[Argument], program: Program, bodies: Sequence[HostBody]
    ) -> None:
        super().__init__(instruction, arguments, program, bodies)
        self._slots = program.slots
        self._hot: HotLoop | None = None
        self._may_compile = not self._control_flow.written
        body, count = self._control_flow.bodies[1], len(self.op.inputs)
        self._varying = [place for place in body.outputs if place < count and place not in body.invariant]

    def run(self, values: list[Array], frame: Frame) -> None:
        """Run the loop."""
        condition, body = self._bodies
        of_condition, of_body = condition.frame(frame), body.frame(frame)
        first = self._gather(values)
        variables = list(first)
        count = len(variables)
        recorded = self._control_flow.outputs[count:]
        records: list[list[Array]] = [[] for _ in recorded]
        rest: list[list[Array]] = [[] for _ in recorded]
        may_compile = frame.compiles_loops and self._may_compile
        check = frame.check_of(self.op)
        iteration, begin_s = 0, time.thread_time() if frame.sizes_change else 0.0
        finished, varying = None, self._varying
        while True:
            check()
            if may_compile and (iteration == HOT_ITERATIONS or (self._hot is not None and not iteration)):
                finished = self._finished(variables, frame, iteration)
                if finished is not None:
                    variables, rest = finished
                    break
            if not is_true(condition.run(variables, of_condition)[0]):
                break
            results = body.run(variables, of_body)
            for place in varying:
                variables[place] = results[place]
            for record, result in zip(records, results[count:], strict=True):
                record.append(result)
            iteration += 1
        condition.note_runs(iteration + (finished is None), of_condition, frame)
        body.note_runs(iteration, of_body, frame)
        if finished is None and may_compile and frame.sizes_change:
            self._hot_loop().note_run(first, iteration, time.thread_time() - begin_s)
        pieces = zip(records, rest, recorded, strict=True)
        self._store(variables + [_joined(_stacked(record, tensor), more) for record, more, tensor in pieces], values)

    def _finished(self, variables: list[Array], frame: Frame, iteration: int) -> Finished | None:
        """The end of a loop that is long, or of which there is compiled code from an earlier run; None to interpret it."""
        hot = self._hot_loop()
        form = None if iteration else hot.form_of(variables)
        if not iteration and form is None:
            return None
        return hot.run_rest(variables, frame.streams, iteration, frame.check_of(self.op), form)

    def _hot_loop(self) -> HotLoop:
        if self._hot is None:
            self._hot = HotLoop(self._control_flow, self._slots)
        return self._hot


def _stacked(values: list[Array], tensor: Tensor) -> Array:
    """Recorded values as one array, or as a vector of arrays when their shapes differ."""
    dtype = tensor.dtype.as_numpy_dtype
    if not values:
        dims = tensor.dims
        return np.zeros((0, *(size or 0 for size in dims[1:])) if dims is not None else (0,), dtype)
    if all(isinstance(value, np.ndarray) and value.dtype != object and value.shape == values[0].shape for value in values):
        # Of arrays `np.stack` takes twice as long, of numbers eight times (two cores, December 2026).
        shape, kind = values[0].shape, values[0].dtype.kind
        if shape:
            return np.concatenate(values).reshape(len(values), *shape)
        return np.stack(values) if kind in "SU" else np.array(values, values[0].dtype)
    result = np.empty(len(values), object)
    result[:] = values
    return result


def _joined(stack: Array, pieces: list[Array]) -> Array:
    """A stack of recorded values and further pieces of it."""
    pieces = [piece for piece in pieces if len(piece)]
    if not pieces:
        return stack
    if len(pieces) == 1 and not len(stack):
        return pieces[0]
    if stack.dtype == object:
        values = [*stack, *(value for piece in pieces for value in piece)]
        result = np.empty(len(values), object)
        result[:] = values
        return result
    return np.concatenate([stack, *pieces] if len(stack) else pieces)
