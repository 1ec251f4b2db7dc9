"""How many floating-point operations a node does, by TensorFlow's rules, when its shapes are known."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import OpDef
from weft.ops.declaration import definition_of
from weft.ops.math import comparison, division, elementwise, norms, reductions, unary
from weft.ops.math.products import mat_mul
from weft.ops.nn import bias, conv_op, pool_op, softmax

_Rule = Callable[[Operation], int | None]


def float_operations(node: Operation) -> int:
    """The operations of a node; 0 where no rule counts its type, or a shape is not known."""
    return known_float_operations(node) or 0


def known_float_operations(node: Operation) -> int | None:
    """The operations of a node; 0 where no rule counts its type, None where a shape is not known."""
    rule = _RULES.get(node.op_def)
    return 0 if rule is None else rule(node)


def _size(tensor: Tensor) -> int | None:
    return None if tensor.dims is None or None in tensor.dims else math.prod(size for size in tensor.dims if size is not None)


def _per_element(count: int) -> _Rule:
    def rule(node: Operation) -> int | None:
        size = _size(node.outputs[0])
        return None if size is None else count * size

    return rule


def _mat_mul(node: Operation) -> int | None:
    size, dims = _size(node.outputs[0]), node.inputs[0].dims
    inner = None if dims is None else dims[0 if node.attrs["transpose_a"] else 1]
    return None if size is None or inner is None else 2 * size * inner


def _convolution(node: Operation) -> int | None:
    size, filters = _size(node.outputs[0]), node.inputs[1].dims
    if size is None or filters is None or None in filters:
        return None
    return 2 * size * math.prod(each for each in filters[:-1] if each is not None)


def _depthwise(node: Operation) -> int | None:
    size, filters = _size(node.outputs[0]), node.inputs[1].dims
    if size is None or filters is None or None in filters[:2]:
        return None
    return 2 * size * math.prod(each for each in filters[:2] if each is not None)


def _pool(node: Operation) -> int | None:
    size = _size(node.outputs[0])
    return None if size is None else size * math.prod(node.attrs["ksize"])


def _reduction(of_each: int, in_the_end: int) -> _Rule:
    def rule(node: Operation) -> int | None:
        taken, made = _size(node.inputs[0]), _size(node.outputs[0])
        return None if taken is None or made is None else of_each * (taken - made) + in_the_end * made

    return rule


def _add_n(node: Operation) -> int | None:
    size = _size(node.outputs[0])
    return None if size is None else size * (len(node.inputs) - 1)


def _l2_loss(node: Operation) -> int | None:
    size = _size(node.inputs[0])
    return None if size is None else 3 * size - 1


_RULES: Final[dict[OpDef, _Rule]] = {
    definition_of(mat_mul): _mat_mul,
    definition_of(conv_op.conv2d_node): _convolution,
    definition_of(conv_op.depthwise_conv2d_node): _depthwise,
    definition_of(pool_op.max_pool_node): _pool,
    definition_of(pool_op.avg_pool_node): _pool,
    definition_of(reductions.sum_node): _reduction(1, 0),
    definition_of(reductions.mean_node): _reduction(1, 1),
    definition_of(elementwise.add_n_node): _add_n,
    definition_of(norms.l2_loss): _l2_loss,
    definition_of(softmax.softmax_node): _per_element(5),
    definition_of(unary.rsqrt): _per_element(2),
    definition_of(elementwise.squared_difference): _per_element(2),
} | {
    definition_of(function): _per_element(1)
    for function in (
        bias.bias_add_node, comparison.equal, comparison.greater, comparison.greater_equal, comparison.less,
        comparison.less_equal, comparison.maximum, comparison.minimum, elementwise.real_div, elementwise.add, elementwise.mul,
        elementwise.neg, division.pow_node, elementwise.square, elementwise.sub, unary.log,
    )
}  # fmt: skip
