"""A server tells who asks how it is: steps, traffic, waits, variables, queues, staleness, failures; and as metrics by HTTP."""

from __future__ import annotations

import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

import weft as tf
from weft.distributed.client.observation.observing import ClusterObserver, TaskObserver
from weft.distributed.client.observation.task_report import PeerReport, TaskReport, short_name
from weft.distributed.server.observation.metrics import MetricsPages
from weft.distributed.server.observation.observed import Observed
from weft.distributed.server.observation.wait_sampler import WaitSampler
from weft.distributed.server.server import Server
from weft.errors import InvalidArgumentError, UnavailableError, UnknownError
from weft.platform.hosts.free_ports import free_ports


@pytest.fixture(scope="module")
def cluster() -> Iterator[tf.LocalCluster]:
    with tf.LocalCluster(ps=1, worker=2) as running:
        yield running


def address_of(target: str) -> str:
    return target.removeprefix("grpc://")


def report_of(target: str) -> TaskReport:
    observer = TaskObserver(address_of(target))
    try:
        return observer.report(20.0)
    finally:
        observer.close()


def peer_of(report: TaskReport, task: str) -> PeerReport:
    (peer,) = [peer for peer in report.peers if short_name(peer.task) == task]
    return peer


def reports_once_all_arrived(cluster: tf.LocalCluster) -> tuple[TaskReport, TaskReport]:
    """The reports of the first worker and of the server, as soon as neither has bytes on the way to the other.

    A step's last message, which frees the step's state, has no answer: a step ends before it has arrived.
    """
    deadline_s = time.monotonic() + 20
    while True:
        worker, server = report_of(cluster.target("worker", 0)), report_of(cluster.target("ps"))
        to_server, to_worker = peer_of(worker, "ps:0"), peer_of(server, "worker:0")
        arrived = (to_server.sent_bytes, to_server.received_bytes) == (to_worker.received_bytes, to_worker.sent_bytes)
        if arrived or time.monotonic() > deadline_s:
            return worker, server


def training_graph(worker: int) -> tuple[tf.Graph, tf.Tensor, tf.Operation, tf.Operation]:
    placed = tf.train.replica_device_setter(ps_tasks=1, worker_device=f"/job:worker/task:{worker}")
    with tf.Graph().as_default() as graph, tf.device(placed):
        weights = tf.get_variable("weights", [50, 4], initializer=tf.ones_initializer())
        fed = tf.placeholder(tf.float32, [None, 50])
        loss = tf.reduce_sum(tf.square(tf.matmul(fed, weights)))
        train = tf.train.GradientDescentOptimizer(1e-6).minimize(loss)
        init = tf.global_variables_initializer()
    return graph, fed, train, init


def test_tasks_tell_of_steps_traffic_variables_and_staleness(cluster: tf.LocalCluster) -> None:
    before = report_of(cluster.target("ps"))
    graph, fed, train, init = training_graph(0)
    with tf.Session(cluster.target("worker", 0), graph=graph) as session:
        session.run(init)
        for _ in range(20):
            session.run(train, {fed: np.ones((3, 50), np.float32)})
        worker, server = reports_once_all_arrived(cluster)
    assert worker.steps == worker.timed_steps >= 21
    assert worker.step_s > 0
    assert worker.sessions == 1
    assert server.updates - before.updates == 20
    assert sum(server.staleness) - sum(before.staleness) == 20
    (weights,) = [variable for variable in server.variables if variable.name == "weights"]
    assert (weights.shape, weights.dtype, weights.size_bytes) == ("[50, 4]", "float32", 800)
    to_server, to_worker = peer_of(worker, "ps:0"), peer_of(server, "worker:0")
    assert to_server.sent_messages >= 20
    assert to_server.sent_bytes == to_worker.received_bytes > 20 * 800
    assert to_server.received_bytes == to_worker.sent_bytes > 20 * 800
    assert any("ApplyGradientDescent" in graph.ops for graph in server.graphs)
    assert server.resident_bytes > 1 << 20
    assert server.cluster == {f"/job:{job}/replica:0/task:{i}": address_of(cluster.target(job, i)) for job, i in TASKS}


TASKS = (("ps", 0), ("worker", 0), ("worker", 1))


def test_a_step_that_waits_tells_for_whom(cluster: tf.LocalCluster) -> None:
    with tf.Graph().as_default() as graph:
        with tf.device("/job:worker/task:1"):
            queue = tf.FIFOQueue(3, tf.float32, [[]], shared_name="held")
            enqueue, element = queue.enqueue(1.0), queue.dequeue()
        with tf.device("/job:worker/task:0"):
            later = element + 1.0
    waiting: tuple[TaskReport, TaskReport] | None = None
    with tf.Session(cluster.target("worker", 0), graph=graph) as session:
        running = threading.Thread(target=session.run, args=(later,))
        running.start()
        deadline_s = time.monotonic() + 20
        while time.monotonic() < deadline_s:
            one, other = report_of(cluster.target("worker", 0)), report_of(cluster.target("worker", 1))
            if one.waits and other.waits:
                waiting = one, other
                break
        with tf.Session(cluster.target("worker", 1), graph=graph) as second:
            second.run(enqueue)
        running.join()
    assert waiting is not None
    one, other = waiting
    assert [short_name(task) for task in one.waits[0].tasks] == ["worker:1"]
    assert "Dequeue" in other.waits[0].where
    assert [(queue.name, queue.kind, queue.capacity) for queue in other.queues] == [("held", "FIFOQueue", 3)]


def test_an_update_that_waits_tells_whose_gradient_is_missing(cluster: tf.LocalCluster) -> None:
    server = cluster.target("ps", 0)
    with tf.Graph().as_default() as graph, tf.device("/job:ps/task:0"):
        gradients = tf.ConditionalAccumulator(tf.float32, [], shared_name="held_gradients")
        give, take = gradients.apply_grad(1.0, 1), gradients.take_grad(2)
    late = []
    with (
        tf.Session(cluster.target("worker", 0), graph=graph) as one,
        tf.Session(cluster.target("worker", 1), graph=graph) as other,
    ):
        for each in (one, other):
            each.run(give)
        one.run(take)
        taking = threading.Thread(target=one.run, args=(take,))
        one.run(give)
        taking.start()
        deadline_s = time.monotonic() + 20
        while not late and time.monotonic() < deadline_s:
            late = report_of(server).late_updates
        other.run(give)
        taking.join()
        assert report_of(server).late_updates == []
    (update,) = late
    assert (update.name, update.step, update.count, update.needed) == ("held_gradients", 1, 1, 2)
    assert re.fullmatch(r"worker:1 \(late \d+ s\)", update.missing_text)
    assert update.waited_s > 0.0


def test_a_failed_step_leaves_its_first_cause(cluster: tf.LocalCluster) -> None:
    with tf.Graph().as_default() as graph, tf.device("/job:ps/task:0"):
        check = tf.check_numerics(tf.placeholder(tf.float32, [], name="fed"), "it is no number")
    with tf.Session(cluster.target("worker", 1), graph=graph) as session, pytest.raises(InvalidArgumentError):
        session.run(check, {"fed:0": float("nan")})
    failure = report_of(cluster.target("worker", 1)).failures[-1]
    assert failure.kind == "InvalidArgumentError"
    assert "it is no number" in failure.message
    assert failure.node == "CheckNumerics"


def test_all_tasks_are_asked_and_who_is_missing_is_named() -> None:
    port, other = free_ports(2)
    with Server({"worker": [f"localhost:{port}", f"localhost:{other}"]}, job_name="worker", task_index=0) as server:
        observer = ClusterObserver(address_of(server.target), timeout_s=20.0)
        try:
            observer.open()
            found = observer.reports()
        finally:
            observer.close()
    here, missing = found.values()
    assert isinstance(here, TaskReport)
    assert isinstance(missing, UnavailableError)
    assert "nothing listens" in missing.message or "refused" in missing.message


def test_looks_divide_time_among_those_that_are_waited_for() -> None:
    class Part:
        def __init__(self, number: int, *peers: str) -> None:
            self.step_id, self.peers_awaited, self.waits_for = number, list(peers), list(peers)

    class Task:
        task = "me"

        def __init__(self, *steps: Part) -> None:
            self.running_steps = list(steps)

    worker, master = Task(Part(1, "a"), Part(2)), Task(Part(1, "me", "a"), Part(3, "b", "me"))
    sampler = WaitSampler(master, worker)  # type: ignore[arg-type]
    sampler.look(0.5)
    sampler.look(0.25)
    assert sampler.waiting_s == {"a": 0.75, "b": 0.75}
    assert sampler.computing_s == 0.75


def test_metrics_are_served_on_a_port_of_their_own() -> None:
    with Server({"worker": ["localhost:0"]}, metrics_port=0) as server:
        with tf.Session(server.target) as session:
            session.run(tf.constant(1) + 1)
        with urllib.request.urlopen(f"http://localhost:{server.metrics_port}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        with pytest.raises(urllib.error.HTTPError, match="404") as refused:
            urllib.request.urlopen(f"http://localhost:{server.metrics_port}/secret", timeout=10)
        refused.value.close()
    found = {sample.name: sample for family in text_string_to_metric_families(text) for sample in family.samples}
    assert found["weft_steps_total"].labels == {"task": "worker:0"}
    assert found["weft_steps_total"].value >= 1
    assert found["weft_task_info"].labels["state"] == "serving"


def samples_of(target: str) -> dict[tuple[str, str], float]:
    """What a scrape of a task finds, by the metric's name and its label beside the task's."""
    report = report_of(target)
    page = MetricsPages(lambda: report).respond("/metrics")
    assert page is not None
    found = {}
    for family in text_string_to_metric_families(page.content.decode()):
        for sample in family.samples:
            label = next((value for name, value in sample.labels.items() if name != "task"), "")
            found[sample.name, label] = sample.value
    return found


def test_metrics_are_what_a_program_has_done(cluster: tf.LocalCluster) -> None:
    ps, worker = cluster.target("ps"), cluster.target("worker", 0)
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps/task:0"):
            counted = tf.get_variable("counted", [1000], initializer=tf.zeros_initializer())
            queue = tf.FIFOQueue(5, tf.float32, [[]], shared_name="filled")
            gate = tf.FIFOQueue(1, tf.float32, [[]], shared_name="gate")
            fill, opens = queue.enqueue_many(([1.0, 2.0, 3.0],)), gate.enqueue(1.0)
            waits = gate.dequeue()
        with tf.device("/job:worker/task:0"):
            fed = tf.placeholder(tf.float32, [1000])
            delta = 2.0 * fed
            late = tf.reduce_sum(counted.read_value()) + waits
        train, train_late = counted.assign_add(delta).op, counted.assign_add(tf.fill([1000], late)).op
    before, master_before = samples_of(ps), samples_of(worker)
    with tf.Session(worker, graph=graph) as session:
        session.run(counted.initializer)
        session.run(fill)
        # A step that has read the variable and waits, while five others update it.
        slow = threading.Thread(target=session.run, args=(train_late,))
        slow.start()
        deadline_s = time.monotonic() + 20
        while not any("Dequeue" in wait.where for wait in report_of(ps).waits) and time.monotonic() < deadline_s:
            pass
        for _ in range(5):
            session.run(train, {fed: np.ones(1000, np.float32)})
        session.run(opens)
        slow.join()
        found, master = samples_of(ps), samples_of(worker)
    assert found["weft_variables_bytes", ""] - before.get(("weft_variables_bytes", ""), 0) == 4000
    assert found["weft_queue_size", "filled"] == 3
    assert found["weft_queue_capacity", "filled"] == 5
    assert master["weft_steps_total", ""] - master_before["weft_steps_total", ""] == 9
    name = "weft_update_staleness"
    assert (
        found[f"{name}_count", ""] - before.get((f"{name}_count", ""), 0)
        == found["weft_updates_total", ""] - before["weft_updates_total", ""]
    )
    # 4 to 7 updates came between: the one that waited.
    stale = {
        bound: found[f"{name}_bucket", bound] - before.get((f"{name}_bucket", bound), 0) for bound in ("0.0", "3.0", "7.0")
    }
    assert stale["7.0"] - stale["3.0"] == 1
    assert found["weft_received_bytes_total", "worker:0"] - before.get(("weft_received_bytes_total", "worker:0"), 0) > 5 * 4000
    assert 0 <= found["weft_compiled_stages", ""] <= found["weft_stages", ""]
    assert found["weft_phase_seconds_total", "host"] > 0


def test_every_kind_of_metric_is_well_formed() -> None:
    report = TaskReport(
        "/job:ps/replica:0/task:0", "serving", 1.0, 2.0, 3, "here", "1", staleness=[3, 0, 2],
        waiting_s={"/job:worker/replica:0/task:0": 1.5},
    )  # fmt: skip
    page = MetricsPages(lambda: report).respond("/metrics?name=all")
    assert page is not None
    families = {family.name: family for family in text_string_to_metric_families(page.content.decode())}
    histogram = {each.labels.get("le"): each.value for each in families["weft_update_staleness"].samples}
    assert histogram["0.0"] == 3
    assert histogram["1.0"] == 3
    assert histogram["3.0"] == histogram["+Inf"] == 5
    (waited,) = families["weft_waiting_seconds"].samples
    assert (waited.labels, waited.value) == ({"task": "ps:0", "peer": "worker:0"}, 1.5)


def test_no_port_is_opened_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with Server({"worker": ["localhost:0"]}) as server:
        assert server.metrics_port == 0
    monkeypatch.setenv("WEFT_METRICS_PORT", "0")
    with Server({"worker": ["localhost:0"]}) as server:
        assert server.metrics_port > 0
        with pytest.raises(UnknownError, match="Choose another port"):
            Server({"worker": ["localhost:0"]}, metrics_port=server.metrics_port)
    monkeypatch.setenv("WEFT_METRICS_PORT", "many")
    with pytest.raises(InvalidArgumentError, match="WEFT_METRICS_PORT is 'many', which is no port"):
        Server({"worker": ["localhost:0"]})


def test_a_report_survives_its_journey() -> None:
    with Server({"worker": ["localhost:0"]}) as server:
        report = report_of(server.target)
    assert TaskReport.from_json(report.as_json()) == report
    newer = report.as_json()[:-1] + ', "of_a_later_version": 1}'
    assert TaskReport.from_json(newer) == report
    with pytest.raises(ValueError, match="no report"):
        TaskReport.from_json("[]")


def test_metrics_that_cannot_be_loaded_are_told_of(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr("weft.distributed.server.observation.observed._METRICS", "weft.no_such_module")
    observed = object.__new__(Observed)
    observed._pages, observed._task = None, SimpleNamespace(name="/job:ps/task:0")  # type: ignore[assignment]
    page = observed._respond("/metrics")
    assert page is not None
    assert page.status == 500
    assert "The metrics of /job:ps/task:0 cannot be loaded" in caplog.text
