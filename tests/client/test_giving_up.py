"""Steps that are given up, by a timeout or by Ctrl-C, end everywhere and leave nothing behind."""

from __future__ import annotations

import contextlib
import random
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.client.conftest import PATIENCE_S
from tests.promptness import LATE_S
from weft.ops.lookup.state import LookupTable

MANY = 200


class Place:
    """A session of one kind, and the worker that runs its steps."""

    def __init__(self, session: tf.Session, worker: Any) -> None:
        self.session = session
        self.worker = worker

    def wait_until_idle(self) -> None:
        """Wait until the worker has ended the steps that its master has given up."""
        deadline = time.monotonic() + PATIENCE_S
        while self.worker.live_steps and time.monotonic() < deadline:
            threading.Event().wait(0.01)
        assert self.worker.live_steps == 0
        assert not self.worker._rendezvous.running
        assert self.worker._rendezvous._early_bytes == 0


@pytest.fixture(params=["direct", "in process", "remote"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with contextlib.ExitStack() as stack:
        config = tf.ConfigProto()
        if request.param == "direct":
            session = stack.enter_context(tf.Session())
            backend: Any = session._steps.backend
            yield Place(session, backend.registrar._find_worker("").worker)
            return
        server: Any = stack.enter_context(tf.train.Server.create_local_server())
        config.rpc_options.use_rpc_for_inprocess_master = request.param == "remote"
        yield Place(stack.enter_context(tf.Session(server.target, config=config)), server._worker)


def test_many_timeouts_leave_no_steps_requests_or_threads(place: Place) -> None:
    queue = tf.FIFOQueue(4, tf.int32)
    dequeue, enqueue = queue.dequeue() + 1, queue.enqueue(6)
    options = tf.RunOptions(timeout_in_ms=1)
    threads = threading.active_count()
    for _ in range(MANY):
        with pytest.raises(tf.errors.DeadlineExceededError):
            place.session.run(dequeue, options=options)
    place.wait_until_idle()
    # A step that was given up may still hold a thread for a moment; each step that leaked would hold one for ever.
    assert threading.active_count() < threads + 30
    backend: Any = place.session._steps.backend
    assert not getattr(getattr(backend, "_calls", None), "_answers", None)
    assert not getattr(backend, "_live", None)
    # None of them takes an element that comes later, and the session is as good as new.
    for _ in range(2):
        place.session.run(enqueue)
    assert [place.session.run(dequeue, options=tf.RunOptions(timeout_in_ms=20_000)) for _ in range(2)] == [7, 7]


@contextlib.contextmanager
def ctrl_c(pressed: threading.Event, delay_s: float = 0) -> Iterator[list[float]]:
    """Interrupt the main thread once it is pressed, or a little later; gives when that was.

    Python drops an interrupt that comes while the garbage collector calls back, as JAX has it do, so it is pressed again when
    nothing happens.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    times: list[float] = []
    over = threading.Event()

    def press() -> None:
        assert pressed.wait(PATIENCE_S)
        threading.Event().wait(delay_s)
        while not over.is_set():
            times.append(time.monotonic())
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            over.wait(5)

    thread = threading.Thread(target=press)
    thread.start()
    try:
        yield times
    finally:
        over.set()
        thread.join()
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_a_blocked_run_at_once(place: Place) -> None:
    queue = tf.FIFOQueue(4, tf.int32)
    began = threading.Event()
    with tf.control_dependencies([tf.py_func(began.set, [], [])]):
        dequeue = queue.dequeue()
    enqueue = queue.enqueue(6)
    with ctrl_c(began) as times, pytest.raises(KeyboardInterrupt):
        place.session.run(dequeue)
    assert time.monotonic() - times[-1] < LATE_S
    place.wait_until_idle()
    place.session.run(enqueue)
    assert place.session.run(dequeue) == 6


def test_ctrl_c_leaves_no_state_half_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs on the calling thread, since it waits for nobody, is finished first."""
    done: list[float] = []

    def insert(table: LookupTable, keys: Any, values: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        done.extend(values)

    monkeypatch.setattr(LookupTable, "insert", insert)
    with tf.Session() as session:
        table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.float32, 0.0)
        with pytest.raises(KeyboardInterrupt):
            session.run(table.insert(np.array([1], np.int64), [2.0]))
    assert done == [2.0]


def run_for_ever(session: tf.Session, fetch: Any, running: threading.Event) -> None:
    running.set()
    while True:
        session.run(fetch)


@pytest.mark.parametrize(("size", "waits_for_code"), [(8, True), (200, True), (8, False)])
def test_ctrl_c_in_a_loop_of_updates_loses_no_variable(
    size: int, waits_for_code: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever it comes: also while the new values of donated arrays are on their way to the variables, or code is made."""
    monkeypatch.setenv("TF_DETERMINISTIC_OPS", str(int(waits_for_code)))
    variables = [tf.Variable(tf.zeros([size, size])) for _ in range(4)]
    update = tf.group(*[tf.assign(v, tf.matmul(v, v) * 0.5 + 1.0) for v in variables])
    delays = random.Random(7)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(10 if waits_for_code else 101):
            session.run(update)
        for _ in range(30):
            running = threading.Event()
            with pytest.raises(KeyboardInterrupt), ctrl_c(running, delays.random() * 0.01):
                run_for_ever(session, update, running)
            assert all(value.shape == (size, size) for value in session.run(variables))
            session.run(update, options=tf.RunOptions(timeout_in_ms=20_000))


def test_ctrl_c_in_a_loop_of_row_updates_loses_no_variable() -> None:
    table = tf.Variable(tf.zeros([200_000, 8]))
    update = tf.scatter_add(table, tf.range(1000) * 7, tf.ones([1000, 8])).op
    delays = random.Random(7)
    with tf.Session() as session:
        session.run(table.initializer)
        for _ in range(20):
            running = threading.Event()
            with pytest.raises(KeyboardInterrupt), ctrl_c(running, delays.random() * 0.01):
                run_for_ever(session, update, running)
            value = session.run(table, options=tf.RunOptions(timeout_in_ms=20_000))
            # Every row of an update has it, or none.
            assert len({row.tobytes() for row in value[:7000:7]}) == 1


def test_a_deadline_covers_a_session_that_cannot_be_opened() -> None:
    """Also on a server that is there and whose peers are not, and on one that is not there at all."""
    graph = tf.get_default_graph()
    value = tf.constant(1)
    config = tf.ConfigProto(operation_timeout_in_ms=200)
    with tf.train.Server.create_local_server() as gone:
        address = gone.target[len("grpc://") :]
    cluster = {"here": ["localhost:0"], "there": [address]}
    with tf.train.Server(cluster, job_name="here", task_index=0) as server:
        for target, rpc in ((server.target, False), (server.target, True), (gone.target, True)):
            config.rpc_options.use_rpc_for_inprocess_master = rpc
            with tf.Session(target, graph, config) as session:
                begin = time.monotonic()
                with pytest.raises(tf.errors.DeadlineExceededError):
                    session.run(value)
                assert time.monotonic() - begin < 0.2 + LATE_S
            config_without = tf.ConfigProto()
            config_without.rpc_options.use_rpc_for_inprocess_master = rpc
            with tf.Session(target, graph, config_without) as session:
                begin = time.monotonic()
                with pytest.raises(tf.errors.DeadlineExceededError):
                    session.run(value, options=tf.RunOptions(timeout_in_ms=200))
                assert time.monotonic() - begin < 0.2 + LATE_S
