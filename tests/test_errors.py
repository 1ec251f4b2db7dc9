"""Errors carry a message, the operation that failed where there is one, and the status code of their class."""

from __future__ import annotations

import pytest

import weft as tf
from weft import errors


def test_an_error_is_made_of_a_message_alone() -> None:
    error = errors.NotFoundError.of("nothing is there")
    assert (error.message, error.op, error.node_def, error.error_code) == ("nothing is there", None, None, errors.NOT_FOUND)
    assert str(error) == "nothing is there"


def test_an_error_of_an_operation_names_it() -> None:
    with tf.Graph().as_default():
        op = tf.no_op(name="failed")
    error = errors.InvalidArgumentError.of("wrong", op)
    assert error.op is op
    assert str(error).startswith("wrong\n\t [[node failed (op: NoOp")
    with pytest.raises(tf.errors.InvalidArgumentError, match="wrong"):
        raise error
