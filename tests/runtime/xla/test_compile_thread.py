"""Jobs are done one after another, and none is begun at the end of the process."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading

import pytest

from weft.runtime.state.session_state import DETERMINISM_VARIABLE
from weft.runtime.xla.calls_at_exit import calls_at_exit
from weft.runtime.xla.compile_thread import CompileThread

LIMIT_S = 60.0


def test_jobs_are_done_in_order_on_one_thread() -> None:
    thread, done = CompileThread(), threading.Event()
    seen: list[tuple[int, str]] = []
    for number in range(5):
        thread.submit(lambda number=number: seen.append((number, threading.current_thread().name)))  # type: ignore[misc]
    thread.submit(done.set)
    assert done.wait(LIMIT_S)
    assert seen == [(number, "weft-compile") for number in range(5)]


def test_the_end_waits_for_the_job_under_way_and_drops_the_others() -> None:
    thread, gate, begun, ended = CompileThread(), threading.Event(), threading.Event(), threading.Event()
    dropped: list[int] = []

    def job() -> None:
        begun.set()
        assert gate.wait(LIMIT_S)
        ended.set()

    thread.submit(job)
    thread.submit(lambda: dropped.append(1))
    assert begun.wait(LIMIT_S)
    thread.end()
    thread.submit(lambda: dropped.append(2))
    gate.set()
    calls_at_exit.wait()
    assert ended.is_set()
    assert not dropped


PROGRAM = """
import os, sys, threading, warnings
warnings.simplefilter("ignore")
import numpy as np
import weft as tf
from weft.platform.imports.import_cost import import_cost
from weft.runtime.choice.compile_rules import COLD_RUNS, SMALL_BYTES
from weft.runtime.compiled.engine import CompiledStage

tf.float32
import_cost.seconds = 0.0  # so that code costs nothing
SIZE = SMALL_BYTES
x = tf.placeholder(tf.float32, [SIZE])
w = tf.get_variable("w", [SIZE], initializer=tf.ones_initializer())
y = tf.reduce_sum(tf.tanh(x) * w)
session = tf.Session()
session.run(w.initializer)

begun, compile = threading.Event(), CompiledStage.prepare

def prepare(*arguments):
    begun.set()
    compile(*arguments)

CompiledStage.prepare = prepare

def step():
    return float(session.run(y, {x: np.zeros(SIZE, np.float32)}))

for _ in range(COLD_RUNS + 1):
    step()
assert begun.wait(60)
"""


@pytest.mark.parametrize(
    ("end", "code", "printed"),
    [
        ("print(step())", 0, "0.0"),
        ("sys.exit(3)", 3, ""),
        ("session.close(); print('closed')", 0, "closed"),
        ("threading.Thread(target=lambda: print(step())).start()", 0, "0.0"),
        ("child = os.fork()\nif child: os.waitpid(child, 0)\nelse: print(step(), flush=True); os._exit(0)", 0, "0.0"),
    ],
    ids=["at once", "exit", "close", "thread", "fork"],
)
def test_a_process_ends_well_while_it_compiles(monkeypatch: pytest.MonkeyPatch, end: str, code: int, printed: str) -> None:
    monkeypatch.delenv(DETERMINISM_VARIABLE)
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM + textwrap.dedent(end)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.returncode, result.stderr, result.stdout.strip()) == (code, "", printed)
