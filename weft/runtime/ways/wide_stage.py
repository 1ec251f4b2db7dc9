"""Wide stages: many small arrays from outside, such as what a worker gets from parameter servers, and few nodes to take them.

Handing an array of the host to XLA costs more than a microsecond, whatever its size, and a NumPy operation on many arrays takes
a tenth of that for each. So such a stage stays interpreted, if its nodes are of the kinds that NumPy does as fast as memory
allows. Whether it does follows from the graph alone: the same program always computes the same numbers.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from weft.runtime.program.program import ALIASES, Program

_LEAST_INPUTS: Final = 16
_INPUTS_PER_NODE: Final = 8  # a node costs about what so many arrays for XLA do
_BYTES_PER_INPUT: Final = 4 << 10  # in the mean; what NumPy moves in the time that it takes to hand an array to XLA

_MOVING: Final = frozenset(
    (
        "Pack", "Concat", "ConcatV2", "Slice", "StridedSlice", "Reshape", "ExpandDims", "Squeeze", "Transpose", "Cast",
        "AddN", "Add", "AddV2", "Sub", "Mul", "RealDiv", "Neg", "Sum", "Mean", "Max", "Min",
    )
)  # fmt: skip


def is_wide(program: Program, outside: Collection[int]) -> bool:
    """Whether a program is better left to NumPy; `outside` are the places of inputs that are arrays of the host."""
    nodes = [op for op in program.nodes if op.type not in ALIASES]
    if len(outside) < max(_LEAST_INPUTS, _INPUTS_PER_NODE * len(nodes)) or program.slots:
        return False
    if not all(op.type in _MOVING for op in nodes):
        return False
    sizes = [tensor.shape.num_elements() for tensor in program.inputs]
    widths = [tensor.dtype.base_dtype.size or 0 for tensor in program.inputs]
    if None in sizes:
        return False
    size_bytes = sum(size * width for size, width in zip(sizes, widths, strict=True) if size is not None)
    return size_bytes <= _BYTES_PER_INPUT * len(outside)
