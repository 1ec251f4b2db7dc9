"""TensorProto to and from NumPy arrays, and the conversion of Python values to arrays of a dtype."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from tensorboard.compat.proto import tensor_pb2

from weft.framework.types import dtypes
from weft.framework.types.dimension import Dimension
from weft.framework.types.dims import Dims, dims_compatible
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.framework.types.value_types import NumpyArray
from weft.framework.types.wrapped_integers import may_hold_large_ints, tell_what_is_lost, wrapped

# Which repeated field of TensorProto holds a type's values when `tensor_content` is not used.
_VALUE_FIELD: Final = {
    dtypes.float32: "float_val", dtypes.float64: "double_val", dtypes.int32: "int_val", dtypes.uint8: "int_val",
    dtypes.int16: "int_val", dtypes.uint16: "int_val", dtypes.int8: "int_val", dtypes.qint8: "int_val",
    dtypes.quint8: "int_val", dtypes.qint32: "int_val", dtypes.string: "string_val", dtypes.int64: "int64_val",
    dtypes.bool: "bool_val", dtypes.uint32: "uint32_val", dtypes.uint64: "uint64_val", dtypes.float16: "half_val",
    dtypes.bfloat16: "half_val", dtypes.complex64: "scomplex_val", dtypes.complex128: "dcomplex_val",
}  # fmt: skip


# A few bytes can name any shape. A larger constant comes with its content, or is filled by a step (`tf.fill`).
_MAX_FILLED_BYTES: Final = 4 << 30

# Up to so many elements are written out whether or not they are equal.
_SMALL: Final = 64
_PIECE: Final = 1 << 18


def make_tensor_proto(
    values: object, dtype: object = None, shape: object = None, verify_shape: bool = False
) -> tensor_pb2.TensorProto:
    """Make a TensorProto of a Python value or array.

    Args:
        values: a number, string, (nested) list of these, or array; a TensorProto comes back as it is.
        dtype: the type wanted; inferred when None.
        shape: the shape wanted, a list of ints; a single value fills it unless `verify_shape`.
        verify_shape: whether a shape that differs from the values' own is an error.

    Raises:
        TypeError: a value does not fit the type.
        ValueError: the values do not fit the shape.
    """
    if isinstance(values, tensor_pb2.TensorProto):
        return values
    array = as_array(values, None if dtype is None else dtypes.as_dtype(dtype))
    given = array
    if shape is not None:
        array = fill_shape(array, as_dims(shape), verify_shape)
    kind = dtypes.as_dtype(array.dtype) if dtype is None else dtypes.as_dtype(dtype).base_dtype
    proto = tensor_pb2.TensorProto(dtype=kind.as_datatype_enum, tensor_shape=TensorShape(array.shape).as_proto())
    if kind is dtypes.string:
        proto.string_val.extend(array.ravel().tolist())
    elif array.size <= 1 and kind in _VALUE_FIELD and kind not in (dtypes.float16, dtypes.bfloat16):
        _set_values(proto, kind, array.ravel())
    elif given.size < array.size and kind in _VALUE_FIELD:
        _set_values(proto, kind, given.ravel())  # readers repeat the last value
    elif array.size > _SMALL and kind in _VALUE_FIELD and _is_uniform(array):
        # Readers repeat the last value. An optimizer's slots for a large table are such constants, which have to travel.
        _set_values(proto, kind, array.ravel()[:1])
    else:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    return proto


def _is_uniform(array: object) -> bool:
    """Whether all elements have the same bits."""
    flat = np.ascontiguousarray(array).reshape(-1)
    bits = flat.view(np.uint8).reshape(flat.size, flat.itemsize)
    return all((bits[low : low + _PIECE] == bits[0]).all() for low in range(0, flat.size, _PIECE))


def _set_values(proto: object, kind: DType, flat: Any) -> None:
    field = getattr(proto, _VALUE_FIELD[kind])
    if kind in (dtypes.float16, dtypes.bfloat16):
        field.extend(flat.view(np.uint16).tolist())
    elif kind.is_complex:
        field.extend(flat.view(kind.real_dtype.as_numpy_dtype).tolist())
    else:
        field.extend(flat.tolist())


def fill_shape(array: Any, dims: Dims, verify_shape: bool = False) -> Any:
    """Give an array the shape wanted; the last value is repeated to fill it, as TensorFlow's constants do."""
    assert dims is not None
    assert None not in dims
    if array.shape == dims:
        return array
    if verify_shape:
        raise TypeError(f"Expected Tensor's shape: {dims}, got {array.shape}.")
    wanted = int(np.prod(dims, dtype=np.int64))  # type: ignore[arg-type]
    if not wanted:
        # A tensor without elements takes any values, and has none of them.
        return np.empty(dims, array.dtype)
    if array.size > wanted:
        raise ValueError(f"Too many elements provided. Needed at most {wanted}, but received {array.size}")
    if array.size == wanted:
        return array.reshape(dims)
    flat = np.empty(wanted, array.dtype)
    flat[: array.size] = array.ravel()
    flat[array.size :] = array.ravel()[-1] if array.size else 0
    return flat.reshape(dims)


def make_ndarray(tensor: tensor_pb2.TensorProto) -> NumpyArray:
    """The array that a TensorProto holds; strings become an object array of bytes.

    Args:
        tensor: a TensorProto.

    Raises:
        TypeError: it holds a type that has no array.
        ValueError: its shape is not known, or does not fit its content.
    """
    kind = dtypes.as_dtype(tensor.dtype)
    shape = tuple(d.size for d in tensor.tensor_shape.dim)
    if any(size < 0 for size in shape):
        raise ValueError(f"The shape of a TensorProto must be known, found {shape}")
    count = math.prod(shape)
    if tensor.tensor_content and kind is dtypes.string:
        strings: NumpyArray = _strings_of_content(tensor.tensor_content, count).reshape(shape)
        return strings
    if tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content, dtype=kind.as_numpy_dtype).copy().reshape(shape)
    if kind not in _VALUE_FIELD:
        raise TypeError(f"Unsupported tensor type: {tensor.dtype}")
    values = getattr(tensor, _VALUE_FIELD[kind])
    if kind is dtypes.string:
        array = np.empty(len(values), np.object_)
        array[:] = list(values)
    elif kind in (dtypes.float16, dtypes.bfloat16):
        array = np.fromiter(values, np.uint16).view(kind.as_numpy_dtype)
    elif kind.is_complex:
        array = np.asarray(values, kind.real_dtype.as_numpy_dtype).view(kind.as_numpy_dtype)
    else:
        array = np.asarray(values, kind.as_numpy_dtype)
    if array.size == count:
        return array.reshape(shape)
    if array.size > count:
        raise ValueError(f"A TensorProto of shape {shape} has {count} elements, found {array.size}")
    if count * array.itemsize > _MAX_FILLED_BYTES:
        raise ValueError(
            f"A TensorProto of shape {shape} would take {count * array.itemsize} bytes; one of fewer values than elements "
            f"may take {_MAX_FILLED_BYTES}"
        )
    # TensorFlow drops repeated trailing values; none at all stands for zeros.
    if array.size == 0 and kind is not dtypes.string:
        # The kernel gives the memory of zeros only as it is touched.
        return np.zeros(shape, array.dtype)
    full = np.empty(count, array.dtype)
    full[: array.size] = array
    full[array.size :] = array[-1] if array.size else b""
    return full.reshape(shape)


MakeNdarray = make_ndarray


def _strings_of_content(content: bytes, count: int) -> Any:
    """Split what TensorFlow makes of a string tensor: the lengths of all strings as varints, then all their bytes."""
    lengths = []
    position = 0
    # A length takes a byte at least; a count that lies must not be counted to.
    for _ in range(count if count <= len(content) else 0):
        length = shift = 0
        while position < len(content):
            byte = content[position]
            position += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        lengths.append(length)
    if len(lengths) != count or position + sum(lengths) != len(content):
        raise ValueError(f"The content of a string tensor, {len(content)} bytes, does not fit its {count} elements")
    array = np.empty(count, np.object_)
    for index, length in enumerate(lengths):
        array[index] = content[position : position + length]
        position += length
    return array


def as_array(value: object, dtype: DType | None = None) -> Any:
    """Convert a Python value to an array of the dtype given, by TensorFlow's rules.

    Python floats become float32, Python ints int32 (int64 or uint64 when they don't fit), strings object arrays of bytes. A
    value of another type than the one asked for is a TypeError; ints may become floats. Of an int that does not fit the integer
    type asked for, the lowest bits stay.
    """
    if value is None:
        raise ValueError("None values not supported.")
    base = None if dtype is None else dtype.base_dtype
    if isinstance(value, np.ndarray | np.generic):
        return _convert_array(np.asarray(value), base, value)
    if base is None and isinstance(value, int) and not isinstance(value, bool):
        if not -(2**63) <= value < 2**64:
            raise TypeError(_no_type(value))
        return np.array(value, np.int32 if -(2**31) <= value < 2**31 else np.int64 if value < 2**63 else np.uint64)
    if isinstance(value, float | int | complex) and base is not None and base.is_numpy_compatible:
        return _convert_scalar(value, base)
    if isinstance(value, str | bytes):
        return _strings(np.array(value, np.object_), base, value)
    if hasattr(value, "__array__") and not isinstance(value, list | tuple):
        # Such an object has a type of its own, as an array has.
        try:
            return _convert_array(np.asarray(value), base, value)
        except NotImplementedError as error:
            raise TypeError("List of Tensors when single Tensor expected") from error
    if isinstance(value, tensor_pb2.TensorProto):
        return _convert_array(make_ndarray(value), base, value)
    return _convert_nested(value, base)


def _no_type(value: object) -> str:
    return (
        f"Failed to convert object of type {type(value)} to Tensor. Contents: {value}. Consider casting elements to a "
        f"supported type.{_of_none(value)}"
    )


def _of_none(value: object) -> str:
    """What to write in a shape instead of None."""
    if not isinstance(value, list | tuple) or not any(item is None for item in value):
        return ""
    return (
        " None is no number: a size that is not known while the graph is built is tf.shape(x)[0] in a run, and in tf.reshape "
        "-1 stands for one that follows from the others."
    )


def _with_sizes(value: object) -> Any:
    """A nested list with the sizes of the Dimensions in it, such as `[-1, x.shape[1]]`."""
    if isinstance(value, Dimension):
        if value.value is None:
            raise TypeError(
                "Cannot convert an unknown Dimension to a number: its size is not known while the graph is built. "
                "tf.shape(x)[0] is it in a run; in tf.reshape -1 stands for one size that follows from the others"
            )
        return value.value
    return [_with_sizes(item) for item in value] if isinstance(value, list | tuple | TensorShape) else value


def _holds_size(array: Any) -> bool:
    return any(isinstance(item, Dimension) for item in array.ravel().tolist())


def _accepts(base: DType, value: object) -> bool:
    """Whether a Python number may become one of this dtype without being cut."""
    return bool(
        base.is_complex
        or (base.is_floating and not isinstance(value, complex))
        or (base.is_integer and isinstance(value, int))
        or (base.is_bool and isinstance(value, bool))
        or (base.is_quantized and isinstance(value, int))
    )


def _convert_scalar(value: object, base: DType) -> Any:
    if not _accepts(base, value):
        raise TypeError(f"Expected {base.name}, got {value!r} of type {type(value).__name__!r} instead.{_of_none(value)}")
    if isinstance(value, int) and base.is_integer and not base.min <= value <= base.max:
        return wrapped(value, base)
    return np.array(value, base.as_numpy_dtype)


def _convert_array(array: Any, base: DType | None, value: Any) -> Any:
    if array.dtype.kind in "SUO":
        return _strings(array.astype(np.object_, copy=False), base, value)
    if base is None:
        dtypes.as_dtype(array.dtype)
        return array
    if base is dtypes.string:
        raise TypeError(f"Expected string, got {value!r} of type {type(value).__name__!r} instead.")
    return array if array.dtype == base.as_numpy_dtype else array.astype(base.as_numpy_dtype)


def _strings(array: Any, base: DType | None, value: Any) -> Any:
    if base is not None and base is not dtypes.string:
        if isinstance(value, np.ndarray) and all(_is_number(item, base) for item in array.ravel().tolist()):
            return array.astype(base.as_numpy_dtype)
        leaf = next((item for item in array.ravel().tolist() if isinstance(item, str | bytes)), value)
        raise TypeError(f"Expected {base.name}, got {leaf!r} of type {type(leaf).__name__!r} instead.{_of_none(leaf)}")
    items = array.ravel().tolist()
    flat = _flat_texts(items)
    if flat is None:
        flat = np.fromiter(map(_as_bytes, items), np.object_, len(items))
    return flat.reshape(array.shape)


def _is_number(item: object, base: DType) -> bool:
    return isinstance(item, int | float | complex | np.generic) and _accepts(base, item)


def _as_bytes(item: object) -> bytes:
    if isinstance(item, bytes):
        return item
    if isinstance(item, str):
        return item.encode("utf-8")
    raise TypeError(f"Expected binary or unicode string, got {item!r}")


def _not_dense(value: object) -> str:
    found = list(np.array(value, dtype=object).shape)
    wanted, first = [], value
    while isinstance(first, list | tuple | np.ndarray) and len(first):
        wanted.append(len(first))
        first = first[0]
    return (
        f"Argument must be a dense tensor: {reprlib.repr(value)} - got shape {found}, but wanted {wanted}. Its rows have "
        "different lengths: pad them, or use tf.ragged.constant."
    )


def _flat_texts(value: object) -> Any:
    """The array of a list of texts, or of a list of bytes; None of anything else.

    Nearly always all are of one kind. Fed so, 10,000 words take 0.31 ms of CPU instead of 0.85, of which Python takes 0.18 to
    encode them; in a list, of which NumPy would find out first how wide an array of texts had to be, instead of 1.2 (two cores,
    November 2026).
    """
    if type(value) is not list or not value or type(value[0]) not in (str, bytes):
        return None
    if type(value[0]) is bytes:
        return np.fromiter(value, np.object_, len(value)) if set(map(type, value)) == {bytes} else None
    try:
        return np.fromiter(map(str.encode, value), np.object_, len(value))
    except TypeError:
        return None


def _convert_nested(value: object, base: DType | None) -> Any:
    if base in (None, dtypes.string) and (texts := _flat_texts(value)) is not None:
        return texts
    try:
        array = np.array(value)
    except UnicodeDecodeError:
        # Text and bytes in one list: NumPy would make text of all.
        array = _object_array(value)
    except NotImplementedError as error:
        raise TypeError("List of Tensors when single Tensor expected") from error
    except ValueError as error:
        raise ValueError(_not_dense(value)) from error
    if array.dtype.kind == "O" and (base is None or base.is_integer) and _holds_size(array):
        return as_array(_with_sizes(value), base)
    if base is not None and may_hold_large_ints(array, base):
        numbers = list(_leaves(value))
        if all(type(number) is int for number in numbers):
            made = [_convert_scalar(number, base) for number in numbers]
            return np.array(made, base.as_numpy_dtype).reshape(array.shape)
    if array.dtype.kind in "SUO":
        try:
            return _convert_array(_object_array(value), base, value)
        except TypeError:
            if base is not None:
                raise
            raise TypeError(_no_type(value)) from None
    if base is None:
        return _default_width(array)
    if array.size:
        _check_kind(array, base, value)
    if base is dtypes.string:
        return array.astype(np.object_)
    return array.astype(base.as_numpy_dtype)


def _object_array(value: object) -> Any:
    # np.array would pad fixed-width strings and cut trailing NULs.
    return np.array(value, np.object_)


def _default_width(array: Any) -> Any:
    """Lists are 32 bits wide unless their numbers need more, whatever their elements are."""
    if array.dtype == np.float64 or (array.size == 0 and array.dtype == np.int64):
        return array.astype(np.float32)
    if array.dtype == np.int64:
        fits = array.min() >= -(2**31) and array.max() < 2**31
        return array.astype(np.int32) if fits else array
    if array.dtype == np.uint64:
        # NumPy has two types of that size, and gives such a list the other one.
        return array.astype(np.uint64)
    dtypes.as_dtype(array.dtype)
    return array


def _has_numpy_leaf(value: object) -> bool:
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return isinstance(value, np.ndarray | np.generic)


def _leaves(value: object) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    else:
        yield from np.asarray(value).ravel().tolist()


def _check_kind(array: Any, base: DType, value: object) -> None:
    kind = array.dtype.kind
    accepted = (
        base.is_complex
        or (base.is_floating and kind in "fiubV")
        or (base.is_integer and kind in "iub")
        or (base.is_bool and kind == "b")
        or (base.is_quantized and kind in "iu")
        or (base.is_floating and _has_numpy_leaf(value))
    )
    if not accepted:
        leaf = next((leaf for leaf in _leaves(value) if not _accepts(base, leaf)), value)
        raise TypeError(f"Expected {base.name}, got {leaf!r} of type {type(leaf).__name__!r} instead.{_of_none(leaf)}")
    if base.is_integer and kind != "b":
        tell_what_is_lost(int(array.min()), int(array.max()), base)


def compatible_with_value(dims: Dims, array: Any) -> bool:
    """Whether a feed of this array fits a tensor of this shape."""
    return dims_compatible(dims, array.shape)
