"""The codec gives back what went in, however the bytes arrive, and survives whatever a peer may send."""

from __future__ import annotations

import contextlib
import dataclasses
import struct

import ml_dtypes
import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from weft.protocol import messages as m
from weft.protocol.protocol_error import LocalProtocolError, RemoteProtocolError
from weft.protocol.tensor_frame import MAX_HEADER_BYTES, RECEIVE_BYTES, FrameDecoder, RepeatedCall, encode

SCALAR = np.array(2.5, np.float32)
STRINGS = np.array([[b"", b"a"], [b"\xff\x00", b"long" * 50]], object)

EXAMPLES: list[m.Message] = [
    m.Hello(1, "/job:ps/replica:0/task:0", 2**64 - 1, b"secret", ""),
    m.Welcome("/job:worker/replica:0/task:1", 7),
    m.Reject("wrong token"),
    m.RunGraph(-5, "graph_1", (), 0),
    m.RunGraph(5, "graph_1", (SCALAR, STRINGS), 3, b"context"),
    m.Push(1, (3, 4), (SCALAR, np.arange(24).reshape(2, 3, 4))),
    m.Push(1, (), (), (8, 9)),
    m.StepDone(2, (np.zeros((0, 3)),), b"\x00trace"),
    m.StepFailed(2, 3, "división", "dense/MatMul", b""),
    m.Abort(2, 10, "another task failed"),
    m.RunCallable(9, "session", 4, (np.ones(50_000),), b"options", b"context"),
    m.CallDone(9, (np.ones((300, 300), np.float32), SCALAR, STRINGS), b""),
    m.CallFailed(9, 5, "gone", ""),
    m.CancelCall(9, "interrupted"),
    m.Ping(1),
    m.Pong(1),
    m.Goodbye(""),
]


def decode(data: bytes, step: int = 1 << 62, decoder: FrameDecoder | None = None) -> list[m.Message]:
    decoder = decoder or FrameDecoder()
    out: list[m.Message] = []
    at = 0
    while at < len(data):
        buffer = decoder.get_buffer()
        count = min(step, len(buffer), len(data) - at)
        buffer[:count] = data[at : at + count]
        out += decoder.buffer_received(count)
        at += count
    return out


def assert_same(a: m.Message, b: m.Message) -> None:
    assert type(a) is type(b)
    for field in dataclasses.fields(a):
        mine, theirs = getattr(a, field.name), getattr(b, field.name)
        if field.type == "tuple[Array, ...]":
            assert len(mine) == len(theirs)
            for x, y in zip(mine, theirs, strict=True):
                assert (x.dtype, x.shape) == (y.dtype, y.shape)
                assert x.tolist() == y.tolist() if x.dtype == object else x.tobytes() == y.tobytes()
        else:
            assert mine == theirs


def frame(message: m.Message) -> bytes:
    return b"".join(encode(message))


@pytest.mark.parametrize("step", [1 << 62, 1, 7, 4096])
def test_every_message_comes_back_however_it_is_cut(step: int) -> None:
    data = b"".join(map(frame, EXAMPLES))
    out = decode(data, step)
    assert len(out) == len(EXAMPLES)
    for sent, received in zip(EXAMPLES, out, strict=True):
        assert_same(sent, received)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: type(e).__name__)
def test_a_truncated_frame_yields_nothing_and_is_told_at_the_end(example: m.Message) -> None:
    data = frame(example)
    for cut in {1, 15, 16, 17, len(data) // 2, len(data) - 1}:
        decoder = FrameDecoder()
        assert decode(data[:cut], decoder=decoder) == []
        with pytest.raises(RemoteProtocolError, match="middle of a message"):
            decoder.end_of_stream()


def test_the_stream_may_end_between_frames() -> None:
    decoder = FrameDecoder()
    decode(frame(m.Ping(1)), decoder=decoder)
    decoder.end_of_stream()


def test_many_frames_wrap_around_the_buffer() -> None:
    sent = [m.Push(i, (i,), (np.full((i * 37) % 6000, i, np.float32),)) for i in range(400)]
    data = b"".join(map(frame, sent))
    assert len(data) > 3 * RECEIVE_BYTES
    for a, b in zip(sent, decode(data), strict=True):
        assert_same(a, b)


def test_a_header_larger_than_the_buffer_is_received_and_its_memory_given_back() -> None:
    decoder = FrameDecoder()
    big = m.StepDone(1, (SCALAR,), bytes(3 * RECEIVE_BYTES))
    out = decode(frame(m.Ping(3)) + frame(big) + frame(m.Ping(4)), 10_000, decoder)
    assert [type(x) for x in out] == [m.Ping, m.StepDone, m.Ping]
    assert_same(out[1], big)
    assert len(decoder.get_buffer()) == RECEIVE_BYTES


def test_a_large_array_is_sent_from_its_own_memory() -> None:
    array = np.arange(100_000, dtype=np.float32)
    buffers = encode(m.Push(1, (0, 1), (array, SCALAR)))
    views = [np.frombuffer(b, np.uint8) for b in buffers]
    assert any(np.shares_memory(v, array) for v in views)
    assert len(buffers) == 3


def test_large_payloads_arrive_in_aligned_writable_memory_of_their_own() -> None:
    sent = m.Push(1, (0, 1, 2), (np.ones(100_001, np.int8), np.ones(7), np.ones((30, 70))))
    for step in (1 << 62, 1000):
        (got,) = decode(frame(sent), step)
        assert isinstance(got, m.Push)
        for tensor in got.tensors:
            assert tensor.__array_interface__["data"][0] % 64 == 0
            assert tensor.flags.writeable
        assert_same(sent, got)


def test_a_small_message_is_one_buffer() -> None:
    small = [e for e in EXAMPLES if not isinstance(e, m.RunCallable | m.CallDone)]
    assert {len(encode(e)) for e in small} == {1}


@pytest.mark.parametrize("shape", [(256,), (3, 5), (2, 1, 7), (), (0, 4), (1,) * 20, (40_000,)])
def test_neighbours_that_are_alike_arrive_as_they_were(shape: tuple[int, ...]) -> None:
    alike = [np.full(shape, i, np.float32) for i in range(5)]
    other = [np.full((2, 3), 7, np.int64), np.array([b"text"], object)]
    for tensors in (alike, [*alike, *other, *alike], [other[0], *alike, alike[0].astype(np.float64)]):
        sent = m.CallDone(1, tuple(tensors), b"")
        for step in (1 << 62, 1000):
            (got,) = decode(frame(sent), step)
            assert_same(sent, got)
            assert isinstance(got, m.CallDone)
            assert all(tensor.flags.c_contiguous for tensor in got.fetches)


def test_messages_that_look_alike_keep_their_own_contents() -> None:
    sent = [m.Push(i, (0, 1), (np.full(3, i, np.float32), np.full(3, -i, np.float32))) for i in range(3)]
    turned = m.Push(9, (0, 1), (np.arange(6.0).reshape(2, 3).T[:, 0].astype(np.float32), np.ones(3, np.float32)))
    for a, b in zip([*sent, turned], decode(b"".join(map(frame, [*sent, turned]))), strict=True):
        assert_same(a, b)


def test_more_kinds_of_messages_than_are_remembered_are_told_apart() -> None:
    sent = [m.Push(i, (0,), (np.full(i % 300, i, np.int32),)) for i in range(700)]
    for a, b in zip(sent, decode(b"".join(map(frame, sent))), strict=True):
        assert_same(a, b)


def test_arrays_that_are_not_contiguous_or_native_arrive_equal() -> None:
    base = np.arange(60_000, dtype=np.int32).reshape(200, 300)
    for array in (base.T, base[::2, ::-3], base[:3, 1:2].T, base.astype(">i4"), np.asfortranarray(base)):
        (got,) = decode(frame(m.Push(1, (0,), (array,))))
        assert isinstance(got, m.Push)
        np.testing.assert_array_equal(got.tensors[0], array)


@pytest.mark.parametrize("shape", [(), (0,), (5, 0, 2), (1,), (3, 2)])
@pytest.mark.parametrize(
    "dtype",
    [
        np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32,
        np.uint64, np.complex64, np.complex128, np.bool_, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2,
        ml_dtypes.float8_e4m3fn, object,
    ],
)  # fmt: skip
def test_every_type_and_degenerate_shape_travels(dtype: type, shape: tuple[int, ...]) -> None:
    array = np.full(shape, b"text", object) if dtype is object else np.ones(shape).astype(dtype)
    sent = m.CallDone(1, (array, array), b"")
    (got,) = decode(frame(sent))
    assert_same(sent, got)


ARRAYS = hnp.arrays(
    st.sampled_from([np.float32, np.int64, np.uint8, np.complex64, np.bool_]),
    hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6),
) | st.lists(st.binary(max_size=40), max_size=8).map(lambda items: np.array([*items, None], object)[:-1])


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.lists(ARRAYS, max_size=4).map(tuple), max_size=4),
    st.integers(1, 200),
    st.integers(-(2**63), 2**64 - 1),
    st.binary(max_size=100),
)
def test_any_messages_survive_any_cutting(batches, step, step_id, tail) -> None:
    sent = [m.CallDone(step_id, tensors, tail) for tensors in batches]
    for a, b in zip(sent, decode(b"".join(map(frame, sent)), step), strict=True):
        assert_same(a, b)


@settings(deadline=None, max_examples=200)
@given(st.binary(min_size=4, max_size=200))
def test_garbage_is_the_peers_fault_and_nothing_else(data: bytes) -> None:
    try:
        out = decode(data)
    except RemoteProtocolError:
        return
    assert out == []


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(EXAMPLES), st.data())
def test_a_damaged_frame_never_raises_anything_but_the_peers_fault(example: m.Message, data: st.DataObject) -> None:
    raw = bytearray(frame(example)[:5000])
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, min(len(raw), 120) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(RemoteProtocolError):
        decode(bytes(raw), decoder=FrameDecoder(max_payload_bytes=1 << 20))


def raw_frame(kind: int, header: object, payload: bytes = b"", size: int | None = None, flags: int = 0) -> bytes:
    packed = header if isinstance(header, bytes) else msgpack.packb(header)
    size = len(payload) if size is None else size
    return struct.pack("<HBBIQ", 0xF7E3, kind, flags, len(packed), size) + packed + payload


def raw_push(descriptors: object, payload: bytes = b"", size: int | None = None) -> bytes:
    return raw_frame(7, [1, [1], [], msgpack.packb(descriptors)], payload, size)


FLOAT, STRING = 1, 7


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "no frame does"),
        (raw_frame(200, []), "unknown kind"),
        (raw_frame(4, [1], flags=1), "no frame does"),
        (raw_frame(4, b"\xc1"), "damaged"),
        (raw_frame(4, msgpack.packb([1]) + b"x"), "damaged"),
        (raw_frame(4, b"\xdd\xff\xff\xff\xff"), "damaged"),
        (raw_frame(4, {"nonce": 1}), "other fields"),
        (raw_frame(4, [1, 2]), "other fields"),
        (raw_frame(4, ["1"]), "other fields"),
        (raw_frame(4, [True]), "other fields"),
        (raw_frame(2, [b"bytes"]), "other fields"),
        (raw_frame(4, [1], b"x"), "a payload of 1 bytes"),
        (raw_frame(7, [1, [1], [], []]), "other fields"),
        (raw_frame(7, [1, ["a"], [], b""]), "list of numbers"),
        (raw_frame(7, [1, [1, 2], [], b""]), "2 edges for 0 tensors"),
        (raw_frame(7, [1, [1], [], b"\xc1"]), "damaged"),
        (raw_frame(7, [1, [1], [], b"\x90x"]), "damaged"),
        (raw_push(7), "no list of tensors"),
        (raw_push([7]), "does not describe"),
        (raw_push([[FLOAT]]), "does not describe"),
        (raw_push([[FLOAT, 4.0]]), "does not describe"),
        (raw_push([[FLOAT, 4]]), "a payload of 0 bytes, its tensors take 64"),
        (raw_push([[FLOAT, 4, 2]], bytes(64)), "is said to have 4 bytes"),
        (raw_push([[FLOAT, 4, -1, -1]], bytes(64)), "negative"),
        (raw_push([[99, 4]], bytes(64)), "unknown DataType"),
        (raw_push([[FLOAT, 0] + [0] * 70]), "cannot be held"),
        (raw_push([[FLOAT, 0, 0, 2**62, 2**62]]), "cannot be held"),
        (raw_push([[STRING, 8, 2]], bytes(64)), "only 8 bytes"),
        (raw_push([[STRING, 9, 1]], bytes(64)), "offsets"),
        (raw_push([[STRING, 17, 2]], struct.pack("<QQ", 5, 1) + bytes(48)), "offsets"),
        (raw_push([[FLOAT, 2**62, 2**60]], size=2**62), "no memory"),
        (raw_frame(4, [1], size=2**64 - 1), "its tensors take 0"),
    ],
)
def test_a_violation_is_named_and_final(data: bytes, reason: str) -> None:
    decoder = FrameDecoder()
    with pytest.raises(RemoteProtocolError, match=reason):
        decode(data, decoder=decoder)
    for call in (decoder.get_buffer, lambda: decoder.buffer_received(0), decoder.end_of_stream):
        with pytest.raises(RemoteProtocolError, match=reason):
            call()


def test_messages_before_a_violation_are_delivered() -> None:
    decoder = FrameDecoder()
    assert decode(frame(m.Ping(1)) + bytes(16), decoder=decoder) == [m.Ping(1)]
    with pytest.raises(RemoteProtocolError):
        decoder.get_buffer()


def test_limits_hold_before_any_memory_is_spent() -> None:
    with pytest.raises(RemoteProtocolError, match="header of 4294967295"):
        decode(struct.pack("<HBBIQ", 0xF7E3, 4, 0, 2**32 - 1, 0))
    with pytest.raises(RemoteProtocolError, match="at most 100"):
        decode(frame(m.StepDone(1, (), bytes(200))), decoder=FrameDecoder(max_header_bytes=100))
    with pytest.raises(RemoteProtocolError, match="at most 1000 are"):
        decode(frame(m.Push(1, (0,), (np.ones(1000),))), decoder=FrameDecoder(max_payload_bytes=1000))


@pytest.mark.parametrize(
    "message",
    [
        m.Ping(2**64),
        m.StepFailed(1, 2, "\ud800", "", b""),
        m.Push(1, (0,), (np.array(["text"], object),)),
        m.Push(1, (0,), (np.array([b"fixed"]),)),
        m.Push(1, (0,), (np.zeros(1, np.longdouble),)),
        m.Push(1, (0,), ([1.0],)),  # type: ignore[arg-type]
        m.StepDone(1, (), bytes(MAX_HEADER_BYTES)),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_cannot_be_sent_is_our_fault(message: m.Message) -> None:
    with pytest.raises(LocalProtocolError):
        encode(message)


def test_a_push_needs_one_edge_per_tensor() -> None:
    with pytest.raises(ValueError, match="1 edges for 0 tensors"):
        m.Push(1, (0,), ())


def test_a_secret_is_not_printed() -> None:
    assert "secret" not in repr(EXAMPLES[0])


@pytest.mark.parametrize("session", ["", "s", "x" * 105, "y" * 300])
@pytest.mark.parametrize("call_id", [0, 1, 127, 128, 2**32, 2**63, 2**64 - 1])
def test_a_repeated_call_is_read_as_the_call_that_it_repeats(session: str, call_id: int) -> None:
    (frame,) = RepeatedCall(session, 7).frame(call_id)
    (call,) = decode(bytes(frame))
    assert isinstance(call, m.RunCallable)
    assert dataclasses.astuple(call) == (call_id, session, 7, (), b"", b"")
    assert [frame] == encode(call)


def test_after_a_large_header_or_one_that_cannot_be_packed_others_are_packed_as_before() -> None:
    expected = bytes(encode(m.Ping(1))[0])
    encode(m.Goodbye("x" * (1 << 20)))
    assert bytes(encode(m.Ping(1))[0]) == expected
    with pytest.raises(LocalProtocolError):
        encode(m.Abort(1, 2**70, "too large"))
    assert bytes(encode(m.Ping(1))[0]) == expected


def test_a_library_that_replaces_messagepacks_functions_changes_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    # As msgpack_numpy.patch() does, which tensorpack calls when it is imported.
    def refuse(*args: object, **kwargs: object) -> None:
        raise TypeError("Packer.__init__() got an unexpected keyword argument 'buf_size'")

    for name in ("Packer", "Unpacker", "pack", "packb", "unpack", "unpackb"):
        monkeypatch.setattr(msgpack, name, refuse)
    message = m.RunGraph(5, "graph_1", (SCALAR, STRINGS, np.arange(3)), 3, b"context")
    (found,) = decode(b"".join(encode(message)))
    assert_same(found, message)
    assert b"".join(RepeatedCall("session", 4).frame(9)) == b"".join(encode(m.RunCallable(9, "session", 4, (), b"")))
