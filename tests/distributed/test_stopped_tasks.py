"""Tasks that stand still: each is noticed after two seconds, named with what was waited for, and found again when it goes on.

A task that is busy is none of them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator

import pytest

import weft as tf
from tests.distributed.stopping import stopped
from tests.promptness import LATE_S
from weft.distributed.client import remote_session
from weft.distributed.worker.network.peer_connections import Admission

NOTICED_S = 2.0 + LATE_S
PS = "/job:ps/replica:0/task:0"


@pytest.fixture(scope="module")
def cluster() -> Iterator[tf.LocalCluster]:
    with tf.LocalCluster(ps=1, worker=1) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def variable_on_ps(name: str) -> tf.Tensor:
    """What the worker makes of a variable of the parameter server."""
    with tf.device("/job:ps/task:0"):
        kept = tf.get_variable(name, initializer=3.0)
    with tf.device("/job:worker/task:0"):
        return tf.square(kept, name="squared")


def error_of(session: tf.Session, fetch: object) -> tuple[tf.errors.OpError, float]:
    """The error that a run ends with, and how long that took."""
    began_s = time.monotonic()
    with pytest.raises(tf.errors.OpError) as caught:
        session.run(fetch)
    return caught.value, time.monotonic() - began_s


def test_a_task_that_is_stopped_during_a_step_is_named_with_what_was_waited_for(cluster: tf.LocalCluster) -> None:
    squared = variable_on_ps("during")
    with tf.device("/job:ps/task:0"):
        queue = tf.FIFOQueue(1, [tf.float32], shared_name="never")
        awaited = queue.dequeue(name="awaited")
    with tf.device("/job:worker/task:0"):
        total = tf.negative(awaited)
    with tf.Session(cluster.target("worker")) as session:
        session.run(tf.global_variables_initializer())
        failures: list[tf.errors.OpError] = []

        def wait() -> None:
            failures.append(error_of(session, total)[0])

        waiting = threading.Thread(target=wait)
        waiting.start()
        session.run(squared)
        with stopped(cluster, "ps"):
            began_s = time.monotonic()
            waiting.join()
            assert time.monotonic() - began_s < NOTICED_S
        (error,) = failures
        assert isinstance(error, tf.errors.UnavailableError)
        assert PS in error.message
        assert "its process is stopped" in error.message
        assert "The step waited for 'awaited:0', of node 'awaited' (QueueDequeueV2)" in error.message
        assert __file__ in str(error)  # the line
        assert session.run(squared) == 9.0


def test_a_task_that_is_stopped_while_nothing_runs_is_named_by_the_next_step(cluster: tf.LocalCluster) -> None:
    squared = variable_on_ps("idle")
    with tf.Session(cluster.target("worker")) as session:
        session.run(tf.global_variables_initializer())
        assert session.run(squared) == 9.0
        with stopped(cluster, "ps"):
            threading.Event().wait(2.0)
            error, took_s = error_of(session, squared)
        assert isinstance(error, tf.errors.UnavailableError)
        assert PS in error.message
        assert took_s < NOTICED_S
        assert session.run(squared) == 9.0


def test_a_client_notices_that_its_server_is_stopped(cluster: tf.LocalCluster) -> None:
    squared = variable_on_ps("server")
    with tf.Session(cluster.target("worker")) as session:
        session.run(tf.global_variables_initializer())
        assert session.run(squared) == 9.0
        with stopped(cluster, "worker"):
            error, took_s = error_of(session, squared)
        assert isinstance(error, tf.errors.UnavailableError)
        assert "its process is stopped" in error.message
        assert "The step waited for 'squared:0'" in error.message
        assert took_s < NOTICED_S
    with tf.Session(cluster.target("worker")) as session:
        assert session.run(squared) == 9.0


def test_a_task_whose_interpreter_is_busy_is_waited_for(cluster: tf.LocalCluster) -> None:
    """A regular expression that is tried at many places holds the interpreter for all of it."""
    with tf.device("/job:ps/task:0"):
        text = tf.placeholder(tf.string, [])
        replaced = tf.regex_replace(text, "a*a*a*a*a*b", "")
    with tf.device("/job:worker/task:0"):
        here = tf.identity(replaced)
    with tf.Session(cluster.target("worker")) as session:
        took_s, count = 0.0, 32
        while took_s < 3.5:
            count += count // 8
            began_s = time.monotonic()
            assert session.run(here, {text: "a" * count + "c"}) == b"a" * count + b"c"
            took_s = time.monotonic() - began_s


class Proxy:
    """Passes bytes between a client and a server, until it swallows them: both ends of each connection stay open."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp:127.0.0.1:{self._listener.getsockname()[1]}"
        self._swallows = False
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def swallow(self) -> None:
        self._swallows = True

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near = self._listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", self._port))
                self._sockets += near, far
                for source, sink in ((near, far), (far, near)):
                    thread = threading.Thread(target=self._pass, args=(source, sink))
                    self._threads.append(thread)
                    thread.start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if not self._swallows:
                    sink.sendall(data)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in self._sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for sock in self._sockets:
            sock.close()


def test_a_half_open_connection_is_noticed(cluster: tf.LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    proxies: list[Proxy] = []
    as_admission = remote_session.as_admission

    def by_proxy(channel: object) -> Admission:
        admission = as_admission(channel)
        tcp = next(address for address in admission.addresses if address.startswith("tcp:"))
        proxies.append(Proxy(int(tcp.rpartition(":")[2])))
        return Admission((proxies[0].address,), admission.token, admission.incarnation)

    monkeypatch.setattr(remote_session, "as_admission", by_proxy)
    squared = variable_on_ps("half")
    try:
        with tf.Session(cluster.target("worker")) as session:
            session.run(tf.global_variables_initializer())
            assert session.run(squared) == 9.0
            proxies[0].swallow()
            error, took_s = error_of(session, squared)
        assert isinstance(error, tf.errors.UnavailableError)
        assert "half open" in error.message
        assert took_s < NOTICED_S
    finally:
        for proxy in proxies:
            proxy.close()


SERVE = """
    import sys
    import weft as tf
    tf.train.Server({"far": [sys.argv[1]]}, insecure=True).join()
"""


def _command(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


@pytest.fixture
def far_server() -> Iterator[tuple[str, str]]:
    """A server in a network of its own, at the other end of a cable: its address, and the name of the cable's near end."""
    if os.getuid() or shutil.which("ip") is None:
        pytest.skip("network namespaces take root and the ip command")
    name = f"weft{os.getpid() % 100000}"
    with contextlib.ExitStack() as stack:
        try:
            _command("ip", "netns", "add", name)
            stack.callback(_command, "ip", "netns", "delete", name)
            _command("ip", "link", "add", f"{name}a", "type", "veth", "peer", "name", f"{name}b", "netns", name)
            _command("ip", "addr", "add", "10.213.77.1/30", "dev", f"{name}a")
            _command("ip", "link", "set", f"{name}a", "up")
            _command("ip", "-n", name, "addr", "add", "10.213.77.2/30", "dev", f"{name}b")
            _command("ip", "-n", name, "link", "set", f"{name}b", "up")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no network namespace can be made here: {error.stderr.decode().strip()}")
        address = "10.213.77.2:20213"
        command = ["ip", "netns", "exec", name, sys.executable, "-c", textwrap.dedent(SERVE), address]
        process = stack.enter_context(subprocess.Popen(command))
        stack.callback(process.kill)
        yield address, f"{name}a"


@pytest.mark.slow
def test_a_pulled_cable_is_noticed(far_server: tuple[str, str]) -> None:
    address, cable = far_server
    with tf.device("/job:far/task:0"):
        queue = tf.FIFOQueue(1, [tf.float32])
        size, awaited = queue.size(), queue.dequeue(name="awaited")
    session = tf.Session(f"grpc://{address}")
    assert session.run(size) == 0
    cut_s: list[float] = []

    def cut() -> None:
        _command("ip", "link", "set", cable, "down")
        cut_s.append(time.monotonic())

    cutting = threading.Timer(0.5, cut)
    cutting.start()
    with pytest.raises(tf.errors.UnavailableError, match="the network between is cut"):
        session.run(awaited)
    cutting.join()
    assert time.monotonic() - cut_s[0] < NOTICED_S
    session.close()
