"""The callbacks that average an epoch's values and report them elsewhere."""

from __future__ import annotations

import http.client
import json
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from weft.networks.callbacks.callback import Callback, Logs
from weft.platform.logs import tf_logging

_TIMEOUT_S: Final = 10.0


class BaseLogger(Callback):
    """Puts the means of an epoch's batches, weighted by their sizes, into the logs of its end.

    Args:
        stateful_metrics: the names of values that are means already, which are taken from the last batch.
    """

    def __init__(self, stateful_metrics: Iterable[str] | None = None) -> None:
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or ())
        self.seen = 0
        self.totals: dict[str, float] = {}

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Begin anew."""
        self.seen, self.totals = 0, {}

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Take in the values of a batch."""
        given = logs or {}
        size = given.get("size", 0)
        self.seen += size * given.get("num_steps", 1)
        for name, value in given.items():
            self.totals[name] = value if name in self.stateful_metrics else self.totals.get(name, 0) + value * size

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Put the means into the logs."""
        for name in self.params.get("metrics", ()):
            if logs is not None and name in self.totals:
                stays = name in self.stateful_metrics
                logs[name] = self.totals[name] if stays else self.totals[name] / self.seen


class RemoteMonitor(Callback):
    """Sends each epoch's values to a server, by HTTP POST; a server that cannot be reached is warned of.

    Args:
        root: the server's URL.
        path: the path below it.
        field: the field of the form that has the JSON.
        headers: further headers.
        send_as_json: whether the body is the JSON itself, rather than a form.
    """

    def __init__(
        self, root: str = "http://localhost:9000", path: str = "/publish/epoch/end/", field: str = "data",
        headers: Mapping[str, str] | None = None, send_as_json: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.root, self.path, self.field = root, path, field
        self.headers, self.send_as_json = headers, send_as_json

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Send the epoch's number and values."""
        told = {"epoch": epoch, **{name: _plain(value) for name, value in (logs or {}).items()}}
        text = json.dumps(told)
        body = text if self.send_as_json else urllib.parse.urlencode({self.field: text})
        kind = "application/json" if self.send_as_json else "application/x-www-form-urlencoded"
        headers = {"Content-Type": kind, **(self.headers or {})}
        request = urllib.request.Request(self.root + self.path, body.encode(), headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S):
                pass
        except (OSError, http.client.HTTPException) as error:
            tf_logging.warning("Warning: could not reach RemoteMonitor root server at %s: %s", self.root, error)


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.ndarray | np.generic) else value
