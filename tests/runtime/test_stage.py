"""A stage is passed on, interpreted or compiled by what it holds, how often it has run and how large it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.runtime.conftest import MakeParts
from weft.errors import FailedPreconditionError, InvalidArgumentError
from weft.passes.stage import Kind
from weft.runtime.cancellation import Cancellation
from weft.runtime.choice import compile_rules
from weft.runtime.choice.changing_sizes import COMPILED_AT_ONCE
from weft.runtime.choice.compile_rules import COLD_RUNS
from weft.runtime.host_context import HostContext
from weft.runtime.stage import Stage
from weft.runtime.stage_builder import build_stages
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.session_state import SessionState


class Staged:
    """The only stage of a partition, its resources and its session."""

    def __init__(self, partition: Any, config: Any = None) -> None:
        self.resources = ResourceManager("a")
        (self.stage,) = build_stages(partition, self.resources).stages
        self.session = SessionState(self.resources, config)

    def run(self, *inputs: Any, trace: Any = None) -> list[Any]:
        return [np.asarray(value) for value in self.stage.run(inputs, self.session, self._context, trace)]

    def _context(self, op: Any) -> HostContext:
        return HostContext(op, self.stage.device, 0, self.session, Cancellation())

    @property
    def is_compiled(self) -> bool:
        return self.stage.compiled is not None


def jit(level: int) -> tf.ConfigProto:
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = level
    return config


@pytest.fixture
def doubled(make_parts: MakeParts) -> Any:
    x = tf.placeholder(tf.float32, [None])
    return make_parts([x * 2.0 + 1.0], [x])["a"]


def test_a_stage_is_interpreted_until_it_has_run_often(doubled: Any) -> None:
    staged = Staged(doubled)
    for run in range(COLD_RUNS + 3):
        assert staged.is_compiled == (run > COLD_RUNS)
        assert staged.run(np.ones(2, np.float32))[0].tolist() == [3, 3]
    assert staged.is_compiled


def test_a_stage_that_takes_long_is_compiled_before_it_has_run_often(doubled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_rules, "COLD_BYTES", 0)
    staged = Staged(doubled)
    staged.run(np.ones(2, np.float32))
    assert not staged.is_compiled
    assert staged.run(np.ones(2, np.float32))[0].tolist() == [3, 3]
    assert staged.is_compiled


@pytest.mark.parametrize(("level", "compiled"), [(tf.OptimizerOptions.ON_1, True), (tf.OptimizerOptions.OFF, False)])
def test_the_session_decides_when_it_says_so(doubled: Any, level: int, compiled: bool) -> None:
    staged = Staged(doubled, jit(level))
    for _ in range(2 * COLD_RUNS):
        staged.run(np.ones(2, np.float32))
        assert staged.is_compiled is compiled


def test_a_large_stage_is_compiled_at_once(make_parts: MakeParts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_rules, "COLD_NODES", 3)
    x = tf.placeholder(tf.float32, [])
    staged = Staged(make_parts([((x + 1) * 2 - 3) / 4], [x])["a"])
    assert staged.run(np.float32(3))[0] == 1.25
    assert staged.is_compiled


def test_initial_values_are_interpreted_however_many_they_are(make_parts: MakeParts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_rules, "COLD_NODES", 3)
    variables = [tf.Variable(tf.random_uniform([2], seed=1) * 2.0 + 1.0) for _ in range(4)]
    staged = Staged(make_parts([], [], [tf.group(*[v.initializer for v in variables], name="g")])["a"])
    staged.run()
    assert all(slot.value.shape == (2,) for slot in staged.stage.program.slots)
    assert not staged.is_compiled


def test_what_only_moves_values_is_passed_on(make_parts: MakeParts) -> None:
    variable = tf.Variable([1.0, 2.0])
    staged = Staged(make_parts([tf.identity(variable)])["a"])
    slot = staged.stage.program.slots[0]
    slot.put(np.array([1, 2], np.float32))
    for _ in range(2 * COLD_RUNS):
        assert staged.run()[0] is slot.value
    assert not staged.is_compiled


def test_a_host_stage_is_one_kernel_and_never_compiled(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.string, [None])
    staged = Staged(make_parts([tf.string_to_number(x)], [x])["a"], jit(tf.OptimizerOptions.ON_1))
    assert staged.stage.kind is Kind.HOST
    assert staged.run(np.array([b"1.5"], object))[0].tolist() == [1.5]
    assert not staged.is_compiled


def test_sizes_that_keep_changing_are_interpreted_after_a_few(doubled: Any) -> None:
    staged = Staged(doubled, None)
    for _ in range(COLD_RUNS + 1):
        staged.run(np.ones(1, np.float32))
    for size in range(2, 40):
        assert staged.run(np.ones(size, np.float32))[0].tolist() == [3] * size
    assert staged.stage.compiled is not None
    assert staged.stage.compiled.compilations == COMPILED_AT_ONCE


@pytest.mark.parametrize("level", [tf.OptimizerOptions.ON_1, tf.OptimizerOptions.OFF])
def test_an_update_is_the_same_compiled_and_interpreted(make_parts: MakeParts, level: int) -> None:
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([10.0, 20.0])
    x = tf.placeholder(tf.float32, [2])
    staged = Staged(make_parts([], [x], [tf.group(v.assign_add(w._variable * x), name="g")])["a"], jit(level))
    slots = {slot.name: slot for slot in staged.stage.program.slots}
    with pytest.raises(FailedPreconditionError, match="Attempting to use uninitialized value Variable"):
        staged.run(np.ones(2, np.float32))
    slots["Variable"].put(np.array([1, 2], np.float32))
    slots["Variable_1"].put(np.array([10, 20], np.float32))
    for run in range(1, 4):
        staged.run(np.ones(2, np.float32))
        assert np.asarray(slots["Variable"].value).tolist() == [1 + 10 * run, 2 + 20 * run]
    assert all(slot.lock.acquire(blocking=False) for slot in slots.values())


def test_a_failed_dispatch_leaves_no_lock_and_no_half_update(make_parts: MakeParts) -> None:
    v = tf.Variable([1.0, 2.0])
    x = tf.placeholder(tf.float32, [None])
    staged = Staged(make_parts([], [x], [v.assign_add(x).op])["a"], jit(tf.OptimizerOptions.ON_1))
    (slot,) = staged.stage.program.slots
    slot.put(np.array([1, 2], np.float32))
    staged.run(np.ones(2, np.float32))
    with pytest.raises(InvalidArgumentError):
        staged.run(np.ones(3, np.float32))
    assert np.asarray(slot.value).tolist() == [2, 3]
    assert slot.lock.acquire(blocking=False)


@pytest.mark.parametrize(("code_s", "on_host"), [(100.0, 8), (1e-9, 0)])
def test_rounds_of_a_compiled_stage_run_on_the_host_where_they_were_quicker(
    doubled: Any, code_s: float, on_host: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged = Staged(doubled)
    for _ in range(COLD_RUNS + 1):
        staged.run(np.ones(3, np.float32))
    assert staged.is_compiled
    # As where code is made beside the steps, by times that were measured before.
    monkeypatch.setattr(staged.session, "waits_for_code", False)
    monkeypatch.setattr(staged.stage, "_round_s", 0.001)
    monkeypatch.setattr(staged.stage.times.compiled, "timed_runs", 4)
    monkeypatch.setattr(staged.stage.times.compiled, "timed_s", 4 * code_s)
    before = staged.stage.times.host.runs
    rounds = [(np.full(3, number, np.float32),) for number in range(8)]
    made, error = staged.stage.run_rounds(rounds, staged.session, staged._context)
    assert error is None
    assert [np.asarray(value).tolist() for (value,) in made] == [[2.0 * number + 1] * 3 for number in range(8)]
    assert staged.stage.times.host.runs - before == on_host


def test_a_traced_run_tells_the_time_of_each_node(doubled: Any) -> None:
    staged = Staged(doubled)
    told: list[tuple[str, str]] = []
    values = staged.run(np.ones(2, np.float32), trace=lambda device, op, begin, end: told.append((device, op.type)))
    assert values[0].tolist() == [3, 3]
    assert {kind for _, kind in told} >= {"Mul", "AddV2"}
    assert {device for device, _ in told} == {staged.stage.device}


def test_a_stage_knows_which_inputs_are_the_programs(doubled: Any) -> None:
    stage: Stage = Staged(doubled).stage
    assert stage.wiring.fed == (0,)
    assert not stage.may_block


def _run_often(partition: Any, shape: list[int], count: int) -> tuple[Staged, list[Any]]:
    staged = Staged(partition)
    inputs = [np.full(shape, place, np.float32) for place in range(count)]
    for _ in range(COLD_RUNS + 2):
        results = staged.run(*inputs)
    return staged, results


@pytest.mark.parametrize(
    ("count", "elements", "compiled"), [(32, 8, False), (32, 4096, True), (15, 8, True)], ids=["wide", "large", "narrow"]
)
def test_many_small_arrays_that_are_only_put_together_stay_on_numpy(
    make_parts: MakeParts, count: int, elements: int, compiled: bool
) -> None:
    fed = [tf.placeholder(tf.float32, [elements]) for _ in range(count)]
    staged, results = _run_often(make_parts([tf.stack(fed)[:, 0], tf.add_n(fed)], fed)["a"], [elements], count)
    assert staged.is_compiled == compiled
    assert results[0].tolist() == list(range(count))
    assert results[1].tolist() == [sum(range(count))] * elements


def test_many_arrays_that_are_computed_on_are_compiled(make_parts: MakeParts) -> None:
    fed = [tf.placeholder(tf.float32, [8]) for _ in range(32)]
    staged, _ = _run_often(make_parts([tf.add_n([tf.square(each) for each in fed])], fed)["a"], [8], 32)
    assert staged.is_compiled


def test_what_only_leaves_the_task_is_known(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, [2])
    with tf.device("/job:a"):
        sent, both = x * 2.0, x * 3.0
    with tf.device("/job:b"):
        result = sent + both
    partition = make_parts([result, both], [x])["a"]
    (stage,) = build_stages(partition, ResourceManager("a")).stages
    leaving = {stage.program.outputs[place] for place in stage.wiring.leaving}
    assert leaving == {sent}


def _shortened_by_a_branch(x: tf.Tensor, is_short: tf.Tensor) -> tf.Tensor:
    return tf.cond(is_short, lambda: x[:2], lambda: x * 3.0)


def _shortened_by_a_loop(x: tf.Tensor, is_short: tf.Tensor) -> tf.Tensor:
    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    return tf.while_loop(
        lambda i, _: i < tf.cast(is_short, tf.int32), lambda i, part: (i + 1, part[:2]), [0, x], shape_invariants=shapes
    )[1]


@pytest.mark.parametrize(("shortened", "last"), [(_shortened_by_a_branch, [3, 6, 9]), (_shortened_by_a_loop, [1, 2, 3])])
def test_values_that_change_their_shape_run_on_the_host_behind_sizes_that_were_compiled(
    shortened: Callable[[tf.Tensor, tf.Tensor], tf.Tensor], last: list[float]
) -> None:
    x, is_short = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.bool, [])
    y = shortened(x, is_short)
    (gradient,) = tf.gradients(y, x)
    with tf.Session(config=jit(tf.OptimizerOptions.ON_1)) as session:
        # Of two, both ways have one shape.
        found = [session.run([y, gradient], {x: value, is_short: True}) for value in ([1.0, 2.0], [1.0, 2.0, 3.0])]
        assert [each.tolist() for each in found[0]] == [[1, 2], [1, 1]]
        assert [each.tolist() for each in found[1]] == [[1, 2], [1, 1, 0]]
        assert session.run(y, {x: [1.0, 2.0, 3.0], is_short: False}).tolist() == last
