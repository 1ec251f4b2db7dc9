"""Which fetches stand for a variable's memory and are read when the step's updates are done."""

from __future__ import annotations

import pytest

import weft as tf
from weft.passes.partition import Partition, partition
from weft.passes.settled_fetches import settled_fetches
from weft.passes.stage import Staging


def part_of(
    graph: tf.Graph, fetches: list[tf.Tensor], devices: dict[str, str] | None = None, initializes: bool = True
) -> Partition:
    ops = [op for op in graph.get_operations() if initializes or op.type != "Assign"]
    at = {op: f"/job:a/replica:0/task:0/device:CPU:{(devices or {}).get(op.name, '0')}" for op in ops}
    (part,) = partition(ops, at, Staging(ops, at, []), [], fetches).values()
    return part


@pytest.fixture
def variable() -> tf.Variable:
    return tf.Variable(0.0, name="v")


def test_a_variable_that_the_step_updates_is_read_after_the_update(graph: tf.Graph, variable: tf.Variable) -> None:
    add = variable.assign_add(1.0)
    found = settled_fetches(part_of(graph, [variable._ref(), variable.value(), tf.identity(variable.value())]))
    assert [tensor.name for tensor in found] == ["v:0", "v/read:0", "Identity:0"]
    assert all(add.op in updates for updates in found.values())


def test_what_an_only_update_returns_is_its_own_result() -> None:
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", [])
        add = v.assign_add(1.0)
        part = part_of(graph, [add], initializes=False)
        assert settled_fetches(part) == {}


def test_two_updates_return_what_both_have_made(graph: tf.Graph, variable: tf.Variable) -> None:
    first, second = variable.assign_add(1.0), variable.assign_sub(2.0)
    found = settled_fetches(part_of(graph, [first, second]))
    assert set(found) == {first, second}


def test_computed_values_and_resource_variables_are_values(graph: tf.Graph) -> None:
    v = tf.Variable(0.0, name="v")
    r = tf.Variable(0.0, name="r", use_resource=True)
    v.assign_add(1.0)
    r.assign_add(1.0)
    assert settled_fetches(part_of(graph, [v + 0.0, r.value()])) == {}


def test_a_copy_on_another_device_is_a_value(graph: tf.Graph, variable: tf.Variable) -> None:
    variable.assign_add(1.0)
    copy = tf.identity(variable._ref(), name="copy")
    assert settled_fetches(part_of(graph, [copy], {"copy": "1"})) == {}


def test_a_branch_that_may_update_counts(graph: tf.Graph, variable: tf.Variable) -> None:
    tf.cond(tf.constant(True), lambda: variable.assign_add(1.0), lambda: variable + 0.0)
    part = part_of(graph, [variable._ref()], initializes=False)
    assert list(settled_fetches(part)) == [variable._ref()]
