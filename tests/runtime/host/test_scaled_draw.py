"""Arithmetic with scalars on random numbers is done while they are drawn, and gives what it gives node by node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.runtime.host.scaled_draw import ScaledDraw

SHAPE = [3, 4000]

DRAWS: dict[str, Callable[[Any], Any]] = {
    "uniform": lambda dtype: tf.random_uniform(SHAPE, -2, 5, dtype, seed=3),
    "normal": lambda dtype: tf.random_normal(SHAPE, 0.5, 3, dtype, seed=3),
    "truncated": lambda dtype: tf.truncated_normal(SHAPE, 0.5, 3, dtype, seed=3),
}


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A number for each draw that was scaled at once: how many nodes it did."""
    found: list[int] = []
    run = ScaledDraw.run

    def noting(self: ScaledDraw, *arguments: Any) -> None:
        found.append(1 + len(self._steps))
        run(self, *arguments)

    monkeypatch.setattr(ScaledDraw, "run", noting)
    return found


def _node_by_node(tensor: tf.Tensor) -> np.ndarray:
    """The value in a run that fetches the operands too, so that each is an array of its own."""
    chain = [tensor]
    while chain[-1].op.type != "Placeholder" and chain[-1].op.inputs and "Random" not in chain[-1].op.type:
        if chain[-1].op.type == "TruncatedNormal":
            break
        chain.append(next(each for each in chain[-1].op.inputs if each.shape.as_list() == SHAPE))
    with tf.Session() as session:
        return session.run(chain)[0]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("kind", DRAWS)
def test_numbers_are_the_same_bits_as_node_by_node(graph: tf.Graph, drawn: list[int], kind: str, dtype: Any) -> None:
    made = DRAWS[kind](dtype)
    with tf.Session() as session:
        at_once = session.run(made)
    assert drawn == [3]
    np.testing.assert_array_equal(at_once, _node_by_node(made))
    assert drawn == [3]


def test_numbers_of_half_precision_are_scaled_when_they_are_rounded(graph: tf.Graph, drawn: list[int]) -> None:
    made = DRAWS["normal"](tf.float16)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(made), _node_by_node(made))
    assert drawn == []


def test_a_scalar_may_be_fed_and_stand_first(graph: tf.Graph, drawn: list[int]) -> None:
    scalar = tf.placeholder(tf.float32, [])
    made = scalar - tf.random_uniform([5], seed=1) * scalar
    with tf.Session() as session:
        first = session.run(made, {scalar: 2.0})
    assert drawn[0] >= 2
    with tf.Session() as session:
        unit = session.run(tf.random_uniform([5], seed=1))
    assert first.shape == unit.shape
    assert ((first > 0) & (first <= 2)).all()


def test_an_array_is_no_scalar_and_what_others_use_stays_as_it_is(graph: tf.Graph, drawn: list[int]) -> None:
    unit = tf.random_uniform([4], seed=1)
    widened, doubled = unit + tf.zeros([2, 4]), unit * 2.0
    with tf.Session() as session:
        values = session.run([widened, doubled])
    np.testing.assert_array_equal(values[0][1] * 2, values[1])
    assert all(nodes <= 3 for nodes in drawn)


def test_an_error_of_the_draw_names_its_node(graph: tf.Graph) -> None:
    size = tf.placeholder(tf.int32, [1])
    made = tf.random_normal(size, stddev=2.0, name="initial")
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="initial"):
        session.run(made, {size: [-1]})
