"""The one-line programs of `math_expressions.py`, in weft and in TensorFlow."""

from __future__ import annotations

import os
import pickle
import subprocess
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.math_expressions import EXPRESSIONS
from weft.testing.op_checks import evaluate

_GENERATOR = np.random.RandomState(0)
VALUES: dict[str, Any] = {
    "f": _GENERATOR.randn(6).astype(np.float32),
    "m": _GENERATOR.randn(3, 4).astype(np.float32),
    "n": _GENERATOR.randn(4, 5).astype(np.float32),
    "b3": _GENERATOR.randn(2, 3, 4).astype(np.float32),
    "sq": _GENERATOR.randn(3, 3) + 3 * np.eye(3),
    "i": np.array([3, -1, 4, 1, -5, 9], np.int32),
    "z": (_GENERATOR.randn(4) + 1j * _GENERATOR.randn(4)).astype(np.complex64),
    "u": _GENERATOR.randn(2, 3).astype(np.float32),
    "t": np.array([True, False, True]),
    "pos": (_GENERATOR.rand(3, 4) + 0.5).astype(np.float32),
}

_RUN = """
import os, pickle, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
expressions, values = pickle.load(sys.stdin.buffer)
results = {}
for text in expressions:
    with tf.Graph().as_default() as graph:
        names = {k: tf.placeholder(v.dtype, None if k == "u" else v.shape, name=k) for k, v in values.items()}
        names.update(tf=tf, np=np, grad=lambda y, x: tf.gradients(y, x)[0])
        try:
            made = eval(text, names)
            fetches = [t for t in (made if isinstance(made, (list, tuple)) else [made]) if t is not None]
            found = tf.Session().run(fetches, {names[k]: v for k, v in values.items()})
            results[text] = [np.asarray(x) for x in found]
        except Exception as error:
            results[text] = [c.__name__ for c in type(error).__mro__]
pickle.dump(results, sys.stdout.buffer)
"""


@pytest.fixture(scope="module")
def theirs() -> dict[str, Any]:
    interpreter = os.environ.get("WEFT_ORACLE_PYTHON")
    if not interpreter:
        pytest.skip("WEFT_ORACLE_PYTHON names no Python with TensorFlow")
    question = pickle.dumps((EXPRESSIONS, VALUES), protocol=4)
    found = subprocess.run([interpreter, "-W", "ignore", "-c", _RUN], input=question, capture_output=True, check=True)
    return pickle.loads(found.stdout)  # type: ignore[no-any-return]


def _ours(text: str) -> Any:
    with tf.Graph().as_default():
        names = {k: tf.placeholder(v.dtype, None if k == "u" else v.shape, name=k) for k, v in VALUES.items()}
        feeds = {names[k]: v for k, v in VALUES.items()}
        scope = {**names, "tf": tf, "np": np, "grad": lambda y, x: tf.gradients(y, x)[0]}
        try:
            made = eval(text, scope)
            fetches = [t for t in (made if isinstance(made, list | tuple) else [made]) if t is not None]
            return evaluate(fetches, feeds)
        except Exception as error:
            return error


@pytest.mark.oracle
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expression_means_what_it_means_to_tensorflow(text: str, theirs: dict[str, Any]) -> None:
    wanted, found = theirs[text], _ours(text)
    if isinstance(wanted[0], str):
        assert isinstance(found, Exception), f"TensorFlow raises {wanted[0]}"
        assert type(found).__name__ in wanted, f"TensorFlow raises {wanted[0]}, weft {found!r}"
        return
    assert not isinstance(found, Exception), repr(found)
    for have, want in zip(found, wanted, strict=True):
        if want.dtype.kind in "SO":
            assert have.tolist() == want.tolist()
            continue
        assert have.dtype == want.dtype
        assert have.shape == want.shape
        if want.dtype.kind in "fc":
            np.testing.assert_allclose(have, want, rtol=2e-4, atol=1e-5)
        else:
            assert np.array_equal(have, want)


def test_no_expression_is_listed_twice() -> None:
    assert len(EXPRESSIONS) == len(set(EXPRESSIONS))
