"""convert_to_tensor: turning what programs pass for a tensor into a Tensor of the default graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dtypes import DType, as_dtype

# (type or types, function) by priority; lower numbers are asked first.
_CONVERTERS: Final[dict[int, list[tuple[Any, Callable[..., Any]]]]] = {}
_PLAIN: Final = (int, float, complex, bool, str, bytes, np.ndarray, np.generic)


def _no_constants(value: object, dtype: DType | None, name: str | None) -> Tensor:
    raise RuntimeError(f"no function makes constants yet, of {value!r} neither: import weft.ops.array.constant")


# What makes a constant of a Python value: `constant(value, dtype=, name=)` of the ops layer, once that is imported.
_constant: Callable[..., Tensor] = _no_constants


def register_tensor_conversion_function(base_type: object, conversion_func: Callable[..., object], priority: int = 100) -> None:
    """Convert objects of `base_type` by `conversion_func(value, dtype=None, name=None, as_ref=False)`.

    The function may return NotImplemented to leave the value to the next one.

    Args:
        base_type: a class, or a tuple of classes.
        conversion_func: the function; it is asked for instances of subclasses too.
        priority: functions with smaller numbers are asked first.

    Raises:
        TypeError: `base_type` holds no class, or the function cannot be called.
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not types or not all(isinstance(each, type) for each in types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _CONVERTERS.setdefault(priority, []).append((base_type, conversion_func))


def set_constant_function(function: Callable[..., Tensor]) -> None:
    """Tell how a Python value becomes a constant; the ops layer calls this once."""
    global _constant
    _constant = function


def convert_to_tensor(
    value: object,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    preferred_dtype: DTypeLike | None = None,
    dtype_hint: DTypeLike | None = None,
    as_ref: bool = False,
) -> Tensor:
    """Convert a tensor, variable, array, number, string or (nested) list of these to a Tensor.

    Args:
        value: a tensor, variable, array, number, string, or a (nested) list of these.
        dtype: the dtype wanted; None for the value's own: int32 of Python's ints, float32 of its floats.
        preferred_dtype, dtype_hint: two names of a dtype that is tried first when `dtype` is None; the value's own is taken
            where that one does not fit.
        as_ref: whether a variable of the older kind gives its reference.

    Returns:
        A tensor in the shape of the value; a tensor comes back as it is.

    Raises:
        ValueError: a tensor has another dtype than the one asked for, or None was given.
        TypeError: there is no conversion to a tensor, or not to this dtype.

    >>> tf.convert_to_tensor([1.0, 2.0])
    <tf.Tensor 'Const:0' shape=(2,) dtype=float32>
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Tensor):
        return _checked(value, wanted)
    hint = preferred_dtype if dtype_hint is None else dtype_hint
    if wanted is None and hint is not None:
        first = as_dtype(hint)
        try:
            converted = _convert(value, first, name, as_ref)
        except (TypeError, ValueError):
            converted = _convert(value, None, name, as_ref)
        return converted
    return _convert(value, wanted, name, as_ref)


def _checked(value: Tensor, wanted: DType | None) -> Tensor:
    if wanted is not None and not wanted.is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {value.dtype.name}: {str(value)!r}\n"
            f"  tf.cast(tensor, tf.{wanted.base_dtype.name}) converts it."
        )
    return value


def _convert(value: object, wanted: DType | None, name: str | None, as_ref: bool) -> Tensor:
    if type(value) in _PLAIN:
        return _constant(value, dtype=wanted, name=name)
    for priority in sorted(_CONVERTERS):
        for base_type, function in _CONVERTERS[priority]:
            if not isinstance(value, base_type):
                continue
            result = function(value, dtype=wanted, name=name, as_ref=as_ref)
            if result is NotImplemented:
                continue
            if not isinstance(result, Tensor):
                raise RuntimeError(f"Conversion function {function!r} for type {base_type} returned non-Tensor: {result!r}")
            return _checked(result, wanted)
    if value is None:
        raise ValueError(
            "None values not supported. Was the argument given? None is also what tf.gradients gives for a variable that the "
            "loss does not depend on, and what a function returns that lacks its `return`."
        )
    if isinstance(value, Operation):
        raise TypeError(
            f"Can't convert Operation {value.name!r} to Tensor (target dtype={wanted}, name={name!r}, as_ref={as_ref}): an "
            f"operation of the type {value.type} has no one value; its outputs are {list(value.outputs)}."
        )
    try:
        return _constant(value, dtype=wanted, name=name)
    except (TypeError, ValueError) as error:
        if isinstance(value, list | tuple | int | float | str | bytes | np.ndarray | np.generic | complex):
            raise
        remedy = _remedy_for(value)
        raise TypeError(
            f"Failed to convert object of type {type(value)} to Tensor. Contents: {value}. Consider casting elements to a "
            f"supported type{'' if wanted is None else f', {wanted.name} is asked for'}, or register a conversion "
            f"function.{remedy}"
        ) from error


def _remedy_for(value: object) -> str:
    """How to come from what a program has given to a tensor."""
    if hasattr(value, "dense_shape") and hasattr(value, "indices"):
        return " It is sparse: tf.sparse_tensor_to_dense makes a dense tensor of it."
    if hasattr(value, "make_one_shot_iterator"):
        return " It is a Dataset: dataset.make_one_shot_iterator().get_next() is its next element, as tensors."
    if hasattr(value, "dequeue"):
        return " It is a queue: queue.dequeue() is its next element, as tensors."
    if hasattr(value, "get_next"):
        return " It is an Iterator: iterator.get_next() is its next element, as tensors."
    if callable(value):
        return " It can be called: is the call lacking?"
    return ""


def convert_n_to_tensor(values: Sequence[TensorLike], dtype: DTypeLike | None = None, name: str | None = None) -> list[Tensor]:
    """Convert each of a list; the i-th gets the name `name_i`."""
    return [convert_to_tensor(value, dtype, None if name is None else f"{name}_{index}") for index, value in enumerate(values)]


def is_tensor(x: TensorLike) -> bool:
    """Whether this stands for tensors in a graph: a Tensor, SparseTensor, IndexedSlices or variable.

    Args:
        x: any object.
    """
    return isinstance(x, Tensor) or hasattr(x, "_as_graph_element") or (hasattr(x, "dense_shape") and hasattr(x, "graph"))
