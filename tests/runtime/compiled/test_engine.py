"""A program becomes one XLA function, with code for each size of its inputs and each value of its static ones."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.framework.nodes.operation import Operation, Tensor
from weft.runtime.compiled import engine
from weft.runtime.compiled.engine import CompiledStage
from weft.runtime.compiled.traced.tracing import trace
from weft.runtime.program.program import Program
from weft.runtime.program.program_builder import build_program
from weft.runtime.state.binder import Binder
from weft.runtime.state.resource_manager import ResourceManager


def program_of(nodes: list[Operation], inputs: list[Tensor], outputs: list[Tensor]) -> Program:
    program = build_program(nodes, inputs, outputs, Binder(ResourceManager("a"), inputs))
    program.validate()
    return program


def plain(values: Any) -> list[Any]:
    return [np.asarray(value).tolist() for value in values]


def test_there_is_code_for_each_size_and_no_more(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [None])
    y = x * 2.0
    compiled = CompiledStage(program_of([y.op.inputs[1].op, y.op], [x], [y]))
    for size in (2, 3, 2, 3):
        outputs, written, _ = compiled([np.ones(size, np.float32)], [], [], ())
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
        (made,), _, _ = compiled([np.float32(1), np.array([value], np.int32)], [], [], ())
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
    outputs, values, _ = compiled([], [np.float32(2)], [np.float32(1)], ())
    assert (plain(outputs), plain(values)) == ([], [3.0])


def test_a_variable_that_is_overwritten_has_no_value_to_pass_in(graph: tf.Graph) -> None:
    v, x = tf.Variable(1.0), tf.placeholder(tf.float32, [])
    assign = tf.assign(v, x)
    compiled = CompiledStage(program_of([v.op, assign.op], [x], []))
    assert compiled.updated == []
    assert plain(compiled([np.float32(7)], [], [], ())[1]) == [7.0]


def test_operations_are_counted_without_compiling(graph: tf.Graph) -> None:
    x, w = tf.placeholder(tf.float32, [None, 8]), tf.placeholder(tf.float32, [8, 2])
    y = tf.matmul(x, w)
    compiled = CompiledStage(program_of([y.op], [x, w], [y]))
    for rows in (3, 30):
        fed = [np.ones((rows, 8), np.float32), np.ones((8, 2), np.float32)]
        assert compiled.operations(fed, [], []) == pytest.approx(2 * rows * 8 * 2, rel=0.1)
    assert compiled.compilations == 0


def test_compiling_is_timed_and_running_is_not(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [None])
    y = tf.tanh(x)
    compiled = CompiledStage(program_of([y.op], [x], [y]))
    compiled([np.ones(2, np.float32)], [], [], ())
    once = compiled.compile_s
    assert once > 0.0
    compiled([np.ones(2, np.float32)], [], [], ())
    assert compiled.compile_s == once


def test_an_interrupt_while_a_step_compiles_comes_when_it_has_code(monkeypatch: pytest.MonkeyPatch, graph: tf.Graph) -> None:
    """JAX's compiler, which calls Python back, is not interrupted: it wraps the exception, or breaks."""
    interrupts: list[int] = []
    begun: list[int] = []
    traced: list[int] = []

    def interrupted(*arguments: Any) -> Any:
        begun.append(size)
        if interrupts:
            signal.raise_signal(interrupts.pop())
        made = trace(*arguments)
        traced.append(size)
        return made

    monkeypatch.setattr(engine, "trace", interrupted)
    x = tf.placeholder(tf.float32, [None])
    y = x * 2.0 + 1.0
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with tf.Session(config=config) as session:
            for sizes in ([1], [2, 3], [4, 5]):
                for size in sizes:
                    interrupts.append(signal.SIGINT)
                    with pytest.raises(KeyboardInterrupt):
                        session.run(y, {x: [1.0] * size})
                    assert not interrupts
                    assert traced == begun
                assert session.run(y, {x: [1.0] * size}).tolist() == [3.0] * size
    finally:
        signal.signal(signal.SIGINT, before)
