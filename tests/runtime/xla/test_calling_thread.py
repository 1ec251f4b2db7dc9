"""Light code computes on the thread that calls it, on arrays that are used where they lie."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import weft as tf
from tests.runtime.conftest import MakeParts
from weft.platform.machine.aligned_memory import aligned_empty
from weft.runtime.choice import compile_rules
from weft.runtime.choice.compile_rules import COLD_RUNS, LIGHT_GROWTH
from weft.runtime.stage_builder import build_stages
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.session_state import SessionState
from weft.runtime.xla.calling_thread import COMPILER_OPTIONS, calling_thread_device
from weft.runtime.xla.xla_process import start

LARGE = 1 << 16


class Light:
    """The one stage of some fetches, run until it is compiled."""

    def __init__(self, parts: Any, *inputs: Any) -> None:
        resources = ResourceManager("a")
        (self.stage,) = build_stages(parts["a"], resources).stages
        self._session = SessionState(resources, None)
        for _ in range(COLD_RUNS + 1):
            self.run(*inputs)

    def run(self, *inputs: Any) -> Any:
        return self.stage.run(inputs, self._session, None, None)

    @property
    def is_light(self) -> bool:
        assert self.stage.compiled is not None
        return self.stage.compiled.is_light


def off_by_four_bytes(count: int) -> Any:
    return aligned_empty((count + 1,), np.float32)[1:]


def test_what_is_little_work_computes_on_the_calling_thread(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, [None])
    light = Light(make_parts([x * 2.0 + 1.0], [x]), np.ones(8, np.float32))
    assert light.is_light
    (made,) = light.run(np.ones(8, np.float32))
    assert type(made) is np.ndarray
    assert made.tolist() == [3] * 8


def test_what_is_more_work_does_not(make_parts: MakeParts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_rules, "LIGHT_BYTES", 0)
    x = tf.placeholder(tf.float32, [None])
    assert not Light(make_parts([x * 2.0], [x]), np.ones(8, np.float32)).is_light


def test_what_uses_variables_does_not(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, [2])
    v = tf.Variable([0.0, 0.0])
    parts = make_parts([v.assign(x * 2.0 + 1.0)], [x])
    assert not Light(parts, np.ones(2, np.float32)).is_light


def test_inputs_that_have_grown_much_go_to_the_usual_threads(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, [None])
    light = Light(make_parts([x * 2.0], [x]), np.ones(8, np.float32))
    assert light.is_light
    assert np.asarray(light.run(np.ones(8 * LIGHT_GROWTH + 1, np.float32))[0]).tolist() == [2] * (8 * LIGHT_GROWTH + 1)
    assert not light.is_light
    assert np.asarray(light.run(np.ones(8, np.float32))[0]).tolist() == [2] * 8


def test_its_results_are_used_by_code_of_the_usual_threads() -> None:
    x = tf.placeholder(tf.float32, [3])
    v = tf.Variable([0.0, 0.0, 0.0])
    made = tf.py_func(lambda value: value + 1, [x * 2.0 + 1.0], tf.float32)
    added = v.assign_add(tf.reshape(made, [3]) * 2.0)
    with tf.Session() as session:
        session.run(v.initializer)
        for step in range(1, 2 * COLD_RUNS):
            assert session.run(added, {x: [0.0, 1.0, 2.0]}).tolist() == [4.0 * step, 8.0 * step, 12.0 * step]


def test_no_code_of_it_is_divided_between_threads() -> None:
    start()
    x = np.ones(1 << 20, np.float32)
    with jax.default_device(calling_thread_device()):
        compiled = jax.jit(lambda x: x * 2.0 + 1.0, compiler_options=COMPILER_OPTIONS).lower(x).compile()
    assert "outer_dimension_partitions" not in compiled.as_text()
    assert np.asarray(compiled(x))[0] == 3.0
