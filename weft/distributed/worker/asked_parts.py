"""AskedParts: the parts of steps that peers have asked this task for, and its answers."""

from __future__ import annotations

import logging
from typing import Final

import numpy as np

from weft import errors
from weft.channel.connection import Connection
from weft.errors import AbortedError, OpError
from weft.protocol import messages
from weft.runtime.executor import Step
from weft.runtime.step_trace import StepTrace
from weft.runtime.worker import Worker

_LOG: Final = logging.getLogger("weft")


class AskedParts:
    """Runs parts for the peers of one worker. All methods are safe from any thread, and none waits."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._askers: dict[int, Connection] = {}  # by step

    def start(self, connection: Connection, request: messages.RunGraph) -> None:
        """Run a part on this thread, as far as it goes; the peer is answered once."""
        trace = StepTrace() if request.trace_level else None
        self._askers[request.step_id] = connection

        def done(step: Step) -> None:
            self._askers.pop(step.step_id, None)
            self._send(connection, self._answer(step, trace))

        try:
            self._worker.run_graph(request.step_id, request.graph_handle, request.feeds, done, trace)
        except OpError as error:
            self._askers.pop(request.step_id, None)
            self._send(connection, _failure(request.step_id, error))

    def abort_of(self, connection: Connection, peer: str) -> None:
        """End the parts that were asked for by a connection: it is lost."""
        orphans = [step_id for step_id, asker in list(self._askers.items()) if asker is connection]
        for step_id in orphans:
            self._askers.pop(step_id, None)
            self._worker.abort(step_id, AbortedError.of(f"{peer} asked for this step and is gone"))

    def _answer(self, step: Step, trace: StepTrace | None) -> messages.StepDone | messages.StepFailed:
        if step.error is not None:
            return _failure(step.step_id, step.error)
        try:
            fetches = tuple([np.asarray(value) for value in step.fetches])
        except Exception as error:
            text = f"Computing a fetch on {self._worker.task} failed: {error}"
            return _failure(step.step_id, errors.InternalError.of(text))
        return messages.StepDone(step.step_id, fetches, trace.as_proto().SerializeToString() if trace is not None else b"")

    def _send(self, connection: Connection, message: messages.Message) -> None:
        try:
            connection.send(message)
        except OpError as error:
            # The peer is gone; `abort_of` deals with what it had asked for.
            _LOG.info("%s: an answer could not be sent: %s", self._worker.task, error)


def _failure(step_id: int, error: OpError) -> messages.StepFailed:
    name = error.op.name if error.op is not None else error.node_def.name if error.node_def is not None else ""
    return messages.StepFailed(step_id, error.error_code, error.message, name, b"")
