"""Branches and loops of Python over tensors as nodes. Expected values and messages are TensorFlow 1.15.5's."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf


def _run(value: Any) -> Any:
    with tf.Session() as session:
        return session.run(value)


def _built(function: Callable[..., Any], *args: Any) -> Any:
    return tf.autograph.to_graph(function)(*args)


def _early(x: Any) -> Any:
    if x > 0:
        return x
    return -x


def _jumps(x: Any) -> Any:
    s = 0
    for i in tf.range(10):
        if i == 3:  # never: `==` tells whether both are one object
            continue
        if i > x:
            break
        s += i
    return s


def _squares(x: Any) -> Any:
    while x < 10:
        x = x * x
    return x


def _logic(x: Any) -> Any:
    return (x > 0 and x < 5) or not x < 9, x if x > 3 else -x, x > 2 and True, False or x > 5


def _builtins(n: Any) -> Any:
    s = 0
    for i in range(n):
        s += i
    return s, len(tf.ones([n, 2])), int(tf.constant(3.5)), float(n), abs(-n)


def _rows(x: Any) -> Any:
    s = 0
    for row in tf.reshape(tf.range(6), [3, 2]):
        s += tf.reduce_sum(row) * x
    return s


def _of_python(x: Any) -> Any:
    i = 0
    while i < 3:
        x += 1
        i += 1
    while True:
        x += 1
        if i > 3:
            break
        i += 1
    return x


def _array(n: Any) -> Any:
    made = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    for i in tf.range(n):
        made = made.write(i, i * i)
    return made.stack()


class _Scaler:
    def __init__(self) -> None:
        self.k = 2

    def chosen(self, x: Any) -> Any:
        if x > 3:
            self.k = x
        return self.k

    def __call__(self, x: Any) -> Any:
        while x < 10:
            x *= 2
        return x


def _nested(x: Any) -> Any:
    scaler = _Scaler()
    return _early(x), (lambda y: _early(y) + 1)(x), scaler.chosen(x), scaler(x)


@pytest.mark.parametrize(
    ("function", "argument", "expected"),
    [
        (_early, -3, 3), (_jumps, 6, 21), (_squares, 2, 16), (_logic, 3, (True, -3, True, False)),
        (_builtins, 3, (3, 3, 3, 3.0, 3)),
        (_rows, 2, 30), (_of_python, 1, 6), (_array, 3, [0, 1, 4]), (_nested, 1, (1, 2, 2, 16)),
    ],
)  # fmt: skip
def test_functions_of_a_tensor_run_as_those_of_a_number(function: Callable[..., Any], argument: int, expected: Any) -> None:
    given = tf.placeholder(tf.int32, [])
    with tf.Session() as session:
        found = session.run(_built(function, given), {given: argument})
    for one, other in zip(np.atleast_1d(np.array(found, object)), np.atleast_1d(np.array(expected, object)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_translated_function_takes_values_of_python_as_before() -> None:
    assert _built(_early, -3) == 3
    assert _built(_squares, 3) == 81


def _no_else(x: Any) -> Any:
    if x > 0:
        return x


def _undefined(x: Any) -> Any:
    if x > 0:
        y = x
    return y


def _undefined_before_loop(x: Any) -> Any:
    while x > 0:
        y = x
        x -= 1
    return y


def _other_type(x: Any) -> Any:
    s = 0
    while x < 3:
        s = tf.cast(x, tf.float32)
        x += 1
    return s


def _other_shape(x: Any) -> Any:
    s = tf.ones([1])
    while x < 3:
        s = tf.concat([s, s], 0)
        x += 1
    return s


def _types_of_branches(x: Any) -> Any:
    if x > 3:
        y: Any = 1
    else:
        y = 2.0
    return y


def _return_in_loop(x: Any) -> Any:
    for i in tf.range(10):
        if i > x:
            return i
    return x


def _tensor_later(x: Any) -> Any:
    while True:
        x += 1
        if x > 10:
            break
    return x


def _assertion(x: Any) -> Any:
    assert x > 0
    return x


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (_no_else, ValueError, "A value must also be returned from the else branch. If a value is returned from one branch"),
        (_undefined, ValueError, r"must also be initialized in the else branch: \('y',\). Alternatively, you may initialize"),
        (_undefined_before_loop, ValueError, r"the following symbols must be defined before the loop: \('y',\)"),
        (_other_type, TypeError, '"s" has dtype int32 before the loop, but dtype float32 after one iteration.'),
        (_other_shape, ValueError, r'"s" has shape \(1,\) before the loop, but shape \(2,\) after one iteration.'),
        (_types_of_branches, TypeError, '"y" has dtype int32 in the TRUE branch, but dtype=float32 in the FALSE branch.'),
        (_return_in_loop, ValueError, "return statements are not supported within a TensorFlow loop."),
        (_tensor_later, TypeError, "using a `tf.Tensor` as a Python `bool` is not allowed: AutoGraph did not convert this"),
        (_assertion, TypeError, "using a `tf.Tensor` as a Python `bool` is not allowed: AutoGraph did not convert this"),
    ],
)
def test_what_cannot_be_nodes_is_refused_at_the_program_s_line(
    function: Callable[..., Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        _built(function, tf.constant(2))
    assert re.search(rf"in converted code:\n\n    .*test_convert.py:\d+ {function.__name__}  \*", str(caught.value))


def test_untranslated_conditions_are_refused_as_tensorflow_does() -> None:
    with pytest.raises(
        TypeError, match=r"using a `tf\.Tensor` as a Python `bool` is not allowed in Graph execution. Use Eager"
    ):
        _early(tf.constant(1))
    with pytest.raises(TypeError, match=r"iterating over `tf\.Tensor` is not allowed in Graph execution"):
        list(tf.range(3))

    @tf.autograph.experimental.do_not_convert
    def plain(x: Any) -> Any:
        return _early(x)

    with pytest.raises(TypeError, match="AutoGraph is disabled in this function"):
        _built(lambda x: plain(x), tf.constant(1))


def test_errors_of_nodes_name_the_program_s_line() -> None:
    def wrong(x: Any) -> Any:
        if x > 0:
            x = tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
        return x

    with pytest.raises(ValueError, match=r"(?s)Dimensions must be equal.*ones \[2,3\] float32 .*\(test_convert.py:\d+\)"):
        _built(wrong, tf.constant(1))


def test_features_translate_assertions_prints_and_comparisons(capfd: pytest.CaptureFixture[str]) -> None:
    def checked(x: Any) -> Any:
        assert x > 0, "not above zero"
        if x == 3:
            x = x + 1
        print(x)
        return x

    every = tf.autograph.to_graph(checked, experimental_optional_features=tf.autograph.experimental.Feature.ALL)
    given = tf.placeholder(tf.int32, [])

    @tf.function(experimental_autograph_options=tf.autograph.experimental.Feature.ALL)
    def called(x: Any) -> Any:
        return checked(x)

    with tf.Session() as session:
        assert session.run(every(given), {given: 3}) == 4
        assert session.run(called(given), {given: 3}) == 4
        assert "4" in capfd.readouterr().out
        with pytest.raises(tf.errors.InvalidArgumentError, match="not above zero"):
            session.run(called(given), {given: -1})


def test_what_is_no_function_is_refused() -> None:
    for each in (3, abs, _Scaler):
        with pytest.raises(NotImplementedError, match="cannot convert entity"):
            tf.autograph.to_graph(each)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Optional features are values of"):
        tf.autograph.to_graph(_early, experimental_optional_features="ALL")


def test_a_function_without_source_is_called_as_it_is() -> None:
    scope: dict[str, Any] = {}
    exec(compile("def f(x):\n    if x > 0:\n        return x\n    return -x\n", "<typed>", "exec"), scope)
    assert tf.contrib.autograph.convert()(scope["f"])(-2) == 2
    with pytest.raises(ValueError, match="converting"):
        tf.autograph.to_graph(scope["f"])


def test_the_source_of_a_translation_is_told() -> None:
    code = tf.autograph.to_code(_early)
    assert "ag__.if_stmt(" in code
    assert tf.autograph.to_graph(_early).__name__ == "tf___early"


def test_former_names_and_marks_of_loops(capsys: pytest.CaptureFixture[str]) -> None:
    @tf.contrib.autograph.convert(recursive=True)
    def counted(x: Any) -> Any:
        while x < 10:
            tf.autograph.experimental.set_loop_options(maximum_iterations=2)
            x += 1
        return x

    assert _run(counted(tf.constant(3))) == 10
    tf.autograph.set_verbosity(1)
    tf.autograph.trace(1, 2)
    assert capsys.readouterr().out == "1 2\n"


def test_a_dataset_s_functions_are_translated() -> None:
    def chosen(x: Any) -> Any:
        if x > 1:
            return x
        else:
            return -x

    made = tf.data.Dataset.range(6).filter(lambda x: x > 0 and x < 4).map(chosen).batch(3)
    assert list(_run(tf.data.make_one_shot_iterator(made).get_next())) == [-1, 2, 3]


def test_the_call_of_a_layer_is_translated() -> None:
    class Positive(tf.keras.layers.Layer):
        def call(self, inputs: Any) -> Any:
            if tf.reduce_sum(inputs) > 0:
                return inputs
            return -inputs

    class Older(tf.layers.Layer):
        def call(self, inputs: Any) -> Any:
            for _ in tf.range(3):
                inputs += 1.0
            return inputs

    given = -tf.ones([2])
    assert list(_run(Positive()(given))) == [1.0, 1.0]
    assert list(_run(Older()(given))) == [2.0, 2.0]


def test_a_loop_takes_no_names_of_nodes_behind_it() -> None:
    def halved(x: Any) -> Any:
        while x > 1.0:
            x /= 2.0
        return x

    made = _built(halved, tf.constant(7.0))
    assert (tf.greater(made, 1.0).name, tf.constant(1).name) == ("Greater:0", "Const_1:0")


def test_gradients_go_through_loops_and_branches() -> None:
    def weighed(x: Any) -> Any:
        for i in tf.range(tf.shape(x)[0]):
            if x[i] > 2.0:
                x = x * x
        return tf.reduce_sum(x)

    x = tf.constant([1.0, 2.0, 3.0])
    y = _built(weighed, x)
    total, slope = _run([y, tf.gradients(y, x)[0]])
    assert (total, list(slope)) == (14.0, [2.0, 4.0, 6.0])


def test_an_error_that_is_caught_has_its_name() -> None:
    def careful(x: Any) -> Any:
        told = ""
        try:
            if x > 2:
                x = x * 2
            raise ValueError("none")
        except ValueError as error:
            told = str(error)
        return x if told == "none" else -x

    assert _run(_built(careful, tf.constant(3))) == 6
