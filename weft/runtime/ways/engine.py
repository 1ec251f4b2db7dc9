"""The engine: everything that touches JAX at run time. It starts with the first stage that is compiled, not before.

Until then the process has no JAX threads and may fork. A child forked after that cannot use the engine, and says so at once.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from weft.runtime.program.program import Program, set_lone_namespace
from weft.runtime.state.state import TracedState
from weft.runtime.ways.leaving_values import LeavingValues, join
from weft.runtime.xla.calling_thread import COMPILER_OPTIONS, calling_thread_device, usable
from weft.runtime.xla.compiler_options import jit
from weft.runtime.xla.xla_process import check, start

# For how many sizes of its inputs, and values of its static ones, a stage has code.
CODE_LIMIT: Final = 64


class CompiledStage:
    """A program as one XLA function.

    It is compiled at the first call for each combination of input shapes, and of the values of `static_inputs`. The values of
    written variables are donated: the arrays passed for them must not be used afterwards.

    Args:
        program: what to compile.
        static_inputs: the inputs whose values the code depends on.
        device: the JAX device to run on; JAX's default when None.
        leaving: the places of outputs that are only looked at on the host; see `leaving_values`.
        light_bytes: if given, the code computes on the calling thread, and is for inputs of no more bytes than that and a
            program without variables; see `calling_thread`. `device` is not used then.
    """

    def __init__(
        self,
        program: Program,
        static_inputs: Sequence[int] = (),
        device: Any = None,
        leaving: Sequence[int] = (),
        light_bytes: int | None = None,
    ) -> None:
        start()
        self._program = program
        self._static = tuple(static_inputs)
        self._dynamic = [i for i in range(len(program.inputs)) if i not in set(static_inputs)]
        self.written = sorted(program.written_slots)
        self.read_only = sorted(program.read_slots - program.written_slots)
        # A variable that is overwritten before it is read has no value to pass in.
        self.updated = [number for number in self.written if number in program.read_slots]
        self._device = device if light_bytes is None else calling_thread_device()
        self._leaving = leaving
        self._light_bytes = light_bytes
        self._functions: dict[Any, Callable[..., Any]] = {}
        # The sizes for which there is code. It grows when JAX traces, which it does once for each of them.
        self._ready: set[Any] = set()
        self._compiling_s = 0.0
        self._compiled = 0

    @property
    def is_light(self) -> bool:
        """Whether the code computes on the calling thread."""
        return self._light_bytes is not None

    @property
    def compilations(self) -> int:
        """For how many combinations of input shapes and static values there is code."""
        return len(self._ready)

    @property
    def compile_s(self) -> float:
        """How long compiling for one combination has taken in the mean, in seconds."""
        return self._compiling_s / max(self._compiled, 1)

    def signature(self, inputs: Sequence[Any]) -> tuple[Any, Any]:
        """What decides whether inputs need code of their own: the values of the static ones, the shapes of the others."""
        return _static_key([np.asarray(inputs[i]) for i in self._static]), tuple(inputs[i].shape for i in self._dynamic)

    def is_ready(self, signature: tuple[Any, Any]) -> bool:
        """Whether there is code for inputs of this signature."""
        return signature in self._ready

    def __call__(
        self, inputs: Sequence[Any], reads: Sequence[Any], updates: Sequence[Any], run_indices: Sequence[Any]
    ) -> tuple[Sequence[Any] | LeavingValues, Sequence[Any]]:
        """Dispatch; returns the outputs and the new values of the written variables, which may still be being computed.

        The outputs are for `outputs_of`, which may wait.

        Raises:
            TooLargeError: the code is for small inputs, and these are not.
        """
        check()
        known, start = len(self._ready), time.perf_counter()
        results = self._dispatch(inputs, reads, updates, run_indices)
        if len(self._ready) > known:
            self._compiling_s += time.perf_counter() - start
            self._compiled += 1
            if len(self._ready) > CODE_LIMIT:
                # Sizes that are compiled each and never repeat: begin anew rather than keep all code.
                self._functions.clear()
                self._ready.clear()
        return results

    def _dispatch(
        self, inputs: Sequence[Any], reads: Sequence[Any], updates: Sequence[Any], run_indices: Sequence[Any]
    ) -> tuple[Sequence[Any] | LeavingValues, Sequence[Any]]:
        if self._light_bytes is not None:
            inputs = usable(inputs)
        with jax.enable_x64(True), contextlib.nullcontext() if self._device is None else jax.default_device(self._device):
            if not self._static:
                function = self._functions.get(()) or self._make((), ())
                return function(inputs, reads, updates, run_indices)  # type: ignore[no-any-return]
            static = [np.asarray(inputs[i]) for i in self._static]
            key = _static_key(static)
            function = self._functions.get(key) or self._make(key, static)
            return function([inputs[i] for i in self._dynamic], reads, updates, run_indices)  # type: ignore[no-any-return]

    def _make(self, key: Any, static: Sequence[Any]) -> Callable[..., Any]:
        if len(self._functions) >= CODE_LIMIT:
            # A feed that decides a shape and never repeats: forget old code rather than keep all of it.
            oldest = next(iter(self._functions))
            self._functions.pop(oldest)
            self._ready = {signature for signature in self._ready.copy() if signature[0] != oldest}
        program = self._program

        def stage(inputs: Any, reads: Any, updates: Any, run_indices: Any) -> Any:
            self._check_size(inputs)
            self._ready.add((key, tuple(value.shape for value in inputs)))
            if static:
                merged: list[Any] = [None] * len(program.inputs)
                for position, value in zip(self._static, static, strict=True):
                    merged[position] = value
                for position, value in zip(self._dynamic, inputs, strict=True):
                    merged[position] = value
                inputs = merged
            values: list[Any] = [None] * len(program.slots)
            for number, value in zip(self.read_only, reads, strict=True):
                values[number] = value
            for number, value in zip(self.updated, updates, strict=True):
                values[number] = value
            state = TracedState(values)
            outputs = program.run(jnp, inputs, state, run_indices)
            return join([jnp.asarray(o) for o in outputs], self._leaving), [jnp.asarray(state.values[n]) for n in self.written]

        options = None if self._light_bytes is None else COMPILER_OPTIONS
        compiled = jit(stage, self._device, options, donate_argnums=(2,))
        self._functions[key] = _quiet_first_call(compiled, self._functions, key)
        return self._functions[key]

    def _check_size(self, inputs: Sequence[Any]) -> None:
        size_bytes = sum(value.size * value.dtype.itemsize for value in inputs)
        if self._light_bytes is not None and size_bytes > self._light_bytes:
            raise TooLargeError


class TooLargeError(Exception):
    """The inputs are larger than those for which computing on the calling thread was found to be worth it."""


def outputs_of(results: Sequence[Any] | LeavingValues) -> Sequence[Any]:
    """The outputs of a call in order; waits for those that were joined."""
    return results.values() if isinstance(results, LeavingValues) else results


def _static_key(static: Sequence[Any]) -> tuple[Any, ...]:
    return tuple((value.shape, value.dtype.str, value.tobytes()) for value in static)


def _quiet_first_call(compiled: Callable[..., Any], functions: dict[Any, Any], key: Any) -> Callable[..., Any]:
    """JAX warns when a donated array cannot be reused, as when a variable changes its shape; that is no news here."""

    def first(*arguments: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
            result = compiled(*arguments)
        functions[key] = compiled
        return result

    return first


def is_stale(error: Exception) -> bool:
    """Whether a dispatch failed only because another step had just donated an array that this one wanted to read."""
    text = str(error)
    return "deleted" in text or "donated" in text


def wait_until_ready(values: Sequence[Any]) -> None:
    """Block until the execution that makes these values is over; what one makes is ready at once."""
    for value in values:
        if not isinstance(value, np.ndarray):
            value.block_until_ready()
            return


@contextlib.contextmanager
def namespace_for(instruction: Any) -> Iterator[Any]:
    """The namespace for running one instruction by itself: NumPy, unless its kernel needs JAX."""
    if not instruction.op.op_def.compiled_only:
        yield np
        return
    start()
    with jax.enable_x64(True):
        yield jnp


set_lone_namespace(namespace_for)
