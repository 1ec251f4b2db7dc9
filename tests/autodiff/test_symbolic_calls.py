"""Gradients of functions that TensorFlow's clients leave to the runtime: SymbolicGradient nodes."""

from __future__ import annotations

import pytest
from google.protobuf import text_format
from tensorboard.compat.proto import graph_pb2

import weft as tf

_GRAPH = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "dy" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "wait" op: "NoOp" }
node { name: "g" op: "SymbolicGradient" input: "x" input: "x" input: "dy" input: "^wait"
  attr { key: "f" value { func { name: "NAME" } } }
  attr { key: "Tin" value { list { type: DT_FLOAT type: DT_FLOAT type: DT_FLOAT } } }
  attr { key: "Tout" value { list { type: DT_FLOAT type: DT_FLOAT } } } }
node { name: "last" op: "Neg" input: "g:1" attr { key: "T" value { type: DT_FLOAT } } }
library { function {
  signature { name: "product" input_arg { name: "a" type: DT_FLOAT } input_arg { name: "b" type: DT_FLOAT }
              output_arg { name: "y" type: DT_FLOAT } }
  node_def { name: "square" op: "Square" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
  node_def { name: "mul" op: "Mul" input: "square:y:0" input: "b" attr { key: "T" value { type: DT_FLOAT } } }
  ret { key: "y" value: "mul:z:0" } } }
"""


def _imported(name: str) -> None:
    tf.import_graph_def(text_format.Parse(_GRAPH.replace("NAME", name), graph_pb2.GraphDef()), name="")


def test_the_gradient_of_a_function_stands_under_the_nodes_name() -> None:
    _imported("product")
    with tf.Session() as session:
        found = session.run(["g:0", "g:1", "last:0"], {"x:0": [2.0, 3.0], "dy:0": [1.0, 10.0]})
    assert [each.tolist() for each in found] == [[8, 180], [4, 90], [-4, -90]]


def test_a_function_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="SymbolicGradient 'g' is of 'none', which the graph's library does not have"):
        _imported("none")


_OWN_GRADIENT = """
library {
  function {
    signature { name: "own" input_arg { name: "a" type: DT_FLOAT } input_arg { name: "b" type: DT_FLOAT }
                input_arg { name: "dy" type: DT_FLOAT } output_arg { name: "da" type: DT_FLOAT }
                output_arg { name: "db" type: DT_FLOAT } }
    node_def { name: "more" op: "Add" input: "dy" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
    node_def { name: "less" op: "Neg" input: "dy" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "da" value: "more:z:0" } ret { key: "db" value: "less:y:0" } }
  gradient { function_name: "product" gradient_func: "own" } }
"""


def test_a_gradient_that_the_program_has_itself_is_called() -> None:
    graph = text_format.Parse(_GRAPH.replace("NAME", "product"), graph_pb2.GraphDef())
    graph.MergeFrom(text_format.Parse(_OWN_GRADIENT, graph_pb2.GraphDef()))
    tf.import_graph_def(graph, name="")
    with tf.Session() as session:
        assert session.run(["g:0", "g:1", "last:0"], {"x:0": 2.0, "dy:0": 5.0}) == [7, -5, 5]
