"""A call that Python has refused is answered with what it takes: functions, messages, attributes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import weft as tf
from weft.platform.hints.call_hints import hint_for


def _error_of(call: Callable[[], object]) -> Exception:
    try:
        call()
    except Exception as error:
        return error
    pytest.fail("nothing was raised")


def _own(value: int) -> int:
    return value


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: tf.summary.scalar(nmae="x", tensor=1.0), "scalar takes name, tensor, "),
        (lambda: tf.layers.dense(1.0, unit=3), "Did you mean 'units'?"),
        (lambda: tf.one_hot([1]), "needed: indices, depth."),
        (lambda: tf.data.Dataset.range(3).shuffle(), "shuffle takes buffer_size, "),
        (lambda: tf.train.Int64List(value=3), "Int64List takes value, a list of int64."),
        (lambda: tf.train.Feature(int64_list=tf.train.FloatList()), "Feature takes int64_list of type Int64List."),
        (lambda: tf.ConfigProto(allow_softplacement=True), "Did you mean 'allow_soft_placement'?"),
        (lambda: setattr(tf.GPUOptions(), "allow_grow", True), "Did you mean 'allow_growth'?"),
        (lambda: tf.train.Example(feature={}), "Did you mean 'features'?"),
    ],
)
def test_what_a_call_takes(call: Callable[[], object], hint: str) -> None:
    assert hint in hint_for(_error_of(call))


@pytest.mark.parametrize(
    "call",
    [lambda: _own(), lambda: _own(valve=3), lambda: int("x"), lambda: {}["x"], lambda: "text".no_such_method()],  # type: ignore
)
def test_errors_that_are_no_business_of_wefts_get_no_hint(call: Callable[[], object]) -> None:
    assert hint_for(_error_of(call)) == ""


def test_a_value_that_is_called_is_told_as_such() -> None:
    graph = tf.Graph()
    assert hint_for(_error_of(lambda: graph.version())) == "graph.version is a value, no method: leave out the parentheses."
