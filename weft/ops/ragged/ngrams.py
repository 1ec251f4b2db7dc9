"""N-grams of the strings in rows."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.shape_ops import size
from weft.ops.array.stacking import stack
from weft.ops.declaration import rank_of
from weft.ops.input_scope import input_scope
from weft.ops.ragged.tensor import RaggedTensor, Values, ValuesLike, convert_to_tensor_or_ragged_tensor
from weft.ops.strings.ngrams import string_ngrams_node
from weft.platform.text import as_text


def ngrams(
    data: ValuesLike,
    ngram_width: int | Sequence[int],
    separator: str = " ",
    pad_values: str | bytes | tuple[str | bytes, str | bytes] | None = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Values:
    """Each run of `ngram_width` neighbours in the innermost dimension, joined.

    Args:
        data: strings `[..., n]`, dense or ragged.
        ngram_width: the width, or several; the n-grams of each row are then ordered by width.
        separator: what stands between two strings.
        pad_values: what a row is padded with at its ends: one string, or one for each end; None for no padding.
        padding_width: by how many; for each width as many as it has use for if None, and never more.
        preserve_short_sequences: whether a row without any n-gram becomes one.
        name: the name scope.

    Returns:
        The n-grams, ragged where `data` is ragged; rows of a dense tensor are filled up with ''.

    Raises:
        TypeError: the pads are no strings.
        ValueError: a width is not positive, or the rank of `data` is not known or 0.
    """
    with input_scope(name, "StringNGrams", [data]):
        widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
        if any(width < 1 for width in widths):
            raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
        left, right = _pads(pad_values)
        width = _padding_width(padding_width, pad_values is not None)
        text = convert_to_tensor_or_ragged_tensor(data, dtypes.string)
        rank = text.shape.ndims
        if rank is None:
            raise ValueError("Rank of data must be known.")
        if rank == 0:
            raise ValueError("Data must have rank>0")
        return _of(text, rank, (separator, widths, left, right, width, preserve_short_sequences))


def _pads(values: object) -> tuple[str, str]:
    if values is None:
        return "", ""
    if isinstance(values, str | bytes):
        return as_text(values), as_text(values)
    if not isinstance(values, list | tuple) or not all(isinstance(each, str | bytes) for each in values):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    if len(values) != 2:
        raise ValueError("pad_values must be a 2-tuple of strings.")
    left, right = map(as_text, values)
    return left, right


def _padding_width(width: int | None, pads: bool) -> int:
    if width is None:
        return -1 if pads else 0
    if not pads:
        raise ValueError("pad_values must be provided if padding_width is set.")
    if width < 1:
        raise ValueError("padding_width must be greater than 0.")
    return width


def _of(text: Values, rank: int, how: tuple[str, list[int], str, str, int, bool]) -> Values:
    if isinstance(text, RaggedTensor):
        return _in_rows(text, rank, how)
    if rank > 1:
        return _in_rows(RaggedTensor.from_tensor(text, ragged_rank=rank - 1), rank, how).to_tensor()
    found, _ = _node(text, stack([0, size(text, out_type=dtypes.int32)]), how)
    return found


def _in_rows(text: RaggedTensor, rank: int, how: tuple[str, list[int], str, str, int, bool]) -> RaggedTensor:
    values = text.values
    if not isinstance(values, RaggedTensor):
        if rank_of(values) == 1:
            found, splits = _node(values, text.row_splits, how)
            return RaggedTensor.from_row_splits(found, splits, validate=False)
        values = RaggedTensor.from_tensor(values, ragged_rank=rank - 2)
    return text.with_values(_in_rows(values, rank - 1, how))


def _node(text: Tensor, splits: Tensor, how: tuple[str, list[int], str, str, int, bool]) -> tuple[Tensor, Tensor]:
    separator, widths, left, right, width, preserves = how
    return string_ngrams_node(
        text, splits, separator=separator, ngram_widths=widths, left_pad=left, right_pad=right, pad_width=width,
        preserve_short_sequences=preserves,
    )  # fmt: skip
