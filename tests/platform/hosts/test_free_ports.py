import socket

import pytest

from weft.platform.hosts import free_ports


def test_ports_are_different_and_free():
    found = free_ports.free_ports(20)
    assert len(set(found)) == 20
    for port in found:
        with socket.socket() as server:
            server.bind(("127.0.0.1", port))


def test_ports_in_use_are_passed_over(monkeypatch):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        taken = server.getsockname()[1]
        monkeypatch.setattr(free_ports, "_candidates", lambda: iter([taken]))
        with pytest.raises(OSError, match="1 tasks need a port each, 0 are free"):
            free_ports.free_ports(1)
