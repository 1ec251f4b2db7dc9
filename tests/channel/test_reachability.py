"""Whoever waits for a server in vain is told what the system knows of its address."""

from __future__ import annotations

import os
import resource
import socket
import threading

import pytest

from weft.channel.reachability import why_unreachable
from weft.platform.hosts.free_ports import free_ports


def _why(host: str, port: int) -> str:
    return why_unreachable(host, port, lambda: "it does not like this process")


def test_a_port_at_which_nothing_listens() -> None:
    (port,) = free_ports(1)
    assert _why("127.0.0.1", port).startswith("nothing listens there. Look whether its process runs")


def test_a_name_that_does_not_resolve(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    told = "the name 'no-such-host.invalid' does not resolve (Name or service not known)"
    assert _why("no-such-host.invalid", 2222).startswith(told)


def test_a_name_service_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def hang(*_: object, flags: int = 0, **__: object) -> None:
        if flags & socket.AI_NUMERICHOST:
            raise socket.gaierror(socket.EAI_NONAME, "not in digits")
        over.wait(20)
        raise socket.gaierror(socket.EAI_AGAIN, "too late")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    try:
        assert "the name service has said nothing of 'a.example'" in _why("a.example", 2222)
    finally:
        over.set()


def test_a_process_that_listens_and_says_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        text = _why("127.0.0.1", server.getsockname()[1])
    assert text.startswith("something listens there and does not answer")
    assert text.endswith("or it does not like this process")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the descriptors of a process cannot be counted")
def test_a_process_without_descriptors_is_told_of_them_and_not_of_the_server() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        text = _why("localhost", 2222)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert text.startswith("this process has no file descriptors left (Too many open files)")
