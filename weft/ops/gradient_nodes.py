"""How many nodes TensorFlow's gradient rules make, for the `gradient_nodes` of declarations.

If TensorFlow knows the shapes, it computes while the graph is built along which axes the gradient of a broadcast input is
summed, and that of a sum spread, and keeps that for the next node with such inputs.
"""

from __future__ import annotations

import numpy as np

from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation
from weft.framework.op_types.op_def import OfNode
from weft.framework.types.dims import broadcast_dims


def always(count: int) -> OfNode[int]:
    """So many whatever the shapes are."""
    return lambda node: count


def of_broadcast(own: int, of_equals: int | None = None) -> OfNode[int]:
    """Those of a rule that sums over the dimensions along which one of two inputs was broadcast.

    Args:
        own: how many compute the two gradients.
        of_equals: how many there are in all where both inputs are known to be of one shape, where that is a case of its own.
    """

    def count(node: Operation) -> int:
        x, y = node.inputs[0].dims, node.inputs[1].dims
        if x is None or y is None or None in x or None in y:
            return own + 7
        if x == y and of_equals is not None:
            return of_equals
        axes = 3 if node.graph.node_count.is_new(("broadcast", x, y)) else 0
        whole = broadcast_dims(x, y)
        return own + axes + 4 * ((x != whole) + (y != whole))

    return count


def of_sum(node: Operation) -> int:
    """Those that spread the gradient of a sum."""
    dims, axes = node.inputs[0].dims, constant_value(node.inputs[1])
    if dims is not None and axes is not None:
        if np.array_equal(axes, np.arange(len(dims))):
            return 4
        if None not in dims:
            key = "reduction", dims, tuple(np.ravel(axes).tolist())
            return 21 if node.graph.node_count.is_new(key) else 4
    return 16


def of_mean(node: Operation) -> int:
    """Those of a mean: of the sum's, and a division by a number that is known with the shapes."""
    sizes = node.inputs[0].shape.num_elements(), node.outputs[0].shape.num_elements()
    return of_sum(node) + (11 if None in sizes else 2)


def of_concat(node: Operation) -> int:
    """Those that cut a gradient into pieces: of each a slice and its shape, which two nodes have where not all are known."""
    count = len(node.inputs) - 1
    known = all(each.dims is not None and None not in each.dims for each in node.inputs[:-1])
    return 3 + count + (count if known else 2)


def of_gather(node: Operation) -> int | None:
    """Those of rows; along other axes as many as weft's."""
    axis = constant_value(node.inputs[2])
    return 13 if axis is not None and axis == 0 and not node.attrs["batch_dims"] else None


def of_batch_product(node: Operation) -> int:
    """Two products, and what sums over batches that were broadcast unless both shapes are known to be one."""
    x, y = node.inputs[0].dims, node.inputs[1].dims
    return 2 if x is not None and None not in x and x == y else 17
