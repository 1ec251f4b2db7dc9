"""Calls of functions that are replaced by their nodes, loops and all."""

from __future__ import annotations

import pytest
from google.protobuf import text_format
from tensorboard.compat.proto.graph_pb2 import GraphDef

import weft as tf

# `count(n)` counts up from 0 as long as it has not reached n, in a loop of TensorFlow 1.
_NODES = """
zero Const
limit Enter n
begin Enter zero:output:0
now Merge begin:output:0 following:output:0
is_less Less now:output:0 limit:output:0
goes_on LoopCond is_less:z:0
chosen Switch now:output:0 goes_on:output:0
inside Identity chosen:output_true:0
one Const ^inside
more AddV2 inside:output:0 one:output:0
following NextIteration more:z:0
end Exit chosen:output_false:0
"""
_INT = 'attr { key: "T" value { type: DT_INT32 } }'
_ATTRS = {
    "Enter": _INT + 'attr { key: "frame_name" value { s: "frame" } }',
    "Merge": _INT + 'attr { key: "N" value { i: 2 } }',
    "LoopCond": "",
    "zero": 'attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value { tensor { dtype: DT_INT32 '
    "tensor_shape {} int_val: 0 } } }",
    "one": 'attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value { tensor { dtype: DT_INT32 '
    "tensor_shape {} int_val: 1 } } }",
}


def _node(line: str) -> str:
    name, op, *inputs = line.split()
    text = "".join(f'input: "{each}" ' for each in inputs)
    return f'node_def {{ name: "{name}" op: "{op}" {text}{_ATTRS.get(name, _ATTRS.get(op, _INT))} }}'


def _calling_twice() -> GraphDef:
    body = "\n".join(map(_node, _NODES.strip().splitlines()))
    constants = "".join(
        f'node {{ name: "n{count}" op: "Const" {_ATTRS["one"].replace("int_val: 1", f"int_val: {count}")} }}'
        for count in (3, 5)
    )
    calls = "".join(f'node {{ name: "call{count}" op: "count" input: "n{count}" }}' for count in (3, 5))
    signature = 'signature { name: "count" input_arg { name: "n" type: DT_INT32 } output_arg { name: "r" type: DT_INT32 } }'
    text = f'{constants} {calls} library {{ function {{ {signature} {body} ret {{ key: "r" value: "end:output:0" }} }} }}'
    return text_format.Parse(text, GraphDef())


def test_a_function_with_a_loop_may_be_called_twice() -> None:
    with tf.Graph().as_default():
        found = tf.import_graph_def(_calling_twice(), return_elements=["call3:0", "call5:0"], name="")
        with tf.Session() as session:
            assert session.run(found) == [3, 5]


def test_a_function_that_does_not_say_what_it_returns_is_named() -> None:
    graph = _calling_twice()
    graph.library.function[0].ret.clear()
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Function 'count' does not say what it returns for r"):
        tf.import_graph_def(graph, name="")
