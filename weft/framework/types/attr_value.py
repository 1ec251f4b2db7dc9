"""Attributes of nodes between their Python values and AttrValue protos.

In a graph an attribute is a plain value: DType, Dims, str, bool, int, float, np.ndarray, a function's name, or a list of these.
"""

from __future__ import annotations

from ctypes import c_float
from typing import Any, SupportsFloat

import numpy as np
from tensorboard.compat.proto import attr_value_pb2, tensor_pb2, types_pb2

from weft.framework.types import dtypes, tensor_util
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.framework.types.value_types import NumpyArray

AttrValue = attr_value_pb2.AttrValue


class FunctionName(str):
    """The name of a function, as the value of an attribute; `attrs` are the attributes that it is instantiated with."""

    attrs: dict[str, Any]

    def __new__(cls, name: str, attrs: dict[str, Any] | None = None) -> FunctionName:
        """Make the name; `attrs` hold plain values."""
        self = super().__new__(cls, name)
        self.attrs = attrs or {}
        return self


def single(value: SupportsFloat | str) -> float:
    """A float as attributes keep it: of four bytes, in a graph that is here as in one that was written and read."""
    return c_float(float(value)).value


def encode(kind: str, value: Any) -> Any:
    """Make the AttrValue of a Python value of the kind given, in TensorFlow's notation such as `list(int)`."""
    proto = AttrValue()
    if kind.startswith("list("):
        proto.list.SetInParent()
        for item in value:
            _append(proto.list, kind[5:-1], item)
    else:
        _assign(proto, kind, value)
    return proto


def _assign(proto: Any, kind: str, value: Any) -> None:
    if kind == "type":
        proto.type = value.as_datatype_enum
    elif kind == "shape":
        proto.shape.CopyFrom(TensorShape(value).as_proto())
    elif kind == "string":
        proto.s = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    elif kind == "bool":
        proto.b = bool(value)
    elif kind == "int":
        proto.i = int(value)
    elif kind == "float":
        proto.f = float(value)
    elif kind == "tensor":
        proto.tensor.CopyFrom(tensor_util.make_tensor_proto(value))
    elif kind == "func":
        _assign_function(proto.func, value)
    else:
        raise TypeError(f"Unknown kind of attribute {kind!r}")


def _append(proto: Any, kind: str, value: Any) -> None:
    if kind == "type":
        proto.type.append(value.as_datatype_enum)
    elif kind == "shape":
        proto.shape.add().CopyFrom(TensorShape(value).as_proto())
    elif kind == "string":
        proto.s.append(value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value)
    elif kind == "bool":
        proto.b.append(bool(value))
    elif kind == "int":
        proto.i.append(int(value))
    elif kind == "float":
        proto.f.append(float(value))
    elif kind == "func":
        _assign_function(proto.func.add(), value)
    else:
        raise TypeError(f"Unknown kind of attribute list({kind})")


def _assign_function(proto: Any, value: str) -> None:
    proto.name = str(value)
    for key, attr in getattr(value, "attrs", {}).items():
        if attr is not None:
            proto.attr[key].CopyFrom(encode(kind_of(attr), attr))


def _function(proto: Any) -> FunctionName:
    return FunctionName(proto.name, {key: decode(value) for key, value in proto.attr.items()})


def kind_of(value: object) -> str:
    """The kind of a Python value whose attribute no OpDef declares (`_class`, `_output_shapes` ...)."""
    if isinstance(value, list):
        return f"list({kind_of(value[0]) if value else 'string'})"
    kinds: tuple[tuple[Any, str], ...] = (
        (FunctionName, "func"), (str | bytes, "string"), (bool | np.bool_, "bool"), (int | np.integer, "int"),
        (float, "float"), (dtypes.DType, "type"), (np.ndarray, "tensor"), (tuple | None | TensorShape, "shape"),
    )  # fmt: skip
    for types, kind in kinds:
        if isinstance(value, types):
            return kind
    raise TypeError(f"No attribute can hold {value!r} of type {type(value).__name__}")


def decode(proto: Any) -> Any:
    """The Python value of an AttrValue."""
    kind = proto.WhichOneof("value")
    if kind == "list":
        return _decode_list(proto.list)
    if kind == "type":
        return dtypes.as_dtype(proto.type) if proto.type != types_pb2.DT_INVALID else None
    if kind == "shape":
        return as_dims(proto.shape)
    if kind == "s":
        return _text(proto.s)
    if kind == "tensor":
        return _array(proto.tensor)
    if kind == "func":
        return _function(proto.func)
    return None if kind is None else getattr(proto, kind)


def _decode_list(proto: object) -> list[Any]:
    for field in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
        items = getattr(proto, field)
        if not items:
            continue
        if field == "s":
            return [_text(item) for item in items]
        if field == "type":
            return [dtypes.as_dtype(item) for item in items]
        if field == "shape":
            return [as_dims(item) for item in items]
        if field == "tensor":
            return [_array(item) for item in items]
        if field == "func":
            return [_function(item) for item in items]
        return list(items)
    return []


def _array(proto: tensor_pb2.TensorProto) -> NumpyArray:
    # An attribute's value is replaced, never changed: a graph that is written again is compared by it.
    array = tensor_util.make_ndarray(proto)
    array.flags.writeable = False
    return array


def _text(value: bytes) -> str:
    # surrogateescape keeps bytes that are no UTF-8 intact through a round trip.
    return value.decode("utf-8", "surrogateescape")
