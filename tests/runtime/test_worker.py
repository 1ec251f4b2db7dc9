"""A worker runs the graphs that sessions registered, takes values early, and ends what is given up."""

from __future__ import annotations

import threading
import weakref
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.runtime.conftest import MakeParts
from weft.errors import AbortedError, CancelledError, OpError, UnavailableError
from weft.protocol.limits import ServerLimits
from weft.protocol.messages import Push
from weft.runtime import worker as worker_module
from weft.runtime.executor import Executor
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.step.step import Step
from weft.runtime.worker import Worker

TASK = "/job:a/replica:0/task:0"
PATIENCE_S = 20.0


@pytest.fixture
def worker() -> Worker:
    worker = Worker(TASK, [f"{TASK}/device:CPU:0"], 42, ResourceManager("a"))
    worker.sessions.create("s", tf.ConfigProto(), isolate=False)
    return worker


class Outcome:
    """Where a step reports its end."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._step: Step | None = None
        self.times = 0

    def __call__(self, step: Step) -> None:
        self._step = step
        self.times += 1
        self._over.set()

    @property
    def step(self) -> Step:
        assert self._over.wait(PATIENCE_S)
        assert self._step is not None
        return self._step

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    @property
    def values(self) -> list[Any]:
        if self.step.error is not None:
            raise self.step.error
        return [np.asarray(value).tolist() for value in self.step.fetches]


def waiting_graph(make_parts: MakeParts) -> Any:
    """A partition of job a that waits for a value of job b."""
    with tf.device("/job:b"):
        there = tf.random_uniform([], name="there")
    return make_parts([tf.square(there)])["a"]


def test_a_registered_graph_runs(worker: Worker, make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32)
    handle = worker.register("s", make_parts([tf.square(x)], [x])["a"])
    outcome = Outcome()
    worker.run_graph(1, handle, [np.float32(3)], outcome)
    assert outcome.values == [9.0]
    assert worker.live_steps == 0


@pytest.mark.parametrize("early", [True, False])
def test_a_value_may_come_before_or_after_its_step(worker: Worker, make_parts: MakeParts, early: bool) -> None:
    part = waiting_graph(make_parts)
    handle = worker.register("s", part)
    edges = [edge.number for edge in part.recvs.values()]
    outcome = Outcome()
    if early:
        worker.receive(Push(1, tuple(edges), (np.float32(3),)))
        worker.run_graph(1, handle, [], outcome)
    else:
        worker.run_graph(1, handle, [], outcome)
        assert not outcome.is_over
        worker.receive(Push(1, tuple(edges), (np.float32(3),)))
    assert outcome.values == [9.0]
    worker.receive(Push(1, tuple(edges), (np.float32(3),)))


class Inbox(SimpleQueue[Any]):
    """What a thread that waits for a step, and reads messages meanwhile, is to do."""


def test_work_that_a_message_makes_possible_goes_to_the_inbox(worker: Worker, make_parts: MakeParts) -> None:
    part = waiting_graph(make_parts)
    handle = worker.register("s", part)
    inbox: Any = Inbox()
    outcome = Outcome()
    worker.run_graph(1, handle, [], outcome, inbox=inbox)
    worker.receive(Push(1, tuple(edge.number for edge in part.recvs.values()), (np.float32(3),)))
    assert not outcome.is_over
    inbox.get(timeout=PATIENCE_S)()
    assert outcome.values == [9.0]


def test_a_step_that_is_given_up_ends_with_the_reason(worker: Worker, make_parts: MakeParts) -> None:
    handle = worker.register("s", waiting_graph(make_parts))
    outcome = Outcome()
    worker.run_graph(1, handle, [], outcome)
    worker.abort(1, AbortedError(None, None, "given up"))
    worker.abort(1, AbortedError(None, None, "again"))
    assert isinstance(outcome.step.error, AbortedError)
    assert outcome.times == 1
    assert worker.live_steps == 0


def test_a_step_that_was_given_up_before_it_came_runs_nothing(worker: Worker, make_parts: MakeParts) -> None:
    ran = threading.Event()
    node = tf.py_func(lambda: ran.set() or np.float32(1), [], tf.float32)
    handle = worker.register("s", make_parts([node])["a"])
    outcome = Outcome()
    worker.abort(1, AbortedError(None, None, "given up"))
    worker.run_graph(1, handle, [], outcome)
    assert isinstance(outcome.step.error, OpError)
    assert not ran.is_set()


def test_closing_a_session_ends_its_steps_and_forgets_its_graphs(worker: Worker, make_parts: MakeParts) -> None:
    worker.sessions.create("other", tf.ConfigProto(), isolate=False)
    part = waiting_graph(make_parts)
    handle, other = worker.register("s", part), worker.register("other", part)
    mine, others = Outcome(), Outcome()
    worker.run_graph(1, handle, [], mine)
    worker.run_graph(2, other, [], others)
    worker.close_session("s")
    assert isinstance(mine.step.error, CancelledError)
    assert "Session::Close" in mine.step.error.message
    assert not others.is_over
    with pytest.raises(AbortedError, match="is not registered with /job:a/replica:0/task:0"):
        worker.run_graph(3, handle, [], Outcome())
    worker.receive(Push(2, tuple(edge.number for edge in part.recvs.values()), (np.float32(3),)))
    assert others.values == [9.0]


def test_a_session_that_is_not_known_is_told(worker: Worker, make_parts: MakeParts) -> None:
    part = make_parts([tf.constant(1.0)])["a"]
    with pytest.raises(AbortedError, match="Session handle 'unknown' is not known"):
        worker.register("unknown", part)
    handle = worker.register("s", part)
    worker.deregister(handle)
    worker.deregister(handle)
    with pytest.raises(AbortedError, match="is not registered"):
        worker.executor(handle)


def test_a_session_that_was_closed_does_not_begin_again(worker: Worker, make_parts: MakeParts) -> None:
    worker.close_session("late")  # overtook the request that begins it
    with pytest.raises(AbortedError, match=r"Session handle 'late' is not known .* or the session was closed"):
        worker.sessions.create("late", tf.ConfigProto(), isolate=False)
    with pytest.raises(AbortedError, match="Session handle 'late' is not known"):
        worker.register("late", make_parts([tf.constant(1.0)])["a"])


def test_a_session_that_is_closed_while_its_graph_is_prepared_leaves_none(
    worker: Worker, make_parts: MakeParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def close_meanwhile(*arguments: Any) -> Executor:
        worker.close_session("s")
        return Executor(*arguments)

    monkeypatch.setattr(worker_module, "Executor", close_meanwhile)
    with pytest.raises(AbortedError, match="Session handle 's' is not known"):
        worker.register("s", make_parts([tf.constant(1.0)])["a"])
    assert worker.graph_count == 0


def test_values_for_steps_that_never_start_do_not_wait_for_the_next_message(make_parts: MakeParts) -> None:
    worker = Worker("/job:a/replica:0/task:0", [], 1, ResourceManager("a"), limits=ServerLimits(early_s=0))
    worker.sessions.create("s", tf.ConfigProto(), isolate=False)
    value = np.zeros(1 << 20)
    alive = weakref.ref(value)
    worker.receive(Push(1, (0,), (value,)))
    del value
    assert alive() is not None
    worker.give_up_late_steps()
    assert alive() is None
    outcome = Outcome()
    worker.run_graph(1, worker.register("s", waiting_graph(make_parts)), [], outcome)
    assert "got tensors but was not started within 0 s" in outcome.step.error.message


def test_a_stopped_worker_ends_its_steps_and_takes_no_more(worker: Worker, make_parts: MakeParts) -> None:
    handle = worker.register("s", waiting_graph(make_parts))
    outcome = Outcome()
    worker.run_graph(1, handle, [], outcome)
    worker.stop(UnavailableError(None, None, "stopped"))
    assert isinstance(outcome.step.error, UnavailableError)
    with pytest.raises(UnavailableError, match="stopped"):
        worker.run_graph(2, handle, [], Outcome())
    assert worker.live_steps == 0


def test_sessions_share_state_unless_they_are_isolated(worker: Worker, make_parts: MakeParts) -> None:
    variable = tf.Variable(1.0, use_resource=False)
    update = variable.assign_add(1.0)
    parts = {"init": make_parts(targets=[variable.initializer])["a"], "update": make_parts([update])["a"]}
    worker.sessions.create("shared", tf.ConfigProto(), isolate=False)
    worker.sessions.create("isolated", tf.ConfigProto(), isolate=True)
    step_ids = iter(range(1, 100))

    def run(session: str, what: str) -> list[Any]:
        outcome = Outcome()
        worker.run_graph(next(step_ids), worker.register(session, parts[what]), [], outcome)
        return outcome.values

    run("s", "init")
    assert run("shared", "update") == [2.0]
    with pytest.raises(OpError, match="Attempting to use uninitialized value"):
        run("isolated", "update")
    run("isolated", "init")
    assert run("isolated", "update") == [2.0]
    assert run("s", "update") == [3.0]
