"""Ordinary differential equations. Expected values are TensorFlow 1.15.5's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

integrate = tf.contrib.integrate
_TIMES = [0.0, 0.5, 1.0, 2.0]


def _swing(y: Any, t: Any) -> Any:
    return tf.stack([y[1], -y[0] - 0.1 * y[1]])


def _run(value: Any) -> Any:
    with tf.Session() as session:
        return session.run(value)


def test_steps_follow_the_error() -> None:
    start = tf.constant([1.0, 0.0], tf.float64)
    states, told = _run(integrate.odeint(_swing, start, _TIMES, full_output=True))
    expected = [[1.0, 0.0], [0.87958902, -0.4676382], [0.55499132, -0.80079027], [-0.33324904, -0.82473687]]
    np.testing.assert_allclose(states, expected, rtol=1e-6, atol=1e-6)
    assert told["num_func_evals"] == 73
    ends = [1.0, 0.25954857, 0.20842952, 0.4083728, 0.6384921, 0.8900779, 1.153007, 1.4101224, 1.6458132, 1.6107702]
    np.testing.assert_allclose(told["integrate_points"][:10], ends, rtol=1e-5)
    np.testing.assert_allclose(told["error_ratio"][:3], [501.324868, 1.76811071, 0.726899656], rtol=1e-5)


def test_states_may_be_complex() -> None:
    found = _run(integrate.odeint(lambda y, t: 1j * y, tf.constant(1.0 + 0j), [0.0, 1.0, 2.0]))
    np.testing.assert_allclose(found, np.exp(1j * np.arange(3)), atol=1e-5)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [[0.87966144, -0.46739325], [0.5553478, -0.80044997], [-0.32515252, -0.82363814]]),
        ({"method": "midpoint"}, [[0.875, -0.4875], [0.52796876, -0.8293594], [-0.52390707, -0.8374609]]),
    ],
)
def test_steps_of_a_given_size(options: dict[str, Any], expected: Any) -> None:
    found = _run(integrate.odeint_fixed(_swing, tf.constant([1.0, 0.0]), _TIMES, **options))
    np.testing.assert_allclose(found[1:], expected, rtol=1e-5)


def test_several_steps_to_each_time() -> None:
    def slope(y: Any, t: Any) -> Any:
        return y * y * t + t * t * t

    times, size = tf.constant([0.0, 0.7, 1.4], tf.float64), tf.constant(0.3, tf.float64)
    found = _run(integrate.odeint_fixed(slope, tf.constant(0.5, tf.float64), times, dt=size))
    np.testing.assert_allclose(found, [0.5, 0.63581654, 3.62528142], rtol=1e-7)
    listed = _run(integrate.odeint_fixed(_swing, [1.0, 0.0], [0.0, 0.5, 1.0], dt=[0.1, 0.2], method="midpoint"))
    np.testing.assert_allclose(listed[1:], [[0.87918, -0.46832347], [0.5524756, -0.8023196]], rtol=1e-5)


def test_gradients_go_through_the_steps() -> None:
    rate = tf.constant(0.5, tf.float64)
    free = integrate.odeint(lambda y, t: -rate * y, tf.constant(1.0, tf.float64), [0.0, 1.0, 2.0])
    fixed = integrate.odeint_fixed(lambda y, t: -rate * y, tf.constant(1.0, tf.float64), [0.0, 1.0, 2.0])
    found = _run([tf.gradients(free[-1], rate)[0], tf.gradients(fixed[-1], rate)[0]])
    np.testing.assert_allclose(found, [-0.73575953, -0.7331814], rtol=1e-6)


def test_what_cannot_be_solved_is_refused() -> None:
    one = tf.constant(1.0, tf.float64)
    with pytest.raises(ValueError, match="method not supported: euler"):
        integrate.odeint_fixed(_swing, [1.0, 0.0], [0.0, 1.0], method="euler")
    with pytest.raises(ValueError, match="t must be a 1D tensor"):
        integrate.odeint_fixed(_swing, [1.0, 0.0], [[0.0, 1.0]])
    with pytest.raises(TypeError, match="`y0` must have a floating point or complex floating point dtype"):
        integrate.odeint(lambda y, t: -y, 1, [0.0, 1.0])
    with pytest.raises(ValueError, match="cannot supply `options` without specifying `method`"):
        integrate.odeint(_swing, [1.0, 0.0], [0.0, 1.0], options={"safety": 0.8})
    with pytest.raises(ValueError, match="invalid method: 'x'"):
        integrate.odeint(_swing, [1.0, 0.0], [0.0, 1.0], method="x")
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'x'"):
        integrate.odeint(_swing, [1.0, 0.0], [0.0, 1.0], method="dopri5", options={"x": 1})
    with pytest.raises(tf.errors.InvalidArgumentError, match="`t` must be monotonic increasing"):
        _run(integrate.odeint(lambda y, t: -y, one, [1.0, 0.0]))
    few = integrate.odeint(lambda y, t: -100 * y, one, [0.0, 10.0], method="dopri5", options={"max_num_steps": 3})
    with pytest.raises(tf.errors.InvalidArgumentError, match="max_num_steps exceeded"):
        _run(few)
