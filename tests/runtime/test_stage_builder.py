"""Which nodes of a partition run together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.runtime.conftest import MakeParts
from weft.passes.stage import Kind
from weft.runtime.stage_builder import build_stages
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.session_state import SessionState


def host_stages(parts: Any) -> list[list[str]]:
    stages = build_stages(parts["a"], ResourceManager("a")).stages
    return [[op.type for op in stage.program.nodes if op.type != "Const"] for stage in stages if stage.kind is Kind.HOST]


def test_host_ops_that_wait_for_the_same_are_one_stage(make_parts: MakeParts) -> None:
    ids = tf.placeholder(tf.int32, [None])
    owner = ids % 2
    low, _ = tf.dynamic_partition(ids // 2, owner, 2)
    _, at = tf.dynamic_partition(tf.range(tf.size(ids)), owner, 2)
    assert host_stages(make_parts([low, at], [ids])) == [["DynamicPartition"] * 2]


def test_host_ops_that_wait_for_different_things_are_not(make_parts: MakeParts) -> None:
    ids = tf.placeholder(tf.int32, [None])
    with tf.device("/job:b"):
        owner = ids % 2
    low, _ = tf.dynamic_partition(ids // 2, owner, 2)
    first, _ = tf.unique(ids // 3)
    again, _ = tf.unique(low)
    # `again` is all that takes what the first one makes, so nobody waits for it besides.
    assert sorted(host_stages(make_parts([first, again], [ids]))) == [["DynamicPartition", "Unique"], ["Unique"]]


def test_a_host_op_whose_result_others_take_too_does_not_wait_with_them(make_parts: MakeParts) -> None:
    ids = tf.placeholder(tf.int32, [None])
    low, high = tf.dynamic_partition(ids, ids % 2, 2)
    first, _ = tf.unique(low)
    other = tf.py_func(lambda value: value, [high], tf.int32)
    assert sorted(host_stages(make_parts([first, other], [ids]))) == [["DynamicPartition"], ["PyFunc"], ["Unique"]]


def test_what_is_read_is_decoded_in_its_stage_and_put_in_another(make_parts: MakeParts) -> None:
    files, records = tf.FIFOQueue(9, tf.string, []), tf.FIFOQueue(9, tf.uint8)
    put = records.enqueue(tf.decode_raw(tf.IdentityReader().read(files).value, tf.uint8))
    assert host_stages(make_parts(targets=[put])) == [
        ["FIFOQueueV2", "FIFOQueueV2", "IdentityReaderV2"],
        ["ReaderReadV2", "DecodeRaw"],
        ["QueueEnqueueV2"],
    ]


def test_a_dequeue_that_blocks_keeps_no_name_from_an_enqueue_of_its_step(make_parts: MakeParts) -> None:
    queue = tf.FIFOQueue(9, tf.int32, [])
    parts = make_parts([queue.dequeue()], targets=[queue.enqueue(1)])
    assert sorted(host_stages(parts)) == [["FIFOQueueV2"], ["QueueDequeueV2"], ["QueueEnqueueV2"]]


def test_host_ops_that_may_block_are_stages_by_themselves(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32)
    made = [tf.py_func(lambda value: value, [x], tf.float32) for _ in range(2)]
    assert host_stages(make_parts(made, [x])) == [["PyFunc"], ["PyFunc"]]


@pytest.mark.parametrize("is_own", [False, True])
def test_a_variable_keeps_a_fed_array_itself_only_where_it_is_the_tasks_own(make_parts: MakeParts, is_own: bool) -> None:
    x = tf.placeholder(tf.float32, [2])
    part = make_parts(targets=[tf.get_variable("v", [2]).assign(x).op], feeds=[x])["a"]
    part.owns_feeds = is_own
    (stage,) = build_stages(part, ResourceManager()).stages
    fed = np.ones(2, np.float32)
    stage.run([fed], SessionState(ResourceManager()), None, None)
    assert np.shares_memory(stage.program.slots[0].value, fed) is is_own
