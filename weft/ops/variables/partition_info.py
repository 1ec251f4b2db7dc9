"""The place of a part of a partitioned variable in the whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.framework.building.aliases import DTypeLike, Partitioner
from weft.framework.types.tensor_shape import TensorShape


class PartitionInfo:
    """The part that an initializer makes: the whole variable's shape and the part's offset in it."""

    __slots__ = ("_full_shape", "_var_offset")

    def __init__(self, full_shape: Sequence[int], var_offset: Sequence[int]) -> None:
        for name, value in (("full_shape", full_shape), ("var_offset", var_offset)):
            if not isinstance(value, list | tuple):
                raise TypeError(f"`{name}` must be a sequence (like tuple or list) instead of {type(value).__name__}")
        if len(var_offset) != len(full_shape):
            raise ValueError(
                f"Expected equal length, but `var_offset` is of length {len(var_offset)} while full_shape is of length "
                f"{len(full_shape)}."
            )
        for offset, size in zip(var_offset, full_shape, strict=True):
            if not 0 <= offset < size:
                raise ValueError(
                    f"Expected 0 <= offset < shape but found offset={offset}, shape={size} for "
                    f"var_offset={var_offset}, "
                    f"full_shape={full_shape}"
                )
        self._full_shape = full_shape
        self._var_offset = var_offset

    @property
    def full_shape(self) -> Sequence[int]:
        """The shape of the whole variable."""
        return self._full_shape

    @property
    def var_offset(self) -> Sequence[int]:
        """The beginning of this part, per axis."""
        return self._var_offset

    def single_offset(self, shape: Sequence[int]) -> int:
        """The beginning of a part of this shape along the axis that is cut; 0 when none is."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self._var_offset[axis]

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """The axis along which a part of this shape is cut; None for the whole, ValueError when there are several."""
        if not isinstance(shape, list | tuple):
            raise TypeError(f"`shape` must be a sequence (like tuple or list) instead of {type(shape).__name__}")
        if len(shape) != len(self._full_shape):
            raise ValueError(
                f"Expected equal length, but received shape={shape} of length {len(shape)} while self.full_shape="
                f"{self._full_shape} is of length {len(self._full_shape)}."
            )
        for axis, (offset, size, full) in enumerate(zip(self._var_offset, shape, self._full_shape, strict=True)):
            if offset + size > full:
                raise ValueError(
                    f"With self.var_offset={self._var_offset}, a partition of shape={shape} would exceed "
                    "self.full_shape="
                    f"{self._full_shape} in dimension {axis}."
                )
        cut = [axis for axis, (size, full) in enumerate(zip(shape, self._full_shape, strict=True)) if size != full]
        if len(cut) > 1:
            raise ValueError(
                f"Cannot use single_slice_dim() with shape={shape} and self.full_shape={self._full_shape} since slice "
                "dim "
                f"could be either dimension {cut[0]} or {cut[1]}."
            )
        return cut[0] if cut else None


def partitions_of(partitioner: Partitioner, shape: TensorShape, dtype: DTypeLike) -> Sequence[int]:
    """Ask a partitioner and check what it says; ValueError when it is no way to cut a variable of this shape."""
    if not shape.is_fully_defined():
        raise ValueError(
            f"Shape of a new partitioned variable must be fully defined, but instead was {shape}. A partitioner needs "
            "shape=[...], and an initializer that makes a part of it, such as tf.zeros_initializer()."
        )
    rank = len(shape.as_list())
    if rank < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1, shape: {shape}")
    parts = partitioner(shape=shape, dtype=dtype)
    if not isinstance(parts, Sequence):
        raise ValueError(f"Partitioner must return a sequence, but saw: {parts}")
    if len(parts) != rank:
        raise ValueError(f"Partitioner returned a partition list that does not match the Variable's rank: {parts} vs. {shape}")
    if any(count < 1 for count in parts):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {parts}")
    if sum(count > 1 for count in parts) > 1:
        raise ValueError(f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {parts}")
    return parts


def parts_of(full_shape: list[int], partitions: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """The offset and the shape of each part; the first ones are one longer when the axis does not divide evenly."""
    axis, count = next(((i, n) for i, n in enumerate(partitions) if n > 1), (0, 1))
    length, longer = divmod(full_shape[axis], count)
    offset = [0] * len(full_shape)
    for part in range(count):
        shape = list(full_shape)
        shape[axis] = length + (part < longer)
        yield list(offset), shape
        offset[axis] += shape[axis]
