"""Structures as protos: what TensorFlow 1.15 writes, and reads again."""

from __future__ import annotations

import collections

import pytest
from weft.python.saved_model import nested_structure_coder

import weft as tf

Point = collections.namedtuple("Point", "x y")
CODER = nested_structure_coder.StructureCoder()


def _text(proto) -> str:
    return " ".join(f"{proto}".split())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "int64_value: 1"),
        (1.5, "float64_value: 1.5"),
        (True, "bool_value: true"),
        (None, "none_value { }"),
        ((1, "b"), 'tuple_value { values { int64_value: 1 } values { string_value: "b" } }'),
        ([], "list_value { }"),
        ({"k": 2}, 'dict_value { fields { key: "k" value { int64_value: 2 } } }'),
        (tf.TensorShape([None, 3]), "tensor_shape_value { dim { size: -1 } dim { size: 3 } }"),
        (tf.float32, "tensor_dtype_value: DT_FLOAT"),
        (tf.TensorSpec([2, None], tf.int32, "nm"),
         'tensor_spec_value { name: "nm" shape { dim { size: 2 } dim { size: -1 } } dtype: DT_INT32 }'),
        (tf.SparseTensorSpec([3], tf.float32),
         "type_spec_value { type_spec_class: SPARSE_TENSOR_SPEC type_state { tuple_value { values { tensor_shape_value { dim { "
         'size: 3 } } } values { tensor_dtype_value: DT_FLOAT } } } type_spec_class_name: "SparseTensorSpec" }'),
    ],
)  # fmt: skip
def test_a_structure_is_written_as_tensorflow_does_and_read_again(value, text) -> None:
    proto = CODER.encode_structure(value)
    assert _text(proto) == text
    made = CODER.decode_proto(proto)
    assert (made, type(made)) == (value, type(value))


def test_an_unknown_shape_and_a_named_tuple_come_back() -> None:
    assert CODER.decode_proto(CODER.encode_structure(tf.TensorShape(None))).ndims is None
    made = CODER.decode_proto(CODER.encode_structure([Point(1, {"a": (2.0,)})]))[0]
    assert (type(made).__name__, made._fields, made.x, made.y) == ("Point", ("x", "y"), 1, {"a": (2.0,)})


@pytest.mark.parametrize(
    "spec",
    [
        tf.RaggedTensorSpec([2, None], tf.float32, 1),
        tf.IndexedSlicesSpec([3, 2], tf.float32),
        tf.TensorArraySpec([2], tf.float32),
        tf.data.experimental.OptionalStructure(tf.TensorSpec([], tf.int32)),
        tf.data.experimental.DatasetStructure(tf.TensorSpec([], tf.int32)),
    ],
)
def test_types_of_tensors_and_datasets_come_back(spec) -> None:
    assert CODER.decode_proto(CODER.encode_structure(spec)) == spec


@pytest.mark.parametrize("value", [object(), b"bytes", 3 + 4j, {1: 2}, [object()]])
def test_what_has_no_proto_is_refused(value) -> None:
    assert not CODER.can_encode(value)
    with pytest.raises(nested_structure_coder.NotEncodableError, match="No encoder for object"):
        CODER.encode_structure(value)
