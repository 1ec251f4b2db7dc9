"""Many updates of small variables by gradients from elsewhere are the host's; all others stay with the compiler."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf
from weft.passes.small_updates import MAX_ELEMENTS, MIN_UPDATES
from weft.passes.stage import Kind, Staging

PS, WORKER = "/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:CPU:0"


def _kinds(graph: tf.Graph, fetches: Any = ()) -> set[Kind]:
    """The kinds of the updates of a training step; initializers are no part of it."""
    ops = [op for op in graph.get_operations() if "/Assign" not in op.name and "nitializer" not in op.name]
    staging = Staging(ops, {op: op.device or WORKER for op in ops}, [], fetches)
    return {kind for op, kind in staging.kinds.items() if op.op_def.by_element}


def _model(count: int = MIN_UPDATES, elements: int = 3, gradients_on: str = WORKER, use_resource: bool = False) -> tf.Operation:
    with tf.device(PS):
        held = [tf.get_variable(f"v{i}", [elements], use_resource=use_resource) for i in range(count)]
    with tf.device(gradients_on):
        gradients = [tf.identity(2.0 * tf.ones([elements])) for _ in held]
    return tf.train.MomentumOptimizer(0.1, 0.9).apply_gradients(zip(gradients, held, strict=True))


@pytest.mark.parametrize("use_resource", [False, True])
def test_many_small_variables_are_updated_by_the_host(graph: tf.Graph, use_resource: bool) -> None:
    _model(use_resource=use_resource)
    assert _kinds(graph) == {Kind.ROWS}


def test_a_few_variables_are_left_to_the_compiler(graph: tf.Graph) -> None:
    _model(count=MIN_UPDATES - 1)
    assert _kinds(graph) == {Kind.COMPILED}


def test_large_variables_are_left_to_the_compiler(graph: tf.Graph) -> None:
    _model(elements=MAX_ELEMENTS + 1)
    assert _kinds(graph) == {Kind.COMPILED}


def test_gradients_that_are_computed_beside_the_variable_stay_with_the_update(graph: tf.Graph) -> None:
    _model(gradients_on=PS)
    assert _kinds(graph) == {Kind.COMPILED}


def test_an_update_whose_result_is_wanted_is_left_to_the_compiler(graph: tf.Graph) -> None:
    _model()
    updates = [op.outputs[0] for op in graph.get_operations() if op.op_def.by_element]
    assert _kinds(graph, updates[:1]) == {Kind.COMPILED}


def test_accelerators_keep_their_updates(graph: tf.Graph) -> None:
    _model()
    ops = [op for op in graph.get_operations() if "/Assign" not in op.name and "nitializer" not in op.name]
    placement = {
        op: (op.device or WORKER).replace("ps/replica:0/task:0/device:CPU", "ps/replica:0/task:0/device:GPU") for op in ops
    }
    staging = Staging(ops, placement, [])
    assert {kind for op, kind in staging.kinds.items() if op.op_def.by_element} == {Kind.COMPILED}
