"""One trace of all tasks: slices that nest, arrows that lead forward, clocks that agree; and steps that nobody records."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import weft as tf
from tests.distributed.client.observation.least_squares import least_squares
from weft.cli.command_line import main
from weft.distributed.client.observation.cluster_trace import ClusterTrace, TaskEvent, record
from weft.distributed.client.observation.observing import Json, TaskObserver
from weft.distributed.server.server import Server
from weft.errors import AlreadyExistsError, FailedPreconditionError, InvalidArgumentError
from weft.platform.hosts.free_ports import free_ports


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as fresh:
        yield fresh


def slices_of(trace: ClusterTrace) -> tuple[list[Json], list[tuple[Json, Json]]]:
    """The slices of a trace, and the arrows between them by their two ends; checked for form."""
    events = json.loads(trace.as_json())["traceEvents"]
    lanes = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            assert event["dur"] > 0
            lanes[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in lanes.values():
        open_until: list[float] = []
        for begin, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while open_until and open_until[-1] <= begin + 1e-3:
                open_until.pop()
            assert not open_until or end <= open_until[-1] + 0.01, "a slice begins in another and ends behind it"
            open_until.append(end)
    ends: dict[int, dict[str, Json]] = defaultdict(dict)
    for event in events:
        if event["ph"] in ("s", "f"):
            ends[event["id"]][event["ph"]] = event
    arrows = [(each["s"], each["f"]) for each in ends.values()]
    assert all(begin["ts"] <= end["ts"] for begin, end in arrows)
    for each in (end for pair in arrows for end in pair):
        lane = lanes[each["pid"], each["tid"]]
        assert any(begin - 1e-3 <= each["ts"] < end for begin, end in lane), "viewers draw no arrow that ends outside"
    return [event for event in events if event["ph"] == "X"], arrows


def test_a_step_of_a_cluster_is_one_picture() -> None:
    with tf.LocalCluster(ps=1, worker=1) as cluster:
        model = least_squares()
        with tf.Session(cluster.target("worker"), graph=model.graph) as session:
            session.run(model.init)
            address = cluster.target("ps").removeprefix("grpc://")

            def three_steps() -> None:
                for _ in range(3):
                    model.train(session)

            three_steps()
            trace = record(address, three_steps)
            before = len(trace.events)
            three_steps()
    assert (trace.steps, trace.missing, trace.dropped) == (3, {}, {})
    assert len(trace.events) == before
    assert {event.task.split("/")[1] for event in trace.events if event.task != "client"} == {"job:ps", "job:worker"}
    slices, arrows = slices_of(trace)
    names = [each["name"] for each in slices]
    assert names.count("step") == 3
    assert names.count("part") == 6
    assert names.count("run") == 1
    (client,) = (each for each in slices if each["name"] == "run")
    # By the aligned clocks the steps lie within the time that the client waited for them.
    for each in slices:
        assert client["ts"] - 2000 <= each["ts"] <= client["ts"] + client["dur"] + 2000
    between = {(begin["name"].partition(" ")[2] or begin["name"], begin["pid"], end["pid"]) for begin, end in arrows}
    server, worker = sorted({each["pid"] for each in slices if each["name"] == "part"})
    assert {("ask", worker, server), ("done", server, worker), ("bytes", server, worker), ("bytes", worker, server)} <= between


_SERVE = """
import sys
import weft as tf
with tf.train.Server({spec!r}, "ps", 0):
    print("up", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(shutil.which("faketime") is None, reason="no faketime here, which sets a process's clock")
def test_the_clock_of_a_host_that_is_ahead_is_aligned() -> None:
    spec = {job: [f"localhost:{port}"] for job, port in zip(("ps", "worker"), free_ports(2), strict=True)}
    command = ["faketime", "-f", "+100s", sys.executable, "-c", _SERVE.format(spec=spec)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as ahead:
        assert ahead.stdin is not None
        assert ahead.stdout is not None
        try:
            assert ahead.stdout.readline() == "up\n"
            with tf.train.Server(spec, "worker", 0) as worker:
                model = least_squares()
                with tf.Session(worker.target, graph=model.graph) as session:
                    session.run(model.init)
                    observer = TaskObserver(spec["ps"][0])
                    assert observer.clock_offset_s(20.0) == pytest.approx(100.0, abs=1.0)
                    observer.close()
                    trace = record(spec["worker"][0], lambda: model.train(session))
                    metadata, traced = tf.RunMetadata(), tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
                    before_s = time.time()
                    session.run(model.step, {model.fed: [[1.0] * 8]}, traced, metadata)
                    took_s = time.time() - before_s
        finally:
            ahead.stdin.close()
    tasks = {stats.device.split("/")[1]: stats.node_stats for stats in metadata.step_stats.dev_stats}
    assert {"job:ps", "job:worker"} <= tasks.keys()
    for node in tasks["job:ps"]:
        assert 0 <= node.all_start_micros / 1e6 - before_s <= took_s
    slices, _ = slices_of(trace)
    (client,) = (each for each in slices if each["name"] == "run")
    assert len({each["pid"] for each in slices if each["name"] == "part"}) == 2
    for each in slices:
        assert client["ts"] - 50_000 <= each["ts"] <= client["ts"] + client["dur"] + 50_000


def test_a_failed_step_and_one_of_a_single_stage_are_recorded_too() -> None:
    with Server({"worker": ["localhost:0"]}) as server, tf.Session(server.target) as session:
        check = tf.check_numerics(tf.placeholder(tf.float32, [], name="fed"), "it is no number")

        def one_that_fails() -> None:
            session.run(check, {"fed:0": 1.0})
            with pytest.raises(InvalidArgumentError):
                session.run(check, {"fed:0": float("nan")})

        trace = record(server.target.removeprefix("grpc://"), one_that_fails)
    assert [bool(event.more["error"]) for event in trace.events if event.kind == "step"] == [False, True]
    slices_of(trace)


def test_only_one_records_at_a_time_and_nothing_is_left_on() -> None:
    with Server({"worker": ["localhost:0"]}) as server:
        one, other = TaskObserver(server.target.removeprefix("grpc://")), TaskObserver(server.target.removeprefix("grpc://"))
        try:
            one.begin_recording(60.0, 5.0)
            with pytest.raises(AlreadyExistsError, match="recorded by somebody else"):
                other.begin_recording(60.0, 5.0)
            assert server.worker.recording is not None
            assert one.end_recording(20.0) == {"events": [], "dropped": 0}
            assert server.worker.recording is None
            with pytest.raises(FailedPreconditionError, match="not being recorded"):
                one.end_recording(20.0)
        finally:
            one.close()
            other.close()


def test_what_ran_at_a_time_gets_lanes_of_its_own() -> None:
    more = {"step": "1", "error": ""}
    parts = [TaskEvent("/job:a/task:0", "part", "s", 0.0, 2.0, more)]
    parts.append(TaskEvent("/job:a/task:0", "part", "s", 1.0, 3.0, {"step": "2", "error": ""}))
    for begin, step in ((0.5, "1"), (0.6, "1"), (1.5, "2")):
        stage = {"step": step, "device": "CPU:0", "number": 0, "ready_s": begin - 0.3, "way": "host"}
        parts.append(TaskEvent("/job:a/task:0", "stage", "Add", begin, begin + 0.4, stage))
    slices, _ = slices_of(ClusterTrace(parts, {}, {}))
    assert len({each["tid"] for each in slices if each["name"] == "part"}) == 2
    assert len({each["tid"] for each in slices if each["name"] == "Add"}) == 3
    assert [each["dur"] for each in slices if each["name"] == "queued"] == [pytest.approx(300_000), pytest.approx(300_000)]


def test_the_command_writes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Server({"worker": ["localhost:0"]}) as server:
        path = tmp_path / "trace.json"
        assert main(["trace", server.target, "-o", str(path), "--seconds", "0.1"]) == 0
        assert "Recorded 0 steps" in capsys.readouterr().out
        assert json.loads(path.read_text())["otherData"] == {"missing": {}, "dropped": {}}
        assert main(["trace", server.target, "-o", str(tmp_path / "no" / "folder"), "--seconds", "0.1"]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.endswith("No such file or directory")
        with pytest.raises(SystemExit):
            main(["trace", server.target, "--seconds", "-1"])
        assert "expected seconds, more than 0, got '-1'" in capsys.readouterr().err
