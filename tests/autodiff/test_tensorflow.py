"""Gradients of small programs against those of TensorFlow: values, and which are None or slices."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
from typing import Any

import numpy as np
import pytest

import weft as tf

# Each program makes `ys` and `xs` from `a` [3, 3], `b` [3, 3] and `t`, a variable [4, 2]; and perhaps `options`.
PROGRAMS = {
    "product": "ys, xs = a * b, [a, b]",
    "quotient with broadcasting": "ys, xs = a[:1] / (1.0 + b * b), [a, b]",
    "matmul chain": "ys, xs = tf.matmul(tf.tanh(tf.matmul(a, b)), a, transpose_b=True), [a, b]",
    "several ys": "ys, xs = [a * a, b * a, tf.exp(b)], [a, b]",
    "grad_ys": "ys, xs, options = [a * b, a], [a, b], dict(grad_ys=[b, None])",
    "inner x": "c = a * b; ys, xs = tf.reduce_sum(c * c), [a, c]",
    "stopped": "c = a * b; ys, xs, options = c * a, [a, c], dict(stop_gradients=[c])",
    "stopped by an op": "ys, xs = a * tf.stop_gradient(a * b), [a, b]",
    "unconnected": "ys, xs = a * a, [a, b]",
    "unconnected zeros": "ys, xs, options = a * a, [a, b], dict(unconnected_gradients='zero')",
    "gated": "ys, xs, options = tf.matmul(a, b) * a, [a, b], dict(gate_gradients=True)",
    "tree": "ys, xs, options = a * b + a + a * a, [a], dict(aggregation_method=1)",
    "means": "ys, xs = tf.reduce_mean(a * b, axis=1) - tf.reduce_mean(a), [a, b]",
    "maxima": "ys, xs = tf.maximum(a, b) * tf.minimum(a, 0.5) + tf.reduce_max(b, axis=0), [a, b]",
    "products": "ys, xs = tf.reduce_prod(a, axis=1) + tf.cumsum(b)[2], [a, b]",
    "joins": "ys, xs = tf.concat([a, b * a], 0)[1:5] * tf.stack([a, b])[0, 1], [a, b]",
    "splits": "p, q = tf.split(a, [1, 2], axis=1); ys, xs = p * b[:, :1] + tf.reduce_sum(q * q), [a, b]",
    "one of several outputs": "p, q, r = tf.unstack(a); ys, xs = q * b[0], [a, b]",
    "shapes": "ys, xs = tf.reshape(tf.transpose(a), [9]) * tf.reshape(tf.tile(b, [1, 1]), [-1]), [a, b]",
    "padding": "ys, xs = tf.pad(a, [[1, 0], [0, 2]]) * tf.expand_dims(tf.ones([4]), 1) * 2.0, [a]",
    "selection": "ys, xs = tf.where(a > b, a * b, b * b), [a, b]",
    "powers": "ys, xs = tf.pow(tf.abs(a) + 0.1, b) + tf.sqrt(tf.square(a) + 1.0), [a, b]",
    "clipping": "ys, xs = tf.clip_by_value(a, -0.5, 0.5) * b, [a, b]",
    "gather": "ys, xs = tf.gather(t, [1, 3, 1]) * 2.0, [t]",
    "gather twice": "ys, xs = [tf.gather(t, [1, 3]), tf.gather(t, [3, 0]) ** 2.0], [t]",
    "gather and whole": "ys, xs = tf.reduce_sum(tf.gather(t, [1, 1])) + tf.reduce_sum(t * t), [t]",
    "gather of another axis": "ys, xs = tf.gather(a, [2, 0, 2], axis=1) * b, [a, b]",
    "gather_nd": "ys, xs = tf.gather_nd(a, [[0, 1], [2, 2], [0, 1]]) * 3.0, [a]",
    "integers between": "ys, xs = tf.cast(tf.cast(a, tf.int32), tf.float32) * b, [a, b]",
    "positions": "ys, xs = tf.cast(tf.argmax(a, 1), tf.float32) * b[0], [a, b]",
    "second order": "g = tf.gradients(tf.reduce_sum(a * a * b), [a])[0]; ys, xs = g * b, [a, b]",
    "custom": ("f = tf.custom_gradient(lambda x, y: (x * y, lambda g: (g * 10.0, g + y))); ys, xs = f(a, b) + a, [a, b]"),
    "unused x of the same op": "p, q = tf.split(a, [1, 2]); ys, xs = p * 2.0, [p, q]",
}

_RUN = """
def run_program(text, values):
    tf.reset_default_graph()
    a, b = tf.constant(values["a"]), tf.constant(values["b"])
    t = tf.Variable(values["t"], use_resource=False)
    scope = {"tf": tf, "a": a, "b": b, "t": t, "options": {}}
    exec(text, scope)
    found = tf.gradients(scope["ys"], scope["xs"], **scope["options"])
    results = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for gradient in found:
            if gradient is None:
                results.append(None)
            elif isinstance(gradient, tf.IndexedSlices):
                value = session.run(gradient)
                results.append([value.values.tolist(), value.indices.tolist(), value.dense_shape.tolist()])
            else:
                results.append(session.run(gradient).tolist())
    return results
"""


def _values() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {
        name: rng.uniform(-1.5, 1.5, shape).round(3).tolist() for name, shape in {"a": (3, 3), "b": (3, 3), "t": (4, 2)}.items()
    }


@pytest.fixture(scope="module")
def theirs() -> dict[str, Any]:
    interpreter = os.environ.get("WEFT_ORACLE_PYTHON")
    if not interpreter:
        pytest.skip("WEFT_ORACLE_PYTHON names no Python that has TensorFlow")
    preamble = """
    import json, sys
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    programs, values = json.load(sys.stdin)
    """
    code = inspect.cleandoc(preamble) + _RUN + "print(json.dumps({n: run_program(t, values) for n, t in programs.items()}))"
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [interpreter, "-c", code], input=json.dumps([PROGRAMS, _values()]), capture_output=True, text=True,
        env=environment, check=False, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


@pytest.mark.oracle
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_those_of_tensorflow(theirs, name):
    scope: dict[str, Any] = {"tf": tf}
    exec(_RUN, scope)
    ours = scope["run_program"](PROGRAMS[name], _values())
    assert len(ours) == len(theirs[name])
    for mine, wanted in zip(ours, theirs[name], strict=True):
        assert (mine is None) == (wanted is None)
        if wanted is None:
            continue
        is_slices = isinstance(wanted[-1], list) and len(wanted) == 3 and isinstance(wanted[1][0], int)
        pairs = zip(mine, wanted, strict=True) if is_slices else [(mine, wanted)]
        for one, other in pairs:
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)
