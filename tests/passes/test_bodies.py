"""What branches and loops ask of the stage that runs them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import weft as tf
from weft.framework.nodes.operation import Operation
from weft.passes.bodies import loop_constants


def _loop(step: Callable[[tf.Tensor], tf.Tensor]) -> Operation:
    """A loop over a vector of four numbers."""
    made = tf.while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, step(x)), [0, tf.zeros([4])])
    return made[1].op.inputs[0].op


def test_a_loop_of_plain_arithmetic_may_be_compiled_once_it_runs() -> None:
    assert loop_constants(_loop(lambda x: x + 1.0)) == set()


@pytest.mark.parametrize(
    "step",
    [
        lambda x: tf.gather(x, [3, 2, 1, 0]),
        lambda x: x + tf.scatter_nd([[1]], [1.0], [4]),
        lambda x: tf.tensor_scatter_nd_add(x, [[1]], [1.0]),
    ],
)
def test_a_loop_may_be_compiled_with_kernels_that_tell_it_what_they_refuse(step: Callable[[tf.Tensor], tf.Tensor]) -> None:
    assert loop_constants(_loop(step)) is not None


def test_a_loop_with_a_check_that_only_its_stage_could_make_is_not_compiled() -> None:
    assert loop_constants(_loop(lambda x: x + tf.cast(tf.pow(2, tf.cast(x[0], tf.int32)), tf.float32))) is None
