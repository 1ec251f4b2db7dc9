"""GradientTape: what it differentiates, and for what. Expected values are TensorFlow 1.15.5's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import weft as tf


class _Case:
    """A constant, a trained and a frozen variable."""

    def __init__(self) -> None:
        self.x = tf.constant(3.0)
        self.r = tf.get_variable("r", initializer=[1.0, 2.0], use_resource=True)
        self.frozen = tf.get_variable("frozen", initializer=4.0, trainable=False, use_resource=True)


@pytest.fixture
def case() -> Iterator[_Case]:
    with tf.Graph().as_default():
        yield _Case()


def _watched(case: _Case) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(case.x)
        y = case.x * case.x
    return tape.gradient({"y": y}, {"x": case.x, "r": case.r})


def _unwatched(case: _Case) -> Any:
    with tf.GradientTape() as tape:
        y = case.x * case.frozen
    return tape.gradient(y, [case.x, case.frozen])


def _variable(case: _Case) -> Any:
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(case.r * case.r)
    return tape.gradient(y, case.r)


def _reference_variable(case: _Case) -> Any:
    v = tf.Variable(2.0, use_resource=False)
    with tf.GradientTape() as tape:
        y = v * v
    return tape.gradient(y, v)


def _variables_by_hand(case: _Case) -> Any:
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(case.frozen)
        y = case.r * case.frozen
    return [tape.gradient(y, case.r), tape.gradient(y, case.frozen)]


def _before_the_tape(case: _Case) -> Any:
    z = case.r * 2.0
    with tf.GradientTape() as tape:
        y = z * case.r
    return tape.gradient(y, case.r)


def _persistent(case: _Case) -> Any:
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(case.x)
        y = case.x * case.x
        z = y * y
    return [tape.gradient(z, case.x), tape.gradient(y, case.x), tape.gradient(z, y)]


def _second_order(case: _Case) -> Any:
    with tf.GradientTape() as outer:
        outer.watch(case.x)
        with tf.GradientTape() as inner:
            inner.watch(case.x)
            y = case.x * case.x * case.x
        first = inner.gradient(y, case.x)
    return outer.gradient(first, case.x)


def _zero_for_unconnected(case: _Case) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(case.x)
        y = case.x * case.x
    zero = tf.UnconnectedGradients.ZERO
    return tape.gradient(y, [case.x, case.r], output_gradients=tf.constant(10.0), unconnected_gradients=zero)


def _stopped(case: _Case) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(case.x)
        y = case.x * case.x
        with tape.stop_recording():
            z = y * y
        w = y * 2.0
    return tape.gradient([z, w], case.x)


def _reset(case: _Case) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(case.x)
        y = case.x * case.x
        tape.reset()
        tape.watch(case.x)
        y += case.x
    return tape.gradient(y, case.x)


def _opened_again(case: _Case) -> Any:
    with tf.GradientTape() as tape:
        y = case.r * case.r
    with tape:
        z = y * 3.0
    return tape.gradient(z, case.r)


def _target_variable(case: _Case) -> Any:
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(case.r, case.r)


def _jacobian(case: _Case) -> Any:
    with tf.GradientTape() as tape:
        y = case.r * case.r
    return tape.jacobian(y, [case.r, case.x])


def _batch_jacobian(case: _Case) -> Any:
    a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = a * a
    return tape.batch_jacobian(y, a)


def _branch(case: _Case) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(case.x)
        y = tf.cond(case.x > 1.0, lambda: case.x * case.x * 2.0, lambda: case.x)
    return tape.gradient(y, case.x)


# Where TensorFlow 1.15 has no gradient for reference variables and branches, it is that of tf.gradients.
_GRADIENTS: list[tuple[Callable[[_Case], Any], Any]] = [
    (_watched, {"x": 6.0, "r": None}),
    (_unwatched, [None, None]),
    (_variable, [2.0, 4.0]),
    (_reference_variable, 4.0),
    (_variables_by_hand, [None, 3.0]),
    (_before_the_tape, [2.0, 4.0]),
    (_persistent, [108.0, 6.0, 18.0]),
    (_second_order, 18.0),
    (_zero_for_unconnected, [60.0, [0.0, 0.0]]),
    (_stopped, 12.0),
    (_reset, 1.0),
    (_opened_again, [6.0, 12.0]),
    (_target_variable, [1.0, 1.0]),
    (_jacobian, [[[2.0, 0.0], [0.0, 4.0]], None]),
    (_batch_jacobian, [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]),
    (_branch, 12.0),
]


@pytest.mark.parametrize(("program", "expected"), _GRADIENTS, ids=lambda each: getattr(each, "__name__", "").strip("_"))
def test_gradients_go_through_what_was_recorded(case: _Case, program: Callable[[_Case], Any], expected: Any) -> None:
    made = program(case)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def plain(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: plain(each) for key, each in value.items()}
            if isinstance(value, list):
                return [plain(each) for each in value]
            return None if value is None else session.run(value).tolist()

        assert plain(made) == expected


def _twice(case: _Case) -> None:
    with tf.GradientTape() as tape:
        y = case.r * case.r
    tape.gradient(y, case.r)
    tape.gradient(y, case.r)


def _entered_twice(case: _Case) -> None:
    with tf.GradientTape() as tape, tape:
        pass


def _watched_text(case: _Case) -> None:
    with tf.GradientTape() as tape:
        tape.watch("text")


def _other_batches(case: _Case) -> None:
    with tf.GradientTape() as tape:
        tape.batch_jacobian(tf.ones([2, 1]), tf.ones([1, 2]))


@pytest.mark.parametrize(
    ("mistake", "error", "text"),
    [
        (_twice, RuntimeError, "can only be called once on non-persistent tapes"),
        (_entered_twice, ValueError, "Tape is already recording"),
        (_watched_text, ValueError, "Passed in object of type <class 'str'>, not tf.Tensor"),
        (_other_batches, ValueError, r"Need first dimension of target shape \(\(2, 1\)\) and source shape \(\(1, 2\)\)"),
    ],
)
def test_mistakes_are_named(case: _Case, mistake: Callable[[_Case], None], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        mistake(case)


def test_watched_variables_are_those_that_were_used(case: _Case) -> None:
    tf.get_variable("unused", initializer=1.0, use_resource=True)
    with tf.GradientTape() as tape:
        case.r * case.frozen
    assert [each.name for each in tape.watched_variables()] == ["r:0"]
