"""If and While nodes at run time: their bodies are programs of their own, run by the program that has the node.

Interpreted, a body is called as often as the node says. In a compiled stage an If is a `lax.cond` and a While a
`lax.while_loop` (a `lax.scan` when it records), whose carried values are what changes: the loop variables and the variables
that a body writes. Everything else, such as captured weights, is closed over, so what is known while tracing stays known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

_GOLDEN: Final = 0x9E3779B97F4A7C15


class BodyProgram(Protocol):
    """What a body's Program offers here."""

    written_slots: set[int]
    slots: list[Any]
    size: int

    def run(self, xp: Any, inputs: Sequence[Any], state: Any, run_indices: Sequence[Any], context: Any = None) -> list[Any]:
        """Run the body once."""
        ...


class Body:
    """One function of a node, bound to the program that the node is part of.

    `inputs` are the places of the arguments that are plain values, `outputs` those of the results that are. `slots` are the
    outer program's numbers of the body's variables, `randoms` those of its random nodes. `invariant` are the arguments that a
    loop's body never changes, `absent` the results for which only the other branch has a value.
    """

    def __init__(
        self,
        program: BodyProgram,
        inputs: Sequence[int],
        outputs: Sequence[int],
        slots: Sequence[int],
        randoms: slice,
        invariant: frozenset[int],
        absent: frozenset[int] = frozenset(),
    ) -> None:
        self.program = program
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.slots = tuple(slots)
        self.randoms = randoms
        self.invariant = invariant
        self.absent = absent
        self.written = sorted(slots[number] for number in program.written_slots)

    def run(self, xp: Any, arguments: Sequence[Any], state: Any, run_indices: Sequence[Any], context: Any) -> list[Any]:
        """Run the body on the node's arguments and the outer program's state."""
        values = [arguments[place] for place in self.inputs]
        made = self.program.run(xp, values, _Window(state, self.slots), run_indices[self.randoms], context)
        if len(self.outputs) == (self.outputs[-1] + 1 if self.outputs else 0):
            return made
        results: list[Any] = [None] * (self.outputs[-1] + 1)
        for place, value in zip(self.outputs, made, strict=True):
            results[place] = value
        return results


class _Window:
    """The variables of a body, seen in the state of the program around it."""

    def __init__(self, state: Any, slots: Sequence[int]) -> None:
        self._state = state
        self._slots = slots

    def read(self, index: int) -> Any:
        """The current value, None when there is none."""
        return self._state.read(self._slots[index])

    def update(self, indices: Sequence[int], function: Callable[[list[Any]], Sequence[Any]]) -> None:
        """Replace values of the state around."""
        self._state.update([self._slots[index] for index in indices], function)


class _Carried:
    """The state inside a traced branch or loop: the variables that it writes are its own, others those around it."""

    def __init__(self, outer: Any, values: dict[int, Any]) -> None:
        self._outer = outer
        self.values = values

    def read(self, index: int) -> Any:
        """The traced value."""
        return self.values[index] if index in self.values else self._outer.read(index)

    def update(self, indices: Sequence[int], function: Callable[[list[Any]], Sequence[Any]]) -> None:
        """Replace the traced values."""
        for index, value in zip(indices, function([self.read(index) for index in indices]), strict=True):
            self.values[index] = value


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
        dims = tensor._dims
        return np.zeros((0, *(size or 0 for size in dims[1:])) if dims is not None else (0,), dtype)
    if all(isinstance(value, np.ndarray) and value.dtype != object and value.shape == values[0].shape for value in values):
        return np.stack(values)
    result = np.empty(len(values), object)
    result[:] = values
    return result


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

    def run(self, xp: Any, arguments: list[Any], state: Any, run_indices: Sequence[Any], context: Any) -> list[Any]:
        """The values of the node's outputs."""
        if self._is_loop:
            run = self._loop if xp is np else self._traced_loop
        else:
            run = self._branch if xp is np or not _is_traced(arguments[0]) else self._traced_branch
        return run(xp, arguments, state, run_indices, context)

    # If.

    def _branch(self, xp: Any, arguments: list[Any], state: Any, run_indices: Sequence[Any], context: Any) -> list[Any]:
        body = self.bodies[0] if is_true(arguments[0]) else self.bodies[1]
        return body.run(xp, arguments[1:], state, run_indices, context)

    def _traced_branch(self, xp: Any, arguments: list[Any], state: Any, run_indices: Sequence[Any], context: Any) -> list[Any]:
        written = self._written

        def call(body: Body) -> Callable[[list[Any]], Any]:
            def branch(values: list[Any]) -> Any:
                inner = _Carried(state, dict(zip(written, values, strict=True)))
                outputs = body.run(xp, arguments[1:], inner, run_indices, context)
                return self._typed(outputs), [_array(inner.values[slot]) for slot in written]

            return branch

        before = [_array(state.read(slot)) for slot in written]
        branches = [call(body) for body in self.bodies]
        if any(body.absent for body in self.bodies):
            branches = _completed(branches, self.bodies, before)
        outputs, after = lax.cond(_truth(arguments[0]), branches[0], branches[1], before)
        state.update(written, lambda _: after)
        return list(outputs)

    def _typed(self, outputs: Sequence[Any]) -> list[Any]:
        return [_array(value, t.dtype.as_numpy_dtype) for value, t in zip(outputs, self._outputs, strict=False)]

    # While.

    def _loop(self, xp: Any, arguments: list[Any], state: Any, run_indices: Sequence[Any], context: Any) -> list[Any]:
        condition, body = self.bodies
        values = list(arguments)
        count = len(values)
        records: list[list[Any]] = [[] for _ in self._outputs[count:]]
        iteration = 0
        while is_true(condition.run(xp, values, state, mixed(run_indices, iteration), context)[0]):
            results = body.run(xp, values, state, mixed(run_indices, iteration), context)
            for place, result in enumerate(results[:count]):
                if place not in body.invariant:
                    values[place] = result
            for record, result in zip(records, results[count:], strict=True):
                record.append(result)
            iteration += 1
        return values + [_stacked(record, tensor) for record, tensor in zip(records, self._outputs[count:], strict=True)]

    def _traced_loop(self, xp: Any, arguments: list[Any], state: Any, run_indices: Sequence[Any], context: Any) -> list[Any]:
        condition, body = self.bodies
        written = self._written
        count, outputs = len(arguments), self._outputs
        varying = [place for place in range(count) if place not in body.invariant]

        def merged(values: Sequence[Any]) -> list[Any]:
            result = list(arguments)
            for place, value in zip(varying, values, strict=True):
                result[place] = value
            return result

        def test(carry: Any) -> Any:
            values, slots, iteration = carry
            inner = _Carried(state, dict(zip(written, slots, strict=True)))
            return _truth(condition.run(xp, merged(values), inner, mixed(run_indices, iteration), context)[0])

        def step(carry: Any) -> Any:
            values, slots, iteration = carry
            inner = _Carried(state, dict(zip(written, slots, strict=True)))
            results = body.run(xp, merged(values), inner, mixed(run_indices, iteration), context)
            new = self._typed_at(varying, results)
            made = [_array(value, t.dtype.as_numpy_dtype) for value, t in zip(results[count:], outputs[count:], strict=True)]
            return (new, [_array(inner.values[slot]) for slot in written], iteration + np.uint64(1)), made

        start = self._typed_at(varying, arguments)
        slots = [_array(state.read(slot)) for slot in written]
        start, slots = settled(lambda carry: step(carry)[0], start, slots)
        carry = (start, slots, jnp.uint64(0))
        records: list[Any] = []
        if len(outputs) == count:
            final, after, _ = lax.while_loop(test, lambda carry: step(carry)[0], carry)
        else:
            assert self.counter is not None
            trips = self.counter.trips(arguments)
            (final, after, _), records = lax.scan(lambda carry, _: step(carry), carry, None, length=trips)
        state.update(written, lambda _: after)
        return merged(final) + list(records)

    def _typed_at(self, places: Sequence[int], values: Sequence[Any]) -> list[Any]:
        outputs = self._outputs
        return [_array(values[place], outputs[place].dtype.as_numpy_dtype) for place in places]


def settled(step: Callable[[Any], Any], start: list[Any], slots: list[Any]) -> tuple[list[Any], list[Any]]:
    """The carried values at the start, those of arrays that have no element shape yet brought to the shape they get.

    An unwritten TensorArray is `[size, 0]` until the first write tells the shape of its elements.
    """
    if not any(_is_unshaped(value) for value in start):
        return start, slots
    made, _, _ = jax.eval_shape(step, (start, slots, jnp.uint64(0)))
    return [
        jnp.zeros(to.shape, to.dtype) if _is_unshaped(value) and to.shape != value.shape else value
        for value, to in zip(start, made, strict=True)
    ], slots


def _is_unshaped(value: Any) -> bool:
    return bool(value.ndim == 2 and value.shape[1] == 0)


def mixed(run_indices: Sequence[Any], iteration: Any) -> Sequence[Any]:
    """Indices for the random nodes of one iteration: others than those of any other iteration or run."""
    if not run_indices:
        return run_indices
    with np.errstate(all="ignore"):
        step = iteration + 1 if isinstance(iteration, int) else iteration + np.uint64(1)
        step = np.uint64(step) if isinstance(step, int) else step
        return [index * np.uint64(_GOLDEN) + step for index in run_indices]


def is_true(value: Any) -> bool:
    """A predicate's value; as in TensorFlow, a number is true unless it is zero, anything else when it is not empty."""
    array = np.asarray(value)
    if array.ndim:
        return array.size > 0
    return bool(array)


def _truth(value: Any) -> Any:
    if not _is_traced(value):
        return is_true(value)
    return jnp.asarray(value.size > 0) if value.ndim else value != 0 if value.dtype != np.bool_ else value


def _is_traced(value: Any) -> bool:
    return isinstance(value, jax.core.Tracer)


def _array(value: Any, dtype: Any = None) -> Any:
    return jnp.asarray(value, value.dtype if dtype is None else dtype)
