"""The end of a process waits for what XLA still computes."""

from __future__ import annotations

import os
import subprocess
import sys

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
