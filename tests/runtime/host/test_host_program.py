"""A host program makes few calls, and what running the nodes one by one makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.runtime.conftest import MakeParts
from weft.errors import FailedPreconditionError
from weft.runtime.host.calls import Loads
from weft.runtime.host.frame import PLAIN, Frame
from weft.runtime.host.host_program import HostProgram
from weft.runtime.program.program import Program
from weft.runtime.stage_builder import build_stages
from weft.runtime.state.resource_manager import ResourceManager


def program_of(make_parts: MakeParts, fetches: Any, feeds: Any = (), targets: Any = ()) -> Program:
    (stage,) = build_stages(make_parts(fetches, feeds, targets)["a"], ResourceManager()).stages
    return stage.program


@pytest.mark.parametrize("use_resource", [False, True])
def test_reads_are_one_call(make_parts: MakeParts, use_resource: bool) -> None:
    variables = [tf.get_variable(name, [2], use_resource=use_resource) for name in ("v", "w")]
    program = program_of(make_parts, [tf.identity(tf.identity(variable)) for variable in variables])
    for slot in program.slots:
        slot.value = np.full(2, ord(slot.name[0]), np.float32)
    host = HostProgram(program)
    (call,) = host.calls
    assert isinstance(call, Loads)
    assert [value.tolist() for value in host.run([], PLAIN)] == [[118.0, 118.0], [119.0, 119.0]]


def test_inputs_and_constants_go_through_without_a_call(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, [])
    host = HostProgram(program_of(make_parts, [tf.identity(x), tf.stop_gradient(tf.constant([1, 2])), tf.identity(x)], [x]))
    assert host.size == 0
    first, second, third = host.run([np.float32(3)], PLAIN)
    assert (first, third) == (3.0, 3.0)
    assert second.tolist() == [1, 2]


def test_what_follows_from_constants_is_computed_once(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, [None])
    size = tf.reduce_prod(tf.constant([2, 3])) * 2
    host = HostProgram(program_of(make_parts, [size, tf.fill([size], 1.5) + x], [x]))
    assert [call.op.type for call in host.calls] == ["AddV2"]
    for _ in range(2):
        found, filled = host.run([np.ones(12, np.float32)], PLAIN)
        assert found == 12
        assert filled.tolist() == [2.5] * 12
    assert not found.flags.writeable, "who changes what it got would change later runs"


def test_large_values_random_ones_and_errors_are_left_to_the_run(make_parts: MakeParts) -> None:
    large = tf.fill([tf.constant(100) * 100], 1.0)
    host = HostProgram(program_of(make_parts, [large, tf.random_uniform([2]), tf.gather([1, 2], tf.constant(5) * 1)]))
    assert sorted(call.op.type for call in host.calls) == ["Fill", "GatherV2", "RandomUniform"]


def test_a_value_of_constants_that_a_program_changes_comes_anew() -> None:
    total = tf.constant([1.0, 2.0]) * 2.0
    with tf.Session() as session:
        found = session.run(total)
        found += 1.0
        assert session.run(total).tolist() == [2.0, 4.0]


@pytest.mark.parametrize("is_fetched", [True, False])
def test_a_read_of_a_variable_without_a_value_is_refused(make_parts: MakeParts, is_fetched: bool) -> None:
    read = tf.identity(tf.get_variable("v", [2], use_resource=False), name="read")
    host = HostProgram(program_of(make_parts, [read] if is_fetched else [], targets=[] if is_fetched else [read.op]))
    with pytest.raises(FailedPreconditionError, match="uninitialized value v") as caught:
        host.run([], PLAIN)
    assert caught.value.op is not None
    assert caught.value.op.name == "v/read"


def test_a_read_after_an_update_sees_it_and_one_before_does_not(make_parts: MakeParts) -> None:
    v = tf.get_variable("v", [], use_resource=True)
    before = v.read_value()
    with tf.control_dependencies([before]):
        update = v.assign_add(2.0).op
    with tf.control_dependencies([update]):
        after = v.read_value()
    program = program_of(make_parts, [tf.identity(before), tf.identity(after)])
    program.slots[0].put(np.array(1.0, np.float32))
    assert HostProgram(program).run([], PLAIN) == [1.0, 3.0]


def test_each_node_is_a_call_where_its_time_is_taken(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, [])
    y = tf.identity(x * 2.0, name="y")
    program = program_of(make_parts, [y], [x])
    told: list[str] = []
    plain = HostProgram(program, is_plain=True)
    assert plain.run_traced([np.float32(3)], PLAIN, lambda op, begin, end: told.append(op.type)) == [6.0]
    assert told == ["Const", "Mul", "Identity"]
    assert HostProgram(program).size == 1


def test_what_a_run_made_is_counted(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, [None])
    program = program_of(make_parts, [tf.identity(x * 2.0) + 1.0], [x])
    (made,), size_bytes = HostProgram(program).run_counted([np.ones(100, np.float32)], PLAIN)
    assert made.tolist() == [3.0] * 100
    assert size_bytes == 2 * 400


def test_nodes_in_loops_are_counted(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, [])
    _, y = tf.while_loop(lambda i, v: i < 10, lambda i, v: (i + 1, v * 2.0), [tf.constant(0), x])
    frame = Frame()
    assert HostProgram(program_of(make_parts, [y], [x])).run([np.float32(1)], frame) == [1024.0]
    # Eleven tests, and ten times two nodes.
    assert frame.nodes_run == 11 + 10 * 2


@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
@pytest.mark.parametrize("use_resource", [False, True])
def test_loops_record_values_for_their_gradients_and_read_variables(
    make_parts: MakeParts, use_resource: bool, shape: tuple[int, ...]
) -> None:
    x = tf.placeholder(tf.float32, shape)
    scale = tf.get_variable("scale", initializer=np.full(shape, 3.0, np.float32), use_resource=use_resource)
    _, y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * v * scale), [tf.constant(0), x])
    program = program_of(make_parts, [y, *tf.gradients(y, [x, scale])], [x])
    for slot in program.slots:
        slot.put(np.full(shape, 3.0, np.float32))
    values = 1.0 + np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    results = HostProgram(program).run([values], Frame())
    # y = 3^7 x^8: whole numbers, which float32 has up to 2^24 exactly.
    for found, expected in zip(results, (2187 * values**8, 8 * 2187 * values**7, 7 * 729 * values**8), strict=True):
        assert found.shape == shape
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_planned_programs_make_what_plain_ones_make(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, [2, 3])
    parts = tf.split(tf.identity(x), 3, axis=1)
    joined = tf.concat([tf.identity(part) * 2.0 for part in parts], axis=1)
    branch = tf.cond(tf.reduce_sum(joined) > 0.0, lambda: joined + 1.0, lambda: tf.identity(x))
    outputs = [branch, *tf.unstack(joined, axis=0), *tf.tuple([x, joined])]
    program = program_of(make_parts, outputs, [x])
    for value in (np.ones((2, 3), np.float32), -np.ones((2, 3), np.float32)):
        planned, plain = (HostProgram(program, is_plain=is_plain).run([value], Frame()) for is_plain in (False, True))
        for found, expected in zip(planned, plain, strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("is_fetched", [True, False])
def test_a_gradient_for_images_that_nothing_takes_is_left_out(make_parts: MakeParts, is_fetched: bool) -> None:
    images, filters = tf.placeholder(tf.float32, [1, 4, 4, 1]), tf.placeholder(tf.float32, [3, 3, 1, 2])
    of_images, of_filters = tf.gradients(tf.nn.conv2d(images, filters, 1, "SAME"), [images, filters])
    with tf.control_dependencies([of_images, of_filters]):
        made = tf.identity(of_filters)
    fetches = [made, of_images] if is_fetched else [made]
    host = HostProgram(program_of(make_parts, fetches, [images, filters]))
    assert ("Conv2DBackpropInput" in {call.op.type for call in host.calls}) == is_fetched
    results = host.run([np.ones((1, 4, 4, 1), np.float32), np.ones((3, 3, 1, 2), np.float32)], PLAIN)
    assert (3, 3, 1, 2) in [result.shape for result in results]


@pytest.mark.parametrize("rows", [2, None])
def test_a_gradient_for_what_is_fed_is_left_out_where_it_surely_fits(make_parts: MakeParts, rows: int | None) -> None:
    fed, weights = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [3, rows])
    of_fed, of_weights = tf.gradients(tf.matmul(fed, weights), [fed, weights])
    with tf.control_dependencies([of_fed, of_weights]):
        made = tf.identity(of_weights)
    host = HostProgram(program_of(make_parts, [made], [fed, weights]))
    assert (of_fed.op.name in {call.op.name for call in host.calls}) == (rows is None)
    (result,) = host.run([np.ones((4, 3), np.float32), np.ones((3, 2), np.float32)], PLAIN)
    assert result.tolist() == [[4, 4]] * 3
