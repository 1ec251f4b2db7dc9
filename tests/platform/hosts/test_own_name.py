import socket

import pytest

from weft.platform.hosts.own_name import wait_for_name
from weft.platform.waits import wait_notice


def test_a_name_that_resolves_late_is_waited_for(monkeypatch):
    answers = [OSError("not yet"), OSError("not yet"), []]

    def resolve(*_, **__):
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    pauses = []
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    told = []
    wait_for_name("pod-0.job", 60, told.append, pauses.append)
    assert len(pauses) == 2
    assert answers == []
    assert told == []


def test_a_long_wait_is_told_with_what_to_look_at(monkeypatch):
    monkeypatch.setattr(wait_notice, "FIRST_S", 0.0)
    answers = [[]]

    def resolve(*_, **__):
        if told:
            return answers.pop()
        raise OSError("not yet")

    told = []
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    wait_for_name("pod-0.job", 60, told.append, lambda _: None)
    [text] = told
    assert "waiting for this task's name 'pod-0.job', which has not resolved for 0 s (not yet)" in text
    assert "Look whether the cluster's addresses are right" in text


def test_a_name_that_never_resolves_is_told():
    with pytest.raises(TimeoutError, match=r"^the name 'no-such-host.invalid' has not resolved for 0 s: "):
        wait_for_name("no-such-host.invalid", 0, print)
