"""Strings joined by segment, and texts in other encodings."""

from __future__ import annotations

import contextlib
import math

import numpy as np

from weft.framework.building.aliases import Array, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.ops.array.shape_ops import INDEX
from weft.ops.declaration import op, same_as_input
from weft.ops.strings.elementwise import each, invalid
from weft.ops.strings.unicode import ENCODINGS, ON_ERROR, codec_of, points


def _joined_shape(node: Operation) -> list[Dims]:
    inputs, ids, count = node.inputs[0].dims, node.inputs[1].dims, constant_value(node.inputs[2])
    if inputs is None or ids is None:
        return [None]
    merge_dims(inputs[: len(ids)], ids)
    return [(None if count is None else int(count), *inputs[len(ids) :])]


@op("UnsortedSegmentJoin", "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments -> output: string",
    ranks={"num_segments": 0},
    infer=_joined_shape, gradient=None, types={"Tindices": INDEX, "Tnumsegments": INDEX},
    defaults={"Tnumsegments": dtypes.int32})  # fmt: skip
def unsorted_segment_join_node(
    ctx: OpContext, inputs: Array, segment_ids: Array, num_segments: Array, *, separator: str = ""
) -> Result:
    """The strings of each segment joined, in the order of the input; '' for a segment without any.

    `[*places, *inner], [*places], scalar -> [num_segments, *inner]`.
    """
    count, between = int(num_segments), separator.encode()
    ids = segment_ids.ravel()
    for wrong in ids[(ids < 0) | (ids >= count)][:1].tolist():
        raise invalid(
            f"segment_ids are not allowed to exceed num_segments or to have negative values: {wrong} is not in [0, {count})"
        )
    if not segment_ids.ndim:
        raise invalid("Segment_id cannot have rank 0")
    rows = inputs.reshape(ids.size, math.prod(inputs.shape[segment_ids.ndim :]))
    joined = np.full((count, rows.shape[1]), b"", object)
    for segment in range(count):
        chosen = rows[ids == segment]
        joined[segment] = [between.join(column.tolist()) for column in chosen.T]
    return joined.reshape(count, *inputs.shape[segment_ids.ndim :])


def unsorted_segment_join(
    inputs: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, separator: str = "", name: str | None = None
) -> Tensor:
    """Join the strings whose segment ids are equal.

    Args:
        inputs: strings.
        segment_ids: integers from 0 on, in the shape of the first dimensions of `inputs`.
        num_segments: how many segments there are.
        separator: what stands between two strings.
        name: the node's name.

    Returns:
        [num_segments, ...] tensor of strings.
    """
    return unsorted_segment_join_node(inputs, segment_ids, num_segments, separator=separator, name=name)


@op(
    "UnicodeTranscode",
    "input: string -> output: string",
    limits={"output_encoding": tuple(ENCODINGS), "errors": ON_ERROR},
    infer=same_as_input,
    gradient=None,
)
def unicode_transcode_node(
    ctx: OpContext,
    input: Array,
    *,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
) -> Result:
    """The texts in another encoding: `[...] -> [...]`."""
    codec_of(b"", input_encoding)

    def converted(text: bytes) -> bytes:
        if not replace_control_characters:  # most texts are in order, which a codec sees in a hundredth of the time
            codec, start = codec_of(text, input_encoding)
            with contextlib.suppress(UnicodeDecodeError):
                return text[start:].decode(codec).encode(ENCODINGS[output_encoding])
        found = points(text, input_encoding, errors, replacement_char, replace_control_characters)
        return "".join(chr(point) for point, _ in found).encode(ENCODINGS[output_encoding])

    return each(input, converted)


def unicode_transcode(
    input: TensorLike,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Texts in another encoding.

    Args:
        input: strings.
        input_encoding: any encoding that Python knows.
        output_encoding: 'UTF-8', 'UTF-16-BE' or 'UTF-32-BE'.
        errors: what to do about bytes that are no text: 'strict', 'replace' or 'ignore'.
        replacement_char: the code point that replaces them.
        replace_control_characters: whether characters below the space are replaced as well.
        name: the node's name.

    Returns:
        A tensor of strings of the same shape.
    """
    return unicode_transcode_node(
        input, input_encoding=input_encoding, output_encoding=output_encoding, errors=errors,
        replacement_char=replacement_char, replace_control_characters=replace_control_characters, name=name,
    )  # fmt: skip
