"""If and While nodes while they are traced.

An If is a `lax.cond` and a While a `lax.while_loop` in slices (see `stoppable`), whose carried values are what changes: the
loop variables and the variables that a body writes. Everything else, such as captured weights, is closed over, so what is known
while tracing stays known.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol, TypeAlias

import numpy as np

from weft.errors import UnimplementedError
from weft.framework.building.aliases import Array
from weft.ops.traced_checks import in_inner_trace
from weft.platform.imports.jax_modules import jax, jnp, lax
from weft.runtime.compiled.stoppable import looks, raise_if_stopped
from weft.runtime.compiled.traced.loop import Carry, TracedLoop
from weft.runtime.compiled.traced.state import CarriedState, State
from weft.runtime.compiled.traced.streams import TracedStream, move, places_of, replaced
from weft.runtime.compiled.traced.values import as_array, is_traced, is_true, truth
from weft.runtime.program.program import Body, ControlFlow, Counter, Program

_SHORT: Final = 8
"""A loop that is known to have no more iterations runs to its end: those of a stopped step too."""
_CHECKED: Final = 1024  # iterations that are counted beforehand, between looks whether the step is still wanted

_Branched: TypeAlias = tuple[list[Array], list[Array], list[Array]]
"""The results of a branch, the variables that it may have written, and where it has left the streams of its random nodes."""
_Branch: TypeAlias = Callable[[list[Array], list[Array]], _Branched]


class BodyTracer(Protocol):
    """What this module needs of `tracing`, which calls it."""

    def trace(self, body: Body, arguments: Sequence[Array], state: State, streams: Sequence[TracedStream]) -> list[Array]:
        """The node's results, by a body that is traced."""
        ...

    def compute(self, program: Program, inputs: Sequence[Array]) -> list[Array]:
        """The outputs of a program of known values."""
        ...


@contextlib.contextmanager
def _of_one_shape(what: str) -> Iterator[None]:
    """Refuse values of several shapes as what XLA lacks, so that the stage runs on the host: JAX has a TypeError for them.

    Errors of the nodes inside are OpErrors.
    """
    try:
        yield
    except TypeError as error:
        raise UnimplementedError.of(f"XLA has no values whose shapes differ between {what}: {error}") from error


def run_branch(
    control_flow: ControlFlow,
    arguments: Sequence[Array],
    state: State,
    streams: Sequence[TracedStream],
    tracer: BodyTracer,
) -> list[Array]:
    """The results of an If: of the branch taken, where that is known, else of a `lax.cond`."""
    condition, *others = arguments
    if not is_traced(condition):
        body = control_flow.bodies[0] if is_true(condition) else control_flow.bodies[1]
        return tracer.trace(body, others, state, streams)
    written, types = control_flow.written, control_flow.types

    owned = control_flow.randoms

    def call(body: Body) -> _Branch:
        def branch(values: list[Array], places: list[Array]) -> _Branched:
            inner, own_streams = CarriedState(state, dict(zip(written, values, strict=True))), replaced(streams, owned, places)
            outputs = tracer.trace(body, others, inner, own_streams)
            typed = [as_array(value, dtype) for value, dtype in zip(outputs, types, strict=False)]
            return typed, [as_array(inner.values[slot]) for slot in written], places_of(own_streams[owned])

        return branch

    before, begun = [as_array(state.read(slot)) for slot in written], places_of(streams[owned])
    branches = [call(body) for body in control_flow.bodies]
    if any(body.absent for body in control_flow.bodies):
        branches = _completed(branches, control_flow.bodies, before, begun)
    with in_inner_trace(), _of_one_shape("the branches"):
        outputs, after, places = lax.cond(truth(condition), branches[0], branches[1], before, begun)
    move(streams[owned], places)
    for slot, value in zip(written, after, strict=True):
        state.write(slot, value)
    return list(outputs)


def _completed(branches: list[_Branch], bodies: Sequence[Body], before: list[Array], begun: list[Array]) -> list[_Branch]:
    """Let each branch give zeros, in the shape that the other branch has, for the values that only that one has."""
    shapes = [jax.eval_shape(branch, before, begun)[0] for branch in branches]

    def completed(number: int) -> _Branch:
        def branch(values: list[Array], places: list[Array]) -> _Branched:
            outputs, slots, places = branches[number](values, places)
            for place in bodies[number].absent:
                other = shapes[1 - number][place]
                outputs[place] = jnp.zeros(other.shape, other.dtype)
            return outputs, slots, places

        return branch

    return [completed(0), completed(1)]


def run_loop(
    control_flow: ControlFlow,
    arguments: Sequence[Array],
    state: State,
    streams: Sequence[TracedStream],
    tracer: BodyTracer,
) -> list[Array]:
    """The results of a While: the loop variables as it leaves them, then what it recorded."""
    written = control_flow.written
    loop = TracedLoop(control_flow.bodies, control_flow.types, written, arguments, state, streams, tracer.trace)
    carry: Carry = loop.initial(jnp.uint64(0))
    trips = None
    if len(control_flow.outputs) > len(arguments):
        assert control_flow.counter is not None
        trips = _trips(control_flow.counter, arguments, tracer)
    with in_inner_trace(), _of_one_shape("the iterations"):
        left, records = _iterated(control_flow, loop, carry, trips)
    final, after, _, _ = left
    move(streams[control_flow.randoms], loop.places_behind(left))
    for slot, value in zip(written, after, strict=True):
        state.write(slot, value)
    return loop.merged(final) + list(records)


def _iterated(flow: ControlFlow, loop: TracedLoop, carry: Carry, trips: int | None) -> tuple[Carry, list[Array]]:
    """What a loop carries at its end, and what it has recorded; one that records has so many `trips`."""
    stoppable = looks()
    if trips is None:
        test, step = loop.test, lambda carry: loop.step(carry)[0]
        if stoppable is None:
            return lax.while_loop(test, step, carry), []
        return stoppable.loop(flow, test, step, carry, lambda carry: carry[2]), []
    if stoppable is None or trips <= _SHORT:
        return lax.scan(lambda carry, _: loop.step(carry), carry, None, length=trips)

    def record(state: tuple[Carry, list[Array]]) -> tuple[Carry, list[Array]]:
        carry, records = state
        place = carry[2].astype(jnp.int32)
        carry, values = loop.step(carry)
        pairs = zip(records, values, strict=True)
        return carry, [lax.dynamic_update_index_in_dim(record, value, place, 0) for record, value in pairs]

    shapes = jax.eval_shape(loop.step, carry)[1]
    records = [jnp.zeros((trips, *shape.shape), shape.dtype) for shape in shapes]
    state: tuple[Carry, list[Array]] = stoppable.loop(
        flow, lambda state: state[0][2] < trips, record, (carry, records), lambda state: state[0][2]
    )
    return state


def _trips(counter: Counter, arguments: Sequence[Array], tracer: BodyTracer) -> int:
    """How often a loop runs whose arguments at the counter's places are known."""
    values = [np.asarray(arguments[place]) for place in counter.places]
    count = 0
    while is_true(tracer.compute(counter.condition, values)[0]):
        for place, value in zip(counter.varying, tracer.compute(counter.step, values), strict=True):
            values[place] = value
        count += 1
        if not count % _CHECKED:
            raise_if_stopped()
    return count
