"""A client that waits for a step is told what the tasks log of it: one where a queue is empty says so in its own log alone."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

import weft as tf
from tests.told_waits import ToldWaits, told_soon
from weft.distributed.client import relayed_waits
from weft.distributed.client.observation.observing import TaskObserver
from weft.distributed.client.observation.task_report import TaskReport, WaitReport
from weft.distributed.client.relayed_waits import RelayedWaits
from weft.platform.hosts.free_ports import free_ports

_LINE = "12:00:00 WARNING QueueDequeueV2 'take' has waited 10 s for elements of FIFOQueue 'q', which has 0."


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[ToldWaits]:
    # The servers of a test are in its own process, whose log has it all.
    monkeypatch.setattr(relayed_waits, "_is_here", lambda report: False)
    yield from told_soon(monkeypatch, ToldWaits())


@pytest.fixture(scope="module")
def report() -> Iterator[TaskReport]:
    server = tf.train.Server.create_local_server()
    observer = TaskObserver(server.target.removeprefix("grpc://"))
    yield observer.report(10.0)
    observer.close()
    server.stop()


def _two_tasks(report: TaskReport, log: list[str], where: str = "take (QueueDequeueV2)") -> dict[str, TaskReport]:
    """By address a master, and a task where one of its steps is blocked."""
    worker, ps = "/job:worker/replica:0/task:0", "/job:ps/replica:0/task:0"
    cluster = {worker: "host:1", ps: "host:2"}
    return {
        "host:1": replace(report, task=worker, cluster=cluster, waits=[WaitReport("a", 12.0, [ps])], log=[]),
        "host:2": replace(report, task=ps, cluster=cluster, waits=[WaitReport("a", 12.0, [], where)], log=log),
    }


def _relayed(monkeypatch: pytest.MonkeyPatch, reports: dict[str, TaskReport]) -> list[str]:
    monkeypatch.setattr(relayed_waits, "_report", reports.get)
    return relayed_waits._said("host:1")


@pytest.mark.usefixtures("told")
def test_the_last_line_of_the_task_about_the_blocked_node_is_told(monkeypatch: pytest.MonkeyPatch, report: TaskReport) -> None:
    log = [_LINE.replace("10 s", "5 s"), "12:00:00 INFO more", _LINE, _LINE.replace("'take'", "'other'")]
    assert _relayed(monkeypatch, _two_tasks(report, log)) == [
        "ps:0 says: QueueDequeueV2 'take' has waited 10 s for elements of FIFOQueue 'q', which has 0."
    ]


@pytest.mark.usefixtures("told")
def test_a_step_that_computes_and_a_task_that_does_not_answer_say_nothing(
    monkeypatch: pytest.MonkeyPatch, report: TaskReport
) -> None:
    assert _relayed(monkeypatch, _two_tasks(report, [_LINE], where="")) == []
    assert _relayed(monkeypatch, {key: each for key, each in _two_tasks(report, [_LINE]).items() if key == "host:1"}) == []
    assert _relayed(monkeypatch, {}) == []
    other = _two_tasks(report, [_LINE])
    other["host:2"] = replace(other["host:2"], waits=[WaitReport("b", 12.0, [], "take (QueueDequeueV2)")])
    assert _relayed(monkeypatch, other) == []


def test_what_stands_in_the_log_of_this_process_is_not_told_once_more(
    monkeypatch: pytest.MonkeyPatch, report: TaskReport
) -> None:
    assert _relayed(monkeypatch, _two_tasks(report, [_LINE])) == []


def _taken(session: tf.Session, take: tf.Tensor, put: tf.Operation, told: ToldWaits, in_main_thread: bool) -> list[int]:
    """What a step takes that waits in either thread, until what a server says of the wait has something put."""
    told.let_go = lambda text: session.run(put) if "says" in text else None
    taken: list[int] = []
    waiting = threading.Thread(target=lambda: taken.append(session.run(take)))
    if in_main_thread:
        waiting.run()
    else:
        waiting.start()
        waiting.join()
    return taken


@pytest.mark.parametrize("in_main_thread", [True, False])
def test_a_client_is_told_of_a_queue_of_a_server(in_main_thread: bool, told: ToldWaits) -> None:
    server = tf.train.Server.create_local_server()
    config = tf.ConfigProto()
    config.rpc_options.use_rpc_for_inprocess_master = True
    with server, tf.Graph().as_default(), tf.Session(server.target, config=config) as session:
        queue = tf.FIFOQueue(2, tf.int32, shapes=[[]], name="empty")
        take, put = queue.dequeue(name="take"), queue.enqueue(7)
        assert _taken(session, take, put, told, in_main_thread) == [7]
    about = next(text for text in told.texts if "says" in text)
    assert re.match(r"A step of the master at localhost:\d+ has been under way for \d+ s\. local:0 says: ", about)
    assert "QueueDequeueV2 'take' has waited 0 s for elements of FIFOQueue 'empty', which has 0." in about
    assert RelayedWaits(server.target.removeprefix("grpc://")).watched() is not None


@pytest.fixture
def parameter_server() -> Iterator[dict[str, list[str]]]:
    """A cluster whose ps runs in another process; its worker is the test's own."""
    ps, worker = free_ports(2)
    cluster = {"ps": [f"localhost:{ps}"], "worker": [f"localhost:{worker}"]}
    program = f"import weft as tf; tf.train.Server({cluster!r}, 'ps', 0).join()"
    process = subprocess.Popen([sys.executable, "-c", program])
    yield cluster
    process.kill()
    process.wait()


@pytest.mark.parametrize("in_main_thread", [True, False])
def test_a_client_of_the_master_in_its_own_process_is_told_of_a_queue_elsewhere(
    in_main_thread: bool, told: ToldWaits, monkeypatch: pytest.MonkeyPatch, parameter_server: dict[str, list[str]]
) -> None:
    monkeypatch.setattr(relayed_waits, "_said", lambda target: [f"ps:0 says of {target}: {_LINE}"])
    with tf.train.Server(parameter_server, "worker", 0) as server, tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            queue = tf.FIFOQueue(2, tf.int32, shapes=[[]])
            take, put = queue.dequeue(), queue.enqueue(7)
        with tf.Session(server.target) as session:
            assert _taken(session, take, put, told, in_main_thread) == [7]
    assert sum(f"ps:0 says of {parameter_server['worker'][0]}: {_LINE}" in text for text in told.texts) == 1
