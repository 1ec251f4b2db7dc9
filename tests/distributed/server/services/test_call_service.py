"""A server serves each client as if it were the only one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.distributed.waiting import until
from weft.channel.waiting import reader_pool
from weft.distributed.client.remote_session import RemoteSession
from weft.distributed.client.remote_step import RemoteStep
from weft.distributed.server.server import Server
from weft.errors import CancelledError, DeadlineExceededError, OpError

PATIENCE_S = 20.0


class Clients:
    """Remote clients of one server, all on one graph."""

    def __init__(self) -> None:
        self.server = Server.create_local_server()
        self.sessions: list[RemoteSession] = []

    def prepare(self, fetch: Any, *feeds: Any) -> RemoteStep:
        """A step of a client of its own."""
        session = RemoteSession(self.server.target.removeprefix("grpc://"), tf.get_default_graph(), tf.ConfigProto())
        self.sessions.append(session)
        is_op = isinstance(fetch, tf.Operation)
        return session.prepare(feeds, [] if is_op else [fetch], [fetch] if is_op else [])


@pytest.fixture
def clients() -> Iterator[Clients]:
    opened = Clients()
    with tf.Graph().as_default():
        yield opened
    for session in opened.sessions:
        session.close()
    opened.server.stop()
    until(lambda: not readers())


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("weft-read")]


@pytest.mark.parametrize("runs_before", [0, 3])
def test_a_step_that_computes_holds_up_no_other_client(runs_before: int, clients: Clients) -> None:
    """Neither when nothing is known of it, nor when it was quick before."""
    began, go_on = threading.Event(), threading.Event()
    if runs_before:
        go_on.set()

    def compute(x: Any) -> Any:
        began.set()
        assert go_on.wait(PATIENCE_S)
        return x

    value = tf.placeholder(tf.float32, [])
    slow = clients.prepare(tf.py_func(compute, [value], tf.float32), value)
    quick = clients.prepare(tf.no_op())
    for _ in range(runs_before):
        slow.run([np.float32(1)])
    began.clear()
    go_on.clear()
    with ThreadPoolExecutor() as pool:
        result = pool.submit(slow.run, [np.float32(2)])
        assert began.wait(PATIENCE_S)
        for _ in range(10):
            quick.run([])
        go_on.set()
        assert result.result(PATIENCE_S)[0] == [2]


def test_a_blocked_step_is_ended_by_another_client(clients: Clients) -> None:
    q = tf.FIFOQueue(1, tf.float32, [[]], shared_name="q")
    with ThreadPoolExecutor() as pool:
        blocked = pool.submit(clients.prepare(q.dequeue()).run, [])
        quick = clients.prepare(tf.no_op())
        for _ in range(10):
            quick.run([])
        assert not blocked.done()
        clients.prepare(q.enqueue(3.0)).run([])
        assert blocked.result(PATIENCE_S)[0] == [3]


def test_deadlines_and_the_end_of_a_session_reach_blocked_steps_of_many_clients(clients: Clients) -> None:
    value = tf.FIFOQueue(1, tf.float32, [[]]).dequeue()
    blocked = [clients.prepare(value) for _ in range(6)]
    limited = tf.RunOptions(timeout_in_ms=50)
    with ThreadPoolExecutor() as pool:
        late = [pool.submit(step.run, [], limited) for step in blocked[:3]]
        ended = [pool.submit(step.run, []) for step in blocked[3:]]
        for each in late:
            assert isinstance(each.exception(PATIENCE_S), DeadlineExceededError)
        for session in clients.sessions[3:]:
            session.close()
        for each in ended:
            assert isinstance(each.exception(PATIENCE_S), CancelledError)


def test_many_clients_are_served_by_few_threads(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_pool, "IDLE_S", 0.01)
    total = tf.Variable(0, dtype=tf.int64)
    clients.prepare(total.initializer).run([])
    steps = [clients.prepare(tf.assign_add(total, 1).op) for _ in range(24)]
    with ThreadPoolExecutor(len(steps)) as pool:
        done = [pool.submit(lambda step=step: [step.run([]) for _ in range(20)]) for step in steps]
        for each in done:
            each.result(PATIENCE_S)
    assert clients.prepare(total).run([])[0] == [24 * 20]
    # Each client of this process has a thread as well.
    until(lambda: len(readers()) <= len(clients.sessions) + 2)


def test_a_failed_step_is_the_client_s_own(clients: Clients) -> None:
    bad = clients.prepare(tf.check_numerics(tf.log(tf.constant(-1.0)), "no"))
    good = clients.prepare(tf.constant(1.0))
    for _ in range(3):
        with pytest.raises(OpError, match="no"):
            bad.run([])
        assert good.run([])[0] == [1]
