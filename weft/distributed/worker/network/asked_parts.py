"""AskedParts: the parts of steps that peers have asked this task for, and its answers."""

from __future__ import annotations

import logging
import threading
from typing import Final

import numpy as np

from weft import errors
from weft.channel.connection import Connection
from weft.errors import AbortedError, OpError
from weft.protocol import messages
from weft.protocol.outcome_table import UNKNOWN_FATE, Fate, OutcomeTable
from weft.protocol.protocol_error import LocalProtocolError
from weft.runtime.state.session_state import PartOutcome
from weft.runtime.step.step import Step
from weft.runtime.step_trace import StepTrace
from weft.runtime.worker import Worker

_LOG: Final = logging.getLogger("weft")


class AskedParts:
    """Runs parts for the peers of one worker, each once, however often it is asked for. Safe from any thread; nothing waits."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._lock = threading.Lock()  # of the outcomes
        self._askers: dict[int, Connection] = {}  # by step

    def start(self, connection: Connection, request: messages.RunGraph) -> None:
        """Run a part on this thread, as far as it goes; the peer is answered once.

        A part that is known already is not run again: the connection by which it was asked for first was cut.
        """
        step_id = request.step_id
        try:
            outcomes = self._worker.executor(request.graph_handle).session.outcomes
        except OpError as error:
            self._send(connection, _failure(step_id, error))
            return
        with self._lock:
            found = outcomes.ask(step_id)
            if found is Fate.NEW or found is Fate.RUNNING:
                self._askers[step_id] = connection
        if found is Fate.NEW:
            self._run(connection, request, outcomes)
        elif isinstance(found, PartOutcome):
            self._answer_again(connection, found)
        elif found is not Fate.RUNNING:
            self._send(connection, _failure(step_id, AbortedError.of(self._untold(step_id, found))))

    def _run(
        self,
        connection: Connection,
        request: messages.RunGraph,
        outcomes: OutcomeTable[PartOutcome],
    ) -> None:
        trace = StepTrace() if request.trace_level else None

        def end(outcome: PartOutcome, size_bytes: int) -> None:
            with self._lock:
                outcomes.note_end(request.step_id, outcome, size_bytes)
                asker = self._askers.pop(request.step_id, None)
            if asker is not None:
                self._send(asker, outcome.answer)

        def done(step: Step) -> None:
            answer = self._answer(step, trace)
            if isinstance(answer, messages.StepFailed):
                end(PartOutcome(answer), 0)
                return
            pushes = step.flow.sent()
            size_bytes = messages.size_of(answer.fetches) if answer.fetches else 0
            for _, _, tensors in pushes:
                size_bytes += messages.size_of(tensors)
            end(PartOutcome(answer, pushes), size_bytes)

        try:
            self._worker.run_graph(request.step_id, request.graph_handle, request.feeds, done, trace, context=request.context)
        except OpError as error:
            end(PartOutcome(_failure(request.step_id, error)), 0)

    def _answer_again(self, connection: Connection, outcome: PartOutcome) -> None:
        """Tell a master what it was told before, behind the values that its task was sent."""
        for peer, edges, tensors in outcome.pushes:
            if peer == connection.name:
                self._send(connection, messages.Push(outcome.answer.step_id, edges, tuple(tensors)))
        self._send(connection, outcome.answer)

    def _untold(self, step_id: int, fate: Fate) -> str:
        if fate is Fate.DROPPED:
            what = "was applied, but its values were too many to be kept for a second answer"
        else:
            what = f"was given up or acknowledged by its master, so {UNKNOWN_FATE}"
        return f"Step {step_id:x} on {self._worker.task} {what}; the connection by which it was asked for was cut"

    def asker_of(self, step_id: int) -> str:
        """The task that has asked for a part that runs; "" if nobody has."""
        asker = self._askers.get(step_id)
        return "" if asker is None else asker.name

    def has_any_of(self, connection: Connection) -> bool:
        """Whether parts run that the peer of a connection has asked for, by this one or by others."""
        return any(asker.name == connection.name for asker in list(self._askers.values()))

    def abort_of(self, connection: Connection, peer: str, current: Connection | None) -> None:
        """End the parts that the peer of a lost connection has asked for, but not by the connection that there is now."""
        with self._lock:
            orphans = [
                step_id for step_id, asker in self._askers.items() if asker.name == connection.name and asker is not current
            ]
            for step_id in orphans:
                del self._askers[step_id]
        for step_id in orphans:
            text = f"{peer} asked for this step and is gone; {UNKNOWN_FATE}"
            self._worker.abort(step_id, AbortedError.of(text))

    def _answer(self, step: Step, trace: StepTrace | None) -> messages.StepDone | messages.StepFailed:
        if step.error is not None:
            return _failure(step.step_id, step.error)
        try:
            fetches = tuple([np.asarray(value) for value in step.fetches])
        except Exception as error:
            text = f"Computing a fetch on {self._worker.task} failed: {error}"
            return _failure(step.step_id, errors.InternalError.of(text))
        return messages.StepDone(step.step_id, fetches, trace.as_proto().SerializeToString() if trace is not None else b"")

    def _send(self, connection: Connection, message: messages.Push | messages.StepDone | messages.StepFailed) -> None:
        try:
            connection.send(message)
        except LocalProtocolError as error:  # whoever waits for a value has to hear that it cannot come
            text = f"A value of the step cannot be sent from {self._worker.task} to {connection.name}: {error}"
            connection.send(_failure(message.step_id, errors.InvalidArgumentError.of(text)))
        except OpError as error:
            # The peer is gone, or asks again; `abort_of` deals with what it had asked for.
            _LOG.info("%s: an answer could not be sent: %s", self._worker.task, error)


def _failure(step_id: int, error: OpError) -> messages.StepFailed:
    name = error.op.name if error.op is not None else error.node_def.name if error.node_def is not None else ""
    return messages.StepFailed(step_id, error.error_code, error.message, name, b"")
