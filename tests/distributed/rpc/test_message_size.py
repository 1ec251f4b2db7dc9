"""Messages that no reader takes are refused by their writer, with the names of what fills them."""

from __future__ import annotations

import re

import pytest

from weft.distributed.rpc import message_size
from weft.distributed.rpc.message_size import serialized
from weft.errors import ResourceExhaustedError
from weft.proto import master_pb2


@pytest.fixture(autouse=True)
def _small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_size, "LIMIT_BYTES", 1000)


def request(**sizes: int) -> master_pb2.RunStepRequest:
    made = master_pb2.RunStepRequest()
    for name, size in sizes.items():
        made.feed.add(name=name).tensor.tensor_content = bytes(size)
    return made


def test_a_message_within_the_limit_is_its_bytes() -> None:
    assert master_pb2.RunStepRequest.FromString(serialized(request(x=900), "")) == request(x=900)


def test_a_longer_one_is_refused_with_its_largest_parts_and_the_remedy() -> None:
    expected = r"has \d+ bytes, .* holds 1000 at most; the largest in it: 'y' \(9\d\d bytes\), 'x' \(\d\d bytes\)\. Feed"
    with pytest.raises(ResourceExhaustedError, match=expected):
        serialized(request(x=50, y=950), "Feed less")


def test_nodes_of_a_graph_are_named() -> None:
    made = master_pb2.CreateSessionRequest(target="grpc://a:1")
    made.graph_def.node.add(name="small", op="NoOp")
    made.graph_def.node.add(name="table", op="Const").attr["value"].tensor.tensor_content = bytes(2000)
    with pytest.raises(ResourceExhaustedError, match=re.escape("the largest in it: 'table' (20")):
        serialized(made, "")
