import socket

import pytest

from weft.platform.own_name import wait_for_name


def test_a_name_that_resolves_late_is_waited_for(monkeypatch):
    answers = [OSError("not yet"), OSError("not yet"), []]

    def resolve(*_, **__):
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    pauses = []
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    wait_for_name("pod-0.job", 60, pauses.append)
    assert len(pauses) == 2
    assert answers == []


def test_a_name_that_never_resolves_is_told():
    with pytest.raises(TimeoutError, match=r"^the name 'no-such-host.invalid' has not resolved for 0 s: "):
        wait_for_name("no-such-host.invalid", 0)
