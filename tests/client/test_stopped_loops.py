"""Steps that compute without end stop with their caller: on a timeout, Ctrl-C, close, and the client's death."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.client.conftest import PATIENCE_S
from tests.client.test_giving_up import Place, ctrl_c, place
from tests.promptness import LATE_S

_ = place  # a fixture
FOR_EVER = 10**12
STOPPED_S = 1.0 + LATE_S


class Loop:
    """A loop of as many iterations as are fed, with a variable that its step updates."""

    def __init__(self, make: Callable[[Any, Any], Any]) -> None:
        self.variable = tf.Variable(1.0)
        self.trips = tf.placeholder(tf.int64, [])
        self.fetch = make(self.trips, self.variable)
        self.initializer = tf.global_variables_initializer()

    def warm(self, session: tf.Session) -> None:
        """Initialize, and run it until it is compiled."""
        session.run(self.initializer)
        for _ in range(7):
            session.run(self.fetch, {self.trips: 3})


def counting(trips: Any, start: Any = 0) -> Any:
    return tf.while_loop(lambda i: i < trips, lambda i: i + 1, [tf.constant(start, tf.int64)])


def used_by_an_update(trips: Any, variable: Any) -> Any:
    return tf.assign_add(variable, tf.cast(counting(trips), tf.float32))


def nested(trips: Any, variable: Any) -> Any:
    inner = [tf.constant(0, tf.int64)]
    return tf.while_loop(
        lambda i: i < trips, lambda i: i + tf.while_loop(lambda j: j < trips, lambda j: j + 1, inner) // trips, inner
    )


def updating(trips: Any, variable: Any) -> Any:
    def body(i: Any) -> Any:
        with tf.control_dependencies([tf.assign_add(variable, 1.0)]):
            return i + 1

    return tf.while_loop(lambda i: i < trips, body, [tf.constant(0, tf.int64)])


def of_host_ops(trips: Any, variable: Any) -> Any:
    def body(i: Any) -> Any:
        return i + tf.reshape(tf.py_func(lambda: np.int64(1), [], tf.int64), [])

    return tf.while_loop(lambda i: i < trips, body, [tf.constant(0, tf.int64)])


ways = pytest.mark.parametrize("is_warm", [False, True], ids=["interpreted", "compiled"])


@ways
def test_a_timeout_ends_a_loop_and_no_variable_is_lost(place: Place, is_warm: bool) -> None:
    check_timeouts(place, used_by_an_update, is_warm)


@ways
@pytest.mark.parametrize("make", [nested, updating, of_host_ops])
@pytest.mark.parametrize("place", ["direct"], indirect=True)
def test_loops_of_all_kinds_end(place: Place, make: Callable[[Any, Any], Any], is_warm: bool) -> None:
    check_timeouts(place, make, is_warm)


def check_timeouts(place: Place, make: Callable[[Any, Any], Any], is_warm: bool) -> None:
    loop = Loop(make)
    session = place.session
    session.run(loop.initializer)
    if is_warm:
        loop.warm(session)
    for timeout_s in (0.2, 0.3):
        begin = time.monotonic()
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(loop.fetch, {loop.trips: FOR_EVER}, options=tf.RunOptions(timeout_in_ms=int(1000 * timeout_s)))
        assert time.monotonic() - begin < timeout_s + STOPPED_S
        place.wait_until_idle()
        wait_until_it_computes_nothing()
    before = session.run(loop.variable)
    session.run(loop.fetch, {loop.trips: 3})
    assert session.run(loop.variable) == before + (3 if make in (used_by_an_update, updating) else 0)


def wait_until_it_computes_nothing(within_s: float = STOPPED_S) -> None:
    """Wait until this process takes a tenth of a core at most."""
    deadline_s = time.monotonic() + within_s
    while time.monotonic() < deadline_s:
        before_s = time.process_time()
        threading.Event().wait(0.1)
        if time.process_time() - before_s < 0.01:
            return
    raise AssertionError("the process still computes")


@pytest.mark.parametrize("place", ["direct"], indirect=True)
def test_a_gradient_through_a_loop_can_be_stopped(place: Place) -> None:
    x, count = tf.Variable(1.0), tf.placeholder(tf.int64, [])

    def body(i: Any, y: Any) -> Any:
        return i + 1, tf.sin(y) + tf.reduce_mean(tf.ones([300, 300]) * y) * 0.0

    _, y = tf.while_loop(lambda i, y: i < count, body, [tf.constant(0, tf.int64), x.read_value()])
    gradient = tf.gradients(y, x)[0]
    session = place.session
    session.run(x.initializer)
    expected = [session.run(gradient, {count: 20}) for _ in range(7)][-1]
    for trips in (200_000, FOR_EVER):
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(gradient, {count: trips}, options=tf.RunOptions(timeout_in_ms=200))
    place.wait_until_idle()
    # Each number of iterations is compiled for itself, which cannot be stopped.
    wait_until_it_computes_nothing(PATIENCE_S)
    assert session.run(gradient, {count: 20}) == pytest.approx(expected)


def test_closing_the_session_ends_a_loop(place: Place) -> None:
    loop = Loop(used_by_an_update)
    loop.warm(place.session)
    errors: list[tf.errors.OpError] = []

    def run() -> None:
        try:
            place.session.run(loop.fetch, {loop.trips: FOR_EVER})
        except tf.errors.OpError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    wait_until_it_runs(place)
    place.session.close()
    thread.join(STOPPED_S)
    assert [type(error) for error in errors] == [tf.errors.CancelledError]
    place.wait_until_idle()
    wait_until_it_computes_nothing()


def wait_until_it_runs(place: Place) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not place.worker.live_steps and time.monotonic() < deadline_s:
        threading.Event().wait(0.01)
    assert place.worker.live_steps


@pytest.mark.parametrize("make", [used_by_an_update, updating, of_host_ops])
def test_ctrl_c_ends_a_loop(place: Place, make: Callable[[Any, Any], Any]) -> None:
    loop = Loop(make)
    loop.warm(place.session)
    pressed = threading.Event()
    pressed.set()
    with ctrl_c(pressed, 0.3) as times, pytest.raises(KeyboardInterrupt):
        place.session.run(loop.fetch, {loop.trips: FOR_EVER})
    assert time.monotonic() - times[-1] < STOPPED_S
    place.wait_until_idle()
    wait_until_it_computes_nothing()
    before = place.session.run(loop.variable)
    place.session.run(loop.fetch, {loop.trips: 3})
    assert place.session.run(loop.variable) == before + (0 if make is of_host_ops else 3)


PROGRAM = """
import weft as tf
trips = tf.placeholder(tf.int64, [])
loop = tf.while_loop(lambda i: i < trips, lambda i: i + 1, [tf.constant(0, tf.int64)])
session = tf.Session()
for _ in range(7):
    session.run(loop, {trips: 3})
try:
    session.run(loop, {trips: 10**12}, options=tf.RunOptions(timeout_in_ms=200))
except tf.errors.DeadlineExceededError:
    print("given up", flush=True)
"""


def test_a_program_may_end_while_its_loop_has_not_yet() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "given up\n"), done.stderr


CLIENT = """
import sys
import weft as tf
trips = tf.placeholder(tf.int64, [])
loop = tf.while_loop(lambda i: i < trips, lambda i: i + 1, [tf.constant(0, tf.int64)])
session = tf.Session(sys.argv[1])
for _ in range(int(sys.argv[2])):
    session.run(loop, {trips: 3})
print("runs", flush=True)
session.run(loop, {trips: 10**12})
"""


@pytest.mark.parametrize("runs_before", [1, 7])
def test_a_loop_ends_with_the_client_that_is_killed(runs_before: int) -> None:
    with tf.train.Server.create_local_server() as server:
        command = [sys.executable, "-c", CLIENT, server.target, str(runs_before)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as client:
            assert client.stdout is not None
            try:
                assert client.stdout.readline() == b"runs\n"
                deadline_s = time.monotonic() + PATIENCE_S
                while not server.worker.live_steps and time.monotonic() < deadline_s:
                    threading.Event().wait(0.01)
            finally:
                client.kill()
        deadline_s = time.monotonic() + STOPPED_S
        while server.worker.live_steps and time.monotonic() < deadline_s:
            threading.Event().wait(0.01)
        assert not server.worker.live_steps
        wait_until_it_computes_nothing()
        with tf.Session(server.target) as session:
            assert session.run(tf.constant(3) + 4) == 7
