"""The behaviour of a connection over every transport, as checks that its tests run one by one.

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_connections_by_my_transport(check): check(open_pair)

`open_pair(left, right, max_queued_bytes)` opens a connection between two endpoints and returns its ends, left first;
both report to their endpoint. A check leaves both ends closed. No check depends on timing, only on what must happen.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import threading
from collections.abc import Callable
from typing import Any, Final, Protocol, TypeAlias

import ml_dtypes
import numpy as np
import pytest

from weft.errors import UnavailableError
from weft.protocol.messages import Abort, CallDone, Message, Ping, Pong, Push, RunCallable, StepDone

PATIENCE_S: Final = 30.0
"""The time that a check waits for what must happen before it fails."""

_LARGE_BYTES: Final = 48 << 20  # more than any transport buffers by itself
_BOUND_BYTES: Final = 4 << 20


class Channel(Protocol):
    """One end of a connection, as far as the checks use it; see `weft.channel.connection.Connection`."""

    @property
    def queued_bytes(self) -> int: ...

    @property
    def is_closed(self) -> bool: ...

    def send(self, message: Message, *, block: bool = False) -> None: ...

    def wait_for(self, is_done: Callable[[], bool], timeout_s: float | None = None) -> bool: ...

    def close(self, reason: str = "") -> None: ...

    def abort(self, cause: Exception | None) -> None: ...


Handler: TypeAlias = Callable[[Any, Message], None]


class Endpoint:
    """Collects what one end is told. `handler`, if given, sees every message first."""

    def __init__(self, handler: Handler | None = None) -> None:
        self._handler = handler
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._causes: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()

    def on_message(self, channel: object, message: Message) -> None:
        """Take a message."""
        if self._handler is not None:
            self._handler(channel, message)
        self._messages.put(message)

    def on_closed(self, channel: object, cause: Exception | None) -> None:
        """Take note of the end."""
        self._causes.put(cause)

    def receive(self) -> Message:
        """Return the next message."""
        return self._messages.get(timeout=PATIENCE_S)

    def take(self) -> list[Message]:
        """Return the messages that have come, without waiting."""
        messages = []
        with contextlib.suppress(queue.Empty):
            while True:
                messages.append(self._messages.get_nowait())
        return messages

    def end(self) -> Exception | None:
        """Wait for the end; return its cause."""
        return self._causes.get(timeout=PATIENCE_S)

    def ended_once(self) -> bool:
        """Whether nothing more was told after `end`."""
        return self._causes.empty()


OpenPair: TypeAlias = Callable[[Endpoint, Endpoint, int], tuple[Channel, Channel]]


def let_waiters_read(channel: Channel, endpoint: Endpoint, answer: Callable[[], None]) -> None:
    """Bring the channel to where its waiters read for themselves. `answer` makes a message come, which is swallowed.

    The channel's own thread hands reading over when it finds that somebody waits for the message it has read.
    """
    asked: list[bool] = []
    came: list[Message] = []

    def is_done() -> bool:
        if not asked:
            asked.append(True)
            answer()
        came.extend(endpoint.take())
        return bool(came)

    assert channel.wait_for(is_done, PATIENCE_S)


def _close(*channels: Channel) -> None:
    for channel in channels:
        channel.close()


def _large(step_id: int = 0, size: int = _LARGE_BYTES) -> Push:
    return Push(step_id, (0,), (np.full(size, step_id % 251, np.uint8),))


def check_messages_arrive_in_order_both_ways(open_pair: OpenPair) -> None:
    """A thousand small messages each way."""
    left, right = Endpoint(), Endpoint()
    a, b = open_pair(left, right, _BOUND_BYTES)
    for step_id in range(1000):
        a.send(Abort(step_id, 1, "x" * (step_id % 300)))
        b.send(Abort(-step_id, 1, ""))
    for step_id in range(1000):
        assert right.receive() == Abort(step_id, 1, "x" * (step_id % 300))
        assert left.receive() == Abort(-step_id, 1, "")
    _close(a, b)


def check_tensors_arrive_equal(open_pair: OpenPair) -> None:
    """Every kind of array, small, empty and large in one message."""
    right = Endpoint()
    a, b = open_pair(Endpoint(), right, _BOUND_BYTES)
    tensors: tuple[np.ndarray, ...] = (
        np.array(3.5, np.float32),
        np.zeros((0, 4), np.int64),
        np.arange(3_000_000, dtype=np.int32).reshape(3, 1000, 1000),
        np.array([[b"", b"text"]], object),
        np.ones(9, ml_dtypes.bfloat16),
        np.asfortranarray(np.arange(600_000.0).reshape(300, 2000)),
        np.array([True, False]),
    )
    a.send(Push(7, tuple(range(len(tensors))), tensors, (11,)))
    got = right.receive()
    assert isinstance(got, Push)
    assert (got.step_id, got.edges, got.dead) == (7, tuple(range(len(tensors))), (11,))
    for sent, received in zip(tensors, got.tensors, strict=True):
        assert (sent.dtype, sent.shape) == (received.dtype, received.shape)
        assert np.array_equal(sent, received)
    _close(a, b)


def check_handlers_that_send_much_do_not_deadlock(open_pair: OpenPair) -> None:
    """Two peers push more than fits into any buffer at each other, each from the thread that reads."""

    def answer(channel: Channel, message: Message) -> None:
        if isinstance(message, Ping | Abort):
            channel.send(_large(), block=True)

    left, right = Endpoint(answer), Endpoint(answer)
    a, b = open_pair(left, right, 1)
    for _ in range(2):
        a.send(Abort(1, 1, ""))
        b.send(Abort(1, 1, ""))
    for endpoint in (left, right):
        kinds = [type(endpoint.receive()) for _ in range(4)]
        assert sorted(kind.__name__ for kind in kinds) == ["Abort", "Abort", "Push", "Push"]
    _close(a, b)


def check_senders_do_not_disturb_each_other(open_pair: OpenPair) -> None:
    """Messages of all sizes from four threads arrive whole, each thread's in its order."""
    right = Endpoint()
    a, b = open_pair(Endpoint(), right, _BOUND_BYTES)

    def produce(sender: int) -> None:
        for i in range(100):
            a.send(Push(sender, (i,), (np.full((i * 7919) % 200_000, i, np.uint8),)), block=True)

    threads = [threading.Thread(target=produce, args=(sender,)) for sender in range(4)]
    for thread in threads:
        thread.start()
    seen: dict[int, int] = {}
    for _ in range(400):
        got = right.receive()
        assert isinstance(got, Push)
        (i,) = got.edges
        assert i == seen.get(got.step_id, 0)
        assert np.array_equal(got.tensors[0], np.full((i * 7919) % 200_000, i, np.uint8))
        seen[got.step_id] = i + 1
    for thread in threads:
        thread.join(PATIENCE_S)
    _close(a, b)


def check_a_close_delivers_what_was_sent(open_pair: OpenPair) -> None:
    """A graceful close loses nothing, and is nobody's failure."""
    left, right = Endpoint(), Endpoint()
    a, b = open_pair(left, right, _BOUND_BYTES)
    a.send(_large(3))
    a.send(Abort(4, 1, "last"))
    a.close("done")
    got = right.receive()
    assert isinstance(got, Push)
    assert got.tensors[0].size == _LARGE_BYTES
    assert right.receive() == Abort(4, 1, "last")
    assert left.end() is None
    assert right.end() is None
    _close(a, b)
    assert a.is_closed
    assert b.is_closed
    assert left.ended_once()
    assert right.ended_once()


def check_an_abort_is_told_to_both(open_pair: OpenPair) -> None:
    """The side that aborts gets its own cause, the peer that the connection was lost; once each."""
    left, right = Endpoint(), Endpoint()
    a, b = open_pair(left, right, _BOUND_BYTES)
    cause = ValueError("enough")
    a.abort(cause)
    a.abort(None)
    assert left.end() is cause
    assert isinstance(right.end(), UnavailableError)
    _close(a, b)
    assert left.ended_once()
    assert right.ended_once()


def check_a_closed_connection_refuses_to_send(open_pair: OpenPair) -> None:
    """Sending after the end is UnavailableError on either side, and closing again does nothing."""
    right = Endpoint()
    a, b = open_pair(Endpoint(), right, _BOUND_BYTES)
    a.close()
    a.close()
    right.end()
    for channel in (a, b):
        with pytest.raises(UnavailableError, match="is closed"):
            channel.send(Ping(1))
    _close(b)


def check_a_handler_that_raises_ends_its_connection(open_pair: OpenPair) -> None:
    """The exception is the cause; the messages behind are not handled."""

    def fail(channel: Channel, message: Message) -> None:
        raise KeyError("no such step")

    left, right = Endpoint(), Endpoint(fail)
    a, b = open_pair(left, right, _BOUND_BYTES)
    a.send(Abort(1, 1, ""))
    assert isinstance(right.end(), KeyError)
    assert isinstance(left.end(), UnavailableError)
    _close(a, b)


def check_a_handler_may_close(open_pair: OpenPair) -> None:
    """Closing on the thread that reads does not wait for itself."""
    left, right = Endpoint(), Endpoint(lambda channel, message: channel.close("enough"))
    a, b = open_pair(left, right, _BOUND_BYTES)
    a.send(Abort(1, 1, ""))
    assert right.end() is None
    assert left.end() is None
    _close(a, b)


def check_blocking_senders_are_held_back(open_pair: OpenPair) -> None:
    """While the peer does not read, no more than the bound and one message is queued."""
    go = threading.Event()
    right = Endpoint(lambda channel, message: _await(go))
    a, b = open_pair(Endpoint(), right, _BOUND_BYTES)
    depths = []
    sent = threading.Semaphore(0)

    def produce() -> None:
        for i in range(64):
            a.send(_large(i, 1 << 20), block=True)
            depths.append(a.queued_bytes)
            sent.release()

    thread = threading.Thread(target=produce)
    thread.start()
    for _ in range(_BOUND_BYTES >> 20):
        assert sent.acquire(timeout=PATIENCE_S)
    go.set()
    for i in range(64):
        got = right.receive()
        assert isinstance(got, Push)
        assert got.step_id == i
    thread.join(PATIENCE_S)
    assert max(depths) <= _BOUND_BYTES + (2 << 20)
    _close(a, b)


def check_other_senders_do_not_wait(open_pair: OpenPair) -> None:
    """A send without `block` returns although the peer reads nothing, and what waits can be seen."""
    go = threading.Event()
    right = Endpoint(lambda channel, message: _await(go))
    a, b = open_pair(Endpoint(), right, _BOUND_BYTES)
    # One is being handled, and one may be where the peer sees it already.
    for i in range(4):
        a.send(_large(i))
    assert a.queued_bytes > _LARGE_BYTES
    go.set()
    for _ in range(4):
        right.receive()
    _close(a, b)
    assert a.queued_bytes == 0


def check_an_abort_frees_a_sender_that_waits(open_pair: OpenPair) -> None:
    """A thread that waits for room in the queue learns that the connection has ended."""
    go = threading.Event()
    right = Endpoint(lambda channel, message: _await(go))
    a, b = open_pair(Endpoint(), right, 1)
    errors: queue.SimpleQueue[Exception] = queue.SimpleQueue()

    def produce() -> None:
        try:
            for i in itertools.count():
                a.send(_large(i), block=True)
        except UnavailableError as error:
            errors.put(error)

    thread = threading.Thread(target=produce)
    thread.start()
    while a.queued_bytes == 0:
        threading.Event().wait(0.001)
    a.abort(None)
    errors.get(timeout=PATIENCE_S)
    thread.join(PATIENCE_S)
    go.set()
    _close(a, b)
    right.take()


def check_waiters_get_their_answers(open_pair: OpenPair) -> None:
    """Calls in a loop, and from several threads at once, each find their own answer."""
    done: dict[int, Message] = {}

    def keep(channel: Channel, message: Message) -> None:
        assert isinstance(message, CallDone)
        done[message.call_id] = message

    def answer(channel: Channel, message: Message) -> None:
        assert isinstance(message, RunCallable)
        channel.send(CallDone(message.call_id, message.feeds, b""))

    a, b = open_pair(Endpoint(keep), Endpoint(answer), _BOUND_BYTES)
    failures: list[int] = []

    def call(caller: int) -> None:
        for i in range(200):
            call_id = caller * 1000 + i
            feed = np.full(20_000 if i % 50 == 0 else 1, call_id)
            a.send(RunCallable(call_id, "session", 1, (feed,), b""))
            if not a.wait_for(lambda call_id=call_id: call_id in done, PATIENCE_S):  # type: ignore[misc]
                failures.append(call_id)
                return
            got = done.pop(call_id)
            assert isinstance(got, CallDone)
            if not np.array_equal(got.fetches[0], feed):
                failures.append(call_id)

    call(0)
    threads = [threading.Thread(target=call, args=(caller,)) for caller in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert failures == []
    assert done == {}
    _close(a, b)


def check_a_wait_ends_at_its_timeout(open_pair: OpenPair) -> None:
    """A wait for what does not come is False, and the connection goes on."""
    left, right = Endpoint(), Endpoint()
    a, b = open_pair(left, right, _BOUND_BYTES)
    assert not a.wait_for(lambda: False, 0.01)
    let_waiters_read(a, left, lambda: b.send(Pong(1)))
    assert not a.wait_for(lambda: False, 0.01)
    b.send(Abort(1, 1, ""))
    assert left.receive() == Abort(1, 1, "")
    _close(a, b)


def check_a_wait_ends_with_the_connection(open_pair: OpenPair) -> None:
    """A waiter returns when the peer goes away, after the owner was told."""
    left = Endpoint()
    a, b = open_pair(left, Endpoint(), _BOUND_BYTES)
    let_waiters_read(a, left, lambda: b.send(Pong(1)))
    threading.Thread(target=b.abort, args=(None,)).start()
    assert not a.wait_for(lambda: False, PATIENCE_S)
    assert isinstance(left.end(), UnavailableError)
    _close(a, b)


def check_unasked_messages_come_while_nobody_waits(open_pair: OpenPair) -> None:
    """After a waiter has read for itself, the connection's thread reads again."""
    left = Endpoint()
    a, b = open_pair(left, Endpoint(), _BOUND_BYTES)
    for step_id in range(20):
        let_waiters_read(a, left, lambda: b.send(Pong(1)))
        b.send(StepDone(step_id, (), b""))
        got = left.receive()
        assert isinstance(got, StepDone)
        assert got.step_id == step_id
    _close(a, b)


def check_a_handler_cannot_wait(open_pair: OpenPair) -> None:
    """Waiting on the thread that reads would never end, so it raises at once."""
    errors: queue.SimpleQueue[str] = queue.SimpleQueue()

    def wait(channel: Channel, message: Message) -> None:
        try:
            channel.wait_for(lambda: False)
        except RuntimeError as error:
            errors.put(str(error))

    a, b = open_pair(Endpoint(), Endpoint(wait), _BOUND_BYTES)
    a.send(Abort(1, 1, ""))
    assert "would have to read" in errors.get(timeout=PATIENCE_S)
    _close(a, b)


def check_a_ping_is_answered(open_pair: OpenPair) -> None:
    """The channel itself proves that it is alive."""
    left = Endpoint()
    a, b = open_pair(left, Endpoint(), _BOUND_BYTES)
    a.send(Ping(42))
    assert left.receive() == Pong(42)
    _close(a, b)


def _await(event: threading.Event) -> None:
    assert event.wait(PATIENCE_S)


CHECKS: Final[tuple[Callable[[OpenPair], None], ...]] = tuple(
    value for name, value in list(globals().items()) if name.startswith("check_")
)
"""Every check of this module."""
