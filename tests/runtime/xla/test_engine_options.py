"""EngineOptions: what a ConfigProto says about memory and threads reaches XLA, or is told to have come too late."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from weft.runtime.xla import engine_options
from weft.runtime.xla.engine_options import EngineOptions

REPOSITORY = Path(__file__).resolve().parents[2]


def printed(program: str, **environment: str) -> list[str]:
    """The lines that a fresh process prints: XLA starts once in a process."""
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY), **environment}
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False, env=env, cwd=REPOSITORY
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout.splitlines()


COMPUTE = """
import os
import weft as tf
def options(**settings):
    config = tf.ConfigProto(**settings)
    config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    return config
def compute(config):
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        session.run(tf.matmul(tf.ones([2, 2]) * 2, tf.ones([2, 2])))
def xla_threads():
    names = [open(f"/proc/self/task/{task}/comm").read() for task in os.listdir("/proc/self/task")]
    return sum("XLAEigen" in name for name in names)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads by /proc")
def test_intra_op_parallelism_threads_is_how_many_threads_xla_has() -> None:
    program = "compute(options(intra_op_parallelism_threads=3)); print(xla_threads(), os.environ.get('NPROC'))"
    assert printed(COMPUTE + program) == ["3 None"]


def test_options_that_come_after_the_start_are_told_once_to_have_no_effect() -> None:
    program = """
import logging
said = []
tf.logging.warning = lambda *arguments: said.append(arguments)
from weft.platform.logs import tf_logging
tf_logging.warning = tf.logging.warning
compute(options(intra_op_parallelism_threads=1))
for threads in (1, 0, 2, 2):
    compute(options(intra_op_parallelism_threads=threads))
print(len(said), said[0][0] % said[0][1:])
"""
    (line,) = printed(COMPUTE + program)
    assert line.startswith("1 ConfigProto.intra_op_parallelism_threads=2 has no effect: this process has started its devices")
    assert "with 1. Give the setting to the first Server or Session" in line


def test_memory_options_reach_xla_as_it_starts_and_not_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_options, "_process", engine_options._Process())
    monkeypatch.delenv("XLA_PYTHON_CLIENT_MEM_FRACTION", raising=False)
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "true")
    engine_options._process.wanted = EngineOptions(memory_fraction=0.5, allow_growth=True)
    seen: dict[str, str] = {}
    engine_options.start(True, lambda: seen.update(os.environ))
    assert seen["XLA_PYTHON_CLIENT_MEM_FRACTION"] == "0.5"
    assert seen["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"
    assert "XLA_PYTHON_CLIENT_MEM_FRACTION" not in os.environ
    assert os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] == "true"


@pytest.mark.parametrize(
    ("servers", "tasks", "asked", "set_outside", "threads"),
    [
        (1, 1, 0, None, None),  # alone on its host
        (1, 2, 0, None, "4"),
        (1, 3, 0, None, "3"),  # rather a thread too many than a core without work
        (1, 16, 0, None, "1"),
        (2, 4, 0, None, "4"),  # two of the four tasks are in this process
        (4, 4, 0, None, None),
        (1, 2, 6, None, "6"),  # what the program asks for
        (1, 2, 0, "5", "5"),  # what whoever starts the process asks for
    ],
)
def test_the_tasks_of_a_host_share_its_cores(
    servers: int, tasks: int, asked: int, set_outside: str | None, threads: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_options, "_process", engine_options._Process())
    monkeypatch.setattr(engine_options, "_cores", lambda: 8)
    monkeypatch.delenv("NPROC", raising=False)
    if set_outside is not None:
        monkeypatch.setenv("NPROC", set_outside)
    engine_options._process.wanted = EngineOptions(cpu_threads=asked)
    for _ in range(servers):
        engine_options.share_cores(tasks)
    seen: dict[str, str] = {}
    engine_options.start(True, lambda: seen.update(os.environ))
    assert seen.get("NPROC") == threads


def test_the_order_of_visible_devices_is_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_options, "_process", engine_options._Process())
    engine_options._process.wanted = EngineOptions(visible_devices="2, 0")
    assert engine_options.visible_order() == [2, 0]


@pytest.mark.parametrize(("given", "message"), [("0,x", "Could not parse entry"), ("1,1", "a duplicate entry")])
def test_a_list_of_visible_devices_is_one_of_numbers(given: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_options, "_process", engine_options._Process())
    engine_options._process.wanted = EngineOptions(visible_devices=given)
    with pytest.raises(Exception, match=message):
        engine_options.visible_order()


def test_a_process_that_looked_for_no_accelerator_keeps_xla_to_the_cpu() -> None:
    program = """
with tf.train.Server({"ps": ["localhost:0"]}) as server, tf.Session(server.target, config=options()) as session:
    session.run(tf.matmul(tf.ones([2, 2]) * 2, tf.ones([2, 2])))
    import jax
    print(jax.config.jax_platforms)
"""
    assert printed(COMPUTE + program, JAX_PLATFORMS="") == ["cpu"]
