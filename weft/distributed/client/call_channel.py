"""CallChannel: a client's steps on a master elsewhere, by the tensor channel."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final, NoReturn, TypeAlias

from tensorboard.compat.proto.config_pb2 import RunOptions
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from weft import errors
from weft.channel.connection import Connection, is_cut
from weft.channel.dial import dial
from weft.channel.heartbeats import Watch
from weft.channel.refusal import is_cut_in_the_making, is_refusal
from weft.credentials.credentials import CLIENT, Credentials
from weft.distributed.client.relayed_waits import RelayedWaits
from weft.distributed.worker.network.peer_connections import Admission
from weft.errors import AbortedError, DeadlineExceededError, OpError, UnavailableError
from weft.framework.building.aliases import Array
from weft.platform.hosts.host_port import split_address
from weft.platform.process.interrupts import WAIT_SLICE_S, deferred_interrupts, is_main_thread
from weft.platform.waits.deadline import left_s, within
from weft.protocol import messages
from weft.protocol.outcome_table import LANES, UNKNOWN_FATE
from weft.protocol.tensor_blob import Buffer
from weft.protocol.tensor_frame import RepeatedCall, encode
from weft.runtime.step.spans import spans

_DIAL_TIMEOUT_S: Final = 5.0
_LINGER_S: Final = 0.05  # Unasked, a server says no more than goodbye, and the threads of many clients shall wake rarely.
_RESUME_S: Final = 4.0  # how long a connection that was cut is tried to be made again
_LONGEST_RESUME_S: Final = 30.0  # the same, with a server that admits it each time, and whose connections are cut again
_ANSWER_S: Final = 0.3  # The master ends a step at its deadline; the client allows for the way there and back.

_Answer: TypeAlias = messages.CallDone | messages.CallFailed | OpError


class CallChannel:
    """Runs prepared steps and waits for their answers. Safe from any thread.

    Args:
        target: the server's `host:port`, for errors.
        task: the server's task.
        admission: the server's, for one connection.
        session_handle: the session that the steps belong to.
        timeout_ms: how long a step may take that does not say so itself; 0 for ever.
        watch: how the server is watched.
        resume: asks the server for another admission to the session, after a cut; None where a lost one is not made again.
    """

    def __init__(
        self,
        target: str,
        task: str,
        admission: Admission,
        session_handle: str,
        timeout_ms: int,
        watch: Watch | None = None,
        resume: Callable[[], Admission] | None = None,
    ) -> None:
        self._target = target
        self._session_handle = session_handle
        self._timeout_ms = timeout_ms
        # By `outcome_table`: numbers of lanes that no call is in, and of those that none has been in.
        self._last_ids: list[int] = []
        self._first_ids = itertools.count(1)
        self._answers: dict[int, list[_Answer]] = {}  # by call; empty until the answer has come
        self._ended: OpError | None = None
        self._unknown: OpError | None = None  # of those whose calls were asked for when the server was lost
        self._task = task
        self._watch = watch
        self._resume = resume
        self._resuming = threading.Lock()
        self._waits = RelayedWaits(target)
        self._connection = self._dial(admission)

    def _dial(self, admission: Admission) -> Connection:
        hello = messages.Hello(messages.PROTOCOL_VERSION, "", 0, admission.token, self._task)
        # Asked for only where a server wants them: whoever stays on his own host needs none.
        needs_tls = any(address.startswith("tls:") for address in admission.addresses)
        credentials = Credentials.for_host(split_address(self._target)[0], os.environ, CLIENT) if needs_tls else None
        connection, _ = dial(
            admission.addresses, hello, self._on_message, self._on_closed, left_s(_DIAL_TIMEOUT_S) or 0.0,
            tls=None if credentials is None else credentials.context(is_server=False), watch=self._watch,
        )  # fmt: skip
        connection.reader.lease.rules.linger_s = _LINGER_S
        return connection

    def call(
        self, number: int, repeated: RepeatedCall, feeds: Sequence[Array], options: RunOptions | None
    ) -> messages.CallDone:
        """Run a prepared step and wait for it.

        Args:
            number: by which the server knows the step.
            repeated: the message that runs it without feeds and options, encoded before.
            feeds: the values of the step's feeds.
            options: for this run, or None.

        A connection that is cut meanwhile is made again; the server runs the step once, and answers again what it has answered.

        Raises:
            OpError: the step's error; UnavailableError when the server is lost, AbortedError when the session is: then the step
                may or may not have been applied.
        """
        connection = self._connection
        if self._ended is not None or (connection.is_closed and not self._is_resumable(connection)):
            raise self._ended or UnavailableError.of(f"The server at {self._target} is gone; open a new session")
        try:
            call_id = self._last_ids.pop() + LANES
        except IndexError:
            call_id = next(self._first_ids)
        timeout_ms = self._timeout_ms
        if options is not None:
            timeout_ms = options.timeout_in_ms or timeout_ms
        tracing = spans.tracing
        if feeds or options is not None or tracing is not None:
            data = b"" if options is None else options.SerializeToString()
            context = b"" if tracing is None else tracing.here
            frame = encode(messages.RunCallable(call_id, self._session_handle, number, tuple(feeds), data, context))
        else:
            frame = repeated.frame(call_id)
        answers: list[_Answer] = []
        self._answers[call_id] = answers
        try:
            self._converse(frame, answers, timeout_ms / 1000 + _ANSWER_S if timeout_ms else None)
        except BaseException:
            if not self._connection.is_closed and not answers:
                with contextlib.suppress(UnavailableError):
                    self._connection.send(messages.CancelCall(call_id, "the caller was interrupted"))
            raise
        finally:
            del self._answers[call_id]
            self._last_ids.append(call_id)
        if not answers:
            raise self._ended or DeadlineExceededError.of(f"No answer from {self._target} within {timeout_ms} ms")
        answer = answers[0]
        return answer if isinstance(answer, messages.CallDone) else _fail(answer)

    def _converse(self, frame: Sequence[Buffer], answers: list[_Answer], timeout_s: float | None) -> None:
        """Send a call and wait for its answer, by as many connections as it takes."""
        connection = self._connection
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            try:
                self._ask(connection, frame, answers, timeout_s)
            except UnavailableError:
                if not self._is_resumable(connection):
                    raise
            if answers or not self._is_resumable(connection):
                return
            if deadline_s is not None:
                timeout_s = max(deadline_s - time.monotonic(), 0.0)
            with within(timeout_s):
                connection = self._resumed(connection)

    def _is_resumable(self, connection: Connection) -> bool:
        """Whether a connection was cut that can be made again. Within a host nothing cuts one: its server is dead."""
        return is_cut(connection.cause) and connection.transport != "unix" and self._resume is not None and self._ended is None

    def _resumed(self, connection: Connection) -> Connection:
        """The connection after one that was cut: the first thread that needs it makes it for all.

        Raises:
            UnavailableError, AbortedError: there is none any more.
        """
        with self._resuming:
            if self._connection is connection:
                try:
                    self._connection = self._dial_again()
                except OpError as error:
                    self._ended = UnavailableError.of(
                        f"The server at {self._target} is gone ({error.message}); open a new session"
                    )
                    text = (
                        f"The connection with the server at {self._target} was cut ({connection.cause}) and cannot be made "
                        f"again: {error.message}; {UNKNOWN_FATE}"
                    )
                    self._unknown = (AbortedError if isinstance(error, AbortedError) else UnavailableError).of(text)
            if self._ended is not None:
                if self._connection is not connection:
                    self._connection.begin_close("the session is closed")
                raise self._unknown or self._ended
            return self._connection

    def _dial_again(self) -> Connection:
        """Ask to be admitted again, and connect, for `_RESUME_S` after the last answer; a dead server refuses at once."""
        assert self._resume is not None
        began_s, pause_s = time.monotonic(), 0.01
        deadline_s = began_s + _RESUME_S
        while True:
            try:
                return self._dial(self._resume())
            except (UnavailableError, DeadlineExceededError) as error:
                if is_cut_in_the_making(error):
                    deadline_s = min(time.monotonic() + _RESUME_S, began_s + _LONGEST_RESUME_S)
                if self._ended is not None or is_refusal(error) or time.monotonic() >= deadline_s:
                    raise
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 0.2)

    def _ask(self, connection: Connection, frame: Sequence[Buffer], answers: list[_Answer], timeout_s: float | None) -> None:
        """Send a call and wait for its answer. The main thread reads for all; no interrupt must cut a message in half.

        What takes no longer than a moment is not watched: that would cost each step.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        if not is_main_thread():
            connection.send_frame(frame)
            connection.wait_for(answers.__len__, WAIT_SLICE_S if timeout_s is None else min(WAIT_SLICE_S, timeout_s))
            if not answers and not connection.is_closed:
                with self._waits.watched():
                    connection.wait_for(answers.__len__, None if deadline is None else max(deadline - time.monotonic(), 0.0))
            return
        with deferred_interrupts():
            connection.send_frame(frame)
            connection.wait_for(answers.__len__, WAIT_SLICE_S)
        if not answers and not connection.is_closed:
            with self._waits.watched():
                self._wait_in_slices(connection, answers, deadline)

    def _wait_in_slices(self, connection: Connection, answers: list[_Answer], deadline: float | None) -> None:
        while not answers and not connection.is_closed:
            left_s = WAIT_SLICE_S if deadline is None else min(WAIT_SLICE_S, deadline - time.monotonic())
            if left_s <= 0:
                return
            with deferred_interrupts():
                connection.wait_for(answers.__len__, left_s)

    def _on_message(self, connection: Connection, message: messages.Message) -> None:
        match message:
            case messages.CallDone() | messages.CallFailed():
                answers = self._answers.get(message.call_id)
                if answers is not None:  # Else its caller has given up.
                    answers.append(message)

    def _on_closed(self, connection: Connection, cause: Exception | None) -> None:
        if self._is_resumable(connection):
            return  # those that wait see that it is closed
        lost = (
            f"The server at {self._target} is unavailable: the connection was lost ({cause or 'it said goodbye'}); "
            f"{UNKNOWN_FATE}"
        )
        error = self._ended or UnavailableError.of(lost)
        for answers in list(self._answers.values()):
            answers.append(error)

    def fail_calls(self, error: OpError) -> None:
        """Let every call fail with this error from now on; those that wait do when the connection closes."""
        self._ended = error

    def close(self) -> None:
        """Let the connection end; nothing here waits. The server closes the sessions of a client that is gone."""
        self._connection.begin_close("the session is closed")


def _fail(answer: messages.CallFailed | OpError) -> NoReturn:
    if isinstance(answer, messages.CallFailed):
        node_def = NodeDef(name=answer.node_name) if answer.node_name else None
        raise errors.from_status(answer.code, answer.message, node_def)
    raise answer
