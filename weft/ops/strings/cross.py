"""Crosses of features: for each example all combinations of its elements of several tensors, as texts or as hashes.

The hash is TensorFlow's to the last bit: models that cross features keep it in the rows of their tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import not_differentiable, op
from weft.ops.math.casting import cast
from weft.ops.strings.hash import fingerprints

_HASH_KEY: Final = 0xDECAFCAFFE
_MUL: Final = np.uint64(0xC6A4A7935BD1E995)
_HALF: Final = np.uint64(47)
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7800)
_TYPES: Final = (dtypes.int64, dtypes.string)
_Combine: TypeAlias = Callable[[Array, Array], Array]


def _cross_shapes(node: Operation) -> list[Dims]:
    return [(None, 2), (None,), (2,)]


@op("SparseCross", "indices: N*int64, values: [sparse_types], shapes: N*int64, dense_inputs: [dense_types] -> "
    "output_indices: int64, output_values: out_type, output_shape: int64", infer=_cross_shapes, gradient=not_differentiable,
    types={"sparse_types": _TYPES, "dense_types": _TYPES, "out_type": _TYPES, "internal_type": _TYPES},
    limits={"N": 0, "num_buckets": 0})  # fmt: skip
def sparse_cross_node(
    ctx: OpContext, indices: Array, values: Array, shapes: Array, dense_inputs: Array, *, hashed_output: bool,
    num_buckets: int, hash_key: int, out_type: DType, internal_type: DType,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """The combinations of each row's elements, the last feature's fastest; sparse features are before dense ones.

    `n*[k, 2] int64, n*[k], n*[2] int64, m*[batch, width] -> [total, 2] int64, [total], [2] int64`
    """
    return _crosses(indices, values, shapes, dense_inputs, hashed_output, num_buckets, hash_key, _fingerprint_cat)


@op("SparseFeatureCross", "indices: N*int64, values: [sparse_types], shapes: N*int64, dense: [dense_types] -> "
    "output_indices: int64, output_values: out_type, output_shape: int64", infer=_cross_shapes, gradient=not_differentiable,
    types={"sparse_types": _TYPES, "dense_types": _TYPES, "out_type": _TYPES, "internal_type": _TYPES})  # fmt: skip
def sparse_feature_cross_node(
    ctx: OpContext, indices: Array, values: Array, shapes: Array, dense: Array, *, hashed_output: bool, num_buckets: int,
    out_type: DType, internal_type: DType,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """The combinations of SparseCross by an older hash: what contrib's columns without a hash key use.

    `n*[k, 2] int64, n*[k], n*[2] int64, m*[batch, width] -> [total, 2] int64, [total], [2] int64`
    """
    return _crosses(indices, values, shapes, dense, hashed_output, num_buckets, _HASH_KEY, _hash_combine)


def _crosses(
    indices: Array, values: Array, shapes: Array, dense: Array, hashed: bool, buckets: int, hash_key: int, combine: _Combine
) -> tuple[Result, Result, Result]:
    def combined(flat: Sequence[Array], chosen: Sequence[Array]) -> Array:
        return _hashed(flat, chosen, buckets, hash_key, combine) if hashed else _joined(flat, chosen, b"_X_")

    return _made(indices, values, shapes, dense, combined)


def crossed_texts(indices: Array, values: Array, shapes: Array, dense: Array, separator: bytes) -> tuple[Array, Array, Array]:
    """The combinations of features as texts with a separator between: indices, values and shape of a sparse matrix."""
    return _made(indices, values, shapes, dense, lambda flat, chosen: _joined(flat, chosen, separator))


def _made(
    indices: Array, values: Array, shapes: Array, dense: Array,
    combined: Callable[[Sequence[Array], Sequence[Array]], Array],
) -> tuple[Array, Array, Array]:  # fmt: skip
    _check_features(indices, values, shapes, dense)
    batch = _batch_size(shapes, dense)
    features = [*zip(indices, values, strict=True), *((None, each) for each in dense)]
    flat = [np.ravel(values) for _, values in features]
    row, chosen = _combinations([_counts(rows, values, batch) for rows, values in features])
    made = combined(flat, chosen)
    per_row = np.bincount(row, minlength=batch)
    places = np.arange(len(row)) - np.repeat(np.cumsum(per_row) - per_row, per_row)
    widest = int(per_row.max()) if batch else 0
    return np.stack([row, places], 1).astype(np.int64), made, np.array([batch, widest], np.int64)


def _check_features(indices: Array, values: Array, shapes: Array, dense: Array) -> None:
    for at, (rows, held, shape) in enumerate(zip(indices, values, shapes, strict=True)):
        if rows.ndim != 2:
            raise _misfit(f"Input indices should be a matrix but received shape {list(rows.shape)}", at)
        if held.ndim != 1:
            raise _misfit(f"Input values should be a vector but received shape {list(held.shape)}", at)
        if rows.shape[1] != 2:
            raise _misfit(f"Expected D2 of index to be 2 got {rows.shape[1]}", at)
        if len(rows) != len(held):
            raise _misfit(f"Expected size of values to be {len(rows)} got {len(held)}", at)
        if shape.shape != (2,):
            raise _misfit(f"Input shapes should be of size 2 but received shape {list(shape.shape)}", at)
    for at, each in enumerate(dense):
        if each.ndim != 2:
            raise _misfit(f"Dense inputs should be a matrix but received shape {list(each.shape)}", at)


def _misfit(text: str, at: int) -> InvalidArgumentError:
    return InvalidArgumentError.of(f"{text} at position {at}")


def _batch_size(shapes: Array, dense: Array) -> int:
    sizes = [int(shape[0]) for shape in shapes] + [len(each) for each in dense]
    for place, size in enumerate(sizes):
        if size != sizes[0]:
            kind, number = ("dense tensor", place - len(shapes)) if place >= len(shapes) else ("sparse tensor", place)
            raise InvalidArgumentError.of(f"Expected batch size {sizes[0]} got {size} for {kind} at position {number}")
    return sizes[0]


def _counts(rows: Array, values: Array, batch: int) -> Array:
    """How many elements each row of a feature has."""
    if rows is None:
        return np.full(batch, np.shape(values)[1], np.int64)
    return np.bincount(rows[:, 0], minlength=batch)


def _combinations(counts: Sequence[Array]) -> tuple[Array, list[Array]]:
    """The row of each combination, and for each feature the position of the element that is in it."""
    per_row = np.prod(np.stack(counts), 0, dtype=np.int64)
    row = np.repeat(np.arange(len(per_row)), per_row)
    rest = np.arange(len(row)) - np.repeat(np.cumsum(per_row) - per_row, per_row)
    chosen = []
    for count in reversed(counts):
        rest, inside = np.divmod(rest, count[row])
        chosen.append((np.cumsum(count) - count)[row] + inside)
    return row, chosen[::-1]


def _hashed(features: Sequence[Array], chosen: Sequence[Array], buckets: int, hash_key: int, combine: _Combine) -> Array:
    combined = np.full(len(chosen[0]), hash_key & (1 << 64) - 1, np.uint64)
    for values, places in zip(features, chosen, strict=True):
        combined = combine(combined, _fingerprints(values)[places])
    # Without buckets the numbers stay positive.
    return (combined % np.uint64(buckets or np.iinfo(np.int64).max)).astype(np.int64)


def _fingerprints(values: Array) -> Array:
    if values.dtype != object:
        return values.astype(np.int64).view(np.uint64)
    return fingerprints(values.tolist())


def _fingerprint_cat(first: Array, second: Array) -> Array:
    """FarmHash's fingerprint of two fingerprints: wrapping 64-bit arithmetic."""
    mixed = first ^ _MUL ^ (_shift_mix(second * _MUL) * _MUL)
    return _shift_mix(_shift_mix(mixed * _MUL) * _MUL)


def _hash_combine(first: Array, second: Array) -> Array:
    """The older way to make one hash of two. It shifts to the right with the sign, and is without it otherwise."""
    right = (first.view(np.int64) >> np.int64(4)).view(np.uint64)
    return first ^ (second + _GOLDEN + (first << np.uint64(10)) + right)


def _shift_mix(value: Array) -> Array:
    return value ^ (value >> _HALF)


def _joined(features: Sequence[Array], chosen: Sequence[Array], separator: bytes) -> Array:
    texts = [[_text(each) for each in values.tolist()] for values in features]
    result = np.empty(len(chosen[0]), object)
    for number, places in enumerate(zip(*chosen, strict=True)):
        result[number] = separator.join(text[place] for text, place in zip(texts, places, strict=True))
    return result


def _text(value: bytes | int) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def sparse_cross(inputs: list[Tensor | SparseTensor], name: str | None = None) -> SparseTensor:
    """The crosses of features, `[batch, ...]` string: the elements' texts joined by `_X_`.

    Args:
        inputs: a list of tensors and SparseTensors, [batch, n_i] each, of strings or integers.
    """
    return _cross(inputs, False, 0, None, name)


def sparse_cross_hashed(
    inputs: list[Tensor | SparseTensor], num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """The crosses of features, `[batch, ...]` int64: the elements' fingerprints combined.

    Args:
        inputs: matrices, sparse or dense, of strings or integers, whose rows are examples.
        num_buckets: the number that hashes are taken modulo; they stay as they are for zero.
        hash_key: the number that the hash begins with.
        name: the op's name.

    Raises:
        TypeError: the inputs are no list, or not of tensors.
    """
    return _cross(inputs, True, num_buckets, hash_key, name)


def sparse_feature_cross(
    inputs: list[Tensor | SparseTensor],
    hashed_output: bool = False,
    num_buckets: int = 0,
    name: str | None = None,
    hash_key: int | None = None,
) -> SparseTensor:
    """The crosses of contrib's columns: those of `sparse_cross_hashed` with a hash key, by an older hash without one."""
    if hash_key:
        return _cross(inputs, hashed_output, num_buckets, hash_key, name)
    indices, values, shapes, dense, internal = _parts(inputs)
    made = sparse_feature_cross_node(
        indices, values, shapes, dense, hashed_output=hashed_output, num_buckets=num_buckets,
        out_type=dtypes.int64 if hashed_output else dtypes.string, internal_type=internal, name=name,
    )  # fmt: skip
    return SparseTensor(*made)


def _cross(
    inputs: list[Tensor | SparseTensor], hashed: bool, buckets: int, hash_key: int | None, name: str | None
) -> SparseTensor:
    indices, values, shapes, dense, internal = _parts(inputs)
    made = sparse_cross_node(
        indices, values, shapes, dense, hashed_output=hashed, num_buckets=buckets,
        hash_key=_HASH_KEY if hash_key is None else hash_key, out_type=dtypes.int64 if hashed else dtypes.string,
        internal_type=internal, name=name,
    )  # fmt: skip
    return SparseTensor(*made)


def _parts(
    inputs: list[Tensor | SparseTensor],
) -> tuple[list[Tensor], list[Tensor], list[Tensor], list[Tensor], DType]:
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(each, Tensor | SparseTensor) for each in inputs):
        raise TypeError("All inputs must be SparseTensors")
    sparse = [each for each in inputs if isinstance(each, SparseTensor)]
    values = _hashable(each.values for each in sparse)
    dense = _hashable(each for each in inputs if isinstance(each, Tensor))
    is_text = all(each.dtype.base_dtype is dtypes.string for each in (*values, *dense))
    internal = dtypes.string if is_text else dtypes.int64
    return [each.indices for each in sparse], values, [each.dense_shape for each in sparse], dense, internal


def _hashable(tensors: Iterable[Tensor]) -> list[Tensor]:
    return [each if each.dtype.base_dtype is dtypes.string else cast(each, dtypes.int64) for each in tensors]
