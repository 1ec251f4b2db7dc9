"""Defun gives a function typed arguments and a gradient; a call's results have the name of the call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from weft.python.framework import function

import weft as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def _values(fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches)


def test_a_call_has_the_name_and_the_values_of_its_function() -> None:
    @function.Defun(tf.float32, tf.float32, func_name="SumAndDifference")
    def both(a: tf.Tensor, b: tf.Tensor) -> list[tf.Tensor]:
        return [a + b, a - b]

    first, second = both(tf.constant(5.0), 3.0), both(1.0, 2.0, name="again")
    assert [each.name for each in (*first, *second)] == [
        "SumAndDifference:0", "SumAndDifference:1", "again:0", "again:1",
    ]  # fmt: skip
    assert (both.name, both.declared_input_types) == ("SumAndDifference", [tf.float32, tf.float32])
    assert _values([first, second]) == [(8.0, 2.0), (3.0, -1.0)]


@function.Defun(tf.float32, tf.float32)
def _hundred_times(x: tf.Tensor, dy: tf.Tensor) -> tf.Tensor:
    return 100.0 * dy


@pytest.mark.parametrize(
    ("options", "gradient"),
    [
        ({}, 6.0),
        ({"noinline": True}, 6.0),
        ({"grad_func": _hundred_times}, 100.0),
        ({"python_grad_func": lambda call, dy: dy * 7.0 * call.inputs[0] * call.outputs[0]}, 189.0),
    ],
)
def test_a_gradient_is_that_of_the_nodes_or_the_one_that_was_given(options: dict[str, Any], gradient: float) -> None:
    square = function.Defun(tf.float32, **options)(lambda x: x * x)
    x = tf.constant(3.0)
    assert _values(tf.gradients(square(x), x)) == [gradient]


def test_a_function_uses_what_is_around_it() -> None:
    factor, x = tf.constant(5.0), tf.constant(3.0)
    scaled = function.Defun(tf.float32)(lambda each: each * factor)(x)
    assert _values([scaled, tf.gradients(scaled, [x, factor])]) == [15.0, [5.0, 3.0]]


def test_a_result_without_a_gradient_of_its_own_arrives_as_zeros() -> None:
    @function.Defun(tf.float32, tf.float32, tf.float32)
    def sums(x: tf.Tensor, da: tf.Tensor, db: tf.Tensor) -> tf.Tensor:
        return da + 10.0 * db

    pair = function.Defun(tf.float32, grad_func=sums)(lambda x: (x * 2.0, x * 3.0))
    x = tf.constant(1.0)
    assert _values(tf.gradients(pair(x)[1], x)) == [10.0]


def test_a_function_without_result_gives_an_operation() -> None:
    v = tf.Variable(1.0)

    @function.Defun(tf.float32)
    def add(x: tf.Tensor) -> None:
        tf.assign_add(v, x)

    done = add(2.0)
    assert isinstance(done, tf.Operation)
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(done)
        assert session.run(v) == 3.0


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda: function.Defun(tf.float32, gradient=None), TypeError, "has no option 'gradient'"),
        (lambda: function.Defun(tf.float32)(3), ValueError, "function 3 must be callable"),
        (lambda: function.Defun(tf.float32, tf.float32)(lambda x: x), ValueError, "has fewer arguments than"),
        (lambda: function.Defun(tf.float32)(lambda x, y: x), ValueError, "has more arguments than"),
        (lambda: function.Defun(tf.float32)(lambda x: x)(1.0, 2.0), ValueError, "Expected number of arguments: 1, received: 2"),
        (lambda: function.Defun(tf.float32)(lambda x: x)(tf.constant(1)), ValueError, "passed int32 expected float32"),
    ],
)
def test_what_does_not_fit_is_refused(make: Callable[[], object], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        make()


def test_a_copy_of_a_call_has_the_gradient_of_its_own_arguments() -> None:
    @function.Defun(tf.float32, tf.float32, tf.float32, tf.float32)
    def gradient(x: tf.Tensor, y: tf.Tensor, dx: tf.Tensor, dy: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return x + dx, y + dy

    both = function.Defun(tf.float32, tf.float32, grad_func=gradient)(lambda x, y: (x + y, x - y))
    with tf.Graph().as_default() as graph:
        both(tf.placeholder(tf.float32, [], "x"), tf.placeholder(tf.float32, [], "y"), name="f")
    written = graph.as_graph_def()
    for _ in range(2):
        with tf.Graph().as_default() as copy:
            x, y, total = tf.import_graph_def(written, return_elements=["x:0", "y:0", "f:0"], name="")
            found = tf.gradients(total, [x, y])
            with tf.Session() as session:
                assert session.run([total, found], {x: 1.0, y: 2.0}) == [3.0, [2.0, 2.0]]
        written = copy.as_graph_def()


def test_options_that_tensorflow_writes_into_a_function_are_taken() -> None:
    half = function.Defun(tf.float32, experimental_tag="a", _implements="half", _reference="b")(lambda x: x / 2.0)
    assert _values(half(tf.constant(3.0))) == 1.5


def test_all_calls_in_a_graph_have_the_variables_of_the_first() -> None:
    @function.Defun(tf.float32)
    def scaled(x: tf.Tensor) -> tf.Tensor:
        return x * tf.get_variable("w", [], initializer=tf.constant_initializer(2.0))

    with tf.variable_scope("first"):
        calls = [scaled(1.0)]
    calls.append(scaled(3.0))
    with tf.variable_scope("second"):
        calls.append(scaled(4.0))
    (w,) = tf.global_variables()
    assert w.name == "first/w:0"
    gradients = tf.gradients(calls, [w])
    with tf.Session() as session:
        session.run(w.initializer)
        assert session.run([calls, gradients]) == [[2.0, 6.0, 8.0], [8.0]]
    with tf.Graph().as_default():
        scaled(1.0)
        assert [each.name for each in tf.global_variables()] == ["w:0"]


def test_an_argument_that_no_gradient_reaches_has_zeros_for_one() -> None:
    both = function.Defun(tf.float32, tf.float32)(lambda x, y: (x * 2.0, tf.stop_gradient(y)))
    x, y = tf.constant([1.0, 2.0]), tf.constant(3.0)
    doubled, stopped = both(x, y)
    found = [_values(tf.gradients(result, [x, y])) for result in (doubled, stopped)]
    assert [(of_x.tolist(), float(of_y)) for of_x, of_y in found] == [([2.0, 2.0], 0.0), ([0.0, 0.0], 0.0)]
