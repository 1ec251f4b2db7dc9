"""An error of Python's in a function of weft names the argument that its annotation does not allow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import weft as tf
from weft.platform.hints.argument_hints import hint_for_arguments


def _hint(call: Callable[[], object]) -> str:
    with tf.Graph().as_default():
        try:
            call()
        except Exception as error:
            return hint_for_arguments(error, str(error))
    pytest.fail("nothing was raised")


def _variable() -> tf.Variable:
    return tf.get_variable("w", [3])


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: tf.train.Saver([_variable()], max_to_keep="all"), "Saver: max_to_keep is 'all' (str); it takes int or None."),
        (lambda: tf.nn.softmax(tf.zeros([2, 3]), "1"), "softmax: axis is '1' (str); it takes int or a tensor or None."),
        (lambda: tf.nn.leaky_relu(tf.zeros([3]), "name"), "leaky_relu: alpha is 'name' (str); it takes float."),
        (
            lambda: tf.variables_initializer(_variable()),
            "var_list is <tf.Variable 'w:0' shape=(3,) dtype=float32_ref>; it takes a list of variables.",
        ),
        (
            lambda: tf.saved_model.simple_save(tf.Session(), "model", [1], {}),
            "simple_save: inputs is [1] (list); it takes a dict of names to tensors.",
        ),
    ],
)
def test_the_argument_is_named_with_what_it_takes(call: Callable[[], object], hint: str) -> None:
    assert hint in _hint(call)


def test_the_function_is_named_as_the_program_names_it() -> None:
    def program() -> object:
        return tf.nn.leaky_relu(tf.zeros([3]), "name")

    assert _hint(program).startswith("tf.nn.leaky_relu: ")


def test_a_short_text_that_names_nothing_gets_the_call() -> None:
    def program() -> object:
        return tf.expand_dims(tf.zeros([2]))

    assert "In tf.expand_dims(input=" in _hint(program)


def test_errors_of_the_program_and_texts_that_say_enough_get_none() -> None:
    assert _hint(lambda: {}["x"]) == ""
    assert _hint(lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3]))) == ""
    assert _hint(lambda: tf.train.Saver()) == ""


def test_a_large_value_is_told_by_its_shape() -> None:
    assert "an array of shape (200, 3) and type float64" in _hint(lambda: tf.variables_initializer(np.zeros([200, 3])))
