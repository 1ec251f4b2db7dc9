"""Functions of loops that record: where they are written for TensorFlow, their bodies put what they record into TensorLists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tensorboard.compat.proto import function_pb2, types_pb2

from weft.framework.types.dtypes import DType

_PUSH: Final = "TensorListPushBack"


def add_lists(proto: function_pb2.FunctionDef, types: Sequence[DType]) -> list[str]:
    """Give a function an argument for each list, of values of the types given; returns their names."""
    taken = {arg.name for arg in proto.signature.input_arg} | {node.name for node in proto.node_def}
    names = []
    for number in range(len(types)):
        name = f"list_{number}"
        while name in taken:
            name += "_"
        names.append(name)
        proto.signature.input_arg.add(name=name, type=types_pb2.DT_VARIANT)
    return names


def record(proto: function_pb2.FunctionDef, types: Sequence[DType]) -> None:
    """Let the body of a loop, whose last results are recorded, return lists with these put behind what they had."""
    names = add_lists(proto, types)
    results = list(proto.signature.output_arg)[-len(types) :]
    for name, dtype, result in zip(names, types, results, strict=True):
        node = proto.node_def.add(name=f"{name}/{_PUSH}", op=_PUSH, input=[name, proto.ret[result.name]])
        node.attr["element_dtype"].type = dtype.as_datatype_enum
        result.type = types_pb2.DT_VARIANT
        proto.ret[result.name] = f"{node.name}:output_handle:0"
