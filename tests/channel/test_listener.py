"""The listener lets in who may talk, tells the others why not, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import queue
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft.channel import listener
from weft.channel.connection import Connection
from weft.channel.dial import dial
from weft.channel.listener import Listener, has_token
from weft.channel.transport.unix import UnixListener, host_identity
from weft.errors import PermissionDeniedError, UnavailableError
from weft.protocol.messages import PROTOCOL_VERSION, Abort, Hello, Message, Push, Reject, Welcome
from weft.protocol.tensor_frame import FrameDecoder, encode
from weft.testing.channel_conformance import PATIENCE_S, Endpoint

PS = "/job:ps/replica:0/task:0"
HELLO = Hello(PROTOCOL_VERSION, "/job:worker/replica:0/task:1", 5, b"token", PS)

Start = Callable[..., Listener]


@pytest.fixture
def start() -> Iterator[Start]:
    with contextlib.ExitStack() as stack:

        def start_it(endpoint: Endpoint | None = None, **settings: Any) -> Listener:
            endpoint = endpoint or Endpoint()
            arguments: dict[str, Any] = {
                "receiver": PS,
                "incarnation": 7,
                "has_permission": has_token(b"token"),
                "on_connection": lambda connection, hello: None,
                "on_message": endpoint.on_message,
                "on_closed": endpoint.on_closed,
            }
            started = Listener("127.0.0.1", settings.pop("port", 0), **(arguments | settings))
            stack.callback(started.stop)
            return started

        yield start_it
    assert not [
        thread for thread in threading.enumerate() if thread.name.startswith(("weft-accept", "weft-admit", "weft-read"))
    ]


class ClientEndpoint(Endpoint):
    """An endpoint that owns clients' connections."""

    def __init__(self) -> None:
        super().__init__()
        self.introduced: queue.SimpleQueue[Hello] = queue.SimpleQueue()

    def on_connection(self, connection: Connection, hello: Hello) -> None:
        self.introduced.put(hello)


def connect(hello: Hello, *addresses: str) -> tuple[Connection, Welcome]:
    endpoint = Endpoint()
    return dial(addresses, hello, endpoint.on_message, endpoint.on_closed, PATIENCE_S)


def tcp(started: Listener) -> str:
    return next(address for address in started.addresses if address.startswith("tcp:"))


def read_all(raw: socket.socket) -> list[Message]:
    raw.settimeout(PATIENCE_S)
    decoder, out = FrameDecoder(), []
    while count := raw.recv_into(decoder.get_buffer()):
        out += decoder.buffer_received(count)
    return out


def test_an_admitted_peer_is_introduced_before_its_messages(start: Start) -> None:
    events: queue.SimpleQueue[object] = queue.SimpleQueue()
    started = start(
        on_connection=lambda connection, hello: events.put((connection.peer, hello)),
        on_message=lambda connection, message: events.put(message),
    )
    connection, welcome = connect(HELLO, *started.addresses)
    connection.send(Abort(1, 1, ""))
    assert welcome == connection.peer == Welcome(PS, 7)
    assert connection.name == PS
    assert events.get(timeout=PATIENCE_S) == (HELLO, HELLO)
    assert events.get(timeout=PATIENCE_S) == Abort(1, 1, "")
    assert [each.name for each in started.connections] == [HELLO.sender]
    connection.close()


def test_clients_go_to_their_own_service(start: Start) -> None:
    tasks, clients = Endpoint(), ClientEndpoint()
    introduced: queue.SimpleQueue[Hello] = queue.SimpleQueue()
    started = start(tasks, on_connection=lambda connection, hello: introduced.put(hello), clients=clients)
    client_hello = dataclasses.replace(HELLO, sender="")
    client, _ = connect(client_hello, *started.addresses)
    task, _ = connect(HELLO, *started.addresses)
    client.send(Abort(1, 1, "of a client"))
    task.send(Abort(2, 1, "of a task"))
    assert clients.receive() == Abort(1, 1, "of a client")
    assert tasks.receive() == Abort(2, 1, "of a task")
    assert introduced.get(timeout=PATIENCE_S) == HELLO
    assert introduced.empty()
    assert clients.introduced.get(timeout=PATIENCE_S) == client_hello
    client.close()
    task.close()


def test_peers_of_this_host_take_the_unix_socket(start: Start) -> None:
    started = start()
    connection, _ = connect(HELLO, *reversed(started.addresses))
    assert connection.transport == "unix"
    connection.close()


def test_peers_that_cannot_take_the_unix_socket_take_tcp(start: Start) -> None:
    started = start()
    for unix in ("unix:another-host:/weft", f"unix:{host_identity()}:/weft/that/does/not/exist"):
        connection, _ = connect(HELLO, unix, tcp(started))
        assert connection.transport == "tcp"
        connection.close()


def test_a_task_that_is_not_there_is_named_with_each_attempt(start: Start) -> None:
    address = tcp(start())
    gone = start()
    gone.stop()
    with pytest.raises(UnavailableError) as caught:
        connect(HELLO, "unix:another-host:/weft", tcp(gone))
    assert f"cannot reach {PS}: unix:another-host:/weft: on another host" in caught.value.message
    assert f"{tcp(gone)}: [Errno" in caught.value.message
    assert address not in caught.value.message


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"token": b"wrong"}, "refused: the dialer's token is not this task's"),
        ({"target": "/job:ps/replica:0/task:9"}, f"refused: this is {PS}, the dialer means /job:ps/replica:0/task:9"),
        ({"protocol_version": 99}, f"protocol version 99, this task {PROTOCOL_VERSION}"),
    ],
)
def test_a_refused_peer_is_told_why(changes: dict[str, Any], reason: str, start: Start) -> None:
    with pytest.raises(UnavailableError, match=reason):
        connect(dataclasses.replace(HELLO, **changes), *start().addresses)


def test_a_silent_peer_is_sent_away_and_holds_nobody_up(start: Start) -> None:
    started = start(handshake_timeout_s=2.0)
    with socket.create_connection(("127.0.0.1", started.port)) as raw:
        connection, _ = connect(HELLO, tcp(started))
        assert read_all(raw) == []
        connection.close()


def test_a_peer_that_trickles_is_sent_away(start: Start) -> None:
    started = start(handshake_timeout_s=0.2)
    hello = b"".join(encode(dataclasses.replace(HELLO, token=b"x" * 60_000)))

    def trickle(raw: socket.socket) -> None:
        for byte in hello:
            raw.sendall(bytes([byte]))
            threading.Event().wait(0.001)

    with (
        socket.create_connection(("127.0.0.1", started.port)) as raw,
        pytest.raises(ConnectionError),
    ):
        trickle(raw)


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n\r\n" * 3, b"", b"".join(encode(Abort(1, 1, "")))])
def test_strangers_are_logged_and_the_server_goes_on(data: bytes, start: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="weft.peers")
    started = start()
    with socket.create_connection(("127.0.0.1", started.port)) as raw:
        raw.sendall(data)
        raw.shutdown(socket.SHUT_WR)
        answer = read_all(raw)
    assert all(isinstance(message, Reject) for message in answer)
    connection, _ = connect(HELLO, tcp(started))
    connection.close()
    told = [each for each in caplog.records if f"{PS} did not admit a connection from 127.0.0.1:" in each.getMessage()]
    # Who says nothing is a probe, or has died while it connected.
    assert [each.levelno for each in told] == [logging.WARNING if data else logging.INFO]


def test_a_stranger_cannot_make_the_server_reserve_memory(start: Start) -> None:
    started = start()
    big = b"".join(encode(dataclasses.replace(HELLO, token=bytes(100_000))))
    with socket.create_connection(("127.0.0.1", started.port)) as raw:
        raw.sendall(big[:16])
        assert read_all(raw) == []


def test_only_so_many_may_be_in_their_handshake(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "MAX_UNADMITTED", 1)
    endpoint = Endpoint()
    started = start(endpoint)
    with socket.create_connection(("127.0.0.1", started.port)) as first:
        with socket.create_connection(("127.0.0.1", started.port)) as second:
            assert read_all(second) == []
        first.sendall(b"".join(encode(HELLO)) + b"".join(encode(Abort(1, 1, ""))))
        assert endpoint.receive() == Abort(1, 1, "")
    connection, _ = connect(HELLO, tcp(started))
    connection.close()


def test_a_system_without_threads_closes_a_connection_and_the_listener_goes_on(
    start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    started = start()

    def fail(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as context:
        context.setattr(threading.Thread, "start", fail)
        with socket.create_connection(("127.0.0.1", started.port)) as raw:
            assert read_all(raw) == []
    assert "can't start new thread" in caplog.text
    connection, _ = connect(HELLO, tcp(started))
    connection.close()


def test_an_owner_that_fails_loses_that_connection_only(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    endpoint = Endpoint()

    def fail(connection: Connection, hello: Hello) -> None:
        if hello.sender == "":
            raise ValueError("no clients here")

    started = start(on_connection=fail)
    refused, _ = dial(
        started.addresses, dataclasses.replace(HELLO, sender=""), endpoint.on_message, endpoint.on_closed, PATIENCE_S
    )
    assert isinstance(endpoint.end(), UnavailableError)
    refused.join()
    connection, _ = connect(HELLO, *started.addresses)
    connection.close()
    assert "no clients here" in caplog.text


def test_stop_ends_everything(start: Start) -> None:
    here, there = Endpoint(), Endpoint()
    started = start(there)
    connections = [dial([address], HELLO, here.on_message, here.on_closed, PATIENCE_S)[0] for address in started.addresses]
    for connection in connections:
        connection.send(Abort(1, 1, ""))
        there.receive()
    with socket.create_connection(("127.0.0.1", started.port)) as silent:
        started.stop("maintenance")
        started.stop()
        assert read_all(silent) == []
    for connection in connections:
        assert here.end() is None
        assert there.end() is None
        connection.join()
    assert started.connections == ()
    with pytest.raises(UnavailableError):
        connect(HELLO, *started.addresses)


def test_a_port_can_be_bound_again_after_a_stop(start: Start) -> None:
    first = start()
    connection, _ = connect(HELLO, tcp(first))
    first.stop()
    connection.join()
    assert start(port=first.port).port == first.port


def test_an_address_in_use_is_named(start: Start) -> None:
    port = start().port
    with pytest.raises(UnavailableError, match=rf"cannot listen on tcp:127.0.0.1:{port}: .*in use"):
        start(port=port)


def test_the_unix_socket_is_a_file_in_a_folder_of_the_users_that_goes_away(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    started = start()
    unix = started.addresses[0]
    assert unix.startswith(f"unix:{host_identity()}:{tmp_path}/weft/")
    assert stat.S_IMODE((tmp_path / "weft").stat().st_mode) == 0o700
    connection, _ = connect(HELLO, unix)
    assert connection.transport == "unix"
    connection.close()
    started.stop()
    assert list((tmp_path / "weft").iterdir()) == []


def test_a_folder_that_others_can_enter_is_refused(start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "weft").mkdir(mode=0o755)
    (tmp_path / "weft").chmod(0o755)
    with pytest.raises(PermissionDeniedError, match="nobody else can enter"):
        start()


def test_a_new_listener_does_not_disturb_those_that_live(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    first = UnixListener()
    os.utime(first.address.path, (0, 0))
    second = UnixListener()
    try:
        with pytest.raises(BlockingIOError):
            first.accept()
        assert Path(first.address.path).exists()
    finally:
        first.close()
        second.close()


def test_sockets_that_killed_listeners_left_are_swept(start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    alive = start()
    left = tmp_path / "weft" / "left"
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(left))
    for path in (tmp_path / "weft").iterdir():
        os.utime(path, (0, 0))
    start()
    assert not left.exists()
    connection, _ = connect(HELLO, alive.addresses[0])
    connection.close()


@pytest.mark.parametrize("where", [0, 1], ids=["unix", "tcp"])
def test_a_process_of_another_user_is_sent_away(
    where: int, start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    address = start().addresses[where]
    assert host_identity()  # of the user that this still is
    monkeypatch.setattr(os, "getuid", lambda: 65534)
    with pytest.raises(UnavailableError):
        connect(HELLO, address)
    assert "it belongs to user" in caplog.text


def test_who_listens_everywhere_advertises_a_name() -> None:
    endpoint = Endpoint()
    for host, advertised, expected in (("", "ps0.local", "ps0.local"), ("0.0.0.0", "", socket.gethostname())):
        started = Listener(
            host,
            0,
            receiver=PS,
            incarnation=1,
            has_permission=has_token(b"token"),
            on_connection=lambda connection, hello: None,
            on_message=endpoint.on_message,
            on_closed=endpoint.on_closed,
            advertised_host=advertised,
        )
        started.stop()
        assert started.addresses[1] == f"tcp:{expected}:{started.port}"


@pytest.mark.parametrize("size", [8, 1 << 20])
def test_a_client_in_the_middle_of_a_message_holds_nobody_up(size: int, start: Start) -> None:
    endpoint = Endpoint()
    started = start(endpoint)
    hello = dataclasses.replace(HELLO, sender="")
    with socket.create_connection(("127.0.0.1", started.port)) as raw:
        raw.sendall(b"".join(encode(hello)))
        assert raw.recv(4096)
        data = b"".join(encode(Push(1, (0,), (np.zeros(size, np.uint8),))))
        raw.sendall(data[: len(data) // 2])
        connection, _ = connect(hello, *started.addresses)
        for number in range(10):
            connection.send(Abort(number, 1, ""))
            assert endpoint.receive() == Abort(number, 1, "")
        raw.sendall(data[len(data) // 2 :])
        message = endpoint.receive()
        assert isinstance(message, Push)
        assert message.tensors[0].size == size
        connection.close()


def test_a_client_that_does_not_read_its_answers_holds_nobody_up(start: Start) -> None:
    large = np.zeros(4 << 20, np.uint8)

    def answer(connection: Connection, message: Message) -> None:
        assert isinstance(message, Abort)
        connection.send(Push(message.step_id, (0,), (large,)) if message.code else message)

    started = start(Endpoint(answer))
    hello = dataclasses.replace(HELLO, sender="")
    with socket.create_connection(("127.0.0.1", started.port)) as raw:
        raw.sendall(b"".join(encode(hello)))
        assert raw.recv(4096)
        raw.sendall(b"".join(b"".join(encode(Abort(number, 1, ""))) for number in range(8)))
        endpoint = Endpoint()
        connection, _ = dial(started.addresses, hello, endpoint.on_message, endpoint.on_closed, PATIENCE_S)
        for number in range(10):
            connection.send(Abort(number, 0, ""))
            assert endpoint.receive() == Abort(number, 0, "")
        decoder, answers = FrameDecoder(), []
        while len(answers) < 8:
            answers += decoder.buffer_received(raw.recv_into(decoder.get_buffer()))
        assert [each.step_id for each in answers if isinstance(each, Push)] == list(range(8))
        connection.close()
