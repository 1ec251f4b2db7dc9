"""Admission: who is let in, who is told why not."""

from __future__ import annotations

import dataclasses

import pytest

from weft.protocol.handshake import Acceptor, Admit, Close, Dialer, Send, State
from weft.protocol.messages import PROTOCOL_VERSION, Hello, Ping, Reject, Welcome
from weft.protocol.protocol_error import LocalProtocolError

PS = "/job:ps/replica:0/task:0"
HELLO = Hello(PROTOCOL_VERSION, "/job:worker/replica:0/task:1", 5, b"token", PS)


def acceptor() -> Acceptor:
    return Acceptor(PS, 11, lambda hello: hello.token == b"token")


def test_a_good_hello_is_welcomed_and_both_sides_admit() -> None:
    listening, dialing = acceptor(), Dialer(HELLO)
    assert dialing.start() == [Send(HELLO)]
    assert listening.receive(HELLO) == [Send(Welcome(PS, 11)), Admit(HELLO)]
    assert dialing.receive(Welcome(PS, 11)) == [Admit(Welcome(PS, 11))]
    assert listening.state is dialing.state is State.ADMITTED


def test_a_client_may_call_whatever_task_answers() -> None:
    hello = dataclasses.replace(HELLO, sender="", target="")
    assert acceptor().receive(hello)[-1] == Admit(hello)
    dialing = Dialer(hello)
    dialing.start()
    assert dialing.receive(Welcome(PS, 1)) == [Admit(Welcome(PS, 1))]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (dataclasses.replace(HELLO, protocol_version=99), "version 99, this task"),
        (dataclasses.replace(HELLO, target="/job:ps/replica:0/task:3"), "the dialer means /job:ps/replica:0/task:3"),
        (dataclasses.replace(HELLO, token=b"guess"), "token"),
        (Ping(1), "not with a Ping"),
    ],
)
def test_a_bad_first_message_is_refused_with_the_reason(message: Hello | Ping, reason: str) -> None:
    listening = acceptor()
    send, close = listening.receive(message)
    assert isinstance(send, Send)
    assert isinstance(send.message, Reject)
    assert reason in send.message.reason
    assert close == Close(send.message.reason)
    assert listening.state is State.REFUSED


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [
        (Reject("full"), "refused: full"),
        (Welcome("/job:ps/replica:0/task:3", 1), "task:3 answers, not"),
        (Ping(1), "a Ping came"),
    ],
)
def test_a_dialer_gives_up_on_anything_but_the_right_welcome(verdict: Reject | Welcome | Ping, reason: str) -> None:
    dialing = Dialer(HELLO)
    dialing.start()
    (close,) = dialing.receive(verdict)
    assert isinstance(close, Close)
    assert reason in close.reason
    assert dialing.state is State.REFUSED


def test_silence_ends_either_side() -> None:
    dialing = Dialer(HELLO)
    dialing.start()
    assert dialing.timed_out(3) == [Close("no answer to the Hello within 3 s")]
    assert acceptor().timed_out(3) == [Close("no Hello within 3 s")]


def test_an_admission_happens_once() -> None:
    listening, dialing = acceptor(), Dialer(HELLO)
    listening.receive(HELLO)
    dialing.start()
    for move in (lambda: listening.receive(HELLO), lambda: listening.timed_out(1), dialing.start):
        with pytest.raises(LocalProtocolError, match="cannot"):
            move()


def test_a_dialer_that_has_not_started_takes_no_verdict() -> None:
    with pytest.raises(LocalProtocolError, match="IDLE cannot ACCEPT"):
        Dialer(HELLO).receive(Welcome(PS, 1))
