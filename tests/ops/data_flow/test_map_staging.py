"""MapStagingArea: elements by keys, whole or in parts."""

from __future__ import annotations

import pytest

import weft as tf
from weft.ops.data_flow.map_staging import MapStagingArea

SOON = tf.RunOptions(timeout_in_ms=100)


@pytest.mark.parametrize("ordered", [False, True])
def test_an_element_is_taken_by_its_key_whenever_it_came(ordered: bool) -> None:
    area = MapStagingArea([tf.int32, tf.string], shapes=[[], []], ordered=ordered)
    key = tf.placeholder(tf.int64, [])
    put, (_, taken) = area.put(key, [tf.to_int32(key), tf.as_string(key)], [0, 1]), area.get(key)
    with tf.Session() as session:
        for number in (7, 3, 5):
            session.run(put, {key: number})
        assert session.run(taken, {key: 3}) == [3, b"3"]
        assert session.run(area.size()) == 2
        with pytest.raises(tf.errors.DeadlineExceededError, match="MapStagingArea_get"):
            session.run(taken, {key: 3}, options=SOON)


@pytest.mark.parametrize(("ordered", "order"), [(False, [7, 3, 5]), (True, [3, 5, 7])])
def test_without_a_key_the_oldest_or_the_least_comes_first(ordered: bool, order: list[int]) -> None:
    area = MapStagingArea([tf.int64], ordered=ordered)
    key = tf.placeholder(tf.int64, [])
    put, (first, [value]) = area.put(key, [key * 2], [0]), area.get()
    with tf.Session() as session:
        for number in (7, 3, 5):
            session.run(put, {key: number})
        assert [session.run([first, value]) for _ in order] == [[each, each * 2] for each in order]


def test_an_element_whose_parts_come_one_by_one_is_there_with_the_last() -> None:
    area = MapStagingArea([tf.int32, tf.int32], names=["a", "b"], capacity=1)
    key = tf.placeholder(tf.int64, [])
    put_a, put_b, whole = area.put(key, {"a": 1}), area.put(key, {"b": 2}), area.put(key, {"a": 3, "b": 4})
    sizes, (_, taken) = [area.size(), area.incomplete_size()], area.get(key)
    with tf.Session() as session:
        session.run(whole, {key: 0})
        # A part waits for no place, a whole element does.
        session.run(put_a, {key: 1})
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(whole, {key: 2}, options=SOON)
        assert session.run(sizes) == [1, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="index '0' for key '1' was already initialized"):
            session.run(put_a, {key: 1})
        session.run(put_b, {key: 1})
        assert session.run(taken, {key: 1}) == {"a": 1, "b": 2}
        assert session.run(taken, {key: 0}) == {"a": 3, "b": 4}
        assert session.run(sizes) == [0, 0]


def test_an_element_goes_with_its_last_part() -> None:
    area = MapStagingArea([tf.int32, tf.int32], names=["a", "b"])
    put, sizes = area.put(1, {"a": 1, "b": 2}), area.size()
    (_, a), (_, b), seen = area.get(1, ["a"]), area.get(1, [1]), area.peek(1, ["b"])
    with tf.Session() as session:
        # The step that takes may come first: it has but a part of the element's types.
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(a, options=SOON)
        session.run(put)
        assert session.run(a) == {"a": 1}
        with pytest.raises(tf.errors.InvalidArgumentError, match="index '0' for key '1' has already been removed"):
            session.run(a)
        assert session.run(seen) == {"b": 2}
        assert session.run(sizes) == 1
        assert session.run(b) == {"b": 2}
        assert session.run(sizes) == 0


def test_sessions_share_an_area_by_its_name() -> None:
    with tf.train.Server.create_local_server() as server:
        for number in range(2):
            with tf.Graph().as_default(), tf.Session(server.target) as session:
                area = MapStagingArea([tf.float32], shared_name="shared")
                if number == 0:
                    session.run(area.put(9, [0.5], [0]))
                else:
                    assert session.run(area.get(9)[1]) == [0.5]


def test_a_put_waits_for_room_in_bytes() -> None:
    area = MapStagingArea([tf.int32], memory_limit=8)
    key = tf.placeholder(tf.int64, [])
    put, large, (_, taken) = (
        area.put(key, [tf.zeros([2], tf.int32)], [0]),
        area.put(1, [tf.zeros([9], tf.int32)], [0]),
        area.get(),
    )
    with tf.Session() as session:
        session.run(put, {key: 1})
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(put, {key: 2}, options=SOON)
        with pytest.raises(tf.errors.ResourceExhaustedError, match="combined size of '36' bytes"):
            session.run(large)
        session.run(taken)
        session.run(put, {key: 2})
        # The one that is there stays: the other one takes no room.
        session.run(area.clear())
        session.run(put, {key: 2})


def test_parts_that_are_none_are_refused() -> None:
    area = MapStagingArea([tf.int32, tf.int32])
    with pytest.raises(IndexError, match="component 5 of MapStagingArea 'MapStagingArea', which has 2"):
        area.put(1, [1], [5])
    with pytest.raises(ValueError, match="Named index 'z' not in"):
        MapStagingArea([tf.int32], names=["a"]).peek(1, ["z"])
    with pytest.raises(ValueError, match="Number of indices '2' doesn't match number of values '1'"):
        area.put(1, [1], [0, 1])
    with pytest.raises(TypeError, match="vals must be a list of tensors"):
        area.put(1, 1, [0])
    with pytest.raises(TypeError, match="Invalid indices type 'int'"):
        area.get(1, 0)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="not strictly ordered"):
        session.run(area.put(1, [1, 2], [1, 0]))
