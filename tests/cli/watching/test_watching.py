"""A cluster shows itself: in a terminal, on a page, in a notebook."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

import weft as tf
from tests.distributed.client.observation.least_squares import least_squares
from weft.cli.command_line import main
from weft.cli.watching import charts, sections
from weft.cli.watching.cluster_view import ClusterView, TaskView
from weft.cli.watching.page import LivePage
from weft.cli.watching.rates import Rates, rates_between
from weft.cli.watching.top import table
from weft.distributed.client.observation.task_report import (
    FailureReport,
    GraphReport,
    PeerReport,
    QueueReport,
    TaskReport,
    UpdateReport,
    VariableReport,
)
from weft.distributed.rpc.pages.http_door import HttpDoor
from weft.distributed.server.server import Server
from weft.platform.hosts.free_ports import free_ports


def report(uptime_s: float, **more: object) -> TaskReport:
    return TaskReport("/job:worker/replica:0/task:0", "serving", 1000 + uptime_s, uptime_s, 7, "here", "1", **more)  # type: ignore[arg-type]


def a_view(*tasks: TaskView) -> ClusterView:
    view = ClusterView("localhost:1")
    view.tasks = {task.name: task for task in tasks}
    return view


def test_rates_are_what_happened_between_two_reports() -> None:
    before = report(
        10, steps=5, timed_steps=5, step_s=1.0, cpu_s=1.0, waiting_s={"/job:ps/replica:0/task:0": 2.0},
        peers=[PeerReport("/job:ps/replica:0/task:0", "unix", 1, 1000, 1, 500)],
    )  # fmt: skip
    now = report(
        12, steps=25, timed_steps=25, step_s=3.0, cpu_s=2.0, waiting_s={"/job:ps/replica:0/task:0": 3.0},
        peers=[PeerReport("/job:ps/replica:0/task:0", "unix", 21, 3000, 21, 2500)],
    )  # fmt: skip
    rates = rates_between(before, now)
    assert (rates.steps, rates.step_s, rates.cpus) == (10.0, 0.1, 0.5)
    assert rates.waiting == {"ps:0": 0.5}
    assert rates.waiting_most == "ps:0 50%"
    assert (rates.sent_bytes, rates.received_bytes) == (1000.0, 1000.0)


def test_a_task_that_was_restarted_begins_with_nothing() -> None:
    assert rates_between(report(100, steps=1000), report(1, steps=3)) == Rates(1001)


def test_an_update_names_the_replica_whose_gradient_is_missing() -> None:
    late = UpdateReport("", "grad", 17, 2, 3, {"/job:worker/task:1": "late 12 s"}, 12.0)
    silent = UpdateReport("", "other", 17, 2, 3, {}, 5.0)
    fresh = UpdateReport("", "passing", 17, 2, 3, {"/job:worker/task:1": "late 0 s"}, 0.01)
    view = a_view(TaskView("ps:0", "x:1", TaskReport.from_json(report(1, late_updates=[late, silent, fresh]).as_json())))
    shown = sections.waits(view)
    assert "<td class='n'>2 of 3</td><td>worker:1 (late 12 s)</td>" in shown
    assert "<td>replicas that have given none so far</td>" in shown
    assert "passing" not in shown
    lines = list(table(view))[2:]
    assert lines[0] == "ps:0: 'grad' has 2 of 3 gradients for step 17; missing: worker:1 (late 12 s)"
    assert len(lines) == 2


def test_what_tasks_tell_is_no_markup() -> None:
    bad = "<script>alert(1)</script>"
    told = report(
        1, variables=[VariableReport("", bad, "float32", "[1]", 4)], queues=[QueueReport("", bad, bad, 1, 2)],
        failures=[FailureReport(1.0, bad, bad, bad)], log=[bad], staleness=[1, 2],
        graphs=[GraphReport(bad, bad, 1, bad, 1, 0, 1, bad)],
    )  # fmt: skip
    view = a_view(TaskView(bad, bad, told), TaskView("ps:0", "x:1", None, bad))
    page = LivePage(view, interval_s=60.0)
    try:
        whole = page.respond("/")
        assert whole is not None
        assert bad not in whole.content.decode()
        assert whole.content.decode().count("&lt;script&gt;alert") >= 8
    finally:
        page.close()


def test_charts_are_whole_whatever_the_values() -> None:
    assert "polyline" in charts.line([0.0, 0.0], "nothing")
    assert "no values yet" in charts.line([1.0], "one")
    assert 'width="120.0"' in charts.bar(7.0, "too much")
    assert charts.histogram([], "none") == ""
    assert "0.75" in charts.cell(3.0, "hot")


def test_a_cluster_that_is_not_there_yet_is_waited_for() -> None:
    (port,) = free_ports(1)
    view = ClusterView(f"localhost:{port}", timeout_s=20.0)
    view.look()
    assert "Waiting for the cluster" in sections.tasks(view)
    with Server({"worker": [f"localhost:{port}"]}):
        view.look()
        view.look()
        assert view.tasks["worker:0"].state == "serving"
        assert "worker:0" in sections.tasks(view)
    view.look()
    assert view.tasks["worker:0"].state == "missing"
    assert "worker:0" in sections.tasks(view)
    view.close()


@pytest.fixture(scope="module")
def training() -> Iterator[tf.LocalCluster]:
    """A cluster whose worker trains by its parameter server."""
    over = threading.Event()
    with tf.LocalCluster(ps=1, worker=1) as cluster:
        model = least_squares()
        with tf.Session(cluster.target("worker"), graph=model.graph) as session:
            session.run(model.init)

            def train() -> None:
                while not over.is_set():
                    model.train(session)
                    over.wait(0.005)

            running = threading.Thread(target=train)
            running.start()
            yield cluster
            over.set()
            running.join()


def test_top_shows_one_table_in_a_pipe(training: tf.LocalCluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top", training.target("ps"), "--once", "--interval", "0.5"]) == 0
    head, server, worker, *rest = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["TASK", "STATE", "STEPS/S"]
    assert server.split()[:2] == ["ps:0", "serving"]
    assert worker.split()[:2] == ["worker:0", "serving"]
    assert float(worker.split()[2]) > 0
    assert rest == [""]


@pytest.mark.parametrize("command", ["top", "watch"])
def test_bad_targets_get_one_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "nowhere"])
    assert "'nowhere' is no target such as grpc://host:port" in capsys.readouterr().err
    (port,) = free_ports(1)
    assert main([command, f"grpc://localhost:{port}"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"weft {command}: grpc://localhost:{port}: ")


@pytest.mark.parametrize(("place", "why"), [("", "Is a directory"), ("none/trace.json", "No such file or directory")])
def test_a_file_that_cannot_be_written_is_told_before_anything_is_recorded(
    place: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", "grpc://localhost:1", "-o", str(tmp_path / place)]) == 1
    assert capsys.readouterr().err == f"weft trace: cannot write {str(tmp_path / place)!r}: {why}\n"


def test_a_notebook_shows_a_cluster(training: tf.LocalCluster) -> None:
    shown = training._repr_html_()
    assert "<td>worker:0</td>" in shown
    assert "1 of 64 bytes" in shown


def test_the_page_brings_its_changes(training: tf.LocalCluster) -> None:
    page = LivePage(ClusterView(training.target("ps").removeprefix("grpc://")), interval_s=0.2)
    door = HttpDoor("localhost", 0, page.respond)
    try:
        with urlopen(f"{door.url}events", timeout=20) as stream:
            deadline_s = time.monotonic() + 20
            seen: dict[str, str] = {}
            while time.monotonic() < deadline_s and not re.search(r"polyline", seen.get("tasks", "")):
                line = stream.readline().decode()
                if line.startswith("data: "):
                    seen |= json.loads(line.removeprefix("data: "))
        assert "weights [8, 2]" in seen["variables"]
        assert "polyline" in seen["tasks"]
        assert "MatMul" in seen["graphs"]
    finally:
        door.stop()
        page.close()
