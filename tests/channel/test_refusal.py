"""A dead peer is told from one that is out of reach, by what dialing it and asking it by gRPC say."""

from __future__ import annotations

import socket
import threading

import pytest

from weft.channel.dial import dial
from weft.channel.listener import Listener
from weft.channel.refusal import is_cut_in_the_making, is_refusal, refusal_of
from weft.distributed.worker.worker_service import WorkerStub
from weft.errors import UnavailableError
from weft.platform.hosts.free_ports import free_ports
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
            stub.open_channel(TASK, timeout_s=20.0)
    finally:
        stub.close()
    assert is_refusal(caught.value)


def test_an_address_that_cannot_be_reached_does_not_refuse() -> None:
    with pytest.raises(UnavailableError) as caught:
        dial(["unix:another-host:/nowhere"], Hello(PROTOCOL_VERSION, TASK, 1, b"", TASK), print, print, 1.0)
    assert not is_refusal(caught.value)


def test_words_alone_are_no_refusal() -> None:
    assert not is_refusal(UnavailableError.of("the request was refused by a device between"))


def test_a_task_that_does_not_take_the_dialer_refuses() -> None:
    listener = Listener(
        "127.0.0.1", 0, receiver=TASK, incarnation=1, has_permission=lambda hello: False, on_connection=print, on_message=print,
        on_closed=print,
    )  # fmt: skip
    try:
        with pytest.raises(UnavailableError) as caught:
            dial(list(listener.addresses), Hello(PROTOCOL_VERSION, "", 0, b"x", TASK), print, print, 5.0)
    finally:
        listener.stop()
    assert is_refusal(caught.value)
    assert not is_cut_in_the_making(caught.value)


def test_a_connection_that_is_cut_in_the_handshake_does_not_refuse() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        cutter = threading.Thread(target=lambda: server.accept()[0].close())
        cutter.start()
        with pytest.raises(UnavailableError) as caught:
            dial([f"tcp:127.0.0.1:{server.getsockname()[1]}"], Hello(PROTOCOL_VERSION, "", 0, b"", TASK), print, print, 5.0)
        cutter.join()
    assert is_cut_in_the_making(caught.value)
    assert not is_refusal(caught.value)


def test_a_port_that_is_not_known_does_not_refuse() -> None:
    assert refusal_of("localhost", 0) is None
