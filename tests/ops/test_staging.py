"""StagingArea: values left by one step for another."""

from __future__ import annotations

import threading

import pytest

import weft as tf

StagingArea = tf.contrib.staging.StagingArea


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_gives_values_in_the_order_in_which_they_were_put():
    x = tf.placeholder(tf.float32, [2])
    area = StagingArea([tf.float32, tf.int32], [[2], []])
    put, (value, number) = area.put([x, 3]), area.get()
    assert (value.shape.as_list(), number.dtype) == ([2], tf.int32)
    with tf.Session() as session:
        for start in (1.0, 5.0):
            session.run(put, {x: [start, start]})
        assert session.run(area.size()) == 2
        assert session.run(area.peek(1)[0]).tolist() == [5, 5]
        assert [session.run(value).tolist() for _ in range(2)] == [[1, 1], [5, 5]]


def test_names_make_dicts():
    area = StagingArea([tf.float32], names=["a"])
    got = area.get()
    with tf.Session() as session:
        session.run(area.put({"a": 2.0}))
        assert session.run(got) == {"a": 2.0}
        session.run(area.put({"a": 2.0}))
        session.run(area.clear())
        assert session.run(area.size()) == 0
    with pytest.raises(ValueError, match="must enqueue a dictionary"):
        area.put([1.0])
    with pytest.raises(ValueError, match="do not match names"):
        area.put({"b": 1.0})


def test_a_full_area_makes_put_wait_until_there_is_room():
    area = StagingArea([tf.int32], capacity=1)
    put, (value,) = area.put([1]), area.get()
    with tf.Session() as session:
        session.run(put)
        thread = threading.Thread(target=session.run, args=(put,))
        thread.start()
        assert session.run(value) == 1
        thread.join(30)
        assert not thread.is_alive()
        assert session.run(value) == 1


def test_sessions_share_an_area_by_its_name():
    with tf.train.Server.create_local_server() as server:
        area = StagingArea([tf.int32], shared_name="numbers")
        put, (value,) = area.put([4]), area.get()
        with tf.Session(server.target) as first, tf.Session(server.target) as second:
            first.run(put)
            assert second.run(value) == 4


def test_refuses_what_does_not_fit():
    area = StagingArea([tf.float32], [[2]])
    with pytest.raises(ValueError, match="Unexpected number of inputs '2' vs '1'"):
        area.put([1.0, 2.0])
    with pytest.raises(ValueError, match="does not fit"):
        area.put([[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="same length as dtypes"):
        StagingArea([tf.float32], [[2], [3]])
