"""Cutting signals into frames that may overlap, and adding frames up to signals."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import Array, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor, is_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.padding import pad_v2
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import expand_dims, reshape, shape_internal, squeeze
from weft.ops.array.shape_ops import rank as rank_node
from weft.ops.array.transposing import transpose
from weft.ops.declaration import rank_of
from weft.ops.input_scope import input_scope
from weft.ops.math.comparison import maximum
from weft.ops.math.reduce_functions import reduce_prod
from weft.ops.math.segment import unsorted_segment_sum


def _known(value: Array, what: str) -> int | Tensor:
    """A scalar as an int where that is known; TypeError for what is no whole number."""
    if is_tensor(value):
        value = convert_to_tensor(value)
    if not isinstance(value, Tensor):
        if isinstance(value, bool) or not hasattr(type(value), "__index__"):
            raise TypeError(f"frame: {what} must be a whole number of samples, got {value!r}")
        return int(value)
    if not value.dtype.base_dtype.is_integer:
        raise TypeError(f"frame: {what} must be a whole number of samples, got {described(value)}")
    found = constant_value(value)
    return value if found is None else int(found)


def _size(tensor: Tensor, axis: int) -> int | Tensor:
    dims = tensor.dims
    size = None if dims is None else dims[axis]
    return shape_internal(tensor)[axis] if size is None else size


def _at_least_none(count: int | Tensor) -> int | Tensor:
    return max(0, count) if isinstance(count, int) else maximum(0, count)


def frame_positions(frames: TensorLike, frame_length: TensorLike, frame_step: TensorLike) -> Tensor:
    """`[frames, frame_length]`: where in the signal each element of each frame lies."""
    starts = range_of(frames) * frame_step
    return expand_dims(starts, 1) + expand_dims(range_of(frame_length), 0)


def _of_any_rank(tensor: Tensor, place: int, cut: Callable[[Tensor], Tensor]) -> Tensor:
    """Cut a dimension of a tensor whose rank only a run tells: the dimensions before and behind are joined meanwhile."""
    sizes = shape_internal(tensor)
    at = place if place >= 0 else rank_node(tensor) + place
    before, behind = sizes[:at], sizes[at + 1 :]
    frames = cut(reshape(tensor, [reduce_prod(before), sizes[at], reduce_prod(behind)]))
    return reshape(frames, concat([before, shape_internal(frames)[1:3], behind], 0))


def frame(
    signal: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    pad_end: bool = False,
    pad_value: TensorLike = 0,
    axis: TensorLike = -1,
    name: str | None = None,
) -> Tensor:
    """Cut a dimension of `signal` into frames: `[..., samples, ...]` becomes `[..., frames, frame_length, ...]`.

    Args:
        signal: a tensor of one dimension or more.
        frame_length: how many samples a frame has.
        frame_step: how far the frames are apart.
        pad_end: whether frames begin as long as there are samples, and what they lack is `pad_value`; else only whole frames
            are taken.
        pad_value: a scalar.
        axis: the dimension.
        name: a name for the operation.

    Returns:
        The frames.

    Raises:
        ValueError: `signal` is a scalar, or has no such dimension.
        TypeError: a length is no whole number.
    """
    with input_scope(name, "frame", (signal, frame_length, frame_step, pad_value)):
        tensor = convert_to_tensor(signal)
        rank = rank_of(tensor)
        if rank == 0:
            raise ValueError(f"Shape () must have rank at least 1: a signal has steps, got {described(tensor)}")
        place = int(axis) if isinstance(axis, bool) else _known(axis, "axis")
        if isinstance(place, Tensor):
            raise ValueError(f"frame: axis must be known when the graph is built, got {described(place)}")
        if rank is not None and not -rank <= place < rank:
            raise ValueError(f"frame: axis is {place}, and the signal has {rank} dimension(s): {described(tensor)}")
        # TensorFlow joins parts that all frames are made of; later random nodes get their seeds by the count.
        conversions = sum(not isinstance(each, Tensor) for each in (frame_length, frame_step))
        nodes = 98 + (not isinstance(pad_value, Tensor)) if pad_end else 65
        # The greatest divisor of lengths that only a run tells is found in the step.
        known = _known(frame_length, "frame_length"), _known(frame_step, "frame_step")
        nodes += 15 if any(isinstance(each, Tensor) for each in known) else 0
        with get_default_graph().node_count.as_many_as(nodes + conversions):
            if rank is None:
                return _of_any_rank(tensor, place, lambda flat: frame(flat, frame_length, frame_step, pad_end, pad_value, 1))
            return _frames(tensor, place % rank, frame_length, frame_step, pad_value if pad_end else None)


def _frames(tensor: Tensor, at: int, frame_length: TensorLike, frame_step: TensorLike, pad_value: TensorLike | None) -> Tensor:
    length, step = _known(frame_length, "frame_length"), _known(frame_step, "frame_step")
    size = _size(tensor, at)
    if pad_value is None:
        frames = _at_least_none(1 + (size - length) // step)
    else:
        frames = -(-size // step)
        missing = _at_least_none((frames - 1) * step + length - size)
        tensor = pad_v2(tensor, [[0, missing] if each == at else [0, 0] for each in range(len(tensor.shape))], pad_value)
    # Behind a further dimension the gradient is dense, as programs expect of a signal's.
    return squeeze(gather(expand_dims(tensor, 0), frame_positions(frames, length, step), axis=at + 1), [0])


def overlap_and_add(signal: TensorLike, frame_step: TensorLike, name: str | None = None) -> Tensor:
    """Add overlapping frames up: `[..., frames, frame_length]` becomes `[..., (frames - 1) * frame_step + frame_length]`.

    Args:
        signal: the frames, of a number type.
        frame_step: how far they are apart, a [] integer.

    Returns:
        The sum.

    Raises:
        ValueError: `signal` has less than two dimensions, or `frame_step` is no scalar integer.
    """
    with input_scope(name, "overlap_and_add", (signal, frame_step)):
        tensor = convert_to_tensor(signal)
        rank = rank_of(tensor)
        if rank is not None and rank < 2:
            raise ValueError(f"Shape must be at least rank 2 but is rank {rank}")
        checked = convert_to_tensor(frame_step)
        if not checked.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {checked.dtype!r}")
        if rank_of(checked) not in (0, None):
            raise ValueError(f"frame_step must be a scalar, it has shape {checked.shape}")
        # TensorFlow adds up parts that all frames are made of; later random nodes get their seeds by the count.
        with get_default_graph().node_count.as_many_as(90):
            step, frames, length = _known(frame_step, "frame_step"), _size(tensor, -2), _size(tensor, -1)
            samples = (frames - 1) * step + length
            flat = transpose(reshape(tensor, [-1, frames * length]))
            positions = reshape(frame_positions(frames, length, step), [-1])
            summed = transpose(unsorted_segment_sum(flat, positions, samples))
            result = reshape(summed, concat([shape_internal(tensor)[:-2], [samples]], 0))
        if tensor.dims is not None:
            result.set_shape([*tensor.dims[:-2], samples if isinstance(samples, int) else None])
        return result
