"""Where replica_device_setter puts ops."""

from __future__ import annotations

from typing import Any

import pytest
from weft.contrib.training import GreedyLoadBalancingStrategy, RandomStrategy, byte_size_load_fn

import weft as tf

CLUSTER = {"ps": ["a:1", "b:1"], "worker": ["c:1", "d:1", "e:1"]}


@pytest.mark.parametrize(
    "cluster",
    [CLUSTER, tf.train.ClusterSpec(CLUSTER), tf.train.ClusterSpec(CLUSTER).as_cluster_def()],
    ids=["dict", "ClusterSpec", "ClusterDef"],
)
def test_variables_take_turns_and_the_rest_is_the_workers(cluster: Any) -> None:
    with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        made = [tf.Variable(float(n)) for n in range(3)]
        total = made[0] + made[1]
    assert [v.device for v in made] == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]
    assert [v.initializer.device for v in made] == [v.device for v in made]
    assert [v.op.inputs for v in made] == [[], [], []]
    assert total.device == "/job:worker"


def test_resource_variables_take_turns_as_well() -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        made = [tf.get_variable(f"v{n}", [], use_resource=True) for n in range(2)]
    assert [v.device for v in made] == ["/job:ps/task:0", "/job:ps/task:1"]


def test_there_is_no_setter_without_parameter_servers() -> None:
    assert tf.train.replica_device_setter(ps_tasks=0) is None
    assert tf.train.replica_device_setter(cluster={"worker": ["c:1"]}) is None
    with tf.device(tf.train.replica_device_setter(ps_tasks=0)):
        assert tf.constant(1.0).device == ""


def test_what_an_inner_device_says_wins() -> None:
    setter = tf.train.replica_device_setter(ps_tasks=2, ps_device="/job:ps/cpu:0", worker_device="/job:worker/gpu:0")
    with tf.device(setter):
        with tf.device("/cpu:0"):
            assert tf.Variable(0.0).device == "/job:ps/task:0/device:CPU:0"
            assert tf.no_op().device == "/job:worker/device:CPU:0"
        with tf.device("/job:moon"):
            assert tf.Variable(0.0).device == "/job:moon/device:CPU:0"
        with tf.device("/job:ps"):
            # The op on the moon had no turn.
            assert tf.Variable(0.0).device == "/job:ps/task:1/device:CPU:0"
        with tf.device("/job:ps/task:1"):
            assert tf.Variable(0.0).device == "/job:ps/task:1/device:CPU:0"


def test_inner_devices_can_be_left_as_they_are() -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, merge_devices=False)):
        with tf.device("/job:ps"):
            assert tf.Variable(0.0).device == "/job:ps"
        assert tf.Variable(0.0).device == "/job:ps/task:0"


def test_the_task_in_ps_device_is_chosen_by_the_strategy() -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, ps_device="/job:ps/task:7", ps_strategy=lambda op: 1)):
        assert tf.Variable(0.0).device == "/job:ps/task:1"


def test_slots_follow_their_variables_and_have_no_turn() -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        first = tf.Variable(1.0)
        optimizer = tf.train.AdagradOptimizer(0.1)
        optimizer.minimize(first * first)
        second = tf.Variable(1.0)
    assert optimizer.get_slot(first, "accumulator").device == first.device == "/job:ps/task:0"
    assert second.device == "/job:ps/task:1"


def test_other_ops_can_be_sent_to_the_parameter_servers() -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, ps_ops=["Const"])):
        assert tf.constant(1.0).device == "/job:ps/task:0"


def test_a_strategy_must_be_callable() -> None:
    with pytest.raises(TypeError, match="ps_strategy must be callable"):
        tf.train.replica_device_setter(ps_tasks=2, ps_strategy=3)  # type: ignore[arg-type]


def test_greedy_balancing_takes_the_task_with_the_fewest_bytes() -> None:
    strategy = GreedyLoadBalancingStrategy(3, byte_size_load_fn)
    with tf.device(tf.train.replica_device_setter(ps_tasks=3, ps_strategy=strategy)):
        sizes = [[3, 3], [2, 2], [1], [4], [2]]
        devices = [tf.Variable(tf.zeros(size)).device for size in sizes]
    assert devices == [f"/job:ps/task:{task}" for task in (0, 1, 2, 2, 1)]


def test_greedy_balancing_needs_one_output_of_known_shape() -> None:
    with pytest.raises(ValueError, match="must have a single output"):
        byte_size_load_fn(tf.no_op())
    with pytest.raises(ValueError, match="its size is not known"):
        byte_size_load_fn(tf.placeholder(tf.float32).op)
    assert byte_size_load_fn(tf.get_variable("v", [5, 2], tf.float64, use_resource=True).op) == 80


def test_a_random_strategy_is_the_same_for_the_same_seed() -> None:
    chosen = [[RandomStrategy(4, seed=5)(None) for _ in range(1)], [RandomStrategy(4, seed=5)(None)]]
    assert chosen[0] == chosen[1]
    strategy = RandomStrategy(4)
    assert {strategy(None) for _ in range(100)} == {0, 1, 2, 3}
