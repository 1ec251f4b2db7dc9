"""The notation of an op's signature: what goes over the wire, that is the arguments' names and the attributes that type them.

`a: T, b: T -> product: T` has two inputs and an output of one type. `N*T` is a list of N tensors of one type, `[Tin]` a list of
tensors of the types in the list attribute Tin, `Ref(T)` a variable's mutable output.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from weft.framework.op_types.op_def import ArgDef
from weft.framework.types import dtypes

_ARG: Final = re.compile(r"^(\w+):\s*(.+)$")


def _parse_args(text: str, type_attrs: Sequence[str]) -> tuple[ArgDef, ...]:
    return tuple(_parse_arg(part.strip(), type_attrs) for part in text.split(",") if part.strip())


def _parse_arg(text: str, type_attrs: Sequence[str]) -> ArgDef:
    match = _ARG.match(text)
    if match is None:
        raise ValueError(f"Op signature: expected 'name: type', found {text!r}")
    name, kind = match.groups()
    is_ref = kind.startswith("Ref(")
    if is_ref:
        kind = kind[4:-1]
    if kind.startswith("["):
        return ArgDef(name, type_list_attr=kind[1:-1], is_ref=is_ref)
    number, _, kind = kind.rpartition("*")
    if kind.islower() and kind not in type_attrs:
        return ArgDef(name, dtype=dtypes.as_dtype(kind), number_attr=number, is_ref=is_ref)
    return ArgDef(name, type_attr=kind, number_attr=number, is_ref=is_ref)


def parse_signature(
    signature: str, type_attrs: Sequence[str] = ()
) -> tuple[tuple[ArgDef, ...], tuple[ArgDef, ...], dict[str, str]]:
    """Split a signature into inputs, outputs and the kinds of the attributes that it names.

    A lower-case type is a dtype's name unless it is listed in `type_attrs` (TensorFlow has attributes such as `dtype`).
    """
    left, arrow, right = signature.partition("->")
    if not arrow:
        raise ValueError(f"Op signature: expected '->' in {signature!r}")
    inputs, outputs = _parse_args(left, type_attrs), _parse_args(right, type_attrs)
    kinds: dict[str, str] = {}
    for arg in inputs + outputs:
        if arg.number_attr:
            kinds[arg.number_attr] = "int"
        if arg.type_attr:
            kinds[arg.type_attr] = "type"
        if arg.type_list_attr:
            kinds[arg.type_list_attr] = "list(type)"
    return inputs, outputs, kinds
