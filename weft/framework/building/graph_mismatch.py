"""What is said where a node is to take tensors that its graph cannot have: of another graph, or of the inside of a body."""

from __future__ import annotations

from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor

_TOGETHER = "build both inside of one `with graph.as_default():`."


def inner_value(tensor: str, graph: Graph, user: str) -> ValueError:
    """The error for a tensor of a finished body that a node outside of it is to take.

    Args:
        tensor: the name of the operation that makes it.
        graph: the body.
        user: the node, in words.
    """
    if isinstance(graph, FuncGraph) and graph.is_function:
        return ValueError(
            f"Cannot use {tensor!r} as input to {user} because {tensor!r} is inside of the function {graph.name!r}, which has "
            "values in its own calls only. Return the tensor from the function to use its value outside; what a dataset's "
            "function returns is a part of the elements."
        )
    return ValueError(
        f"Cannot use {tensor!r} as input to {user} because {tensor!r} is in a while loop. See info log for more details. "
        "Return the tensor from the loop's body to use its value outside."
    )


def of_two(element: Tensor | Operation, first: Tensor | Operation) -> ValueError:
    """The error for two inputs of one node, of different graphs.

    Args:
        element: the later one.
        first: the earlier one, whose graph decides.
    """
    for inner, outer in ((element, first), (first, element)):
        if _is_around(outer.graph, inner.graph):
            return inner_value(_maker(inner), inner.graph.home, f"a node that takes {_maker(outer)!r}, too,")
    return ValueError(
        f"{element} must be from the same graph as {first}. The first is of {element.graph.label}, the second of "
        f"{first.graph.label}: {_TOGETHER}"
    )


def _maker(element: Tensor | Operation) -> str:
    """The name of the operation that makes a tensor, or of the operation."""
    return element.op.name if isinstance(element, Tensor) else element.name


def of_node(tensor: Tensor, graph: Graph) -> ValueError:
    """The error for an input of another graph than the node's.

    Args:
        tensor: the input.
        graph: the node's.
    """
    return ValueError(
        f"{tensor} must be from the same graph as the node that is to take it. It belongs to {tensor.op.graph.label}, the "
        f"node to {graph.label}: {_TOGETHER}"
    )


def _is_around(outer: Graph, inner: Graph) -> bool:
    """Whether a graph has another one as a finished body, at any depth."""
    home = inner.home
    return isinstance(home, FuncGraph) and home.finalized and home.outermost is outer.home
