"""Layers and cells take the names that Keras has, also in a program that has not looked into tf.keras."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import sys
import weft as tf
assert not any(name.startswith("weft.networks") for name in sys.modules)
{}
"""


@pytest.mark.parametrize(
    "program",
    [
        "print(tf.layers.dense(tf.zeros([1, 8]), 3, activation='relu').op.type)",
        "print(tf.layers.conv2d(tf.zeros([1, 8, 8, 3]), 3, 2, activation='relu', kernel_initializer='glorot_uniform').op.type)",
        "tf.nn.rnn_cell.GRUCell(4, activation='relu')(tf.zeros([2, 3]), tf.zeros([2, 4]))\n"
        "print(next(op.type for op in tf.get_default_graph().get_operations() if op.type == 'Relu'))",
    ],
)
def test_a_program_that_has_not_touched_keras_may_name_them(program: str) -> None:
    run = subprocess.run([sys.executable, "-c", _PROGRAM.format(program)], capture_output=True, text=True, timeout=100)
    assert (run.stdout.strip(), run.stderr) == ("Relu", "")
