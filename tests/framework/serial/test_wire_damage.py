"""Where the bytes of a message stop being one."""

from __future__ import annotations

import pytest
from google.protobuf.message import DecodeError
from tensorboard.compat.proto import attr_value_pb2, graph_pb2, meta_graph_pb2

from weft.errors import DataLossError
from weft.framework.serial.proto_reading import parse
from weft.framework.serial.wire_damage import Damage, find_damage


def _graph() -> graph_pb2.GraphDef:
    graph = graph_pb2.GraphDef()
    for name in ("a", "b/c", "d"):
        graph.node.add(name=name, op="NoOp", input=["^x"] if name == "d" else []).attr["T"].type = 1
    return graph


def _damage(data: bytes) -> Damage | None:
    return find_damage(data, graph_pb2.GraphDef.DESCRIPTOR)


def test_a_whole_message_has_no_damage() -> None:
    assert _damage(_graph().SerializeToString()) is None
    assert _damage(b"") is None


def test_every_message_that_protobuf_refuses_has_a_place() -> None:
    whole = meta_graph_pb2.MetaGraphDef(graph_def=_graph()).SerializeToString()
    for end in range(len(whole)):
        cut = whole[:end]
        try:
            meta_graph_pb2.MetaGraphDef.FromString(cut)
        except DecodeError:
            damage = find_damage(cut, meta_graph_pb2.MetaGraphDef.DESCRIPTOR)
            assert damage is not None
            assert 0 <= damage.offset <= end
        else:
            assert find_damage(cut, meta_graph_pb2.MetaGraphDef.DESCRIPTOR) is None


@pytest.mark.parametrize(
    ("old", "new", "place", "what"),
    [
        (b"\x03b/c", b"\x7fb/c", "node[1].name", "the field has 127 bytes"),
        (b"b/c\x12\x04NoOp", b"b/c\x12\x04N\xff\xffp", "node[1] 'b/c'.op", "text is not UTF-8"),
        (b"b/c\x12\x04NoOp", b"b/c\x13\x04NoOp", "node[1] 'b/c'", "there is no field"),
        (b"b/c\x12\x04NoOp", b"b/c\x00\x04NoOp", "node[1] 'b/c'", "there is no field"),
    ],
)
def test_damage_tells_the_node(old: bytes, new: bytes, place: str, what: str) -> None:
    data = _graph().SerializeToString()
    assert data.count(old) == 1
    damage = _damage(data.replace(old, new))
    assert damage is not None
    assert damage.place == place
    assert what in damage.what
    assert data.index(old) <= damage.offset <= data.index(old) + len(old)


def test_a_length_without_end_is_damage() -> None:
    damage = _damage(b"\x0a" + b"\xff" * 10)
    assert damage == Damage(1, "node[0]", "a length is cut off")


def test_what_is_deeper_than_protobuf_reads_is_damage() -> None:
    data = b""
    for _ in range(40):  # func { attr { value { func ...
        for tag in (b"\x12", b"\x12", b"\x52"):
            data = tag + _length(len(data)) + data
    with pytest.raises(DataLossError, match="messages are deeper than 100 inside of each other"):
        parse(attr_value_pb2.AttrValue, data, "It")


def _length(value: int) -> bytes:
    return bytes((value,)) if value < 128 else bytes((value & 127 | 128,)) + _length(value >> 7)


def test_bytes_that_are_no_message_are_named() -> None:
    with pytest.raises(DataLossError, match=r"The note cannot be parsed: the field has 5 bytes .* at byte 2 in node\[0\]"):
        parse(graph_pb2.GraphDef, b"\x0a\x05\x0a\x01a", "The note")
