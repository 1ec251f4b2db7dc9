"""Texts as code points, and code points as texts."""

from __future__ import annotations

import codecs
import itertools
import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.array.shape_ops import INDEX
from weft.ops.declaration import op
from weft.ops.strings.elementwise import invalid

ON_ERROR: Final = ("strict", "replace", "ignore")
ENCODINGS: Final = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
_CONTROLS: Final = 32  # how many characters there are below the space
_UNKNOWN: Final = 0xFFFD


_MARKS: Final = {
    "utf-16": ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")),
    "utf-32": ((codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be")),
}


def codec_of(text: bytes, encoding: str) -> tuple[str, int]:
    """The codec of a text and where its characters begin: encodings of either byte order are big-endian without a mark.

    Raises:
        InvalidArgumentError: there is no such encoding.
    """
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise invalid(f"Could not create converter for input encoding: {encoding}") from None
    if name not in _MARKS:
        return name, 0
    return next(((codec, len(mark)) for mark, codec in _MARKS[name] if text.startswith(mark)), (f"{name}-be", 0))


def decoded(text: bytes, encoding: str, errors: str) -> Iterator[tuple[str | None, int]]:
    """The characters of a text with the bytes at which they begin; None for bytes that are none.

    Raises:
        InvalidArgumentError: there is no such encoding, or such bytes are and `errors` is 'strict'.
    """
    codec, start = codec_of(text, encoding)
    while start < len(text):
        wrong = None
        try:
            letters = text[start:].decode(codec)
        except UnicodeDecodeError as error:
            if errors == "strict":
                raise invalid(f"Invalid formatting on input string: {error}") from error
            letters, wrong = text[start : start + error.start].decode(codec), error
        at = start
        for letter in letters:
            yield letter, at
            at += len(letter.encode(codec))
        if wrong is None:
            return
        yield None, at
        start += wrong.end


def points(text: bytes, encoding: str, errors: str, replacement: int, replaces_controls: bool) -> list[tuple[int, int]]:
    """The code points of a text with the bytes at which they begin, what is no text replaced, or left out.

    Raises: as `decoded`.
    """
    found = []
    for letter, at in decoded(text, encoding, errors):
        if letter is None or (replaces_controls and ord(letter) < _CONTROLS):
            if errors != "ignore":
                found.append((replacement, at))
        else:
            found.append((ord(letter), at))
    return found


def _splits_and_values(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    known = None if dims is None else [size for size in dims if size is not None]
    count = None if known is None or len(known) != len(dims or ()) else math.prod(known) + 1
    return [(count,), *[(None,)] * (len(node.outputs) - 1)]


@op("UnicodeDecodeWithOffsets", "input: string -> row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64",
    infer=_splits_and_values, gradient=None, types={"Tsplits": INDEX}, limits={"errors": ON_ERROR},
    defaults={"Tsplits": dtypes.int64})  # fmt: skip
def unicode_decode_with_offsets_node(
    ctx: OpContext,
    input: Array,
    *,
    input_encoding: str,
    Tsplits: DType = dtypes.int64,
    errors: str = "replace",
    replacement_char: int = _UNKNOWN,
    replace_control_characters: bool = False,
) -> tuple[Result, Result, Result]:
    """The code points of all texts in their order, and at which bytes they begin: `[n] -> [n + 1], [points], [points]`."""
    rows = [
        points(text, input_encoding, errors, replacement_char, replace_control_characters) for text in input.ravel().tolist()
    ]
    splits = np.cumsum([0, *map(len, rows)], dtype=Tsplits.as_numpy_dtype)
    found = np.array([pair for row in rows for pair in row], np.int64).reshape(-1, 2)
    return splits, found[:, 0].astype(np.int32), found[:, 1]


@op("UnicodeDecode", "input: string -> row_splits: Tsplits, char_values: int32",
    infer=_splits_and_values, gradient=None, types={"Tsplits": INDEX}, limits={"errors": ON_ERROR},
    defaults={"Tsplits": dtypes.int64})  # fmt: skip
def unicode_decode_node(
    ctx: OpContext,
    input: Array,
    *,
    input_encoding: str,
    Tsplits: DType = dtypes.int64,
    errors: str = "replace",
    replacement_char: int = _UNKNOWN,
    replace_control_characters: bool = False,
) -> tuple[Result, Result]:
    """The code points of all texts in their order: `[n] -> [n + 1], [points]`."""
    rows = [
        points(text, input_encoding, errors, replacement_char, replace_control_characters) for text in input.ravel().tolist()
    ]
    splits = np.cumsum([0, *map(len, rows)], dtype=Tsplits.as_numpy_dtype)
    return splits, np.array([point for row in rows for point, _ in row], np.int32)


def _rows_of_splits(node: Operation) -> list[Dims]:
    dims = node.inputs[1].dims
    return [(None if dims is None or len(dims) != 1 or dims[0] is None else dims[0] - 1,)]


@op("UnicodeEncode", "input_values: int32, input_splits: Tsplits -> output: string",
    ranks={"input_values": 1, "input_splits": 1},
    infer=_rows_of_splits, gradient=None, types={"Tsplits": INDEX}, defaults={"Tsplits": dtypes.int64},
    limits={"errors": ON_ERROR, "output_encoding": tuple(ENCODINGS)})  # fmt: skip
def unicode_encode_node(
    ctx: OpContext,
    input_values: Array,
    input_splits: Array,
    *,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = _UNKNOWN,
) -> Result:
    """The texts of rows of code points: `[points], [n + 1] -> [n]`."""
    if not len(input_splits) or input_splits[0] != 0:
        raise InvalidArgumentError.of("First value in input_splits must be zero.")
    if input_splits[-1] != len(input_values):
        raise InvalidArgumentError.of(
            f"Last value in input_splits must be equal to length of input_tensor: {input_splits[-1]}, {len(input_values)}"
        )
    letters = [_letter(point, errors, replacement_char) for point in input_values.tolist()]
    made = np.empty(len(input_splits) - 1, object)
    for row, (start, end) in enumerate(itertools.pairwise(input_splits)):
        made[row] = "".join(letters[start:end]).encode(ENCODINGS[output_encoding])
    return made


def _letter(point: int, errors: str, replacement: int) -> str:
    if 0xD800 <= point < 0xE000:  # half a pair
        return chr(_UNKNOWN)
    if 0 <= point <= 0x10FFFF:
        return chr(point)
    if errors == "strict":
        raise invalid(f"Code point value out of valid Unicode range. {point} is not from 0 to 0x10FFFF")
    return chr(replacement) if errors == "replace" else ""
