"""`weft doctor` tells what is wrong, and what helps; its exit code says whether something is."""

from __future__ import annotations

import importlib.metadata
import os
import resource
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from weft.cli.command_line import main
from weft.cli.doctor import limits, network, servers, software
from weft.cli.doctor.finding import Finding, Health, problem
from weft.credentials.cluster_token import FILE_VARIABLE
from weft.credentials.credentials import CLIENT, Credentials
from weft.distributed.server.server import Server
from weft.errors import PermissionDeniedError, UnavailableError
from weft.protocol.job_watch import JobNote
from weft.training.sessions.board import Board
from weft.training.sessions.board_view import Replica
from weft.training.sessions.model_signature import VariableSignature


@pytest.fixture
def server() -> Iterator[Server]:
    with Server({"ps": ["localhost:0"]}) as running:
        yield running


def address_of(server: Server) -> str:
    return server.target.removeprefix("grpc://")


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def only_problem(found: list[Finding]) -> Finding:
    (wrong,) = [finding for finding in found if finding.health is Health.PROBLEM]
    assert wrong.remedy
    return wrong


def test_the_command_examines_this_machine_and_a_server(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", address_of(server)]) == 0
    shown = capsys.readouterr().out
    for told in (
        "versions: weft ",
        "JAX: cpu:0",
        "open files",
        "locked memory",
        "shared memory",
        "/job:ps/replica:0/task:0 answers",
    ):
        assert told in shown
    assert "0 problems" in shown.splitlines()[-1]


def test_a_problem_is_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", free_address()]) == 1
    shown = capsys.readouterr().out
    assert "connection refused: nothing listens there\n         -> start the server" in shown
    assert shown.splitlines()[-1].startswith("1 problem")


def test_an_address_without_a_port_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["doctor", "somewhere"])
    assert "expected 'host:port'" in capsys.readouterr().err


def test_a_finding_is_one_line_and_its_remedy() -> None:
    assert str(problem("disk", "is\n  full", "remove files")) == "problem  disk: is full\n         -> remove files"


def test_a_package_of_another_version_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    needs = ["grpcio>=1", "numpy<2", "absent-package>=3", "only-elsewhere; sys_platform == 'nowhere'", "jax; extra == 'cuda'"]
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: needs)
    wrong = [finding for finding in software.packages() if finding.health is Health.PROBLEM]
    assert [finding.subject for finding in wrong] == ["package numpy", "package absent-package"]
    assert [finding.remedy for finding in wrong] == ["pip install 'numpy<2'", "pip install 'absent-package>=3'"]


def test_few_descriptors_are_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (256, 1024))
    files, locked = limits.of_process()
    assert (files.health, files.remedy.split(",")[0]) == (Health.WARNING, "ulimit -n 1024")
    assert locked.health is Health.WARNING


def test_a_limit_that_cannot_be_raised_here_has_another_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (256, 256))
    files, _ = limits.of_process()
    assert "limits.conf" in files.remedy


def test_a_name_that_does_not_resolve_is_a_problem() -> None:
    assert "does not resolve" in only_problem(list(network.server_name("nowhere.invalid:2222"))).found


def test_a_name_is_resolved_both_ways() -> None:
    (found,) = network.server_name("localhost:2222")
    assert "localhost is 127.0.0.1" in found.found
    assert "localhost" in found.found.partition("which")[2]


def test_proxies_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in network._PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    assert list(network.proxies()) == []
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    (found,) = network.proxies()
    assert "HTTPS_PROXY set" in found.found


def test_credentials_that_cannot_be_used_are_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WEFT_CLUSTER_TOKEN", "short")
    assert "32 are needed" in only_problem([network.credentials()]).found
    monkeypatch.setenv("WEFT_CLUSTER_TOKEN", "x" * 64)
    assert network.credentials().health is Health.OK


def test_a_connection_that_takes_too_long_is_told_from_one_that_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> socket.socket:
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", never)
    wrong = only_problem(list(servers.examine("localhost:2222", 0.5)))
    assert "no connection within 0.5 s" in wrong.found
    assert "firewall" in wrong.remedy


def test_what_listens_but_is_no_server_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        def hang_up() -> None:
            try:
                while True:
                    other.accept()[0].close()
            except OSError:
                return

        thread = threading.Thread(target=hang_up)
        thread.start()
        try:
            wrong = only_problem(list(servers.examine(f"127.0.0.1:{port}", 5.0)))
        finally:
            other.shutdown(socket.SHUT_RDWR)
            thread.join()
    assert "something listens" in wrong.found


def test_what_listens_and_stands_still_is_told_from_what_has_other_credentials() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        wrong = only_problem(list(servers.examine(f"127.0.0.1:{other.getsockname()[1]}", 2.0)))
    assert "takes connections, but does not answer" in wrong.found
    assert "process is stopped" in wrong.remedy


def test_credentials_that_cannot_be_read_are_the_remedy_of_a_server_too(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(servers, "server_status", lambda *_: Credentials.find({FILE_VARIABLE: str(tmp_path / "none")}, CLIENT))
    wrong = only_problem(list(servers.examine(address_of(server), 5.0)))
    assert "there is no such file" in wrong.found
    assert "WEFT_CLUSTER_TOKEN_FILE" in wrong.remedy


def test_a_server_that_refuses_this_caller_is_told_as_such(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionDeniedError.of("This server takes calls of its own user's processes on this host only")

    monkeypatch.setattr(servers, "server_status", refuse)
    wrong = only_problem(list(servers.examine(address_of(server), 5.0)))
    assert "own user's processes" in wrong.found
    assert "WEFT_CREDENTIALS" in wrong.remedy


def test_a_clock_that_is_off_is_a_warning(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "time", SimpleNamespace(time=lambda: time.time() - 100))
    (clock,) = [finding for finding in servers.examine(address_of(server), 5.0) if "clock" in finding.found]
    assert clock.health is Health.WARNING
    assert "s ahead" in clock.found


def test_a_server_of_another_version_is_a_problem(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "WEFT_VERSION", "9.8.7")
    wrong = only_problem(list(servers.examine(address_of(server), 5.0)))
    assert "of weft, and this is 9.8.7" in wrong.found
    assert "pip install weft==" in wrong.remedy


def test_a_tensor_channel_that_is_cut_off_is_told_from_a_server_that_is_not_there(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(*_: object) -> Finding:
        raise UnavailableError.of("The server cannot be reached by its tensor channel")

    monkeypatch.setattr(servers, "_clock", cut_off)
    wrong = only_problem(list(servers.examine(address_of(server), 5.0)))
    assert "answers, but does not run steps" in wrong.found
    assert "tensor channel's port through the firewall" in wrong.remedy


def test_a_small_folder_of_shared_memory_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = SimpleNamespace(f_frsize=4096, f_blocks=16384, f_bavail=16384)
    monkeypatch.setattr(os, "statvfs", lambda path: sizes)
    (small,) = limits.shared_folder()
    assert (small.subject, small.health) == ("/dev/shm", Health.WARNING)
    assert "--shm-size" in small.remedy
    sizes.f_blocks = sizes.f_bavail = 1 << 20
    (large,) = limits.shared_folder()
    assert large.health is Health.OK


def test_a_host_whose_own_name_is_its_loopback_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "localhost")
    named, alone = network.own_name()
    assert (named.health, alone.health) == (Health.OK, Health.WARNING)
    assert "listens for this host only" in alone.found


def test_a_replica_with_another_model_is_named(server: Server) -> None:
    task = "/job:ps/replica:0/task:0"
    weights = VariableSignature("float32", (2, 3), task)
    chief = Replica(True, "a:1", "a 11", "ready", {"w": weights})
    others = [
        Replica(False, "b:1", "b 12", "training", {"w": weights}),
        Replica(False, "c:1", "c 13", "training", {"w": VariableSignature("float32", (2, 4), task)}),
    ]
    board = Board(server.target, None, [task])
    try:
        # What a chief tells the servers of its job is no replica's note.
        board.post("job/a:1", JobNote("a:1", "x", "training", "").encode())
        for replica in (chief, others[0]):
            board.post(f"{replica.address}:x", replica.as_note())
        assert (
            "2 replicas train on it, all with the model of the chief a:1"
            in list(servers.examine(address_of(server), 5.0))[-1].found
        )
        board.post("c:1:x", others[1].as_note())
        wrong = only_problem(list(servers.examine(address_of(server), 5.0)))
    finally:
        board.close()
    assert "replica c:1" in wrong.found
    assert "w: float32 [2, 4]" in wrong.found
