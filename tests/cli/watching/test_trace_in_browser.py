"""A trace of a cluster in the trace viewer of Chrome (Catapult), as the package xprof ships it: nothing is passed over."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import weft as tf
from tests.chromium import NEEDS_CHROMIUM, chromium_tab
from tests.distributed.client.observation.least_squares import least_squares
from weft.distributed.client.observation.cluster_trace import record

XPROF = importlib.util.find_spec("xprof")
pytestmark = [
    *NEEDS_CHROMIUM,
    pytest.mark.skipif(XPROF is None, reason="no trace viewer here: pip install --no-deps xprof"),
]

# Chrome's own importer of the format, and what it made of a trace.
_IMPORT = """async text => {
    const model = new tr.Model();
    new tr.importer.Import(model, new tr.importer.ImportOptions()).importTraces([text]);
    return {
        warnings: model.importWarnings.map(each => each.message),
        arrows: model.flowEvents.filter(each => each.startSlice && each.endSlice).length,
        tasks: model.getAllProcesses().map(each => each.name),
        slices: model.getAllThreads().reduce((count, each) => count + each.sliceGroup.length, 0),
    };
}"""


class _Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def viewer() -> Iterator[str]:
    assert XPROF is not None
    assert XPROF.origin is not None
    handler = functools.partial(_Files, directory=str(Path(XPROF.origin).parent / "static"))
    with http.server.ThreadingHTTPServer(("localhost", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://localhost:{server.server_port}/trace_viewer_index.html"
        server.shutdown()
        thread.join()


def test_the_viewer_takes_all_slices_and_joins_all_arrows(viewer: str) -> None:
    with tf.LocalCluster(ps=2, worker=1) as cluster:
        model = least_squares()
        with tf.Session(cluster.target("worker"), graph=model.graph) as session:
            session.run(model.init)
            trace = record(cluster.target("ps").removeprefix("grpc://"), lambda: [model.train(session) for _ in range(20)])
    text = trace.as_json()
    phases = [event["ph"] for event in json.loads(text)["traceEvents"]]
    with chromium_tab() as tab:
        tab.goto(viewer)
        tab.wait_for_function("() => window.tr && tr.importer && tr.importer.Import")
        shown = tab.evaluate(_IMPORT, text)
    assert phases.count("s") > 40
    assert shown["warnings"] == []
    assert (shown["slices"], shown["arrows"]) == (phases.count("X"), phases.count("s"))
    assert sorted(shown["tasks"]) == ["client", "ps:0", "worker:0"]
