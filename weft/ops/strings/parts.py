"""Splitting, joining and formatting of strings; all of it on the host."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain

import numpy as np

from weft.errors import InvalidArgumentError, OutOfRangeError
from weft.framework.building.aliases import Array, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import AtMost
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.framework.types.dtypes import DType
from weft.ops.array.padding import check_rank
from weft.ops.array.shape_ops import reshape
from weft.ops.declaration import not_differentiable, op, rank_of, scalar_shape
from weft.ops.dispatch import dispatchable
from weft.ops.input_scope import input_scope
from weft.ops.math.reduce_functions import keeps_dims
from weft.ops.strings.elementwise import invalid
from weft.ops.strings.value_text import summarize_ends


def _split_shapes(node: Operation) -> list[Dims]:
    return [(None, 2), (None,), (2,)]


def _as_sparse(rows: list[list[bytes]]) -> tuple[Array, Array, Array]:
    if len(rows) == 1:
        # A line alone, as in a dataset's map: five calls of NumPy instead of fifteen.
        (row,) = rows
        single = np.zeros((len(row), 2), np.int64)
        single[:, 1] = np.arange(len(row))
        return single, np.fromiter(row, np.object_, len(row)), np.array([1, len(row)], np.int64)
    counts = np.fromiter(map(len, rows), np.int64, len(rows))
    total = int(counts.sum())
    indices = np.empty((total, 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(rows)), counts)
    indices[:, 1] = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    values = np.fromiter(chain.from_iterable(rows), np.object_, total)
    return indices, values, np.array([len(rows), counts.max(initial=0)], np.int64)


def _split_at_any(texts: list[bytes], delimiters: bytes, skip_empty: bool) -> list[list[bytes]]:
    if not delimiters:
        return [[text[i : i + 1] for i in range(len(text))] for text in texts]
    at = delimiters[:1]
    if len(delimiters) > 1:
        table = bytes.maketrans(delimiters, at * len(delimiters))
        texts = [text.translate(table) for text in texts]
    rows = [text.split(at) for text in texts]
    return [[part for part in parts if part] if b"" in parts else parts for parts in rows] if skip_empty else rows


def _parts_of_vector(node: Operation) -> list[Dims]:
    check_rank(node.inputs[0], 1)
    return _split_shapes(node)


@op("StringSplit", "input: string, delimiter: string -> indices: int64, values: string, shape: int64",
    ranks={"delimiter": 0},
    infer=_parts_of_vector, gradient=not_differentiable)  # fmt: skip
def string_split_node(
    ctx: OpContext, input: Array, delimiter: Array, *, skip_empty: bool = True
) -> tuple[Result, Result, Result]:
    """The parts of each string between any of the delimiter's characters, as a sparse matrix.

    `[n], scalar -> [k, 2], [k], [2]`.
    """
    if input.ndim != 1:
        raise invalid(f"input must be a vector, got shape: {list(input.shape)}")
    return _as_sparse(_split_at_any(input.tolist(), delimiter.item(), skip_empty))


@op("StringSplitV2", "input: string, sep: string -> indices: int64, values: string, shape: int64",
    ranks={"input": 1, "sep": 0},
    infer=_split_shapes, gradient=None)  # fmt: skip
def string_split_v2_node(ctx: OpContext, input: Array, sep: Array, *, maxsplit: int = -1) -> tuple[Result, Result, Result]:
    """The parts of each string nearly as Python's `split` gives them, as a sparse matrix.

    `[n], scalar -> [k, 2], [k], [2]`.
    """
    if input.ndim != 1:
        raise invalid(f"input must be a vector, got shape: {list(input.shape)}")
    if not maxsplit:
        return _as_sparse([[text] for text in input.tolist()])
    rows = [text.split(sep.item() or None, maxsplit) for text in input.tolist()]
    if maxsplit > 0 and not sep.item():
        # TensorFlow gives what is left behind the last split at white space even if nothing is.
        rows = [[*row, b""] if len(row) == maxsplit else row for row in rows]
    return _as_sparse(rows)


def string_split(
    source: TensorLike,
    sep: TensorLike | None = None,
    skip_empty: bool = True,
    delimiter: TensorLike | None = None,
    name: str | None = None,
) -> SparseTensor:
    """Split each of a vector of strings at any character of `sep` (a space by default; '' splits into bytes).

    Args:
        source: `[n]` strings.
        sep, delimiter: the characters to split at; `delimiter` is the older name.
        skip_empty: whether empty parts are left out.
        name: the node's name.
    """
    between = delimiter if sep is None else sep
    with input_scope(name, "StringSplit", (source,)):
        text = convert_to_tensor(source, dtypes.string)
        separators = convert_to_tensor(" " if between is None else between, dtypes.string)
        return _sparse_of(string_split_node(text, separators, skip_empty=skip_empty))


def _sparse_of(parts: tuple[Tensor, Tensor, Tensor]) -> SparseTensor:
    indices, values, shape = parts
    indices.set_shape([None, 2])
    values.set_shape([None])
    shape.set_shape([2])
    return SparseTensor(indices, values, shape)


def strings_split(
    input: TensorLike, sep: TensorLike | None = None, maxsplit: int = -1, name: str | None = None
) -> SparseTensor:
    """Split strings as Python's `str.split` does; a scalar counts as a vector of one."""
    with input_scope(name, "StringSplit", (input,)):
        text = convert_to_tensor(input, dtypes.string, name="input")
        if rank_of(text) == 0:
            text = reshape(text, [1])
        separator = convert_to_tensor("" if sep is None else sep, dtypes.string)
        return _sparse_of(string_split_v2_node(text, separator, maxsplit=maxsplit))


def _joined_shape(node: Operation) -> list[Dims]:
    dims: Dims = ()
    for tensor in node.inputs:
        if tensor.dims != ():
            dims = merge_dims(dims, tensor.dims) if dims != () else tensor.dims
    return [dims]


@op("StringJoin", "inputs: N*string -> output: string", infer=_joined_shape, gradient=not_differentiable, limits={"N": 0})
def string_join_node(ctx: OpContext, inputs: list[Array], *, N: int, separator: str = "") -> Result:
    """The strings at each position of all inputs, joined; scalars go with each.

    `N*[...] -> [...]`.
    """
    if not inputs:
        return np.array(b"", object)
    shape = next((part.shape for part in inputs if part.ndim), ())
    for part in inputs:
        if part.ndim and part.shape != shape:
            raise invalid(f"Input shapes do not match: {list(shape)} vs. {list(part.shape)}")
    columns = [np.broadcast_to(part, shape).ravel().tolist() for part in inputs]
    result = np.empty(len(columns[0]), object)
    result[:] = [separator.encode().join(row) for row in zip(*columns, strict=True)]
    return result.reshape(shape)


@dispatchable
def string_join(inputs: Sequence[TensorLike], separator: str = "", name: str | None = None) -> Tensor:
    """Join the strings of several tensors, element by element.

    Args:
        inputs: a list of tensors of strings, of one shape or scalars.
        separator: what stands between two strings.

    Returns:
        A tensor of strings.
    """
    return string_join_node(inputs, N=len(inputs), separator=separator, name=name)


def _reduced_shape(node: Operation) -> list[Dims]:
    dims, axes = node.inputs[0].dims, constant_value(node.inputs[1])
    if dims is None or axes is None:
        return [None if dims is None or not node.attrs["keep_dims"] else (None,) * len(dims)]
    gone = set()
    for axis in np.ravel(axes).tolist():
        if not -len(dims) <= axis < len(dims):
            raise ValueError(f"Invalid reduction dimension {axis} for input with {len(dims)} dimension(s)")
        gone.add(axis % len(dims))
    if node.attrs["keep_dims"]:
        return [tuple(1 if axis in gone else size for axis, size in enumerate(dims))]
    return [tuple(size for axis, size in enumerate(dims) if axis not in gone)]


@op(
    "ReduceJoin",
    "inputs: string, reduction_indices: int32 -> output: string",
    ranks={"reduction_indices": AtMost(1)},
    infer=_reduced_shape,
    gradient=not_differentiable,
)
def reduce_join_node(
    ctx: OpContext, inputs: Array, reduction_indices: Array, *, keep_dims: bool = False, separator: str = ""
) -> Result:
    """The strings along some dimensions joined: first along the dimension listed first.

    `[...], [k] -> [*rest]`.
    """
    for axis in np.ravel(reduction_indices).tolist():
        if not -inputs.ndim <= axis < inputs.ndim:
            raise OutOfRangeError.of(f"Invalid reduction dimension {axis} for input with {inputs.ndim} dimension(s)")
    axes = [axis % max(inputs.ndim, 1) for axis in np.ravel(reduction_indices).tolist()]
    if len(set(axes)) < len(axes):
        twice = next(axis for axis in axes if axes.count(axis) > 1)
        raise InvalidArgumentError.of(f"Duplicate reduction dimension {twice}")
    if not axes:
        return inputs
    rest = [axis for axis in range(inputs.ndim) if axis not in axes]
    moved = inputs.transpose([*rest, *reversed(axes)])
    shape = moved.shape[: len(rest)]
    rows = moved.reshape(math.prod(shape), math.prod(moved.shape[len(rest) :]))
    result = np.empty(len(rows), object)
    result[:] = [separator.encode().join(row) for row in rows.tolist()]
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(inputs.shape)) if keep_dims else shape
    return result.reshape(kept)


@dispatchable
def reduce_join(
    inputs: TensorLike,
    axis: TensorLike | None = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keepdims: bool | None = None,
) -> Tensor:
    """Join the strings along `axis`, or all of them (the last dimension fastest) when it is None.

    Args:
        inputs: [...] tensor of strings.
        axis, reduction_indices: two names of the dimensions to join along, a number or a list, in their order.
        keep_dims, keepdims: two names of whether they stay, with size 1.
        separator: what stands between two strings.

    Returns:
        A tensor of strings.

    Raises:
        ValueError: `axis` is left out and the rank is not known.
    """
    with input_scope(None, "ReduceJoin", (inputs,)):
        text = convert_to_tensor(inputs, dtypes.string, name="inputs")
        wanted = reduction_indices if axis is None else axis
        if wanted is None:
            count = rank_of(text)
            if count is None:
                raise ValueError("reduce_join without axis: the rank of the input must be known")
            wanted = convert_to_tensor(np.arange(count - 1, -1, -1, dtype=np.int32))
        return reduce_join_node(text, wanted, keep_dims=keeps_dims(keepdims, keep_dims), separator=separator, name=name)


@op("StringFormat", "inputs: [T] -> output: string", infer=scalar_shape, gradient=None, limits={"T": 0})
def string_format_node(
    ctx: OpContext, inputs: list[Array], *, T: list[DType], template: str = "%s", placeholder: str = "%s", summarize: int = 3
) -> Result:
    """The template with each placeholder replaced by the next tensor's text: `T*[...] -> scalar`."""
    pieces = template.split(placeholder)
    texts = [summarize_ends(value, summarize) for value in inputs]
    filled = "".join(piece + text for piece, text in zip(pieces, [*texts, ""], strict=True))
    return np.array(filled.encode(), object)


def string_format(
    template: str, inputs: TensorLike, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Tensor:
    """Fill tensors into a template; of each dimension the first and last `summarize` entries are shown (-1: all).

    Args:
        template: the text, with a placeholder for each tensor.
        inputs: a tensor or a list of them, of any shapes and dtypes.
        placeholder: what stands for a tensor.
        summarize: how many entries to show at either end.

    Returns:
        [] string.

    Raises:
        ValueError: there are not as many placeholders as tensors.
    """
    values = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    expected = template.count(placeholder)
    if expected != len(values):
        raise ValueError(
            f"The template expects {expected} tensors, but the inputs only has {len(values)}. Please ensure the number "
            "of placeholders in template matches inputs length."
        )
    return string_format_node(values, template=template, placeholder=placeholder, summarize=summarize, name=name)
