"""Ragged tensors as variants: what TensorFlow's datasets and maps carry them in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Gradients, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.array.shape_ops import shape_internal
from weft.ops.declaration import op
from weft.ops.held_objects import Held, handle_of

_SPLITS: Final = {"Tsplits": (dtypes.int32, dtypes.int64)}
_INT64: Final = {"Tsplits": dtypes.int64}


class _RaggedValue(Held):
    """A ragged tensor: the ends of the rows of each level, from the outermost on, and the values."""

    __slots__ = ("splits", "values")

    def __init__(self, splits: Sequence[Array], values: Array) -> None:
        self.splits = list(splits)
        self.values = values

    def __add__(self, other: object) -> Held:
        """The sum of two of one form, as gradients make it."""
        if not isinstance(other, _RaggedValue) or other.values.shape != self.values.shape:
            raise InvalidArgumentError.of("ragged tensors of different forms cannot be added")
        return _RaggedValue(self.splits, self.values + other.values)

    def zeros(self) -> Held:
        """One of zeros in the same form."""
        return _RaggedValue(self.splits, np.zeros_like(self.values))


def _variant_shape(node: Operation) -> list[Dims]:
    if not node.attrs["batched_input"]:
        return [()]
    rank, splits, values = node.attrs["RAGGED_RANK"], node.inputs[0], node.inputs[-1]
    dims = (splits if rank else values).dims
    size = None if dims is None else dims[0]
    return [(None if size is None else size - 1 if rank else size,)]


def _rows(splits: Sequence[Array], values: Array) -> list[_RaggedValue]:
    """Each row of the outermost level as a value of its own."""
    if not splits:
        return [_RaggedValue([], row) for row in values]
    made = []
    for begin, end in zip(splits[0][:-1], splits[0][1:], strict=True):
        inner, (first, last) = [], (int(begin), int(end))
        for level in splits[1:]:
            part = level[first : last + 1]
            inner.append(part - part[0])
            first, last = int(part[0]), int(part[-1])
        made.append(_RaggedValue(inner, values[first:last]))
    return made


def _to_variant_gradient(node: Operation, grad: Tensor) -> Gradients:
    count, values = node.attrs["RAGGED_RANK"], node.inputs[-1]
    first = node.inputs[0] if count else shape_internal(values)[:0]
    made = ragged_tensor_to_variant_gradient(grad, first, shape_internal(values), Tvalues=values.dtype)
    return [*[None] * count, made]


@op("RaggedTensorToVariant", "rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: Tvalues -> encoded_ragged: variant",
    infer=_variant_shape, gradient=_to_variant_gradient, types=_SPLITS, defaults=_INT64, limits={"RAGGED_RANK": 0})  # fmt: skip
def ragged_tensor_to_variant(
    ctx: OpContext, rt_nested_splits: Sequence[Array], rt_dense_values: Array, *, batched_input: bool
) -> Result:
    """A ragged tensor as one variant, or its rows as one each: `n*[m], [k, *inner] -> [...] variant`."""
    if not batched_input:
        return handle_of(_RaggedValue(rt_nested_splits, rt_dense_values))
    rows = _rows(rt_nested_splits, rt_dense_values)
    made = np.empty(len(rows), np.object_)
    for place, row in enumerate(rows):
        made[place] = row
    return made


def _from_variant_shapes(node: Operation) -> list[Dims]:
    return [*[(None,)] * node.attrs["output_ragged_rank"], None]


def _joined(found: Sequence[_RaggedValue], shape: tuple[int, ...], kind: type, values_kind: type) -> list[Array]:
    """Ragged tensors as the rows of one that has a level more for each dimension that they come in."""
    levels = [np.arange(0, int(np.prod(shape[: axis + 1])) * size + 1, size) if size else np.zeros(
        int(np.prod(shape[: axis + 1])) + 1, kind) for axis, size in enumerate(shape[1:])]  # fmt: skip
    inner = len(found[0].splits) if found else 0
    rows = [len(each.splits[0]) - 1 if each.splits else len(each.values) for each in found]
    levels.append(np.cumsum([0, *rows]))
    for level in range(inner):
        parts: list[Array] = [np.zeros(1, kind)]
        begin = 0
        for each in found:
            parts.append(each.splits[level][1:] + begin)
            begin += int(each.splits[level][-1])
        levels.append(np.concatenate(parts))
    values = np.concatenate([each.values for each in found]) if found else np.zeros(0, values_kind)
    return [*(level.astype(kind) for level in levels), values]


@op("RaggedTensorFromVariant",
    "encoded_ragged: variant -> output_nested_splits: output_ragged_rank*Tsplits, output_dense_values: Tvalues",
    infer=_from_variant_shapes, gradient=None, types=_SPLITS, defaults=_INT64,
    limits={"input_ragged_rank": -1, "output_ragged_rank": 0})  # fmt: skip
def ragged_tensor_from_variant(
    ctx: OpContext, encoded_ragged: Array, *, input_ragged_rank: int, output_ragged_rank: int, Tvalues: DType, Tsplits: DType
) -> Array:
    """The ragged tensor of a variant, or one whose rows are those of variants: `[...] variant -> n*[m], [k, *inner]`."""
    found = np.ravel(encoded_ragged).tolist()
    for each in found:
        if not isinstance(each, _RaggedValue):
            raise InvalidArgumentError.of(
                f"Input Variant element at index {found.index(each)} doesn't hold a RaggedTensorVariant: {type(each).__name__}"
            )
        if input_ragged_rank >= 0 and len(each.splits) != input_ragged_rank:
            raise InvalidArgumentError.of(f"Encoded input RaggedTensorVariant has ragged_rank={len(each.splits)}. "
                                          f"Expected ragged_rank={input_ragged_rank}.")  # fmt: skip
        if each.values.dtype != np.dtype(Tvalues.as_numpy_dtype):
            raise InvalidArgumentError.of(f"Expected values Tensor dtype: {Tvalues.name}, found: {each.values.dtype}")
    kind = Tsplits.as_numpy_dtype
    if encoded_ragged.ndim == 0:
        made = [*(splits.astype(kind) for splits in found[0].splits), found[0].values]
    else:
        made = _joined(found, encoded_ragged.shape, kind, Tvalues.as_numpy_dtype)
    if len(made) != output_ragged_rank + 1:
        raise InvalidArgumentError.of(f"the variants give a ragged rank of {len(made) - 1}, expected {output_ragged_rank}")
    return tuple(made)


@op("RaggedTensorToVariantGradient",
    "encoded_ragged_grad: variant, row_splits: Tsplits, dense_values_shape: int32 -> dense_values_grad: Tvalues",
    ranks={"dense_values_shape": 1}, infer=lambda node: [None], gradient=None, types=_SPLITS, defaults=_INT64)  # fmt: skip
def ragged_tensor_to_variant_gradient(
    ctx: OpContext, encoded_ragged_grad: Array, row_splits: Array, dense_values_shape: Array, *, Tvalues: DType
) -> Result:
    """The gradient of RaggedTensorToVariant for the values: `[...] variant, [m], [rank] -> [k, *inner]`."""
    shape = tuple(int(size) for size in dense_values_shape)
    parts = [each.values for each in np.ravel(encoded_ragged_grad).tolist() if isinstance(each, _RaggedValue)]
    if not parts:
        return np.zeros(shape, Tvalues.as_numpy_dtype)
    joined = np.concatenate([part.reshape(-1) for part in parts])
    if joined.size != int(np.prod(shape)):
        raise InvalidArgumentError.of(f"the gradients have {joined.size} values, the tensor's shape is {list(shape)}")
    return joined.reshape(shape)
