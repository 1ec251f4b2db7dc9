"""String ops that work element by element: parts, cases, regular expressions, numbers, hashes, encodings.

Strings are bytes. All of these run on the host.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, DTypeLike, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, broadcast_dims, merge_dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import not_differentiable, op, same_as_input
from weft.ops.dispatch import dispatchable
from weft.ops.math.elementwise import COMPLEX, FLOATS, NUMBERS
from weft.ops.strings.number_text import NumberError, numbers_of

_SPACE: Final = b" \t\n\v\f\r"


def each(array: Array, function: Callable[[Array], object], dtype: npt.DTypeLike = np.object_) -> Array:
    """The array of what a function makes of each element."""
    result = np.empty(array.size, dtype)
    result[:] = [function(item) for item in array.ravel().tolist()]
    return result.reshape(array.shape)


def invalid(message: str) -> InvalidArgumentError:
    """The error for a value that the op cannot take."""
    return InvalidArgumentError.of(message)


# Numbers as text and back.


@op("AsString", "input: T -> output: string", infer=same_as_input, gradient=not_differentiable,
    types={"T": (*NUMBERS, dtypes.bool, dtypes.string, dtypes.variant)})  # fmt: skip
def as_string_node(
    ctx: OpContext,
    input: Array,
    *,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
) -> Result:
    """Each number as C's printf writes it: `[...] -> [...]`."""
    kind = input.dtype
    if len(fill) > 1:
        raise invalid("Fill string must be one or fewer characters")
    if scientific and shortest:
        raise invalid("Cannot select both scientific and shortest notation")
    inexact = kind.kind in "fcV"
    if not inexact and (scientific or shortest):
        raise invalid(f"scientific and shortest format not supported for datatype {dtypes.as_dtype(kind).name}")
    if not inexact and precision >= 0:
        raise invalid(f"precision not supported for datatype {dtypes.as_dtype(kind).name}")
    if kind == np.bool_:
        return each(input, lambda item: b"true" if item else b"false")
    if kind.kind == "O":
        return input
    digits = f".{precision}" if precision >= 0 else ""
    letter = ("e" if scientific else "g" if shortest else "f") if inexact else "d"
    form = f"%{fill}{width if width >= 0 else ''}{digits}{letter}"
    if kind.kind == "c":
        return each(input, lambda item: f"({form % item.real},{form % item.imag})".encode())
    return each(input, lambda item: (form % item).encode())


@dispatchable
def as_string(
    input: TensorLike,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Write numbers and booleans as strings.

    Args:
        input: [...] tensor of a numeric dtype or bool.
        precision: how many digits there are behind the point; -1 for as many as are usual.
        scientific: whether floats are written with an exponent.
        shortest: whether floats are written with or without one, as is shorter.
        width: the least number of characters; -1 for none.
        fill: what fills them: "", " ", "0", "+" or "-"; spaces when "".

    Returns:
        [...] tensor of strings.
    """
    return as_string_node(
        input, precision=precision, scientific=scientific, shortest=shortest, width=width, fill=fill, name=name
    )


@op("StringToNumber", "string_tensor: string -> output: out_type", infer=same_as_input, gradient=not_differentiable,
    types={"out_type": (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.uint32,
                        dtypes.uint64)})  # fmt: skip
def string_to_number_node(ctx: OpContext, string_tensor: Array, *, out_type: DType = dtypes.float32) -> Result:
    """The number that each string writes: `[...] -> [...]`."""
    texts = string_tensor.ravel().tolist()
    try:
        return numbers_of(texts, out_type).reshape(string_tensor.shape)
    except NumberError as error:
        found = texts[error.index].decode(errors="replace")
        raise invalid(f"StringToNumberOp could not correctly convert string: {found}") from None


@dispatchable
def string_to_number(
    string_tensor: TensorLike | None = None,
    out_type: DTypeLike = dtypes.float32,
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """Read numbers from strings; InvalidArgumentError for one that is no number of the type.

    >>> sess.run(tf.string_to_number(["1.5", "2"]))
    array([1.5, 2. ], dtype=float32)

    Args:
        string_tensor, input: two names of the [...] tensor of strings.
        out_type: float32, float64, int32 or int64.

    Returns:
        [...] tensor of `out_type`.

    Raises:
        InvalidArgumentError: in a run, a string is no number of the type.
    """
    given = input if string_tensor is None else string_tensor
    return string_to_number_node(given, out_type=out_type, name=name)


_RAW: Final = (
    *FLOATS,
    *COMPLEX,
    dtypes.int32,
    dtypes.uint16,
    dtypes.uint8,
    dtypes.int16,
    dtypes.int8,
    dtypes.int64,
    dtypes.bool,
)


def _decoded_shape(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    return [None if dims is None else (*dims, None)]


@op(
    "DecodeRaw",
    "bytes: string -> output: out_type",
    infer=_decoded_shape,
    gradient=not_differentiable,
    types={"out_type": _RAW},
)
def decode_raw_node(ctx: OpContext, bytes: Array, *, out_type: DType, little_endian: bool = True) -> Result:
    """The bytes of each string as numbers, along a new last dimension: `[...] -> [..., n]`."""
    wanted = np.dtype(out_type.as_numpy_dtype)
    texts = bytes.ravel().tolist()
    size = len(texts[0]) if texts else 0
    for index, text in enumerate(texts):
        if len(text) != size:
            raise invalid(
                f"DecodeRaw requires input strings to all be the same size, but element {index} has size {size} != {len(text)}"
            )
    if size % wanted.itemsize:
        raise invalid(
            f"Input to DecodeRaw has length {size} that is not a multiple of {wanted.itemsize}, the size of {out_type.name}"
        )
    numbers = np.frombuffer(b"".join(texts), wanted)
    if not little_endian:
        numbers = numbers.byteswap()
    return numbers.reshape((*bytes.shape, size // wanted.itemsize))


def decode_raw(
    input_bytes: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: TensorLike | None = None,
) -> Tensor:
    r"""Read the bytes of strings as the numbers of a type; all strings must be of one length.

    >>> sess.run(tf.decode_raw([b"\x01\x02"], tf.uint8))
    array([[1, 2]], dtype=uint8)

    Args:
        input_bytes, bytes: two names of the [...] tensor of strings.
        out_type: a numeric dtype or bool.
        little_endian: whether the least byte comes first.

    Returns:
        [..., n] tensor of `out_type`.

    Raises:
        InvalidArgumentError: in a run, the strings' lengths differ, or are no multiple of a number's.
    """
    given = bytes if input_bytes is None else input_bytes
    return decode_raw_node(given, out_type=out_type, little_endian=little_endian, name=name)


# Text to text.


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@op("StringLower", "input: string -> output: string", infer=same_as_input, gradient=None)
def string_lower(ctx: OpContext, input: Array, *, encoding: str = "") -> Result:
    """Each string in lower case: of ASCII letters, or of all with encoding utf-8.

    `[...] -> [...]`.

    Args:
        input: [...] tensor of strings.
        encoding: '' or 'utf-8'.
    """
    return each(input, (lambda text: _encoded(_decoded(text).lower())) if encoding else lambda text: text.lower())


@op("StringUpper", "input: string -> output: string", infer=same_as_input, gradient=None)
def string_upper(ctx: OpContext, input: Array, *, encoding: str = "") -> Result:
    """Each string in upper case: of ASCII letters, or of all with encoding utf-8.

    `[...] -> [...]`.

    Args: those of `tf.strings.lower`.
    """
    return each(input, (lambda text: _encoded(_decoded(text).upper())) if encoding else lambda text: text.upper())


@op("StringStrip", "input: string -> output: string", infer=same_as_input, gradient=None)
def string_strip(ctx: OpContext, input: Array) -> Result:
    """Each string without white space at its ends: `[...] -> [...]`.

    Args:
        input: [...] tensor of strings.
    """
    return each(input, lambda text: text.strip(_SPACE))


@op(
    "StringLength", "input: string -> output: int32", limits={"unit": ("BYTE", "UTF8_CHAR")}, infer=same_as_input, gradient=None
)
def string_length_node(ctx: OpContext, input: Array, *, unit: str = "BYTE") -> Result:
    """The length of each string in bytes or in UTF-8 characters: `[...] -> [...] int32`."""
    return each(input, len if unit == "BYTE" else _count_characters, np.int32)


def _count_characters(text: bytes) -> int:
    return sum(byte & 0xC0 != 0x80 for byte in text)


@dispatchable
def string_length(input: TensorLike, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """The length of each string, in bytes unless `unit` is UTF8_CHAR.

    Args:
        input: [...] tensor of strings.
        unit: 'BYTE' or 'UTF8_CHAR'.

    Returns:
        [...] int32 tensor.
    """
    return string_length_node(input, unit=unit, name=name)


def _part_shape(node: Operation) -> list[Dims]:
    texts, starts, sizes = (tensor.dims for tensor in node.inputs)
    merge_dims(starts, sizes)
    return [broadcast_dims(texts, starts)]


@op("Substr", "input: string, pos: T, len: T -> output: string",
    limits={"unit": ("BYTE", "UTF8_CHAR")}, infer=_part_shape, gradient=None,
    types={"T": (dtypes.int32, dtypes.int64)})  # fmt: skip
def substr_node(ctx: OpContext, input: Array, pos: Array, len: Array, *, unit: str = "BYTE") -> Result:
    """The part of each string of length `len` from `pos`, which counts from the end when negative.

    `[...], [...], [...] -> [...]`, broadcast.
    """
    texts, starts, sizes = np.broadcast_arrays(input, pos, len)
    result = np.empty(texts.size, object)
    for index, (text, start, size) in enumerate(zip(texts.flat, starts.flat, sizes.flat, strict=True)):
        result[index] = _part(text, int(start), int(size), index, unit)
    return result.reshape(texts.shape)


def _part(text: bytes, start: int, size: int, index: int, unit: str) -> bytes:
    units: Array = text if unit == "BYTE" else _decoded(text)
    if not -len(units) <= start <= len(units):
        raise invalid(f"pos {start} out of range for string {text!r} at index {index}")
    first = start + len(units) if start < 0 else start
    part: Array = units[first : first + max(size, 0)]
    taken: bytes = part if unit == "BYTE" else _encoded(part)
    return taken


@dispatchable
def substr(input: TensorLike, pos: TensorLike, len: TensorLike, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """Take a part of each string; a negative `pos` counts from the end.

    Args:
        input: [...] tensor of strings.
        pos, len: tensors of one of int32 and int64, whose shapes broadcast with that of `input`: where the part begins, and
            how long it is.
        unit: 'BYTE' or 'UTF8_CHAR'.

    Returns:
        A tensor of strings.
    """
    return substr_node(input, pos, len, unit=unit, name=name)


@op("EncodeBase64", "input: string -> output: string", infer=same_as_input, gradient=not_differentiable)
def encode_base64(ctx: OpContext, input: Array, *, pad: bool = False) -> Result:
    """Each string in web-safe base64, without padding unless `pad`: `[...] -> [...]`.

    Args:
        input: [...] tensor of strings.
        pad: whether to fill up with `=` to a multiple of four.
    """
    return each(input, lambda text: base64.urlsafe_b64encode(text).rstrip(b"" if pad else b"="))


_BASE64: Final = re.compile(rb"[A-Za-z0-9_-]*={0,2}\Z")


def _from_base64(text: bytes) -> bytes:
    if not _BASE64.match(text):
        raise invalid("Invalid character found in base64.")
    bare = text.rstrip(b"=")
    if len(bare) % 4 == 1:
        raise invalid(f"Base64 string length cannot be 1 modulo 4, but it is {len(bare)}")
    return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))


@op("DecodeBase64", "input: string -> output: string", infer=same_as_input, gradient=not_differentiable)
def decode_base64(ctx: OpContext, input: Array) -> Result:
    """The bytes that each string of web-safe base64, padded or not, encodes: `[...] -> [...]`.

    Args:
        input: [...] tensor of strings.
    """
    return each(input, _from_base64)
