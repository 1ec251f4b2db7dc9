"""Merges whose input is known, and Switches on the number of the input that a Merge handed on.

TensorFlow switches so in the gradient of a Merge that belongs to no branch that it knows, as those of a gradient do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from weft.framework.raising.flat_graph import MERGES, Nodes, Output, new_node, type_attr, type_of, types_attr, unused_name
from weft.framework.types import attr_value, dtypes
from weft.framework.types.tensor_util import make_ndarray, make_tensor_proto


class Index(NamedTuple):
    """A test for the input that a Merge handed on."""

    merge: str
    number: int


def tested_index(predicate: Output, nodes: Nodes) -> Index | None:
    """What a predicate tests, where it compares the second output of a Merge with a constant number."""
    node = nodes.get(predicate.node)
    if node is None or node.op != "Equal" or len(node.inputs) != 2:
        return None
    found, constant = node.inputs[0], nodes.get(node.inputs[1].node)
    merge = nodes.get(found.node)
    if merge is None or merge.op not in MERGES or found.number != 1 or constant is None or constant.op != "Const":
        return None
    tensor = constant.proto.attr["value"].tensor
    if tensor.dtype != dtypes.int32.as_datatype_enum:
        return None
    value = make_ndarray(tensor)
    return Index(merge.name, int(value)) if value.ndim == 0 and 0 <= value < len(merge.inputs) else None


def switch_by(nodes: Nodes, sides: dict[str, tuple[Output, bool]], results: list[Output]) -> list[Output]:
    """Let Switches take other predicates; `sides` has what the first output of each is alive for.

    Returns:
        The results, as they are called afterwards.
    """
    swapped = {name for name, (_, first) in sides.items() if first}

    def renamed(output: Output) -> Output:
        return Output(output.node, 1 - output.number) if output.node in swapped else output

    for name, (predicate, _) in sides.items():
        nodes[name].inputs[1] = predicate
    for node in nodes.values():
        node.inputs = [renamed(each) for each in node.inputs]
    return [renamed(each) for each in results]


def hand_on(nodes: Nodes, numbers: Mapping[str, int]) -> None:
    """Put Identity nodes in the place of Merges of which it is known which input they hand on."""
    for name, number in numbers.items():
        merge = nodes[name]
        index = unused_name(f"{name}/value_index", nodes)
        value = attr_value.encode("tensor", make_tensor_proto(np.int32(number)))
        nodes[index] = new_node("Const", index, (), dtype=type_attr(dtypes.int32), value=value)
        types = types_attr([type_of(Output(name, 0), nodes), dtypes.int32])
        taken = [merge.inputs[number], Output(index, 0)]
        nodes[name] = new_node("IdentityN", name, taken, merge.waits, merge.proto.device, T=types)
