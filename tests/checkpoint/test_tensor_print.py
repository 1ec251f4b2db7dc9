"""The contents of a checkpoint on the output, as TensorFlow's tool prints them."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf
from weft.checkpoint.tensor_print import print_tensors_in_checkpoint_file

_WEIGHTS = "tensor_name:  w\n[[2. 2.]]\n"


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("w", [1, 2], initializer=tf.constant_initializer(2.0))
        tf.train.get_or_create_global_step()
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, str(tmp_path / "model"))


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (("", False), "global_step (DT_INT64) []\nw (DT_FLOAT) [1,2]\n\n# Total number of params: 3\n"),
        (("w", False), f"{_WEIGHTS}# Total number of params: 3\n"),
        ((None, True), f"tensor_name:  global_step\n0\n{_WEIGHTS}# Total number of params: 3\n"),
        ((None, False, True), "tensor_name:  global_step\ntensor_name:  w\n# Total number of params: 3\n"),
        (
            ("w", False, False, "step"),
            f"{_WEIGHTS}# Excluding 1 tensors (1 params) that match step when counting.\n# Total number of params: 2\n",
        ),
    ],
)
def test_what_is_printed(
    checkpoint: str, capsys: pytest.CaptureFixture[str], arguments: tuple[object, ...], printed: str
) -> None:
    print_tensors_in_checkpoint_file(checkpoint, *arguments)
    assert capsys.readouterr().out == printed


def test_what_is_not_there_is_told_on_the_output(checkpoint: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_tensors_in_checkpoint_file(checkpoint, "nothing", False)
    print_tensors_in_checkpoint_file(f"{checkpoint}-5", "w", False)
    printed = capsys.readouterr().out
    assert "nothing" in printed
    assert "-5" in printed
    assert "Total" not in printed
