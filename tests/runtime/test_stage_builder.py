"""Which nodes of a partition run together."""

from __future__ import annotations

from typing import Any

import weft as tf
from tests.runtime.conftest import MakeParts
from weft.passes.stage import Kind
from weft.runtime.stage_builder import build_stages
from weft.runtime.state.resource_manager import ResourceManager


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
    assert sorted(host_stages(make_parts([first, again], [ids]))) == [["DynamicPartition"], ["Unique"], ["Unique"]]


def test_host_ops_that_may_block_are_stages_by_themselves(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32)
    made = [tf.py_func(lambda value: value, [x], tf.float32) for _ in range(2)]
    assert host_stages(make_parts(made, [x])) == [["PyFunc"], ["PyFunc"]]
