"""The form of KernelGradient for running sums of exponentials, in logarithms."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.filling import fill
from weft.ops.array.selection import select_v2_node
from weft.ops.array.shape_ops import shape
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater
from weft.ops.math.elementwise import add, neg, sub
from weft.ops.math.scans import cumulative_logsumexp_node
from weft.ops.math.unary import exp, log
from weft.ops.tensorflow_forms.derivatives import derivative


@derivative(cumulative_logsumexp_node)
def _logarithms_of_sums(node: Operation, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> dict[int, Tensor]:
    x, axis = inputs
    attrs = node.attrs["f"].attrs
    sums = cumulative_logsumexp_node(x, axis, exclusive=attrs["exclusive"], reverse=attrs["reverse"])

    def part(of: Tensor) -> Tensor:
        """What the gradients above zero give: their sums from the other end, in logarithms too, so that nothing overflows."""
        zero, lowest = cast(0.0, x.dtype), cast(x.dtype.min, x.dtype)
        logarithms = select_v2_node(greater(of, zero), log(of), fill(shape(of), lowest))
        back = cumulative_logsumexp_node(
            sub(logarithms, sums), axis, exclusive=attrs["exclusive"], reverse=not attrs["reverse"]
        )
        return exp(add(back, x))

    return {0: sub(part(grads[0]), part(neg(grads[0])))}
