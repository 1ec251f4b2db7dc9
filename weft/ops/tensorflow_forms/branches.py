"""Forms of what branches give away besides their results."""

from __future__ import annotations

from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.filling import zeros
from weft.ops.control_flow.nodes import no_value
from weft.ops.tensorflow_forms.form import form


@form(no_value)
def _no_value(node: Operation) -> Tensor:
    return zeros([size or 0 for size in node.attrs["shape"] or ()], node.attrs["dtype"])
