"""Forms of KernelGradient, the derivative of a kernel that needs no rule of its own, for the ops that training uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import OpDef
from weft.framework.registry.op_registry import lookup
from weft.framework.types import dtypes
from weft.framework.types.attr_value import FunctionName
from weft.ops.array.gather_scatter import gather, gather_v2_node
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import expand_dims, reshape, shape
from weft.ops.array.transposing import matrix_transpose, transpose
from weft.ops.declaration import definition_of
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import conj_if_complex, mul
from weft.ops.math.reduce_functions import reduce_prod, reduce_sum
from weft.ops.math.segment import unsorted_segment_sum
from weft.ops.sparse.arithmetic import sparse_tensor_dense_mat_mul
from weft.ops.symbolic_gradient import symbolic_gradient
from weft.ops.tensorflow_forms.form import form

# `rule(node, inputs, grads)` returns the gradients of some inputs by their numbers, None where it has none to give.
Rule = Callable[[Operation, Sequence[Tensor], Sequence[Tensor]], "dict[int, Tensor] | None"]

_RULES: Final[dict[OpDef, Rule]] = {}


def derivative(builder: Callable[..., object]) -> Callable[[Rule], Rule]:
    """Register the rule for the op that `builder` adds nodes of."""

    def decorate(rule: Rule) -> Rule:
        _RULES[definition_of(builder)] = rule
        return rule

    return decorate


@form(symbolic_gradient)
def _kernel_gradient(node: Operation, inputs: list[Tensor], grads: list[Tensor]) -> list[Tensor] | None:
    function: FunctionName = node.attrs["f"]
    rule = _RULES.get(lookup(function))
    found = None if rule is None else rule(node, inputs, grads)
    return None if found is None else [found[place] for place in node.attrs["wanted"]]


@derivative(gather_v2_node)
def _gather(node: Operation, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> dict[int, Tensor] | None:
    params, indices, _ = inputs
    axis, batch = constant_value(node.inputs[2]), node.attrs["f"].attrs["batch_dims"]
    if axis is None or params.dims is None or indices.dims is None:
        return None
    first, rank, inner = int(axis) % len(params.dims), len(params.dims), len(indices.dims) - batch
    sizes = shape(params)
    # The gradient with the dimensions of the indices put where the batch ends, the rest behind them.
    order = [*range(batch), *range(first, first + inner), *range(batch, first), *range(first + inner, rank + inner - 1)]
    rows = transpose(grads[0], order) if order != sorted(order) else grads[0]
    rest = shape(rows)[batch + inner :]
    count, length = reduce_prod(sizes[:batch]), sizes[first]
    ids = cast(indices, dtypes.int32)
    if batch:
        starts = reshape(range_of(count) * length, concat([sizes[:batch], [1] * inner], 0))
        ids = ids + starts
    summed = unsorted_segment_sum(rows, ids, count * length)
    whole = reshape(summed, concat([sizes[:batch], expand_dims(length, 0), rest], 0))
    back = [*range(batch), *range(batch + 1, first + 1), batch, *range(first + 1, rank)]
    return {0: transpose(whole, back) if back != sorted(back) else whole}


@derivative(sparse_tensor_dense_mat_mul)
def _sparse_product(node: Operation, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> dict[int, Tensor]:
    indices, values, sizes, b = inputs
    attrs = node.attrs["f"].attrs
    adjoint_a, adjoint_b = attrs["adjoint_a"], attrs["adjoint_b"]
    of_b = sparse_tensor_dense_mat_mul(indices, values, sizes, grads[0], adjoint_a=not adjoint_a)
    rows, columns = (indices[:, 1], indices[:, 0]) if adjoint_a else (indices[:, 0], indices[:, 1])
    dense = matrix_transpose(b, conjugate=True) if adjoint_b else b
    products = mul(gather(grads[0], rows), conj_if_complex(gather(dense, columns)))
    of_values = reduce_sum(products, axis=[1])
    return {1: conj_if_complex(of_values) if adjoint_a else of_values,
            3: matrix_transpose(of_b, conjugate=True) if adjoint_b else of_b}  # fmt: skip
