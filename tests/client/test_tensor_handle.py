"""Tensors stay in a session between runs: they are read, fed, moved and deleted by their handles, wherever the session runs."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import weft as tf
from tests.client.conftest import OpenSession
from weft.client.tensor_handle import TensorHandle


def test_a_handle_gives_its_tensor_back(open_session: OpenSession) -> None:
    session = open_session()
    handle = session.run(tf.get_session_handle(tf.constant(10) * 5, name="kept"))
    assert isinstance(handle, TensorHandle)
    assert handle.eval() == 50
    assert handle.handle.startswith("kept;0;/job:")
    assert str(handle) == handle.handle
    assert handle.dtype == tf.int32


def test_a_handle_is_fed_to_a_session_tensor(open_session: OpenSession) -> None:
    session = open_session()
    values = tf.constant([1.0, 2.0])
    handle = session.run(tf.get_session_handle(values))
    holder, tensor = tf.get_session_tensor(handle.handle, tf.float32)
    total = tf.reduce_sum(tensor)
    for fed in (handle.handle, handle):
        assert session.run(total, {holder: fed}) == 3
    # A step may begin with what the one before it left.
    for _ in range(3):
        handle = session.run(tf.get_session_handle(tensor * 2), {holder: handle})
    assert handle.eval().tolist() == [8, 16]


def test_a_handle_is_fed_to_any_tensor(open_session: OpenSession) -> None:
    session = open_session()
    x = tf.placeholder(tf.float32, [2])
    handle = session.run(tf.get_session_handle(tf.constant([1.0, 2.0])))
    assert session.run(x + 1, {x: handle}).tolist() == [2, 3]


def test_strings_are_kept_too(open_session: OpenSession) -> None:
    handle = open_session().run(tf.get_session_handle(tf.constant(["a", "b\0c"])))
    assert handle.eval().tolist() == [b"a", b"b\0c"]


def test_a_deleted_tensor_is_gone(open_session: OpenSession) -> None:
    session = open_session()
    first, second = session.run([tf.get_session_handle(tf.constant(n)) for n in (1, 2)])
    first.delete()
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
        first.eval()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Failed to delete a tensor"):
        first.delete()
    holder, deleter = tf.delete_session_tensor(second.handle)
    assert session.run(deleter, {holder: second.handle}) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
        second.eval()


def test_another_session_does_not_have_it(open_session: OpenSession) -> None:
    handle = open_session().run(tf.get_session_handle(tf.constant(1)))
    holder, tensor = tf.get_session_tensor(handle.handle, tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
        open_session().run(tensor, {holder: handle.handle})


def test_dropped_handles_free_their_tensors(open_session: OpenSession) -> None:
    session = open_session()
    keep = tf.get_session_handle(tf.constant(1))
    texts = [session.run(keep).handle for _ in range(40)]
    gc.collect()
    last = session.run(keep)
    holder, tensor = tf.get_session_tensor(texts[0], tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
        session.run(tensor, {holder: texts[0]})
    assert last.eval() == 1


def test_a_raw_handle_is_kept_until_it_is_deleted(open_session: OpenSession) -> None:
    session = open_session()
    keep = tf.get_session_handle(tf.constant(1))
    raw = session.run(keep).get_raw_handle()
    for _ in range(40):
        session.run(keep)
    gc.collect()
    holder, tensor = tf.get_session_tensor(raw, tf.int32)
    assert session.run(tensor, {holder: raw}) == 1


def test_a_handle_fetched_twice_is_one(open_session: OpenSession) -> None:
    fetch = tf.get_session_handle(tf.constant(1))
    first, again = open_session().run([fetch, {"again": fetch}])
    assert again["again"] is first
    assert open_session().make_callable(fetch)().eval() == 1


def test_a_tensor_is_moved_to_the_device_that_wants_it() -> None:
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Session(config=config) as session:
        with tf.device("/cpu:0"):
            value = tf.constant([1.0, 2.0])
        handle = session.run(tf.get_session_handle(value))
        holder, tensor = tf.get_session_tensor(handle.handle.replace("CPU:0", "CPU:1"), tf.float32)
        assert session.run(tensor * 2, {holder: handle}).tolist() == [2, 4]


def test_the_program_may_change_what_it_fed() -> None:
    x = tf.placeholder(tf.float32, [2])
    with tf.Session() as session:
        buffer = np.ones(2, np.float32)
        handle = session.run(tf.get_session_handle(x), {x: buffer})
        buffer[:] = 7
        value = handle.eval()
        assert value.tolist() == [1, 1]
        value[:] = 7
        assert handle.eval().tolist() == [1, 1]


def test_what_is_no_tensor_is_refused() -> None:
    for data in (3, "x", None, tf.Variable(1.0)):
        with pytest.raises(TypeError, match=r"`data` must be of type Tensor\."):
            tf.get_session_handle(data)
    with tf.Session() as session:
        handle = session.run(tf.get_session_handle(tf.constant(1.5)))
        holder, tensor = tf.get_session_tensor(handle.handle, tf.int32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="is of type float32, and is taken as int32"):
            session.run(tensor, {holder: handle})
