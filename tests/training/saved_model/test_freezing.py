"""Models in files become one GraphDef with constants."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tensorboard.compat.proto import graph_pb2

import weft as tf
from weft.training.saved_model.freezing import freeze_graph, freeze_graph_with_def_protos
from weft.training.saved_model.inspection import get_meta_graph_def, get_saved_model_tag_sets

_INPUTS = {
    "text": {"input_graph": "graph.pbtxt", "input_checkpoint": "model-3"},
    "binary": {"input_graph": "graph.pb", "input_checkpoint": "model-3"},
    "saver": {"input_graph": "graph.pb", "input_checkpoint": "model-3", "input_saver": "saver.pb"},
    "meta graph": {"input_meta_graph": "model-3.meta", "input_checkpoint": "model-3"},
    "saved model": {"input_saved_model_dir": "exported"},
}


@pytest.fixture(params=[False, True], ids=["reference", "resource"])
def trained(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with a model in all forms."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="input")
        with tf.device("/device:CPU:0"):
            w = tf.get_variable(
                "w", [3, 2], initializer=tf.constant_initializer([[1, 2], [3, 4], [5, 6]]), use_resource=request.param
            )
        y = tf.matmul(x, w, name="output")
        tf.train.get_or_create_global_step()
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        saver.save(session, str(tmp_path / "model"), global_step=3)
        tf.train.write_graph(graph, str(tmp_path), "graph.pbtxt")
        tf.train.write_graph(graph, str(tmp_path), "graph.pb", as_text=False)
        (tmp_path / "saver.pb").write_bytes(saver.as_saver_def().SerializeToString())
        tf.saved_model.simple_save(session, str(tmp_path / "exported"), {"x": x}, {"y": y})
    return tmp_path


def freeze(folder: Path, **inputs: str) -> graph_pb2.GraphDef:
    paths = {name: str(folder / path) for name, path in inputs.items()}
    arguments = {"input_graph": None, "input_saver": "", "input_checkpoint": None} | paths
    return freeze_graph(
        input_binary=True, output_node_names="output", restore_op_name=None, filename_tensor_name=None,
        output_graph=str(folder / "frozen.pb"), clear_devices=True, initializer_nodes="", **arguments,
    )  # fmt: skip


@pytest.mark.parametrize("inputs", _INPUTS.values(), ids=_INPUTS.keys())
def test_a_model_is_frozen_from_each_of_its_forms(trained: Path, inputs: dict[str, str]) -> None:
    frozen = freeze(trained, **inputs)
    assert graph_pb2.GraphDef.FromString((trained / "frozen.pb").read_bytes()) == frozen
    assert {node.op for node in frozen.node} <= {"Const", "Identity", "MatMul", "Placeholder"}
    assert {node.device for node in frozen.node} == {""}
    with tf.Graph().as_default(), tf.Session() as session:
        (output,) = tf.import_graph_def(frozen, return_elements=["output:0"], name="f")
        np.testing.assert_array_equal(session.run(output, {"f/input:0": [[1, 1, 1]]}), [[9, 12]])


def test_what_cannot_be_frozen_is_told(trained: Path) -> None:
    frozen = freeze(trained, **_INPUTS["binary"])
    checkpoint = str(trained / "model-3")
    with pytest.raises(ValueError, match="You cannot freeze a graph twice"):
        freeze_graph_with_def_protos(frozen, None, checkpoint, "output", None, None, None, True, None)
    with pytest.raises(ValueError, match=r"Input checkpoint '.*none' doesn't exist!"):
        freeze(trained, input_graph="graph.pb", input_checkpoint="none")
    with pytest.raises(ValueError, match="supply the name of a node"):
        freeze_graph_with_def_protos(frozen, None, checkpoint, "", None, None, None, True, None)
    with pytest.raises(ValueError, match="There is no graph to freeze"):
        freeze(trained, input_checkpoint="model-3")


def test_variables_in_parts_need_a_meta_graph(tmp_path: Path) -> None:
    with tf.Session() as session:
        table = tf.get_variable("table", [4, 2], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2))
        tf.identity(table, name="output")
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model-3"))
        tf.train.write_graph(session.graph, str(tmp_path), "graph.pb", as_text=False)
    with pytest.raises(ValueError, match="Models containing partition variables cannot be converted from checkpoint files"):
        freeze(tmp_path, **_INPUTS["binary"])
    assert sum(node.op == "Const" and "part_" in node.name for node in freeze(tmp_path, **_INPUTS["meta graph"]).node) == 2


def test_a_saved_models_graphs_are_found_by_their_tags(trained: Path) -> None:
    exported = str(trained / "exported")
    assert get_saved_model_tag_sets(exported) == [["serve"]]
    assert "output" in {node.name for node in get_meta_graph_def(exported, "serve").graph_def.node}
    with pytest.raises(RuntimeError, match=r"tag-set train could not be found in SavedModel .*: it has serve"):
        get_meta_graph_def(exported, "train")
