"""Errors cross gRPC as they are, and are found by both weft's and TensorFlow's clients."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from tensorboard.compat.proto import node_def_pb2

from weft import errors
from weft.distributed.rpc.options import SERVER_OPTIONS, open_channel
from weft.distributed.rpc.status import answer, from_rpc_error, text_with_node
from weft.distributed.rpc.threads import RpcThreads
from weft.distributed.server.binding import bind
from weft.proto.worker_pb2 import GetStatusRequest

CODES = range(1, 17)


@pytest.fixture
def ask() -> Iterator[Callable[[Callable[[], bytes]], bytes]]:
    """Calls a server whose only method runs the function given, as the peer `Task a`."""
    handlers: list[Callable[[], bytes]] = []

    def handle(data: bytes, context: Any) -> bytes:
        return answer(context, "Test.Ask", handlers[-1])

    server = grpc.server(RpcThreads("test"), options=SERVER_OPTIONS)
    methods = {"Ask": grpc.unary_unary_rpc_method_handler(handle)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Test", methods),))
    port = bind(server, "localhost:0")
    server.start()
    with open_channel(f"localhost:{port}") as channel:

        def call(handler: Callable[[], bytes]) -> bytes:
            handlers.append(handler)
            try:
                return bytes(channel.unary_unary("/Test/Ask")(b"", timeout=20))
            except grpc.RpcError as error:
                raise from_rpc_error(error, "Task a") from error

        yield call
    server.stop(None).wait()


def raising(error: Exception) -> Callable[[], bytes]:
    def handle() -> bytes:
        raise error

    return handle


@pytest.mark.parametrize("code", CODES)
def test_each_status_comes_back_as_its_class(ask: Any, code: int) -> None:
    with pytest.raises(errors.exception_type_from_error_code(code)) as caught:
        ask(raising(errors.from_status(code, "what happened\nthen: 100% é")))
    assert caught.value.message == "what happened\nthen: 100% é"
    assert caught.value.error_code == code
    assert caught.value.node_def is None


def test_the_node_travels_and_does_not_stay_in_the_text(ask: Any) -> None:
    node = node_def_pb2.NodeDef(name="scope/é/MatMul")
    with pytest.raises(errors.InvalidArgumentError) as caught:
        ask(raising(errors.InvalidArgumentError(node, None, "shapes differ")))
    assert caught.value.message == "shapes differ"
    assert caught.value.node_def.name == "scope/é/MatMul"


def test_the_text_of_a_status_ends_with_the_node_for_tensorflow(ask: Any) -> None:
    node = node_def_pb2.NodeDef(name="v/read")
    error = errors.FailedPreconditionError(node, None, "uninitialized")
    assert text_with_node(error) == "uninitialized\n\t [[{{node v/read}}]]"
    with pytest.raises(errors.FailedPreconditionError) as caught:
        ask(raising(error))
    cause: Any = caught.value.__cause__
    assert cause.details() == "uninitialized\n\t [[{{node v/read}}]]"


@pytest.mark.parametrize("letter", ["x", "é", "\n"])
def test_a_long_text_is_shortened_instead_of_lost(ask: Any, letter: str) -> None:
    node = node_def_pb2.NodeDef(name="n")
    with pytest.raises(errors.InvalidArgumentError, match=r"^the beginning") as caught:
        ask(raising(errors.InvalidArgumentError(node, None, "the beginning " + letter * 50_000)))
    assert caught.value.message.endswith("(shortened)")
    assert caught.value.node_def.name == "n"


def test_a_malformed_request_is_an_invalid_argument(ask: Any, caplog: pytest.LogCaptureFixture) -> None:
    def parse() -> bytes:
        GetStatusRequest.FromString(b"\xff\xff\xff")
        return b""

    with caplog.at_level(logging.INFO, "weft"), pytest.raises(errors.InvalidArgumentError, match=r"Test\.Ask"):
        ask(parse)
    assert "refused a request" in caplog.text


def test_a_bug_is_an_internal_error_with_a_trace_in_the_log_and_the_server_goes_on(
    ask: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(errors.InternalError, match=r"Test\.Ask: ZeroDivisionError: oh no"):
        ask(raising(ZeroDivisionError("oh no")))
    assert "Traceback" in caplog.text
    assert ask(lambda: b"fine") == b"fine"


def test_an_unavailable_task_that_the_peer_reports_is_not_taken_for_the_peer(ask: Any) -> None:
    with pytest.raises(errors.UnavailableError) as caught:
        ask(raising(errors.UnavailableError(None, None, "Task b is unavailable")))
    assert caught.value.message == "Task b is unavailable"


def test_a_peer_that_is_not_there_is_named() -> None:
    server = grpc.server(RpcThreads("test"), options=SERVER_OPTIONS)
    port = bind(server, "localhost:0")
    server.stop(None).wait()
    with open_channel(f"localhost:{port}") as channel, pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary("/Test/Ask")(b"", timeout=20)
    error = from_rpc_error(caught.value, "Task a at there:1")
    assert type(error) is errors.UnavailableError
    assert error.message.startswith("Task a at there:1 is unavailable: ")


class Lost(Exception):
    """A call that gRPC itself ended."""

    def __init__(self, details: str) -> None:
        self.details = lambda: details
        self.code = lambda: grpc.StatusCode.UNAVAILABLE
        self.trailing_metadata = lambda: ()


@pytest.mark.parametrize(
    ("last", "meant"),
    [
        ("connection attempt timed out before receiving SETTINGS frame", "its process stands still"),
        ("connect: Connection refused (111)", "nothing listens there"),
        ("Domain name not found", "its name does not resolve"),
        (
            "Tls handshake failed (TSI_PROTOCOL_FAILURE): SSL_ERROR_SSL: error:1000007d:SSL routines:OPENSSL_internal:"
            "CERTIFICATE_VERIFY_FAILED: unable to get local issuer certificate: OK",
            "it belongs to a cluster with other credentials than this process has: set WEFT_CLUSTER_TOKEN_FILE",
        ),
        ("CERTIFICATE_VERIFY_FAILED: certificate has expired: OK", "its certificate has expired"),
        (
            "CERTIFICATE_VERIFY_FAILED: certificate is not yet valid: OK",
            "its certificate is not valid yet, so a clock is wrong: look at the clocks of both hosts",
        ),
        ("Handshake failed with error SSL_ERROR_SSL: error:100000f7:WRONG_VERSION_NUMBER", "it has no credentials"),
        ("ipv4:192.0.2.2:21200: Socket closed", "it takes holders of its cluster's credentials only"),
    ],
)
def test_what_grpc_says_of_a_peer_is_said_in_words(last: str, meant: str) -> None:
    said = f"failed to connect to all addresses; last error: UNKNOWN: {last}"
    message = from_rpc_error(Lost(said), "Task a").message
    assert message.startswith(f"Task a is unavailable: {meant}")
    assert message.endswith(f" ({said})")


def test_a_connection_that_ends_is_told_as_grpc_tells_it() -> None:
    assert from_rpc_error(Lost("Socket closed"), "Task a").message == "Task a is unavailable: Socket closed"
