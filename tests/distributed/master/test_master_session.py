"""A session's plans are placed, cut and registered once, run, given back, and ended with it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.distributed.fake_workers import FakeWorker, device, on_both, task, workers_of
from weft.distributed.master.master_session import MasterSession
from weft.errors import AbortedError, CancelledError, DeadlineExceededError, UnavailableError
from weft.protocol.outcome_table import UNKNOWN_FATE

PATIENCE_S = 20.0


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def workers() -> dict[str, FakeWorker]:
    return workers_of("a", "b")


def open_session(workers: dict[str, FakeWorker], config: Any = None, on_close: Any = lambda: None) -> MasterSession:
    config = tf.ConfigProto() if config is None else config
    find: Any = workers.__getitem__
    return MasterSession("s", tf.get_default_graph(), find, [device("a"), device("b")], config, on_close, list)


def test_a_plan_is_registered_with_the_tasks_that_it_needs(workers: dict[str, FakeWorker]) -> None:
    x, there, here = on_both()
    session = open_session(workers)
    alone = session.prepare([x], [there], [])
    assert [len(worker.registered) for worker in workers.values()] == [1, 0]
    both = session.prepare([x], [there, here], [])
    (part,) = workers[task("b")].registered.values()
    assert [op.name for op in part.nodes] == ["here"]
    assert [edge.source for edge in part.recvs.values()] == [there]
    workers[task("a")].answers, workers[task("b")].answers = [np.float32(4)], [np.float32(-4)]
    assert alone.run([np.float32(2)]) == ([4], None)
    assert both.run([np.float32(2)])[0] == [4, -4]
    assert workers[task("a")].feeds == [[2], [2]]
    assert workers[task("b")].feeds == [[]]


def test_what_is_fed_and_fetched_comes_back_from_the_feeds(workers: dict[str, FakeWorker]) -> None:
    x, there, _ = on_both()
    workers[task("a")].answers = [np.float32(9)]
    plan = open_session(workers).prepare([x], [x, there, x], [])
    assert plan.run([np.float32(3)])[0] == [3, 9, 3]


def test_the_first_error_of_a_part_ends_the_others(workers: dict[str, FakeWorker]) -> None:
    x, there, here = on_both()
    session = open_session(workers)
    plan = session.prepare([x], [there, here], [])
    workers[task("b")].answers = UnavailableError(None, None, "b is gone")
    with pytest.raises(UnavailableError, match="b is gone"):
        plan.run([np.float32(2)])
    ((_, error),) = workers[task("a")].aborted
    # The part of "a" had been asked for as well.
    assert error.message == f"b is gone. Other tasks had parts of this step: {UNKNOWN_FATE}, in part"
    assert not workers[task("b")].aborted
    assert len(session.steps) == 0


def test_a_deadline_ends_a_step_everywhere_and_says_where_it_waits(workers: dict[str, FakeWorker]) -> None:
    x, there, here = on_both()
    config = tf.ConfigProto(operation_timeout_in_ms=20)
    plan = open_session(workers, config).prepare([x], [there, here], [])
    workers[task("b")].answers = [np.float32(1)]
    with pytest.raises(DeadlineExceededError, match=r"on /job:a/replica:0/task:0, blocked at deq \(QueueDequeueV2\)$"):
        plan.run([np.float32(2)])
    assert len(workers[task("a")].aborted) == 1
    assert not workers[task("b")].aborted


def test_closing_cancels_what_runs_and_refuses_what_comes(workers: dict[str, FakeWorker]) -> None:
    x, there, _ = on_both()
    closed: list[bool] = []
    session = open_session(workers, on_close=lambda: closed.append(True))
    plan = session.prepare([x], [there], [])
    errors: list[BaseException] = []

    def run() -> None:
        try:
            plan.run([np.float32(1)])
        except CancelledError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    assert workers[task("a")].asked.wait(PATIENCE_S)
    session.close()
    session.close()
    thread.join(PATIENCE_S)
    assert len(errors) == 1
    assert closed == [True]
    with pytest.raises(CancelledError, match="Session::Close"):
        plan.run([np.float32(1)])
    with pytest.raises(CancelledError):
        session.prepare([x], [there], [])


def test_a_graph_that_arrives_behind_its_session_s_end_is_forgotten(
    workers: dict[str, FakeWorker], monkeypatch: pytest.MonkeyPatch
) -> None:
    x, there, here = on_both()
    session = open_session(workers)
    register = FakeWorker.register

    def close_first(self: FakeWorker, *arguments: Any) -> str:
        session.close()
        return register(self, *arguments)

    monkeypatch.setattr(FakeWorker, "register", close_first)
    with pytest.raises(CancelledError, match="Session::Close"):
        session.prepare([x], [there, here], [])
    late = [worker for worker in workers.values() if worker.registered]
    assert [worker.closed for worker in late] == [["s"]]


def test_a_session_ends_with_the_error_that_it_is_given(workers: dict[str, FakeWorker]) -> None:
    x, there, _ = on_both()
    session = open_session(workers)
    session.close(AbortedError(None, None, "containers were reset"))
    with pytest.raises(AbortedError, match="containers were reset"):
        session.prepare([x], [there], [])


def test_a_task_that_was_restarted_gets_its_part_again(workers: dict[str, FakeWorker]) -> None:
    x, there, here = on_both()
    plan = open_session(workers).prepare([x], [there, here], [])
    for worker in workers.values():
        worker.answers = [np.float32(1)]
    plan.run([np.float32(1)])
    # The new run of task b knows nothing.
    workers[task("b")].registered.clear()
    workers[task("b")].incarnation = 2
    with pytest.raises(AbortedError, match=r"/job:b/replica:0/task:0 was restarted \(incarnation 2, before 1\)"):
        plan.run([np.float32(1)])
    plan.run([np.float32(1)])
    plan.run([np.float32(1)])
    assert [len(worker.registered) for worker in workers.values()] == [1, 1]


def test_a_restart_is_told_once_in_a_session_whichever_plan_meets_it(workers: dict[str, FakeWorker]) -> None:
    x, there, here = on_both()
    session = open_session(workers)
    plans = [session.prepare([x], fetches, []) for fetches in ([there, here], [here])]
    for worker in workers.values():
        worker.answers = [np.float32(1)]
    workers[task("b")].incarnation = 2
    with pytest.raises(AbortedError, match="was restarted"):
        session.prepare([x], [here], [])
    for plan in plans:
        plan.run([np.float32(1)])
    workers[task("b")].incarnation = 3
    with pytest.raises(AbortedError, match=r"incarnation 3, before 2"):
        plans[0].run([np.float32(1)])


def test_a_lost_connection_is_no_restart(workers: dict[str, FakeWorker]) -> None:
    x, there, here = on_both()
    plan = open_session(workers).prepare([x], [there, here], [])
    for worker in workers.values():
        worker.answers = [np.float32(1)]
    far = workers[task("b")]
    far.incarnation, far.returns_as = 0, 1
    plan.run([np.float32(1)])


def test_a_plan_that_is_dropped_is_deregistered_with_the_next(workers: dict[str, FakeWorker]) -> None:
    x, there, here = on_both()
    session = open_session(workers)
    plan = session.prepare([x], [there, here], [])
    del plan
    gc.collect()
    assert [worker.deregistered for worker in workers.values()] == [[], []]
    kept = session.prepare([x], [there], [])
    assert [worker.deregistered for worker in workers.values()] == [["graph-0"], ["graph-0"]]
    assert kept.parts.keys() == {task("a")}


def test_a_part_of_a_task_that_was_restarted_is_not_deregistered(workers: dict[str, FakeWorker]) -> None:
    x, there, _ = on_both()
    session = open_session(workers)
    plan = session.prepare([x], [there], [])
    workers[task("a")].incarnation = 2
    del plan
    gc.collect()
    with pytest.raises(AbortedError, match="was restarted"):
        session.prepare([x], [there], [])
    session.prepare([x], [there], [])
    assert not workers[task("a")].deregistered
