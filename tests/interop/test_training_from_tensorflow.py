"""What TensorFlow 1.15 has built, trained and saved trains on in weft from its checkpoint, with the losses that it has."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests import tensorflows
from tests.interop.exported_programs import train
from tests.interop.saved_in_tensorflow import go_on

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(900)]

# Of the training programs, those that TensorFlow 1.15 and its Python run as they are.
_NAMES = (
    "attention_decoder",
    "batch_norm",
    "cnn",
    "cond",
    "cond_that_updates",
    "ctc",
    "dynamic_rnn",
    "embedding",
    "loops_in_branches",
    "map_fn_and_scan",
    "mlp",
    "moving_average_and_decay",
    "nested_loops",
    "sampled_softmax",
    "second_order",
    "shapes",
    "static_rnn",
    "while_loop",
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    command = [tensorflows.interpreter("1.15"), "-m", "tests.interop.saved_in_tensorflow", str(folder), *_NAMES]
    done = subprocess.run(
        command, env={**tensorflows.environment(), "PYTHONPATH": str(ROOT)}, cwd=ROOT, check=False, timeout=800,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


@pytest.mark.parametrize("name", _NAMES)
def test_it_trains_on_here_with_the_same_losses(saved: Path, name: str) -> None:
    plan: dict[str, Any] = json.loads((saved / "plans.json").read_text())[name]
    assert "error" not in plan, plan["error"]
    saver = tf.train.import_meta_graph(str(saved / f"{name}.meta"))
    feeds = {key: np.asarray(value, dtype) for key, (dtype, value) in plan["feeds"].items()}
    found = go_on(tf, train, str(saved / name), plan, feeds, saver)
    np.testing.assert_allclose(found, plan["losses"], rtol=2e-4, atol=1e-5)
