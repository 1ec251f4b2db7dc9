"""switch and merge give the value of the case that was taken, as programs need that choose one of several distortions."""

from __future__ import annotations

import numpy as np
import pytest
from weft.python.ops import control_flow_ops, inplace_ops

import weft as tf


def _one_of(x: tf.Tensor, case: tf.Tensor, count: int) -> tf.Tensor:
    parts = [control_flow_ops.switch(x, tf.equal(case, number))[1] * (number + 1) for number in range(count)]
    return control_flow_ops.merge(parts)


def test_merge_takes_the_value_whose_switch_was_taken() -> None:
    case = tf.placeholder(tf.int32, [])
    output, index = _one_of(tf.constant([1.0, 2.0]), case, 3)
    assert output.shape == [2]
    with tf.Session() as session:
        for number in range(3):
            value, place = session.run([output, index], {case: number})
            assert (value.tolist(), place) == ([number + 1, 2 * number + 2], number)


def test_switch_has_an_output_for_each_case() -> None:
    taken = tf.placeholder(tf.bool, [])
    if_false, if_true = control_flow_ops.switch(3, taken)
    merged = control_flow_ops.merge([if_false + 1, if_true * 10])
    with tf.Session() as session:
        assert session.run(merged, {taken: False}) == (4, 0)
        assert session.run(merged, {taken: True}) == (30, 1)


def test_gradients_come_from_the_case_that_was_taken() -> None:
    case, x = tf.placeholder(tf.int32, []), tf.constant(2.0)
    (gradient,) = tf.gradients(_one_of(x, case, 3)[0], x)
    with tf.Session() as session:
        assert [session.run(gradient, {case: number}) for number in range(3)] == [1, 2, 3]


def test_a_data_set_chooses_for_each_element() -> None:
    dataset = tf.data.Dataset.range(3).map(lambda number: _one_of(tf.constant(1), tf.cast(number, tf.int32), 3)[0])
    value = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [session.run(value) for _ in range(3)] == [1, 2, 3]


def test_merge_needs_values() -> None:
    with pytest.raises(ValueError, match="At least one of the merge inputs is None"):
        control_flow_ops.merge([tf.constant(1), None])


def test_rows_are_changed_where_programs_change_them_in_place() -> None:
    x = tf.zeros([3, 2])
    updated = inplace_ops.alias_inplace_update(x, 1, [5.0, 6.0])
    added = inplace_ops.alias_inplace_add(updated, [0, 1], [[1.0, 1.0], [2.0, 2.0]])
    whole = inplace_ops.alias_inplace_sub(added, None, tf.ones([3, 2]))
    with tf.Session() as session:
        values = session.run([updated, added, whole])
    np.testing.assert_array_equal(values[0], [[0, 0], [5, 6], [0, 0]])
    np.testing.assert_array_equal(values[1], [[1, 1], [7, 8], [0, 0]])
    np.testing.assert_array_equal(values[2], values[1] - 1)


@pytest.mark.parametrize(("outer", "inner", "expected"), [(0, 0, (101, 1)), (0, 1, (101, 1)), (1, 0, (11, 0)), (1, 1, (21, 0))])
def test_a_merge_inside_of_a_case_is_there_in_that_case(outer: int, inner: int, expected: tuple[int, int]) -> None:
    first, second = (tf.placeholder(tf.bool, []) for _ in range(2))
    if_false, if_true = control_flow_ops.switch(tf.constant(1.0), first)
    left, right = control_flow_ops.switch(if_true, second)
    within = control_flow_ops.merge([left + 10.0, right + 20.0])
    merged = control_flow_ops.merge([within.output, if_false + 100.0])
    with tf.Session() as session:
        assert session.run(merged, {first: bool(outer), second: bool(inner)}) == expected
