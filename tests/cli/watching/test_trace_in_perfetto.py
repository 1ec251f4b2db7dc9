"""A trace of a cluster in Perfetto: its engine takes all of it, its page shows it. `make viewers` installs what this needs."""

from __future__ import annotations

import json

import pytest

import weft as tf
from tests.chromium import NEEDS_CHROMIUM, chromium_tab
from tests.cli.watching.perfetto import FOLDER, asked, served
from tests.distributed.client.observation.least_squares import least_squares
from weft.distributed.client.observation.cluster_trace import record

pytestmark = [
    *NEEDS_CHROMIUM,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="Perfetto is not here: make viewers installs it"),
]


@pytest.fixture(scope="module")
def trace():
    with tf.LocalCluster(ps=2, worker=1) as cluster:
        model = least_squares()
        with tf.Session(cluster.target("worker"), graph=model.graph) as session:
            session.run(model.init)
            recorded = record(cluster.target("ps").removeprefix("grpc://"), lambda: [model.train(session) for _ in range(20)])
    return recorded.as_json()


@pytest.fixture
def tab():
    with chromium_tab() as tab:
        yield tab


def test_its_engine_takes_all_slices_and_arrows_at_their_times_and_finds_no_error(trace, tab):
    events = json.loads(trace)["traceEvents"]
    phases = [event["ph"] for event in events]
    with served(trace) as address:
        slices, arrows, errors, tasks, last = asked(
            tab,
            address,
            trace,
            "select count(*) from slice where dur >= 0",
            "select count(*) from flow join slice on slice_in = slice.id",
            "select count(*) from stats where severity in ('error', 'data_loss') and value > 0",
            "select name from process where name is not null order by name",
            "select max(ts) from slice",
        )
    assert phases.count("s") > 40
    assert (slices, arrows, errors) == ([phases.count("X")], [phases.count("s")], [0])
    assert tasks == ["client", "ps:0", "worker:0"]
    assert last == [pytest.approx(1e3 * max(event["ts"] for event in events if event["ph"] == "X"), abs=2)]


def test_its_page_shows_a_track_for_each_thread_of_each_task(trace, tab):
    threads = {(event["pid"], event["tid"]) for event in json.loads(trace)["traceEvents"] if event["ph"] == "X"}
    failures = []
    tab.on("pageerror", lambda error: failures.append(error))
    with served(trace) as address:
        tab.goto(f"{address}index.html")
        tab.wait_for_function("window.globals && globals.traceErrors != undefined && Object.keys(globals.state.tracks).length")
        kinds, errors = tab.evaluate("[Object.values(globals.state.tracks).map(each => each.kind), globals.traceErrors]")
    assert (kinds.count("ChromeSliceTrack"), errors) == (len(threads), 0)
    assert failures == []


def test_what_the_hooks_write_opens_too(tab, tmp_path):
    with tf.LocalCluster(ps=1, worker=1) as cluster:
        model = least_squares()
        with model.graph.as_default():
            steps = tf.train.get_or_create_global_step().assign_add(1)
            hooks = [
                tf.train.ClusterTraceHook(save_steps=5, num_steps=2, output_dir=str(tmp_path / "cluster")),
                tf.train.ProfilerHook(save_steps=5, output_dir=str(tmp_path / "profiler")),
            ]
            with tf.train.MonitoredTrainingSession(cluster.target("worker"), hooks=hooks) as session:
                while session.run([model.step, steps], {model.fed: [[1.0] * 8]})[1] < 12:
                    pass
    written = sorted(tmp_path.glob("*/*.json"))
    assert {each.parent.name for each in written} == {"cluster", "profiler"}
    for each in written:
        trace = each.read_text()
        phases = [event["ph"] for event in json.loads(trace)["traceEvents"]]
        with served(trace) as address:
            slices, errors = asked(
                tab,
                address,
                trace,
                "select count(*) from slice where dur >= 0",
                "select count(*) from stats where severity in ('error', 'data_loss') and value > 0",
            )
        assert (slices, errors) == ([phases.count("X")], [0]), each
        assert phases.count("X") > 3
