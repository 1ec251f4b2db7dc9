"""Every optimizer, step by step, against the same update written in NumPy, and against TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

START = [[1.0, -2.0], [3.0, 0.5], [-0.25, 4.0], [2.0, 2.0]]
# More steps than a stage is interpreted for, so that the end comes from compiled code.
STEPS = 8
ROWS = [2, 0, 2, 2]

Rows = Any


def dense_gradient(step: int) -> np.ndarray:
    return np.random.default_rng(step).normal(size=(4, 2)).round(3)


def slice_values(step: int) -> np.ndarray:
    return np.random.default_rng(100 + step).normal(size=(len(ROWS), 2)).round(3)


def summed_slices(step: int) -> np.ndarray:
    total = np.zeros((4, 2))
    np.add.at(total, ROWS, slice_values(step))
    return total


def shrunk(x, step, l1, l2):
    return np.sign(x) * np.maximum(np.abs(x) - step * l1, 0) / (1 + step * l2)


class Reference:
    """One optimizer in float64: `step(var, gradient, rows, t)` changes the rows of var and of its own state."""

    def __init__(self, **start: float) -> None:
        self.state = {name: np.full((4, 2), float(value)) for name, value in start.items()}

    def __getattr__(self, name: str) -> np.ndarray:
        return self.state[name]

    def step(self, var: np.ndarray, g: np.ndarray, r: Rows, t: int) -> None:
        raise NotImplementedError


class GradientDescent(Reference):
    def step(self, var, g, r, t):
        var[r] -= 0.1 * g[r]


class Momentum(Reference):
    def step(self, var, g, r, t):
        self.a[r] = 0.9 * self.a[r] + g[r]
        var[r] -= 0.1 * self.a[r]


class Nesterov(Reference):
    def step(self, var, g, r, t):
        self.a[r] = 0.9 * self.a[r] + g[r]
        var[r] -= 0.1 * g[r] + 0.1 * 0.9 * self.a[r]


class Adagrad(Reference):
    def step(self, var, g, r, t):
        self.a[r] += g[r] ** 2
        var[r] -= 0.5 * g[r] / np.sqrt(self.a[r])


class Adam(Reference):
    def step(self, var, g, r, t):
        # The averages of all rows decay, whatever rows the gradient names.
        self.m[:] = 0.8 * self.m + 0.2 * g
        self.v[:] = 0.95 * self.v + 0.05 * g**2
        rate = 0.1 * np.sqrt(1 - 0.95**t) / (1 - 0.8**t)
        var -= rate * self.m / (np.sqrt(self.v) + 1e-4)


class RMSProp(Reference):
    def step(self, var, g, r, t):
        self.s[r] = 0.9 * self.s[r] + 0.1 * g[r] ** 2
        self.m[r] = 0.5 * self.m[r] + 0.1 * g[r] / np.sqrt(self.s[r] + 1e-3)
        var[r] -= self.m[r]


class CenteredRMSProp(Reference):
    def step(self, var, g, r, t):
        self.s[r] = 0.9 * self.s[r] + 0.1 * g[r] ** 2
        self.g[r] = 0.9 * self.g[r] + 0.1 * g[r]
        self.m[r] = 0.5 * self.m[r] + 0.1 * g[r] / np.sqrt(self.s[r] - self.g[r] ** 2 + 1e-3)
        var[r] -= self.m[r]


class Adadelta(Reference):
    def step(self, var, g, r, t):
        self.a[r] = 0.9 * self.a[r] + 0.1 * g[r] ** 2
        update = np.sqrt(self.u[r] + 1e-2) / np.sqrt(self.a[r] + 1e-2) * g[r]
        self.u[r] = 0.9 * self.u[r] + 0.1 * update**2
        var[r] -= 0.5 * update


class AdagradDA(Reference):
    def step(self, var, g, r, t):
        self.g[r] += g[r]
        self.s[r] += g[r] ** 2
        total = np.sign(self.g[r]) * np.maximum(np.abs(self.g[r]) - 0.01 * t, 0)
        var[r] = -0.5 * total / (0.02 * t * 0.5 + np.sqrt(self.s[r]))


class ProximalGradientDescent(Reference):
    def step(self, var, g, r, t):
        var[r] = shrunk(var[r] - 0.1 * g[r], 0.1, 0.2, 0.3)


class ProximalAdagrad(Reference):
    def step(self, var, g, r, t):
        self.a[r] += g[r] ** 2
        rate = 0.5 / np.sqrt(self.a[r])
        var[r] = shrunk(var[r] - rate * g[r], rate, 0.02, 0.03)


class Ftrl(Reference):
    power, shrinkage, beta = 0.5, 0.0, 0.0

    def step(self, var, g, r, t):
        new = self.a[r] + g[r] ** 2
        pulled = g[r] + 2 * self.shrinkage * var[r]
        self.l[r] += pulled - (new**self.power - self.a[r] ** self.power) / 0.5 * var[r]
        self.a[r] = new
        l2 = 0.02 + self.beta / (2 * 0.5)
        far = np.sign(self.l[r]) * 0.01 - self.l[r]
        var[r] = np.where(np.abs(self.l[r]) > 0.01, far / (new**self.power / 0.5 + 2 * l2), 0)


class FtrlPower(Ftrl):
    power = 0.7


class FtrlShrinkage(Ftrl):
    shrinkage, beta = 0.05, 0.3


CASES: dict[str, tuple[Callable[[], Reference], str]] = {
    "GradientDescent": (GradientDescent, "tf.train.GradientDescentOptimizer(0.1)"),
    "Momentum": (lambda: Momentum(a=0), "tf.train.MomentumOptimizer(0.1, 0.9)"),
    "Nesterov": (lambda: Nesterov(a=0), "tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True)"),
    "Adagrad": (lambda: Adagrad(a=0.1), "tf.train.AdagradOptimizer(0.5)"),
    "Adam": (lambda: Adam(m=0, v=0), "tf.train.AdamOptimizer(0.1, 0.8, 0.95, 1e-4)"),
    "RMSProp": (lambda: RMSProp(s=1, m=0), "tf.train.RMSPropOptimizer(0.1, 0.9, 0.5, 1e-3)"),
    "CenteredRMSProp": (
        lambda: CenteredRMSProp(s=1, g=0, m=0), "tf.train.RMSPropOptimizer(0.1, 0.9, 0.5, 1e-3, centered=True)",
    ),
    "Adadelta": (lambda: Adadelta(a=0, u=0), "tf.train.AdadeltaOptimizer(0.5, 0.9, 1e-2)"),
    "AdagradDA": (
        lambda: AdagradDA(g=0, s=0.1), "tf.train.AdagradDAOptimizer(0.5, tf.train.get_or_create_global_step(), "
        "l1_regularization_strength=0.01, l2_regularization_strength=0.02)",
    ),
    "ProximalGradientDescent": (
        ProximalGradientDescent, "tf.train.ProximalGradientDescentOptimizer(0.1, 0.2, 0.3)",
    ),
    "ProximalAdagrad": (lambda: ProximalAdagrad(a=0.1), "tf.train.ProximalAdagradOptimizer(0.5, 0.1, 0.02, 0.03)"),
    "Ftrl": (lambda: Ftrl(a=0.1, l=0), "tf.train.FtrlOptimizer(0.5, -0.5, 0.1, 0.01, 0.02)"),
    "FtrlPower": (lambda: FtrlPower(a=0.1, l=0), "tf.train.FtrlOptimizer(0.5, -0.7, 0.1, 0.01, 0.02)"),
    "FtrlShrinkage": (
        lambda: FtrlShrinkage(a=0.1, l=0), "tf.train.FtrlOptimizer(0.5, -0.5, 0.1, 0.01, 0.02, "
        "l2_shrinkage_regularization_strength=0.05, beta=0.3)",
    ),
}  # fmt: skip


def make_optimizer(name: str) -> Any:
    return eval(CASES[name][1], {"tf": tf})


def expected(name: str, sparse: bool, steps: int = STEPS) -> np.ndarray:
    reference = CASES[name][0]()
    var = np.array(START)
    rows = sorted(set(ROWS)) if sparse else slice(None)
    for t in range(1, steps + 1):
        reference.step(var, summed_slices(t) if sparse else dense_gradient(t), rows, t)
    return var


def trained(name: str, sparse: bool, steps: int = STEPS, **variable_options: Any) -> np.ndarray:
    dtype = variable_options.get("dtype", tf.float32)
    var = tf.Variable(np.array(START), name="table", **{"dtype": dtype, **variable_options})
    step = tf.train.get_or_create_global_step()
    fed = tf.placeholder(dtype, [len(ROWS) if sparse else 4, 2])
    gradient = tf.IndexedSlices(fed, tf.constant(ROWS), tf.constant([4, 2])) if sparse else fed
    train = make_optimizer(name).apply_gradients([(gradient, var)], global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for t in range(1, steps + 1):
            session.run(train, {fed: slice_values(t) if sparse else dense_gradient(t)})
        assert session.run(step) == steps
        return session.run(var)


@pytest.mark.parametrize("use_resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", CASES)
def test_updates_are_those_of_the_paper(name, sparse, use_resource):
    found = trained(name, sparse, use_resource=use_resource)
    np.testing.assert_allclose(found, expected(name, sparse), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", CASES)
def test_updates_in_double_precision(name, sparse):
    # Rates are float32 numbers when they are given as Python's.
    np.testing.assert_allclose(trained(name, sparse, 3, dtype=tf.float64), expected(name, sparse, 3), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", CASES)
def test_updates_in_half_precision(name, sparse):
    np.testing.assert_allclose(trained(name, sparse, 3, dtype=tf.float16), expected(name, sparse, 3), rtol=3e-2, atol=3e-2)


_THEIRS = """
out = {}
for name, text in arguments["cases"].items():
    for sparse in (False, True):
        tf.reset_default_graph()
        var = tf.Variable(np.array(arguments["start"]), name="table", dtype=tf.float32, use_resource=False)
        step = tf.train.get_or_create_global_step()
        fed = tf.placeholder(tf.float32, [None, 2])
        gradient = tf.IndexedSlices(fed, tf.constant(arguments["rows"]), tf.constant([4, 2])) if sparse else fed
        optimizer = eval(text)
        train = optimizer.apply_gradients([(gradient, var)], global_step=step)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for values in arguments["slices" if sparse else "gradients"]:
                session.run(train, {fed: np.array(values)})
            value = session.run(var).tolist()
        nodes = [
            [op.type, op.name] for op in tf.get_default_graph().get_operations()
            if op.type.startswith(("Apply", "SparseApply", "Variable", "Scatter"))
        ]
        out[name + ("/sparse" if sparse else "/dense")] = [
            value, nodes, optimizer.get_slot_names(), [v.name for v in optimizer.variables()], train.name
        ]
result = out
"""


@pytest.mark.oracle
def test_updates_names_and_slots_are_those_of_tensorflow(tensorflow):
    steps = range(1, STEPS + 1)
    theirs = tensorflow(
        _THEIRS, cases={name: text for name, (_, text) in CASES.items()}, start=START, rows=ROWS,
        gradients=[dense_gradient(t).tolist() for t in steps], slices=[slice_values(t).tolist() for t in steps],
    )  # fmt: skip
    for key, (value, nodes, slot_names, variables, train_name) in theirs.items():
        name, kind = key.split("/")
        tf.reset_default_graph()
        np.testing.assert_allclose(
            trained(name, kind == "sparse", use_resource=False), value, rtol=1e-5, atol=1e-6, err_msg=key
        )
        types = ("Apply", "SparseApply", "Variable", "Scatter")
        ours = [[op.type, op.name] for op in tf.get_default_graph().get_operations() if op.type.startswith(types)]
        assert ours == nodes, key
        tf.reset_default_graph()
        var = tf.Variable(np.array(START), name="table", dtype=tf.float32)
        optimizer = make_optimizer(name)
        gradient = tf.IndexedSlices(tf.zeros([4, 2]), tf.constant(ROWS)) if kind == "sparse" else tf.zeros([4, 2])
        train = optimizer.apply_gradients([(gradient, var)], tf.train.get_or_create_global_step())
        found = [optimizer.get_slot_names(), [v.name for v in optimizer.variables()], train.name]
        assert found == [slot_names, variables, train_name], key
