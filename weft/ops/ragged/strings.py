"""Strings split into ragged rows."""

from __future__ import annotations

from typing import Literal, overload

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.shape_ops import reshape
from weft.ops.declaration import rank_of
from weft.ops.ragged.tensor import RaggedTensor, Values, ValuesLike, convert_to_tensor_or_ragged_tensor
from weft.ops.strings import parts


@overload
def string_split(
    source: TensorLike,
    sep: TensorLike | None = None,
    skip_empty: bool = True,
    delimiter: TensorLike | None = None,
    result_type: Literal["SparseTensor"] = "SparseTensor",
    name: str | None = None,
) -> SparseTensor: ...
@overload
def string_split(
    source: TensorLike,
    sep: TensorLike | None = None,
    skip_empty: bool = True,
    delimiter: TensorLike | None = None,
    *,
    result_type: Literal["RaggedTensor"],
    name: str | None = None,
) -> RaggedTensor: ...
def string_split(
    source: TensorLike,
    sep: TensorLike | None = None,
    skip_empty: bool = True,
    delimiter: TensorLike | None = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> SparseTensor | RaggedTensor:
    """The parts of each of a vector of strings, split at any character of `sep` (a space by default; '' splits into bytes).

    Args:
        source: `[n]` strings.
        sep, delimiter: the characters to split at; `delimiter` is the older name.
        skip_empty: whether empty parts are left out.
        result_type: 'SparseTensor' or 'RaggedTensor'.
        name: the node's name.

    Returns:
        A [count of lines, most words of one] SparseTensor of strings.

    >>> sess.run(tf.string_split(["a b"]).values)
    array([b'a', b'b'], dtype=object)
    """
    text = convert_to_tensor(source, dtypes.string)
    return _of_type(parts.string_split(text, sep, skip_empty, delimiter, name), result_type, text)


@overload
def strings_split(
    input: ValuesLike | None = None,
    sep: TensorLike | None = None,
    maxsplit: int = -1,
    result_type: Literal["SparseTensor"] = "SparseTensor",
    source: ValuesLike | None = None,
    name: str | None = None,
) -> SparseTensor: ...
@overload
def strings_split(
    input: ValuesLike | None = None,
    sep: TensorLike | None = None,
    maxsplit: int = -1,
    *,
    result_type: Literal["RaggedTensor"],
    source: ValuesLike | None = None,
    name: str | None = None,
) -> Values: ...
def strings_split(
    input: ValuesLike | None = None,
    sep: TensorLike | None = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: ValuesLike | None = None,
    name: str | None = None,
) -> SparseTensor | Values:
    """Split strings as Python's `str.split` does.

    Args:
        input, source: strings; for a sparse result a vector (a scalar counts as one).
        sep: what stands between the parts; whitespace if None or ''.
        maxsplit: how often to split at most; -1 for no limit.
        result_type: 'SparseTensor' or 'RaggedTensor'. The ragged result has one dimension more than `input`.
        name: the node's name.

    Raises:
        ValueError: there is no input, or no such type of result.
    """
    given = source if input is None else input
    if given is None:
        raise ValueError("Either `input` or `source` must be given.")
    text = convert_to_tensor_or_ragged_tensor(given, dtypes.string)
    if result_type != "RaggedTensor":
        if isinstance(text, RaggedTensor):
            raise ValueError("tf.strings.split of a ragged tensor needs result_type='RaggedTensor'")
        return _of_type(parts.strings_split(text, sep, maxsplit, name=name), result_type)
    return _split(text, sep, maxsplit, name)


def _split(text: Values, sep: TensorLike | None, maxsplit: int, name: str | None) -> Values:
    if isinstance(text, RaggedTensor):
        return text.with_values(_split(text.values, sep, maxsplit, name))
    rank = rank_of(text)
    if rank is None:
        raise ValueError("tf.strings.split: the rank of the input must be known for a ragged result")
    if rank > 1:
        return _split(RaggedTensor.from_tensor(text, ragged_rank=rank - 1), sep, maxsplit, name)
    rows = _rows(parts.strings_split(reshape(text, [-1]), sep, maxsplit, name=name), text)
    return rows if rank else _only_row(rows)


def _only_row(rows: RaggedTensor) -> Tensor:
    return convert_to_tensor(rows.flat_values)


def _rows(sparse: SparseTensor, text: Tensor) -> RaggedTensor:
    rows = RaggedTensor.from_sparse(sparse)
    if text.dims and text.dims[0] is not None:
        rows.row_splits.set_shape([text.dims[0] + 1])
    return rows


def _of_type(sparse: SparseTensor, result_type: str, text: Tensor | None = None) -> SparseTensor | RaggedTensor:
    if result_type.lower() == "sparsetensor":
        return sparse
    if result_type.lower() == "raggedtensor":
        return RaggedTensor.from_sparse(sparse) if text is None else _rows(sparse, text)
    raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


def bytes_split(input: ValuesLike, name: str | None = None) -> Values:
    """The bytes of strings, as strings of one: one dimension more, ragged.

    Args:
        input: strings of a known rank, perhaps ragged.

    Raises:
        ValueError: the rank is not known.
    """
    text = convert_to_tensor_or_ragged_tensor(input, dtypes.string)
    if isinstance(text, RaggedTensor):
        return text.with_flat_values(bytes_split(text.flat_values))
    rank = rank_of(text)
    if rank is None:
        raise ValueError("input must have a statically-known rank.")
    if rank > 1:
        return bytes_split(RaggedTensor.from_tensor(text, ragged_rank=rank - 1), name)
    rows = _rows(parts.string_split(reshape(text, [-1]), "", skip_empty=False, name=name), text)
    return rows if rank else _only_row(rows)
