"""Stops: compiled loops look, every tenth of a second, whether their step is still wanted.

XLA runs an executable to its end. A loop of it is therefore cut into slices: an inner loop runs so many iterations, an outer
one asks the host, by a callback, how many come next. The callback fails when the step has ended, and XLA then gives the
execution up, however deep in nested loops that is. What this costs (two cores of a virtual machine, JAX 0.10, November 2026):
nothing for an iteration but a comparison, and 0.3 ms for each look. So the first slice of a loop has none: it has as many
iterations as earlier runs have found to take a tenth of a second. Other ways were tried or thought through: a flag in memory
cannot be read again by compiled code; one dispatch for each slice cannot stop a loop within a loop, and needs stages of their
own for loops.

A failed execution has no results, and would take arrays with it that were donated. So code that can be stopped donates none.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Final, TypeAlias

import numpy as np

from weft.errors import CancelledError, OpError
from weft.framework.building.aliases import Array
from weft.platform.imports.jax_modules import jax, jnp, lax
from weft.runtime.program.program import ControlFlow, Program

LOOK_S: Final = 0.1
"""How long a slice is to take, in seconds."""

# Before anything is known of a loop: most loops are shorter, and iterations may take from 0.1 µs to a second.
_FIRST: Final = 16
# A loop within a loop begins anew with each iteration around it, and that one looks too.
_FIRST_INSIDE: Final = 1 << 14
_GROWTH: Final = 8
_END_S: Final = 2.0
_END_LOOK_S: Final = 0.01
# What the host is asked, and answers, has 32 bits: JAX narrows what is wider on threads that have not enabled that.
_MOST: Final = (1 << 31) - 1

Check: TypeAlias = Callable[[], None]
"""Raises the error of a step that has ended."""
Carry: TypeAlias = Array
"""What a loop carries, as JAX takes it."""

# Between who traces and a loop that is traced there are JAX's own functions, which pass nothing on for others. Threads trace at
# the same time, so each has its own.
_CHECK: Final[ContextVar[Check | None]] = ContextVar("check", default=None)
_LOOKS: Final[ContextVar[Looks | None]] = ContextVar("looks", default=None)


def next_count(count: int, took_s: float) -> int:
    """How many iterations the next slice of a loop has, after one of `count` that took so long, in seconds."""
    return max(1, int(min(count * LOOK_S / max(took_s, 1e-6), count * _GROWTH, _MOST)))


class _Run:
    """One run of code with loops: how it asks for its step, why it was stopped, and when it looked last."""

    __slots__ = ("check", "error", "looked_s")

    def __init__(self, check: Check) -> None:
        self.check = check
        self.error: OpError | None = None
        self.looked_s = time.monotonic()


class _Process:
    """The runs of this process. At its end they are stopped: a callback into an interpreter that is gone would abort it."""

    def __init__(self) -> None:
        self.is_ending = False
        self.runs: set[_Run] = set()

    def stop_runs(self) -> None:
        """Stop all runs, and wait until they are over, unless an iteration takes very long."""
        self.is_ending = True
        deadline_s = time.monotonic() + _END_S
        while self.runs and time.monotonic() < deadline_s:
            time.sleep(_END_LOOK_S)


_PROCESS: Final = _Process()
atexit.register(_PROCESS.stop_runs)
os.register_at_fork(after_in_child=_PROCESS.runs.clear)


class Stops:
    """The loops of one program that is compiled, and the runs of its code. Safe from any thread.

    Args:
        programs: what is compiled: its loops are those of all bodies in it.
        is_inside: whether the programs are bodies of a loop themselves.
    """

    def __init__(self, programs: Sequence[Program], is_inside: bool = False) -> None:
        self._iterations: list[int] = []
        self._places: dict[int, int] = {}
        self._loops: list[ControlFlow] = []  # keeps the identities that are the keys of the places
        self._runs: dict[int, _Run] = {}
        self._tokens = itertools.count(1)
        for program in programs:
            self._add(program, is_inside)

    def _add(self, program: Program, is_inside: bool) -> None:
        for flow in control_flows(program):
            if flow.is_loop:
                self._places[id(flow)] = len(self._iterations)
                self._loops.append(flow)
                self._iterations.append(_FIRST_INSIDE if is_inside else _FIRST)
            for body in flow.bodies:
                self._add(body.program, is_inside or flow.is_loop)

    def __len__(self) -> int:
        return len(self._iterations)

    @contextlib.contextmanager
    def watched(self, check: Check) -> Iterator[Array]:
        """Run the code in the block, or trace it; gives the argument that it takes for its loops.

        Raises:
            OpError: what `check` raised in one of the looks.
        """
        token = next(self._tokens) % _MOST
        run = self._runs[token] = _Run(check)
        _PROCESS.runs.add(run)
        reset = _CHECK.set(check)
        try:
            yield np.array([token, *self._iterations], np.int32)
        except Exception:
            if run.error is not None:
                raise run.error from None
            raise
        finally:
            _CHECK.reset(reset)
            del self._runs[token]
            _PROCESS.runs.discard(run)

    @contextlib.contextmanager
    def traced(self, argument: Array) -> Iterator[None]:
        """Trace in the block: loops in it are cut into slices."""
        reset = _LOOKS.set(Looks(self, argument))
        try:
            yield
        finally:
            _LOOKS.reset(reset)

    def place(self, flow: ControlFlow) -> int | None:
        """The number of a loop; None for one that is not of the programs."""
        return self._places.get(id(flow))

    def look(self, place: int, token: int, count: int) -> int:
        """Whether a run goes on; returns how many iterations a loop of it runs before it looks again.

        Args:
            place: the number of the loop.
            token: of the run.
            count: how many iterations the last slice had.
        """
        run = self._runs[token]
        try:
            if _PROCESS.is_ending:
                raise CancelledError.of("The process ends")
            run.check()
        except OpError as error:
            run.error = error
            raise
        now_s = time.monotonic()
        # The time since the last look of the run, so at least that of the slice.
        took_s, run.looked_s = now_s - run.looked_s, now_s
        self._iterations[place] = step = next_count(count, took_s)
        return step


class Looks:
    """How loops look while they are traced."""

    def __init__(self, stops: Stops, argument: Array) -> None:
        self._stops = stops
        self._argument = argument

    def loop(
        self, flow: ControlFlow, test: Callable[[Carry], Array], step: Callable[[Carry], Carry], carry: Carry,
        iteration_of: Callable[[Carry], Array],
    ) -> Carry:  # fmt: skip
        """As `lax.while_loop`, for a loop that counts its iterations from 0, in slices."""
        stops, argument = self._stops, self._argument
        place = stops.place(flow)
        if place is None:
            return lax.while_loop(test, step, carry)
        number = place

        def look(token: Array, count: Array) -> Array:
            return np.int32(stops.look(number, int(token), int(count)))

        def next_limit(count: Array) -> Array:
            return jax.pure_callback(look, jax.ShapeDtypeStruct((), np.int32), argument[0], count)  # type: ignore[no-untyped-call]

        def run_slice(state: Carry) -> Carry:
            inner, begun = state
            done = iteration_of(inner)
            count = lax.cond(done == 0, lambda: argument[1 + number], lambda: next_limit((done - begun).astype(jnp.int32)))
            until = done + count.astype(done.dtype)

            def goes_on(each: Carry) -> Array:
                return jnp.logical_and(test(each), iteration_of(each) < until)

            return lax.while_loop(goes_on, step, inner), done

        return lax.while_loop(lambda state: test(state[0]), run_slice, (carry, jnp.zeros_like(iteration_of(carry))))[0]


def looks() -> Looks | None:
    """How the loops look that are traced now; None where they do not."""
    return _LOOKS.get()


@contextlib.contextmanager
def traced_for(check: Check) -> Iterator[None]:
    """Trace in the block for a step, whose error `check` raises: one that counts the iterations of a loop ends with it."""
    reset = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(reset)


def raise_if_stopped() -> None:
    """Raise the error of the step for which something is traced now, when it has one."""
    check = _CHECK.get()
    if check is not None:
        check()


def control_flows(program: Program) -> Iterator[ControlFlow]:
    """The nodes with bodies of a program, without those in the bodies."""
    return (each.control_flow for each in program.instructions if each.control_flow is not None)


def has_loops(program: Program) -> bool:
    """Whether a program, or a body in it, has a loop."""
    return any(flow.is_loop or any(has_loops(body.program) for body in flow.bodies) for flow in control_flows(program))


def _is_news(record: logging.LogRecord) -> bool:
    """Whether JAX tells of another failure of a callback than that of a step that has ended."""
    return record.exc_info is None or not isinstance(record.exc_info[1], OpError)


logging.getLogger("jax._src.callback").addFilter(_is_news)
