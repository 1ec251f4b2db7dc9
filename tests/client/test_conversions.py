"""Programs teach sessions to fetch and feed classes of their own."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf
from tests.client.conftest import OpenSession
from weft.client import conversions
from weft.client.conversions import register_session_run_conversion_functions


class Squared:
    """Stands for a tensor and its square."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.square = tf.square(tensor)


class Cubed(Squared):
    """A subclass."""


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversions, "_CONVERSIONS", list(conversions._CONVERSIONS))
    register_session_run_conversion_functions(
        Squared,
        lambda squared: ([squared.tensor, squared.square], tuple),
        lambda squared, value: [(squared.square, value)],
        lambda squared: [squared.square],
    )


def test_an_instance_is_fetched_and_fed(open_session: OpenSession) -> None:
    session = open_session()
    squared = Squared(tf.constant(3))
    assert session.run(squared) == (3, 9)
    assert session.run({"k": [squared]}, {squared: 50}) == {"k": [(3, 50)]}
    assert session.run(squared.square + 1, {squared: 50}) == 51
    assert session.run(Cubed(tf.constant(2))) == (2, 4)


def test_an_instance_is_fed_to_a_run_in_pieces(open_session: OpenSession) -> None:
    session = open_session()
    squared = Squared(tf.constant(3))
    result = squared.square * 2
    handle = session.partial_run_setup([result], [squared])
    assert session.partial_run(handle, result, {squared: 10}) == 20


def test_a_class_is_registered_once() -> None:
    with pytest.raises(ValueError, match="has already been registered so ignore it"):
        register_session_run_conversion_functions(Squared, lambda squared: ([], list))


def test_a_class_without_a_feed_function_is_not_fed() -> None:
    class Fetched:
        """Is fetched only."""

    one = tf.constant(1)
    register_session_run_conversion_functions(Fetched, lambda fetched: ([one], lambda values: values[0]))
    with tf.Session() as session:
        assert session.run(Fetched()) == 1
        with pytest.raises(TypeError, match="registered without a function that feeds"):
            session.run(one, {Fetched(): 1})
        with pytest.raises(ValueError, match="registered without a function for partial runs"):
            session.partial_run_setup(one, [Fetched()])


def test_a_sparse_feed_may_leave_a_constant_shape_out() -> None:
    sparse = tf.sparse_placeholder(tf.float32, [2, 2])
    with tf.Session() as session:
        assert session.run(tf.sparse_reduce_sum(sparse), {sparse: ([[0, 1]], [2.0])}) == 2
