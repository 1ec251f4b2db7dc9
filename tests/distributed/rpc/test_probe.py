"""Whether a process lives is asked by a channel of its own."""

import threading

import grpc
import pytest

from weft.distributed.rpc import probe as module
from weft.distributed.rpc.probe import probe
from weft.protocol.heartbeat import Evidence


class FakeCall:
    def result(self, timeout):
        raise grpc.FutureTimeoutError


class FakeChannel:
    """A channel that is told of one state, and notes what is done with it."""

    def __init__(self, state):
        self.state, self.done, self.is_closed = state, [], threading.Event()

    def unary_unary(self, method):
        return self

    def future(self, request, timeout, wait_for_ready):
        return FakeCall()

    def subscribe(self, note, try_to_connect):
        self.done.append("subscribe")
        note(self.state)

    def unsubscribe(self, note):
        self.done.append("unsubscribe")

    def close(self):
        self.done.append(f"close on {'this' if threading.current_thread() is threading.main_thread() else 'another'} thread")
        self.is_closed.set()


@pytest.mark.parametrize(
    ("state", "evidence"),
    [(grpc.ChannelConnectivity.READY, Evidence.BUSY), (grpc.ChannelConnectivity.TRANSIENT_FAILURE, Evidence.UNREACHED)],
)
def test_the_channel_is_closed_when_nobody_watches_it_any_more(monkeypatch, state, evidence):
    # gRPC's watching thread dies with a traceback where a channel is closed under its eyes.
    monkeypatch.setattr(module, "_UNWATCHED_S", 0.0)
    channel = FakeChannel(state)
    assert probe(channel, 0.01) is evidence
    assert channel.is_closed.wait(10)
    assert channel.done == ["subscribe", "unsubscribe", "close on another thread"]
