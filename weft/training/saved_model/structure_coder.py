"""tensorflow.python.saved_model.nested_structure_coder: nested Python values and types of tensors as StructuredValue protos."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from typing import Any, Final

from tensorboard.compat.proto import struct_pb2

from weft.datasets.leaves import DatasetSpec
from weft.datasets.optional import OptionalSpec
from weft.framework.composites.indexed_slices_spec import IndexedSlicesSpec
from weft.framework.composites.sparse_tensor_spec import SparseTensorSpec
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.framework.types.type_spec import TypeSpec
from weft.ops.control_flow.tensor_array_spec import TensorArraySpec
from weft.ops.ragged.spec import RaggedTensorSpec

_Proto = struct_pb2.TypeSpecProto
_SPECS: Final[dict[type[TypeSpec], int]] = {
    SparseTensorSpec: _Proto.SPARSE_TENSOR_SPEC, IndexedSlicesSpec: _Proto.INDEXED_SLICES_SPEC,
    RaggedTensorSpec: _Proto.RAGGED_TENSOR_SPEC, TensorArraySpec: _Proto.TENSOR_ARRAY_SPEC,
    OptionalSpec: _Proto.OPTIONAL_SPEC, DatasetSpec: _Proto.DATA_DATASET_SPEC,
}  # fmt: skip
# bool is an int, and comes first.
_SCALARS: Final = {bool: "bool_value", int: "int64_value", float: "float64_value", str: "string_value"}


class NotEncodableError(Exception):
    """There is no proto for a value."""


class StructureCoder:
    """Writes nested structures as protos and reads them.

    They are made of None, numbers, texts, lists, tuples, named tuples, dicts with texts as keys, TensorShapes, DTypes,
    TensorSpecs and the other types of tensors and datasets.
    """

    def can_encode(self, nested_structure: object) -> bool:
        """Whether there is a proto for a structure.

        Args:
            nested_structure: the structure.
        """
        try:
            self.encode_structure(nested_structure)
        except NotEncodableError:
            return False
        return True

    def encode_structure(self, nested_structure: object) -> struct_pb2.StructuredValue:
        """The proto of a structure.

        Args:
            nested_structure: the structure.

        Raises:
            NotEncodableError: it holds something of another type.
        """
        made = struct_pb2.StructuredValue()
        _encode(nested_structure, made)
        return made

    def decode_proto(self, proto: struct_pb2.StructuredValue) -> Any:
        """The structure of a proto; a named tuple is one of a class of its own, and dicts have no order.

        Args:
            proto: the proto.

        Raises:
            NotEncodableError: the proto holds nothing that weft knows.
        """
        return _decode(proto)


def _encode(value: Any, made: struct_pb2.StructuredValue) -> None:
    scalar = next((field for kind, field in _SCALARS.items() if isinstance(value, kind)), None)
    if value is None:
        made.none_value.SetInParent()
    elif scalar is not None:
        setattr(made, scalar, value)
    elif isinstance(value, TensorShape):
        made.tensor_shape_value.CopyFrom(value.as_proto())
    elif isinstance(value, DType):
        made.tensor_dtype_value = value.as_datatype_enum
    elif isinstance(value, TensorSpec):
        made.tensor_spec_value.name = value.name or ""
        made.tensor_spec_value.shape.CopyFrom(value.shape.as_proto())
        made.tensor_spec_value.dtype = value.dtype.as_datatype_enum
    elif type(value) in _SPECS:
        made.type_spec_value.type_spec_class = _SPECS[type(value)]
        made.type_spec_value.type_spec_class_name = type(value).__name__
        _encode(value._serialize(), made.type_spec_value.type_state)
    else:
        _encode_container(value, made)


def _encode_container(value: Any, made: struct_pb2.StructuredValue) -> None:
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        made.dict_value.SetInParent()
        for key, each in value.items():
            _encode(each, made.dict_value.fields[key])
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        made.named_tuple_value.name = type(value).__name__
        for key, each in zip(value._fields, value, strict=True):
            _encode(each, made.named_tuple_value.values.add(key=key).value)
    elif isinstance(value, list | tuple):
        told = made.list_value if isinstance(value, list) else made.tuple_value
        told.SetInParent()
        for each in value:
            _encode(each, told.values.add())
    else:
        raise NotEncodableError(f"No encoder for object [{value}] of type [{type(value)}].")


def _decode(proto: struct_pb2.StructuredValue) -> Any:
    kind = proto.WhichOneof("kind")
    if kind in _SCALARS.values():
        return getattr(proto, kind)
    match kind:
        case "none_value":
            return None
        case "list_value":
            return [_decode(each) for each in proto.list_value.values]
        case "tuple_value":
            return tuple(_decode(each) for each in proto.tuple_value.values)
        case "dict_value":
            return {key: _decode(each) for key, each in proto.dict_value.fields.items()}
        case "named_tuple_value":
            told = proto.named_tuple_value
            made = collections.namedtuple(told.name, [each.key for each in told.values])  # type: ignore[misc]
            return made(*(_decode(each.value) for each in told.values))
        case "tensor_shape_value":
            return TensorShape(proto.tensor_shape_value)
        case "tensor_dtype_value":
            return dtypes.as_dtype(proto.tensor_dtype_value)
        case "tensor_spec_value":
            spec = proto.tensor_spec_value
            return TensorSpec(TensorShape(spec.shape), dtypes.as_dtype(spec.dtype), spec.name or None)
        case "type_spec_value":
            return _decode_spec(proto.type_spec_value)
    raise NotEncodableError(f"No decoder for proto [{proto}].")


def _decode_spec(told: struct_pb2.TypeSpecProto) -> TypeSpec:
    for kind, number in _SPECS.items():
        if told.type_spec_class == number:
            return kind._deserialize(_decode(told.type_state))
    raise NotEncodableError(f"The type '{told.type_spec_class_name}' is not supported by this version of weft.")
