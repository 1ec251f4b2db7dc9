"""StagingArea: values handed from one step to a later one."""

from __future__ import annotations

import numpy as np
import pytest
from weft.contrib.staging import StagingArea

import weft as tf

SOON = tf.RunOptions(timeout_in_ms=100)


def test_elements_come_out_in_order_and_can_be_looked_at() -> None:
    area = StagingArea([tf.int32, tf.string], shapes=[[], []])
    x = tf.placeholder(tf.int32, [])
    put, got, size, second, clear = area.put([x, tf.as_string(x)]), area.get(), area.size(), area.peek(1), area.clear()
    assert [each.get_shape().as_list() for each in got] == [[], []]
    with tf.Session() as session:
        for number in range(4):
            session.run(put, {x: number})
        assert session.run(second) == [1, b"1"]
        assert session.run(got) == [0, b"0"]
        assert session.run(size) == 3
        session.run(clear)
        assert session.run(size) == 0
        with pytest.raises(tf.errors.DeadlineExceededError, match="Unstage"):
            session.run(got, options=SOON)


def test_one_step_may_take_what_the_last_one_put_and_put_the_next() -> None:
    area = StagingArea([tf.float32], shapes=[[2]])
    x = tf.placeholder(tf.float32, [2])
    put, (value,) = area.put(x), area.get()
    batch = np.zeros(2, np.float32)
    with tf.Session() as session:
        session.run(put, {x: batch})
        for number in range(1, 20):
            # The program fills its array anew; what was staged stays as it was.
            batch[:] = number
            taken, _ = session.run([value, put], {x: batch})
            assert taken.tolist() == [number - 1] * 2


def test_a_full_area_lets_a_put_wait() -> None:
    x = tf.placeholder(tf.int32, [])
    few, small = StagingArea([tf.int32], capacity=1), StagingArea([tf.int32], memory_limit=8)
    put_few, put_small, large = few.put([x]), small.put([x]), small.put([tf.zeros([9], tf.int32)])
    with tf.Session() as session:
        session.run(put_few, {x: 1})
        for _ in range(2):
            session.run(put_small, {x: 1})
        for put in (put_few, put_small):
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(put, {x: 1}, options=SOON)
        session.run([few.get(), small.get()])
        session.run([put_few, put_small], {x: 2})
        with pytest.raises(tf.errors.ResourceExhaustedError, match="combined size of '36' bytes"):
            session.run(large)


def test_elements_may_be_dicts_and_areas_shared_by_name() -> None:
    with tf.train.Server.create_local_server() as server:
        for number in range(2):
            with tf.Graph().as_default(), tf.Session(server.target) as session:
                area = StagingArea([tf.int32, tf.float32], names=["i", "f"], shared_name="shared")
                if number == 0:
                    session.run(area.put({"i": 3, "f": 0.5}))
                else:
                    assert session.run(area.get()) == {"i": 3, "f": 0.5}


def test_an_area_is_used_where_it_was_made() -> None:
    with tf.device("/cpu:1"):
        area = StagingArea([tf.int32])
    with tf.device("/cpu:0"):
        put, got = area.put([3]), area.get()
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(put)
        assert session.run(got) == [3]


def test_what_does_not_fit_is_refused_when_the_graph_is_built() -> None:
    with pytest.raises(ValueError, match="shapes must be the same length as dtypes"):
        StagingArea([tf.float32], shapes=[[], []])
    with pytest.raises(ValueError, match="names must be the same length as dtypes"):
        StagingArea([tf.float32], names=["a", "b"])
    with pytest.raises(ValueError, match="must not be negative"):
        StagingArea([tf.float32], capacity=-1)
    with pytest.raises(ValueError, match="Unexpected number of inputs '2' vs '1'"):
        StagingArea([tf.float32]).put([1.0, 2.0])
    with pytest.raises(ValueError, match="must have names"):
        StagingArea([tf.float32]).put({"a": 1.0})
    with pytest.raises(ValueError, match="do not match names"):
        StagingArea([tf.float32], names=["a"]).put({"b": 1.0})
    with pytest.raises(ValueError, match="must enqueue a dictionary"):
        StagingArea([tf.float32], names=["a"]).put([1.0])
    with pytest.raises(ValueError, match="incompatible"):
        StagingArea([tf.float32], shapes=[[2]]).put([[1.0]])
