"""Asks whether a process lives, by another way than the connection on which it is silent.

gRPC greets whoever connects on threads of its own, which need no interpreter: a process whose interpreter is held by a long
computation does so within milliseconds, a stopped one never (measured with gRPC 1.85: 17 ms while a regular expression held the
interpreter for 23 s). To answer a call, on the other hand, the interpreter is needed.
"""

from __future__ import annotations

import contextlib
import threading
import time

from weft.platform.grpc_modules import grpc
from weft.protocol.heartbeat import Evidence

_CHECK = "/grpc.health.v1.Health/Check"


def probe(channel: grpc.Channel, timeout_s: float) -> Evidence:
    """Ask the server at the other end of a fresh channel, which is closed afterwards. Blocks for `timeout_s` at most."""
    deadline_s = time.monotonic() + timeout_s
    greeted = threading.Event()

    def note(state: grpc.ChannelConnectivity) -> None:
        if state is grpc.ChannelConnectivity.READY:
            greeted.set()

    with contextlib.closing(channel):
        call = channel.unary_unary(_CHECK).future(b"", timeout=timeout_s, wait_for_ready=True)
        channel.subscribe(note, try_to_connect=True)
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
