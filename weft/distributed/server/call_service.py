"""CallService: prepared runs of clients by the tensor channel, on the master's side."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from tensorboard.compat.proto import config_pb2

from weft.channel.connection import Connection
from weft.distributed.master.served_sessions import ServedSessions
from weft.distributed.master.step_plan import StepPlan
from weft.distributed.master.step_run import StepRun
from weft.distributed.rpc.status import node_name
from weft.errors import CancelledError, InternalError, OpError, PermissionDeniedError, UnavailableError
from weft.protocol import messages
from weft.runtime.inter_op_pool import InterOpPool

LONG_S: Final = 500e-6
"""A step that takes longer is worth waking another thread for, which costs some 50 µs."""


class CallService:
    """Runs clients' calls. A call that one stage of this task answers runs on the connection's thread, others on the pool.

    A connection belongs to one session, the one that its client was admitted for when it opened it. Calls of other sessions are
    refused, whoever knows their handles. When the connection ends, its session is closed: nobody can use it any more.

    Args:
        sessions: the sessions there are.
        pool: the threads of calls that may take long.
        session_of: the session that the client of a Hello was admitted for.
    """

    def __init__(self, sessions: ServedSessions, pool: InterOpPool, session_of: Callable[[messages.Hello], str]) -> None:
        self._sessions = sessions
        self._pool = pool
        self._session_of = session_of
        self._admitted: dict[Connection, str] = {}
        self._steps: dict[tuple[Connection, int], StepRun] = {}  # by the number of the call

    def on_connection(self, connection: Connection, hello: messages.Hello) -> None:
        """Take over a client's connection for the session that it was admitted for."""
        handle = self._session_of(hello)
        self._admitted[connection] = handle
        self._sessions.note_owner(handle, hello.token)

    def on_message(self, connection: Connection, message: messages.Message) -> None:
        """Handle a client's message; anything else than a call is its mistake and closes the connection."""
        match message:
            case messages.RunCallable():
                try:
                    if message.session_handle != self._admitted.get(connection):
                        raise _foreign(message.session_handle)
                    plan = self._sessions.find(message.session_handle).callable(message.callable_id)
                except OpError as error:
                    self._fail(connection, message.call_id, error)
                    return
                if plan.runs_inline:
                    self._run_inline(connection, message, plan)
                else:
                    # The client may give the call up even before a thread has begun with it.
                    step = self._steps[connection, message.call_id] = plan.new_step()
                    self._pool.submit(lambda: self._run(connection, message, plan, step))
            case messages.CancelCall(call_id, reason):
                found = self._steps.get((connection, call_id))
                if found is not None:
                    found.cancel(CancelledError.of(f"The client gave the step up: {reason}"))
            case _:
                raise ValueError(f"a client sent {type(message).__name__}, which only tasks send")

    def on_closed(self, connection: Connection, cause: Exception | None) -> None:
        """Close the session of a client that is gone."""
        self._sessions.close(self._admitted.pop(connection, ""))

    def _run_inline(self, connection: Connection, message: messages.RunCallable, plan: StepPlan) -> None:
        """Run a call on this thread, beside which other clients are served where that may take long."""
        if not plan.quick.is_likely:
            connection.step_aside()
        began_s = time.perf_counter()
        self._run(connection, message, plan)
        plan.quick.note(time.perf_counter() - began_s <= LONG_S)

    def _run(self, connection: Connection, message: messages.RunCallable, plan: StepPlan, step: StepRun | None = None) -> None:
        try:
            options = config_pb2.RunOptions.FromString(message.options) if message.options else None
            values, metadata = plan.run(message.feeds, options, step)
            fetches = _arrays(values)
        except OpError as error:
            self._fail(connection, message.call_id, error)
            return
        except Exception as error:
            self._fail(connection, message.call_id, InternalError.of(f"{type(error).__name__}: {error}"))
            return
        finally:
            if step is not None:
                self._steps.pop((connection, message.call_id), None)
        done = messages.CallDone(message.call_id, fetches, metadata.SerializeToString() if metadata is not None else b"")
        self._send(connection, done)

    def _fail(self, connection: Connection, call_id: int, error: OpError) -> None:
        self._send(connection, messages.CallFailed(call_id, error.error_code, error.message, node_name(error)))

    def _send(self, connection: Connection, message: messages.Message) -> None:
        try:
            connection.send(message)
        except UnavailableError:
            # The client is gone; `on_closed` cleans up.
            return


def _foreign(handle: str) -> PermissionDeniedError:
    return PermissionDeniedError.of(
        f"Session {handle} is not the one that this connection was admitted for when its client opened it; a session is run by "
        "the client that opened it. Open a session of your own"
    )


def _arrays(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([np.asarray(value) for value in values]) if values else ()
