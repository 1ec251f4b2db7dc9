"""Registrar: a session's parts as the tasks keep them: registered, registered again after a restart, deregistered.

It notices, and tells the session once, that a task is another run of itself.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tensorboard.compat.proto.config_pb2 import ConfigProto

from weft.distributed.master.steps.deployment import Part
from weft.distributed.master.steps.live_steps import LiveSteps
from weft.distributed.worker.worker_handle import WorkerHandle
from weft.errors import AbortedError, OpError
from weft.passes.partition import Partition

_LOG: Final = logging.getLogger("weft")


class Registrar:
    """Safe from any thread.

    Args:
        session_handle: the session's name in the cluster.
        config: its ConfigProto.
        find_worker: gives the handle of a task, by name.
        incarnations: which run of each task the session's state is on.
        steps: the session's steps, which end with it.
    """

    def __init__(
        self,
        session_handle: str,
        config: ConfigProto,
        find_worker: Callable[[str], WorkerHandle],
        incarnations: Mapping[str, int],
        steps: LiveSteps,
    ) -> None:
        self._session_handle = session_handle
        self._config = config
        self._find_worker = find_worker
        self._incarnations = dict(incarnations)
        self._steps = steps
        self._lock = threading.Lock()  # of the incarnations
        # What plans that are gone had registered. They go on any thread, perhaps while a lock is held, so nothing is sent then.
        self._retired: deque[Part] = deque()

    def register(self, partition: Partition, feed_places: Sequence[int]) -> Part:
        """Register a part with its task, as the task is now; `feed_places` are those of its feeds among the plan's.

        Raises:
            AbortedError: the task was restarted, and this session has not been told so before.
            OpError: the task cannot be reached or refuses the part, or the session was closed meanwhile.
        """
        worker = self._find_worker(partition.task)
        self._check_incarnation(partition.task, worker.connect())
        try:
            graph_handle = worker.register(self._session_handle, self._config, partition)
        finally:
            if self._steps.error is not None:
                # The session was closed meanwhile, and its end may have reached the task before this graph did.
                worker.close_session(self._session_handle)
        self._steps.raise_if_ended()
        return Part(partition, feed_places, worker, graph_handle, worker.incarnation)

    def renew(self, part: Part) -> Part:
        """Register a part again: its task was restarted, or the connection with it was lost. Raises as `register` does."""
        return self.register(part.partition, part.feed_places)

    def _check_incarnation(self, task: str, now: int) -> None:
        """Say once that a task is another run of itself.

        An error, and not only a line in the log: its variables may have values again, from another client that has found them
        missing, so nothing else would show this session that what it had done there is undone.
        """
        if not now:
            return
        with self._lock:
            before = self._incarnations.setdefault(task, now)
            self._incarnations[task] = now
        if before == now:
            return
        told = (
            f"Task {task} was restarted (incarnation {now}, before {before}), noticed at {time.strftime('%H:%M:%S')}. Its "
            "variables have lost their values; if they have others now, another session has initialized or restored them since"
        )
        _LOG.warning("%s", told)
        raise AbortedError.of(f"{told}. This session is told so once: its next run uses the task as it is now")

    def retire(self, parts: Sequence[Part]) -> None:
        """Take note of parts that no run will use any more; a session that is over has nothing registered."""
        if self._steps.error is None:
            self._retired.extend(parts)

    def deregister_retired(self) -> None:
        """Have the tasks forget what is retired."""
        while self._retired:
            part = self._retired.popleft()
            # A task that is gone, or was restarted, has forgotten it.
            with contextlib.suppress(OpError):
                if part.worker.incarnation == part.incarnation:
                    part.worker.deregister(part.graph_handle)
