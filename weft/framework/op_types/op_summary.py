"""One line that tells what an op takes, gives and is set by, as TensorFlow's messages about a wrong NodeDef end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tensorboard.compat.proto import attr_value_pb2, op_def_pb2

from weft.framework.op_types.op_def import OpDef, to_op_def_proto
from weft.framework.types.dims import brackets
from weft.framework.types.dtypes import DType, as_dtype
from weft.framework.types.tensor_shape import as_dims

_TYPE_NAMES: Final = {"float32": "float", "float64": "double", "float16": "half"}
# A longer list is shown by its first and last elements.
_SHOWN: Final = 10


def op_summary(definition: OpDef) -> str:
    """`Op<name=Identity; signature=input:T -> output:T; attr=T:type>`."""
    proto = to_op_def_proto(definition)
    sides = [", ".join(map(_arg, side)) for side in (proto.input_arg, proto.output_arg)]
    attrs = "".join(f"; attr={_attr(attr)}" for attr in proto.attr)
    stateful = "; is_stateful=true" if proto.is_stateful else ""
    return f"Op<name={proto.name}; signature={' -> '.join(sides)}{attrs}{stateful}>"


def type_name(dtype: DType) -> str:
    """The name of a type in TensorFlow's messages about GraphDefs, where three types are called otherwise than in Python."""
    return _TYPE_NAMES.get(dtype.base_dtype.name, dtype.base_dtype.name)


def _arg(arg: op_def_pb2.OpDef.ArgDef) -> str:
    kind = type_name(as_dtype(arg.type)) if arg.type else arg.type_attr
    kind = f"{arg.number_attr}*{kind}" if arg.number_attr else kind
    return f"{arg.name}:{f'Ref({kind})' if arg.is_ref else kind}"


def _attr(attr: op_def_pb2.OpDef.AttrDef) -> str:
    default = f",default={_value(attr.default_value)}" if attr.HasField("default_value") else ""
    minimum = f",min={attr.minimum}" if attr.has_minimum else ""
    allowed = f",allowed={_value(attr.allowed_values)}" if attr.HasField("allowed_values") else ""
    return f"{attr.name}:{attr.type}{default}{minimum}{allowed}"


def _value(proto: attr_value_pb2.AttrValue) -> str:
    field = proto.WhichOneof("value")
    if field != "list":
        return _item(field, getattr(proto, field))
    for each, items in proto.list.ListFields():
        return _listed(_item(each.name, item) for item in items)
    return "[]"


def _listed(items: Iterable[str]) -> str:
    shown = list(items)
    if len(shown) > _SHOWN:
        shown = [*shown[: _SHOWN // 2], "...", *shown[-_SHOWN // 2 :]]
    return f"[{', '.join(shown)}]"


def _item(field: str, value: object) -> str:
    if field == "type":
        return f"DT_{type_name(as_dtype(value)).upper()}"
    if field == "shape":
        dims = as_dims(value)
        return "<unknown>" if dims is None else brackets(dims)
    if isinstance(value, bytes):
        return f'"{value.decode(errors="replace")}"'
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
