"""A partition that was encoded for a task and decoded there is the same partition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tensorboard.compat.proto import graph_pb2

import weft as tf
from tests.distributed.fake_workers import on_both, task
from weft.distributed.worker.partition_codec import decode, encode
from weft.errors import NotFoundError
from weft.ops.io.checkpoint_io import save_v2
from weft.passes.partition import Partition, partition
from weft.passes.prune import prune
from weft.passes.stage import Staging


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def parts_of(feeds: Any, fetches: Any, targets: Any = ()) -> dict[str, Partition]:
    ops = prune(fetches, feeds, targets)
    placement = {op: f"{op.device or '/job:a'}/replica:0/task:0/device:CPU:0" for op in ops}
    return partition(ops, placement, Staging(ops, placement, feeds), feeds, fetches)


def there_and_back(part: Partition) -> Partition:
    data = encode(part).SerializeToString()
    names = [part_fetch.name for part_fetch in part.fetches]
    return decode(graph_pb2.GraphDef.FromString(data), part.task, names)


def names(items: Any) -> list[str]:
    return [item.name for item in items]


def test_nodes_keep_their_devices_stages_and_order() -> None:
    x, there, here = on_both()
    parts = parts_of([x], [there, here])
    for part in parts.values():
        back = there_and_back(part)
        assert names(back.nodes) == names(part.nodes)
        for op, found in zip(part.nodes, back.nodes, strict=True):
            assert (back.devices[found], back.kinds[found], back.levels[found]) == (
                part.devices[op], part.kinds[op], part.levels[op],
            )  # fmt: skip
        assert names(back.fetches) == names(part.fetches)


def test_a_run_that_reads_at_one_moment_says_so_to_all_its_tasks() -> None:
    with tf.device("/job:b"):
        variable = tf.get_variable("v", [2])
    with tf.device("/job:a"):
        save = save_v2("somewhere", ["v"], [""], [variable])
    for part in parts_of([], [], [save]).values():
        assert there_and_back(part).one_moment
    for part in parts_of([], [tf.negative(variable)]).values():
        assert not there_and_back(part).one_moment


def test_what_is_fed_to_another_task_is_that_tasks_own() -> None:
    x, there, here = on_both()
    part = parts_of([x], [there, here])[task("a")]
    assert not part.owns_feeds
    assert there_and_back(part).owns_feeds


def test_feeds_and_edges_keep_their_numbers() -> None:
    x, there, here = on_both()
    with tf.device("/job:b"), tf.control_dependencies([there.op]):
        after = tf.random_uniform([], name="after")
    parts = parts_of([x], [here, after])
    first, second = there_and_back(parts[task("a")]), there_and_back(parts[task("b")])
    assert [(feed.dtype, feed.shape.as_list()) for feed in first.feeds] == [(tf.float32, [])]
    assert {(edge.number, edge.receiver, edge.is_control) for edge in first.sends} == {
        (edge.number, edge.receiver, edge.is_control) for edge in parts[task("a")].sends
    }
    assert {edge.number for edge in second.recvs.values()} == {edge.number for edge in parts[task("b")].recvs.values()}
    assert {edge.sender for edge in second.recvs.values()} == {task("a")}
    found = {op.name: op for op in second.nodes}
    assert names(found["here"].inputs) == ["weft.recv_0:0"]
    assert [op.type for op in found["after/shape"].control_inputs] == ["_Recv"]


def test_static_feeds_stay_static() -> None:
    x, axis = tf.placeholder(tf.float32, [2, 3], name="x"), tf.placeholder(tf.int32, [], name="axis")
    part = parts_of([x, axis], [tf.reduce_sum(x, axis)])[task("a")]
    assert names(part.static_feeds) == ["axis:0"]
    back = there_and_back(part)
    assert [feed in back.static_feeds for feed in back.feeds] == [False, True]


def test_functions_travel_with_the_nodes_that_run_them() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    part = parts_of([x], [tf.cond(x > 0, lambda: x * 2, lambda: x - 1)])[task("a")]
    tf.while_loop(lambda n: n < 3, lambda n: n + 1, [tf.constant(0)])
    proto = encode(part)
    branches = [name for op in part.nodes for name in op.op_def.bodies]
    assert len(proto.library.function) == len(branches) == 2
    assert names(there_and_back(part).nodes) == names(part.nodes)


def test_a_graph_def_that_is_no_partition_is_refused() -> None:
    proto = graph_pb2.GraphDef()
    proto.node.add(name="n", op="NoSuchOp")
    with pytest.raises(NotFoundError, match="NoSuchOp"):
        decode(proto, task("a"), [])
