"""Learning-rate schedules against their formulas, and against TensorFlow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import weft as tf

STEPS = [0, 1, 4, 5, 9, 10, 14, 27]


def cosine(done: float) -> float:
    return 0.5 * (1 + math.cos(math.pi * done))


def restarted(t: int, first: float, t_mul: float, m_mul: float) -> float:
    length, rate, start = first, 1.0, 0.0
    while t >= start + length:
        start, length, rate = start + length, length * t_mul, rate * m_mul
    return rate * cosine((t - start) / length)


def cycled(t: int) -> float:
    length = 10 * max(1, math.ceil(t / 10))
    return (0.5 - 0.1) * (1 - t / length) ** 2 + 0.1


SCHEDULES: dict[str, tuple[str, Any]] = {
    "exponential": ("tf.train.exponential_decay(0.5, step, 10, 0.9)", lambda t: 0.5 * 0.9 ** (t / 10)),
    "staircase": ("tf.train.exponential_decay(0.5, step, 10, 0.9, staircase=True)", lambda t: 0.5 * 0.9 ** (t // 10)),
    "natural": ("tf.train.natural_exp_decay(0.5, step, 10, 0.9)", lambda t: 0.5 * math.exp(-0.9 * t / 10)),
    "natural staircase": (
        "tf.train.natural_exp_decay(0.5, step, 10, 0.9, True)", lambda t: 0.5 * math.exp(-0.9 * (t // 10)),
    ),
    "inverse time": ("tf.train.inverse_time_decay(0.5, step, 10, 0.9)", lambda t: 0.5 / (1 + 0.9 * t / 10)),
    "inverse time staircase": (
        "tf.train.inverse_time_decay(0.5, step, 10, 0.9, True)", lambda t: 0.5 / (1 + 0.9 * (t // 10)),
    ),
    "polynomial": (
        "tf.train.polynomial_decay(0.5, step, 10, 0.1, 2.0)", lambda t: 0.4 * (1 - min(t, 10) / 10) ** 2 + 0.1,
    ),
    "polynomial cycle": ("tf.train.polynomial_decay(0.5, step, 10, 0.1, 2.0, cycle=True)", cycled),
    "piecewise": (
        "tf.train.piecewise_constant(step, [4, 9], [0.5, 0.25, 0.125])",
        lambda t: 0.5 if t <= 4 else 0.25 if t <= 9 else 0.125,
    ),
    "cosine": ("tf.train.cosine_decay(0.5, step, 10, 0.2)", lambda t: 0.5 * (0.8 * cosine(min(t, 10) / 10) + 0.2)),
    "restarts": (
        "tf.train.cosine_decay_restarts(0.5, step, 4, 2.0, 0.5, 0.2)",
        lambda t: 0.5 * (0.8 * restarted(t, 4, 2.0, 0.5) + 0.2),
    ),
    "even restarts": (
        "tf.train.cosine_decay_restarts(0.5, step, 4, t_mul=1.0)", lambda t: 0.5 * restarted(t, 4, 1.0, 1.0),
    ),
    "linear cosine": (
        "tf.train.linear_cosine_decay(0.5, step, 10, 1.5, 0.1, 0.01)",
        lambda t: 0.5 * ((0.1 + 1 - min(t, 10) / 10) * cosine(3.0 * min(t, 10) / 10) + 0.01),
    ),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_follow_their_formulas(name, dtype):
    step = tf.placeholder(dtype, [])
    text, formula = SCHEDULES[name]
    rate = eval(text, {"tf": tf, "step": step})
    assert rate.dtype == tf.float32
    assert rate.shape == []
    with tf.Session() as session:
        found = [session.run(rate, {step: t}) for t in STEPS]
    np.testing.assert_allclose(found, [formula(t) for t in STEPS], rtol=2e-5, atol=1e-7)


def test_a_schedule_follows_the_global_step_of_a_program():
    step = tf.train.get_or_create_global_step()
    v = tf.Variable(0.0)
    rate = tf.train.exponential_decay(1.0, step, 1, 0.5)
    train = tf.train.GradientDescentOptimizer(rate).apply_gradients([(tf.constant(-1.0), v)], step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        assert session.run(v) == 1.75
        assert session.run(rate) == 0.125


def test_rates_in_double_precision():
    rate = tf.train.polynomial_decay(np.float64(0.5), tf.constant(5), 10, 0.1)
    assert rate.dtype == tf.float64


def test_restarts_with_a_factor_known_only_in_the_run():
    step, factor = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [])
    rate = tf.train.cosine_decay_restarts(0.5, step, 4, t_mul=factor)
    with tf.Session() as session:
        assert session.run(rate, {step: 9, factor: 1.0}) == pytest.approx(0.5 * restarted(9, 4, 1.0, 1.0))
        assert session.run(rate, {step: 9, factor: 2.0}) == pytest.approx(0.5 * restarted(9, 4, 2.0, 1.0))


def test_noise_grows_smaller():
    step = tf.placeholder(tf.int32, [])
    rate = tf.train.noisy_linear_cosine_decay(0.5, step, 1000, initial_variance=1.0, variance_decay=2.0)
    with tf.Session() as session:
        early = [session.run(rate, {step: 0}) for _ in range(40)]
        late = [session.run(rate, {step: 500}) for _ in range(40)]
    assert np.std(early) > 20 * np.std(late) > 0


def test_the_node_has_the_name_given():
    assert tf.train.exponential_decay(0.5, tf.constant(1), 10, 0.9).name == "ExponentialDecay:0"
    assert tf.train.exponential_decay(0.5, tf.constant(1), 10, 0.9, name="rate").name == "rate:0"


def test_a_step_is_needed():
    for decay in (tf.train.exponential_decay, tf.train.natural_exp_decay, tf.train.inverse_time_decay):
        with pytest.raises(ValueError, match="global_step is required for"):
            decay(0.1, None, 10, 0.9)


def test_values_are_one_more_than_boundaries():
    with pytest.raises(ValueError, match="The length of boundaries should be 1 less than the length of values"):
        tf.train.piecewise_constant(tf.constant(1), [1, 2], [1.0, 2.0])


def test_boundaries_have_the_type_of_the_step():
    with pytest.raises(ValueError, match=r"Boundaries \(.*float32.*\) must have the same dtype as x \(.*int32.*\)"):
        tf.train.piecewise_constant(tf.constant(1), [1.0, 2.0], [1.0, 2.0, 3.0])


def test_values_have_one_type():
    with pytest.raises(ValueError, match="Values must have elements all with the same dtype"):
        tf.train.piecewise_constant(tf.constant(1), [1, 2], [1.0, 2.0, 3])


@pytest.mark.oracle
def test_schedules_are_those_of_tensorflow(tensorflow):
    theirs = tensorflow(
        """
        step = tf.placeholder(tf.int32, [])
        made = {name: eval(text) for name, text in arguments["schedules"].items()}
        with tf.Session() as session:
            result = {n: [float(session.run(r, {step: t})) for t in arguments["steps"]] for n, r in made.items()}
        """,
        schedules={name: text for name, (text, _) in SCHEDULES.items()},
        steps=STEPS,
    )
    step = tf.placeholder(tf.int32, [])
    with tf.Session() as session:
        for name, values in theirs.items():
            rate = eval(SCHEDULES[name][0], {"tf": tf, "step": step})
            found = [session.run(rate, {step: t}) for t in STEPS]
            np.testing.assert_allclose(found, values, rtol=1e-5, atol=1e-7, err_msg=name)


@pytest.mark.parametrize(
    ("schedule", "names"),
    [
        (
            lambda step: tf.train.exponential_decay(0.1, step, 10, 0.9),
            ["initial_learning_rate", "Cast/x", "Cast", "Cast_1/x", "Cast_2", "truediv", "Pow", ""],
        ),
        (
            lambda step: tf.train.inverse_time_decay(0.1, step, 10, 0.9),
            ["initial_learning_rate", "Cast/x", "Cast", "Cast_1/x", "Cast_2", "truediv", "Const", "Cast_3", "Mul", "Add", ""],
        ),
    ],
)
def test_a_schedules_nodes_are_tensorflows(schedule: Any, names: list[str]) -> None:
    with tf.Graph().as_default() as graph:
        scope = schedule(tf.Variable(0, name="step")).op.name
        assert [op.name for op in graph.get_operations() if op.name.startswith(scope)] == [
            f"{scope}/{name}".rstrip("/") for name in names
        ]


@pytest.mark.parametrize(("boundaries", "nodes"), [([100], 41), ([100, 200], 58), ([100, 200, 300], 77)])
def test_steps_count_as_many_nodes_as_tensorflows_case(boundaries: list[int], nodes: int) -> None:
    with tf.Graph().as_default() as graph:
        step = tf.train.get_or_create_global_step()
        before = graph.last_id
        rate = tf.train.piecewise_constant(step, boundaries, [1.0] * (len(boundaries) + 1))
        assert (graph.last_id - before, rate.name) == (nodes, "PiecewiseConstant/case/cond/Merge:0")


@pytest.mark.parametrize(("cycle", "nodes"), [(False, 15), (True, 26)])
def test_a_polynomials_nodes_are_as_many_as_tensorflows(cycle: bool, nodes: int) -> None:
    with tf.Graph().as_default() as graph:
        step = tf.train.get_or_create_global_step()
        before = graph.last_id
        tf.train.polynomial_decay(0.1, step, 10, cycle=cycle)
        assert graph.last_id - before == nodes
