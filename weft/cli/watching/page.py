"""The live page: made whole by the server, and kept up to date by one stream of its sections that have changed."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from html import escape
from typing import Final

from weft.cli.watching import sections
from weft.cli.watching.cluster_view import ClusterView
from weft.distributed.rpc.pages.http_door import Page

_TITLES: Final = {
    "tasks": "Tasks",
    "waits": "Who waits for whom",
    "traffic": "Traffic",
    "variables": "Variables",
    "staleness": "Staleness of updates",
    "graphs": "Parts of graphs",
    "queues": "Queues",
    "failures": "Failures",
    "log": "Log",
}
_MAKERS: Final[dict[str, Callable[[ClusterView], str]]] = {
    "tasks": sections.tasks,
    "waits": sections.waits,
    "traffic": sections.traffic,
    "variables": sections.variables,
    "staleness": sections.staleness,
    "graphs": sections.graphs,
    "queues": sections.queues,
    "failures": sections.failures,
}
_STYLE: Final = """
:root{color-scheme:light dark;--line:#2563eb;--bar:#2563eb;--track:#8883;--good:#16a34a;--hot:#ea580c;--heat:234,88,12;
--wait0:#f59e0b;--wait1:#dc2626;--wait2:#9333ea;--edge:#8885}
body{font:14px/1.4 system-ui,sans-serif;margin:0 auto;max-width:1400px;padding:1rem}
h1{font-size:1.3rem}h2{font-size:1rem;margin:.2rem 0 .5rem}
section{border:1px solid var(--edge);border-radius:8px;padding:.6rem .9rem;margin:.7rem 0;overflow-x:auto}
table{border-collapse:collapse}td,th{padding:.15rem .6rem;text-align:left;white-space:nowrap}th{font-weight:600}
td:last-child{white-space:normal}.n{text-align:right;font-variant-numeric:tabular-nums}
.small{font-size:.8em;opacity:.75;margin:.2rem 0}
.serving{color:var(--good)}.missing,.stopped{color:#dc2626}.draining{color:#d97706}
figure{display:inline-block;margin:.2rem 1rem .2rem 0}
figcaption{text-align:center;font-size:.8em}.columns text{font-size:9px;fill:currentColor}
pre{max-height:20rem;overflow:auto;margin:0;font-size:.85em}
.pair{display:flex;gap:.7rem;flex-wrap:wrap}.pair section{flex:1;margin:0}
#lost{display:none;color:#dc2626}.lost #lost{display:inline}
"""
_SCRIPT: Final = """
const stream = new EventSource('events');
stream.onmessage = event => {
  document.body.classList.remove('lost');
  for (const [id, html] of Object.entries(JSON.parse(event.data))) {
    const node = document.getElementById(id);
    const follows = node.scrollHeight - node.scrollTop - node.clientHeight < 40;
    node.innerHTML = html;
    if (follows) node.scrollTop = node.scrollHeight;
  }
};
stream.onerror = () => document.body.classList.add('lost');
"""
_MOST_LINES: Final = 200


class LivePage:
    """The page of one cluster, which it looks at on a thread of its own. Safe from any thread.

    Args:
        view: the cluster; this page's from now on.
        interval_s: seconds between two looks.
    """

    def __init__(self, view: ClusterView, interval_s: float = 1.0) -> None:
        self._view = view
        self._interval_s = interval_s
        self._lines: deque[str] = deque(maxlen=_MOST_LINES)
        self._changed = threading.Condition()
        self._made: dict[str, str] = self._make()
        self._number = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="weft-watch", daemon=True)
        self._thread.start()

    def add_line(self, line: str) -> None:
        """Show a line in the log."""
        self._lines.append(line)

    def respond(self, path: str) -> Page | None:
        """The page, or the stream of its changes."""
        if path == "/":
            return Page(self._whole().encode())
        return Page(self._events(), "text/event-stream") if path == "/events" else None

    def close(self) -> None:
        """Look no more."""
        self._is_over.set()
        self._thread.join()
        with self._changed:
            self._changed.notify_all()
        self._view.close()

    def _run(self) -> None:
        while not self._is_over.is_set():
            self._view.look()
            made = self._make()
            with self._changed:
                self._made, self._number = made, self._number + 1
                self._changed.notify_all()
            self._is_over.wait(self._interval_s)

    def _make(self) -> dict[str, str]:
        made = {name: make(self._view) for name, make in _MAKERS.items()}
        return {**made, "log": sections.log(self._view, list(self._lines)), "time": time.strftime("%H:%M:%S")}

    def _whole(self) -> str:
        with self._changed:
            made = dict(self._made)
        parts = {name: f"<section><h2>{title}</h2>{_holder(name, made[name])}</section>" for name, title in _TITLES.items()}
        body = (
            parts["tasks"] + f'<div class="pair">{parts["waits"]}{parts["traffic"]}</div>' + parts["variables"]
            + f'<div class="pair">{parts["staleness"]}{parts["queues"]}</div>'
            + parts["graphs"] + parts["failures"] + parts["log"]
        )  # fmt: skip
        return (
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>weft watch</title>'
            '<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">'
            f'<style>{_STYLE}</style><h1>weft <small id="time">{escape(made["time"])}</small> '
            f'<small id="lost">the connection with weft watch is lost</small></h1>{body}<script>{_SCRIPT}</script></html>'
        )

    def _events(self) -> Iterator[bytes]:
        """Every look's changes; the first has everything."""
        seen: dict[str, str] = {}
        number = -1
        while not self._is_over.is_set():
            with self._changed:
                self._changed.wait_for(lambda seen=number: self._number != seen or self._is_over.is_set())  # type: ignore[misc]
                made, number = self._made, self._number
            changed = {name: html for name, html in made.items() if seen.get(name) != html}
            seen = made
            yield f"data: {json.dumps(changed)}\n\n".encode()


def _holder(name: str, html: str) -> str:
    tag = "pre" if name == "log" else "div"
    return f'<{tag} id="{name}">{html}</{tag}>'
