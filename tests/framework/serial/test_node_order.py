"""Nodes are put in an order in which each comes behind its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from weft.framework.serial.node_order import CycleError, inputs_first


@dataclass(frozen=True)
class _Node:
    name: str


def _ordered(inputs: Mapping[str, Sequence[str]]) -> list[str]:
    nodes = {name: _Node(name) for name in inputs}
    return [node.name for node in inputs_first(nodes.values(), lambda node: (nodes[each] for each in inputs[node.name]))]


def test_inputs_come_first_and_what_is_in_order_stays_so() -> None:
    assert _ordered({"a": [], "b": ["a"], "c": ["a", "b"]}) == ["a", "b", "c"]
    assert _ordered({"sum": ["x", "y"], "y": ["x"], "x": [], "z": []}) == ["x", "y", "sum", "z"]


def test_a_cycle_is_told_with_one_of_its_nodes() -> None:
    with pytest.raises(CycleError, match="cycle through 'b'") as told:
        _ordered({"a": ["b"], "b": ["c"], "c": ["b"]})
    assert told.value.node == "b"


def test_a_chain_may_be_longer_than_pythons_stack() -> None:
    chain = {str(i): [str(i + 1)] for i in range(5000)} | {"5000": []}
    assert _ordered(chain) == [str(i) for i in range(5000, -1, -1)]
