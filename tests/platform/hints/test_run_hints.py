"""What session.run gave is told apart from what the program took it for."""

from __future__ import annotations

import linecache

import pytest

import weft as tf
from weft.platform.hints.call_hints import hint_for


def _hint(error: type[Exception], program: str) -> str:
    """The hint for a program, which has a session and a constant `x`."""
    linecache.cache["run_hints.py"] = (len(program), None, program.splitlines(True), "run_hints.py")
    with tf.Graph().as_default(), tf.Session() as sess:
        names = {"tf": tf, "sess": sess, "x": tf.constant(1.0), "done": tf.no_op(name="done")}
        with pytest.raises(error) as caught:
            exec(compile(program, "run_hints.py", "exec"), names)
    return hint_for(caught.value)


def test_one_fetch_has_one_value() -> None:
    assert "run returns one value for one fetch, that of x" in _hint(TypeError, "a, b = sess.run(x)\n")


def test_as_many_values_as_fetches() -> None:
    hint = _hint(ValueError, "a, b, c = sess.run([x, x])\n")
    assert hint == "run returns one value for each fetch, 2 here, and there are 3 names for them."


def test_the_value_of_an_operation_is_none() -> None:
    assert "loss is what run gave for done: None" in _hint(TypeError, "loss = sess.run(done)\n2.0 * loss\n")
    assert "loss is what run gave for done: None" in _hint(TypeError, "_, loss = sess.run([x, done])\n2.0 * loss\n")
    assert "loss is what run gave for done: None" in _hint(AttributeError, "loss = sess.run(done)\nloss.shape\n")


def test_fetches_by_position_are_one_list() -> None:
    assert "sess.run([x, x], feed_dict)" in _hint(TypeError, "sess.run(x, x)\n")


def test_none_of_a_function_of_wefts_says_why() -> None:
    hint = _hint(AttributeError, "found = tf.train.latest_checkpoint('nowhere')\nfound.encode()\n")
    assert hint.startswith("tf.train.latest_checkpoint('nowhere') is None: the folder has no checkpoint")
    assert "get_or_create_global_step()" in _hint(AttributeError, "tf.train.get_global_step().eval()\n")
    assert _hint(AttributeError, "found = None\nfound.encode()\n") == ""


def test_a_function_without_a_text_on_its_result_is_told_by_its_first_sentence() -> None:
    hint = _hint(ValueError, "a, b = tf.hessians(x * x, x)\n")
    assert hint.startswith("tf.hessians returns: The matrices of second derivatives of the sum of `ys`")
