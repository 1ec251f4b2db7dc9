"""How one tensor lies on the wire: a descriptor for the frame's header and its elements' bytes for the payload.

A descriptor is the tuple (DataType number, size in bytes, *shape). Elements are little-endian and in row-major order; a
tensor of strings is its elements' end offsets as uint64, then all their bytes (so no cost per element but a slice).
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Final, SupportsBytes, TypeAlias

import numpy as np
import numpy.typing as npt

from weft.framework.types import dtypes
from weft.protocol.messages import Array
from weft.protocol.protocol_error import LocalProtocolError, RemoteProtocolError

ALIGNMENT: Final = 64
"""Every tensor starts at a multiple of this many bytes from the payload's start: XLA needs that to alias memory."""

COPIED_BYTES: Final = 16 << 10
"""Tensors up to this size are copied into the frame: measured, cheaper than one more entry of a scatter-gather list."""

AnyDType: TypeAlias = np.dtype[Any]
Buffer: TypeAlias = bytes | memoryview
Descriptor: TypeAlias = tuple[int, ...]

_WIRE_DTYPES: Final = (
    dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, *dtypes.SMALL_DTYPES,
    dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64,
    dtypes.complex64, dtypes.complex128, dtypes.bool,
)  # fmt: skip
_STRING: Final = dtypes.string.as_datatype_enum
_NUMPY_OF_ENUM: Final[dict[int, AnyDType]] = {t.as_datatype_enum: np.dtype(t.as_numpy_dtype) for t in _WIRE_DTYPES}
_ENUM_OF_NUMPY: Final[dict[AnyDType, int]] = {dtype: enum for enum, dtype in _NUMPY_OF_ENUM.items()}
_OFFSET: Final = np.dtype("<u8")
_ONLY_INT: Final = {int}


def padding(size_bytes: int) -> int:
    """The number of bytes that follow a tensor of this size, so that the next one is aligned."""
    return -size_bytes % ALIGNMENT


def plain_descriptor(dtype: AnyDType, shape: tuple[int, ...]) -> Descriptor | None:
    """The descriptor of every tensor of this type and shape; None if its elements decide, or have to be converted first."""
    enum = _ENUM_OF_NUMPY.get(dtype)
    return None if enum is None else (enum, math.prod(shape) * dtype.itemsize, *shape)


def own_memory(array: Array) -> memoryview:
    """The bytes of a plain array: its own memory if it is contiguous, else a copy."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def describe(array: Array) -> tuple[Descriptor, Buffer]:
    """Return a tensor's descriptor and its bytes: the array's own memory if it is large and contiguous, else a copy.

    Raises:
        LocalProtocolError: the channel has no form for such elements.
    """
    descriptor = plain_descriptor(array.dtype, array.shape)
    if descriptor is None:
        return _describe_unusual(array)
    return descriptor, array.tobytes() if array.nbytes <= COPIED_BYTES else own_memory(array)


def _describe_unusual(array: Array) -> tuple[Descriptor, Buffer]:
    if array.dtype == np.object_:
        blob = _pack_strings(array)
        return (_STRING, len(blob), *array.shape), blob
    native = array.dtype.newbyteorder("=")
    if native in _ENUM_OF_NUMPY:
        return describe(array.astype(native))
    raise LocalProtocolError(f"a tensor of NumPy type {array.dtype} and shape {list(array.shape)} cannot be sent")


def _pack_strings(array: Array) -> bytes:
    items: list[bytes] = array.reshape(-1).tolist()
    for index, item in enumerate(items):
        if isinstance(item, bytes):
            continue
        if not isinstance(item, SupportsBytes):
            raise LocalProtocolError(
                f"a tensor of shape {list(array.shape)} holds a Python object, a {type(item).__name__}, which cannot leave "
                "its task; the elements of a string tensor have to be bytes"
            )
        # A part of a sparse tensor in a variant: its text is made here, where it leaves the task.
        items[index] = bytes(item)
    ends = np.cumsum(np.fromiter(map(len, items), _OFFSET, len(items)), dtype=_OFFSET)
    return b"".join((ends.tobytes(), *items))


def checked(descriptor: object) -> tuple[AnyDType | None, int, tuple[int, ...]]:
    """Return the NumPy type, None for strings, the size in bytes and the shape that a descriptor from a peer means.

    Raises:
        RemoteProtocolError: it is no descriptor, or contradicts itself.
    """
    if type(descriptor) is not tuple or len(descriptor) < 2 or set(map(type, descriptor)) != _ONLY_INT:
        raise RemoteProtocolError(f"{descriptor!r} does not describe a tensor")
    enum, size, *shape = descriptor
    dtype = _NUMPY_OF_ENUM.get(enum)
    elements = math.prod(shape)
    if (shape and min(shape) < 0) or size < 0:
        raise RemoteProtocolError(f"a tensor has a negative size: shape {shape}, {size} bytes")
    if dtype is not None:
        if elements * dtype.itemsize != size:
            raise RemoteProtocolError(f"a {dtype} tensor of shape {shape} is said to have {size} bytes")
    elif enum != _STRING:
        raise RemoteProtocolError(f"a tensor has the unknown DataType {enum}")
    elif elements * _OFFSET.itemsize > size:
        raise RemoteProtocolError(f"a string tensor of shape {shape} is said to have only {size} bytes")
    return dtype, size, tuple(shape)


def unpack_strings(shape: tuple[int, ...], blob: bytes) -> Array:
    """Return the tensor of strings that a blob holds.

    Raises:
        RemoteProtocolError: its offsets are not in order.
    """
    array: npt.NDArray[np.object_] = np.empty(shape, np.object_)
    count = array.size
    ends = np.frombuffer(blob, _OFFSET, count).tolist()
    text = blob[count * _OFFSET.itemsize :]
    if (ends[-1] if ends else 0) != len(text) or any(a > b for a, b in itertools.pairwise(ends)):
        raise RemoteProtocolError(f"a string tensor of shape {list(shape)} has offsets that do not fit its bytes")
    array.reshape(-1)[:] = [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return array
