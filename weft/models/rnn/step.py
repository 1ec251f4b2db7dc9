"""One step of a recurrent network over a batch whose sequences have different lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.framework.building.aliases import DTypeLike, Nest, SizeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nested import nest
from weft.framework.nodes.node_errors import REMEDY, described
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.filling import zeros
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import expand_dims, reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.stacking import stack
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater_equal


def lengths_of(sequence_length: TensorLike, batch: SizeLike) -> Tensor:
    """The lengths as an int32 vector, one for each sequence of the batch; ValueError when they are none or too many."""
    given = convert_to_tensor(sequence_length, name="sequence_length")
    lengths = cast(given, dtypes.int32)
    if lengths.get_shape().ndims not in (None, 1):
        raise ValueError(
            f"sequence_length must be a vector of length batch_size, but saw shape: {lengths.get_shape()}\n  sequence_length: "
            f"{described(given)}"
        )
    count = lengths.get_shape()[0].value if lengths.get_shape().ndims == 1 else None
    if isinstance(batch, int) and count is not None:
        if batch != count:
            raise ValueError(
                f"sequence_length must have one length for each of the {batch} sequences of the batch, but it has {count}.\n"
                f"  sequence_length: {described(given)}"
            )
        return lengths
    # A run that is fed another number of lengths than of sequences fails here, and not where a step chooses by them.
    checked = reshape(lengths, [batch] if isinstance(batch, int) else expand_dims(batch, 0), name="CheckSeqLen")
    checked.op._set_attr(REMEDY, "sequence_length must have one length for each sequence of the batch, and no more.")
    return checked


def masked_step(
    time: int | Tensor, lengths: Tensor | None, state: Nest, step: Callable[[], tuple[Nest, Nest]], zero_output: Nest
) -> Nest:
    """The output and the new state of `step`; past the end of a sequence zeros and the state as it was."""
    if lengths is None:
        return step()
    over = greater_equal(time, lengths)
    output, new_state = step()
    nest.assert_same_structure(zero_output, output)
    nest.assert_same_structure(state, new_state)

    def kept(old: Tensor, new: Tensor) -> Tensor:
        # Parts of the state without a batch, such as counters, go on.
        if new.get_shape().ndims == 0:
            return new
        chosen = where(over, old, new)
        chosen.set_shape(new.get_shape())
        return chosen

    return nest.map_structure(kept, zero_output, output), nest.map_structure(kept, state, new_state)


def zero_outputs(output_size: Nest, batch_size: SizeLike, dtype: DTypeLike) -> Nest:
    """Zeros of `[batch, size]` for each size of an output."""

    def make(size: Nest) -> Tensor:
        sizes = size.as_list() if isinstance(size, TensorShape) else [int(size)]
        made = zeros(stack([batch_size, *sizes]), dtype=dtype)
        made.set_shape([batch_size if isinstance(batch_size, int) else None, *sizes])
        return made

    return nest.map_structure(make, output_size)


def common_dtype(dtype: DTypeLike | None, state: Nest) -> DType:
    """The type of outputs: the one given, or that of all parts of the state; ValueError when they differ."""
    if dtype is not None:
        return dtypes.as_dtype(dtype)
    types: set[DType] = {part.dtype.base_dtype for part in nest.flatten(state)}
    if not types:
        raise ValueError("Unable to infer dtype from empty state.")
    if len(types) > 1:
        raise ValueError("State has tensors of different inferred_dtypes. Unable to infer a single representative dtype.")
    return types.pop()


def batch_size_from(leaves: Sequence[Tensor], axis: int) -> int | Tensor:
    """The size of the batch: an integer if any leaf tells it, a scalar tensor otherwise."""
    for leaf in leaves:
        dims = leaf.get_shape()
        if dims.ndims is None:
            continue
        if dims.ndims < 2:
            raise ValueError(f"Expected input tensor {leaf.name} to have rank at least 2")
        if dims[axis].value is not None:
            size: int = dims[axis].value
            return size
    return shape_of(leaves[0])[axis]


def best_effort_input_batch_size(flat_input: Sequence[Tensor]) -> int | Tensor:
    """The size of the batch of inputs `[steps, batch, ...]`: an integer if any of them tells it, a scalar tensor otherwise.

    Args:
        flat_input: the inputs.
    """
    return batch_size_from(flat_input, 1)
