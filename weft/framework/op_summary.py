"""One line that tells what an op takes, gives and is set by, as TensorFlow's messages about a wrong NodeDef end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from weft.framework.dtypes import DType
from weft.framework.op_def import REQUIRED, ArgDef, AttrDef, OpDef
from weft.framework.tensor_shape import brackets

_TYPE_NAMES: Final = {"float32": "float", "float64": "double", "float16": "half"}
# A longer list is shown by its first and last elements.
_SHOWN: Final = 10


def op_summary(definition: OpDef) -> str:
    """`Op<name=Identity; signature=input:T -> output:T; attr=T:type>`."""
    sides = [", ".join(map(_arg, side)) for side in (definition.inputs, definition.outputs)]
    attrs = "".join(f"; attr={_attr(attr)}" for attr in definition.attrs.values())
    stateful = "; is_stateful=true" if definition.stateful else ""
    return f"Op<name={definition.name}; signature={' -> '.join(sides)}{attrs}{stateful}>"


def _arg(arg: ArgDef) -> str:
    number = f"{arg.number_attr}*" if arg.number_attr else ""
    kind = number + (arg.type_attr if arg.dtype is None else type_name(arg.dtype))
    return f"{arg.name}:{f'Ref({kind})' if arg.is_ref else kind}"


def _attr(attr: AttrDef) -> str:
    default = "" if attr.default is REQUIRED else f",default={_value(attr.kind, attr.default)}"
    allowed = f",allowed={_value('list(type)', attr.allowed)}" if attr.allowed else ""
    return f"{attr.name}:{attr.kind}{default}{allowed}"


def _listed(items: Sequence[str]) -> str:
    shown = items if len(items) <= _SHOWN else [*items[: _SHOWN // 2], "...", *items[-_SHOWN // 2 :]]
    return f"[{', '.join(shown)}]"


def _value(kind: str, value: Any) -> str:
    if kind.startswith("list("):
        return _listed([_value(kind[5:-1], item) for item in value])
    if kind == "type":
        return "DT_INVALID" if value is None else f"DT_{type_name(value).upper()}"
    if kind == "shape":
        return "<unknown>" if value is None else brackets(value)
    if kind == "string":
        return f'"{value}"'
    if kind == "float":
        return f"{value:g}"
    return str(value).lower() if kind == "bool" else str(value)


def type_name(dtype: DType) -> str:
    """The name of a type in TensorFlow's messages about GraphDefs, where three types are called otherwise than in Python."""
    return _TYPE_NAMES.get(dtype.base_dtype.name, dtype.base_dtype.name)
