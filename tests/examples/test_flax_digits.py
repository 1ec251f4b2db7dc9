"""A Flax model on weft's servers, as a user runs it."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

import weft as tf

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "examples" / "flax_digits.py"


@pytest.fixture
def _has_flax() -> None:
    for name in ("flax", "sklearn"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"the example needs {name}: pip install 'weft[flax,examples]'")


@pytest.mark.usefixtures("_has_flax")
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_flax_model_learns_the_digits_on_a_parameter_server_and_two_workers(run):
    done = run("-m", "weft.cli", "launch", "--ps", 1, "--worker", 2, PROGRAM)
    assert done.returncode == 0, done.stderr
    accuracy, step = re.search(r"test accuracy ([\d.]+)% after step (\d+)", done.stdout).groups()
    assert float(accuracy) >= 95
    assert int(step) >= 400


@pytest.mark.usefixtures("_has_flax")
def test_the_parameters_of_a_flax_model_are_variables_and_its_gradients_those_of_jax():
    jax = pytest.importorskip("jax")
    nn = pytest.importorskip("flax.linen", reason="the extra `flax`")
    spec = importlib.util.spec_from_file_location("flax_digits", PROGRAM)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    model = nn.Dense(2)
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    params = model.init(jax.random.key(0), x)
    with tf.Graph().as_default(), tf.Session() as session:
        variables = example.variables_of(params)
        assert sorted(each.op.name for each in tf.trainable_variables()) == ["params/bias", "params/kernel"]
        loss = tf.reduce_sum(tf.square(tf.jax_function(model.apply)(variables, tf.constant(x))))
        found = tf.gradients(loss, [variables["params"]["kernel"]])[0]
        session.run(tf.global_variables_initializer())
        expected = jax.grad(lambda given: (model.apply(given, x) ** 2).sum())(params)["params"]["kernel"]
        np.testing.assert_allclose(session.run(found), expected, rtol=1e-5)
