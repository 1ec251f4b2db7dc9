"""The command that freezes a graph has TensorFlow's arguments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import weft as tf
from weft.training.saved_model import freeze_command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.identity(x * tf.Variable(3.0, name="w"), name="y")
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "m"))
        tf.train.write_graph(graph.as_graph_def(), str(tmp_path), "graph.pbtxt")
    return tmp_path


def _computed(path: Path) -> float:
    frozen = tf.GraphDef.FromString(path.read_bytes())
    with tf.Graph().as_default(), tf.Session() as session:
        (y,) = tf.import_graph_def(frozen, return_elements=["y:0"], name="")
        return float(session.run(y, {"x:0": 2.0}))


def test_it_runs_by_tensorflows_path(folder: Path) -> None:
    command = [sys.executable, "-m", "weft.compat", "-m", "tensorflow.python.tools.freeze_graph"]
    arguments = [f"--input_meta_graph={folder}/m.meta", f"--input_checkpoint={folder}/m", "--output_node_names=y"]
    ran = subprocess.run(
        [*command, *arguments, f"--output_graph={folder}/frozen.pb"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert _computed(folder / "frozen.pb") == 6.0


def test_a_graphs_file_and_a_checkpoint_are_frozen(folder: Path) -> None:
    freeze_command.main([
        f"--input_graph={folder}/graph.pbtxt", "--input_checkpoint", f"{folder}/m", "--output_node_names=y",
        f"--output_graph={folder}/other.pb", "--clear_devices=False", "--input_binary",
    ])  # fmt: skip
    assert _computed(folder / "other.pb") == 6.0


def test_formats_that_there_are_not_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        freeze_command.main(["--checkpoint_version=3"])
    assert "there are 1 and 2, got 3" in capsys.readouterr().err
