"""The behaviour of every transport with bytes, as checks that its tests run one by one; see `weft.channel.transport.transport`.

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_my_transport(check): check(open_pair)

`open_pair()` returns the two ends of a stream, established; the checks shut them down and close them. The messages in the
bytes are checked by `channel_conformance`, which runs over connections of the same transport.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeAlias

import pytest

from weft.channel.transport.transport import DescriptorTransport, Transport

PATIENCE_S: Final = 30.0
"""The time that a check waits for what must happen before it fails."""

OpenPair: TypeAlias = Callable[[], tuple[Transport, Transport]]

_PATTERN: Final = bytes(range(251)) * 40_000  # 10 MB, more than any transport buffers


@contextlib.contextmanager
def _opened(open_pair: OpenPair) -> Iterator[tuple[Transport, Transport]]:
    pair = open_pair()
    try:
        yield pair
    finally:
        for end in pair:
            end.shut_down()
        for end in pair:
            end.close()


def _send(transport: Transport, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[transport.send([rest]) :]


def _wait(transport: Transport) -> None:
    """Wait until there is something to receive."""
    if not transport.pending_bytes:
        poll = select.poll()
        poll.register(transport, select.POLLIN)
        assert poll.poll(int(PATIENCE_S * 1000))


def _is_readable(transport: Transport) -> bool:
    poll = select.poll()
    poll.register(transport, select.POLLIN)
    return bool(transport.pending_bytes or poll.poll(0))


def _receive(transport: Transport, size_bytes: int, at_a_time: int = 1 << 20) -> bytes:
    """Receive so many bytes, or fewer before the end of the stream, waiting for each readiness."""
    out, buffer = bytearray(), memoryview(bytearray(at_a_time))
    while len(out) < size_bytes:
        _wait(transport)
        try:
            count = transport.receive_ready(buffer[: size_bytes - len(out)])
        except BlockingIOError:  # such as half a record
            continue
        if not count:
            break
        out += buffer[:count]
    return bytes(out)


def _fill(transport: Transport) -> int:
    """Send until the peer has to receive first; return how many bytes went."""
    sent = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            sent += transport.send_ready([_PATTERN[sent % 251 : 251 * 400]])
    return sent


def check_bytes_arrive_in_order_both_ways(open_pair: OpenPair) -> None:
    """Each direction is a stream of its own."""
    with _opened(open_pair) as (a, b):
        for i in range(60):
            _send(a, bytes([i]) * (i + 1))
            _send(b, bytes([255 - i]))
        assert _receive(b, 1830) == b"".join(bytes([i]) * (i + 1) for i in range(60))
        assert _receive(a, 60) == bytes(255 - i for i in range(60))


def check_receiving_what_is_ready_does_not_wait(open_pair: OpenPair) -> None:
    """Nothing to receive is BlockingIOError, for one that waits a moment too."""
    with _opened(open_pair) as (a, _):
        for receive in (a.receive_ready, a.receive_all):
            with pytest.raises(BlockingIOError):
                receive(memoryview(bytearray(10)))


def check_a_poll_tells_of_bytes_and_of_the_end(open_pair: OpenPair) -> None:
    """The descriptor, with `pending_bytes`, is ready exactly while there is something to receive."""
    with _opened(open_pair) as (a, b):
        assert not _is_readable(b)
        _send(a, b"abc")
        assert _receive(b, 2) == b"ab"
        assert _is_readable(b)
        assert _receive(b, 1) == b"c"
        assert not _is_readable(b)
        a.end_sending()
        _wait(b)
        assert b.receive_ready(memoryview(bytearray(1))) == 0
        assert _is_readable(b)


def check_epoll_tells_of_bytes(open_pair: OpenPair) -> None:
    """Many transports can be waited for at once."""
    with _opened(open_pair) as (a, b), select.epoll() as poll:
        poll.register(b.fileno(), select.EPOLLIN)
        assert poll.poll(0) == []
        _send(a, b"x")
        assert poll.poll(PATIENCE_S) == [(b.fileno(), select.EPOLLIN)]


def check_sends_are_partial_and_lose_nothing(open_pair: OpenPair) -> None:
    """When there is no more room, the bytes that were counted are there, and sending goes on when they were received."""
    with _opened(open_pair) as (a, b):
        for _ in range(2):
            sent = _fill(a)
            assert sent > 0
            with pytest.raises(BlockingIOError):
                a.send_ready([b"x"])
            assert len(_receive(b, sent)) == sent


def check_many_buffers_go_in_order(open_pair: OpenPair) -> None:
    """More buffers than a system call takes, some of them empty."""
    with _opened(open_pair) as (a, b):
        buffers: list[bytes | memoryview] = [b"%d " % i if i % 7 else b"" for i in range(2000)]
        data = b"".join(buffers)
        sent = a.send_ready(buffers)
        assert sent > 0
        with _beside(lambda: _send(a, data[sent:])):
            assert _receive(b, len(data)) == data


def check_many_small_sends_arrive(open_pair: OpenPair) -> None:
    """Ten thousand single bytes."""
    data = bytes(i % 256 for i in range(10_000))

    def send(a: Transport) -> None:
        for byte in data:
            _send(a, bytes([byte]))

    with _opened(open_pair) as (a, b), _beside(lambda: send(a)):
        assert _receive(b, len(data)) == data


def check_a_large_payload_arrives(open_pair: OpenPair) -> None:
    """Ten megabytes, received as a whole."""
    with _opened(open_pair) as (a, b), _beside(lambda: _send(a, _PATTERN)):
        out = bytearray(len(_PATTERN))
        view = memoryview(out)
        while view:
            with contextlib.suppress(BlockingIOError):
                view = view[b.receive_all(view) :]
        assert out == _PATTERN


def check_a_slow_reader_makes_its_sender_wait(open_pair: OpenPair) -> None:
    """A sender goes on as far as the reader takes, and everything arrives."""
    with _opened(open_pair) as (a, b):
        sent = _fill(a)
        went_on = threading.Event()

        def send() -> None:
            _send(a, b"behind")
            went_on.set()

        with _beside(send):
            assert not went_on.is_set()
            assert len(_receive(b, sent, 1 << 16)) == sent
            assert _receive(b, 6, 1) == b"behind"
            assert went_on.wait(PATIENCE_S)


def check_both_ends_may_send_and_receive_at_once(open_pair: OpenPair) -> None:
    """Four threads, one for each side of each end."""
    with (
        _opened(open_pair) as (a, b),
        _beside(lambda: _send(a, _PATTERN)),
        _beside(lambda: _send(b, _PATTERN)),
        _beside(lambda: _receive(a, len(_PATTERN))) as received,
    ):
        assert _receive(b, len(_PATTERN)) == _PATTERN
        assert received.result(PATIENCE_S) == _PATTERN


def check_one_direction_ends_and_the_other_goes_on(open_pair: OpenPair) -> None:
    """A half close: the peer receives everything, then the end, and may still answer."""
    with _opened(open_pair) as (a, b):
        _send(a, b"last")
        a.end_sending()
        assert _receive(b, 100) == b"last"
        _send(b, b"answer")
        assert _receive(a, 6) == b"answer"
        assert _fails(lambda: a.send([b"more"]))


def check_a_shutdown_frees_a_thread_that_receives(open_pair: OpenPair) -> None:
    """Closing while another thread reads."""
    with _opened(open_pair) as (a, _), _beside(lambda: _receive_end(a)) as received:
        a.shut_down()
        assert received.result(PATIENCE_S)


def check_a_shutdown_frees_a_thread_that_sends(open_pair: OpenPair) -> None:
    """A sender that waits for room fails."""
    with _opened(open_pair) as (a, _):
        _fill(a)
        # TCP may make its buffers larger meanwhile, but not as large as that.
        with _beside(lambda: _fails(lambda: a.send([_PATTERN]))) as failed:
            a.shut_down()
            assert failed.result(PATIENCE_S)


def check_after_a_shutdown_nothing_passes(open_pair: OpenPair) -> None:
    """Sending fails, receiving ends, and a second shutdown does nothing."""
    with _opened(open_pair) as (a, b):
        a.shut_down()
        a.shut_down()
        assert _receive_end(a)
        assert _receive_end(b)
        assert _fails(lambda: a.send([b"x"]))
        assert _fails(lambda: a.send_ready([b"x"]))


def check_a_sender_learns_that_its_peer_is_gone(open_pair: OpenPair) -> None:
    """Sending fails some time after the peer has shut its end down."""
    with _opened(open_pair) as (a, b):
        b.shut_down()
        assert _fails(lambda: _send(a, _PATTERN))


def check_descriptors_pass_where_they_can(open_pair: OpenPair) -> None:
    """A transport that offers it passes a descriptor beside its bytes."""
    with _opened(open_pair) as (a, b):
        if not isinstance(a, DescriptorTransport) or not isinstance(b, DescriptorTransport):
            return
        read_end, write_end = os.pipe()
        try:
            assert a.send_with_descriptors(b"look", [write_end]) == 4
            buffer = memoryview(bytearray(10))
            count, (received,) = b.receive_with_descriptors(buffer)
            assert bytes(buffer[:count]) == b"look"
            os.write(received, b"seen")
            os.close(received)
            assert os.read(read_end, 10) == b"seen"
            _send(a, b"plain")
            assert b.receive_with_descriptors(buffer) == (5, [])
        finally:
            os.close(read_end)
            os.close(write_end)


@contextlib.contextmanager
def _beside(work: Callable[[], object]) -> Iterator[Future[object]]:
    """Do the work on another thread meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        yield future
        future.result(PATIENCE_S)


def _fails(send: Callable[[], object]) -> bool:
    """Whether sending raises an OSError other than that there is no room."""
    try:
        send()
    except BlockingIOError:
        return False
    except OSError:
        return True
    return False


def _receive_end(transport: Transport) -> bool:
    """Receive until the end of the stream, or what a reset makes of it."""
    buffer = memoryview(bytearray(100))
    while True:
        try:
            if not transport.receive_all(buffer):
                return True
        except BlockingIOError:
            continue
        except OSError:
            return True


CHECKS: Final[tuple[Callable[[OpenPair], None], ...]] = tuple(
    value for name, value in list(globals().items()) if name.startswith("check_")
)
"""Every check of this module."""
