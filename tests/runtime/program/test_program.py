"""A program runs the nodes of a stage over numbered values, the same way for NumPy and while it is traced."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import weft as tf
from tests.runtime.conftest import MakeParts
from weft.errors import FailedPreconditionError, InvalidArgumentError
from weft.runtime.compiled.traced.state import TracedState
from weft.runtime.compiled.traced.tracing import trace
from weft.runtime.host.frame import PLAIN
from weft.runtime.host.host_program import HostProgram
from weft.runtime.program.program import Program
from weft.runtime.stage_builder import build_stages
from weft.runtime.state.resource_manager import ResourceManager


def program_of(part: Any) -> Program:
    (stage,) = build_stages(part, ResourceManager("a")).stages
    return stage.program


def run(program: Program, *inputs: Any) -> list[Any]:
    values = HostProgram(program).run([np.asarray(value) for value in inputs], PLAIN)
    return [np.asarray(value).tolist() for value in values]


def traced(program: Program, inputs: list[Any], state: list[Any]) -> tuple[list[Any], list[Any]]:
    def function(inputs: list[Any], values: list[Any]) -> Any:
        threaded = TracedState(list(values))
        return trace(program, inputs, threaded, ()), threaded.values

    with jax.enable_x64(True):
        outputs, values = jax.jit(function)(inputs, state)
    return [np.asarray(value).tolist() for value in outputs], [np.asarray(value).tolist() for value in values]


def test_inputs_come_as_they_are_fed_and_outputs_as_their_nodes_stand(make_parts: MakeParts) -> None:
    x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    total, product = x + y, x * y
    program = program_of(make_parts([product, total], [x, y])["a"])
    assert (program.inputs, program.outputs) == ([x, y], [total, product])
    inputs = [np.array([1, 2], np.float32), np.array([3, 4], np.float32)]
    assert run(program, *inputs) == traced(program, inputs, [])[0] == [[4, 6], [3, 8]]


def test_state_is_read_and_written_in_graph_order(make_parts: MakeParts) -> None:
    v = tf.Variable(1.0, name="v")
    first = tf.assign_add(v, 10.0)
    with tf.control_dependencies([first]):
        second = tf.assign(v, v.read_value() * 2.0)
    program = program_of(make_parts([], [], [second.op])["a"])
    assert [slot.name for slot in program.slots] == ["v"]
    assert program.read_slots == program.written_slots == {0}
    program.slots[0].put(np.float32(1))
    run(program)
    assert program.slots[0].value == 22
    assert traced(program, [], [np.float32(1)])[1] == [22]


def test_reading_is_no_writing(make_parts: MakeParts) -> None:
    v = tf.Variable([1.0, 2.0])
    program = program_of(make_parts([v + 1.0])["a"])
    assert (program.read_slots, program.written_slots) == ({0}, set())
    assert not program.is_alias
    assert program_of(make_parts([tf.identity(v)])["a"]).is_alias


def test_a_variable_without_a_value_is_named(make_parts: MakeParts) -> None:
    v = tf.Variable(1.0, name="scope/v")
    program = program_of(make_parts([v + 1.0])["a"])
    with pytest.raises(FailedPreconditionError, match="Attempting to use uninitialized value scope/v"):
        run(program)


def test_a_kernels_error_carries_its_node(make_parts: MakeParts) -> None:
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    product = tf.add(x, y, name="sum")
    program = program_of(make_parts([product], [x, y])["a"])
    with pytest.raises(InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs\. \[3\]") as caught:
        run(program, np.ones(2, np.float32), np.ones(3, np.float32))
    assert caught.value.op is product.op


def test_overflow_and_division_by_zero_are_no_errors(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, [2])
    program = program_of(make_parts([tf.exp(x) / (x - x)], [x])["a"])
    assert run(program, np.array([1000, 1], np.float32)) == [[np.inf, np.inf]]


def test_an_assignment_keeps_the_declared_shape(make_parts: MakeParts) -> None:
    v, x = tf.Variable([1.0, 2.0], name="v"), tf.placeholder(tf.float32)
    program = program_of(make_parts([], [x], [tf.assign(v, x).op])["a"])
    program.slots[0].put(np.array([1, 2], np.float32))
    with pytest.raises(InvalidArgumentError, match="shape"):
        run(program, np.ones(3, np.float32))
    assert program.slots[0].value.tolist() == [1, 2]


def test_code_is_made_of_the_nodes_of_bodies_too(make_parts: MakeParts) -> None:
    def loop(extra: int) -> Any:
        def body(i: Any, x: Any) -> Any:
            branch = tf.cond(x > 0.0, lambda: sum((x * 2.0 for _ in range(extra)), x), lambda: x)
            return i + 1, branch

        return tf.while_loop(lambda i, x: i < 3, body, [tf.constant(0), tf.placeholder_with_default(1.0, [])])[1]

    few, many = loop(0), loop(20)
    counts = []
    for fetched in (few, many):
        program = program_of(make_parts([fetched], [])["a"])
        assert len(program.nodes) < 10
        counts.append(program.code_nodes)
    assert counts[1] - counts[0] >= 40
