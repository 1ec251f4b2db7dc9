"""Observed: what makes a server visible: its reporter, and the port of its metrics where one was asked for."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Mapping
from typing import Final

from weft.credentials.cluster_token import find_token
from weft.distributed.master.master import Master
from weft.distributed.master.worker_cache import task_names
from weft.distributed.rpc.pages.http_door import HttpDoor, Page, Respond, page_token
from weft.distributed.server.admissions import Admissions
from weft.distributed.server.observation.recorder import Recorder
from weft.distributed.server.observation.reporter import Reporter
from weft.distributed.server.server_def import OwnTask
from weft.distributed.worker.network.task_network import TaskNetwork
from weft.errors import InvalidArgumentError
from weft.runtime.worker import Worker

VARIABLE: Final = "WEFT_METRICS_PORT"
_LOG: Final = logging.getLogger("weft")
_METRICS: Final = "weft.distributed.server.observation.metrics"


class Observed:
    """Belongs to one server. Safe from any thread.

    Args:
        master, worker, network, task, admissions: the server's.
        metrics_port: where to serve metrics; by default as the environment says.

    Raises:
        InvalidArgumentError: the environment names no port.
    """

    def __init__(
        self, master: Master, worker: Worker, network: TaskNetwork, task: OwnTask, admissions: Admissions,
        metrics_port: int | None,
    ) -> None:  # fmt: skip
        self._task = task
        self._admissions = admissions
        self._wanted = _port_of(os.environ) if metrics_port is None else metrics_port
        self._cluster = task_names(task.cluster)
        self._door: HttpDoor | None = None
        self._pages: Respond | None = None
        self.recorder = Recorder(master, worker)
        self.reporter = Reporter(master, worker, network, self._cluster)

    def open(self, port: int) -> None:
        """Begin: the server has this port. Raises UnknownError when the metrics' port is in use."""
        self._cluster[self._task.name] = f"{self._task.host}:{port}"
        if self._wanted is None:
            return
        token = find_token(os.environ)
        self._door = HttpDoor(
            self._task.host, self._wanted, self._respond, is_open=self._admissions.is_open,
            tls=self._admissions.context(is_server=True), token=None if token is None else page_token(token),
        )  # fmt: skip
        _LOG.info("Metrics of %s at %smetrics", self._task.name, self._door.url)

    def _respond(self, path: str) -> Page | None:
        # Prometheus' package is loaded when somebody first reads: it takes a thirtieth of the CPU time until a server serves.
        if self._pages is None:
            try:
                self._pages = importlib.import_module(_METRICS).MetricsPages(self.reporter.report).respond
            except Exception as error:
                # Such as a package that is damaged: whoever asks could not tell it from a network that fails.
                _LOG.exception("The metrics of %s cannot be loaded", self._task.name)
                return Page(f"The metrics cannot be loaded: {error}\n".encode(), "text/plain; charset=utf-8", 500)
        return self._pages(path)

    def note_address(self, task: str, address: str) -> None:
        """Another task is at this address from now on."""
        self._cluster[task] = address

    @property
    def metrics_port(self) -> int:
        """The port of the metrics; 0 when there is none."""
        return 0 if self._door is None else self._door.port

    def close(self) -> None:
        """End."""
        if self._door is not None:
            self._door.stop()
        self.recorder.close()
        self.reporter.sampler.stop()


def _port_of(environment: Mapping[str, str]) -> int | None:
    text = environment.get(VARIABLE, "")
    if not text:
        return None
    if not text.isdecimal() or int(text) > 65535:
        raise InvalidArgumentError.of(f"{VARIABLE} is {text!r}, which is no port; 0 stands for any free one")
    return int(text)
