"""Nobody uses a server but processes of its own user on its host, and holders of its cluster's credentials."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import grpc
import numpy as np
import pytest

import weft as tf
from tests.distributed.cutting_proxy import CuttingProxy
from weft.channel.dial import dial
from weft.credentials.cluster_token import FILE_VARIABLE, VARIABLE
from weft.credentials.credentials import FOLDER_VARIABLE
from weft.distributed.client.server_status import server_status
from weft.distributed.rpc import stub as rpc_stub
from weft.distributed.rpc.misfit_watch import MisfitWatch
from weft.distributed.rpc.options import open_channel
from weft.distributed.server import welcome
from weft.distributed.server.admissions import Admissions
from weft.distributed.server.in_process import local_servers
from weft.distributed.worker.worker_service import WorkerStub
from weft.errors import DeadlineExceededError, PermissionDeniedError, UnauthenticatedError, UnavailableError
from weft.platform.files.owner_folder import owner_secret
from weft.platform.hosts import peer_owner
from weft.protocol import messages

_PS = "/job:ps/replica:0/task:0"


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (VARIABLE, FILE_VARIABLE, FOLDER_VARIABLE):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def own_address() -> Iterator[str]:
    """An address of this machine that others can reach."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            pytest.skip("this machine has no address but loopback")
        yield probe.getsockname()[0]


def _port() -> int:
    with socket.create_server(("", 0)) as free:
        return int(free.getsockname()[1])


def _listening_addresses() -> set[str]:
    """The local addresses of this process's listening TCP sockets, IPv4, as /proc writes them."""
    own = {os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink() and path.exists()}
    rows = [row.split() for row in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in own}


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads Linux's table of sockets")
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_server_on_loopback_listens_nowhere_else(host: str) -> None:
    with tf.train.Server({"ps": [f"{host}:0"]}):
        assert _listening_addresses() == {"0100007F"}


def test_a_server_that_others_can_reach_wants_credentials_and_says_how_to_make_them(own_address: str) -> None:
    with pytest.raises(PermissionDeniedError, match=r"weft credentials token -o FILE.*insecure=True"):
        tf.train.Server({"ps": [f"{own_address}:0"]})


def test_a_server_may_be_told_to_be_insecure(own_address: str) -> None:
    with tf.train.Server({"ps": [f"{own_address}:0"]}, insecure=True) as server, tf.Session(server.target) as session:
        assert session.run(tf.constant(3)) == 3


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="is no address of this machine"):
        tf.train.Server({"ps": ["192.0.2.77:0"]}, insecure=True)


def test_a_tunnel_to_a_server_of_another_host_is_told_as_one(own_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "a" * 64)
    with tf.train.Server({"ps": [f"{own_address}:0"]}) as server:
        tunnel = CuttingProxy(int(server.target.rpartition(":")[2]), own_address)
        with pytest.raises(UnavailableError, match=r"as through a tunnel.*run this on a host of the cluster"):
            server_status(tunnel.address.removeprefix("tcp:"), 10.0)
        tunnel.close()


_SERVE = """
import sys
import weft as tf
with tf.train.Server({spec!r}, "ps", 0):
    print("up", flush=True)
    sys.stdin.read()
"""


def test_holders_of_the_token_work_together_and_others_stay_out(own_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "a" * 64)
    spec = {"ps": [f"{own_address}:{_port()}"], "worker": [f"{own_address}:{_port()}"]}
    with subprocess.Popen(
        [sys.executable, "-c", _SERVE.format(spec=spec)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as ps:
        assert ps.stdout is not None
        assert ps.stdin is not None
        try:
            assert ps.stdout.readline() == "up\n"
            with tf.train.Server(spec, "worker", 0) as worker:
                with tf.Graph().as_default() as graph:
                    with tf.device("/job:ps/task:0"):
                        variable = tf.Variable(np.arange(6.0, dtype=np.float32), name="v")
                    with tf.device("/job:worker/task:0"):
                        doubled = variable * 2.0
                    with tf.Session(worker.target, graph=graph) as session:
                        session.run(variable.initializer)
                        assert session.run(doubled).tolist() == [0, 2, 4, 6, 8, 10]
                _stays_out(spec["ps"][0], monkeypatch, "b" * 64, "belongs to a cluster with other credentials")
                _stays_out(spec["ps"][0], monkeypatch, None, "this process has none")
        finally:
            ps.stdin.close()


@pytest.mark.parametrize(("token", "reason"), [("b" * 64, "other credentials"), (None, "this process has none")])
def test_a_wait_for_a_server_with_other_credentials_or_without_any_ends_with_the_remedy(
    own_address: str, monkeypatch: pytest.MonkeyPatch, token: str | None, reason: str
) -> None:
    monkeypatch.setattr(rpc_stub, "MisfitWatch", lambda: MisfitWatch(0.0))
    monkeypatch.setenv(VARIABLE, "a" * 64)
    address = f"{own_address}:{_port()}"
    with tf.train.Server({"ps": [address], "worker": [f"{own_address}:1"]}, "ps", 0):
        monkeypatch.delenv(VARIABLE)
        if token is not None:
            monkeypatch.setenv(VARIABLE, token)
        monkeypatch.setattr(local_servers, "find", lambda address: None)
        with (
            tf.Graph().as_default(),
            pytest.raises(UnauthenticatedError, match=f"{reason}.*set {FILE_VARIABLE}"),
            tf.Session(f"grpc://{address}") as session,
        ):
            session.run(tf.constant(1))


def test_a_wait_for_something_that_closes_connections_goes_on(own_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A way there that has no server behind it yet, such as a balancer's, looks to gRPC like a server with credentials."""
    monkeypatch.setattr(rpc_stub, "MisfitWatch", lambda: MisfitWatch(0.0))
    with socket.create_server((own_address, 0)) as listener:
        threading.Thread(target=_close_all, args=(listener,), daemon=True).start()
        config = tf.ConfigProto(operation_timeout_in_ms=2500)
        with tf.Graph().as_default():
            one = tf.constant(1)
            target = f"grpc://{own_address}:{listener.getsockname()[1]}"
            with pytest.raises(DeadlineExceededError, match="it is no task"), tf.Session(target, config=config) as session:
                session.run(one)
        listener.shutdown(socket.SHUT_RDWR)


def _close_all(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            listener.accept()[0].close()


def test_a_joined_server_ends_when_the_others_have_other_credentials(own_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(welcome, "MisfitWatch", lambda limit_s: MisfitWatch(0.0))
    spec = {"ps": [f"{own_address}:{_port()}"], "worker": [f"{own_address}:{_port()}"]}
    monkeypatch.setenv(VARIABLE, "a" * 64)
    with tf.train.Server(spec, "worker", 0):
        monkeypatch.setenv(VARIABLE, "b" * 64)
        with (
            tf.train.Server(spec, "ps", 0) as ps,
            pytest.raises(UnauthenticatedError, match="Task /job:worker"),
        ):
            ps.join()


def _stays_out(address: str, monkeypatch: pytest.MonkeyPatch, token: str | None, reason: str) -> None:
    if token is None:
        monkeypatch.delenv(VARIABLE)
    else:
        monkeypatch.setenv(VARIABLE, token)
    config = tf.ConfigProto(operation_timeout_in_ms=1500)
    with tf.Graph().as_default():
        one = tf.constant(1)
        with pytest.raises(DeadlineExceededError, match=reason), tf.Session(f"grpc://{address}", config=config) as session:
            session.run(one)


def test_a_token_is_good_once_and_for_the_task_that_it_was_given_to() -> None:
    with tf.train.Server({"ps": ["localhost:0"]}) as server:
        stub = WorkerStub(_PS, f"localhost:{server.port}", "/job:worker/replica:0/task:0")
        try:
            admission = stub.open_channel("/job:worker/replica:0/task:0", 10)
        finally:
            stub.close()

        def say_hello(sender: str) -> None:
            hello = messages.Hello(messages.PROTOCOL_VERSION, sender, 1, admission.token, _PS)
            connection, _ = dial(admission.addresses, hello, lambda *_: None, lambda *_: None, 10)
            connection.close()

        with pytest.raises(UnavailableError, match="the dialer's token is not this task's"):
            say_hello(_PS)
        with pytest.raises(UnavailableError, match="the dialer's token is not this task's"):
            say_hello("/job:worker/replica:0/task:0")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_another_user_of_the_host_is_refused() -> None:
    with tf.train.Server({"ps": ["localhost:0"]}) as server:
        program = f"""
import encodings.idna, grpc, os
from weft.distributed.rpc.options import open_channel
open_channel("localhost:1").close()  # which imports what is not for others to read
os.setuid(65534)
with open_channel("localhost:{server.port}") as channel:
    try:
        channel.unary_unary("/weft.WorkerService/GetStatus")(b"", timeout=20)
    except grpc.RpcError as error:
        print(error.code().name, error.details())
"""
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
        assert "PERMISSION_DENIED" in ran.stdout
        assert "its own user's processes" in ran.stdout


def test_the_own_user_is_let_in_and_health_is_told_to_all() -> None:
    with tf.train.Server({"ps": ["localhost:0"]}) as server, open_channel(f"localhost:{server.port}") as channel:
        assert channel.unary_unary("/weft.WorkerService/GetStatus")(b"", timeout=20)
        assert channel.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=20)


def test_a_grant_is_for_one_sender() -> None:
    admissions = Admissions("ps", 0, "localhost:0", insecure=False)
    token = admissions.grant("")
    hello = messages.Hello(messages.PROTOCOL_VERSION, "", 0, token, _PS)
    assert admissions.has_permission(hello)
    assert not admissions.has_permission(hello)


def test_where_the_kernel_does_not_tell_the_users_secret_lets_his_processes_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(peer_owner, "KERNEL_TELLS", False)
    monkeypatch.setattr(local_servers, "find", lambda address: None)
    with tf.train.Server({"ps": ["localhost:0"]}) as server, tf.Session(server.target) as session:
        assert session.run(tf.constant(3) + 4) == 7
        monkeypatch.setattr(peer_owner, "KERNEL_TELLS", True)  # a client that shows nothing
        with open_channel(f"localhost:{server.port}") as channel, pytest.raises(grpc.RpcError):
            channel.unary_unary("/weft.WorkerService/GetStatus")(b"", timeout=5)


def test_a_user_has_one_secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert owner_secret() == owner_secret()
    assert [path.name for path in (tmp_path / "weft").iterdir()] == ["secret"]


def test_a_task_with_another_token_announces_itself_in_vain(own_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"{own_address}:{_port()}"
    monkeypatch.setenv(VARIABLE, "a" * 64)
    with tf.train.Server({"ps": [f"{own_address}:1"], "worker": [address]}, "worker", 0):
        monkeypatch.setenv(VARIABLE, "b" * 64)
        stub = WorkerStub("/job:worker/replica:0/task:0", address, _PS)
        try:
            with pytest.raises(UnavailableError):
                stub.announce(f"{own_address}:2", 5, 5.0)
        finally:
            stub.close()
