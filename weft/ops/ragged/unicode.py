"""Texts as ragged rows of code points or characters, and back."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.shape_ops import expand_dims, reshape, shape, size
from weft.ops.array.stacking import stack
from weft.ops.declaration import rank_of
from weft.ops.input_scope import input_scope
from weft.ops.ragged.tensor import RaggedTensor, Values, ValuesLike, convert_to_tensor_or_ragged_tensor
from weft.ops.strings.unicode import unicode_decode_node, unicode_decode_with_offsets_node, unicode_encode_node

_UNKNOWN = 0xFFFD


def unicode_decode(
    input: ValuesLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _UNKNOWN,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Values:
    """The code points of texts: one dimension more, ragged.

    Args:
        input: strings, of a known rank.
        input_encoding: any encoding that Python knows.
        errors: what to do about bytes that are no text: 'strict', 'replace' or 'ignore'.
        replacement_char: the code point that replaces them.
        replace_control_characters: whether characters below the space are treated so as well.
        name: the name scope.

    Raises:
        ValueError: the rank is not known, or there is no such way of treating errors.
    """
    with input_scope(name, "UnicodeDecode", [input]):
        (points,) = _decoded(input, input_encoding, errors, replacement_char, replace_control_characters, offsets=False)
        return points


def unicode_decode_with_offsets(
    input: ValuesLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _UNKNOWN,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Values, Values]:
    """As `unicode_decode`, and the numbers of the bytes at which the characters begin, as int64.

    Args: those of `tf.strings.unicode_decode`.

    Returns:
        The code points, and the numbers, two tensors of one shape.
    """
    with input_scope(name, "UnicodeDecodeWithOffsets", [input]):
        points, starts = _decoded(input, input_encoding, errors, replacement_char, replace_control_characters, offsets=True)
        return points, starts


def unicode_split(
    input: ValuesLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _UNKNOWN,
    name: str | None = None,
) -> Values:
    """The characters of texts, as strings in the same encoding: one dimension more, ragged.

    Args:
        input: strings, of a known rank.
        input_encoding: 'UTF-8', 'UTF-16-BE' or 'UTF-32-BE'.
        errors: what to do about bytes that are no text: 'strict', 'replace' or 'ignore'.
        replacement_char: the code point that replaces them.
    """
    with input_scope(name, "UnicodeSplit", [input]):
        (points,) = _decoded(input, input_encoding, errors, replacement_char, False, offsets=False)
        return _characters(points, input_encoding, errors, replacement_char)


def unicode_split_with_offsets(
    input: ValuesLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _UNKNOWN,
    name: str | None = None,
) -> tuple[Values, Values]:
    """As `unicode_split`, and the numbers of the bytes at which the characters begin, as int64.

    Args: those of `tf.strings.unicode_split`.

    Returns:
        The characters, and the numbers, two tensors of one shape.
    """
    with input_scope(name, "UnicodeSplitWithOffsets", [input]):
        points, starts = _decoded(input, input_encoding, errors, replacement_char, False, offsets=True)
        return _characters(points, input_encoding, errors, replacement_char), starts


def unicode_encode(
    input: ValuesLike,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = _UNKNOWN,
    name: str | None = None,
) -> Values:
    """The texts that rows of code points spell: one dimension less.

    Args:
        input: int32 code points `[..., points]`, dense or ragged.
        output_encoding: 'UTF-8', 'UTF-16-BE' or 'UTF-32-BE'.
        errors: what to do about numbers that are no code points: 'strict', 'replace' or 'ignore'.
        replacement_char: the code point that replaces them.
        name: the name scope.

    Raises:
        ValueError: the rank is not known or 0, or there is no such encoding.
    """
    with input_scope(name, "UnicodeEncode", [input]):
        return _encoded(convert_to_tensor_or_ragged_tensor(input), output_encoding, errors, replacement_char)


def _decoded(
    input: ValuesLike, encoding: str, errors: str, replacement: int, replaces_controls: bool, offsets: bool
) -> list[Values]:
    text = convert_to_tensor_or_ragged_tensor(input)
    if isinstance(text, RaggedTensor):
        flat = _decoded(text.flat_values, encoding, errors, replacement, replaces_controls, offsets)
        return [text.with_flat_values(each) for each in flat]
    rank = rank_of(text)
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank > 1:
        rows = RaggedTensor.from_tensor(text, ragged_rank=rank - 1)
        return _decoded(rows, encoding, errors, replacement, replaces_controls, offsets)
    node = unicode_decode_with_offsets_node if offsets else unicode_decode_node
    splits, *values = node(
        text if rank else reshape(text, [1]), input_encoding=encoding, errors=errors, replacement_char=replacement,
        replace_control_characters=replaces_controls,
    )  # fmt: skip
    return [RaggedTensor.from_row_splits(each, splits, validate=False) if rank else each for each in values]


def _characters(points: Values, encoding: str, errors: str, replacement: int) -> Values:
    if isinstance(points, RaggedTensor):
        return points.with_flat_values(_characters(points.flat_values, encoding, errors, replacement))
    return _encoded(expand_dims(points, -1), encoding, errors, replacement)


def _encoded(points: Values, encoding: str, errors: str, replacement: int) -> Values:
    if isinstance(points, RaggedTensor):
        if isinstance(points.values, RaggedTensor) or rank_of(points.values) != 1:
            return points.with_values(_encoded(points.values, encoding, errors, replacement))
        return _texts(points.flat_values, points.row_splits, encoding, errors, replacement)
    rank = rank_of(points)
    if rank is None:
        raise ValueError("Rank of input_tensor must be statically known.")
    if rank == 0:
        raise ValueError("input_tensor's rank must be at least 1.")
    if rank == 1:
        splits = stack([0, size(points, out_type=dtypes.int32)])
        return reshape(_texts(points, splits, encoding, errors, replacement), [])
    rows = RaggedTensor.from_tensor(reshape(points, [-1, _last(points)]))
    texts = reshape(_texts(rows.flat_values, rows.row_splits, encoding, errors, replacement), shape(points)[:-1])
    texts.set_shape(points.shape[:-1])
    return texts


def _last(tensor: Tensor) -> TensorLike:
    known = tensor.shape.as_list()[-1]
    return shape(tensor)[-1] if known is None else known


def _texts(points: Tensor, splits: Tensor, encoding: str, errors: str, replacement: int) -> Tensor:
    return convert_to_tensor(
        unicode_encode_node(points, splits, output_encoding=encoding, errors=errors, replacement_char=replacement)
    )
