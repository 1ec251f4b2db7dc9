"""A process may fork until it has compiled something; a child that is forked later is told so at once."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

# JAX warns when a process that it runs in forks, which is what these programs do on purpose.
PROLOGUE = """
import os, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import weft as tf
from weft.runtime.xla import xla_process

x = tf.placeholder(tf.float32, [None])
weights = tf.Variable([1.0, 2.0], use_resource=False)
total = tf.reduce_sum(x * weights)
update = weights.assign_add([1.0, 1.0])
session = tf.Session()
session.run(weights.initializer)

def in_child(function):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            print(function())
        except BaseException as error:
            print(type(error).__mro__[1].__name__, str(error).replace(str(os.getpid()), "PID"))
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
"""


def run_program(program: str) -> list[str]:
    result = subprocess.run(
        [sys.executable, "-c", PROLOGUE + textwrap.dedent(program)], capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_small_runs_do_not_start_xla_and_leave_a_process_that_can_fork() -> None:
    lines = run_program("""
        print(session.run(total, {x: [1, 2]}), xla_process.is_started())
        in_child(lambda: session.run(total, {x: [1, 3]}))
        in_child(lambda: [session.run(update).tolist() for _ in range(8)][-1])
        print(session.run(weights).tolist(), xla_process.is_started())
    """)
    assert lines == ["5.0 False", "7.0", "[9.0, 10.0]", "[1.0, 2.0] False"]


@pytest.mark.parametrize(
    "use",
    [
        "session.run(total, {x: [1, 2]})",
        "session.run(weights)",
        "session.run(update)",
        "session.run(weights.assign([5.0, 5.0]))",
        "[s.run(total, {x: [1], weights: [1, 1]}) for s in [tf.Session()] for _ in range(10)]",
    ],
)
def test_a_child_of_a_process_that_has_compiled_is_told_the_remedy(use: str) -> None:
    lines = run_program(f"""
        for _ in range(10):
            session.run([total, update], {{x: [1, 2]}})
        print(xla_process.is_started())
        in_child(lambda: {use})
        print(session.run(total, {{x: [0, 0]}}))
    """)
    assert lines[0] == "True"
    assert lines[1].startswith("RuntimeError Process PID was forked from process")
    assert "multiprocessing.get_context('spawn')" in lines[1]
    assert lines[2] == "0.0"


def test_a_child_of_a_process_that_has_compiled_may_still_interpret_small_graphs() -> None:
    lines = run_program("""
        for _ in range(10):
            session.run(total, {x: [1, 2]})
        in_child(lambda: tf.Session().run(tf.constant(3.0) * 2.0))
    """)
    assert lines == ["6.0"]


def test_an_interrupt_during_the_first_start_comes_after_it_and_leaves_xla_usable() -> None:
    lines = run_program("""
        import signal
        from weft.platform.imports.jax_modules import jax

        jaxs_own = jax.devices
        def interrupted():
            signal.raise_signal(signal.SIGINT)
            return jaxs_own()
        jax.devices = interrupted
        try:
            xla_process.start()
        except KeyboardInterrupt:
            print("interrupted")
        jax.devices = jaxs_own
        known = set(sys.modules)
        print([session.run(total, {x: [1, 2]}) for _ in range(8)][-1], xla_process.is_started())
        print([name for name in set(sys.modules) - known if name.startswith("jaxlib.mlir")])
    """)
    assert lines == ["interrupted", "5.0 True", "[]"]
