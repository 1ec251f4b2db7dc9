"""The gradients of each element of a tensor, by a loop: what the number of elements is, the graph need not know."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.autodiff.gradients import gradients
from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.ops.array.filling import zeros_like
from weft.ops.array.shape_ops import size
from weft.ops.control_flow.tensor_array import TensorArray
from weft.ops.control_flow.while_loop import while_loop


def looped_rows(
    flat: Tensor, sources: Sequence[VariableLike], differentiate: Callable[..., Sequence[Nest]] = gradients
) -> list[Tensor | None]:
    """For each source the gradients of the elements, `[n] -> [n, ...]`, with the source's shape behind.

    Args:
        flat: `[n]`.
        sources: tensors or variables.
        differentiate: `gradients`, perhaps with further arguments.

    Returns:
        None for a source on which no element depends.
    """
    count = size(flat)
    connected = [False] * len(sources)
    made = [TensorArray(source.dtype.base_dtype, count, element_shape=source.shape) for source in sources]

    def add_row(index: Tensor, arrays: list[TensorArray]) -> tuple[Tensor, list[TensorArray]]:
        row = differentiate(flat[index], list(sources))
        for place, gradient in enumerate(row):
            connected[place] = gradient is not None
        values = [
            zeros_like(source) if each is None else convert_to_tensor(each) for source, each in zip(sources, row, strict=True)
        ]
        return index + 1, [array.write(index, value) for array, value in zip(arrays, values, strict=True)]

    first = convert_to_tensor(0)
    _, arrays = while_loop(lambda index, _: index < count, add_row, [first, made])
    return [array.stack() if found else None for array, found in zip(arrays, connected, strict=True)]
