"""What tensors lead to."""

from __future__ import annotations

import pytest

import weft as tf
from weft.framework.building.reachable import get_reachable_from_inputs


def test_tensors_lead_to_the_operations_that_use_them_and_to_their_outputs() -> None:
    a = tf.placeholder(tf.float32, [], name="a")
    b = tf.add(a, 1.0, name="b")
    c = tf.multiply(b, 2.0, name="c")
    aside = tf.constant(1.0)
    assert get_reachable_from_inputs([a]) == {a, b.op, b, c.op, c}
    assert get_reachable_from_inputs([a], [b]) == {a, b.op, b}
    assert aside not in get_reachable_from_inputs([a, b])


def test_a_variable_leads_to_its_reads() -> None:
    variable = tf.get_variable("v", [])
    read = variable + 1.0
    assert read in get_reachable_from_inputs(variable)


def test_numbers_lead_nowhere() -> None:
    with pytest.raises(TypeError, match="Expected Operation, Variable, or Tensor, got 3"):
        get_reachable_from_inputs([3])
