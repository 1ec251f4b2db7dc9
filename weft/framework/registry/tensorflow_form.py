"""TensorFlowForm: what stands for a node of one of weft's own ops where a graph is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from weft.framework.nodes.operation import Operation, Tensor


@dataclass(frozen=True, slots=True)
class TensorFlowForm:
    """Nodes of TensorFlow's ops that do what one of weft's own does; they are in a graph of their own.

    `arguments` are the tensors that stand for the node's inputs, `nodes` what is made of them, in order; the outputs of the
    last one are the node's.
    """

    arguments: Sequence[Tensor]
    nodes: Sequence[Operation]


Lists: TypeAlias = Mapping[Tensor, int]
"""The tensors that are written as TensorLists: 1 for a list of values, 2 for one of such lists."""

FormOf: TypeAlias = Callable[[Operation, Lists], TensorFlowForm | None]
"""Makes the form of a node; None for one that is written as it is."""
