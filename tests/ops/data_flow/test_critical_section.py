"""tf.CriticalSection: one function at a time. The answers are those of TensorFlow 1.15.5."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import weft as tf


def _counter() -> tuple[Any, Any]:
    """A variable, and a function that counts in it by reading, waiting for others that may run meanwhile, and assigning."""
    counter = tf.Variable(0, use_resource=True)

    def count() -> Any:
        seen = tf.py_func(lambda value: value, [counter.read_value()], tf.int32)
        with tf.control_dependencies([counter.assign(tf.reshape(seen, []) + 1)]):
            return counter.read_value()

    return counter, count


def test_executions_of_one_step_and_of_many_count_each() -> None:
    section = tf.CriticalSection()
    counter, count = _counter()
    counts = [section.execute(count) for _ in range(5)]
    with tf.Session() as session:
        session.run(counter.initializer)
        assert sorted(session.run(counts)) == [1, 2, 3, 4, 5]
        threads = [threading.Thread(target=session.run, args=(counts,)) for _ in range(3)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(30)
        assert session.run(counter) == 20
        assert session.run(counts[0]) == 21


def test_two_graphs_share_a_section_by_name() -> None:
    server = tf.train.Server.create_local_server()
    entered, left = threading.Event(), threading.Event()

    def first() -> Any:
        entered.set()
        left.wait(30)
        return np.float32(1)

    found: list[Any] = []

    def run_first() -> None:
        with tf.Graph().as_default(), tf.Session(server.target) as session:
            made = tf.CriticalSection(shared_name="together").execute(lambda: tf.py_func(first, [], tf.float32))
            found.append(session.run(made))

    thread = threading.Thread(target=run_first)
    thread.start()
    with tf.Graph().as_default(), tf.Session(server.target) as session:
        made = tf.CriticalSection(shared_name="together").execute(lambda: tf.py_func(left.is_set, [], tf.bool))
        entered.wait(30)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(made, options=tf.RunOptions(timeout_in_ms=200))
        left.set()
        assert session.run(made)
    thread.join(30)
    assert found == [1.0]


def test_a_function_that_fails_leaves_the_section() -> None:
    section, x = tf.CriticalSection(), tf.placeholder(tf.float32)
    checked = section.execute(lambda: tf.check_numerics(x, "bad"))
    with tf.Session() as session:
        assert session.run(checked, {x: 1.0}) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
            session.run(checked, {x: np.nan})
        assert session.run(checked, {x: 2.0}) == 2.0


def test_results_keep_their_structure_and_have_gradients() -> None:
    section, x = tf.CriticalSection(), tf.constant(3.0)
    made = section.execute(lambda: {"a": x * x, "b": (tf.constant(2), [tf.constant("x")])})
    done = section.execute(tf.no_op, name="hey")
    assert isinstance(done, tf.Operation)
    with tf.Session() as session:
        assert session.run([made, tf.gradients(made["a"], x), done]) == [{"a": 9.0, "b": (2, [b"x"])}, [6.0], None]
        assert session.run(section.execute(lambda: 3.5)) == 3.5
        assert session.run(section.execute(lambda: made["a"] + 1.0)) == 10.0


def test_branches_and_loops_enter_it_and_are_in_it() -> None:
    section, chosen = tf.CriticalSection(), tf.placeholder(tf.bool, [])
    v = tf.Variable(0.0, use_resource=True)
    inside = section.execute(lambda: tf.cond(chosen, lambda: tf.identity(v.assign_add(1.0)), v.read_value))
    outside = tf.cond(chosen, lambda: section.execute(lambda: tf.identity(v.assign_add(1.0))), v.read_value)

    def body(i: Any) -> Any:
        with tf.control_dependencies([section.execute(lambda: tf.identity(v.assign_add(1.0)))]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 5, body, [0])
    with tf.Session() as session:
        session.run(v.initializer)
        assert [session.run(each, {chosen: value}) for each in (inside, outside) for value in (True, False)] == [1, 1, 2, 2]
        session.run(loop)
        assert session.run(v) == 7.0


def test_what_would_wait_for_itself_or_shares_what_it_has_alone_is_refused() -> None:
    one, other = tf.CriticalSection(name="one"), tf.contrib.framework.CriticalSection()
    assert [one.name, other.name] == ["one", "CriticalSection"]
    with pytest.raises(ValueError, match=r"would cause deadlocks\. The section is 'one'"):
        one.execute(lambda: one.execute(lambda: tf.constant(1.0)) + 1.0)
    v = tf.Variable(0.0, use_resource=True)
    one.execute(lambda: v.assign_add(1.0), exclusive_resource_access=False)
    other.execute(lambda: v.assign_add(1.0), exclusive_resource_access=False)
    with pytest.raises(ValueError, match=r"exclusive resource access of this resource.*exclusive_resource_access=False"):
        other.execute(lambda: v.assign_add(1.0))
    with pytest.raises(ValueError, match="mutually exclusive"):
        tf.CriticalSection(shared_name="a", critical_section_def=one)  # type: ignore[arg-type]
