"""A program becomes one XLA function, with code for each size of its inputs and each value of its static ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.framework.operation import Operation, Tensor
from weft.runtime.program.program import Program
from weft.runtime.state.binder import Binder
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.ways import engine
from weft.runtime.ways.engine import CompiledStage


def program_of(nodes: list[Operation], inputs: list[Tensor], outputs: list[Tensor]) -> Program:
    return Program(nodes, inputs, outputs, Binder(ResourceManager("a"), inputs))


def plain(values: Any) -> list[Any]:
    return [np.asarray(value).tolist() for value in values]


def test_there_is_code_for_each_size_and_no_more(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [None])
    y = x * 2.0
    compiled = CompiledStage(program_of([y.op.inputs[1].op, y.op], [x], [y]))
    for size in (2, 3, 2, 3):
        outputs, written = compiled([np.ones(size, np.float32)], [], [], ())
        assert plain(outputs) == [[2.0] * size]
        assert not written
    assert compiled.compilations == 2
    assert compiled.is_ready(compiled.signature([np.ones(3, np.float32)]))
    assert not compiled.is_ready(compiled.signature([np.ones(4, np.float32)]))


def test_there_is_code_for_each_value_of_a_static_input(graph: tf.Graph) -> None:
    x, axis = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.int32, [])
    total = tf.reduce_sum(x, axis)
    compiled = CompiledStage(program_of([total.op], [x, axis], [total]), static_inputs=(1,))
    ones = np.ones((2, 3), np.float32)
    for value, expected in ((0, [2.0] * 3), (1, [3.0] * 2), (0, [2.0] * 3)):
        assert plain(compiled([ones, np.int32(value)], [], [], ())[0]) == [expected]
    assert compiled.compilations == 2


def test_old_code_for_static_values_is_forgotten(graph: tf.Graph) -> None:
    x, count = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [1])
    filled = tf.tile(tf.reshape(x, [1]), count)
    nodes = [op for op in graph.get_operations() if op.type != "Placeholder"]
    compiled = CompiledStage(program_of(nodes, [x, count], [filled]), static_inputs=(1,))
    for value in range(1, 70):
        (made,), _ = compiled([np.float32(1), np.array([value], np.int32)], [], [], ())
        assert made.shape == (value,)
    assert compiled.compilations <= 64


def test_written_variables_come_back_new_and_read_ones_stay(graph: tf.Graph) -> None:
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    add = tf.assign_add(v, w._variable)
    nodes = [v.op, w.op, add.op]
    program = program_of(nodes, [], [])
    compiled = CompiledStage(program)
    assert [program.slots[n].name for n in compiled.written] == ["v"]
    assert [program.slots[n].name for n in compiled.read_only] == ["w"]
    assert compiled.updated == compiled.written
    outputs, values = compiled([], [np.float32(2)], [np.float32(1)], ())
    assert (plain(outputs), plain(values)) == ([], [3.0])


def test_a_variable_that_is_overwritten_has_no_value_to_pass_in(graph: tf.Graph) -> None:
    v, x = tf.Variable(1.0), tf.placeholder(tf.float32, [])
    assign = tf.assign(v, x)
    compiled = CompiledStage(program_of([v.op, assign.op], [x], []))
    assert compiled.updated == []
    assert plain(compiled([np.float32(7)], [], [], ())[1]) == [7.0]


@pytest.mark.parametrize(
    ("text", "stale"),
    [("Array has been deleted with shape=float32[2]", True), ("buffer was donated", True), ("no memory", False)],
)
def test_a_dispatch_that_met_a_donated_array_is_told_from_other_failures(text: str, stale: bool) -> None:
    assert engine.is_stale(RuntimeError(text)) is stale
