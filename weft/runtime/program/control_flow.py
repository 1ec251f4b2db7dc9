"""If and While nodes at run time: their bodies are programs of their own, run by the program that has the node.

Interpreted, a body is called as often as the node says; a long loop goes on compiled. In a compiled stage an If is a
`lax.cond` and a While a `lax.while_loop` (a `lax.scan` when it records), whose carried values are what changes: the loop
variables and the variables that a body writes. Everything else, such as captured weights, is closed over, so what is known
while tracing stays known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from weft.ops.traced_checks import in_inner_trace
from weft.runtime.program.bodies import Body, BodyProgram, CarriedState, as_array, is_traced, is_true, mixed, truth
from weft.runtime.program.hot_loop import HOT_ITERATIONS, Finished, HotLoop
from weft.runtime.program.traced_loop import TracedLoop


class Counter:
    """What decides how often a loop runs, where that is known while it is traced.

    `condition` and `step` are programs over the arguments at `places`; `step` makes those at `varying` anew.
    """

    def __init__(self, condition: BodyProgram, step: BodyProgram, places: Sequence[int], varying: Sequence[int]) -> None:
        self._condition = condition
        self._step = step
        self._places = tuple(places)
        self._varying = [self._places.index(place) for place in varying]

    def trips(self, arguments: Sequence[Any]) -> int:
        """How often the loop runs; the arguments at `places` are concrete."""
        values = [np.asarray(arguments[place]) for place in self._places]
        count = 0
        while is_true(self._condition.run(np, values, None, ())[0]):
            for place, value in zip(self._varying, self._step.run(np, values, None, ()), strict=True):
                values[place] = value
            count += 1
        return count


def _completed(branches: list[Callable[..., Any]], bodies: Sequence[Body], before: list[Any]) -> list[Callable[..., Any]]:
    """Let each branch give zeros, in the shape that the other branch has, for the values that only that one has."""
    shapes = [jax.eval_shape(branch, before)[0] for branch in branches]

    def completed(number: int) -> Callable[..., Any]:
        def branch(values: list[Any]) -> Any:
            outputs, slots = branches[number](values)
            for place in bodies[number].absent:
                other = shapes[1 - number][place]
                outputs[place] = jnp.zeros(other.shape, other.dtype)
            return outputs, slots

        return branch

    return [completed(0), completed(1)]


def _stacked(values: list[Any], tensor: Any) -> Any:
    """Recorded values as one array, or as a vector of arrays when their shapes differ."""
    dtype = tensor.dtype.as_numpy_dtype
    if not values:
        dims = tensor.dims
        return np.zeros((0, *(size or 0 for size in dims[1:])) if dims is not None else (0,), dtype)
    if all(isinstance(value, np.ndarray) and value.dtype != object and value.shape == values[0].shape for value in values):
        return np.stack(values)
    result = np.empty(len(values), object)
    result[:] = values
    return result


def _joined(stack: Any, pieces: list[Any]) -> Any:
    """A stack of recorded values and further pieces of it."""
    pieces = [piece for piece in pieces if len(piece)]
    if not pieces:
        return stack
    if stack.dtype == object:
        values = [*stack, *(value for piece in pieces for value in piece)]
        result = np.empty(len(values), object)
        result[:] = values
        return result
    return np.concatenate([stack, *pieces] if len(stack) else pieces)


class ControlFlow:
    """How one If or While node runs."""

    def __init__(self, op: Any, bodies: Sequence[Body], counter: Counter | None = None) -> None:
        self.op = op
        # A gradient that is asked for later makes the node return more, which this program does not know of.
        self._outputs = tuple(op.outputs)
        self.counter = counter
        self.bodies = tuple(bodies)
        self._is_loop = len(op.op_def.inputs) == 1
        self._written = sorted({slot for body in bodies for slot in body.written})
        self._types = [tensor.dtype.as_numpy_dtype for tensor in self._outputs]
        self._hot: HotLoop | None = None

    def run(self, xp: Any, arguments: list[Any], state: Any, run_indices: Sequence[Any], context: Any) -> list[Any]:
        """The values of the node's outputs."""
        if self._is_loop:
            run = self._loop if xp is np else self._traced_loop
        else:
            run = self._branch if xp is np or not is_traced(arguments[0]) else self._traced_branch
        return run(xp, arguments, state, run_indices, context)

    # If.

    def _branch(self, xp: Any, arguments: list[Any], state: Any, run_indices: Sequence[Any], context: Any) -> list[Any]:
        body = self.bodies[0] if is_true(arguments[0]) else self.bodies[1]
        return body.run(xp, arguments[1:], state, run_indices, context)

    def _traced_branch(self, xp: Any, arguments: list[Any], state: Any, run_indices: Sequence[Any], context: Any) -> list[Any]:
        written = self._written

        def call(body: Body) -> Callable[[list[Any]], Any]:
            def branch(values: list[Any]) -> Any:
                inner = CarriedState(state, dict(zip(written, values, strict=True)))
                outputs = body.run(xp, arguments[1:], inner, run_indices, context)
                return self._typed(outputs), [as_array(inner.values[slot]) for slot in written]

            return branch

        before = [as_array(state.read(slot)) for slot in written]
        branches = [call(body) for body in self.bodies]
        if any(body.absent for body in self.bodies):
            branches = _completed(branches, self.bodies, before)
        with in_inner_trace():
            outputs, after = lax.cond(truth(arguments[0]), branches[0], branches[1], before)
        state.update(written, lambda _: after)
        return list(outputs)

    def _typed(self, outputs: Sequence[Any]) -> list[Any]:
        return [as_array(value, t.dtype.as_numpy_dtype) for value, t in zip(outputs, self._outputs, strict=False)]

    # While.

    def _loop(self, xp: Any, arguments: list[Any], state: Any, run_indices: Sequence[Any], context: Any) -> list[Any]:
        condition, body = self.bodies
        values = list(arguments)
        count = len(values)
        records: list[list[Any]] = [[] for _ in self._outputs[count:]]
        rest: list[list[Any]] = [[] for _ in records]
        iteration = 0
        may_compile = getattr(state, "compiles_loops", False) and not self._written
        while True:
            if may_compile and (iteration == HOT_ITERATIONS or (self._hot is not None and not iteration)):
                finished = self._finished(values, state, run_indices, iteration)
                if finished is not None:
                    values, rest = finished
                    break
            if not is_true(condition.run(xp, values, state, mixed(run_indices, iteration), context)[0]):
                break
            results = body.run(xp, values, state, mixed(run_indices, iteration), context)
            for place, result in enumerate(results[:count]):
                if place not in body.invariant:
                    values[place] = result
            for record, result in zip(records, results[count:], strict=True):
                record.append(result)
            iteration += 1
        pieces = zip(records, rest, self._outputs[count:], strict=True)
        return values + [_joined(_stacked(record, tensor), more) for record, more, tensor in pieces]

    def _finished(self, values: list[Any], state: Any, run_indices: Sequence[Any], iteration: int) -> Finished | None:
        """The end of a loop that is long, or of which there is compiled code from an earlier run; None to interpret it."""
        hot = self._hot
        if hot is None:
            hot = self._hot = HotLoop(self.op, self.bodies, self._types)
        if not iteration and not hot.is_ready(values):
            return None
        return hot.finish(values, state, run_indices, iteration)

    def _traced_loop(self, xp: Any, arguments: list[Any], state: Any, run_indices: Sequence[Any], context: Any) -> list[Any]:
        loop = TracedLoop(self.bodies, self._types, self._written, arguments, state, run_indices, context)
        carry = loop.start(jnp.uint64(0))
        records: list[Any] = []
        with in_inner_trace():
            if len(self._outputs) == len(arguments):
                final, after, _ = lax.while_loop(loop.test, lambda carry: loop.step(carry)[0], carry)
            else:
                assert self.counter is not None
                trips = self.counter.trips(arguments)
                (final, after, _), records = lax.scan(lambda carry, _: loop.step(carry), carry, None, length=trips)
        state.update(self._written, lambda _: after)
        return loop.merged(final) + list(records)
