"""tf.case: the first true predicate, defaults, exclusiveness, errors."""

from __future__ import annotations

import collections

import pytest

import weft as tf
from tests.ops.both_ways import each_way, own_graph, session

_ = own_graph


def _predicates():
    return tf.placeholder(tf.bool, [], name="p"), tf.placeholder(tf.bool, [], name="q")


def test_takes_the_first_that_is_true_or_the_default():
    p, q = _predicates()
    y = tf.case([(p, lambda: tf.constant(1)), (q, lambda: tf.constant(2))], default=lambda: tf.constant(3))
    with session("interpreted") as sess:
        assert [sess.run(y, {p: a, q: b}) for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))] == [1, 1, 2, 3]


@pytest.mark.parametrize("kind", [dict, collections.OrderedDict])
def test_takes_dicts(kind):
    p, q = _predicates()
    y = tf.case(kind([(p, lambda: tf.constant(1)), (q, lambda: tf.constant(2))]), exclusive=True)
    with session("interpreted") as sess:
        assert sess.run(y, {p: False, q: True}) == 2


def test_fails_where_exclusive_predicates_are_true_together():
    p, q = _predicates()
    pairs = [(p, lambda: tf.constant(1)), (q, lambda: tf.constant(2))]
    y = tf.case(pairs, default=lambda: tf.constant(3), exclusive=True)
    with session("interpreted") as sess, pytest.raises(tf.errors.InvalidArgumentError, match="more than 1 conditions"):
        sess.run(y, {p: True, q: True})


def test_fails_without_a_default_where_none_is_true():
    p, q = _predicates()
    y = tf.case([(p, lambda: tf.constant(1)), (q, lambda: tf.constant(2))])
    with session("interpreted") as sess, pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions"):
        sess.run(y, {p: False, q: False})


def test_strict_keeps_lists_of_one():
    p, _q = _predicates()
    assert isinstance(tf.case([(p, lambda: [tf.constant(1)])], default=lambda: [tf.constant(2)], strict=True), list)


def test_refuses_what_are_no_pairs():
    p, _q = _predicates()
    with pytest.raises(TypeError, match="must be a list, tuple, or dict"):
        tf.case(3)
    with pytest.raises(TypeError, match="must be a 2-tuple"):
        tf.case([p])
    with pytest.raises(TypeError, match="pred must be a Tensor, got: True"):
        tf.case([(True, lambda: 1)])
    with pytest.raises(TypeError, match="fn for pred p:0 must be callable"):
        tf.case([(p, 1)])
    with pytest.raises(TypeError, match="must be callable"):
        tf.case([(p, lambda: 1)], default=3)


@each_way
def test_switch_case_runs_the_function_of_the_number(way):
    index = tf.placeholder(tf.int32, [])
    functions = [lambda: tf.constant(10), lambda: tf.constant(20), lambda: tf.constant(30)]
    y = tf.switch_case(index, functions)
    z = tf.switch_case(index, {1: functions[1], 0: functions[0]}, default=functions[2])
    with session(way) as sess:
        assert [sess.run(y, {index: i}).tolist() for i in (-1, 0, 1, 2, 7)] == [30, 10, 20, 30, 30]
        assert [sess.run(z, {index: i}).tolist() for i in (-1, 0, 1, 2)] == [30, 10, 20, 30]


def test_switch_case_refuses_gaps_and_other_types():
    with pytest.raises(ValueError, match="must form contiguous range"):
        tf.switch_case(tf.constant(1), {1: lambda: tf.constant(1), 3: lambda: tf.constant(2)})
    with pytest.raises(TypeError, match="int32"):
        tf.switch_case(tf.constant(1.0), [lambda: tf.constant(1)])
    with pytest.raises(TypeError, match="callable"):
        tf.switch_case(tf.constant(1), [(0, 1)])
