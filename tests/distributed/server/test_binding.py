"""Servers bind to the port that they are given, or say why they cannot."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from weft.distributed.rpc.options import SERVER_OPTIONS
from weft.distributed.rpc.threads import RpcThreads
from weft.distributed.server.binding import bind
from weft.errors import InvalidArgumentError, UnknownError


@pytest.fixture
def server() -> Iterator[Any]:
    made = grpc.server(RpcThreads("test"), options=SERVER_OPTIONS)
    yield made
    made.stop(None).wait()


def test_port_0_is_any_free_port(server: Any) -> None:
    assert bind(server, "localhost:0") > 0


def test_a_port_in_use_is_an_error_that_names_it(server: Any) -> None:
    port = bind(server, "localhost:0")
    server.start()
    second = grpc.server(RpcThreads("test"), options=SERVER_OPTIONS)
    with pytest.raises(UnknownError, match=f"port {port} "):
        bind(second, f"localhost:{port}")
    second.stop(None).wait()


def test_the_port_of_a_process_that_is_about_to_end_is_waited_for(server: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        leaves = threading.Timer(0.2, holder.close)
        leaves.start()
        assert bind(server, f"127.0.0.1:{port}") == port
        leaves.join()


def test_an_address_without_a_port_is_refused(server: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="port"):
        bind(server, "localhost")


def test_a_host_that_does_not_resolve_is_named(server: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"'no-such-host\.invalid' does not resolve"):
        bind(server, "no-such-host.invalid:0")
