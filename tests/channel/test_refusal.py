"""A dead peer is told from one that is out of reach, by what dialing it and asking it by gRPC say."""

from __future__ import annotations

import pytest

from weft.channel.dial import dial, is_refusal
from weft.distributed.worker.worker_service import WorkerStub
from weft.errors import UnavailableError
from weft.platform.free_ports import free_ports
from weft.protocol.messages import PROTOCOL_VERSION, Hello

TASK = "/job:a/replica:0/task:0"


def test_an_address_at_which_nothing_listens_refuses() -> None:
    (port,) = free_ports(1)
    with pytest.raises(UnavailableError) as caught:
        dial([f"tcp:127.0.0.1:{port}"], Hello(PROTOCOL_VERSION, TASK, 1, b"", TASK), print, print, 1.0)
    assert is_refusal(caught.value)


def test_grpc_says_so_of_a_server_that_is_gone() -> None:
    (port,) = free_ports(1)
    stub = WorkerStub(TASK, f"127.0.0.1:{port}", TASK)
    try:
        with pytest.raises(UnavailableError) as caught:
            stub.open_channel(TASK, timeout_s=5.0)
    finally:
        stub.close()
    assert is_refusal(caught.value)


def test_an_address_that_cannot_be_reached_does_not_refuse() -> None:
    with pytest.raises(UnavailableError) as caught:
        dial(["unix:another-host:/nowhere"], Hello(PROTOCOL_VERSION, TASK, 1, b"", TASK), print, print, 1.0)
    assert not is_refusal(caught.value)
