"""What compiled stages refuse before they run: values are looked at in the shape that the op gets them in."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import own_graph, session  # noqa: F401 - the fixture is used by its name
from tests.runtime.conftest import MakeParts
from weft.runtime.compiled.input_checks import InputChecks
from weft.runtime.stage_builder import build_stages
from weft.runtime.state.resource_manager import ResourceManager

ROWS = np.arange(12, dtype=np.float32).reshape(3, 4)


def test_a_gather_from_a_reshaped_feed_has_the_new_limits() -> None:
    fed, at = tf.placeholder(tf.float32, [3, 4]), tf.placeholder(tf.int32, [None])
    taken = tf.gather(tf.reshape(fed, [-1]), at)
    with session("compiled") as sess:
        assert sess.run(taken, {fed: ROWS, at: [11]}).tolist() == [11.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 12 is not in \[0, 12\)"):
            sess.run(taken, {fed: ROWS, at: [12]})


def test_positions_that_a_dimension_was_added_to_are_looked_at_with_it() -> None:
    fed, at = tf.placeholder(tf.float32, [3, 4]), tf.placeholder(tf.int32, [None])
    rows = tf.gather_nd(tf.exp(fed), tf.expand_dims(at, -1))
    with session("compiled") as sess:
        assert sess.run(rows, {fed: ROWS, at: [2, 0, 1, 2]}).shape == (4, 4)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[3\] does not index into param shape \[3,4\]"):
            sess.run(rows, {fed: ROWS, at: [2, 3]})


def test_a_mask_of_a_fed_matrix_takes_its_elements() -> None:
    fed = tf.placeholder(tf.float32, [3, 4])
    with session("compiled") as sess:
        assert sess.run(tf.boolean_mask(fed, fed > 9), {fed: ROWS}).tolist() == [10.0, 11.0]


def test_a_shape_that_the_graph_does_not_tell_is_not_guessed() -> None:
    fed, at, shape = (tf.placeholder(kind) for kind in (tf.float32, tf.int32, tf.int32))
    taken = tf.gather(tf.reshape(fed, shape), at)
    with session("compiled") as sess:
        assert sess.run(taken, {fed: ROWS, at: [5], shape: [6, 2]}).tolist() == [[10.0, 11.0]]


def test_only_values_that_can_be_wrong_are_looked_at(make_parts: MakeParts) -> None:
    x, y = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
    parts = make_parts([x // 7, x // (y + 1), x // y, x % tf.abs(y)], [x, y])
    (stage,) = build_stages(parts["a"], ResourceManager("a")).stages
    assert [op.type for op, _ in InputChecks(stage.program)._checks] == ["FloorDiv"]
    with session("compiled") as sess:
        assert sess.run(x // 7, {x: [15, 0]}).tolist() == [2, 0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
            sess.run(x // y, {x: [1], y: [0]})


def test_a_constant_that_is_wrong_is_found_when_the_stage_runs() -> None:
    x = tf.placeholder(tf.int32, [None])
    quotient = x // tf.constant([0])
    with session("compiled") as sess, pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        sess.run(quotient, {x: [1]})
