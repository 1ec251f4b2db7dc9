"""Compiled code is found again by the next process, in a folder that is the user's alone and does not grow without end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from weft.platform.logs import tf_logging
from weft.runtime.xla import code_cache
from weft.runtime.xla.code_cache import VARIABLE, trim, use_code_cache

PROGRAM = """
import numpy as np, weft as tf
from weft.platform.imports.import_cost import import_cost
tf.float32
import_cost.seconds = 0.0  # so that code costs nothing
x = tf.placeholder(tf.float32, [8, 8])
w = tf.get_variable("w", [8, 8], initializer=tf.ones_initializer())
y = x
for _ in range(20):
    y = tf.tanh(tf.matmul(y, w)) + tf.nn.softmax(y)
step = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(y))
session = tf.Session()
session.run(tf.global_variables_initializer())
for _ in range(6):
    session.run(step, {x: np.ones([8, 8])})
(row,) = tf.explain(step, [x], session, wait_s=60)
session.run(step, {x: np.ones([8, 8])})
print(row.way, row.sizes, row.cached_sizes, float(session.run(w)[0, 0]))
"""


def run_program(folder: Path) -> str:
    environment = {**os.environ, VARIABLE: str(folder), "TF_DETERMINISTIC_OPS": "0"}
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def test_the_next_process_finds_the_code(tmp_path: Path) -> None:
    way, sizes, cached, value = run_program(tmp_path / "code").split()
    assert (way, sizes, cached) == ("compiled", "1", "0")
    assert run_program(tmp_path / "code").split() == ["compiled", "1", "1", value]
    (folder,) = (tmp_path / "code").iterdir()
    assert folder.stat().st_mode & 0o077 == 0


def test_a_broken_entry_is_compiled_again(tmp_path: Path) -> None:
    before = run_program(tmp_path).split()
    for entry in tmp_path.glob("*/jit_stage*"):
        entry.write_bytes(b"")
    environment = {**os.environ, VARIABLE: str(tmp_path), "TF_DETERMINISTIC_OPS": "0", "PYTHONWARNINGS": "ignore"}
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert result.stdout.split() == before


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, object]]:
    """What JAX is told."""
    told: list[tuple[str, object]] = []
    monkeypatch.setattr(jax.config, "update", lambda name, value: told.append((name, value)))
    monkeypatch.setattr(jax.monitoring, "register_event_listener", lambda listener: None)
    return told


def test_a_folder_that_others_can_write_to_is_not_used(
    tmp_path: Path, chosen: list[tuple[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(tf_logging, "warning", lambda text, *arguments: warnings.append(text % arguments))
    use_code_cache({VARIABLE: str(tmp_path)})
    assert chosen[0][0] == "jax_compilation_cache_dir"
    chosen.clear()
    Path(next(tmp_path.iterdir())).chmod(0o777)
    use_code_cache({VARIABLE: str(tmp_path)})
    assert not chosen
    assert "has mode 777" in warnings[0]


def test_nothing_is_used_unless_it_is_asked_for(chosen: list[tuple[str, object]]) -> None:
    use_code_cache({})
    assert not chosen


def test_what_was_used_last_stays(tmp_path: Path) -> None:
    for age, name in enumerate("abc"):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    trim(tmp_path, 250)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    trim(tmp_path, 250)
    assert len(list(tmp_path.iterdir())) == 2
    assert code_cache.LIMIT_BYTES > 250
