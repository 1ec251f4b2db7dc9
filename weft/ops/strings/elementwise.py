"""String ops that work element by element: parts, cases, regular expressions, numbers, hashes, encodings.

Strings are bytes. All of these run on the host.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from weft.errors import InvalidArgumentError
from weft.framework import dtypes
from weft.framework.aliases import Array, DTypeLike, Result, TensorLike
from weft.framework.dims import Dims, broadcast_dims
from weft.framework.dtypes import DType
from weft.framework.op_context import OpContext
from weft.framework.operation import Operation, Tensor
from weft.ops.declaration import not_differentiable, op, same_as_input
from weft.ops.dispatch import dispatchable
from weft.ops.math.elementwise import COMPLEX, FLOATS, NUMBERS
from weft.ops.strings.hash import fingerprints, keyed_hashes, old_hashes
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
    """Write numbers and booleans as strings."""
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
    """
    return each(input, (lambda text: _encoded(_decoded(text).lower())) if encoding else lambda text: text.lower())


@op("StringUpper", "input: string -> output: string", infer=same_as_input, gradient=None)
def string_upper(ctx: OpContext, input: Array, *, encoding: str = "") -> Result:
    """Each string in upper case: of ASCII letters, or of all with encoding utf-8.

    `[...] -> [...]`.
    """
    return each(input, (lambda text: _encoded(_decoded(text).upper())) if encoding else lambda text: text.upper())


@op("StringStrip", "input: string -> output: string", infer=same_as_input, gradient=None)
def string_strip(ctx: OpContext, input: Array) -> Result:
    """Each string without white space at its ends: `[...] -> [...]`."""
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
    """The length of each string, in bytes unless `unit` is UTF8_CHAR."""
    return string_length_node(input, unit=unit, name=name)


def _part_shape(node: Operation) -> list[Dims]:
    return [broadcast_dims(node.inputs[0].dims, node.inputs[1].dims)]


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
    """Take a part of each string; a negative `pos` counts from the end."""
    return substr_node(input, pos, len, unit=unit, name=name)


@lru_cache(maxsize=256)
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise invalid(f"Invalid pattern: {pattern.decode(errors='replace')}, error: {error}") from None


def _replace(input: Array, pattern: bytes, rewrite: bytes, replace_global: bool) -> Array:
    compiled = _compiled(pattern)
    whole = re.sub(rb"\\0", rb"\\g<0>", rewrite)
    try:
        return each(input, lambda text: compiled.sub(whole, text, count=0 if replace_global else 1))
    except re.error:
        # The rewrite names a group that the pattern does not have: nothing is replaced, as in TensorFlow.
        return input


@op("RegexReplace", "input: string, pattern: string, rewrite: string -> output: string", infer=same_as_input,
    gradient=not_differentiable)  # fmt: skip
def regex_replace_node(ctx: OpContext, input: Array, pattern: Array, rewrite: Array, *, replace_global: bool = True) -> Result:
    """Each string with the matches of the pattern replaced: `[...], scalar, scalar -> [...]`."""
    return _replace(input, pattern.item(), rewrite.item(), replace_global)


@op("StaticRegexReplace", "input: string -> output: string", infer=same_as_input, gradient=None)
def static_regex_replace(ctx: OpContext, input: Array, *, pattern: str, rewrite: str, replace_global: bool = True) -> Result:
    """RegexReplace with a fixed pattern: `[...] -> [...]`."""
    return _replace(input, _encoded(pattern), _encoded(rewrite), replace_global)


@dispatchable
def regex_replace(
    input: TensorLike, pattern: TensorLike, rewrite: TensorLike, replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Replace what a regular expression matches; `\\1` ... in `rewrite` stand for its groups, `\\0` for all of it."""
    if isinstance(pattern, str | bytes) and isinstance(rewrite, str | bytes):
        return static_regex_replace(input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name)
    return regex_replace_node(input, pattern, rewrite, replace_global=replace_global, name=name)


@op("RegexFullMatch", "input: string, pattern: string -> output: bool", infer=same_as_input, gradient=None)
def regex_full_match_node(ctx: OpContext, input: Array, pattern: Array) -> Result:
    """Whether the pattern matches the whole of each string: `[...], scalar -> [...] bool`."""
    compiled = _compiled(pattern.item())
    return each(input, lambda text: compiled.fullmatch(text) is not None, np.bool_)


@op("StaticRegexFullMatch", "input: string -> output: bool", infer=same_as_input, gradient=None)
def static_regex_full_match(ctx: OpContext, input: Array, *, pattern: str) -> Result:
    """RegexFullMatch with a fixed pattern: `[...] -> [...] bool`."""
    compiled = _compiled(_encoded(pattern))
    return each(input, lambda text: compiled.fullmatch(text) is not None, np.bool_)


@dispatchable
def regex_full_match(input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    """Whether a regular expression matches the whole of each string."""
    if isinstance(pattern, str | bytes):
        return static_regex_full_match(input, pattern=pattern, name=name)
    return regex_full_match_node(input, pattern, name=name)


@op("EncodeBase64", "input: string -> output: string", infer=same_as_input, gradient=not_differentiable)
def encode_base64(ctx: OpContext, input: Array, *, pad: bool = False) -> Result:
    """Each string in web-safe base64, without padding unless `pad`: `[...] -> [...]`."""
    return each(input, lambda text: base64.urlsafe_b64encode(text).rstrip(b"" if pad else b"="))


_BASE64: Final = re.compile(rb"[A-Za-z0-9_-]*={0,2}\Z")


def _from_base64(text: bytes) -> bytes:
    if not _BASE64.match(text):
        raise invalid("Invalid character found in base64.")
    bare = text.rstrip(b"=")
    try:
        return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))
    except binascii.Error as error:
        raise invalid(f"Invalid character found in base64: {error}") from None


@op("DecodeBase64", "input: string -> output: string", infer=same_as_input, gradient=not_differentiable)
def decode_base64(ctx: OpContext, input: Array) -> Result:
    """The bytes that each string of web-safe base64, padded or not, encodes: `[...] -> [...]`."""
    return each(input, _from_base64)


# Buckets.


def _buckets(input: Array, count: int, hashes: Callable[[list[bytes]], Array]) -> Array:
    if count < 1:
        raise invalid(f"num_buckets must be positive, but is {count}")
    return (hashes(input.ravel().tolist()) % np.uint64(count)).astype(np.int64).reshape(input.shape)


@op("StringToHashBucketFast", "input: string -> output: int64", limits={"num_buckets": 1},
    infer=same_as_input, gradient=not_differentiable)  # fmt: skip
def string_to_hash_bucket_fast_node(ctx: OpContext, input: Array, *, num_buckets: int) -> Result:
    """The fingerprint of each string modulo the number of buckets: `[...] -> [...] int64`."""
    return _buckets(input, num_buckets, fingerprints)


@op("StringToHashBucketStrong", "input: string -> output: int64", limits={"num_buckets": 1},
    infer=same_as_input, gradient=not_differentiable)  # fmt: skip
def string_to_hash_bucket_strong_node(ctx: OpContext, input: Array, *, num_buckets: int, key: list[int]) -> Result:
    """The keyed hash of each string modulo the number of buckets: `[...] -> [...] int64`."""
    if len(key) != 2:
        raise invalid(f"Key must have 2 elements, but has {len(key)}")
    pair = key[0] & (1 << 64) - 1, key[1] & (1 << 64) - 1
    return _buckets(input, num_buckets, lambda texts: keyed_hashes(texts, pair))


@op("StringToHashBucket", "string_tensor: string -> output: int64", limits={"num_buckets": 1},
    infer=same_as_input, gradient=not_differentiable)  # fmt: skip
def string_to_hash_bucket_node(ctx: OpContext, string_tensor: Array, *, num_buckets: int) -> Result:
    """An older hash of each string modulo the number of buckets: `[...] -> [...] int64`."""
    return _buckets(string_tensor, num_buckets, old_hashes)


@dispatchable
def string_to_hash_bucket_fast(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Put strings into buckets by a fast hash."""
    return string_to_hash_bucket_fast_node(input, num_buckets=num_buckets, name=name)


@dispatchable
def string_to_hash_bucket_strong(input: TensorLike, num_buckets: int, key: TensorLike, name: str | None = None) -> Tensor:
    """Put strings into buckets by a hash that nobody without the key of two integers can predict."""
    return string_to_hash_bucket_strong_node(input, num_buckets=num_buckets, key=key, name=name)


@dispatchable
def string_to_hash_bucket(
    string_tensor: TensorLike | None = None,
    num_buckets: int | None = None,
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """Put strings into buckets by an old hash, kept for models that used it."""
    given = input if string_tensor is None else string_tensor
    return string_to_hash_bucket_node(given, num_buckets=num_buckets, name=name)
