"""The commands that strip, optimize and show graphs have TensorFlow's arguments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import text_format

import weft as tf
from weft.training.saved_model import board_command, inference_command, strip_command


@pytest.fixture
def frozen(tmp_path: Path) -> str:
    with tf.Graph().as_default() as graph:
        x = tf.add(tf.placeholder(tf.float32, [2], name="file"), 1.0, name="x")
        tf.identity(tf.check_numerics(x, "bad", name="checked") * 3.0, name="y")
        tf.zeros([5], name="unused")
        return str(tf.train.write_graph(graph, str(tmp_path), "frozen.pb", as_text=False))


def _nodes(path: str, as_text: bool = False) -> dict[str, str]:
    data = Path(path).read_bytes()
    graph = text_format.Parse(data.decode(), tf.GraphDef()) if as_text else tf.GraphDef.FromString(data)
    return {node.name: node.op for node in graph.node}


def test_a_graph_is_stripped_by_tensorflows_path(frozen: str, tmp_path: Path) -> None:
    made = str(tmp_path / "stripped.pb")
    command = [sys.executable, "-m", "weft.compat", "-m", "tensorflow.python.tools.strip_unused"]
    arguments = [f"--input_graph={frozen}", "--input_binary=true", f"--output_graph={made}"]
    ran = subprocess.run(
        [*command, *arguments, "--input_node_names=x", "--output_node_names=y"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "5 ops in the final graph.\n", "")
    assert _nodes(made) == {"x": "Placeholder", "checked": "CheckNumerics", "mul/y": "Const", "mul": "Mul", "y": "Identity"}


def test_a_stripped_graph_may_be_text(frozen: str, tmp_path: Path) -> None:
    made = str(tmp_path / "made" / "stripped.pbtxt")
    strip_command.strip_unused_from_files(frozen, True, made, False, "x", "y", tf.float64.as_datatype_enum)
    assert _nodes(made, as_text=True)["x"] == "Placeholder"
    with pytest.raises(ValueError, match="name of a node to --output_node_names"):
        strip_command.strip_unused_from_files(frozen, True, made, False, "x", "", 1)
    with pytest.raises(OSError, match=r"missing\.pb does not exist"):
        strip_command.strip_unused_from_files(str(tmp_path / "missing.pb"), True, made, False, "x", "y", 1)


def test_a_graph_is_optimized(frozen: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = str(tmp_path / "optimized.pb")
    inference_command.main([f"--input={frozen}", f"--output={made}", "--input_names=x", "--output_names=y"])
    assert _nodes(made) == {"x": "Placeholder", "mul/y": "Const", "mul": "Mul", "y": "Identity"}
    inference_command.main([
        f"--input={frozen}", f"--output={made}txt", "--input_names=x,mul/y", "--output_names=y", "--frozen_graph=False",
        "--placeholder_type_enum=1,1",
    ])  # fmt: skip
    assert _nodes(f"{made}txt", as_text=True)["mul/y"] == "Placeholder"
    with pytest.raises(SystemExit):
        inference_command.main(["--placeholder_type_enum=float"])
    assert "expected numbers, got 'float'" in capsys.readouterr().err


def test_a_graph_is_shown(frozen: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board_command.main(["--model_dir", frozen, "--log_dir", str(tmp_path / "log")])
    assert capsys.readouterr().out == f"Model Imported. Visualize by running: tensorboard --logdir={tmp_path}/log\n"
    (events,) = (tmp_path / "log").iterdir()
    (graph,) = [tf.GraphDef.FromString(each.graph_def) for each in tf.train.summary_iterator(str(events)) if each.graph_def]
    assert {"import/x", "import/y"} < {node.name for node in graph.node}
