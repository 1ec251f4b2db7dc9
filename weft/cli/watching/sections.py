"""The sections of the live page: each is HTML made of what was seen last. All that tasks tell is escaped."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from weft.cli.columns import size_text
from weft.cli.watching import charts
from weft.cli.watching.cluster_view import ClusterView, TaskView
from weft.cli.watching.top import duration_text
from weft.distributed.client.observation.task_report import short_name, staleness_bounds

_MOST_ROWS: Final = 12
_MOST_LINES: Final = 200


def tasks(view: ClusterView) -> str:
    """Each task: its state, load and rates."""
    if not view.tasks:
        return f'<p class="missing">Waiting for the cluster: {escape(view.missing)}</p>'
    head = (
        "task",
        "state",
        "steps/s",
        "",
        "step",
        "where a step's time goes",
        "CPUs",
        "memory",
        "sent/s",
        "received/s",
        "queued",
    )
    return _table(head, (_task_row(task) for task in view.tasks.values()))


def _task_row(task: TaskView) -> str:
    name = f'<td title="{escape(task.address)}">{escape(task.name)}</td><td class="{task.state}">{task.state}</td>'
    report, now = task.report, task.now
    if task.missing or report is None:
        return f'{name}<td colspan="9" class="missing">{escape(task.missing or "not asked yet")}</td>'
    queued = sum(peer.queued_bytes for peer in report.peers)
    steps = [rates.steps or rates.parts for rates in task.rates]
    what = "steps" if now.steps or not now.parts else "parts of steps"
    return name + "".join(
        (
            f'<td class="n" title="{what} a second">{_number(now.steps or now.parts)}</td>',
            f"<td>{charts.line(steps, f'{what} a second of {task.name}')}</td>",
            f'<td class="n">{"" if now.step_s is None else duration_text(now.step_s)}</td>',
            f"<td>{_phases(task)}</td>",
            f'<td class="n">{now.cpus:.2f}</td>',
            f'<td class="n">{size_text(report.resident_bytes)}</td>',
            f'<td class="n">{size_text(int(now.sent_bytes))}</td><td class="n">{size_text(int(now.received_bytes))}</td>',
            f'<td class="n">{size_text(queued) if queued else ""}</td>',
        )
    )


def _phases(task: TaskView) -> str:
    """How the time of steps divides: having something to run, or waiting, and for whom."""
    now = task.now
    total = now.computing + sum(now.waiting.values())
    if total <= 0.002:
        return ""
    shares = [("computes", now.computing / total, "var(--good)")]
    for i, (peer, share) in enumerate(sorted(now.waiting.items(), key=lambda each: -each[1])):
        shares.append((f"waits for {peer}", share / total, f"var(--wait{i % 3})"))
    told = "; ".join(f"{name} {share:.0%}" for name, share, _ in shares[:3])
    return f'{charts.stacked(shares)}<div class="small">{escape(told)}</div>'


def waits(view: ClusterView) -> str:
    """Who waits for whom, and the steps that have waited longest."""
    names = list(view.tasks)
    waiting = {task.name: task.now.waiting for task in view.tasks.values()}
    rows = []
    for name in names:
        cells = "".join(
            charts.cell(waiting[name].get(peer, 0.0), f"{waiting[name][peer]:.2f}" if peer in waiting[name] else "")
            for peer in names
        )
        rows.append(f"<th>{escape(name)}</th>{cells}")
    matrix = _table(("waits for", *names), rows)
    longest = sorted(
        ((wait, task.name) for task in view.tasks.values() if task.report for wait in task.report.waits),
        key=lambda pair: -pair[0].age_s,
    )
    lines = [
        f"<td>{escape(name)}</td><td>{escape(wait.step)}</td><td class='n'>{duration_text(wait.age_s)}</td>"
        f"<td>{escape(', '.join(map(short_name, wait.tasks)) or wait.where)}</td>"
        for wait, name in longest[:_MOST_ROWS]
    ]
    note = '<p class="small">steps that wait at a time, on average; a row waits for a column</p>'
    steps = _table(("task", "step", "for", "waits for, or at"), lines) if lines else ""
    return f"{matrix}{note}{steps}{_late_updates(view)}"


def _late_updates(view: ClusterView) -> str:
    """The updates of replicas in step that wait, and whose gradients they lack."""
    rows = [
        f"<td>{escape(name)}</td><td>{escape(update.name)}</td><td class='n'>{update.step}</td>"
        f"<td class='n'>{update.count} of {update.needed}</td><td>{escape(update.missing_text)}</td>"
        for name, update in view.late_updates()[:_MOST_ROWS]
    ]
    return _table(("task", "update by", "step", "gradients", "missing"), rows) if rows else ""


def traffic(view: ClusterView) -> str:
    """Bytes a second from each task to each other."""
    names = list(view.tasks)
    sent = {task.name: {peer: rates.sent_bytes for peer, rates in task.now.peers.items()} for task in view.tasks.values()}
    most = max((rate for of_task in sent.values() for rate in of_task.values()), default=0.0) or 1.0
    rows = [
        f"<th>{escape(name)}</th>"
        + "".join(
            charts.cell(sent[name].get(peer, 0.0) / most, size_text(int(sent[name][peer])) if sent[name].get(peer) else "")
            for peer in names
        )
        for name in names
    ]
    return _table(("to", *names), rows) + '<p class="small">bytes a second; a row sends to a column</p>'


def variables(view: ClusterView) -> str:
    """Where variables lie, how large they are, and how hot each of their tasks is."""
    keepers = [task for task in view.tasks.values() if task.report is not None and task.report.variables]
    most = max((task.report.variable_bytes for task in keepers if task.report), default=0) or 1
    hot = max((task.now.sent_bytes + task.now.received_bytes for task in keepers), default=0.0) or 1.0
    rows = []
    for task in keepers:
        report, went = task.report, task.now.sent_bytes + task.now.received_bytes
        assert report is not None
        largest = "; ".join(f"{each.name} {each.shape} {size_text(each.size_bytes)}" for each in report.variables[:4])
        more = f" and {len(report.variables) - 4} more" if len(report.variables) > 4 else ""
        size = size_text(report.variable_bytes)
        rows.append(
            f"<td>{escape(task.name)}</td><td class='n'>{len(report.variables)}</td>"
            f"<td>{charts.bar(report.variable_bytes / most, f'{task.name}: {size}')} {size}</td>"
            f"<td>{charts.bar(went / hot, f'{task.name}: traffic', colour='var(--hot)')} {size_text(int(went))}/s</td>"
            f"<td class='n'>{_number(task.now.updates)}</td><td>{escape(largest + more)}</td>"
        )
    return _table(("task", "variables", "size", "traffic", "updates/s", "largest"), rows) if rows else _none("No variables")


def staleness(view: ClusterView) -> str:
    """How stale the updates of each task's variables are."""
    parts = []
    for task in view.tasks.values():
        if task.report is None or not task.report.staleness:
            continue
        counts = [(_bounds(place), count) for place, count in enumerate(task.report.staleness)]
        label = f"updates of {task.name} by how many others came in between"
        parts.append(f"<figure>{charts.histogram(counts, label)}<figcaption>{escape(task.name)}</figcaption></figure>")
    return "".join(parts) or _none("No updates by gradients of other tasks")


def _bounds(place: int) -> str:
    least, most = staleness_bounds(place)
    return str(least) if least == most else f"{least}-{most}"


def graphs(view: ClusterView) -> str:
    """The graph's parts per task."""
    rows = [
        f"<td>{escape(task.name)}</td><td>{escape(graph.devices)}</td><td class='n'>{graph.nodes}</td>"
        f"<td class='n'>{graph.compiled_stages} of {graph.stages}</td><td class='n'>{graph.runs:,}</td>"
        f"<td>{escape(', '.join(short_name(peer) for peer in graph.peers.split(', ') if peer))}</td>"
        f"<td>{escape(graph.ops)}</td>"
        for task in view.tasks.values()
        if task.report is not None
        for graph in task.report.graphs[:_MOST_ROWS]
    ]
    head = ("task", "devices", "nodes", "compiled stages", "runs", "exchanges with", "ops")
    return _table(head, rows) if rows else _none("No graphs")


def queues(view: ClusterView) -> str:
    """How full queues are."""
    rows = []
    for task in view.tasks.values():
        for queue in () if task.report is None else task.report.queues[:_MOST_ROWS]:
            limit = f" of {queue.capacity}" if queue.capacity >= 0 else ""
            share = queue.size / queue.capacity if queue.capacity > 0 else 0.0
            rows.append(
                f"<td>{escape(task.name)}</td><td>{escape(queue.name)}</td><td>{escape(queue.kind)}</td>"
                f"<td>{charts.bar(share, f'{queue.name}: {queue.size}')} {queue.size}{limit}</td>"
            )
    return _table(("task", "queue", "kind", "filled"), rows) if rows else _none("No queues")


def failures(view: ClusterView) -> str:
    """The latest steps that failed, each by its first cause."""
    found = sorted(
        ((failure, task.name) for task in view.tasks.values() if task.report for failure in task.report.failures),
        key=lambda pair: -pair[0].time_s,
    )
    rows = [
        f"<td>{time.strftime('%H:%M:%S', time.localtime(failure.time_s))}</td><td>{escape(name)}</td>"
        f"<td>{escape(failure.kind)}</td><td>{escape(failure.node)}</td><td>{escape(failure.message[:400])}</td>"
        for failure, name in found[:_MOST_ROWS]
    ]
    return _table(("time", "task", "error", "node", "first cause"), rows) if rows else _none("No step has failed")


def log(view: ClusterView, lines: Sequence[str] = ()) -> str:
    """What tasks have logged, and the lines that the launcher has read of them."""
    logged = [f"{task.name} | {each}" for task in view.tasks.values() if task.report is not None for each in task.report.log]
    shown = [*logged, *lines][-_MOST_LINES:]
    return escape("\n".join(shown)) or "Nothing has been logged"


def _table(head: Sequence[str], rows: Iterable[str]) -> str:
    titles = "".join(f"<th>{escape(each)}</th>" for each in head)
    return f"<table><tr>{titles}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _none(text: str) -> str:
    return f'<p class="small">{escape(text)}</p>'


def _number(value: float) -> str:
    return "" if value == 0 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"
