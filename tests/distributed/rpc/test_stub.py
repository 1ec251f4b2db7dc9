"""Calls of a stub from several threads share a channel, and none ends with another's failure."""

from __future__ import annotations

import os
import queue
import signal
import threading
from collections.abc import Iterator
from concurrent import futures
from typing import Any

import grpc
import pytest

from weft.distributed.rpc.gate import Gate
from weft.distributed.rpc.stub import RpcStub, method_handlers
from weft.errors import CancelledError, UnavailableError
from weft.proto import worker_pb2

PATIENCE_S = 30.0
SERVICE = "weft.test.Service"
PAIR = (worker_pb2.GetStatusRequest, worker_pb2.GetStatusResponse)
METHODS = {"Wait": PAIR, "Hang": PAIR, "Fail": PAIR, "Answer": PAIR}


class Servicer:
    """One method waits, one for its call to end, one is unavailable, one answers."""

    def __init__(self) -> None:
        self.waits = threading.Event()
        self.go = threading.Event()
        self.ends: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def Wait(self, request: Any, context: Any) -> Any:
        self.waits.set()
        self.go.wait(PATIENCE_S)
        return worker_pb2.GetStatusResponse(incarnation=7)

    def Hang(self, request: Any, context: Any) -> Any:
        over = threading.Event()
        context.add_callback(over.set)
        self.waits.set()
        self.ends.put(over.wait(PATIENCE_S))
        return worker_pb2.GetStatusResponse()

    def Fail(self, request: Any, context: Any) -> Any:
        raise UnavailableError(None, None, "gone for a moment")

    def Answer(self, request: Any, context: Any) -> Any:
        return worker_pb2.GetStatusResponse(incarnation=8)


@pytest.fixture
def servicer() -> Servicer:
    return Servicer()


@pytest.fixture
def stub(servicer: Servicer) -> Iterator[RpcStub]:
    threads = futures.ThreadPoolExecutor(4)
    server = grpc.server(threads)
    server.add_generic_rpc_handlers((method_handlers(SERVICE, METHODS, servicer, Gate(["127.0.0.1", "::1"], 0, is_open=True)),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    stub = RpcStub(SERVICE, METHODS, f"127.0.0.1:{port}", "Task test")
    yield stub
    servicer.go.set()
    stub.close()
    server.stop(None).wait(PATIENCE_S)
    threads.shutdown()


@pytest.fixture
def caller() -> Iterator[futures.ThreadPoolExecutor]:
    with futures.ThreadPoolExecutor(2) as pool:
        yield pool


REQUEST = worker_pb2.GetStatusRequest()


def test_a_call_goes_on_when_another_finds_the_peer_unavailable(
    stub: RpcStub, servicer: Servicer, caller: futures.ThreadPoolExecutor
) -> None:
    waiting = caller.submit(stub.call, "Wait", REQUEST, PATIENCE_S)
    assert servicer.waits.wait(PATIENCE_S)
    for _ in range(3):
        with pytest.raises(UnavailableError, match="gone for a moment"):
            stub.call("Fail", REQUEST, PATIENCE_S)
    assert stub.call("Answer", REQUEST, PATIENCE_S).incarnation == 8
    servicer.go.set()
    assert waiting.result(PATIENCE_S).incarnation == 7


def test_a_wait_for_the_server_goes_on_when_a_call_finds_it_unavailable(
    stub: RpcStub, caller: futures.ThreadPoolExecutor
) -> None:
    stop = threading.Event()

    def fail_again_and_again() -> None:
        while not stop.is_set():
            with pytest.raises(UnavailableError):
                stub.call("Fail", REQUEST, PATIENCE_S)

    failing = caller.submit(fail_again_and_again)
    for _ in range(50):
        stub.wait_until_reachable(PATIENCE_S, lambda: None)
        assert stub.call("Answer", REQUEST, PATIENCE_S).incarnation == 8
    stop.set()
    failing.result(PATIENCE_S)


def test_closing_cancels_the_calls_that_are_under_way(
    stub: RpcStub, servicer: Servicer, caller: futures.ThreadPoolExecutor
) -> None:
    waiting = caller.submit(stub.call, "Wait", REQUEST, PATIENCE_S)
    assert servicer.waits.wait(PATIENCE_S)
    stub.close()
    with pytest.raises(CancelledError):
        waiting.result(PATIENCE_S)
    assert stub.call("Answer", REQUEST, PATIENCE_S).incarnation == 8


def test_ctrl_c_ends_a_call_at_the_server_too(stub: RpcStub, servicer: Servicer) -> None:
    stub.call("Answer", worker_pb2.GetStatusRequest())
    # The thread of futures holds a descriptor while it lives.
    before = len(os.listdir("/proc/self/fd")) + 2
    for _ in range(5):
        servicer.waits.clear()
        threading.Thread(target=_interrupt_once, args=(servicer.waits,)).start()
        with pytest.raises(KeyboardInterrupt):
            stub.call("Hang", worker_pb2.GetStatusRequest())
        assert servicer.ends.get(timeout=PATIENCE_S)
    assert stub.call("Answer", worker_pb2.GetStatusRequest()).incarnation == 8
    assert len(os.listdir("/proc/self/fd")) <= before


def test_ctrl_c_while_a_call_is_being_sent_leaves_its_response_to_whoever_takes_it(
    stub: RpcStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.call("Answer", worker_pb2.GetStatusRequest())
    kind = type(grpc.insecure_channel("localhost:1").unary_unary("/none"))
    send, taken = kind.future, queue.Queue[Any]()

    def interrupted(self: Any, *arguments: Any, **options: Any) -> Any:
        call = send(self, *arguments, **options)
        os.kill(os.getpid(), signal.SIGINT)
        return call

    monkeypatch.setattr(kind, "future", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stub.call("Answer", worker_pb2.GetStatusRequest(), when_left=taken.put)
    assert taken.get(timeout=PATIENCE_S).incarnation == 8


def _interrupt_once(begun: threading.Event) -> None:
    assert begun.wait(PATIENCE_S)
    os.kill(os.getpid(), signal.SIGINT)
