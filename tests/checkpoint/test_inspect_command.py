"""The command that prints a checkpoint has TensorFlow's arguments and output."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from weft.checkpoint import inspect_command

_NAMES = "tensor_name:  a\ntensor_name:  b\n# Total number of params: 7\n"


@pytest.fixture
def checkpoint(tmp_path: Path) -> Iterator[str]:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.Variable([[1.0, 2.0 / 3.0, 3.0], [4.0, 5.0, 6.0]], name="a")
        tf.Variable(7, name="b")
        session.run(tf.global_variables_initializer())
        before = np.get_printoptions()
        yield tf.train.Saver().save(session, str(tmp_path / "m"))
        np.set_printoptions(**before)


def test_it_runs_by_tensorflows_path(checkpoint: str) -> None:
    command = [sys.executable, "-m", "weft.compat", "-m", "tensorflow.python.tools.inspect_checkpoint"]
    ran = subprocess.run(
        [*command, f"--file_name={checkpoint}", "--all_tensor_names"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, _NAMES, "")


def test_names_values_and_the_options_of_numpy(checkpoint: str, capsys: pytest.CaptureFixture[str]) -> None:
    inspect_command.main([f"--file_name={checkpoint}"])
    assert capsys.readouterr().out == "a (DT_FLOAT) [2,3]\nb (DT_INT32) []\n\n# Total number of params: 7\n"
    inspect_command.main([f"--file_name={checkpoint}", "--all_tensor_names=True", "--all_tensors=False"])
    assert capsys.readouterr().out == _NAMES
    inspect_command.main(
        [f"--file_name={checkpoint}", "--tensor_name=a", "--count_exclude_pattern=b", "--printoptions", "precision=2"]
    )
    assert capsys.readouterr().out == (
        "tensor_name:  a\n[[1.   0.67 3.  ]\n [4.   5.   6.  ]]\n"
        "# Excluding 1 tensors (1 params) that match b when counting.\n# Total number of params: 6\n"
    )


def test_what_does_not_fit_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="1"):
        inspect_command.main([])
    assert capsys.readouterr().out.startswith("Usage: inspect_checkpoint --file_name=")
    for text, message in (("precision", "not in the form k=v"), ("none=1", "does not print with none=1")):
        with pytest.raises(argparse.ArgumentTypeError, match=message):
            inspect_command.parse_numpy_printoption(text)
