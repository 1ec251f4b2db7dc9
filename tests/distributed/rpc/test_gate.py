"""The gate lets in processes of its own user, and says what is amiss where it cannot know."""

from __future__ import annotations

import errno
import os
from typing import Any

import pytest

from weft.distributed.rpc import gate
from weft.distributed.rpc.gate import Gate
from weft.errors import PermissionDeniedError, ResourceExhaustedError


class _Call:
    """A call without a certificate, from a port of this host."""

    def auth_context(self) -> dict[str, Any]:
        return {}

    def peer(self) -> str:
        return "ipv4:127.0.0.1:40000"


def _check(monkeypatch: pytest.MonkeyPatch, owner: int | OSError | None) -> None:
    def tcp_peer(*_: object) -> int | None:
        if isinstance(owner, OSError):
            raise owner
        return owner

    monkeypatch.setattr(gate, "tcp_peer", tcp_peer)
    context: Any = _Call()
    Gate(["127.0.0.1"], 2222).check(context)


def test_processes_of_the_same_user_are_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    _check(monkeypatch, os.getuid())


def test_others_are_not_and_are_told_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PermissionDeniedError, match=f"the caller's is {os.getuid() + 1}"):
        _check(monkeypatch, os.getuid() + 1)


def test_a_caller_of_whom_nothing_is_known_is_not_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PermissionDeniedError):
        _check(monkeypatch, None)


def test_a_server_without_descriptors_does_not_blame_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ResourceExhaustedError, match=r"no file descriptors left .*ulimit -n"):
        _check(monkeypatch, OSError(errno.EMFILE, "Too many open files"))
