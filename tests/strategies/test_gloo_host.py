"""Where Gloo listens is told before it fails by it, and where it may have."""

from __future__ import annotations

import socket

import pytest

from weft.errors import FailedPreconditionError
from weft.strategies.reduction import gloo_host
from weft.strategies.reduction.process_group import Place, ProcessGroup


def test_a_host_whose_own_name_does_not_resolve_is_told_before_the_others_meet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "no-such-host.invalid")
    monkeypatch.setattr("weft.runtime.xla.xla_process.is_started", lambda: False)
    with pytest.raises(FailedPreconditionError, match=r"own name, 'no-such-host.invalid', does not resolve .*/etc/hosts"):
        ProcessGroup().join(Place("localhost:1", 2, 1), uses_accelerators=False)


def test_a_name_that_is_a_loopback_address_is_told_where_others_may_be_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "localhost")
    assert "'localhost', is a loopback address" in gloo_host.what_may_be_wrong("192.0.2.1:8000")
    assert not gloo_host.what_may_be_wrong("localhost:8000")
    monkeypatch.setattr(socket, "gethostname", lambda: "192.0.2.2")
    assert not gloo_host.what_may_be_wrong("192.0.2.1:8000")
