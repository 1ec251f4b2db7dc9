"""The end of a process waits for what XLA still computes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from weft.runtime.xla.calls_at_exit import CallsAtExit

_LEAVES_A_STEP_RUNNING = """
import numpy as np
import weft as tf

x = tf.placeholder(tf.float32, [128, 32, 32, 16])
images = x
for layer in range(12):
    filters = tf.get_variable(f"filters{layer}", [3, 3, 16, 16], initializer=tf.ones_initializer())
    images = tf.nn.relu(tf.nn.conv2d(images, filters, [1, 1, 1, 1], "SAME")) * 0.01
step = tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_mean(images))
config = tf.ConfigProto()
config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
feed = {x: np.ones([128, 32, 32, 16], np.float32)}
with tf.Session(config=config) as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(step, feed)
"""


def test_a_process_ends_well_behind_a_step_that_fetches_nothing() -> None:
    environment = {**os.environ, "TF_DETERMINISTIC_OPS": "1"}
    command = [sys.executable, "-c", _LEAVES_A_STEP_RUNNING]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


# The read that nothing ends stands for a compilation of minutes.
_LEAVES_A_CALL = """
import atexit, functools, os, sys
from weft.runtime.xla.compile_thread import compile_thread

class Last:
    def __del__(self, write=os.write):
        write(1, b"finalized ")

if sys.argv[2:] == ["calls"]:
    compile_thread.submit(functools.partial(os.read, os.pipe()[0], 1))
    while compile_thread._jobs:
        pass
atexit.register(lambda: print("atexit", end=" "))
last, file = Last(), open(sys.argv[1], "w")
file.write("not flushed")
print("end", end=" ", flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a thread in C++ can be left behind on Linux")
@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("", 0),
        ("sys.exit(3)", 3),
        ("raise SystemExit('no data')", 1),
        ("import jax.numpy; jax.numpy.ones(3) + 1", 0),
        ("import jax; f = jax.jit(jax.numpy.tanh); g = jax.jit(jax.numpy.sin); jax.jit(lambda x: f(x) + g(x))(1.0)", 0),
        ("raise KeyboardInterrupt", -2),
    ],
    ids=["at once", "exit", "message", "jax", "lowered functions", "interrupt"],
)
def test_a_process_ends_while_a_call_goes_on_as_it_would_without(end: str, code: int, tmp_path: Path) -> None:
    ends = []
    for name in ("calls", "alone"):
        command = [sys.executable, "-c", _LEAVES_A_CALL + end, str(tmp_path / name), name]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        ends.append((ran.returncode, ran.stderr, ran.stdout, (tmp_path / name).read_text()))
    assert ends[0] == ends[1]
    assert ends[0][0] == code
    assert ends[0][3] == "not flushed"


_RUNS_A_STEP_AT_EXIT = """
import atexit, functools, os
import weft as tf

def save():
    print(session.run(total), os.getpid() == process)

process = os.getpid()
atexit.register(save)
total = tf.reduce_sum(tf.constant([1.0, 2.0]))
session = tf.Session()
session.run(total)
from weft.runtime.xla.compile_thread import compile_thread
compile_thread.submit(functools.partial(os.read, os.pipe()[0], 1))
while compile_thread._jobs:
    pass
"""


def test_what_a_program_registered_runs_beside_its_threads() -> None:
    command = [sys.executable, "-c", _RUNS_A_STEP_AT_EXIT]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "3.0 True\n", "")


class _Computed:
    nbytes = 8

    def __init__(self, looks: int, is_deleted: bool = False) -> None:
        self.looks, self._is_deleted = looks, is_deleted

    def is_deleted(self) -> bool:
        return self._is_deleted

    def is_ready(self) -> bool:
        self.looks -= 1
        return self.looks <= 0


def test_what_is_noted_is_waited_for() -> None:
    calls = CallsAtExit()
    computed, large = _Computed(3), _Computed(2)
    calls.note_running(computed, True)
    calls.note_running(large, False)
    calls.note_running(_Computed(1_000_000, is_deleted=True), True)
    calls.note_running(_Computed(1_000_000), False)  # nothing else keeps it: its execution cannot be asked
    calls.wait()
    assert computed.looks <= 0
    assert large.looks <= 0


# A thread that is in C++ when it is to have the interpreter again, which is going, aborts the process.
_STEPS_ON_DAEMON_THREADS = """
import threading
import numpy as np
import weft as tf

x = tf.placeholder(tf.float32, [None, 32])
sums = tf.math.cumulative_logsumexp(tf.layers.dense(x, 32, tf.nn.relu))
train = tf.train.AdamOptimizer().minimize(tf.reduce_mean(sums))
session = tf.Session()
session.run(tf.global_variables_initializer())
begun = threading.Barrier(3)

def work():
    for number in range(10 ** 9):
        session.run(train, {x: np.ones([16, 32])})
        if number == 20:
            begun.wait()

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
"""

_LETS_GO_OF_ARRAYS = """
import threading
import weft as tf
from weft.runtime.xla import calls_at_exit, xla_process

xla_process.start()
import jax.numpy as jnp
one = jnp.ones(3)
arrays = [one + number for number in range(10_000)]
begun = threading.Event()

def let_go(arrays):
    while arrays:
        arrays.pop()
        begun.set()

threading.Thread(target=let_go, args=(arrays,), daemon=True).start()
del arrays
begun.wait()
"""


@pytest.mark.parametrize("program", [_STEPS_ON_DAEMON_THREADS, _LETS_GO_OF_ARRAYS], ids=["steps", "arrays"])
@pytest.mark.parametrize("compiles_at_once", ["0", "1"])
def test_a_process_ends_well_under_daemon_threads(program: str, compiles_at_once: str) -> None:
    environment = {**os.environ, "TF_DETERMINISTIC_OPS": compiles_at_once}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        for _ in range(2)
    ]
    ends = [(*process.communicate(timeout=100), process.returncode) for process in started]
    # On a busy machine a compilation may take so long that it is told of.
    told = [[line for line in (out + err).splitlines() if "weft.waits" not in line] for out, err, _ in ends]
    assert told == [[], []]
    assert [status for *_, status in ends] == [0, 0]


def test_a_block_within_a_block_counts_once_and_is_let_in_at_the_end() -> None:
    calls = CallsAtExit()
    inside, ends = threading.Event(), threading.Event()
    left: list[bool] = []

    def call() -> None:
        with calls:
            inside.set()
            ends.wait()
            with calls:
                left.append(calls.wait(0.0))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    inside.wait()
    calls._is_closed = True
    ends.set()
    thread.join(30)
    assert left == [False]
    assert calls.wait(0.0)


def test_no_thread_begins_a_call_behind_the_end() -> None:
    calls = CallsAtExit()
    calls.end()
    begun = threading.Event()

    def call() -> None:
        begun.set()
        with calls:
            pytest.fail("is let in")

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    begun.wait()
    thread.join(0.1)
    assert thread.is_alive()
    with calls:  # the main thread has the end to itself
        assert not calls.wait(0.0)
    assert calls.wait(0.0)
