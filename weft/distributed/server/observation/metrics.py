"""Metrics of one server in Prometheus' form, made of its report when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector, CollectorRegistry

from weft.distributed.client.observation.task_report import TaskReport, short_name, staleness_bounds
from weft.distributed.rpc.pages.http_door import Page

PATH: Final = "/metrics"
_KIND: Final = "text/plain; version=0.0.4; charset=utf-8"


class ReportCollector(Collector):
    """Gives a server's report as metrics, all with the label `task`.

    Args:
        report: makes the report.
    """

    def __init__(self, report: Callable[[], TaskReport]) -> None:
        self._report = report

    def collect(self) -> Iterator[Metric]:
        """The metrics of now."""
        report = self._report()
        task = short_name(report.task)
        info = InfoMetricFamily("weft_task", "The task, its version and what it does", labels=["task"])
        info.add_metric([task], {"version": report.version, "state": report.state, "host": report.host})
        yield info
        yield from _plain(report, task)
        yield from _by_peer(report, task)
        yield from _held(report, task)
        if report.staleness:
            yield _staleness(report, task)


def _plain(report: TaskReport, task: str) -> Iterator[Metric]:
    counters = (
        ("weft_steps", "Steps that the task's master has run", report.steps),
        ("weft_steps_timed", "Steps whose time is in weft_step_seconds", report.timed_steps),
        ("weft_step_seconds", "How long those steps took", report.step_s),
        ("weft_steps_failed", "Steps that failed", report.failed_steps),
        ("weft_parts", "Parts of steps that the task has run for any master", report.parts),
        ("weft_updates", "Steps that changed the task's variables by what other tasks sent", report.updates),
        ("weft_compilations", "Functions that were compiled", report.codes),
        ("weft_process_cpu_seconds", "CPU time of the process", report.cpu_s),
    )
    for name, about, value in counters:
        counter = CounterMetricFamily(name, about, labels=["task"])
        counter.add_metric([task], value)
        yield counter
    phases = CounterMetricFamily(
        "weft_phase_seconds",
        "Time of stages on the host, of compiled ones, and of tracing and compiling",
        labels=["task", "phase"],
    )
    for phase, value in (("host", report.host_s), ("compiled", report.compiled_s), ("compile", report.compile_s)):
        phases.add_metric([task, phase], value)
    yield phases
    gauges = (
        ("weft_live_steps", "Steps of the task's master that run now", report.live_steps),
        ("weft_live_parts", "Parts of steps that run in the task now", report.live_parts),
        ("weft_sessions", "Sessions of the task's master", report.sessions),
        ("weft_graphs", "Parts of plans that are registered", len(report.graphs)),
        ("weft_stages", "Stages of those parts", sum(graph.stages for graph in report.graphs)),
        (
            "weft_compiled_stages",
            "Those of them that have compiled code",
            sum(graph.compiled_stages for graph in report.graphs),
        ),
        ("weft_uptime_seconds", "How long the task has been there", report.uptime_s),
        ("weft_process_resident_bytes", "Memory of the process", report.resident_bytes),
        ("weft_variables_bytes", "Memory of variables", report.variable_bytes),
        ("weft_variables", "Variables that have values", len(report.variables)),
    )
    for name, about, gauge_value in gauges:
        gauge = GaugeMetricFamily(name, about, labels=["task"])
        gauge.add_metric([task], gauge_value)
        yield gauge


def _by_peer(report: TaskReport, task: str) -> Iterator[Metric]:
    waiting = CounterMetricFamily(
        "weft_waiting_seconds", "How long steps had nothing to run here before a peer sent something, by looks at them",
        labels=["task", "peer"],
    )  # fmt: skip
    for peer, seconds in report.waiting_s.items():
        waiting.add_metric([task, short_name(peer)], seconds)
    computing = CounterMetricFamily("weft_computing_seconds", "How long steps had something to run, by looks", labels=["task"])
    computing.add_metric([task], report.computing_s)
    sent_bytes = CounterMetricFamily("weft_sent_bytes", "Bytes to a peer", labels=["task", "peer"])
    sent = CounterMetricFamily("weft_sent_messages", "Messages to a peer", labels=["task", "peer"])
    received_bytes = CounterMetricFamily("weft_received_bytes", "Bytes from a peer", labels=["task", "peer"])
    received = CounterMetricFamily("weft_received_messages", "Messages from a peer", labels=["task", "peer"])
    queued = GaugeMetricFamily("weft_queued_bytes", "Bytes that wait for a peer to take them", labels=["task", "peer"])
    for each in report.peers:
        labels = [task, short_name(each.task)]
        sent_bytes.add_metric(labels, each.sent_bytes)
        sent.add_metric(labels, each.sent_messages)
        received_bytes.add_metric(labels, each.received_bytes)
        received.add_metric(labels, each.received_messages)
        queued.add_metric(labels, each.queued_bytes)
    yield from (waiting, computing, sent_bytes, sent, received_bytes, received, queued)


def _held(report: TaskReport, task: str) -> Iterator[Metric]:
    sizes = GaugeMetricFamily("weft_queue_size", "Elements of a queue", labels=["task", "queue"])
    capacities = GaugeMetricFamily("weft_queue_capacity", "How many a queue takes", labels=["task", "queue"])
    for queue in report.queues:
        sizes.add_metric([task, queue.name], queue.size)
        if queue.capacity >= 0:
            capacities.add_metric([task, queue.name], queue.capacity)
    used = GaugeMetricFamily("weft_device_used_bytes", "Memory in use of an accelerator", labels=["task", "device"])
    for device in report.devices:
        if device.limit_bytes:
            used.add_metric([task, device.name.rpartition("/device:")[2]], device.used_bytes)
    yield from (sizes, capacities, used)


def _staleness(report: TaskReport, task: str) -> Metric:
    histogram = HistogramMetricFamily(
        "weft_update_staleness", "How many updates others made while a step that updates ran", labels=["task"]
    )
    total, least_sum = 0, 0
    buckets = []
    for place, count in enumerate(report.staleness):
        least, most = staleness_bounds(place)
        total += count
        least_sum += count * least
        buckets.append((str(float(most)), total))
    histogram.add_metric([task], [*buckets, ("+Inf", total)], sum_value=least_sum)
    return histogram


class MetricsPages:
    """The page `/metrics`, and a line that leads there."""

    def __init__(self, report: Callable[[], TaskReport]) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(ReportCollector(report))

    def respond(self, path: str) -> Page | None:
        """The page at a path."""
        if path == "/":
            return Page(f'<a href="{PATH}">metrics</a>\n'.encode())
        if path.partition("?")[0] != PATH:
            return None
        return Page(generate_latest(self._registry), _KIND)
