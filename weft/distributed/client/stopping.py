"""Stopping a server from afar: the caller, who waits for its end."""

from __future__ import annotations

import threading
import time
from typing import Final

from google.protobuf.wrappers_pb2 import DoubleValue, StringValue

from weft.distributed.rpc.stub import RpcStub
from weft.errors import AbortedError, CancelledError, DeadlineExceededError, UnavailableError

SERVICE: Final = "weft.StopService"
METHODS: Final = {"Stop": (DoubleValue, StringValue)}
_CALL_S: Final = 5.0
_LOOK_S: Final = 0.1


def stop_server(address: str, grace_s: float, timeout_s: float = 10.0) -> str:
    """Stop the server at `host:port` and wait until it is gone; returns its task.

    Args:
        address: where it listens.
        grace_s: how long its running steps may take to end.
        timeout_s: how long it may take beyond that.

    Raises:
        UnavailableError: there is no server. PermissionDeniedError: it does not take this caller's word.
        DeadlineExceededError: it is still there.
    """
    stub = RpcStub(SERVICE, METHODS, address, "The server")
    try:
        task = str(stub.call("Stop", DoubleValue(value=grace_s), _CALL_S).value)
        deadline_s = time.monotonic() + grace_s + timeout_s
        while time.monotonic() < deadline_s:
            try:
                # A second request changes nothing: the first grace counts.
                stub.call("Stop", DoubleValue(value=grace_s), _CALL_S)
            except (UnavailableError, CancelledError, AbortedError, DeadlineExceededError):
                return task
            threading.Event().wait(_LOOK_S)
    finally:
        stub.close()
    raise DeadlineExceededError.of(f"{task} at {address} was told to stop {grace_s + timeout_s:.0f} s ago and still answers")
