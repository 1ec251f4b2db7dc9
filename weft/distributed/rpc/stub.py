"""Services of unary calls by a table of their methods, and the stubs that call them.

A table has, by method name, the classes of its request and its response.
"""

from __future__ import annotations

import enum
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from google.protobuf.message import Message

from weft.channel.reachability import why_unreachable
from weft.channel.refusal import refusal_of
from weft.credentials.cluster_token import FILE_VARIABLE
from weft.credentials.credentials import ANY_TASK, CLIENT, Credentials, is_task_with_credentials
from weft.distributed.rpc import options as grpc_options
from weft.distributed.rpc.gate import Gate
from weft.distributed.rpc.message_size import SEND_LESS, serialized
from weft.distributed.rpc.misfit_watch import MisfitWatch
from weft.distributed.rpc.probe import probe
from weft.distributed.rpc.status import HAS_NONE, TUNNEL, answer, from_rpc_error, is_closed_in_the_making
from weft.errors import CancelledError, DeadlineExceededError, OpError
from weft.platform.hosts.host_port import split_address
from weft.platform.hosts.local_address import is_of_this_host
from weft.platform.imports.grpc_modules import grpc
from weft.platform.process.interrupts import deferred_interrupts, is_main_thread
from weft.platform.process.launcher_waits import ToldWait
from weft.platform.waits.deadline import left_s, within
from weft.platform.waits.wait_notice import WaitNotice
from weft.protocol.heartbeat import TIMEOUT_S, Evidence

_LOG = logging.getLogger("weft")
ANSWER_S: Final = 0.25
"""The time for a master's report, beyond the deadline, of what it has waited for."""

_NO_DEADLINE_S: Final = 1e8
_POLL_S: Final = 1.0
_TRY_S: Final = 0.5
_CHECK: Final = "/grpc.health.v1.Health/Check"

Methods: TypeAlias = Mapping[str, tuple[type[Message], type[Message]]]


def method_handlers(service: str, methods: Methods, servicer: object, gate: Gate) -> grpc.GenericRpcHandler:
    """A generic gRPC handler that answers callers whom the gate lets in, by the servicer's methods of the same names."""

    def unary(name: str, request_class: type[Message]) -> grpc.RpcMethodHandler:
        method: Callable[[Message, grpc.ServicerContext], Message] = getattr(servicer, name)

        def respond(data: bytes, context: grpc.ServicerContext) -> bytes:
            # Before anything of the request is looked at.
            gate.check(context)
            return serialized(method(request_class.FromString(data), context), "Fetch less at once")

        def call(data: bytes, context: grpc.ServicerContext) -> bytes | None:
            what = f"{service}.{name}"
            with within(_left_for(context)):
                return answer(context, what, lambda: respond(data, context))

        return grpc.unary_unary_rpc_method_handler(call)

    return grpc.method_handlers_generic_handler(service, {name: unary(name, pair[0]) for name, pair in methods.items()})


def _left_for(context: grpc.ServicerContext) -> float | None:
    """How long a handler may take, so that its report is there when the caller's time is up; None for ever."""
    remaining_s: float | None = context.time_remaining()
    # Of a caller that sets no deadline gRPC says that he waits for centuries, and would overflow if it were told so.
    if remaining_s is None or remaining_s > _NO_DEADLINE_S:
        return None
    return max(remaining_s - ANSWER_S, 0.0)


class Answerer(enum.Enum):
    """Whose server answers at an address: weft's has the health service, TensorFlow's has not."""

    WEFT = enum.auto()
    FOREIGN = enum.auto()


class _Channel:
    """A gRPC channel and how many calls go over it now."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.grpc = channel
        self.users = 0
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True
        self.grpc.close()


class RpcStub:
    """Calls of one service at one address, from any thread. The gRPC channel is opened by the first call.

    Args:
        service, methods: the service's full name and its table.
        address: `host:port`.
        peer: what messages call the server.
        identity: as whom this process calls, by the credentials that its environment gives.
        server_name: the name that the server's certificate must have.
        heartbeat_timeout_s: how soon calls fail when the server's process stands still; None for never.
        answer_s: the time for the answer of a server that waits for others in its turn. It hears of the deadline, gives up by
            itself, and knows better for what it has waited.
    """

    def __init__(
        self,
        service: str,
        methods: Methods,
        address: str,
        peer: str,
        identity: str = CLIENT,
        server_name: str = ANY_TASK,
        heartbeat_timeout_s: float | None = TIMEOUT_S,
        answer_s: float = 0.0,
    ) -> None:
        self._service = service
        self._methods = methods
        self._address = address
        self._peer = peer
        self._identity = identity
        self._server_name = server_name
        self._answer_s = answer_s
        self._heartbeat_timeout_s = heartbeat_timeout_s
        self._lock = threading.Lock()
        self._channel: _Channel | None = None

    def call(
        self,
        name: str,
        request: Message,
        timeout_s: float | None = None,
        metadata: Sequence[tuple[str, bytes]] = (),
        when_left: Callable[..., None] | None = None,
    ) -> Any:
        """Call a method and wait for its response. Metadata goes with the request, under names that end in `-bin`.

        The deadline of what this thread does counts, too. A call that Ctrl-C leaves is cancelled; with `when_left` it goes on,
        and that takes its response, on any thread: what it has made there is then to be given back.

        Raises:
            DeadlineExceededError: the time is up.
            ResourceExhaustedError: the request is larger than protobuf can read.
            OpError: the call's status; UnavailableError when the peer cannot be reached, CancelledError when the stub is closed
                meanwhile.
        """
        left = left_s()
        if left == 0:
            raise DeadlineExceededError.of(f"{self._peer} at {self._address} was not asked any more ({name}): the time is up")
        if left is not None:
            timeout_s = left + self._answer_s if timeout_s is None else min(left + self._answer_s, timeout_s)
        data = serialized(request, SEND_LESS)
        with self._used_channel() as channel:
            method = channel.grpc.unary_unary(
                f"/{self._service}/{name}", response_deserializer=self._methods[name][1].FromString
            )
            try:
                return _wait_for(method, data, timeout_s, metadata, when_left)
            except grpc.RpcError as error:
                refusal = None
                if error.code() is grpc.StatusCode.UNAVAILABLE:
                    self._give_up(channel)
                    refusal = refusal_of(*split_address(self._address))
                raise self._failure(error, name) from refusal

    def wait_until_reachable(self, timeout_s: float | None, raise_if_cancelled: Callable[[], None]) -> Answerer:
        """Block until a server listens at the address, and tell whose it is; log every 10 s that it does not yet.

        Args:
            timeout_s: when to give up; None for never.
            raise_if_cancelled: called about every second; ends the wait by raising.

        Raises:
            DeadlineExceededError: the time is up.
            UnauthenticatedError: the server's credentials do not fit this process's, for seconds on end.
            CancelledError: the stub is closed meanwhile.
        """
        with self._used_channel() as channel, ToldWait(timeout_s) as waits:
            return self._wait_until_reachable(channel, timeout_s, raise_if_cancelled, waits)

    def _wait_until_reachable(
        self, channel: _Channel, timeout_s: float | None, raise_if_cancelled: Callable[[], None], waits: ToldWait
    ) -> Answerer:
        begin = time.monotonic()
        notice, misfits = WaitNotice(), MisfitWatch()
        while True:
            waited = time.monotonic() - begin
            left = _POLL_S if timeout_s is None else min(_POLL_S, timeout_s - waited)
            answerer = _answers_within(channel.grpc, max(left, 0))
            if answerer is not None:
                return answerer
            waits.tell([self._address])
            raise_if_cancelled()
            if waited >= _POLL_S:
                self._look_for_misfit(misfits)
            if timeout_s is not None and waited >= timeout_s:
                raise DeadlineExceededError.of(
                    f"{self._peer} at {self._address} was not reachable within {timeout_s:.3g} s: {self._why_unreachable()}"
                )
            if notice.is_due():
                _LOG.warning(
                    "Still waiting for %s at %s, for %.0f s: %s",
                    self._peer[:1].lower() + self._peer[1:], self._address, notice.waited_s, self._why_unreachable(),
                )  # fmt: skip

    def _look_for_misfit(self, misfits: MisfitWatch) -> None:
        """Ask what gRPC says of the connection: a call that waits for one never hears it."""
        with self._open_channel() as channel:
            try:
                channel.unary_unary(_CHECK)(b"", timeout=_TRY_S)
            except grpc.RpcError as error:
                misfits.take(self._address, self._failure(error))

    def _failure(self, error: grpc.RpcError, method: str = "") -> OpError:
        """What became of a call."""
        meant = self._what_the_port_tells() if is_closed_in_the_making(error) else ""
        return from_rpc_error(error, f"{self._peer} at {self._address}", method, meant=meant)

    def _what_the_port_tells(self) -> str:
        """Why it may have closed a connection without credentials; "" where they were shown, or it shows none of a task's."""
        host, port = split_address(self._address)
        has_shown = Credentials.for_host(host, os.environ, self._identity) is not None
        if has_shown or not is_task_with_credentials(host, port, _TRY_S):
            return ""
        return TUNNEL if is_of_this_host(host) else HAS_NONE

    def probe(self, timeout_s: float) -> Evidence:
        """Ask whether the server's process lives, by a channel of its own; blocks for so long at most."""
        return probe(self._open_channel(), timeout_s)

    def move(self, address: str) -> None:
        """Call the server at another address from now on; calls that are under way end as they would."""
        with self._lock:
            self._address = address
            channel, self._channel = self._channel, None
            is_idle = channel is not None and not channel.users  # else the last who uses it closes it
        if channel is not None and is_idle:
            channel.close()

    def close(self) -> None:
        """Close the gRPC channel; calls that go over it are cancelled."""
        with self._lock:
            channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    @contextmanager
    def _used_channel(self) -> Iterator[_Channel]:
        with self._lock:
            channel = self._channel = self._channel or self._open()
            channel.users += 1
        try:
            yield channel
        except ValueError:
            if not channel.is_closed:
                raise
            # So says gRPC of a call that begins just then.
            raise CancelledError.of(f"The connection with {self._peer} at {self._address} was closed") from None
        finally:
            with self._lock:
                channel.users -= 1
                # One that was given up belongs to the last who uses it.
                is_last = not channel.users and channel is not self._channel
            if is_last:
                channel.close()

    def _why_unreachable(self) -> str:
        return why_unreachable(*split_address(self._address), self._refusal)

    def _refusal(self) -> str:
        """Why a server that is there may not let this process in; TLS tells a stranger nothing."""
        host, _ = split_address(self._address)
        if is_of_this_host(host):
            return "another user's process does"
        if Credentials.find(os.environ, self._identity) is None:
            return f"it takes holders of the cluster's credentials only, and this process has none (set {FILE_VARIABLE})"
        return "it belongs to a cluster with other credentials than this process has"

    def _open(self) -> _Channel:
        return _Channel(self._open_channel())

    def _open_channel(self) -> grpc.Channel:
        host, _ = split_address(self._address)
        credentials = Credentials.for_host(host, os.environ, self._identity)
        return grpc_options.open_channel(self._address, credentials, self._server_name, self._heartbeat_timeout_s)

    def _give_up(self, channel: _Channel) -> None:
        """A channel that failed remembers it for a while; a fresh one asks whether the peer is back."""
        with self._lock:
            if self._channel is channel:
                self._channel = None


def _wait_for(
    method: grpc.UnaryUnaryMultiCallable,
    request: bytes,
    timeout_s: float | None,
    metadata: Sequence[tuple[str, bytes]] = (),
    when_left: Callable[..., None] | None = None,
    wait_for_ready: bool = False,
) -> Any:
    """Call a method and wait for its response; `wait_for_ready` waits for a server, too.

    Ctrl-C leaves a plain call running, its descriptors open, and what it makes there with nobody, after up to 0.2 s in which
    gRPC does not look; one in gRPC's own wait for a future leaves its lock held. So the thread where Ctrl-C comes waits for a
    lock of its own.
    """
    if not is_main_thread():
        return method(request, timeout=timeout_s, metadata=metadata, wait_for_ready=wait_for_ready)
    done = threading.Lock()
    done.acquire()
    pending: grpc.Future | None = None
    try:
        # Ctrl-C that came meanwhile is raised at the block's end, where the call is on its way.
        with deferred_interrupts():
            pending = method.future(request, timeout=timeout_s, metadata=metadata, wait_for_ready=wait_for_ready)
            pending.add_done_callback(lambda _: done.release())
        done.acquire()
    except BaseException:
        with deferred_interrupts():
            if pending is not None:
                _leave(pending, when_left)
        raise
    with deferred_interrupts():
        return pending.result()


def _leave(call: grpc.Future, when_left: Callable[..., None] | None) -> None:
    """Cancel a call, or let it go on and give its response."""
    if when_left is None:
        call.cancel()
    else:
        call.add_done_callback(lambda ended: _hand_over(ended, when_left))


def _hand_over(call: grpc.Future, take: Callable[..., None]) -> None:
    """Give the response of a call that is over, if it has one."""
    if call.code() is grpc.StatusCode.OK:
        take(call.result())


def _answers_within(channel: grpc.Channel, timeout_s: float) -> Answerer | None:
    """Who answers the question for his health, in whatever way, before the time is up.

    A call that waits for the channel: watching the channel's state instead takes a thread of gRPC's for which closing the
    channel then waits, 0.2 s.
    """
    check = channel.unary_unary(_CHECK)
    begin = time.monotonic()
    try:
        _wait_for(check, b"", timeout_s, wait_for_ready=True)
    except grpc.RpcError as error:
        if error.code() is grpc.StatusCode.UNAVAILABLE:
            # The connection was lost while it was being made; not to be tried again without a pause.
            threading.Event().wait(max(timeout_s - (time.monotonic() - begin), 0))
        if error.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE):
            return None
        return Answerer.FOREIGN if error.code() is grpc.StatusCode.UNIMPLEMENTED else Answerer.WEFT
    return Answerer.WEFT
