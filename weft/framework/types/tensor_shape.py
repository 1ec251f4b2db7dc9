"""TensorShape: the partially known shapes that the public API shows; inside weft they are `Dims`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, SupportsIndex, overload

from tensorboard.compat.proto import tensor_shape_pb2

from weft.framework.types.dimension import Dimension, dimension_size
from weft.framework.types.dimension import as_dimension as as_dimension
from weft.framework.types.dimension import dimension_value as dimension_value
from weft.framework.types.dims import Dims, dims_compatible, format_dims, merge_dims


def as_dims(value: Any) -> Dims:
    """Convert what programs write for a shape (None, int, sequence, TensorShape, proto) to the plain form."""
    if value is None:
        return None
    if type(value) is tuple and all(type(d) is int and d >= 0 for d in value):
        return value
    if isinstance(value, TensorShape):
        return value.sizes
    if isinstance(value, tensor_shape_pb2.TensorShapeProto):
        return None if value.unknown_rank else tuple(None if d.size == -1 else d.size for d in value.dim)
    if isinstance(value, str):
        raise TypeError(f"A string has ambiguous TensorShape, please wrap in a list or convert to an int: {value}")
    try:
        sizes = iter(value)
    except TypeError:
        return (_size_or_none(value),)
    return tuple(_size_or_none(size) for size in sizes)


def _size_or_none(value: object) -> int | None:
    if value is None or (isinstance(value, Dimension) and value.value is None):
        return None
    return dimension_size(value)


class TensorShape:
    """A shape that may be unknown in some dimensions or in its rank.

    >>> tf.TensorShape([None, 3]).merge_with([2, 3])
    TensorShape([Dimension(2), Dimension(3)])

    Args:
        dims: a list of ints, Dimensions and None for unknown sizes; a TensorShape or TensorShapeProto; None for an unknown
            rank.
    """

    __slots__ = ("sizes",)

    def __init__(self, dims: object) -> None:
        self.sizes: Dims = as_dims(dims)

    # Programs written for TensorFlow, standalone Keras among them, ask by this name.
    @property
    def _dims(self) -> list[Dimension] | None:
        return self.dims

    @property
    def dims(self) -> list[Dimension] | None:
        """The dimensions, or None when the rank is unknown."""
        return None if self.sizes is None else [Dimension(d) for d in self.sizes]

    @property
    def ndims(self) -> int | None:
        """The rank, or None."""
        return None if self.sizes is None else len(self.sizes)

    @property
    def rank(self) -> int | None:
        """The rank, or None."""
        return self.ndims

    def as_list(self) -> list[int | None]:
        """The sizes as a list; ValueError when the rank is unknown."""
        if self.sizes is None:
            raise ValueError(
                "as_list() is not defined on an unknown TensorShape. Not even the number of dimensions is known: a "
                "placeholder is given it, as by [None, 784], and tensor.set_shape([None, 784]) tells it of any tensor; "
                "tf.shape(tensor) has the sizes in a run."
            )
        return list(self.sizes)

    def as_proto(self) -> tensor_shape_pb2.TensorShapeProto:
        """The TensorShapeProto."""
        proto = tensor_shape_pb2.TensorShapeProto()
        if self.sizes is None:
            proto.unknown_rank = True
        else:
            for size in self.sizes:
                proto.dim.add().size = -1 if size is None else size
        return proto

    def num_elements(self) -> int | None:
        """The number of elements, or None when some size is unknown."""
        if self.sizes is None or None in self.sizes:
            return None
        count = 1
        for size in self.sizes:
            count *= size  # type: ignore[operator]
        return count

    def is_fully_defined(self) -> bool:
        """Whether every size is known."""
        return self.sizes is not None and None not in self.sizes

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError unless every size is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other: object) -> bool:
        """Whether both may be the shape of one tensor.

        Args:
            other: what can be made a TensorShape.
        """
        return dims_compatible(self.sizes, as_dims(other))

    def assert_is_compatible_with(self, other: object) -> None:
        """Raise ValueError unless both may be the shape of one tensor.

        Args:
            other: what can be made a TensorShape.
        """
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {as_shape(other)} are incompatible")

    def merge_with(self, other: object) -> TensorShape:
        """The shape with what either knows; ValueError when they contradict each other.

        Args:
            other: what can be made a TensorShape.
        """
        dims = as_dims(other)
        if not dims_compatible(self.sizes, dims):
            raise ValueError(f"Shapes {self} and {format_dims(dims)} are not compatible")
        return TensorShape(merge_dims(self.sizes, dims))

    def most_specific_compatible_shape(self, other: object) -> TensorShape:
        """The shape that knows what both agree on.

        Args:
            other: what can be made a TensorShape.
        """
        dims = as_dims(other)
        if self.sizes is None or dims is None or len(self.sizes) != len(dims):
            return unknown_shape()
        return TensorShape([a if a == b else None for a, b in zip(self.sizes, dims, strict=True)])

    def concatenate(self, other: object) -> TensorShape:
        """This shape followed by the other.

        Args:
            other: what can be made a TensorShape.
        """
        dims = as_dims(other)
        return TensorShape(None if self.sizes is None or dims is None else self.sizes + dims)

    def with_rank(self, rank: int) -> TensorShape:
        """This shape with the rank given; ValueError when it has another.

        Args:
            rank: an int.
        """
        try:
            return self.merge_with(unknown_shape(ndims=rank))
        except ValueError as error:
            raise ValueError(f"Shape {self} must have rank {rank}") from error

    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError when the rank is known and differs.

        Args:
            rank: an int.
        """
        if self.ndims not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: object) -> None:
        """Raise ValueError when both ranks are known and differ.

        Args:
            other: what can be made a TensorShape.
        """
        other = as_shape(other)
        if self.ndims is not None and other.ndims is not None and self.ndims != other.ndims:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape; ValueError when its rank is known and smaller.

        Args:
            rank: an int.
        """
        if self.ndims is not None and self.ndims < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape; ValueError when its rank is known and greater.

        Args:
            rank: an int.
        """
        if self.ndims is not None and self.ndims > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def __len__(self) -> int:
        if self.sizes is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self.sizes)

    def __bool__(self) -> bool:
        return self.sizes is not None

    def __iter__(self) -> Iterator[Dimension]:
        if self.sizes is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter([Dimension(d) for d in self.sizes])

    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...
    @overload
    def __getitem__(self, key: SupportsIndex) -> Any: ...
    def __getitem__(self, key: Any) -> TensorShape | Dimension:
        if self.sizes is not None:
            try:
                part = self.sizes[key]
            except IndexError:
                dims = f"{len(self.sizes)} dimension{'s' * (len(self.sizes) != 1)}"
                raise IndexError(
                    f"list index out of range: the shape {self} has {dims}, and none at {key}. tf.reshape and tf.expand_dims "
                    "give a tensor more dimensions."
                ) from None
            return TensorShape(part) if isinstance(key, slice) else Dimension(part)
        if not isinstance(key, slice):
            return Dimension(None)
        start = 0 if key.start is None else key.start
        if key.step is not None or key.stop is None or start < 0 or key.stop < 0:
            return unknown_shape()
        # Taken to be long enough, as TensorFlow does.
        return unknown_shape(ndims=max(key.stop - start, 0))

    def __add__(self, other: object) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: object) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __eq__(self, other: object) -> bool:
        try:
            return self.sizes == as_dims(other)
        except (TypeError, ValueError):
            return NotImplemented

    def __ne__(self, other: object) -> bool:
        try:
            dims = as_dims(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self.sizes is None or dims is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return self.sizes != dims

    def __hash__(self) -> int:
        return hash(self.sizes)

    def __str__(self) -> str:
        return format_dims(self.sizes)

    def __repr__(self) -> str:
        return f"TensorShape({self.dims})"

    def __reduce__(self) -> tuple[object, ...]:
        return TensorShape, (self.sizes,)


def as_shape(value: object) -> TensorShape:
    """Convert to a TensorShape."""
    return value if isinstance(value, TensorShape) else TensorShape(value)


def unknown_shape(ndims: int | None = None) -> TensorShape:
    """A shape of unknown sizes, of the rank given or of unknown rank."""
    return TensorShape(None if ndims is None else [None] * ndims)


def scalar() -> TensorShape:
    """The shape of a scalar."""
    return TensorShape(())


def vector(length: object) -> TensorShape:
    """The shape of a vector of that length."""
    return TensorShape([length])


def matrix(rows: object, cols: object) -> TensorShape:
    """The shape of a matrix of so many rows and columns."""
    return TensorShape([rows, cols])


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """A shape's dimension of that index, the unknown one of an unknown shape."""
    return Dimension(None) if shape.dims is None else shape.dims[index]
