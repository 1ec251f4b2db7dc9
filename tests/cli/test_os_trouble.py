"""A command whose output cannot be written says which, in one line, and leaves no part of it."""

from __future__ import annotations

import errno
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from weft.cli.os_trouble import naming, told

_RUN = "saved-model run --dir model --tag_set serve --signature_def serving_default --input_exprs x=[1.5]"
_FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has a device that is full")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a checkpoint, and the model of a variable as its users make one."""
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(np.zeros(1000, np.float32), name="v")
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.multiply(x, variable + 2.0)
        session.run(variable.initializer)
        tf.train.Saver().save(session, str(tmp_path / "ck" / "m"))
        tf.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x}, {"y": y})
    return tmp_path


def _weft(words: str, folder: Path, before: str = "", behind: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, in a shell that has run what stands before."""
    # No file of Python's own is to be written, either.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = f"{before} exec {shlex.quote(sys.executable)} -m weft {words} {behind}"
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    ("words", "file", "kilobytes"),
    [
        ("checkpoint export ck/m out.npz", "out.npz", 1),
        ("checkpoint export ck/m out.safetensors", "out.safetensors", 1),
        ("credentials token -o token", "token", 0),
        (f"{_RUN} --outdir .", "y.npy", 1),
    ],
)
def test_a_file_that_cannot_be_written_is_named_and_no_part_of_it_is_left(
    words: str, file: str, kilobytes: int, folder: Path
) -> None:
    if "safetensors" in words:
        pytest.importorskip("safetensors")
    ended = _weft(words, folder, before=f"ulimit -f {kilobytes};")
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1, ended.stderr
    assert file in ended.stderr
    assert os.strerror(errno.EFBIG) in ended.stderr
    assert not (folder / file).exists()
    assert not list(folder.glob("*.part"))


@_FULL
@pytest.mark.parametrize("words", ["checkpoint show ck/m", "completion bash", "saved-model show --dir model --all"])
def test_an_output_that_cannot_be_written_is_told_in_one_line(words: str, folder: Path) -> None:
    ended = _weft(words, folder, behind="> /dev/full")
    assert ended.returncode in (1, 2)
    assert ended.stderr.count("\n") == 1, ended.stderr
    assert f"the output: {os.strerror(errno.ENOSPC)}" in ended.stderr


def test_a_command_that_was_started_with_its_output_closed_ends_well(folder: Path) -> None:
    ended = _weft("checkpoint show ck/m", folder, behind=">&-")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_model_with_variables_runs_in_a_process_of_the_command(folder: Path) -> None:
    ended = _weft(_RUN, folder)
    assert ended.returncode == 0, ended.stderr
    assert "[3. 3. 3." in ended.stdout


def test_the_file_is_that_of_the_error_or_of_who_writes() -> None:
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert told(error) == f"the output: {os.strerror(errno.ENOSPC)}"
    assert told(naming(error, "out.npz")) == f"'out.npz': {os.strerror(errno.ENOSPC)}"
    assert told(OSError("there is no model")) == "there is no model"
