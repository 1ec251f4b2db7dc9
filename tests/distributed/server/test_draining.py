"""A server that is stopped with a grace takes nothing new, and lets what runs end."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

import weft as tf
from weft.cli.command_line import main
from weft.distributed.client.stopping import stop_server

PATIENCE_S = 30.0


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


class Waiting:
    """A step that waits for an element of a queue, in a thread of its own."""

    def __init__(self, session: tf.Session, fetch: object) -> None:
        self.found: list[object] = []
        self._session, self._fetch = session, fetch
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.found.append(self._session.run(self._fetch))
        except tf.errors.OpError as error:
            self.found.append(error)


def wait_until(condition: object) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition() and time.monotonic() < deadline_s:  # type: ignore[operator]
        threading.Event().wait(0.01)
    assert condition()  # type: ignore[operator]


@pytest.mark.parametrize("is_remote", [False, True])
def test_a_step_that_runs_may_end_and_a_new_one_is_refused(is_remote: bool) -> None:
    config = tf.ConfigProto()
    config.rpc_options.use_rpc_for_inprocess_master = is_remote
    queue = tf.FIFOQueue(1, tf.int32, shared_name="q")
    element, put = queue.dequeue(), queue.enqueue(5)
    server = tf.train.Server.create_local_server()
    with tf.Session(server.target, config=config) as session:
        session.run(put)
        assert session.run(element) == 5
        began, go_on = threading.Event(), threading.Event()

        def work() -> int:
            began.set()
            assert go_on.wait(PATIENCE_S)
            return 7

        slow = tf.py_func(work, [], tf.int64)
        waiting = Waiting(session, slow)
        assert began.wait(PATIENCE_S)
        stopping = threading.Thread(target=server.stop, args=(PATIENCE_S,))
        stopping.start()
        wait_until(lambda: is_refused(session, element))
        assert not waiting.found
        go_on.set()
        stopping.join()
        waiting.thread.join()
        assert waiting.found == [7]
    server.join()


def is_refused(session: tf.Session, fetch: object) -> bool:
    try:
        session.run(fetch, options=tf.RunOptions(timeout_in_ms=50))
    except tf.errors.UnavailableError as error:
        return "being drained" in error.message
    except tf.errors.DeadlineExceededError:
        pass
    return False


def test_what_runs_longer_than_the_grace_is_cancelled() -> None:
    element = tf.FIFOQueue(1, tf.int32).dequeue()
    server = tf.train.Server.create_local_server()
    with tf.Session(server.target) as session:
        waiting = Waiting(session, element)
        wait_until(lambda: server.worker.live_steps)
        server.stop(0.2)
        waiting.thread.join()
        assert isinstance(waiting.found[0], (tf.errors.AbortedError, tf.errors.UnavailableError))


TASK = """
import weft as tf
server = tf.train.Server.create_local_server()
print(server.target, flush=True)
server.join()
"""


def test_weft_stop_ends_a_server_of_another_process(capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen([sys.executable, "-c", TASK], stdout=subprocess.PIPE, text=True) as task:
        assert task.stdout is not None
        try:
            target = task.stdout.readline().strip()
            assert main(["stop", target, "--grace", "1"]) == 0
            assert task.wait(PATIENCE_S) == 0
        finally:
            task.kill()
    assert capsys.readouterr().out == f"Stopped /job:local/replica:0/task:0 at {target}\n"
    assert main(["stop", target, "--grace", "1"]) == 1
    assert target in capsys.readouterr().err


def test_a_target_without_an_address_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["stop", "localhost"])
    assert ended.value.code == 2
    assert "no target such as grpc://host:port" in capsys.readouterr().err


def test_only_who_may_call_may_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    with tf.train.Server.create_local_server() as server:
        address = server.target[len("grpc://") :]
        monkeypatch.setattr("weft.distributed.rpc.gate.Gate._owner_of", lambda *_: 1 + 2**20)
        with pytest.raises(tf.errors.PermissionDeniedError):
            stop_server(address, 0.0)
        monkeypatch.undo()
        with tf.Session(server.target) as session:
            assert session.run(tf.constant(1)) == 1
