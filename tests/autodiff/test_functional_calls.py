"""Branches, loops and calls of functions by tensorflow.python.ops.functional_ops."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import weft as tf

functional = importlib.import_module("weft.python.ops.functional_ops")
function = importlib.import_module("weft.python.framework.function")


@function.Defun(tf.float32)
def doubled(x):
    return x * 2.0


@function.Defun(tf.float32)
def both(x):
    return x * 2.0, x + 1.0


@function.Defun(tf.float32)
def others(x):
    return -x, x


@function.Defun(tf.float32)
def is_small(x):
    return x < 100.0


@function.Defun(tf.int32, tf.float32)
def with_number(i, x):
    return x + tf.cast(i, tf.float32)


def values_of(tensors):
    with tf.Session() as session:
        return [each.tolist() for each in session.run(tensors)]


@pytest.mark.parametrize(
    ("cond", "expected"), [(True, [6.0, 4.0]), (0, [-3.0, 3.0]), (2.5, [6.0, 4.0]), ("", [-3.0, 3.0]), ("a", [6.0, 4.0])]
)
def test_a_branch_is_chosen_by_truth_numbers_and_texts(cond: object, expected: list[float]) -> None:
    found = functional.If(cond, [tf.constant(3.0)], both, others)
    assert [each.name for each in found] == ["If:0", "If:1"]
    assert values_of(found) == expected


def test_branches_of_effects_alone_are_an_operation() -> None:
    seen = tf.Variable(0.0)

    @function.Defun(tf.float32)
    def count(x):
        seen.assign_add(x)

    found = functional.If(tf.placeholder_with_default(True, []), [2.0], count, count, name="count")
    assert isinstance(found, tf.Operation)
    assert found.name == "count"
    with tf.Session() as session:
        session.run(seen.initializer)
        session.run(found)
        assert session.run(seen) == 2.0


def test_a_loop_goes_on_while_its_condition_holds() -> None:
    found = functional.While([tf.constant(3.0)], is_small, doubled)
    assert [each.name for each in found] == ["While:0"]
    assert values_of(found) == [192.0]


def test_what_grows_in_a_loop_has_no_known_size() -> None:
    grown = functional.While(
        [tf.constant([1.0, 2.0])], lambda x: tf.size(x) < 10, function.Defun(tf.float32)(lambda x: tf.concat([x, x], 0))
    )
    assert grown[0].shape.as_list() == [None]
    assert values_of(grown) == [[1.0, 2.0] * 8]


@pytest.mark.parametrize(("span", "expected"), [((0, 5, 1), 11.0), ((5, 0, -2), 10.0), ((5, 5, 0), 1.0), ((5, 0, -7), 6.0)])
def test_a_counted_loop_goes_from_the_start_to_before_the_limit(span: tuple[int, int, int], expected: float) -> None:
    assert values_of(functional.For(*span, [tf.constant(1.0)], with_number)) == [expected]


def test_a_counted_loop_that_never_ends_is_refused() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid start/limit/delta"):
        values_of(functional.For(5, 0, 1, [tf.constant(1.0)], with_number))


def test_gradients_go_through_branches_and_loops() -> None:
    x = tf.placeholder_with_default(3.0, [])
    chosen = functional.If(x > 1.0, [x], doubled, doubled)[0]
    looped = functional.For(0, 3, 1, [chosen], function.Defun(tf.int32, tf.float32)(lambda i, y: y * 2.0))[0]
    assert values_of([looped, *tf.gradients(looped, x)]) == [48.0, 16.0]


def test_functions_are_called_where_a_program_says() -> None:
    found = functional.remote_call(target="/cpu:0", args=[tf.constant(2.0)], Tout=[tf.float32], f=doubled)
    assert found[0].name == "RemoteCall:0"
    parts = functional.partitioned_call([tf.constant(2.0)], both)
    assert [each.name for each in parts] == ["PartitionedCall:0", "PartitionedCall:1"]
    assert values_of([*found, *parts]) == [4.0, 4.0, 3.0]
    with pytest.raises(ValueError, match="Tout is"):
        functional.remote_call(target="/cpu:0", args=[tf.constant(2.0)], Tout=[tf.int32], f=doubled)
    with pytest.raises(ValueError, match="target that is known"):
        functional.remote_call(target=tf.placeholder(tf.string, []), args=[tf.constant(2.0)], Tout=[tf.float32], f=doubled)


def test_gradients_of_a_function_alone() -> None:
    inputs = [tf.constant(2.0), tf.constant(3.0), tf.constant(10.0)]
    assert values_of(functional.symbolic_gradient(inputs, [tf.float32], both)) == [16.0]
    assert values_of(functional.Gradient(inputs, both)) == [16.0]
    flat = function.Defun(tf.float32)(lambda x: tf.sign(x))
    assert np.array_equal(values_of(functional.Gradient([tf.constant(2.0), tf.constant(1.0)], flat)), [0.0])


def test_a_call_counts_as_one_node() -> None:
    tf.set_random_seed(1)
    x = tf.constant(3.0)
    for count, call in enumerate(
        (
            lambda: functional.If(x > 1.0, [x], both, others),
            lambda: functional.While([x], is_small, doubled),
            lambda: functional.partitioned_call([x], both),
        ),
        start=1,
    ):
        call()
        # The comparison of the first has two nodes.
        assert tf.get_seed(None)[1] == 1 + 2 + count
