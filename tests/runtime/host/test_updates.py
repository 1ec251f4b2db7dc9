"""A stage that only updates variables does the same on the host, in XLA, and where each node takes locks of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.runtime.conftest import MakeParts
from tests.runtime.test_stage import Staged, jit
from weft.errors import FailedPreconditionError, InvalidArgumentError
from weft.runtime.choice import compile_rules
from weft.runtime.choice.compile_rules import COLD_RUNS
from weft.runtime.choice.program_traits import updates_only
from weft.runtime.host.frame import PLAIN
from weft.runtime.host.host_program import HostProgram

OPTIMIZERS = {
    "descent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "rms": lambda: tf.train.RMSPropOptimizer(0.1),
}


def _training(make_parts: MakeParts, optimizer: str, use_resource: bool) -> tuple[Any, list[Any]]:
    gradients = [tf.placeholder(tf.float32, [3]) for _ in range(2)]
    variables = [tf.get_variable(f"v{i}", [3], use_resource=use_resource) for i in range(2)]
    train = OPTIMIZERS[optimizer]().apply_gradients(zip(gradients, variables, strict=True))
    return make_parts([], gradients, [train])["a"], gradients


def _start(staged: Staged) -> None:
    for place, slot in enumerate(sorted(staged.stage.program.slots, key=lambda slot: slot.name)):
        slot.put(np.full(3, 1.0 + place, np.float32))


def _values(staged: Staged) -> dict[str, Any]:
    return {slot.name: np.asarray(slot.value).tolist() for slot in staged.stage.program.slots}


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_all_ways_update_alike(make_parts: MakeParts, optimizer: str, use_resource: bool) -> None:
    partition, _ = _training(make_parts, optimizer, use_resource)
    fed = [np.array([1, 2, 3], np.float32), np.array([-1, 0, 1], np.float32)]
    found = []
    for way in ("locked", "one by one", "compiled"):
        staged = Staged(partition, jit(tf.OptimizerOptions.ON_1) if way == "compiled" else None)
        _start(staged)
        alone = HostProgram(staged.stage.program)
        for _ in range(3):
            if way == "one by one":
                alone.run(fed, PLAIN)
            else:
                staged.run(*fed)
        assert staged.is_compiled == (way == "compiled")
        found.append(_values(staged))
    for other in found[1:]:
        assert other.keys() == found[0].keys()
        for name, value in other.items():
            np.testing.assert_allclose(value, found[0][name], rtol=1e-5)


def test_it_stays_on_the_host_however_often_it_runs(make_parts: MakeParts) -> None:
    counter = tf.get_variable("v", [], use_resource=False)
    staged = Staged(make_parts([], targets=[tf.assign_add(counter, 1.0).op])["a"])
    (slot,) = staged.stage.program.slots
    slot.put(np.zeros((), np.float32))
    for run in range(4 * COLD_RUNS):
        staged.run()
        assert np.asarray(slot.value) == run + 1
    assert not staged.is_compiled
    assert staged.stage.explain("").why == "updates of 4 B, at most 2 MB"


def test_what_computes_or_returns_something_is_no_such_stage(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, [100])
    counter = tf.get_variable("v", [100], use_resource=False)
    added = tf.assign_add(counter, x)
    for partition in (
        make_parts([added], [x])["a"],
        make_parts([], [x], [tf.assign_add(counter, x * 2.0).op])["a"],
        make_parts([], [x], [tf.assign(counter, x).op])["a"],
        make_parts([], targets=[tf.scatter_add(tf.get_variable("t", [4, 2]), [1], [[1.0, 1.0]]).op])["a"],
    ):
        assert not updates_only(Staged(partition).stage.program)


def test_a_variable_without_a_value_is_named(make_parts: MakeParts) -> None:
    partition, _ = _training(make_parts, "descent", use_resource=False)
    with pytest.raises(FailedPreconditionError, match="Attempting to use uninitialized value v0"):
        Staged(partition).run(*[np.ones(3, np.float32)] * 2)


def test_a_gradient_of_another_shape_is_refused_with_the_node(make_parts: MakeParts) -> None:
    partition, _ = _training(make_parts, "descent", use_resource=False)
    staged = Staged(partition)
    _start(staged)
    with pytest.raises(InvalidArgumentError) as caught:
        staged.run(np.ones(2, np.float32), np.ones(3, np.float32))
    assert caught.value.op is not None
    assert caught.value.op.type == "ApplyGradientDescent"


def test_steps_beside_each_other_lose_no_update() -> None:
    with tf.Graph().as_default(), tf.Session() as session, ThreadPoolExecutor(4) as pool:
        total = tf.Variable(0, dtype=tf.int64)
        update = tf.assign_add(total, tf.constant(1, tf.int64)).op
        session.run(total.initializer)
        for done in [pool.submit(session.run, update) for _ in range(1000)]:
            done.result()
        assert session.run(total) == 1000


@pytest.mark.parametrize("limit", ["size", "setting"])
def test_large_variables_and_sessions_that_always_compile_are_left_to_xla(
    make_parts: MakeParts, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    partition, _ = _training(make_parts, "descent", use_resource=False)
    if limit == "size":
        monkeypatch.setattr(compile_rules, "HOST_UPDATE_BYTES", 8)
    staged = Staged(partition, jit(tf.OptimizerOptions.ON_1) if limit == "setting" else None)
    _start(staged)
    for _ in range(COLD_RUNS + 1):
        staged.run(np.ones(3, np.float32), np.ones(3, np.float32))
    assert staged.is_compiled


@pytest.mark.parametrize("shape", [(), (1,), (2, 3)])
@pytest.mark.parametrize("use_resource", [False, True])
def test_what_would_be_broadcast_is_refused_either_way(
    make_parts: MakeParts, use_resource: bool, shape: tuple[int, ...]
) -> None:
    gradient = tf.placeholder(tf.float32)
    variable = tf.get_variable("v", [3], use_resource=use_resource)
    descent = tf.train.GradientDescentOptimizer(0.1).apply_gradients([(gradient, variable)])
    added = variable.assign_add(gradient).op if use_resource else tf.assign_add(variable, gradient).op
    for target, message in (
        (descent, "var and delta do not have the same shape"),
        (added, "Cannot update variable with shape .3. using a Tensor with shape"),
    ):
        for config in (None, jit(tf.OptimizerOptions.ON_1)):
            staged = Staged(make_parts([], [gradient], [target])["a"], config)
            _start(staged)
            with pytest.raises(InvalidArgumentError, match=message):
                staged.run(np.ones(shape, np.float32))
            assert _values(staged) == {"v": [1.0, 1.0, 1.0]}
