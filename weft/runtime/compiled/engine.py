"""The engine: everything that touches JAX at run time. It starts with the first stage that is compiled, not before.

Until then the process has no JAX threads and may fork. A child forked after that cannot use the engine, and says so at once.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from weft.errors import UnimplementedError
from weft.framework.building.aliases import Array
from weft.ops.nn import onednn_convolution
from weft.platform.imports.jax_modules import jax, jnp
from weft.platform.process.interrupts import deferred_interrupts, is_main_thread
from weft.platform.waits.wait_watch import Watched
from weft.runtime.compiled.code_price import code_price
from weft.runtime.compiled.input_memory import InputMemory
from weft.runtime.compiled.jitted_function import Code, JittedFunction, Results, quietly
from weft.runtime.compiled.leaving_values import LeavingValues, join
from weft.runtime.compiled.stoppable import Stops, has_loops
from weft.runtime.compiled.traced.state import TracedState
from weft.runtime.compiled.traced.streams import TakenBlocks, TracedStream
from weft.runtime.compiled.traced.tracing import trace
from weft.runtime.program.program import Program
from weft.runtime.recording import code_news
from weft.runtime.xla.calling_thread import COMPILER_OPTIONS, calling_thread_device
from weft.runtime.xla.code_cache import cache_hits
from weft.runtime.xla.compiler_options import jit
from weft.runtime.xla.xla_process import check, start

_OF_COMPILING: Final = "Later runs take the code; where shapes change in each step, pad them to a few sizes."
# For how many sizes of its inputs, and values of its static ones, a stage has code.
CODE_LIMIT: Final = 64

_IS_AHEAD: Final[ContextVar[bool]] = ContextVar("is_ahead", default=False)
"""Whether what is traced now is not to run yet."""

_StaticKey: TypeAlias = tuple[tuple[tuple[int, ...], str, bytes], ...]
"""Shape, dtype and bytes of each static input: the code has these values in it."""


class Signature(NamedTuple):
    """What decides whether inputs need code of their own: the values of the static ones, the shapes of the others."""

    static: _StaticKey
    shapes: tuple[tuple[int, ...], ...]


class Shaped(NamedTuple):
    """What code depends on of an array."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @staticmethod
    def of(value: Array) -> Shaped:
        """The shape and type of an array, or of what stands for one."""
        return Shaped(value.shape, value.dtype)


class CompiledStage:
    """A program as one XLA function.

    It is compiled for each combination of input shapes, and of the values of `static_inputs`: ahead by `prepare`, or else at
    the first call. The values of written variables are donated: the arrays passed for them must not be used afterwards. Code
    that can be stopped donates none.

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
        # Whether there may be more than one size of the inputs.
        self._has_sizes = bool(self._static) or not all(tensor.shape.is_fully_defined() for tensor in program.inputs)
        self.written = sorted(program.written_slots)
        self.read_only = sorted(program.read_slots - program.written_slots)
        # A variable that is overwritten before it is read has no value to pass in.
        self.updated = [number for number in self.written if number in program.read_slots]
        self._device = calling_thread_device() if is_light else device
        self._is_on_cpu = (self._device or jax.devices()[0]).platform == "cpu"
        self.memory = InputMemory(program.inputs)
        """Where inputs are laid out."""
        self._leaving = leaving
        self.is_light = is_light
        # An accelerator's memory is scarce: where variables are updated there, they are, and the code runs to its end.
        is_stoppable = has_loops(program) and (self._is_on_cpu or not self.written)
        self.stops = Stops([program]) if is_stoppable else None
        """How runs are stopped; None for code without loops. A call gets the argument that it gives."""
        self._functions: dict[_StaticKey, JittedFunction] = {}
        # The sizes for which there is code. In a call it grows when JAX traces, which it does once for each of them.
        self._ready: set[Signature] = set()
        self._taken: TakenBlocks[Signature | None] = TakenBlocks(CODE_LIMIT)
        self.moving = program.moving_randoms
        """The random nodes that are in branches or loops."""
        self.compile_s = 0.0
        """How long calls have traced and compiled, in seconds."""
        self.ahead_s = 0.0
        """How long `prepare` has."""
        self.cached = 0
        """For how many sizes `prepare` has found its code in the folder of compiled code."""
        self.flops: float | None = None
        """How many floating-point operations XLA counts in the code that was prepared last; None before that."""
        self._traced_at_s = 0.0
        self._traces = 0
        # Puts interrupts off while the main thread compiles; only that thread sets it.
        self._compiling: deferred_interrupts | None = None

    @property
    def compilations(self) -> int:
        """For how many combinations of input shapes and static values there is code."""
        return len(self._ready)

    def signature(self, inputs: Sequence[Array]) -> Signature:
        """The signature of these inputs."""
        return signature(inputs, self._static)

    def is_ready(self, signature: Signature) -> bool:
        """Whether there is code for inputs of this signature."""
        return signature in self._ready

    def is_ready_for(self, inputs: Sequence[Array]) -> bool:
        """Whether there is code for these inputs, as far as they and the graph tell. Asked before each run: 1 µs."""
        return self.signature(inputs) in self._ready if self._has_sizes else bool(self._ready)

    def _compiling_text(self) -> str:
        nodes = self._program.nodes
        return f"XLA has compiled {len(nodes)} nodes, up to {nodes[-1].name}, for shapes that had not come before,"

    def prepare(
        self,
        inputs: Sequence[Array | Shaped],
        reads: Sequence[Array | Shaped],
        updates: Sequence[Array | Shaped],
        in_step: bool = False,
    ) -> None:
        """Compile for inputs and variables of these shapes, and run nothing: beside the steps, or `in_step`.

        Raises:
            OpError: a kernel refused what it got; the error carries the node. JAX raises other errors for what XLA lacks.
        """
        check()
        begin_s, begin_cpu_s = time.perf_counter(), time.process_time()
        static = [np.asarray(inputs[i]) for i in self._static]
        key = _static_key(static)
        with contextlib.ExitStack() as ended, self._ahead():
            ended.callback(self._end_compiling)
            function = self._functions.get(key) or self._make(key, static)
            with onednn_convolution.counted() as products:
                traced = function.jitted.trace(*self._shaped_arguments(inputs, reads, updates))
            made = [Shaped.of(value) for value in traced.out_info[1]]
            kept = dict(zip(self.written, made, strict=True))
            # JAX warns of a donated array that no result has the shape of; see `JittedFunction`.
            is_quiet = all(kept[n] == Shaped.of(value) for n, value in zip(self.updated, updates, strict=True))
            with contextlib.nullcontext() if is_quiet else quietly():
                lowered = traced.lower()
            if self._has_sizes:
                self.flops = self._flops(lowered, products)
            hits = cache_hits.count
            with Watched(self._compiling_text, _OF_COMPILING):
                lowered.compile()
            self.cached += cache_hits.count > hits
        function.is_first = False
        self._note_ready(Signature(key, tuple(inputs[i].shape for i in self._dynamic)))
        self._functions[key] = function  # also if others were just forgotten
        took_s = time.perf_counter() - begin_s
        # On a busy machine it takes longer than it computes, and the process's other threads compute too: the less of the two.
        code_price.note(self._program.code_nodes, min(took_s, time.process_time() - begin_cpu_s))
        if in_step:
            self.compile_s += took_s
        else:
            self.ahead_s += took_s
        code_news.tell(self._program.nodes[-1].name, took_s)

    def operations(self, inputs: Sequence[Array], reads: Sequence[Array], updates: Sequence[Array]) -> float:
        """How many floating-point operations XLA counts in the code for inputs of these shapes; takes about as long as tracing.

        Nothing is compiled for that.
        """
        static = [np.asarray(inputs[i]) for i in self._static]
        function = jax.jit(self._traceable(_static_key(static), static))
        with self._ahead():
            try:
                with onednn_convolution.counted() as products:
                    lowered = function.lower(*self._shaped_arguments(inputs, reads, updates))
                return self._flops(lowered, products)
            finally:
                self._end_compiling()

    def _flops(self, lowered: jax.stages.Lowered, products: onednn_convolution.Products) -> float:
        by_xla = float((lowered.cost_analysis() or {}).get("flops", 0.0))
        return by_xla + products.flops if self._is_on_cpu else by_xla

    @contextlib.contextmanager
    def _ahead(self) -> Iterator[None]:
        """What is traced in the block is not to run yet."""
        before = _IS_AHEAD.set(True)
        try:
            with self._settings():
                yield
        finally:
            _IS_AHEAD.reset(before)

    @contextlib.contextmanager
    def _settings(self) -> Iterator[None]:
        with jax.enable_x64(True), contextlib.nullcontext() if self._device is None else jax.default_device(self._device):
            yield

    def _shaped_arguments(
        self, inputs: Sequence[Array | Shaped], reads: Sequence[Array | Shaped], updates: Sequence[Array | Shaped]
    ) -> list[Any]:
        """The arguments of what is traced, by their shapes: nothing is run, and an array may be donated meanwhile."""
        starts = [np.uint64(0)] * len(self._program.random_nodes)
        shaped = [[_shape_of(value) for value in each] for each in ([inputs[i] for i in self._dynamic], reads, updates)]
        looks = () if self.stops is None else (_shape_of(Shaped((1 + len(self.stops),), np.dtype(np.int32))),)
        return [*shaped, starts, *looks]

    def __call__(
        self,
        inputs: Sequence[Array],
        reads: Sequence[Array],
        updates: Sequence[Array],
        starts: Sequence[Array],
        looks: Sequence[Array] = (),
    ) -> Results:
        """Dispatch, with `starts`, the places of random nodes in their streams; results may still be being computed.

        The outputs are for `outputs_of`, which may wait.
        """
        check()
        known = self._traces
        try:
            results = self._dispatch(inputs, reads, updates, starts, looks)
        finally:
            if self._compiling is not None:
                self._end_compiling()
        if self._traces > known:
            took_s = time.perf_counter() - self._traced_at_s
            self.compile_s += took_s
            code_news.tell(self._program.nodes[-1].name, took_s)
        return results

    def known_blocks(self, inputs: Sequence[Array]) -> Sequence[int] | None:
        """How many blocks of its stream each random node takes in a run with these inputs; of one in a branch or loop, 0.

        None where the program has not been traced for them.
        """
        return self._taken.get(self.signature(inputs) if self._has_sizes else None)

    def blocks(self, inputs: Sequence[Array], reads: Sequence[Array], updates: Sequence[Array]) -> Sequence[int]:
        """As `known_blocks`, by tracing the program for that."""
        static = [np.asarray(inputs[i]) for i in self._static]
        with self._ahead(), contextlib.ExitStack() as ended:
            ended.callback(self._end_compiling)
            traced = self._traceable(_static_key(static), static)
            # Another thread may forget at once what was noted.
            while (known := self.known_blocks(inputs)) is None:
                jax.eval_shape(traced, *self._shaped_arguments(inputs, reads, updates))
        return known

    def _note_ready(self, signature: Signature) -> None:
        if len(self._ready) >= CODE_LIMIT:
            # Sizes that are compiled each and never repeat: begin anew rather than keep all code.
            self._functions.clear()
            self._ready.clear()
        self._ready.add(signature)

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
        starts: Sequence[Array],
        looks: Sequence[Array],
    ) -> Results:
        if self._is_on_cpu:
            inputs = self.memory.usable(inputs)
        with jax.enable_x64(True), contextlib.nullcontext() if self._device is None else jax.default_device(self._device):
            if not self._static:
                function = self._functions.get(()) or self._make((), ())
                # JAX tells lists from tuples.
                return function.call(inputs if type(inputs) is list else list(inputs), reads, updates, starts, *looks)
            static = [np.asarray(inputs[i]) for i in self._static]
            key = _static_key(static)
            function = self._functions.get(key) or self._make(key, static)
            return function.call([inputs[i] for i in self._dynamic], reads, updates, starts, *looks)

    def _make(self, key: _StaticKey, static: Sequence[np.ndarray]) -> JittedFunction:
        if len(self._functions) >= CODE_LIMIT:
            # A feed that decides a shape and never repeats: forget old code rather than keep all of it.
            oldest = next(iter(self._functions))
            self._functions.pop(oldest)
            self._ready = {signature for signature in self._ready.copy() if signature.static != oldest}
        options = COMPILER_OPTIONS if self.is_light else None
        compiled = jit(
            self._traceable(key, static), self._device, options, donate_argnums=() if self.stops is not None else (2,)
        )
        function = self._functions[key] = JittedFunction(compiled)
        return function

    def _traceable(self, key: _StaticKey, static: Sequence[np.ndarray]) -> Code:
        """The program as a function of traced arrays."""
        program = self._program

        def stage(
            inputs: Sequence[Array],
            reads: Sequence[Array],
            updates: Sequence[Array],
            starts: Sequence[Array],
            *looks: Array,
        ) -> tuple[list[Array] | LeavingValues, list[Array], list[Array]]:
            size = Signature(key, tuple(value.shape for value in inputs))
            if not _IS_AHEAD.get():
                self._traced_at_s = time.perf_counter()
                self._traces += 1
                self._note_ready(size)
            self._begin_compiling()
            if static:
                merged: list[Array] = [None] * len(program.inputs)
                for position, value in zip(self._static, static, strict=True):
                    merged[position] = value
                for position, value in zip(self._dynamic, inputs, strict=True):
                    merged[position] = value
                inputs = merged
            streams = [TracedStream(place) for place in starts]
            values: list[Array] = [None] * len(program.slots)
            for number, value in zip(self.read_only, reads, strict=True):
                values[number] = value
            for number, value in zip(self.updated, updates, strict=True):
                values[number] = value
            with contextlib.nullcontext() if self.stops is None else self.stops.traced(*looks):
                outputs = trace(program, inputs, TracedState(values), streams)
            self._taken.note(size if self._has_sizes else None, [stream.taken for stream in streams])
            if any(getattr(output, "dtype", None) == np.object_ for output in outputs):
                raise UnimplementedError.of("TensorArray: XLA has no array of elements of unlike shapes")
            left = [streams[number].place for number in self.moving]
            return join([jnp.asarray(o) for o in outputs], self._leaving), [jnp.asarray(values[n]) for n in self.written], left

        return stage


def _shape_of(value: Array | Shaped) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(value.shape, value.dtype)  # type: ignore[no-untyped-call]


def signature(inputs: Sequence[Array], static: Sequence[int] = ()) -> Signature:
    """The signature of inputs, of which code depends on the values of the static ones."""
    if not static:
        return Signature((), tuple([value.shape for value in inputs]))
    shapes = tuple([value.shape for place, value in enumerate(inputs) if place not in static])
    return Signature(_static_key([np.asarray(inputs[i]) for i in static]), shapes)


def outputs_of(results: Sequence[Array] | LeavingValues) -> Sequence[Array]:
    """The outputs of a call in order; waits for those that were joined."""
    return results.values() if isinstance(results, LeavingValues) else results


def _static_key(static: Sequence[np.ndarray]) -> _StaticKey:
    return tuple((value.shape, value.dtype.str, value.tobytes()) for value in static)
