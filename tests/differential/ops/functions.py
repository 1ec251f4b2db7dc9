"""The functions that attributes of cases name."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import function_pb2, types_pb2

from weft.framework.types.attr_value import FunctionName

_FLOAT, _BOOL = types_pb2.DT_FLOAT, types_pb2.DT_BOOL


def function(name: str) -> FunctionName:
    """A function of the library, as an attribute's value."""
    return FunctionName(name)


def _one_node(name: str, op: str, inputs: list[str], output: str, types: tuple[int, int] = (_FLOAT, _FLOAT)) -> Any:
    made = function_pb2.FunctionDef()
    made.signature.name = name
    made.signature.input_arg.add(name="x", type=types[0])
    made.signature.output_arg.add(name="y", type=types[1])
    node = made.node_def.add(name="node", op=op, input=inputs)
    node.attr["T"].type = types[0]
    made.ret["y"] = f"node:{output}:0"
    return made


def _below(name: str, op: str, bound: float, summed: bool) -> Any:
    """Whether a scalar, or the sum of a vector, is on one side of a number."""
    made = function_pb2.FunctionDef()
    made.signature.name = name
    made.signature.input_arg.add(name="x", type=_FLOAT)
    made.signature.output_arg.add(name="y", type=_BOOL)
    for constant, kind in (("axis", types_pb2.DT_INT32), ("bound", _FLOAT)):
        node = made.node_def.add(name=constant, op="Const")
        node.attr["dtype"].type = node.attr["value"].tensor.dtype = kind
        node.attr["value"].tensor.tensor_shape.SetInParent()
        if constant == "axis":
            node.attr["value"].tensor.int_val.append(0)
        else:
            node.attr["value"].tensor.float_val.append(bound)
    if summed:
        total = made.node_def.add(name="total", op="Sum", input=["x", "axis:output:0"])
        total.attr["T"].type, total.attr["Tidx"].type = _FLOAT, types_pb2.DT_INT32
    compared = made.node_def.add(name="compared", op=op, input=["total:output:0" if summed else "x", "bound:output:0"])
    compared.attr["T"].type = _FLOAT
    made.ret["y"] = "compared:z:0"
    return made


def _sum(name: str, results: int) -> Any:
    """The sum of two scalars, once or twice."""
    made = function_pb2.FunctionDef()
    made.signature.name = name
    for each in ("a", "b"):
        made.signature.input_arg.add(name=each, type=_FLOAT)
    node = made.node_def.add(name="sum", op="Add", input=["a", "b"])
    node.attr["T"].type = _FLOAT
    for number in range(results):
        made.signature.output_arg.add(name=f"y{number}", type=_FLOAT)
        made.ret[f"y{number}"] = "sum:z:0"
    return made


def _library() -> Any:
    made = function_pb2.FunctionDefLibrary()
    made.function.add().CopyFrom(_one_node("double", "Add", ["x", "x"], "z"))
    made.function.add().CopyFrom(_one_node("negate", "Neg", ["x"], "y"))
    made.function.add().CopyFrom(_below("small", "Less", 100.0, summed=True))
    made.function.add().CopyFrom(_below("positive", "Greater", 0.0, summed=False))
    made.function.add().CopyFrom(_sum("sum2", 1))
    made.function.add().CopyFrom(_sum("scan2", 2))
    return made


LIBRARY = _library()
