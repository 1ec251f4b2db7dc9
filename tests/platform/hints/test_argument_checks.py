"""An argument that would fail later is refused where it is given; what does what is asked of it is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import weft as tf
from weft.framework.nodes.operation import Tensor
from weft.platform.hints.argument_checks import check_arguments


class _Writer:
    def write(self) -> None: ...


class _Like:
    """What a program has made in a writer's place."""


def _train(
    steps: int | None = None,
    name: str = "train",
    writer: _Writer | None = None,
    writers: Sequence[_Writer] = (),
    where: Tensor | None = None,
    done: Callable[[], object] | None = None,
) -> None:
    check_arguments(_train, steps=steps, name=name, writer=writer, writers=writers, where=where, done=done)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"steps": "5"}, "_train: steps is '5' (str); it takes int or None."),
        ({"steps": []}, "_train: steps is [] (list); it takes int or None."),
        ({"steps": np.zeros(2)}, "_train: steps is an array of shape (2,) and type float64; it takes int or None."),
        ({"name": None}, "_train: name is None; it takes str."),
        ({"name": 1.5}, "_train: name is 1.5 (float); it takes str."),
        ({"writer": "logs"}, "_train: writer is 'logs' (str); it takes _Writer or None."),
        ({"writers": ["logs"]}, "_train: writers is ['logs'] (list); it takes a list of _Writer."),
        ({"writers": "logs"}, "_train: writers is 'logs' (str); it takes a list of _Writer."),
        ({"where": "loss"}, "_train: where is 'loss' (str); it takes a tensor or None."),
        ({"done": "loss"}, "_train: done is 'loss' (str); it takes a function or None."),
    ],
)
def test_what_is_no_such_thing_is_refused_with_what_is_taken(given: dict[str, object], text: str) -> None:
    with pytest.raises(TypeError) as raised:
        _train(**given)  # type: ignore[arg-type]
    assert str(raised.value) == text


@pytest.mark.parametrize(
    "given",
    [
        {"steps": 1e3},
        {"steps": np.int64(5)},
        {"steps": np.array(5)},
        {"steps": True},
        {"steps": None},
        {"name": b"train"},
        {"writer": _Like()},
        {"writers": [_Like(), _Writer()]},
        {"writers": (_Writer(),)},
        {"done": print},
    ],
)
def test_numbers_of_any_kind_and_objects_of_the_program_are_taken(given: dict[str, object]) -> None:
    _train(**given)  # type: ignore[arg-type]


def test_parts_of_a_graph_are_taken_for_tensors_alone() -> None:
    with tf.Graph().as_default():
        variable = tf.get_variable("v", [])
        _train(where=tf.constant(1))
        _train(where=variable)
        with pytest.raises(TypeError, match=r"_train: steps is <tf\.Tensor 'Const_1:0'.*; it takes int or None\."):
            _train(steps=tf.constant(1))  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"_train: writer is <tf\.Operation.*; it takes _Writer or None\."):
            _train(writer=variable.initializer)  # type: ignore[arg-type]


def test_averages_and_slots_are_asked_by_tensors_too() -> None:
    with tf.Graph().as_default():
        loss = tf.square(tf.get_variable("w", []))
        average = tf.train.ExponentialMovingAverage(0.9)
        average.apply([loss])
        assert average.average(loss) is not None
