"""Runs, steps and parts as spans of OpenTelemetry: one trace over processes, and nothing where nobody has set that up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from weft.distributed.server.local_cluster import free_addresses

pytest.importorskip("opentelemetry.sdk.trace", reason="pip install 'weft[otel]'")

pytestmark = pytest.mark.timeout(120)

PROGRAM = Path(__file__).with_name("traced_task.py")
KEPT = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
"""
"""Keeps the spans of the program that follows in `exporter`."""
QUIET = """
import sys
{before}
import weft as tf
with tf.train.Server.create_local_server() as server, tf.Session(server.target) as session:
    print(session.run(tf.constant(3)), [name for name in sys.modules if name.split(".")[0] == "opentelemetry"])
from weft.runtime.step.spans import spans
print(spans.tracing)
"""


def spans_of(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def test_a_run_is_one_trace_over_the_processes_of_client_master_and_workers() -> None:
    addresses = free_addresses(2)
    command = [sys.executable, str(PROGRAM), *addresses]
    servers = [
        subprocess.Popen([*command, role], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for role in ("ps", "worker")
    ]
    try:
        for server in servers:
            assert server.stdout is not None
            assert server.stdout.readline() == "serves\n"
        client = subprocess.run([*command, f"grpc://{addresses[1]}"], capture_output=True, text=True, check=True, timeout=60)
        of_client = spans_of(client.stdout)
        of_ps, of_worker = (spans_of(server.communicate(timeout=20)[0]) for server in servers)
    finally:
        for server in servers:
            server.kill()
    epoch = next(span for span in of_client if span["name"] == "epoch")
    joined = [span for span in [*of_client, *of_worker, *of_ps] if span["trace"] == epoch["trace"]]
    by_number = {span["span"]: span for span in joined}

    def above(span: dict[str, Any]) -> str:
        return by_number[span["parent"]]["name"] if span["parent"] else ""

    assert all(not span["parent"] or span["parent"] in by_number for span in joined), "a span's parent is in no process"
    assert {(span["name"], above(span)) for span in joined} >= {
        ("epoch", ""), ("weft.run", "epoch"), ("weft.step", "weft.run"), ("weft.part", "weft.step"),
        ("weft.stage", "weft.part"), ("weft.send", "weft.part"), ("weft.receive", "weft.part"),
    }  # fmt: skip
    parts = [span for span in joined if span["name"] == "weft.part"]
    assert {span["more"]["weft.task"] for span in parts} == {"/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"}
    (step,) = (span for span in joined if span["name"] == "weft.step")
    assert step in of_worker
    assert sorted(step["moments"]) == ["ask", "ask", "done", "done"]
    assert {span["more"]["weft.step"] for span in parts} == {step["more"]["weft.step"]}
    sent = [span for span in of_ps if span["name"] == "weft.send" and span["trace"] == epoch["trace"]]
    assert [(span["more"]["weft.peer"], span["more"]["weft.bytes"]) for span in sent] == [("/job:worker/replica:0/task:0", 16)]
    assert all(span["begin"] <= span["end"] for span in joined)


def test_a_failed_run_has_its_error_in_each_span() -> None:
    program = """
import weft as tf
x = tf.placeholder(tf.float32, [])
with tf.Session() as session:
    try:
        session.run(tf.check_numerics(x, "not a number"), {x: float("nan")})
    except tf.errors.InvalidArgumentError:
        pass
print(sorted((span.name, span.status.status_code.name) for span in exporter.get_finished_spans() if span.name != "weft.stage"))
"""
    ran = subprocess.run([sys.executable, "-c", KEPT + program], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.splitlines()[-1] == "[('weft.part', 'ERROR'), ('weft.run', 'ERROR'), ('weft.step', 'ERROR')]"


def test_code_that_is_made_is_a_span_in_the_trace_of_the_step_that_ran() -> None:
    program = """
import time
import weft as tf
x = tf.random_normal([256, 256])
y = tf.reduce_sum(tf.matmul(tf.tanh(x), x))
def codes():
    return [span for span in exporter.get_finished_spans() if span.name == "weft.compile"]
with tf.Session() as session:
    deadline_s = time.monotonic() + 50
    while not codes() and time.monotonic() < deadline_s:
        session.run(y)
traces = {span.context.trace_id for span in exporter.get_finished_spans() if span.name == "weft.run"}
print([span.context.trace_id in traces for span in codes()][:1])
"""
    ran = subprocess.run([sys.executable, "-c", KEPT + program], capture_output=True, text=True, check=True, timeout=100)
    assert ran.stdout.splitlines()[-1] == "[True]"


@pytest.mark.parametrize("before", ["", "import opentelemetry.trace"])
def test_without_a_provider_nothing_is_loaded_or_made(before: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", QUIET.format(before=before)], capture_output=True, text=True, check=True, timeout=60
    )
    first, second = ran.stdout.splitlines()
    assert second == "None"
    assert first.startswith("3 [")
    if not before:
        assert first == "3 []"
