"""Channels and servers let large messages pass, and go around proxies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from weft.distributed.rpc.options import CHANNEL_OPTIONS, SERVER_OPTIONS, open_channel
from weft.distributed.rpc.threads import RpcThreads
from weft.distributed.server.binding import bind


@pytest.fixture
def server() -> Iterator[Any]:
    made = grpc.server(RpcThreads("test"), options=SERVER_OPTIONS)
    yield made
    made.stop(None).wait()


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
