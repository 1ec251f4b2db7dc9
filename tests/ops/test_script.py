from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.framework.graph import Graph


def _run(func: Any, inputs: Any, Tout: Any) -> Any:
    with Graph().as_default() as graph:
        result = tf.py_func(func, inputs, Tout)
        with tf.Session(graph=graph) as session:
            return session.run(result)


def test_a_function_gets_arrays_and_gives_arrays() -> None:
    assert _run(lambda a, b: a + b, [np.float32([1, 2]), 3.0], tf.float32).tolist() == [4.0, 5.0]
    first, second = _run(lambda a: (a, a.astype(np.int64)), [np.float32([1, 2])], [tf.float32, tf.int64])
    assert (first.dtype, second.dtype) == (np.float32, np.int64)


def test_scalars_arrive_as_scalars_and_strings_as_bytes() -> None:
    seen: list[Any] = []
    _run(lambda a, b: seen.extend([a, b]), [np.float32(2), "x\0"], [])
    assert isinstance(seen[0], np.float32)
    assert seen[1] == b"x\0"


def test_text_becomes_utf_8() -> None:
    assert _run(lambda: "é", [], tf.string) == "é".encode()


@pytest.mark.parametrize(
    ("func", "Tout", "error", "text"),
    [
        (lambda: 1.0, tf.float32, "InvalidArgumentError", r"0-th value returned by pyfunc_\d+ is double, but expects float"),
        (lambda: (1, 2), tf.int64, "InvalidArgumentError", r"pyfunc_\d+ returns 2 values, but expects to see 1 values."),
        (lambda: int("x"), tf.int64, "InvalidArgumentError", "ValueError: invalid literal"),
        (lambda: {}["x"], tf.int64, "UnknownError", "KeyError: 'x'"),
        (lambda: next(iter(())), tf.int64, "OutOfRangeError", "StopIteration"),
    ],
)  # fmt: skip
def test_what_a_function_does_wrong_is_told_in_tensorflows_words(func: Any, Tout: Any, error: str, text: str) -> None:
    with pytest.raises(getattr(tf.errors, error), match=text):
        _run(func, [], Tout)


def test_only_functions_can_be_called() -> None:
    with Graph().as_default(), pytest.raises(ValueError, match="Expected func to be callable"):
        tf.py_func(3, [], tf.int32)


def test_a_function_lives_as_long_as_its_graph() -> None:
    class Callback:
        def __call__(self) -> Any:
            return np.float32(1)

    callback = Callback()
    alive = weakref.ref(callback)
    graph = Graph()
    with graph.as_default():
        tf.py_func(callback, [], tf.float32)
    del callback
    gc.collect()
    assert alive() is not None
    del graph
    gc.collect()
    assert alive() is None


def test_py_function_names_its_alternative() -> None:
    with pytest.raises(NotImplementedError, match="py_func"):
        tf.py_function(lambda: 1, [], tf.int32)
