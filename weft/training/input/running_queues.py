"""slim's queues: the queue runners of a graph run for as long as a `with` lasts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from weft.framework.building.aliases import Nest
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.training.coordinator import Coordinator

_RUNNING: Final = threading.Lock()
_GRACE_S: Final = 120


class NestedQueueRunnerError(Exception):
    """Queue runners were asked for while others run."""


@contextmanager
def QueueRunners(session: Nest) -> Iterator[None]:
    """Run the queue runners of the default graph; they are stopped in the end.

        with tf.Session() as session, slim.queues.QueueRunners(session):
            session.run(images)

    Args:
        session: the session that they run steps of; it is closed if one does not stop.

    Raises:
        NestedQueueRunnerError: this is within another `QueueRunners`.
    """
    if not _RUNNING.acquire(blocking=False):
        raise NestedQueueRunnerError("QueueRunners cannot be nested")
    try:
        coordinator = Coordinator()
        threads: list[threading.Thread] = []
        for runner in get_default_graph().get_collection(GraphKeys.QUEUE_RUNNERS):
            threads.extend(runner.create_threads(session, coord=coordinator, daemon=True, start=True))
        try:
            yield
        finally:
            coordinator.request_stop()
            try:
                coordinator.join(threads, stop_grace_period_secs=_GRACE_S)
            except RuntimeError:
                session.close()
    finally:
        _RUNNING.release()
