"""Payloads in shared memory: they arrive as they were, come back when nobody looks at them, and are bounded."""

from __future__ import annotations

import gc
import os
import resource
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft.channel.shared_memory import segment as segment_module
from weft.channel.shared_memory.borrower import SegmentBorrower
from weft.channel.shared_memory.exchange import PayloadExchange, join_exchange, open_exchange
from weft.channel.shared_memory.lender import MAX_FREE_BYTES, MAX_SEGMENTS, MAX_UNTAKEN_BYTES, SegmentLender
from weft.channel.shared_memory.segment import FREE, HEAD_BYTES, IS_SUPPORTED, SharedSegment, create_memory
from weft.protocol.messages import Message, Push
from weft.protocol.protocol_error import RemoteProtocolError
from weft.protocol.tensor_frame import FrameDecoder, encode

pytestmark = pytest.mark.skipif(not IS_SUPPORTED, reason="there is no such memory on this platform")

SIZE = 1 << 20
Pair = tuple[PayloadExchange, PayloadExchange]


def descriptors() -> Counter[str]:
    """What the process has open; subtract one from the other, since what earlier tests left may be closed at any time."""
    gc.collect()
    return Counter(os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.exists())


def open_pair() -> Pair:
    opened = open_exchange()
    assert opened is not None
    here, there = opened
    joined = join_exchange([os.dup(there.fileno())])
    there.close()
    assert joined is not None
    return here, joined


@pytest.fixture(autouse=True)
def _nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_module.shared_memory_use, "_is_given_up", False)


@pytest.fixture
def pair() -> Iterator[Pair]:
    here, there = open_pair()
    yield here, there
    here.close()
    there.close()


def put(exchange: PayloadExchange, size: int = SIZE, fill: int = 7) -> int | None:
    return exchange.lender.put([bytes([fill]) * 100, memoryview(np.full(size - 100, fill, np.uint8))], size)


def test_a_payload_is_found_by_the_other_side_as_it_was(pair: Pair) -> None:
    here, there = pair
    data = np.random.default_rng(0).integers(0, 256, SIZE, np.uint8)
    number = here.lender.put([data[:64].tobytes(), memoryview(data[64:])], SIZE)
    assert number is not None
    payload = there.borrower.take(number, SIZE)
    assert payload.tobytes() == data.tobytes()
    assert payload.__array_interface__["data"][0] % 64 == 0
    payload[:] = 0  # the receiver's own


def test_both_directions_have_memory_of_their_own(pair: Pair) -> None:
    for sender, receiver in (pair, pair[::-1]):
        number = put(sender)
        assert number is not None
        assert receiver.borrower.take(number, SIZE)[0] == 7


def test_memory_comes_back_when_nobody_looks_at_it_any_more(pair: Pair) -> None:
    here, there = pair
    first = put(here)
    assert first is not None
    payload: Any = there.borrower.take(first, SIZE)
    view: Any = np.ndarray((10, 10), np.float32, payload, 400)
    second = put(here, fill=8)
    assert second not in (None, first)
    del payload
    assert put(here, fill=9) not in (None, first)  # the view is left
    assert view.tobytes() == b"\x07" * 400
    del view
    assert put(here, fill=1) == first


def test_a_payload_that_is_kept_outlives_the_connection() -> None:
    before = descriptors()
    here, there = open_pair()
    number = put(here)
    assert number is not None
    payload = there.borrower.take(number, SIZE)
    here.close()
    there.close()
    assert put(here) is None
    del here, there
    gc.collect()
    assert payload.tobytes() == b"\x07" * SIZE
    del payload
    assert descriptors() - before == Counter()


def test_what_a_peer_does_not_take_is_bounded(pair: Pair) -> None:
    here, there = pair
    large = put(here, 2 * MAX_UNTAKEN_BYTES)
    assert large is not None
    assert put(here) is None
    there.borrower.take(large, 2 * MAX_UNTAKEN_BYTES)
    numbers = [put(here) for _ in range(MAX_UNTAKEN_BYTES // SIZE + 1)]
    assert numbers[-1] is None
    assert None not in numbers[:-1]


def test_segments_and_sizes_are_bounded(pair: Pair) -> None:
    here, there = pair
    assert here.lender.put([b""], MAX_FREE_BYTES + 1) is None
    kept = []
    for _ in range(MAX_SEGMENTS):
        number = put(here, 100_000)
        assert number is not None
        kept.append(there.borrower.take(number, 100_000))
    assert put(here, 100_000) is None
    del kept[3]
    assert put(here, 100_000) == 3


def test_free_memory_is_given_back_after_a_while_without_payloads(pair: Pair) -> None:
    here, there = pair
    number = put(here)
    assert number is not None
    there.borrower.take(number, SIZE)
    assert here.lender.free_bytes == SIZE
    for _ in range(1000):
        here.lender.note_message()
    assert here.lender.free_bytes == 0
    again = put(here)
    assert again not in (None, number)
    assert there.borrower.take(again, SIZE)[0] == 7


def test_free_memory_of_other_sizes_makes_room(pair: Pair) -> None:
    here, there = pair
    for size in (MAX_FREE_BYTES // 16, MAX_FREE_BYTES - SIZE, MAX_FREE_BYTES // 4):
        number = here.lender.put([b"x"], size)
        assert number is not None
        there.borrower.take(number, size)
        assert here.lender.free_bytes <= MAX_FREE_BYTES


def test_what_is_kept_for_long_costs_later_messages_nothing(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = pair
    number = put(here)
    assert number is not None
    payload = there.borrower.take(number, SIZE)
    looked: list[None] = []
    monkeypatch.setattr(SharedSegment, "may_go", property(lambda segment: looked.append(None)))
    for _ in range(2500):
        here.lender.note_message()
    assert len(looked) == 2
    assert payload[0] == 7


@pytest.mark.parametrize("number", [0, 5])
def test_a_place_that_nobody_told_of_is_a_violation(number: int, pair: Pair) -> None:
    with pytest.raises(RemoteProtocolError, match=f"shared segment {number}, which nobody has told of"):
        pair[1].borrower.take(number, SIZE)


def test_a_payload_that_is_not_there_is_a_violation(pair: Pair) -> None:
    here, there = pair
    number = put(here)
    assert number is not None
    with pytest.raises(RemoteProtocolError, match=f"segment {number} holds no payload of {2 * SIZE} bytes"):
        there.borrower.take(number, 2 * SIZE)
    payload = there.borrower.take(number, SIZE)
    with pytest.raises(RemoteProtocolError, match="holds no payload"):
        there.borrower.take(number, SIZE)
    del payload


@pytest.mark.parametrize("is_sealed", [False, True], ids=["not sealed", "smaller than said"])
def test_memory_that_a_peer_could_take_away_is_refused(is_sealed: bool) -> None:
    fd = create_memory(SIZE) if is_sealed else os.memfd_create("test", os.MFD_ALLOW_SEALING)
    if not is_sealed:
        os.ftruncate(fd, HEAD_BYTES + 4 * SIZE)
    borrower = SegmentBorrower(lambda: (fd, 0, 2 * SIZE))
    with pytest.raises(RemoteProtocolError, match="cannot be used: shared segment 0 is not a sealed piece of 2097152 bytes"):
        borrower.take(0, SIZE)


def test_a_process_that_has_no_descriptor_left_says_so_and_exchanges_no_more(
    pair: Pair, caplog: pytest.LogCaptureFixture
) -> None:
    here, there = pair
    number = put(here)
    assert number is not None
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
    try:
        with pytest.raises(RemoteProtocolError, match="no descriptor left for a segment; raise its limit"):
            there.borrower.take(number, SIZE)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert open_exchange() is None
    stream, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with other:
        assert join_exchange([stream.detach()]) is None
    assert "come over sockets from now on" in caplog.text


def test_without_memory_a_payload_is_sent(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(segment_module.os, "posix_fallocate", fail)
    assert put(pair[0]) is None


def test_a_peer_that_has_closed_its_door_gets_no_payloads(pair: Pair) -> None:
    here, there = pair
    there.close()
    assert put(here) is None


def test_a_lender_keeps_nothing_that_it_could_not_tell_of() -> None:
    before = descriptors()
    lender = SegmentLender(lambda fd, number, capacity: False)
    assert lender.put([bytes(SIZE)], SIZE) is None
    assert descriptors() - before == Counter()


def test_other_descriptors_than_a_door_are_closed() -> None:
    before = descriptors()
    stream, other = socket.socketpair()
    with other:
        assert join_exchange([os.open("/dev/null", os.O_RDONLY), stream.detach()]) is None
    assert descriptors() - before == Counter()


@pytest.mark.filterwarnings("ignore:.*fork.*")
def test_what_a_forked_child_may_look_at_is_never_written_to_again(pair: Pair) -> None:
    here, there = pair
    number = put(here)
    assert number is not None
    payload = there.borrower.take(number, SIZE)
    pid = os.fork()
    if not pid:
        del payload
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert payload.tobytes() == b"\x07" * SIZE
    del payload
    assert put(here, fill=8) not in (None, number)


def test_a_segment_that_is_dropped_keeps_no_memory() -> None:
    fd = create_memory(SIZE)
    segment = SharedSegment(fd, 0, SIZE)
    assert segment.state == FREE
    segment.view(SIZE)[:] = 1
    assert os.fstat(fd).st_blocks * 512 > SIZE
    segment.drop()
    assert os.fstat(fd).st_blocks * 512 == HEAD_BYTES
    os.close(fd)


def sent(message: Message, exchange: PayloadExchange) -> bytes:
    return b"".join(encode(message, exchange.lender))


@pytest.mark.parametrize("step", [1 << 62, 1, 7])
def test_frames_whose_payload_is_shared_come_back_however_they_are_cut(step: int, pair: Pair) -> None:
    here, there = pair
    tensors = (np.arange(50_000.0), np.array(2.5, np.float32), np.array([b"a", b""], object), np.ones((3, 70_000), np.int8))
    decoder = FrameDecoder()
    decoder.borrower = there.borrower
    data = sent(Push(1, (3, 4, 5, 6), tensors), here) + sent(Push(2, (1,), (np.zeros(3),)), here)
    assert len(data) < 1000
    out: list[Message] = []
    for at in range(0, len(data), min(step, len(data))):
        piece = data[at : at + step]
        decoder.get_buffer()[: len(piece)] = piece
        out += decoder.buffer_received(len(piece))
    first, second = out
    assert isinstance(first, Push)
    for expected, found in zip(tensors, first.tensors, strict=True):
        np.testing.assert_array_equal(expected, found)
    assert isinstance(second, Push)


def test_a_connection_without_shared_memory_takes_no_such_frame(pair: Pair) -> None:
    data = sent(Push(1, (3,), (np.arange(50_000.0),)), pair[0])
    decoder = FrameDecoder()
    decoder.get_buffer()[: len(data)] = data
    with pytest.raises(RemoteProtocolError, match="no frame does"):
        decoder.buffer_received(len(data))
