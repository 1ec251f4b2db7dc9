"""tf.py_function: what is computed, kept and given back; the catalogue `py_functions` compares what it does with TensorFlow."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.runtime.host.eager_node import EAGER_STATE


def _holds(condition: Callable[[], bool]) -> bool:
    """Whether something becomes true soon: the thread that ran a step lets go of its values a little after its end."""
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        gc.collect()
    return condition()


@pytest.mark.parametrize(
    ("function", "value", "dtype", "expected"),
    [
        (lambda x: x.numpy() * 2, [1.0, 2.0], "float32", [2.0, 4.0]),
        (lambda x: x * 2 + 1, [1.0, 2.0], "float32", [3.0, 5.0]),
        (lambda x: x[1], [[1.0, 2.0], [3.0, 4.0]], "float32", [3.0, 4.0]),
        (lambda x: sum(each.numpy() for each in x) + len(x), [1, 2], "int32", 5),
        (lambda x: 7, 3, "float64", 7.0),
        (lambda x: np.array([1.5]), 3, "int32", [1]),
        (lambda x: float(x) + int(x), 2.0, "float32", 4.0),
        (lambda x: np.sum(x), [1.0, 2.0], "float32", 3.0),
        (lambda x: bool(x > 1), 2, "bool", True),
        (lambda x: x.get_shape().as_list()[1], [[1, 2]], "int32", 2),
        (lambda x: x.dtype == tf.float32 and x.shape.ndims == 0, 2.0, "bool", True),
        (lambda x: x.numpy() + b"!", "ab", "string", b"ab!"),
    ],
)
def test_py_function_gives_values_like_eager_tensors(function: Any, value: Any, dtype: str, expected: Any) -> None:
    out = tf.py_function(function, [tf.constant(value)], tf.as_dtype(dtype))
    with tf.Session() as session:
        found = session.run(out)
    assert np.asarray(found).tolist() == expected
    assert dtype == "string" or found.dtype == dtype


def test_py_function_returns_several_values_or_none() -> None:
    seen: list[Any] = []
    both = tf.py_function(lambda x: (x.numpy(), 2.0), [3], (tf.int32, tf.float32))
    nothing = tf.py_function(lambda x: seen.append(x.numpy()), [3], [])
    with tf.Session() as session:
        assert session.run(both) == [3, 2.0]
        session.run(nothing)
    assert seen == [3]
    assert both[0].op.name.startswith("EagerPyFunc")


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (lambda x: tf.reshape(x, [2]), tf.errors.UnknownError, "Input to reshape is a tensor with 1 values"),
        (lambda x: None, tf.errors.InvalidArgumentError, "returns 0 values, but expects to see 1 values"),
        (lambda x: 1 / 0, tf.errors.UnknownError, "ZeroDivisionError: division by zero"),
    ],
)
def test_what_py_function_cannot_take_is_an_error(function: Any, error: type[Exception], text: str) -> None:
    out = tf.py_function(function, [1.0], tf.float32)
    with tf.Session() as session, pytest.raises(error, match=text):
        session.run(out)


def test_a_gradient_in_a_loop_has_the_tape_of_each_iteration() -> None:
    x = tf.constant(1.5)
    _, y = tf.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, tf.ensure_shape(tf.py_function(lambda a: a * a, [v], tf.float32), [])), [0, x]
    )
    with tf.Session() as session:
        assert session.run([y, *tf.gradients(y, x)]) == [1.5**8, 8 * 1.5**7]


def test_the_second_and_third_derivative_are_right() -> None:
    x = tf.constant(2.0)
    y = tf.py_function(lambda a: a**4.0, [x], tf.float32)
    first = tf.gradients(y, x)[0]
    second = tf.gradients(first, x)[0]
    third = tf.gradients(second, x)[0]
    with tf.Session() as session:
        assert session.run([y, first, second, third]) == [16.0, 32.0, 48.0, 48.0]


def test_integers_have_no_gradient_and_may_come_beside_floats() -> None:
    x, n = tf.constant(2.0), tf.constant(3)
    y, where = tf.py_function(lambda a, k: (a ** float(k), tf.argmax([a, 0.0])), [x, n], [tf.float32, tf.int64])
    gradient, none = tf.gradients(y, [x, n])
    assert none is None
    with tf.Session() as session:
        assert session.run([y, where, gradient]) == [8.0, 0, 12.0]


def test_a_step_that_was_run_before_the_gradient_was_asked_for_goes_on() -> None:
    x = tf.placeholder(tf.float32, [])
    y = tf.py_function(lambda a: a * a, [x], tf.float32)
    with tf.Session() as session:
        assert session.run(y, {x: 3.0}) == 9.0
        gradient = tf.gradients(y, x)[0]
        assert session.run(y, {x: 4.0}) == 16.0
        assert session.run([gradient, y], {x: 3.0}) == [6.0, 9.0]


def test_steps_in_threads_have_tapes_of_their_own() -> None:
    x = tf.placeholder(tf.float32, [])
    gradient = tf.gradients(tf.py_function(lambda a: a * a, [x], tf.float32), x)[0]
    with tf.Session() as session, ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda value: session.run(gradient, {x: float(value)}), range(40)))
    assert found == [2.0 * value for value in range(40)]


def test_a_node_of_the_graph_outside_is_refused() -> None:
    outside = tf.constant(2.0)
    y = tf.py_function(lambda a: a + outside, [1.0], tf.float32)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=r'a "Graph" tensor.*give the tensor to'):
        session.run(y)


def test_arrays_of_a_call_are_free_when_its_step_is_done() -> None:
    seen: list[weakref.ref[Any]] = []

    def function(a: Any) -> Any:
        made = tf.square(a)
        seen.append(weakref.ref(made))
        return tf.reduce_sum(made)

    x = tf.constant([1.0, 2.0])
    y = tf.py_function(function, [x], tf.float32)
    with tf.Session() as session:
        session.run(y)
        session.run(tf.gradients(y, x))
        session.run(y)
    assert _holds(lambda: [each() for each in seen] == [None, None, None])


def test_the_variables_of_a_call_go_with_the_last_who_has_them() -> None:
    kept: list[Any] = []

    def function(a: Any) -> Any:
        if not kept:
            kept.append(tf.Variable(a))
        return kept[0].assign_add(1.0).read_value() + tf.Variable(1.0)

    y = tf.py_function(function, [2.0], tf.float32)
    before = len(EAGER_STATE.resources.items())
    with tf.Session() as session:
        assert [session.run(y) for _ in range(3)] == [4.0, 5.0, 6.0]
    assert _holds(lambda: len(EAGER_STATE.resources.items()) == before + 2)
    kept.clear()
    assert _holds(lambda: len(EAGER_STATE.resources.items()) == before)


def test_operations_run_at_once_in_the_function_and_nowhere_else() -> None:
    seen: list[bool] = []

    def function(a: Any) -> Any:
        seen.append(tf.executing_eagerly())
        with tf.Graph().as_default():
            seen.append(tf.executing_eagerly())
            c = tf.constant(3.0) * 2.0
            with tf.Session() as session:
                return session.run(c)

    with tf.Session() as session:
        assert session.run(tf.py_function(function, [1.0], tf.float32)) == 6.0
    assert [*seen, tf.executing_eagerly()] == [True, False, False]


def test_what_a_failed_operation_was_to_make_is_not_there() -> None:
    def function(a: Any) -> Any:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Input to reshape is a tensor with 2 values"):
            tf.reshape(a, [3])
        with pytest.raises(ValueError, match="truth value of an array"):
            bool(a)
        with pytest.raises(TypeError, match="Scalar tensor has no"):
            len(a[0])
        with pytest.raises(TypeError, match="iterate over a scalar"):
            iter(a[0])
        with pytest.raises(NotImplementedError, match=r"is \.numpy\(\) what you're looking for"):
            a.eval()
        with pytest.raises(ValueError, match="not compatible with supplied shape"):
            a.set_shape([3])
        return a * 2.0

    x = tf.constant([1.0, 2.0])
    y = tf.py_function(function, [x], tf.float32)
    with tf.Session() as session:
        assert [each.tolist() for each in session.run([y, *tf.gradients(y, x)])] == [[2.0, 4.0], [2.0, 2.0]]
