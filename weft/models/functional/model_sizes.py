"""slim's model_analyzer: how large the variables and the outputs of a graph are."""

from __future__ import annotations

from collections.abc import Iterable

from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import Graph


def tensor_description(var: Nest) -> str:
    """The type and shape of a variable or tensor, such as `(float32 3x4)`.

    Args:
        var: a variable or tensor whose shape is known.
    """
    return f"({var.dtype.name} {'x'.join(str(size) for size in var.get_shape().as_list())})"


def analyze_ops(graph: Graph, print_info: bool = False) -> int:
    """How many elements the outputs of all nodes have, as far as their shapes are known.

    Args:
        graph: the graph.
        print_info: whether to print a line for each node.
    """
    if print_info:
        _print_title("Operations: name -> (type shapes) [size]")
    total = 0
    for node in graph.get_operations():
        known = [each for each in node.outputs if each.get_shape().ndims]
        size = sum(int(each.get_shape().num_elements() or 0) for each in node.outputs if each.get_shape().ndims is not None)
        if print_info:
            print(node.name, "\t->", ", ".join(map(tensor_description, known)), f"[{size}]")
        total += size
    return total


def analyze_vars(variables: Iterable[Nest], print_info: bool = False) -> tuple[int, int]:
    """How many elements and how many bytes some variables have.

        slim.model_analyzer.analyze_vars(slim.get_model_variables(), print_info=True)

    Args:
        variables: such as `tf.trainable_variables()`.
        print_info: whether to print a line for each, and the sums.
    """
    if print_info:
        _print_title("Variables: name (type shape) [size]")
    total, total_bytes = 0, 0
    for variable in variables:
        size = int(variable.get_shape().num_elements() or 0)
        size_bytes = size * variable.dtype.size
        if print_info:
            print(variable.name, tensor_description(variable), f"[{size}, bytes: {size_bytes}]")
        total, total_bytes = total + size, total_bytes + size_bytes
    if print_info:
        print(f"Total size of variables: {total}")
        print(f"Total bytes of variables: {total_bytes}")
    return total, total_bytes


def _print_title(title: str) -> None:
    print("---------")
    print(title)
    print("---------")
