"""A cluster as a table in HTML, as notebooks show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from weft.distributed.client.observation.task_report import TaskReport, short_name
from weft.errors import OpError


def cluster_table(addresses: Mapping[str, str], reports: Mapping[str, TaskReport | OpError]) -> str:
    """A row for each task: its address, what it has done, what it holds and for whom it waits; or why it does not answer."""
    head = ("task", "address", "state", "steps", "parts", "live", "variables", "memory", "waits for")
    rows = "".join(f"<tr>{''.join(_cells(task, address, reports[task]))}</tr>" for task, address in addresses.items())
    return f"<table><tr>{''.join(f'<th>{title}</th>' for title in head)}</tr>{rows}</table>"


def _cells(task: str, address: str, report: TaskReport | OpError) -> Iterator[str]:
    yield f"<td>{escape(short_name(task))}</td><td>{escape(address)}</td>"
    if isinstance(report, OpError):
        yield f'<td colspan="7">{escape(report.message)}</td>'
        return
    awaited = sorted({short_name(each) for wait in report.waits for each in wait.tasks})
    megabytes = report.resident_bytes / 2**20
    for value in (
        report.state, f"{report.steps:,}", f"{report.parts:,}", str(max(report.live_steps, report.live_parts)),
        f"{len(report.variables)} of {report.variable_bytes:,} bytes", f"{megabytes:,.0f} MiB", ", ".join(awaited),
    ):  # fmt: skip
        yield f"<td>{escape(value)}</td>"
