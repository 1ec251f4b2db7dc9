"""Nodes of a GraphDef become operations under the names, inputs, devices and order that the importing program wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf import text_format

import weft as tf
from weft.framework.graphs.graph import GRAPH_DEF_VERSION

CHAIN = """
    node { name: "A" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape {} } } }
    node { name: "B" op: "Neg" input: "A" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "C" op: "Identity" input: "B:0" input: "^A" attr { key: "T" value { type: DT_FLOAT } } }
"""
INT = 'node { name: "A" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } }'


def graph_def(text: str, **versions: Any) -> tf.GraphDef:
    proto = text_format.Parse(text, tf.GraphDef())
    proto.versions.producer = 21
    for key, value in versions.items():
        if isinstance(value, list):
            getattr(proto.versions, key).extend(value)
        else:
            setattr(proto.versions, key, value)
    return proto


def neg(dtype: str, *inputs: str, name: str = "B") -> str:
    listed = " ".join(f'input: "{each}"' for each in inputs)
    return f'node {{ name: "{name}" op: "Neg" {listed} attr {{ key: "T" value {{ type: {dtype} }} }} }}'


def names(elements: Any) -> list[str]:
    return [element.name for element in elements]


def test_nodes_go_under_a_scope_of_their_own(graph: tf.Graph) -> None:
    assert tf.import_graph_def(graph_def(CHAIN)) is None
    assert names(graph.get_operations()) == ["import/A", "import/B", "import/C"]
    elements = tf.import_graph_def(graph_def(CHAIN), return_elements=["A", "B:0", b"C"])
    assert names(elements) == ["import_1/A", "import_1/B:0", "import_1/C"]
    with tf.name_scope("scope"):
        (tensor,) = tf.import_graph_def(graph_def(CHAIN), return_elements=["C:0"], name="pre/fix")
    assert tensor.name == "scope/pre/fix/C:0"
    assert names(tensor.op.inputs) == ["scope/pre/fix/B:0"]
    assert names(tensor.op.control_inputs) == ["scope/pre/fix/A"]


def test_without_a_scope_names_that_are_taken_get_suffixes() -> None:
    first, second = (tf.import_graph_def(graph_def(CHAIN), name="", return_elements=["C"]) for _ in range(2))
    assert names(first) == ["C"]
    assert names(second) == ["C_1"]
    assert (names(second[0].inputs), names(second[0].control_inputs)) == (["B_1:0"], ["A_1"])


def test_imported_nodes_run() -> None:
    a, c = tf.import_graph_def(graph_def(CHAIN), return_elements=["A:0", "C:0"])
    with tf.Session() as session:
        assert session.run(c, {a: 3}) == -3


@pytest.mark.parametrize("key", ["A", "A:0"])
def test_an_input_is_replaced_by_a_tensor(key: str) -> None:
    mine = tf.constant(2.0, name="mine")
    (b,) = tf.import_graph_def(graph_def(CHAIN), input_map={key: mine}, return_elements=["B"])
    assert list(b.inputs) == [mine]


def test_an_input_is_replaced_by_a_value_and_a_control_input_by_an_operation() -> None:
    mine = tf.no_op(name="mine")
    (c,) = tf.import_graph_def(graph_def(CHAIN), input_map={"B:0": 5.0, "^A": mine}, return_elements=["C"])
    assert c.inputs[0].op.type == "Const"
    assert c.control_inputs == [mine]


def test_nodes_may_be_listed_before_their_inputs() -> None:
    (b,) = tf.import_graph_def(graph_def(neg("DT_INT32", "A") + INT), return_elements=["B"])
    assert names(b.inputs) == ["import/A:0"]


def test_devices_are_merged_and_nodes_wait_as_in_any_block() -> None:
    text = 'node { name: "A" op: "NoOp" device: "/job:y/task:1" } node { name: "B" op: "NoOp" }'
    with tf.device("/job:x/cpu:0"):
        elements = tf.import_graph_def(graph_def(text), return_elements=["A", "B"])
    assert [op.device for op in elements] == ["/job:y/task:1/device:CPU:0", "/job:x/device:CPU:0"]
    with tf.control_dependencies([tf.no_op(name="first")]):
        a, c = tf.import_graph_def(graph_def(CHAIN), return_elements=["A", "C"], name="z")
    assert (names(a.control_inputs), names(c.control_inputs)) == (["first"], ["z/A", "first"])


def test_colocation_follows_the_new_names() -> None:
    text = 'node { name: "A" op: "NoOp" } node { name: "B" op: "NoOp" attr { key: "_class" value { list { s: "loc:@A" } } } }'
    for _ in range(2):
        (b,) = tf.import_graph_def(graph_def(text), return_elements=["B"], name="")
    assert b.colocation_groups() == [b"loc:@A_1"]


def test_shapes_that_the_writer_knew_are_taken_over() -> None:
    text = """node { name: "A" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
              attr { key: "_output_shapes" value { list { shape { dim { size: 3 } } } } } }"""
    (a,) = tf.import_graph_def(graph_def(text), return_elements=["A:0"])
    assert a.shape == [3]
    assert "_output_shapes" not in a.op.node_def.attr


def test_a_graph_survives_its_graph_def(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.Variable([[1.0], [2.0]], name="w", use_resource=False)
    tf.nn.relu(tf.matmul(x, w), name="y")
    written = graph.as_graph_def()
    with tf.Graph().as_default() as copy:
        tf.import_graph_def(written, name="")
        assert copy.as_graph_def() == written
        assert copy.get_tensor_by_name("y:0").shape.as_list() == [None, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('node { name: "A" op: "NoOp" } node { name: "A" op: "NoOp" }', "Node 'A' is not unique"),
        ('node { name: "A" op: "NoOp" input: "^B" }', "Node 'A': Unknown input node 'B'"),
        (neg("DT_FLOAT", "A"), "Node 'B': Unknown input node 'A'"),
        (
            INT + neg("DT_FLOAT", "A"),
            "Input 0 of node import/B was passed int32 from import/A:0 incompatible with ex",
        ),
        (INT + neg("DT_INT32", "A:1"), "Connecting to invalid output 1 of source node A which has 1 outputs"),
        (neg("DT_INT32"), "expected inputs 'int32' do not match 0 inputs specified; Op<name=Neg"),
        (INT + neg("DT_INT32", "A", "A"), "expected inputs 'int32' do not match 2 inputs specified; Op<name=Neg"),
        (
            'node { name: "B" op: "Neg" }',
            "missing attr 'T' from Op<name=Neg; signature=x:T -> y:T; attr=T:type.*node import/B",
        ),
        (
            'node { name: "B" op: "NoOp" attr { key: "n" value { i: 3 } } }',
            r"mentions attr 'n' not in Op<name=NoOp; signature= -> >; NodeDef: {{node import/B}}. \(Check whether",
        ),
        (neg("DT_INT32", "B", name="A") + neg("DT_INT32", "A"), "2 nodes in a cycle"),
        ('node { name: "a b" op: "NoOp" }', "Node 'a b': Node name contains invalid characters"),
        ('node { name: "" op: "NoOp" }', "Node '': Node name contains invalid characters"),
        (
            'node { name: "B" op: "NoOp" attr { key: "_class" value { list { s: "loc:@Z" } } } }',
            "Node 'B' expects to be colocated with unknown node 'Z'",
        ),
    ],
)
def test_a_graph_that_makes_no_sense_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tf.import_graph_def(graph_def(text))
    assert not tf.get_default_graph().get_operations()


def test_an_op_that_weft_has_not_is_not_found() -> None:
    with pytest.raises(tf.errors.NotFoundError, match=r"Op type not registered 'Nonesuch' in binary running on .*Node 'A'"):
        tf.import_graph_def(graph_def('node { name: "A" op: "Nonesuch" }'))
    assert not tf.get_default_graph().get_operations()


@pytest.mark.parametrize(("last", "elements"), [(neg("DT_FLOAT", "A"), ["C"]), (neg("DT_INT32", "A"), ["Z"])])
def test_a_failed_import_leaves_neither_nodes_nor_edges_nor_names(last: str, elements: list[str]) -> None:
    a = tf.placeholder(tf.int32, name="a")
    waits = tf.no_op(name="waits")
    broken = graph_def(INT + neg("DT_INT32", "a", name="C") + last)
    with tf.control_dependencies([waits]), pytest.raises(ValueError, match=r"not found in graph def|incompatible"):
        tf.import_graph_def(broken, {"a:0": a}, elements, name="")
    graph = tf.get_default_graph()
    assert [op.name for op in graph.get_operations()] == ["a", "waits"]
    assert not a.consumers()
    assert not waits._control_outputs
    tf.import_graph_def(graph_def(INT + neg("DT_INT32", "A")), name="")
    assert [op.name for op in graph.get_operations()] == ["a", "waits", "A_1", "B"]


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ({"min_consumer": GRAPH_DEF_VERSION + 1}, "GraphDef min consumer version .* above current version"),
        ({"producer": -1}, "GraphDef producer version -1 below min producer 0 supported"),
        ({"bad_consumers": [GRAPH_DEF_VERSION]}, "GraphDef disallows consumer version"),
    ],
)
def test_a_graph_that_is_not_for_this_version_is_refused(versions: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tf.import_graph_def(graph_def(CHAIN, **versions))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda g: tf.import_graph_def("text"), TypeError, "graph_def must be a GraphDef proto"),
        (lambda g: tf.import_graph_def(g, input_map=[1]), TypeError, "input_map must be a dictionary"),
        (lambda g: tf.import_graph_def(g, input_map={3: 1}), TypeError, "input_map must be a dictionary"),
        (lambda g: tf.import_graph_def(g, return_elements=[3]), TypeError, "return_elements must be a list of strings"),
        (lambda g: tf.import_graph_def(g, {"Z": 1.0}), ValueError, r"were not found in graph_def: \[Z\]"),
        (lambda g: tf.import_graph_def(g, {"A:1": 1.0}), ValueError, r"were not found in graph_def: \[A:1\]"),
        (lambda g: tf.import_graph_def(g, {"A": 1}), ValueError, "was passed int32 from .* incompatible with expected float"),
        (
            lambda g: tf.import_graph_def(g, return_elements=["Z"]),
            ValueError,
            "Requested return node 'Z' not found in graph",
        ),
        (lambda g: tf.import_graph_def(g, return_elements=["A:1"]), ValueError, "Invalid return output 1 of node 'A'"),
        (lambda g: tf.import_graph_def(g, return_elements=["A:B:0"]), ValueError, "Requested return tensor 'A:B:0' not found"),
    ],
)
def test_a_wrong_argument_is_told(call: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(graph_def(CHAIN))


def test_an_output_that_nothing_in_the_graph_def_takes_may_be_mapped() -> None:
    (tensor,) = tf.import_graph_def(graph_def(CHAIN), {"C:0": 1.0, "C": 1.0}, ["C:0"])
    assert tensor.name == "import/C:0"


HUGE = "tensor_shape { dim { size: 1099511627776 } } }"
NODE = 'node {{ name: "n" op: "{}" {} }}'
TYPED = 'attr {{ key: "{}" value {{ {} }} }}'


@pytest.mark.parametrize(
    ("op", "attrs", "reason"),
    [
        ("Const", {"dtype": "type: DT_FLOAT", "value": 's: "x"'}, "value with type 'string' when 'tensor' expected"),
        ("Const", {"dtype": "type: 7777", "value": "tensor { dtype: DT_FLOAT }"}, "invalid DataType enum: 7777"),
        ("Const", {"dtype": "type: DT_INVALID", "value": "tensor { dtype: DT_FLOAT }"}, "'dtype' has no type"),
        ("Placeholder", {"dtype": "list { i: 3 }"}, "value with type 'list(int)' when 'type' expected"),
        ("Pack", {"N": "i: 1099511627776", "T": "type: DT_FLOAT"}, "counts 1099511627776 inputs, the node has 0"),
        ("NoOp", {"_class": "i: 3"}, "value with type 'int' when 'list(string)' expected"),
        ("Const", {"dtype": "type: DT_FLOAT", "value": "tensor { dtype: DT_FLOAT float_val: 1 " + HUGE},
         "would take 4398046511104 bytes"),
    ],
)  # fmt: skip
def test_a_bad_attribute_is_refused_with_the_names_of_node_and_attribute(op: str, attrs: dict[str, str], reason: str) -> None:
    text = NODE.format(op, " ".join(TYPED.format(key, value) for key, value in attrs.items()))
    with pytest.raises(ValueError, match=r"'n'|node import/n") as caught:
        tf.import_graph_def(graph_def(text))
    assert reason in str(caught.value)


def test_an_output_is_named_by_its_number_alone() -> None:
    with pytest.raises(ValueError, match="'A:-1' is not the name of a tensor"):
        tf.import_graph_def(graph_def(CHAIN.replace('"B:0"', '"A:-1"')))


def test_a_program_that_changes_what_it_fetched_leaves_an_imported_constant_alone() -> None:
    with tf.Graph().as_default() as graph:
        tf.constant([1.0, 2.0], name="ones")
    with tf.Graph().as_default() as copy, tf.Session(graph=copy) as session:
        tf.import_graph_def(graph.as_graph_def(), name="")
        session.run("ones:0")[0] = 9.0
        assert session.run("ones:0").tolist() == [1.0, 2.0]
