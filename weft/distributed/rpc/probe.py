"""Asks whether a process lives, by another way than the connection on which it is silent.

gRPC greets whoever connects on threads of its own, which need no interpreter: a process whose interpreter is held by a long
computation does so within milliseconds, a stopped one never (measured with gRPC 1.85: 17 ms while a regular expression held the
interpreter for 23 s). To answer a call, on the other hand, the interpreter is needed.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Final

from weft.platform.imports.grpc_modules import grpc
from weft.protocol.heartbeat import Evidence

_CHECK: Final = "/grpc.health.v1.Health/Check"
# gRPC's thread that watches a channel looks every 0.2 s whether anybody still wants to know.
_UNWATCHED_S: Final = 1.0


def probe(channel: grpc.Channel, timeout_s: float) -> Evidence:
    """Ask the server at the other end of a fresh channel, which is closed afterwards. Blocks for `timeout_s` at most.

    A thread of its own closes it, a second later.
    """
    deadline_s = time.monotonic() + timeout_s
    greeted = threading.Event()

    def note(state: grpc.ChannelConnectivity) -> None:
        if state is grpc.ChannelConnectivity.READY:
            greeted.set()

    with _watched(channel, note):
        call = channel.unary_unary(_CHECK).future(b"", timeout=timeout_s, wait_for_ready=True)
        is_greeted = greeted.wait(timeout_s)
        if not is_greeted:
            return Evidence.UNREACHED
        try:
            call.result(timeout=max(deadline_s - time.monotonic(), 0.0))
        except (grpc.FutureTimeoutError, grpc.FutureCancelledError):
            return Evidence.BUSY
        except grpc.RpcError as error:
            # Any answer but that of the clock is one that the interpreter gave.
            return Evidence.BUSY if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED else Evidence.PASSED_BY
        return Evidence.PASSED_BY


@contextlib.contextmanager
def _watched(channel: grpc.Channel, note: Callable[[grpc.ChannelConnectivity], None]) -> Iterator[None]:
    """Connect a channel and tell `note` of its states; then close it, but not while gRPC's thread watches it.

    That thread would end with a traceback on the program's standard error when it finds the channel closed.
    """
    channel.subscribe(note, try_to_connect=True)
    try:
        yield
    finally:
        channel.unsubscribe(note)
        closing = threading.Timer(_UNWATCHED_S, channel.close)
        closing.daemon = True
        closing.start()
