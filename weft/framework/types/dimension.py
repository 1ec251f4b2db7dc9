"""Dimension: the size of one dimension as the public API shows it; inside weft it is `int | None`."""

from __future__ import annotations

from typing import Any


class Dimension:
    """The size of one dimension, perhaps unknown. Arithmetic with an unknown gives an unknown; comparing gives None.

    Args:
        value: an int that is not negative, another Dimension, or None for an unknown size.
    """

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        if value is None or (isinstance(value, Dimension) and value.value is None):
            self._value: int | None = None
            return
        self._value = dimension_size(value)

    @property
    def value(self) -> int | None:
        """The size, or None."""
        return self._value

    def is_compatible_with(self, other: object) -> bool:
        """Whether both may be the same size.

        Args:
            other: a Dimension, a size, or None for an unknown one.
        """
        other = as_dimension(other)
        return self._value is None or other._value is None or self._value == other._value

    def assert_is_compatible_with(self, other: object) -> None:
        """Raise ValueError unless both may be the same size.

        Args:
            other: a Dimension, a size, or None for an unknown one.
        """
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {as_dimension(other)} are not compatible")

    def merge_with(self, other: object) -> Dimension:
        """The more specific of both; ValueError when they differ.

        Args:
            other: a Dimension, a size, or None for an unknown one.
        """
        other = as_dimension(other)
        self.assert_is_compatible_with(other)
        return Dimension(other._value if self._value is None else self._value)

    def _arithmetic(self, other: Any, function: Any, swap: bool = False) -> Any:
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return Dimension(None)
        return Dimension(function(other._value, self._value) if swap else function(self._value, other._value))

    def __add__(self, other: object) -> Any:
        return self._arithmetic(other, lambda a, b: a + b)

    def __radd__(self, other: object) -> Any:
        return self._arithmetic(other, lambda a, b: a + b, swap=True)

    def __sub__(self, other: object) -> Any:
        return self._arithmetic(other, lambda a, b: a - b)

    def __rsub__(self, other: object) -> Any:
        return self._arithmetic(other, lambda a, b: a - b, swap=True)

    def __mul__(self, other: object) -> Any:
        return self._arithmetic(other, lambda a, b: a * b)

    def __rmul__(self, other: object) -> Any:
        return self._arithmetic(other, lambda a, b: a * b, swap=True)

    def __floordiv__(self, other: object) -> Any:
        return self._arithmetic(other, lambda a, b: a // b)

    def __rfloordiv__(self, other: object) -> Any:
        return self._arithmetic(other, lambda a, b: a // b, swap=True)

    def __div__(self, other: object) -> Any:
        return self // other

    def __truediv__(self, other: object) -> Any:
        raise TypeError(f"unsupported operand type(s) for /: 'Dimension' and '{type(other).__name__}', please use // instead")

    def __rtruediv__(self, other: object) -> Any:
        raise TypeError(f"unsupported operand type(s) for /: '{type(other).__name__}' and 'Dimension', please use // instead")

    def __mod__(self, other: object) -> Any:
        return self._arithmetic(other, lambda a, b: a % b)

    def __rmod__(self, other: object) -> Any:
        return self._arithmetic(other, lambda a, b: a % b, swap=True)

    def _compare(self, other: Any, function: Any) -> Any:
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return None
        return function(self._value, other._value)

    def __eq__(self, other: object) -> Any:
        return self._compare(other, lambda a, b: a == b)

    def __ne__(self, other: object) -> Any:
        return self._compare(other, lambda a, b: a != b)

    def __lt__(self, other: object) -> Any:
        return self._compare(other, lambda a, b: a < b)

    def __le__(self, other: object) -> Any:
        return self._compare(other, lambda a, b: a <= b)

    def __gt__(self, other: object) -> Any:
        return self._compare(other, lambda a, b: a > b)

    def __ge__(self, other: object) -> Any:
        return self._compare(other, lambda a, b: a >= b)

    def __hash__(self) -> int:
        return hash(self._value)

    def __int__(self) -> int:
        if self._value is None:
            raise TypeError(
                "int() of an unknown Dimension: the size is not known while the graph is built; tf.shape(x)[0] is it in a run"
            )
        return self._value

    def __index__(self) -> int:
        return int(self)

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __repr__(self) -> str:
        return f"Dimension({self._value})"

    def __reduce__(self) -> tuple[object, ...]:
        return Dimension, (self._value,)


def dimension_size(value: Any) -> int:
    """Convert an int, a NumPy integer, a Dimension or a whole-number float to a size; ValueError/TypeError otherwise."""
    if isinstance(value, Dimension):
        value = value.value
    if isinstance(value, str | bytes):
        raise TypeError(f"Cannot convert {value!r} to Dimension: a size is a whole number, or None where it is not known")
    try:
        size = int(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"Cannot convert {value!r} to Dimension: {_size_wanted(value)}") from error
    if size != value:
        raise ValueError(f"Ambiguous dimension: {value}")
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


def _size_wanted(value: object) -> str:
    if isinstance(value, list | tuple):
        return "a shape is one list of sizes, whole numbers or None, such as [None, 3]"
    return "a size is a whole number, or None where only a run knows it, as it does the value of a tensor"


def as_dimension(value: object) -> Dimension:
    """Convert to a Dimension; None is the unknown one."""
    return value if isinstance(value, Dimension) else Dimension(value)


def dimension_value(dimension: object) -> int | Any:
    """The `int | None` of a Dimension; anything else comes back as it is.

    Args:
        dimension: a Dimension.
    """
    return dimension.value if isinstance(dimension, Dimension) else dimension
