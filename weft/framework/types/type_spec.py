"""Descriptions of values that steps pass around: tensors, and objects that are made of several tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType, as_dtype
from weft.framework.types.tensor_shape import TensorShape, as_dims


class TypeSpec(ABC):
    """A description of values of one type; equal when type and parameters are.

    A class of one's own has `value_type`, `_serialize` (the arguments of its constructor), `_component_specs`, `_to_components`
    and `_from_components`.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def value_type(self) -> type:
        """The class of the values."""

    @abstractmethod
    def _serialize(self) -> tuple[object, ...]:
        """What the constructor takes to make an equal one."""

    @classmethod
    def _deserialize(cls, serialization: tuple[object, ...]) -> TypeSpec:
        return cls(*serialization)

    def _to_components(self, value: Any) -> Sequence[Any]:
        """The tensors that a value is made of."""
        return [value]

    def _from_components(self, tensors: Sequence[Any]) -> Any:
        """A value that is made of these tensors."""
        return tensors[0]

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Whether a value, or what another spec describes, may be of this type.

        Args:
            spec_or_value: a TypeSpec, or a value that one can be made of.
        """
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        return type(self) is type(other) and _compatible(self._serialize(), other._serialize())

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The narrowest spec that takes what this and another one describe.

        Args:
            other: a spec of the same class.

        Raises:
            ValueError: there is none.
        """
        if type(self) is not type(other):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return self._deserialize(_common(self._serialize(), other._serialize()))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, TypeSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self._serialize()

    def _key(self) -> object:
        return type(self), _hashable(self._serialize())


class BatchableTypeSpec(TypeSpec):
    """A spec of values that datasets can put into batches, by `_batch` and `_unbatch`."""

    __slots__ = ()


class ShapedTypeSpec(BatchableTypeSpec):
    """A spec of values that have a shape and a dtype.

    Args:
        shape: the shape, perhaps partly known; None for any.
        dtype: the dtype.
    """

    __slots__ = ("_dims", "_dtype")

    def __init__(self, shape: object, dtype: object) -> None:
        self._dims: Dims = as_dims(shape)
        self._dtype = as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return TensorShape(self._dims)

    @property
    def dtype(self) -> DType:
        """The dtype; of objects that are made of several tensors that of their values."""
        return self._dtype


class CompositeTensor(ABC):
    """The base of objects that are made of several tensors and have a TypeSpec, as `_type_spec`."""

    @property
    @abstractmethod
    def _type_spec(self) -> TypeSpec:
        """The description of this value."""


# What makes the spec of a value of its class.
_Maker: TypeAlias = Callable[[Any], TypeSpec]
_MAKERS: Final[list[tuple[type, _Maker]]] = []


def register_type_spec_from_value_converter(type_object: type, converter_fn: _Maker) -> None:
    """Let `type_spec_from_value` know one more class of values; the last one registered is asked first.

    Args:
        type_object: the class.
        converter_fn: makes the spec of a value.
    """
    _MAKERS.insert(0, (type_object, converter_fn))


def type_spec_from_value(value: object) -> TypeSpec:
    """The spec of a value.

    Args:
        value: a tensor, a variable, an object made of tensors, or an array.

    Raises:
        TypeError: there is no spec for values of its class.
    """
    found = getattr(value, "_type_spec", None)
    if isinstance(found, TypeSpec):
        return found
    for kind, make in _MAKERS:
        if isinstance(value, kind):
            return make(value)
    raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}")


def _hashable(value: object) -> object:
    if isinstance(value, TensorShape):
        return None if value.dims is None else tuple(value.as_list())
    if isinstance(value, list | tuple):
        return tuple(_hashable(each) for each in value)
    if isinstance(value, dict):
        return tuple(sorted((key, _hashable(each)) for key, each in value.items()))
    if isinstance(value, np.ndarray):
        return (value.shape, value.tobytes())
    return value


def _compatible(own: object, other: object) -> bool:
    if isinstance(own, list | tuple):
        return type(own) is type(other) and len(own) == len(other) and all(map(_compatible, own, other))
    if isinstance(own, dict):
        return isinstance(other, dict) and own.keys() == other.keys() and all(_compatible(own[key], other[key]) for key in own)
    if isinstance(own, TensorShape | DType | TypeSpec):
        return own.is_compatible_with(other)
    return bool(own == other)


def _common(own: Any, other: Any) -> Any:
    if isinstance(own, list | tuple) and type(own) is type(other) and len(own) == len(other):
        return type(own)(map(_common, own, other))
    if isinstance(own, dict) and isinstance(other, dict) and own.keys() == other.keys():
        return {key: _common(own[key], other[key]) for key in own}
    if isinstance(own, TensorShape):
        return own.most_specific_compatible_shape(other)
    if isinstance(own, TypeSpec):
        return own.most_specific_compatible_type(other)
    if own != other:
        raise ValueError(f"Types are not compatible: {own!r} vs {other!r}")
    return own
