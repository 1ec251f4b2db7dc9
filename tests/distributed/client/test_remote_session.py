"""A client's session on a server elsewhere: what Ctrl-C leaves there, and whose deadlines count."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest

import weft as tf
from tests.distributed.waiting import until
from weft.channel.dial import dial
from weft.distributed.client import call_channel
from weft.distributed.client.remote_session import RemoteSession
from weft.distributed.master.served_sessions import ServedSession
from weft.distributed.server.server import Server
from weft.distributed.server.services.master_service import MasterService
from weft.platform.waits.deadline import left_s


def remote(server: Server, config: tf.ConfigProto | None = None) -> RemoteSession:
    return RemoteSession(server.target.removeprefix("grpc://"), tf.get_default_graph(), config or tf.ConfigProto())


@pytest.mark.timeout(60)
def test_a_run_whose_preparation_ctrl_c_left_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    left, main = threading.Event(), threading.get_ident()
    made: list[int] = []
    released: list[int] = []
    make, release = MasterService.MakeCallable, ServedSession.release_callable

    def interrupting(self: MasterService, request: Any, context: Any) -> Any:
        response = make(self, request, context)
        if "two:0" in request.options.fetch:
            signal.pthread_kill(main, signal.SIGINT)
            assert left.wait(20)
            made.append(response.handle)
        return response

    def noting(self: ServedSession, number: int) -> None:
        release(self, number)
        released.append(number)

    monkeypatch.setattr(MasterService, "MakeCallable", interrupting)
    monkeypatch.setattr(ServedSession, "release_callable", noting)
    with Server.create_local_server() as server:
        one, two = tf.constant(1), tf.constant(2, name="two")
        session = remote(server)
        step = session.prepare([], [one], [])
        with pytest.raises(KeyboardInterrupt):
            session.prepare([], [two], [])
        left.set()
        kept = []

        def is_released() -> bool:
            # What is to be released goes with the next preparation.
            kept.append(session.prepare([], [one], []))
            return bool(made) and made == released

        until(is_released)
        assert step.run([])[0] == [1]
        session.close()


@pytest.mark.timeout(60)
def test_nodes_that_ctrl_c_left_on_their_way_are_sent_again_and_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    left, main, extended = threading.Event(), threading.get_ident(), threading.Event()
    extend = MasterService.ExtendSession

    def interrupting(self: MasterService, request: Any, context: Any) -> Any:
        response = extend(self, request, context)
        if not extended.is_set():
            signal.pthread_kill(main, signal.SIGINT)
            assert left.wait(20)
            extended.set()
        return response

    monkeypatch.setattr(MasterService, "ExtendSession", interrupting)
    with Server.create_local_server() as server:
        one = tf.constant(1)
        session = remote(server)
        assert session.prepare([], [one], []).run([])[0] == [1]
        two = one + 1
        with pytest.raises(KeyboardInterrupt):
            session.prepare([], [two], [])
        left.set()
        assert extended.wait(20)
        three = two + 1
        assert session.prepare([], [two, three], []).run([])[0] == [2, 3]
        session.close()


def test_a_run_whose_time_ends_while_it_connects_is_past_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*arguments: Any, **more: Any) -> Any:
        *others, _ = arguments
        until(lambda: left_s() == 0)
        return dial(*others, 0.0, **more)

    with Server.create_local_server() as server:
        one = tf.constant(1)
        session = remote(server)
        with monkeypatch.context() as patched:
            patched.setattr(call_channel, "dial", late)
            with pytest.raises(tf.errors.DeadlineExceededError, match="The time is up before the session is open"):
                session.prepare([], [one], [], timeout_s=2.0)
        assert session.prepare([], [one], []).run([])[0] == [1]
        session.close()


def test_a_negative_timeout_of_the_session_is_none() -> None:
    with Server.create_local_server() as server:
        one = tf.constant(1)
        session = remote(server, tf.ConfigProto(operation_timeout_in_ms=-1))
        assert session.prepare([], [one], []).run([])[0] == [1]
        session.close()
