"""A run has the nodes that its fetches and targets need, in the order in which the program made them."""

from __future__ import annotations

import pytest

import weft as tf
from weft.errors import InvalidArgumentError
from weft.passes.prune import prune


def names(ops: list[tf.Operation]) -> list[str]:
    return [op.name for op in ops]


def test_only_what_is_needed_is_kept() -> None:
    a = tf.constant(1.0, name="a")
    b = tf.negative(a, name="b")
    tf.negative(b, name="unused")
    assert names(prune([b], [], [])) == ["a", "b"]
    assert names(prune([], [], [a.op])) == ["a"]
    assert prune([], [], []) == []


def test_a_fed_tensor_needs_nothing() -> None:
    a = tf.constant(1.0, name="a")
    b = tf.negative(a, name="b")
    c = tf.negative(b, name="c")
    assert names(prune([c], [b], [])) == ["c"]
    assert prune([b], [b], []) == []
    assert names(prune([c], [b], [b.op])) == ["a", "b", "c"]


def test_control_inputs_are_needed() -> None:
    with tf.control_dependencies([tf.no_op(name="first")]):
        last = tf.no_op(name="last")
    assert names(prune([], [], [last])) == ["first", "last"]


def test_waiting_for_a_fed_placeholder_is_waiting_for_nothing() -> None:
    placeholder = tf.placeholder(tf.float32)
    with tf.control_dependencies([placeholder]):
        last = tf.no_op(name="last")
    assert names(prune([], [placeholder], [last])) == ["last"]


def test_what_no_edge_orders_keeps_the_programs_order() -> None:
    variable = tf.Variable(0.0, name="v", use_resource=False)
    updates = [variable.assign_add(1.0, name=f"update_{index}").op for index in range(5)]
    ops = prune([], [], list(reversed(updates)))
    assert [op for op in ops if op in updates] == updates


def test_producers_come_first_even_when_they_were_made_later() -> None:
    early = tf.no_op(name="early")
    late = tf.no_op(name="late")
    early._add_control_input(late)
    assert names(prune([], [], [early])) == ["late", "early"]


def test_a_circle_is_told() -> None:
    a, b = tf.no_op(name="a"), tf.no_op(name="b")
    a._add_control_input(b)
    b._add_control_input(a)
    with pytest.raises(InvalidArgumentError, match=r"circle through \['a', 'b'\]"):
        prune([], [], [a])


def test_what_ran_in_an_earlier_piece_is_left_out() -> None:
    a = tf.constant(1.0, name="a")
    b = tf.negative(a, name="b")
    with tf.control_dependencies([b]):
        c = tf.negative(a, name="c")
    assert names(prune([c], [], [], done={b.op})) == ["a", "c"]
