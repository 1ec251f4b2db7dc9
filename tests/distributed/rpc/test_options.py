"""Servers bind to the port that they are given, or say why they cannot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from weft.distributed.rpc.options import CHANNEL_OPTIONS, SERVER_OPTIONS, bind, open_channel
from weft.distributed.rpc.threads import RpcThreads
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


def test_an_address_without_a_port_is_refused(server: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="port"):
        bind(server, "localhost")


def test_a_host_that_does_not_resolve_is_named(server: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"'no-such-host\.invalid' does not resolve"):
        bind(server, "no-such-host.invalid:0")


def test_neither_side_limits_messages_and_no_channel_takes_a_proxy() -> None:
    for options in (dict(CHANNEL_OPTIONS), dict(SERVER_OPTIONS)):
        assert options["grpc.max_send_message_length"] == -1
        assert options["grpc.max_receive_message_length"] == -1
    assert dict(CHANNEL_OPTIONS)["grpc.enable_http_proxy"] == 0


def test_a_message_beyond_the_default_limit_passes(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://localhost:1")
    methods = {"Echo": grpc.unary_unary_rpc_method_handler(lambda data, context: data)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Test", methods),))
    port = bind(server, "localhost:0")
    server.start()
    data = b"x" * 20_000_000
    with open_channel(f"localhost:{port}") as channel:
        assert channel.unary_unary("/Test/Echo")(data, timeout=60) == data
