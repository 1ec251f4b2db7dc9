"""A stage's code is made beside its steps, which go on on the host until it is there and are right whenever that is."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

import weft as tf
from weft.errors import InvalidArgumentError
from weft.runtime.choice import compile_rules
from weft.runtime.choice.changing_sizes import COMPILED_AT_ONCE
from weft.runtime.choice.compile_rules import COLD_RUNS
from weft.runtime.compiled import engine
from weft.runtime.compiled.code_price import CodePrice
from weft.runtime.compiled.engine import CompiledStage
from weft.runtime.state.session_state import DETERMINISM_VARIABLE
from weft.runtime.xla.compile_thread import compile_thread

LIMIT_S = 60.0


class Compiler:
    """The compiler behind a gate: what is prepared waits until it is open, and is noted."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.begun = threading.Semaphore(0)
        self.prepared: list[CompiledStage] = []
        self.tracing_threads: set[str] = set()
        self.failure: Exception | None = None

    def wait_until_begun(self) -> None:
        assert self.begun.acquire(timeout=LIMIT_S)

    def open(self) -> None:
        """Let everything through, and wait until nothing is left to compile."""
        self.gate.set()
        self.wait_until_idle()

    def wait_until_idle(self) -> None:
        idle = threading.Event()
        compile_thread.submit(idle.set)
        assert idle.wait(LIMIT_S)


class Cheap(CodePrice):
    """Code costs next to nothing, so that every stage that has run has paid for its own."""

    call_s = 0.0

    def code_s(self, nodes: int) -> float:
        return 1e-9


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[Compiler]:
    """Has sessions compile beside their steps, by a compiler behind a gate."""
    monkeypatch.delenv(DETERMINISM_VARIABLE, raising=False)
    monkeypatch.setattr(compile_rules, "code_price", Cheap())
    monkeypatch.setattr(compile_rules, "SMALL_BYTES", 0)
    compiler = Compiler()
    prepare, trace = CompiledStage.prepare, engine.trace

    def gated(self: CompiledStage, *arguments: Any) -> None:
        compiler.begun.release()
        assert compiler.gate.wait(LIMIT_S)
        if compiler.failure is not None:
            raise compiler.failure
        prepare(self, *arguments)
        compiler.prepared.append(self)

    def noting(*arguments: Any) -> Any:
        compiler.tracing_threads.add(threading.current_thread().name)
        return trace(*arguments)

    monkeypatch.setattr(CompiledStage, "prepare", gated)
    monkeypatch.setattr(engine, "trace", noting)
    yield compiler
    compiler.open()


class Counted:
    """A session with a variable that each step counts up by, and a result that depends on what is fed."""

    def __init__(self) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, [None])
            self.count = tf.get_variable("count", [], initializer=tf.zeros_initializer())
            with tf.control_dependencies([tf.assign_add(self.count, 1.0)]):
                self.y = tf.reduce_sum(tf.tanh(self.x) * 0.0 + self.x * 2.0)
            self.initializer = tf.global_variables_initializer()
        self.session = self.new_session()
        self.session.run(self.initializer)

    def new_session(self) -> tf.Session:
        return tf.Session(graph=self.graph)

    def step(self, size: int = 3, session: tf.Session | None = None) -> None:
        assert (session or self.session).run(self.y, {self.x: np.ones(size, np.float32)}) == 2.0 * size

    @property
    def row(self) -> Any:
        (row,) = self.session.explain(self.y, [self.x])
        return row


def test_steps_go_on_on_the_host_until_code_is_there(compiler: Compiler) -> None:
    model = Counted()
    ways = []
    for _ in range(COLD_RUNS + 10):
        model.step()
        ways.append(model.row.way)
    assert ways == ["interpreted so far"] * COLD_RUNS + ["compiling"] * 10
    assert model.row.compiled_runs == 0
    compiler.open()
    assert (model.row.way, model.row.sizes) == ("compiled", 1)
    for _ in range(10):
        model.step()
    assert (model.row.host_runs, model.row.compiled_runs) == (COLD_RUNS + 10, 10)
    assert model.row.compile_s > 0.0
    assert model.session.run(model.count) == COLD_RUNS + 20
    assert compiler.tracing_threads == {"weft-compile"}


def test_a_small_stage_stays_on_the_host_until_it_is_given_more(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_rules, "SMALL_BYTES", 1 << 20)
    monkeypatch.setattr(Cheap, "call_s", LIMIT_S)
    model = Counted()
    for _ in range(COLD_RUNS + 10):
        model.step()
    assert (model.row.way, model.row.compiled_runs) == ("host program, being small", 0)
    assert not compiler.begun.acquire(blocking=False)
    model.step(100)
    compiler.open()
    model.step(100)
    assert model.row.compiled_runs == 1
    model.step()
    assert (model.row.host_runs, model.row.compiled_runs) == (COLD_RUNS + 12, 1)


def test_explain_waits_for_code_if_it_is_told_to(compiler: Compiler) -> None:
    model = Counted()
    for _ in range(COLD_RUNS + 1):
        model.step()
    (row,) = tf.explain(model.y, [model.x], model.session, wait_s=0.01)
    assert row.way == "compiling"
    compiler.gate.set()
    (row,) = tf.explain(model.y, [model.x], model.session, wait_s=LIMIT_S)
    assert row.way == "compiled"


def test_a_large_stage_with_ops_that_only_xla_has_runs_before_its_code_is_there(compiler: Compiler) -> None:
    x = tf.placeholder(tf.float32, [3])
    y = tf.reduce_sum(tf.lgamma(x) + tf.qr(tf.reshape(x, [3, 1])).r[0, 0])
    for _ in range(compile_rules.ONLY_XLA_NODES):
        y = y + 1.0
    (gradient,) = tf.gradients(y, x)
    value = np.array([1.0, 2.0, 2.0], np.float32)
    expected = [-0.57721566, 0.42278434, 0.42278434]  # the digamma function; R is the norm, of three results
    with tf.Session() as session:
        found = [session.run([gradient, y], {x: value})[0] for _ in range(COLD_RUNS + 1)]
        sign = np.sign(session.run(tf.qr(np.reshape(value, [3, 1])).r))[0, 0]
        compiler.open()
        found.append(session.run([gradient, y], {x: value})[0])
    for each in found:
        np.testing.assert_allclose(each, expected + sign * value, rtol=1e-5)


def test_a_step_compiles_nothing_once_its_code_is_there(compiler: Compiler) -> None:
    model = Counted()
    for _ in range(COLD_RUNS + 1):
        model.step()
    compiler.open()
    events: list[str] = []

    def note(event: str, duration_s: float, **_: object) -> None:
        events.append(event)

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        model.step()
        model.step()  # now its variable is an array of XLA's
    finally:
        jax.monitoring.unregister_event_duration_listener(note)
    assert not events, "JAX has traced, lowered or compiled in a step"
    assert model.row.compiled_runs == 2


def test_random_numbers_go_on_where_they_were(compiler: Compiler) -> None:
    def draws(level: int) -> list[float]:
        config = tf.ConfigProto()
        config.graph_options.optimizer_options.global_jit_level = level
        with tf.Graph().as_default(), tf.Session(config=config) as session:
            y = tf.reduce_sum(tf.random_uniform([4], seed=7) * 2.0)
            made = []
            for run in range(COLD_RUNS + 6):
                if run == COLD_RUNS + 3:
                    compiler.open()
                made.append(session.run(y))
            return made

    np.testing.assert_allclose(draws(0), draws(tf.OptimizerOptions.OFF), rtol=1e-6)


def test_code_that_cannot_be_made_is_tried_in_the_step_which_tells(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Counted()
    compiler.failure = MemoryError("the compiler has no memory")
    for _ in range(COLD_RUNS + 1):
        model.step()
    compiler.open()

    def refuse(*_: object) -> None:
        raise InvalidArgumentError.of("XLA refuses it")

    monkeypatch.setattr(engine, "trace", refuse)
    for _ in range(2):
        with pytest.raises(InvalidArgumentError, match="XLA refuses it"):
            model.step()


def test_code_that_could_not_be_made_once_may_be_made_in_the_step(compiler: Compiler) -> None:
    model = Counted()
    compiler.failure = MemoryError("the compiler has no memory")
    for _ in range(COLD_RUNS + 1):
        model.step()
    compiler.open()
    model.step()
    assert (model.row.way, model.row.compiled_runs) == ("compiled", 1)
    assert model.session.run(model.count) == COLD_RUNS + 2


def test_what_xla_cannot_have_stays_on_the_host(compiler: Compiler) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        n = tf.placeholder(tf.int32, [])
        grown = tf.while_loop(
            lambda i, _: i < n, lambda i, a: (i + 1, tf.concat([a, a[-1:] + 1.0], 0)), [0, tf.zeros([1])],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
        )[1]  # fmt: skip
        compiler.gate.set()
        for _ in range(COLD_RUNS + 4):
            assert session.run(grown, {n: 3}).tolist() == [0, 1, 2, 3]
            compiler.wait_until_idle()
        assert {row.way for row in session.explain(grown, [n])} == {"host program"}


def test_a_step_that_fails_meanwhile_harms_nothing(compiler: Compiler) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, w = tf.placeholder(tf.float32, [None]), tf.get_variable("w", [3], initializer=tf.ones_initializer())
        y = tf.assign_add(w, x)
        session.run(w.initializer)
        for _ in range(COLD_RUNS + 1):
            session.run(y, {x: [1.0] * 3})
        for _ in range(3):
            with pytest.raises(InvalidArgumentError):
                session.run(y, {x: [1.0] * 2})
        compiler.open()
        with pytest.raises(InvalidArgumentError):
            session.run(y, {x: [1.0] * 2})
        assert session.run(y, {x: [1.0] * 3}).tolist() == [COLD_RUNS + 3.0] * 3


def test_nothing_is_compiled_of_variables_without_a_value(compiler: Compiler) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
        y = tf.tanh(w) * 2.0
        for _ in range(COLD_RUNS + 3):
            with pytest.raises(tf.errors.FailedPreconditionError, match="Attempting to use uninitialized value w"):
                session.run(y)
        session.run(w.initializer)
        for _ in range(COLD_RUNS + 1):
            session.run(y)
        compiler.open()
        assert len(compiler.prepared) == 1


def test_two_sessions_of_one_graph_compile_the_same_stage(compiler: Compiler) -> None:
    model = Counted()
    with model.new_session() as second:
        second.run(model.initializer)
        for _ in range(COLD_RUNS + 2):
            model.step()
            model.step(session=second)
        compiler.open()
        assert len(compiler.prepared) == 2
        for _ in range(3):
            model.step()
            model.step(session=second)
        assert model.session.run(model.count) == second.run(model.count) == COLD_RUNS + 5
    assert model.row.compiled_runs == 3


def test_many_threads_lose_no_step_when_code_comes(compiler: Compiler) -> None:
    model = Counted()
    for _ in range(COLD_RUNS + 1):
        model.step()
    compiler.wait_until_begun()
    steps, failures = 60, []

    def work() -> None:
        try:
            for _ in range(steps):
                model.step()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    compiler.open()
    for thread in threads:
        thread.join(LIMIT_S)
    assert not failures
    assert model.session.run(model.count) == COLD_RUNS + 1 + 4 * steps
    assert len(compiler.prepared) == 1


def _dies(something: weakref.ref[Any]) -> bool:
    gc.collect()
    return something() is None


def test_a_session_may_be_closed_while_its_code_is_made(compiler: Compiler) -> None:
    model, other = Counted(), Counted()
    for each in (model, other):
        for _ in range(COLD_RUNS + 1):
            each.step()
    compiler.wait_until_begun()
    model.session.close()
    other.session.close()
    waiting = weakref.ref(other.session)
    del other, each
    assert _dies(waiting)
    compiler.open()
    assert len(compiler.prepared) == 1, "what nobody waits for any more was compiled"
    with model.new_session() as session:
        session.run(model.initializer)
        model.step(session=session)


def test_sizes_that_keep_changing_never_compile_in_a_step(compiler: Compiler) -> None:
    compiler.gate.set()
    model = Counted()
    for size in range(1, 40):
        model.step(size)
        compiler.wait_until_idle()
    assert compiler.tracing_threads <= {"weft-compile"}
    assert model.row.sizes == 0


def test_few_sizes_are_compiled_while_the_first_is_not_ready(compiler: Compiler) -> None:
    model = Counted()
    for _ in range(COLD_RUNS):
        model.step(8)
    for size in range(1, 40):
        model.step(size)
    compiler.open()
    assert model.row.sizes <= COMPILED_AT_ONCE


def test_a_size_that_recurs_has_code_in_the_end(compiler: Compiler) -> None:
    compiler.gate.set()
    model = Counted()
    for size in range(1, COLD_RUNS + 4):
        model.step(size)
        compiler.wait_until_idle()
    before = model.row.sizes
    for _ in range(100_000):
        model.step(50)
        if model.row.sizes > before:
            break
        if model.row.host_runs % 100 == 0:
            compiler.wait_until_idle()
    assert model.row.sizes == before + 1
    assert compiler.tracing_threads == {"weft-compile"}


def _with_level(level: int) -> tf.ConfigProto:
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = level
    return config


def _first_compiled_run(session: tf.Session) -> int:
    x = tf.placeholder(tf.float32, [3])
    y = tf.tanh(x) * 2.0
    for run in range(COLD_RUNS + 3):
        session.run(y, {x: np.ones(3)})
        (row,) = session.explain(y, [x])
        if row.compiled_runs:
            return run
    return -1


@pytest.mark.parametrize("setting", ["level", "environment"])
def test_who_wants_the_same_numbers_each_time_waits_for_code(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    if setting == "environment":
        monkeypatch.setenv(DETERMINISM_VARIABLE, "1")
    with tf.Graph().as_default(), tf.Session(config=_with_level(int(setting == "level"))) as session:
        assert _first_compiled_run(session) == (COLD_RUNS if setting == "environment" else 0)
    assert not compiler.prepared


def test_what_only_xla_has_waits_for_its_code(compiler: Compiler) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        assert session.run(tf.digamma(x), {x: [1.0, 2.0]}) == pytest.approx([-0.5772157, 0.4227843])


def test_a_variable_that_changes_its_shape_is_prepared_quietly(compiler: Compiler) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.Variable(tf.ones([1]), validate_shape=False, use_resource=False)
        grown = tf.assign(w, tf.concat([w, tf.tanh(w[:1]) * 0.0], 0), validate_shape=False)
        session.run(w.initializer)
        for run in range(COLD_RUNS + 1):
            assert session.run(grown).shape == (run + 2,)
        compiler.open()
        assert len(compiler.prepared) == 1
