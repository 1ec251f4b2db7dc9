"""The engine: everything that touches JAX at run time. It starts with the first stage that is compiled, not before.

Until then the process has no JAX threads and may fork. A child forked after that cannot use the engine, and says so at once.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from weft.errors import UnimplementedError
from weft.framework.aliases import Array
from weft.platform.interrupts import deferred_interrupts, is_main_thread
from weft.runtime.compiled.leaving_values import LeavingValues, join
from weft.runtime.compiled.stoppable import Stops, has_loops
from weft.runtime.compiled.traced_state import TracedState
from weft.runtime.compiled.tracing import trace
from weft.runtime.program.program import Program
from weft.runtime.xla.calling_thread import COMPILER_OPTIONS, calling_thread_device, usable
from weft.runtime.xla.compiler_options import jit
from weft.runtime.xla.xla_process import check, start

# For how many sizes of its inputs, and values of its static ones, a stage has code.
CODE_LIMIT: Final = 64

_SHORTEST_LOOK_S: Final = 5e-5
_LONGEST_LOOK_S: Final = 0.01

_StaticKey: TypeAlias = tuple[tuple[tuple[int, ...], str, bytes], ...]
"""Shape, dtype and bytes of each static input: the code has these values in it."""
_Code: TypeAlias = Callable[..., tuple[Sequence[Array] | LeavingValues, Sequence[Array]]]
"""From inputs, values of variables that are read and of those that are updated, and run indices of random nodes to the outputs
and the new values of the variables; JAX compiles it once for each combination of shapes."""


class Signature(NamedTuple):
    """What decides whether inputs need code of their own: the values of the static ones, the shapes of the others."""

    static: _StaticKey
    shapes: tuple[tuple[int, ...], ...]


class CompiledStage:
    """A program as one XLA function.

    It is compiled at the first call for each combination of input shapes, and of the values of `static_inputs`. The values of
    written variables are donated: the arrays passed for them must not be used afterwards. Code that can be stopped donates
    none.

    Args:
        program: what to compile.
        static_inputs: the inputs whose values the code depends on.
        device: the JAX device to run on; JAX's default when None.
        leaving: the places of outputs that are only looked at on the host; see `leaving_values`.
        is_light: whether the code computes on the calling thread; see `calling_thread`. `device` is not used then, and the
            program has no variables.
    """

    def __init__(
        self,
        program: Program,
        static_inputs: Sequence[int] = (),
        device: jax.Device | None = None,
        leaving: Sequence[int] = (),
        is_light: bool = False,
    ) -> None:
        start()
        self._program = program
        self._static = tuple(static_inputs)
        self._dynamic = [i for i in range(len(program.inputs)) if i not in set(static_inputs)]
        self.written = sorted(program.written_slots)
        self.read_only = sorted(program.read_slots - program.written_slots)
        # A variable that is overwritten before it is read has no value to pass in.
        self.updated = [number for number in self.written if number in program.read_slots]
        self._device = calling_thread_device() if is_light else device
        self._is_on_cpu = (self._device or jax.devices()[0]).platform == "cpu"
        self._leaving = leaving
        self.is_light = is_light
        # An accelerator's memory is scarce: where variables are updated there, they are, and the code runs to its end.
        is_stoppable = has_loops(program) and (self._is_on_cpu or not self.written)
        self.stops = Stops([program]) if is_stoppable else None
        """How runs are stopped; None for code without loops. A call gets the argument that it gives."""
        self._functions: dict[_StaticKey, _Code] = {}
        # The sizes for which there is code. It grows when JAX traces, which it does once for each of them.
        self._ready: set[Signature] = set()
        self.compile_s = 0.0
        """How long tracing and compiling have taken, in seconds."""
        self._traced_at_s = 0.0
        # Puts interrupts off while the main thread compiles; only that thread sets it.
        self._compiling: deferred_interrupts | None = None

    @property
    def compilations(self) -> int:
        """For how many combinations of input shapes and static values there is code."""
        return len(self._ready)

    def signature(self, inputs: Sequence[Array]) -> Signature:
        """The signature of these inputs."""
        return Signature(
            _static_key([np.asarray(inputs[i]) for i in self._static]), tuple(inputs[i].shape for i in self._dynamic)
        )

    def is_ready(self, signature: Signature) -> bool:
        """Whether there is code for inputs of this signature."""
        return signature in self._ready

    def operations(self, inputs: Sequence[Array], reads: Sequence[Array], updates: Sequence[Array]) -> float:
        """How many floating-point operations XLA counts in the code for inputs of these shapes; takes about as long as tracing.

        Nothing is compiled for that.
        """
        indices = [np.uint64(0)] * len(self._program.random_nodes) if self._program.random_nodes else ()
        static = [np.asarray(inputs[i]) for i in self._static]
        function = jax.jit(self._traceable(_static_key(static), static))
        # Nothing is run, so what was donated meanwhile may be told of by its shape.
        shaped = [[_shape_of(value) for value in each] for each in (inputs, reads, updates)]
        dynamic = shaped[0] if not self._static else [shaped[0][i] for i in self._dynamic]
        ready = self._ready.copy()
        with jax.enable_x64(True), contextlib.nullcontext() if self._device is None else jax.default_device(self._device):
            looks = () if self.stops is None else (jax.ShapeDtypeStruct((1 + len(self.stops),), np.int32),)  # type: ignore[no-untyped-call]
            try:
                counted = function.lower(dynamic, shaped[1], shaped[2], indices, *looks).cost_analysis()
            finally:
                self._end_compiling()
        self._ready = ready
        return float((counted or {}).get("flops", 0.0))

    def __call__(
        self,
        inputs: Sequence[Array],
        reads: Sequence[Array],
        updates: Sequence[Array],
        run_indices: Sequence[Array],
        looks: Sequence[Array] = (),
    ) -> tuple[Sequence[Array] | LeavingValues, Sequence[Array]]:
        """Dispatch; returns the outputs and the new values of the written variables, which may still be being computed.

        The outputs are for `outputs_of`, which may wait.
        """
        check()
        known = len(self._ready)
        try:
            results = self._dispatch(inputs, reads, updates, run_indices, looks)
        finally:
            if self._compiling is not None:
                self._end_compiling()
        if len(self._ready) > known:
            self.compile_s += time.perf_counter() - self._traced_at_s
            if len(self._ready) > CODE_LIMIT:
                # Sizes that are compiled each and never repeat: begin anew rather than keep all code.
                self._functions.clear()
                self._ready.clear()
        return results

    def _begin_compiling(self) -> None:
        """Put interrupts off until the end of the call. Only the function that JAX traces gets to know that JAX compiles."""
        if is_main_thread() and self._compiling is None:
            self._compiling = deferred_interrupts()
            self._compiling.__enter__()

    def _end_compiling(self) -> None:
        if self._compiling is not None and is_main_thread():
            compiling, self._compiling = self._compiling, None
            compiling.__exit__()

    def _dispatch(
        self,
        inputs: Sequence[Array],
        reads: Sequence[Array],
        updates: Sequence[Array],
        run_indices: Sequence[Array],
        looks: Sequence[Array],
    ) -> tuple[Sequence[Array] | LeavingValues, Sequence[Array]]:
        if self.is_light:
            inputs = usable(inputs)
        with jax.enable_x64(True), contextlib.nullcontext() if self._device is None else jax.default_device(self._device):
            if not self._static:
                function = self._functions.get(()) or self._make((), ())
                return function(inputs, reads, updates, run_indices, *looks)
            static = [np.asarray(inputs[i]) for i in self._static]
            key = _static_key(static)
            function = self._functions.get(key) or self._make(key, static)
            return function([inputs[i] for i in self._dynamic], reads, updates, run_indices, *looks)

    def _make(self, key: _StaticKey, static: Sequence[np.ndarray]) -> _Code:
        if len(self._functions) >= CODE_LIMIT:
            # A feed that decides a shape and never repeats: forget old code rather than keep all of it.
            oldest = next(iter(self._functions))
            self._functions.pop(oldest)
            self._ready = {signature for signature in self._ready.copy() if signature.static != oldest}
        options = COMPILER_OPTIONS if self.is_light else None
        compiled = jit(
            self._traceable(key, static), self._device, options, donate_argnums=() if self.stops is not None else (2,)
        )
        self._functions[key] = _quiet_first_call(compiled, self._functions, key)
        return self._functions[key]

    def _traceable(self, key: _StaticKey, static: Sequence[np.ndarray]) -> _Code:
        """The program as a function of traced arrays."""
        program = self._program

        def stage(
            inputs: Sequence[Array],
            reads: Sequence[Array],
            updates: Sequence[Array],
            run_indices: Sequence[Array],
            *looks: Array,
        ) -> tuple[list[Array] | LeavingValues, list[Array]]:
            self._traced_at_s = time.perf_counter()
            self._begin_compiling()
            self._ready.add(Signature(key, tuple(value.shape for value in inputs)))
            if static:
                merged: list[Array] = [None] * len(program.inputs)
                for position, value in zip(self._static, static, strict=True):
                    merged[position] = value
                for position, value in zip(self._dynamic, inputs, strict=True):
                    merged[position] = value
                inputs = merged
            values: list[Array] = [None] * len(program.slots)
            for number, value in zip(self.read_only, reads, strict=True):
                values[number] = value
            for number, value in zip(self.updated, updates, strict=True):
                values[number] = value
            with contextlib.nullcontext() if self.stops is None else self.stops.traced(*looks):
                outputs = trace(program, inputs, TracedState(values), run_indices)
            if any(getattr(output, "dtype", None) == np.object_ for output in outputs):
                raise UnimplementedError.of("TensorArray: XLA has no array of elements of unlike shapes")
            return join([jnp.asarray(o) for o in outputs], self._leaving), [jnp.asarray(values[n]) for n in self.written]

        return stage


def _shape_of(value: Array) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(value.shape, value.dtype)  # type: ignore[no-untyped-call]


def outputs_of(results: Sequence[Array] | LeavingValues) -> Sequence[Array]:
    """The outputs of a call in order; waits for those that were joined."""
    return results.values() if isinstance(results, LeavingValues) else results


def _static_key(static: Sequence[np.ndarray]) -> _StaticKey:
    return tuple((value.shape, value.dtype.str, value.tobytes()) for value in static)


def _quiet_first_call(compiled: _Code, functions: dict[_StaticKey, _Code], key: _StaticKey) -> _Code:
    """Compiles and runs, uninterrupted and quietly.

    JAX warns when a donated array cannot be reused, as when a variable changes its shape; that is no news here.
    """

    def first(*arguments: Array) -> tuple[Sequence[Array] | LeavingValues, Sequence[Array]]:
        with deferred_interrupts(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
            result = compiled(*arguments)
        functions[key] = compiled
        return result

    return first


def wait_or_raise(values: Sequence[Array], check: Callable[[], None]) -> None:
    """As `wait_until_ready`, for an execution that takes long: `check` is called meanwhile, and may raise to end the wait.

    It looks, rather than blocks in XLA: there neither an interrupt nor the end of the process would find the thread. The time
    between two looks is a hundredth of what has passed.
    """
    value = next((value for value in values if not isinstance(value, np.ndarray)), None)
    if value is None:
        return
    begin_s = time.monotonic()
    while not value.is_ready():
        check()
        time.sleep(min(max((time.monotonic() - begin_s) / 100, _SHORTEST_LOOK_S), _LONGEST_LOOK_S))
    # What went wrong in it is told now.
    value.block_until_ready()


def wait_until_ready(values: Sequence[Array]) -> None:
    """Block until the execution that makes these values is over; what one makes is ready at once."""
    for value in values:
        if not isinstance(value, np.ndarray):
            value.block_until_ready()
            return
