"""CallService: prepared runs of clients by the tensor channel, on the master's side."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from tensorboard.compat.proto import config_pb2

from weft.channel.connection import Connection, is_cut
from weft.distributed.master.served_sessions import ServedSession, ServedSessions
from weft.distributed.master.steps.step_plan import StepPlan
from weft.distributed.master.steps.step_run import StepRun
from weft.distributed.rpc.status import node_name
from weft.errors import (
    AbortedError,
    CancelledError,
    InternalError,
    InvalidArgumentError,
    OpError,
    PermissionDeniedError,
    UnavailableError,
)
from weft.protocol import messages
from weft.protocol.outcome_table import Fate
from weft.protocol.protocol_error import LocalProtocolError
from weft.runtime.inter_op_pool import InterOpPool

LONG_S: Final = 500e-6
"""A step that takes longer is worth waking another thread for, which costs some 50 µs."""

GRACE_S: Final = 5.0
"""How long a session waits for its client after a cut or its last call over gRPC; the client tries for a little less."""


class CallService:
    """Runs clients' calls. A call that one stage of this task answers runs on the connection's thread, others on the pool.

    A connection belongs to one session, the one that its client was admitted for when it opened it. Calls of other sessions are
    refused, whoever knows their handles. When the connection ends, its session is closed: nobody can use it any more. Between
    hosts an end without a goodbye may be a cut: there the client has `GRACE_S` to connect again and ask for its calls once
    more, which are run once, and answered by the connection that there is.

    Args:
        sessions: the sessions there are.
        pool: the threads of calls that may take long.
        session_of: the session that the client of a Hello was admitted for.
    """

    def __init__(self, sessions: ServedSessions, pool: InterOpPool, session_of: Callable[[messages.Hello], str]) -> None:
        self._sessions = sessions
        self._pool = pool
        self._session_of = session_of
        self._lock = threading.Lock()  # of the outcomes, and of the connections
        self._admitted: dict[Connection, str] = {}
        self._connections: dict[str, Connection] = {}  # the latest of each session
        self._steps: dict[tuple[str, int], StepRun] = {}  # by session and the number of the call

    def on_connection(self, connection: Connection, hello: messages.Hello) -> None:
        """Take over a client's connection for the session that it was admitted for."""
        handle = self._session_of(hello)
        with self._lock:
            self._admitted[connection] = handle
            self._connections[handle] = connection
        self._sessions.note_owner(handle, hello.token)

    def on_message(self, connection: Connection, message: messages.Message) -> None:
        """Handle a client's message; anything else than a call is its mistake and closes the connection."""
        match message:
            case messages.RunCallable():
                try:
                    if message.session_handle != self._admitted.get(connection):
                        raise _foreign(message.session_handle)
                    session = self._sessions.find(message.session_handle)
                    plan, _ = session.callable(message.callable_id)
                except OpError as error:
                    self._send(connection, _failure(message.call_id, error))
                    return
                with self._lock:
                    found = session.outcomes.ask(message.call_id)
                if found is not Fate.NEW:
                    self._answer_again(connection, message.call_id, found)
                elif plan.runs_inline and not message.context:
                    self._run_inline(session, message, plan)
                else:
                    # The client may give the call up even before a thread has begun with it.
                    step = self._steps[message.session_handle, message.call_id] = plan.new_step(message.context)
                    self._pool.submit(lambda: self._run(session, message, plan, step))
            case messages.CancelCall(call_id, reason):
                running = self._steps.get((self._admitted.get(connection, ""), call_id))
                if running is not None:
                    running.cancel(CancelledError.of(f"The client gave the step up: {reason}"))
            case _:
                raise ValueError(f"a client sent {type(message).__name__}, which only tasks send")

    def on_closed(self, connection: Connection, cause: Exception | None) -> None:
        """Close the session of a client that is gone, soon if it may come back."""
        with self._lock:
            handle = self._admitted.pop(connection, "")
            if self._connections.get(handle) is not connection:
                return  # it has come back before this end was known
        # Nothing cuts a connection within a host: its client is dead.
        may_return = is_cut(cause) and connection.transport != "unix"
        self._close_unless_resumed(handle, connection, time.monotonic() + GRACE_S if may_return else 0.0)

    def _close_unless_resumed(self, handle: str, connection: Connection, until_s: float) -> None:
        """Close a session at this time, or `GRACE_S` after its client has called; nothing if another connection came."""
        with self._lock:
            if self._connections.get(handle) is not connection:
                return
            if until_s:
                # A client that asks to be admitted again, and is cut off again while it connects, is there.
                until_s = max(until_s, self._sessions.last_call_s(handle) + GRACE_S)
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                del self._connections[handle]
        if left_s <= 0:
            self._sessions.close(handle)
            return
        timer = threading.Timer(left_s, self._close_unless_resumed, (handle, connection, until_s))
        timer.daemon = True
        timer.start()

    def _answer_again(
        self, connection: Connection, call_id: int, found: messages.CallDone | messages.CallFailed | Fate
    ) -> None:
        """Answer a call that has come before; one that runs still is answered when it is over."""
        if isinstance(found, Fate):
            if found is Fate.RUNNING:
                return
            what = "was applied, but its values were too many to be kept" if found is Fate.DROPPED else "was given up"
            found = _failure(call_id, AbortedError.of(f"The connection was cut, and the step {what}"))
        self._send(connection, found)

    def _run_inline(self, session: ServedSession, message: messages.RunCallable, plan: StepPlan) -> None:
        """Run a call on this thread, beside which other clients are served where that may take long."""
        connection = self._connections.get(message.session_handle)
        if connection is not None and not plan.quick.is_likely:
            connection.step_aside()
        began_s = time.perf_counter()
        self._run(session, message, plan)
        plan.quick.note(time.perf_counter() - began_s <= LONG_S)

    def _run(self, session: ServedSession, message: messages.RunCallable, plan: StepPlan, step: StepRun | None = None) -> None:
        answer: messages.CallDone | messages.CallFailed
        size_bytes = 0
        try:
            options = config_pb2.RunOptions.FromString(message.options) if message.options else None
            values, metadata = plan.run(message.feeds, options, step)
            fetches = _arrays(values)
            told = metadata.SerializeToString() if metadata is not None else b""
            answer = messages.CallDone(message.call_id, fetches, told)
            if fetches:
                size_bytes = messages.size_of(fetches)
        except OpError as error:
            answer = _failure(message.call_id, error)
        except Exception as error:
            answer = _failure(message.call_id, InternalError.of(f"{type(error).__name__}: {error}"))
        with self._lock:
            session.outcomes.note_end(message.call_id, answer, size_bytes)
            connection = self._connections.get(message.session_handle)
        if connection is not None:
            self._send(connection, answer)
        # Not before the answer is on its way: a server that drains waits for it.
        if step is not None:
            self._steps.pop((message.session_handle, message.call_id), None)

    @property
    def live_calls(self) -> int:
        """How many calls are not answered yet, without those that a connection's thread runs by itself."""
        return len(self._steps)

    def _send(self, connection: Connection, message: messages.CallDone | messages.CallFailed) -> None:
        try:
            try:
                connection.send(message)
            except LocalProtocolError as error:  # whoever waits for a value has to hear that it cannot come
                connection.send(_failure(message.call_id, InvalidArgumentError.of(f"A fetch cannot be sent: {error}")))
        except UnavailableError:
            # The client is gone, or comes back and asks again.
            return


def _failure(call_id: int, error: OpError) -> messages.CallFailed:
    return messages.CallFailed(call_id, error.error_code, error.message, node_name(error))


def _foreign(handle: str) -> PermissionDeniedError:
    return PermissionDeniedError.of(
        f"Session {handle} is not the one that this connection was admitted for when its client opened it; a session is run by "
        "the client that opened it. Open a session of your own"
    )


def _arrays(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([np.asarray(value) for value in values]) if values else ()
