"""The two-player optimizers of constrained problems. All numbers and names are TensorFlow 1.15.5's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf

_CONSTRAINED = tf.contrib.constrained_optimization
_Descent = tf.train.GradientDescentOptimizer
_ADDED = "external_regret_optimizer_state"
_SWAPPED = "swap_regret_optimizer_state"


class _Problem(_CONSTRAINED.ConstrainedMinimizationProblem):
    """The point nearest to one that violates two of three constraints."""

    def __init__(self, weights: tf.Variable, has_proxies: bool = False, before: list[Any] | None = None) -> None:
        point = tf.identity(weights)
        self._objective = tf.reduce_sum(tf.square(point - tf.constant([2.0, -1.0, 0.5])))
        self._constraints = tf.stack([point[0] - 1.0, 0.3 - point[1], point[2] * point[0] - 0.1])
        self._proxies = tf.stack([point[0] - 0.9, 0.2 - point[1], point[2] - 0.1]) if has_proxies else None
        self._before = before

    @property
    def objective(self) -> tf.Tensor:
        return self._objective

    @property
    def constraints(self) -> tf.Tensor:
        return self._constraints

    @property
    def proxy_constraints(self) -> tf.Tensor | None:
        return self._proxies

    @property
    def pre_train_ops(self) -> list[Any] | None:
        return self._before


class _Given(_CONSTRAINED.ConstrainedMinimizationProblem):
    def __init__(self, *tensors: tf.Tensor) -> None:
        self._tensors = (*tensors, None)

    @property
    def objective(self) -> tf.Tensor:
        return self._tensors[0]

    @property
    def constraints(self) -> tf.Tensor:
        return self._tensors[1]

    @property
    def proxy_constraints(self) -> tf.Tensor | None:
        return self._tensors[2]


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _weights() -> tf.Variable:
    return tf.get_variable("w", [3], initializer=tf.zeros_initializer(), use_resource=True)


def _after(step: Any, steps: int = 12) -> dict[str, np.ndarray]:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(step)
        return {each.op.name: session.run(each) for each in tf.global_variables()}


def test_multipliers_grow_where_constraints_are_violated() -> None:
    optimizer = _CONSTRAINED.AdditiveExternalRegretOptimizer(_Descent(0.1))
    found = _after(optimizer.minimize(_Problem(_weights())))
    np.testing.assert_allclose(found["w"], [1.74336, -0.65085, 0.31884], atol=1e-4)
    np.testing.assert_allclose(found[_ADDED], [0.43594, 0.99957, 0.37909], atol=1e-4)


def test_multipliers_have_an_optimizer_and_a_bound_of_their_own_and_the_problem_operations_before_each_step() -> None:
    weights, count = _weights(), tf.Variable(0, trainable=False, name="count")
    problem = _Problem(weights, has_proxies=True, before=[tf.assign_add(count, 1)])
    optimizer = _CONSTRAINED.AdditiveExternalRegretOptimizer(_Descent(0.1), tf.train.AdamOptimizer(0.2), 1.0)
    assert (type(optimizer.optimizer), type(optimizer.constraint_optimizer)) == (_Descent, tf.train.AdamOptimizer)
    found = _after(optimizer.minimize(problem, global_step=tf.train.get_or_create_global_step()))
    np.testing.assert_allclose(found["w"], [1.86256, -0.50565, 0.46153], atol=1e-4)
    np.testing.assert_allclose(found[_ADDED], [0.0, 1.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(found[f"{_ADDED}/Adam"], [-0.29015, -0.544, -0.31876], atol=1e-4)
    assert (found["count"], found["global_step"]) == (12, 12)


def test_an_added_matrix_stays_one_of_distributions() -> None:
    found = _after(_CONSTRAINED.AdditiveSwapRegretOptimizer(_Descent(0.1)).minimize(_Problem(_weights())))
    np.testing.assert_allclose(found["w"], [1.78748, -0.785, 0.44703], atol=1e-4)
    expected = [[0.55488, 0.99827, 0.90789, 0.99981], [0.02778, 0.00032, 0.00981, 0.00004]]
    np.testing.assert_allclose(found[_SWAPPED][:2], expected, atol=1e-4)
    np.testing.assert_allclose(found[_SWAPPED].sum(axis=0), np.ones(4), atol=1e-5)


def test_an_added_matrix_has_an_optimizer_of_its_own() -> None:
    optimizer = _CONSTRAINED.AdditiveSwapRegretOptimizer(_Descent(0.1), _Descent(0.3))
    step = tf.train.get_or_create_global_step()
    found = _after(optimizer.minimize(_Problem(_weights(), has_proxies=True), global_step=step))
    np.testing.assert_allclose(found["w"], [1.66476, -0.56948, 0.41652], atol=1e-4)
    np.testing.assert_allclose(found[_SWAPPED][2], [0.89239, 0.00497, 0.45436, 0.00081], atol=1e-4)


def test_a_multiplied_matrix_is_kept_as_its_logarithm() -> None:
    optimizer = _CONSTRAINED.MultiplicativeSwapRegretOptimizer(tf.train.AdamOptimizer(0.1), _Descent(1.0), 0.01, 0.2)
    step = tf.train.get_or_create_global_step()
    found = _after(optimizer.minimize(_Problem(_weights(), has_proxies=True), global_step=step))
    np.testing.assert_allclose(found["w"], [1.10808, -0.90422, 0.70499], atol=1e-3)
    np.testing.assert_allclose(found[_SWAPPED][1], [-5.99146, -3.11792, -4.76696, -3.25337], atol=2e-3)


@pytest.mark.parametrize(
    ("kind", "options", "steps", "weights", "state"),
    [
        ("AdditiveExternalRegretOptimizer", {}, 5, [1.75332, -0.77057, 0.34073], [0.42271, 0.75092, 0.35575]),
        (
            "MultiplicativeSwapRegretOptimizer",
            {"minimum_multiplier_radius": 0.1},
            3,
            [1.81376, -0.89838, 0.43677],
            [-0.13241, -0.07921, -0.07959, -0.07921],
        ),
    ],
)
def test_constraints_may_count_from_a_step_on(
    kind: str, options: dict[str, float], steps: int, weights: list[float], state: list[float]
) -> None:
    optimizer = getattr(_CONSTRAINED, kind)(_Descent(0.1), **options)
    train = optimizer.minimize(
        _Problem(_weights()), unconstrained_steps=steps, global_step=tf.train.get_or_create_global_step()
    )
    assert train.name == "cond/Merge:0"
    found = _after(train)
    np.testing.assert_allclose(found["w"], weights, atol=1e-4)
    [name] = [each for each in found if each.endswith("regret_optimizer_state")]
    assert name.startswith("cond/")
    np.testing.assert_allclose(np.atleast_2d(found[name])[0], state, atol=1e-4)


def test_the_objective_alone_may_be_minimized() -> None:
    optimizer = _CONSTRAINED.AdditiveExternalRegretOptimizer(_Descent(0.5))
    found = _after(optimizer.minimize_unconstrained(_Problem(_weights())), steps=1)
    assert found["w"].tolist() == [2.0, -1.0, 0.5]
    assert list(found) == ["w"]


@pytest.mark.parametrize(
    ("build", "seed"),
    [
        (lambda: _CONSTRAINED.AdditiveExternalRegretOptimizer(_Descent(0.1)), 100),
        (lambda: _CONSTRAINED.AdditiveExternalRegretOptimizer(_Descent(0.1), _Descent(0.2), 1.0), 179),
        (lambda: _CONSTRAINED.AdditiveSwapRegretOptimizer(_Descent(0.1)), 273),
        (lambda: _CONSTRAINED.MultiplicativeSwapRegretOptimizer(_Descent(0.1)), 216),
    ],
)
def test_a_random_node_behind_a_step_gets_tensorflows_seed(build: Any, seed: int) -> None:
    tf.set_random_seed(5)
    problem = _Problem(_weights())
    tf.random_uniform([1])
    build().minimize(problem)
    tf.random_uniform([1])
    first, last = (each.get_attr("seed2") for each in tf.get_default_graph().get_operations() if each.type == "RandomUniform")
    assert last - first == seed


@pytest.mark.parametrize(
    ("shapes", "dtypes", "said"),
    [
        (([], [None]), "ff", "must have fully-known shapes"),
        (([], [2], [3]), "fff", "must have the same shape"),
        (([], [2]), "fd", "must have the same dtype"),
    ],
)
def test_what_does_not_fit_in_a_problem_is_told(shapes: tuple[Any, ...], dtypes: str, said: str) -> None:
    kinds = {"f": tf.float32, "d": tf.float64}
    problem = _Given(*(tf.placeholder(kinds[kind], shape) for kind, shape in zip(dtypes, shapes, strict=True)))
    with pytest.raises(ValueError, match=said):
        _CONSTRAINED.AdditiveExternalRegretOptimizer(_Descent(0.1)).minimize(problem)


def test_the_constraints_are_counted_whatever_their_shape() -> None:
    assert _Given(tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [2, 3])).num_constraints == 6


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("AdditiveExternalRegretOptimizer", {"maximum_multiplier_radius": -1.0}, "must be strictly positive"),
        ("AdditiveExternalRegretOptimizer", {"maximum_multiplier_radius": 0.0}, "must be strictly positive"),
        ("MultiplicativeSwapRegretOptimizer", {"minimum_multiplier_radius": 1.0}, r"must be in the range \(0,1\)"),
        (
            "MultiplicativeSwapRegretOptimizer",
            {"initial_multiplier_radius": 1e-9},
            r"in the range \[minimum_multiplier_radius,1\]",
        ),
    ],
)
def test_radii_are_checked(kind: str, options: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        getattr(_CONSTRAINED, kind)(_Descent(0.1), **options)


def test_steps_without_constraints_need_a_global_step() -> None:
    with pytest.raises(ValueError, match="global_step cannot be None if unconstrained_steps is provided"):
        _CONSTRAINED.AdditiveExternalRegretOptimizer(_Descent(0.1)).minimize(_Problem(_weights()), unconstrained_steps=3)
