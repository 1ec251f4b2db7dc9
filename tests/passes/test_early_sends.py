"""A call whose large results other tasks want is cut where they are ready, and no call else is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import weft as tf
from weft.framework.nodes.operation import Tensor
from weft.passes.early_sends import MAX_PIECES
from weft.passes.stage import Staging

PS, WORKER = "/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:CPU:0"
LARGE, SMALL = 1100, 100  # squared, and in float32: 4.8 MB and 40 KB


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    """The default graph of the test, empty at its start."""
    with tf.Graph().as_default() as graph:
        yield graph


def backward_pass(layers: int, width: int, *, weights_on: str = PS) -> list[Tensor]:
    """Build a network of so many square layers on the worker; return the gradients, which the weights' task applies."""
    with tf.device(weights_on):
        weights = [tf.Variable(tf.zeros([width, width]), use_resource=False) for _ in range(layers)]
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [8, width])
        for weight in weights:
            x = tf.nn.relu(tf.matmul(x, weight))
        gradients = tf.gradients(tf.reduce_sum(x), weights)
    for weight, gradient in zip(weights, gradients, strict=True):
        tf.assign_sub(weight, gradient)
    return gradients


def staged(graph: tf.Graph) -> Staging:
    feeds = [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]
    ops = [op for op in graph.get_operations() if op.type != "Placeholder"]
    return Staging(ops, {op: op.device or WORKER for op in ops}, feeds)


def test_the_last_layers_gradient_leaves_before_the_first_ones_is_computed(graph: tf.Graph) -> None:
    first, last = backward_pass(2, LARGE)
    levels = staged(graph).levels
    assert levels[last.op] < levels[first.op]


def test_each_gradient_is_applied_as_it_arrives(graph: tf.Graph) -> None:
    first, last = backward_pass(2, LARGE)
    levels = staged(graph).levels
    applied = {each: next(c for c in each.consumers() if c.type == "AssignSub") for each in (first, last)}
    assert levels[last.op] < levels[applied[last]] < levels[applied[first]]


def test_small_gradients_leave_together(graph: tf.Graph) -> None:
    gradients = backward_pass(2, SMALL)
    levels = staged(graph).levels
    assert len({levels[each.op] for each in gradients}) == 1


def test_a_deep_network_is_cut_into_few_pieces(graph: tf.Graph) -> None:
    gradients = backward_pass(8, LARGE)
    levels = staged(graph).levels
    numbers = [levels[each.op] for each in gradients]
    assert numbers == sorted(numbers, reverse=True)
    assert len(set(numbers)) == MAX_PIECES


def test_a_program_that_wants_all_gradients_first_gets_them_together(graph: tf.Graph) -> None:
    with tf.device(PS):
        weights = [tf.Variable(tf.zeros([LARGE, LARGE]), use_resource=False) for _ in range(2)]
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [8, LARGE])
        gradients = tf.tuple(tf.gradients(tf.reduce_sum(tf.matmul(tf.matmul(x, weights[0]), weights[1])), weights))
    for weight, gradient in zip(weights, gradients, strict=True):
        tf.assign_sub(weight, gradient)
    levels = staged(graph).levels
    assert len({levels[each.op] for each in gradients}) == 1


def test_gradients_of_variables_on_the_same_task_stay_one_call(graph: tf.Graph) -> None:
    first, last = backward_pass(2, LARGE, weights_on=WORKER)
    levels = staged(graph).levels
    assert levels[first.op] == levels[last.op]


def test_no_edge_leads_to_an_earlier_stage(graph: tf.Graph) -> None:
    backward_pass(5, LARGE)
    staging = staged(graph)
    for op in staging.levels:
        for tensor in op.inputs:
            assert staging.levels.get(tensor.op, 0) <= staging.levels[op]
