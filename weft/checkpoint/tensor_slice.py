"""Slices of tensors: the box that a part of a partitioned variable covers, and the key under which it is stored.

A size of -1 stands for the whole dimension. TensorFlow keeps that form apart from the same extent in numbers, in the
stored record and in the key, so a slice is stored as the caller gave it and made concrete only to compute with it.

The key is in Google's OrderedCode: 0, the variable's name, the rank, then start and size per dimension. It begins
with a zero byte, which no variable's name does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import add
from typing import Final

from weft import errors

FULL: Final = -1
SLICE_KEY_START: Final = b"\0"


@dataclass(frozen=True, slots=True)
class TensorSlice:
    """A box inside a tensor: where it starts and how far it extends, per dimension."""

    starts: tuple[int, ...]
    sizes: tuple[int, ...]

    @classmethod
    def whole(cls, shape: Sequence[int]) -> TensorSlice:
        """The slice that covers a tensor of this shape."""
        return cls((0,) * len(shape), tuple(shape))

    @property
    def elements(self) -> int:
        """How many elements a concrete slice has."""
        return math.prod(self.sizes)

    def within(self, shape: Sequence[int], name: str) -> TensorSlice:
        """Return this slice with sizes in numbers; InvalidArgumentError naming the tensor when it is not inside
        `shape`."""
        if not len(self.starts) == len(self.sizes) == len(shape):
            message = f"Tensor {name!r} of shape {list(shape)} has no slice {self}: the ranks differ"
            raise errors.InvalidArgumentError.of(message)
        sizes = tuple(dim if size == FULL else size for size, dim in zip(self.sizes, shape, strict=True))
        for start, size, dim in zip(self.starts, sizes, shape, strict=True):
            if start < 0 or size < 0 or start + size > dim:
                message = f"Tensor {name!r} of shape {list(shape)} has no slice {self}: {start}+{size} is beyond {dim}"
                raise errors.InvalidArgumentError.of(message)
        return TensorSlice(self.starts, sizes)

    def intersect(self, other: TensorSlice) -> TensorSlice | None:
        """Return what two concrete slices have in common, None when that is nothing."""
        starts = tuple(map(max, self.starts, other.starts))
        ends = map(min, self._ends(), other._ends())
        sizes = tuple(end - start for start, end in zip(starts, ends, strict=True))
        return TensorSlice(starts, sizes) if all(size > 0 for size in sizes) else None

    def _ends(self) -> Iterator[int]:
        return map(add, self.starts, self.sizes)

    def relative_to(self, other: TensorSlice) -> tuple[slice, ...]:
        """Return the NumPy index of this concrete slice in the array that holds `other`."""
        return tuple(
            slice(start - base, start - base + size)
            for start, size, base in zip(self.starts, self.sizes, other.starts, strict=True)
        )

    def __str__(self) -> str:
        """The form that shape-and-slice specifications have, such as `0,2:-`."""
        # This also prints slices in messages that say that the ranks differ.
        pairs = zip(self.starts, self.sizes, strict=False)
        return ":".join("-" if size == FULL else f"{start},{size}" for start, size in pairs)


def check_covers(parts: Sequence[TensorSlice], wanted: TensorSlice, name: str, path: str) -> None:
    """Check that concrete slices, which are inside `wanted`, have each of its elements once.

    Args:
        name, path: of the partitioned tensor and its checkpoint, for the error.

    Raises:
        DataLossError: two have elements in common.
        InvalidArgumentError: some elements are missing.
    """
    both = _overlapping(parts)
    if both is not None:
        raise errors.DataLossError.of(f"{path}: slices of partitioned tensor {name!r} overlap: {both[0]} and {both[1]}")
    covered = sum(part.elements for part in parts)
    if covered != wanted.elements:
        raise errors.InvalidArgumentError.of(
            f"Does not have sufficient slices for partitioned tensor {name} to restore in slice_spec: {wanted}; "
            f"{path} holds {covered} of its {wanted.elements} elements"
        )


def _overlapping(parts: Sequence[TensorSlice]) -> tuple[TensorSlice, TensorSlice] | None:
    """The first two concrete slices that have elements in common."""
    if len(parts) < 2:
        return None
    # Along the dimension with the most cuts few of them stand beside each other.
    axis = max(range(len(parts[0].starts)), key=lambda axis: len({part.starts[axis] for part in parts}), default=None)
    if axis is None:
        return parts[0], parts[1]
    ordered = sorted(parts, key=lambda part: part.starts[axis])
    for number, part in enumerate(ordered, 1):
        end = part.starts[axis] + part.sizes[axis]
        for other in itertools.islice(ordered, number, None):
            if other.starts[axis] >= end:
                break
            if part.intersect(other) is not None:
                return part, other
    return None


def parse_shape_and_slice(spec: str) -> tuple[tuple[int, ...], TensorSlice]:
    """Parse what SaveV2 and RestoreV2 say of a partition, such as `10 6 0,4:-`: the whole's shape, and the slice of it.

    Raises:
        InvalidArgumentError: the text has another form, or the slice is not inside the shape.
    """
    *dims, box = spec.split(" ")
    try:
        shape = tuple(map(int, dims))
        extents = [(0, FULL) if pair == "-" else _parse_extent(pair) for pair in box.split(":")]
    except ValueError as error:
        message = f"Expected a shape and slice such as '10 6 0,4:-', got {spec!r}"
        raise errors.InvalidArgumentError.of(message) from error
    piece = TensorSlice(tuple(start for start, _ in extents), tuple(size for _, size in extents))
    piece.within(shape, spec)
    return shape, piece


def _parse_extent(pair: str) -> tuple[int, int]:
    start, size = map(int, pair.split(","))
    if size < 0:
        raise ValueError(f"negative size in {pair!r}")
    return start, size


def slice_key(name: str, piece: TensorSlice) -> bytes:
    """Return the key of a slice of the variable `name`."""
    parts = [_ordered_unsigned(0), _ordered_bytes(name.encode()), _ordered_unsigned(len(piece.starts))]
    for start, size in zip(piece.starts, piece.sizes, strict=True):
        parts += (_ordered_signed(start), _ordered_signed(size))
    return b"".join(parts)


def _ordered_unsigned(value: int) -> bytes:
    digits = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes((len(digits),)) + digits


def _ordered_bytes(data: bytes) -> bytes:
    escaped = (part.replace(b"\xff", b"\xff\0") for part in data.split(b"\0"))
    return b"\0\xff".join(escaped) + b"\0\1"


def _ordered_signed(value: int) -> bytes:
    """A byte per 7 bits; a run of bits in front, as long as there are bytes, tells the length and the sign."""
    length = (value if value >= 0 else ~value).bit_length() // 7 + 1
    run = ((1 << length) - 1) << (7 * length)
    # A negative number is the complement of its positive counterpart's code.
    code = (value if value >= 0 else ~value) | run
    if value < 0:
        code ^= (1 << (8 * length)) - 1
    return code.to_bytes(length, "big")
