"""Trained graphs made ready for inference."""

from __future__ import annotations

import pytest

import weft as tf
from weft.framework.importing.inference_graph import optimize_for_inference, strip_unused


@pytest.fixture
def graph_def() -> object:
    features = tf.reshape(tf.placeholder(tf.string, [2], name="file"), [2], name="features")
    numbers = tf.identity(tf.string_to_number(features, name="numbers"), name="same")
    tf.add(numbers, 1.0, name="output")
    return tf.get_default_graph().as_graph_def()


def test_a_graph_is_cut_between_placeholders_and_outputs(graph_def: object) -> None:
    cut = strip_unused(graph_def, ["numbers"], ["output"], tf.float32.as_datatype_enum)
    assert [(node.name, node.op) for node in cut.node if node.op != "Const"] == [
        ("numbers", "Placeholder"), ("same", "Identity"), ("output", "Add"),
    ]  # fmt: skip
    with tf.Graph().as_default(), tf.Session() as session:
        (output,) = tf.import_graph_def(cut, return_elements=["output:0"], name="f")
        assert session.run(output, {"f/numbers:0": [1, 2]}).tolist() == [2, 3]


def test_identities_go_and_outputs_stay(graph_def: object) -> None:
    ready = optimize_for_inference(graph_def, ["numbers"], ["output"], [tf.float32.as_datatype_enum])
    assert "same" not in {node.name for node in ready.node}
    assert "same" in {node.name for node in optimize_for_inference(graph_def, ["numbers"], ["same"], 1).node}


def test_names_that_are_no_nodes_are_refused(graph_def: object) -> None:
    with pytest.raises(ValueError, match="Name 'numbers:0' appears to refer to a Tensor"):
        strip_unused(graph_def, ["numbers:0"], ["output"], 1)
    with pytest.raises(KeyError, match=r"The following input nodes were not found: \{'number'\}"):
        strip_unused(graph_def, ["number"], ["output"], 1)
