"""The dtypes of a node's inputs and outputs, from its OpDef and the attributes that it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weft.framework.nodes.operation import Tensor
from weft.framework.op_types.op_def import ArgDef, OpDef
from weft.framework.types.dtypes import DType


def output_types(op_def: OpDef, attrs: Mapping[str, object]) -> list[DType]:
    """The types of all outputs, lists flattened."""
    return [dtype for arg in op_def.outputs for dtype in types_of(arg, attrs)]


def types_of(arg: ArgDef, attrs: Mapping[str, Any]) -> Sequence[DType]:
    """The types of the tensors of one argument."""
    if arg.type_list_attr:
        return attrs[arg.type_list_attr]  # type: ignore[no-any-return]
    dtype = arg.dtype or attrs[arg.type_attr]
    if arg.is_ref:
        dtype = dtype._as_ref
    return [dtype] * attrs[arg.number_attr] if arg.number_attr else [dtype]


def attrs_of_inputs(op_def: OpDef, inputs: Sequence[Tensor]) -> dict[str, object]:
    """The attributes that a node's inputs tell: the types of those that are no lists."""
    found: dict[str, object] = {}
    for arg, tensor in zip(op_def.inputs, inputs, strict=False):
        if arg.is_list:
            break
        if arg.type_attr:
            found.setdefault(arg.type_attr, tensor.dtype.base_dtype)
    return found


def group(args: Sequence[ArgDef], attrs: Mapping[str, Any], items: Sequence[object]) -> Iterator[tuple[ArgDef, Any]]:
    """Pair each argument with its item, or with the list of its items."""
    start = 0
    for arg in args:
        if not arg.is_list:
            yield arg, items[start]
            start += 1
            continue
        count = attrs[arg.number_attr] if arg.number_attr else len(attrs[arg.type_list_attr])
        yield arg, list(items[start : start + count])
        start += count
