"""Pooling whose windows are of two sizes in random order, so that ratios of sizes need not be whole (Graham 2015)."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Gradients, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.constant_value import constant_shape
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, brackets
from weft.ops.array.shape_ops import shape
from weft.ops.declaration import op
from weft.ops.nn.window import check_rank
from weft.ops.random.seed import get_seed
from weft.ops.random.words import WORDS_OF_BLOCK, Words

_SIGNATURE: Final = "value: T -> output: T, row_pooling_sequence: int64, col_pooling_sequence: int64"
_TYPES: Final = {"T": (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)}

_LIMITS: Final = {"pooling_ratio": 4}


class FractionalPool(NamedTuple):
    """Pooled images `[batch, rows, columns, channels]`, and where their windows begin and the last one ends.

    `row_pooling_sequence` is `[rows + 1] int64`, `col_pooling_sequence` `[columns + 1] int64`.
    """

    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor


def _count(size: int, ratio: float) -> int:
    return int(np.floor(np.float32(size) / np.float32(ratio)))


def _check_ratios(ratios: Sequence[float], seed: int, seed2: int, deterministic: bool) -> None:
    if ratios[0] != 1 or ratios[3] != 1 or len(ratios) != 4:
        raise ValueError(f"Fractional pooling is not yet supported on the batch nor channel dimension: {list(ratios)}")
    if min(ratios) < 1:
        raise ValueError(f"pooling_ratio cannot be smaller than 1, got: {min(ratios)} in {list(ratios)}")
    if (seed or seed2) and not deterministic:
        raise ValueError(f"Both seed and seed2 should be 0 if deterministic is false, but they are {seed} and {seed2}")


def _pooled_shapes(node: Operation) -> list[Dims]:
    attrs = node.attrs
    _check_ratios(attrs["pooling_ratio"], attrs["seed"], attrs["seed2"], attrs["deterministic"])
    dims = node.inputs[0].dims
    if dims is None:
        return [(None,) * 4, (None,), (None,)]
    if len(dims) != 4:
        raise ValueError(f"Shape must be rank 4 but is rank {len(dims)}")
    counts = [None if size is None else _count(size, ratio) for size, ratio in zip(dims, attrs["pooling_ratio"], strict=True)]
    for size, count, ratio in zip(dims, counts, attrs["pooling_ratio"], strict=True):
        if size and not count:
            raise ValueError(f"pooling_ratio {ratio} leaves nothing of a dimension of size {size}")
    rows, columns = (None if each is None else each + 1 for each in counts[1:3])
    return [tuple(counts), (rows,), (columns,)]


def _places(size: int, count: int, words: Words, is_pseudo: bool) -> tuple[Array, int]:
    """Where the windows of a dimension begin, and the last one ends; how many blocks of the stream that took."""
    if size % count == 0:
        return np.arange(0, size + 1, size // count), 0
    if is_pseudo:
        ratio, least = size / count, size // count
        limit = min((least + 2) / ratio - 1, (size + 1 - least) / ratio - (count - 1))
        begin = float(words.doubles(1)[0]) * limit
        inner = np.ceil(ratio * (np.arange(1, count) + begin)).astype(np.int64) - 1
        return np.concatenate([[0], inner, [size]]), 1
    lengths = np.full(count, size // count, np.int64)
    lengths[: size % count] += 1
    for place, word in enumerate(words.take(count)[: count - 1]):
        other = place + int(word) % (count - place)
        lengths[[place, other]] = lengths[[other, place]]
    return np.concatenate([[0], np.cumsum(lengths)]), -(-count // WORDS_OF_BLOCK)


def _both_places(value: Array, ratios: Sequence[float], is_pseudo: bool, seed: int, seed2: int) -> tuple[Array, Array]:
    if seed == 0 and seed2 == 0:
        seed, seed2 = secrets.randbits(64), secrets.randbits(64)
    sizes = value.shape[1:3]
    counts = [_count(size, ratio) for size, ratio in zip(sizes, ratios[1:3], strict=True)]
    if 0 in counts:
        raise InvalidArgumentError.of(f"pooling_ratio {list(ratios)} leaves nothing of {sizes[0]} x {sizes[1]} pixels")
    rows, used = _places(sizes[0], counts[0], Words.of_seeds(seed, seed2, 0), is_pseudo)
    columns, _ = _places(sizes[1], counts[1], Words.of_seeds(seed, seed2, used), is_pseudo)
    return rows, columns


def _windows(ufunc: np.ufunc, value: Array, places: tuple[Array, Array], overlapping: bool) -> Array:
    """The function over each window; windows that overlap have the first row and column of the next, too."""
    for axis, starts in enumerate(places, 1):
        pooled = ufunc.reduceat(value, starts[:-1], axis, value.dtype)
        if overlapping:
            inner = (slice(None),) * axis + (slice(-1),)
            pooled[inner] = ufunc(pooled[inner], np.take(value, starts[1:-1], axis))
        value = pooled
    return value


def _max_gradient(node: Operation, grad: Tensor, *others: Tensor | None) -> Gradients:
    output, rows, columns = node.outputs
    return [fractional_max_pool_grad(node.inputs[0], output, grad, rows, columns, overlapping=node.attrs["overlapping"])]


@op(
    "FractionalMaxPool",
    _SIGNATURE,
    infer=_pooled_shapes,
    gradient=_max_gradient,
    at_once=True,
    types=_TYPES,
    limits=_LIMITS,
)
def fractional_max_pool_node(
    ctx: OpContext, value: Array, *, pooling_ratio: Sequence[float], pseudo_random: bool = False, overlapping: bool = False,
    seed: int = 0, seed2: int = 0, deterministic: bool = False,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """The greatest number of each window.

    `[batch, height, width, channels] -> [batch, rows, columns, channels], [rows + 1] int64, [columns + 1] int64`
    """
    places = _both_places(value, pooling_ratio, pseudo_random, seed, seed2)
    return _windows(np.maximum, value, places, overlapping), *places


def _mean_gradient(node: Operation, grad: Tensor, *others: Tensor | None) -> Gradients:
    _, rows, columns = node.outputs
    size = shape(node.inputs[0], out_type=dtypes.int64)
    return [fractional_avg_pool_grad(size, grad, rows, columns, overlapping=node.attrs["overlapping"])]


@op(
    "FractionalAvgPool",
    _SIGNATURE,
    infer=_pooled_shapes,
    gradient=_mean_gradient,
    at_once=True,
    types=_TYPES,
    limits=_LIMITS,
)
def fractional_avg_pool_node(
    ctx: OpContext, value: Array, *, pooling_ratio: Sequence[float], pseudo_random: bool = False, overlapping: bool = False,
    seed: int = 0, seed2: int = 0, deterministic: bool = False,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """The mean of each window, that of integers without its fraction.

    `[batch, height, width, channels] -> [batch, rows, columns, channels], [rows + 1] int64, [columns + 1] int64`
    """
    places = _both_places(value, pooling_ratio, pseudo_random, seed, seed2)
    sums, sizes = _windows(np.add, value, places, overlapping), _sizes(*places, overlapping).astype(value.dtype)
    if value.dtype.kind == "i":
        return np.sign(sums) * (np.abs(sums) // sizes), *places
    return sums / sizes, *places


def _sizes(rows: Array, columns: Array, overlapping: bool) -> Array:
    """How many pixels each window has: `[rows, columns, 1]`."""
    heights, widths = np.diff(rows), np.diff(columns)
    if overlapping:
        heights[:-1] += 1
        widths[:-1] += 1
    return (heights[:, None] * widths)[..., None]


def _spans(places: Array, size: int, overlapping: bool) -> list[tuple[int, int]]:
    """Where each window begins and ends along an axis of so many pixels, the end not within."""
    starts, ends = places[:-1].tolist(), (each + overlapping for each in places[1:].tolist())
    return [(start, min(end, size)) for start, end in zip(starts, ends, strict=True)]


def _check_places(kind: str, places: Array, count: int, overlapping: bool, shape: tuple[int, ...]) -> None:
    """Refuse places that are not one for each end of so many windows, or that are before the first pixel."""
    if len(places) < count + 1:
        raise InvalidArgumentError.of(
            f"Given out_backprop shape {brackets(shape)}, {kind}_seq_tensor must have at least {count + 1} elements, but got "
            f"{len(places)}"
        )
    last = places[1 : count + 1] - (not overlapping)
    if (places[:count] < 0).any() or (last < 0).any():
        name = {"row": "Row", "col": "Column"}[kind]
        raise InvalidArgumentError.of(f"{name} sequence tensor values must not be negative, got {' '.join(map(str, places))}")


def _like_input(node: Operation) -> list[Dims]:
    check_rank(node.inputs[0].dims, 4)
    return [node.inputs[0].dims or (None,) * 4]


@op("FractionalMaxPoolGrad", "orig_input: T, orig_output: T, out_backprop: T, row_pooling_sequence: int64, "
    "col_pooling_sequence: int64 -> output: T", infer=_like_input, gradient=None, types=_TYPES)  # fmt: skip
def fractional_max_pool_grad(
    ctx: OpContext, orig_input: Array, orig_output: Array, out_backprop: Array, row_pooling_sequence: Array,
    col_pooling_sequence: Array, *, overlapping: bool = False,
) -> Result:  # fmt: skip
    """What the gradient of each window gives the first of its pixels that has the greatest number.

    `[batch, height, width, channels], [batch, rows, columns, channels], [batch, rows, columns, channels], [rows + 1] int64,
    [columns + 1] int64 -> [batch, height, width, channels]`
    """
    batch, height, width, channels = orig_input.shape
    result = np.zeros_like(orig_input)
    images, own = np.ix_(range(batch), range(channels))
    rows, columns = (_spans(row_pooling_sequence, height, overlapping), _spans(col_pooling_sequence, width, overlapping))
    if orig_output.shape != (batch, len(rows), len(columns), channels):
        raise InvalidArgumentError.of(
            "tensor_out_dup is not the same as tensor_out: the windows make "
            f"{brackets((batch, len(rows), len(columns), channels))}, the output is {brackets(orig_output.shape)}"
        )
    for row, (top, bottom) in enumerate(rows):
        for column, (left, right) in enumerate(columns):
            window = orig_input[:, top:bottom, left:right].reshape(batch, -1, channels)
            if (window.max(1) != orig_output[:, row, column]).any():
                raise InvalidArgumentError.of(f"tensor_out_dup is not the same as tensor_out in window [{row}, {column}]")
            down, across = np.divmod(window.argmax(1), right - left)
            result[images, top + down, left + across, own] += out_backprop[:, row, column]
    return result


def _of_shape(node: Operation) -> list[Dims]:
    known = constant_shape(node.inputs[0])
    check_rank(node.inputs[1].dims, 4)
    return [(None,) * 4 if known is None or len(known) != 4 else known]


@op("FractionalAvgPoolGrad", "orig_input_tensor_shape: int64, out_backprop: T, row_pooling_sequence: int64, "
    "col_pooling_sequence: int64 -> output: T", infer=_of_shape, gradient=None, types=_TYPES)  # fmt: skip
def fractional_avg_pool_grad(
    ctx: OpContext, orig_input_tensor_shape: Array, out_backprop: Array, row_pooling_sequence: Array,
    col_pooling_sequence: Array, *, overlapping: bool = False,
) -> Result:  # fmt: skip
    """The gradient of each window, shared by its pixels.

    `[4] int64, [batch, rows, columns, channels], [rows + 1] int64, [columns + 1] int64 -> [batch, height, width, channels]`
    """
    if orig_input_tensor_shape.shape != (4,):
        raise InvalidArgumentError.of("original input tensor shape must be 1-dimensional and 4 elements")
    if 0 in out_backprop.shape:
        raise InvalidArgumentError.of(f"out_backprop must be positive for all dimension, got: {brackets(out_backprop.shape)}")
    result = np.zeros(orig_input_tensor_shape.tolist(), out_backprop.dtype)
    given = zip(("row", "col"), (row_pooling_sequence, col_pooling_sequence), strict=True)
    for (kind, places), count in zip(given, out_backprop.shape[1:3], strict=True):
        _check_places(kind, places, count, overlapping, out_backprop.shape)
    rows, columns = (
        _spans(each, size, overlapping)
        for each, size in zip((row_pooling_sequence, col_pooling_sequence), result.shape[1:3], strict=True)
    )
    for row, (top, bottom) in enumerate(rows[: out_backprop.shape[1]]):
        for column, (left, right) in enumerate(columns[: out_backprop.shape[2]]):
            share = out_backprop[:, row, column] / max((bottom - top) * (right - left), 1)
            result[:, top:bottom, left:right] += share[:, None, None].astype(result.dtype)
    return result


def fractional_max_pool(
    value: TensorLike, pooling_ratio: Sequence[float], pseudo_random: bool = False, overlapping: bool = False,
    deterministic: bool = False, seed: int = 0, seed2: int = 0, name: str | None = None,
) -> FractionalPool:  # fmt: skip
    """Pool images by their windows' greatest numbers, with ratios of sizes that need not be whole.

    The rows and columns of an image are cut into windows of two sizes that follow each other at random; the windows of all
    images of a batch, and of all channels, are the same.

    Args:
        value: `[batch, height, width, channels]` tensor of float32, float64, int32 or int64.
        pooling_ratio: by what each dimension is divided: four numbers of at least 1, the first and the last of them 1.
        pseudo_random: whether the sizes alternate as evenly as the ratio lets them, from a random beginning on.
        overlapping: whether a window has the first row and column of the next one, too.
        deterministic: whether every run has the same windows, by the seeds.
        seed, seed2: for the windows; 0 unless `deterministic`.

    Returns:
        The images `[batch, rows, columns, channels]`, and the places `[rows + 1] int64` and `[columns + 1] int64` where the
        windows begin and the last one ends.

    Raises:
        ValueError: a ratio is below 1, or leaves nothing, or is another than 1 for batch or channels; or a seed is given to
            windows that are not `deterministic`.

    >>> pooled = tf.nn.fractional_max_pool(tf.ones([1, 7, 9, 1]), [1, 1.44, 1.73, 1])
    >>> pooled.output.shape.as_list()
    [1, 4, 5, 1]
    """
    return FractionalPool(*fractional_max_pool_node(
        value, pooling_ratio=pooling_ratio, pseudo_random=pseudo_random, overlapping=overlapping, deterministic=deterministic,
        seed=seed, seed2=seed2, name=name,
    ))  # fmt: skip


def fractional_avg_pool(
    value: TensorLike, pooling_ratio: Sequence[float], pseudo_random: bool = False, overlapping: bool = False,
    deterministic: bool = False, seed: int = 0, seed2: int = 0, name: str | None = None,
) -> FractionalPool:  # fmt: skip
    """Pool images by their windows' means, with ratios of sizes that need not be whole.

    The windows are those of `tf.nn.fractional_max_pool`.

    Args:
        value: `[batch, height, width, channels]` tensor of float32, float64, int32 or int64.
        pooling_ratio: by what each dimension is divided: four numbers of at least 1, the first and the last of them 1.
        pseudo_random: whether the sizes alternate as evenly as the ratio lets them, from a random beginning on.
        overlapping: whether a window has the first row and column of the next one, too.
        deterministic: whether every run has the same windows, by the seeds.
        seed, seed2: for the windows; 0 unless `deterministic`.

    Returns:
        The images `[batch, rows, columns, channels]`, and the places `[rows + 1] int64` and `[columns + 1] int64` where the
        windows begin and the last one ends.

    Raises:
        ValueError: a ratio is below 1, or leaves nothing, or is another than 1 for batch or channels; or a seed is given to
            windows that are not `deterministic`.
    """
    return FractionalPool(*fractional_avg_pool_node(
        value, pooling_ratio=pooling_ratio, pseudo_random=pseudo_random, overlapping=overlapping, deterministic=deterministic,
        seed=seed, seed2=seed2, name=name,
    ))  # fmt: skip


def fractional_max_pool_v2(
    value: TensorLike, pooling_ratio: float | Sequence[float], pseudo_random: bool = False, overlapping: bool = False,
    seed: int = 0, name: str | None = None,
) -> FractionalPool:  # fmt: skip
    """`fractional_max_pool` with one seed: the windows are the same in every run where it is not 0.

    Args:
        value, pseudo_random, overlapping: those of `tf.nn.fractional_max_pool`.
        pooling_ratio: one number for rows and columns, one for each, or four.
        seed: for the windows.

    Returns:
        Those of `tf.nn.fractional_max_pool`.
    """
    ratios = [pooling_ratio] if isinstance(pooling_ratio, int | float) else list(pooling_ratio)
    if len(ratios) in (1, 2):
        ratios = [1.0, ratios[0], ratios[-1], 1.0]
    return fractional_max_pool(value, ratios, pseudo_random, overlapping, *_seeds(seed), name=name)


def fractional_avg_pool_v2(
    value: TensorLike, pooling_ratio: Sequence[float], pseudo_random: bool = False, overlapping: bool = False, seed: int = 0,
    name: str | None = None,
) -> FractionalPool:  # fmt: skip
    """`fractional_avg_pool` with one seed: the windows are the same in every run where it is not 0.

    Args:
        value, pooling_ratio, pseudo_random, overlapping: those of `tf.nn.fractional_avg_pool`.
        seed: for the windows.

    Returns:
        Those of `tf.nn.fractional_avg_pool`.
    """
    return fractional_avg_pool(value, pooling_ratio, pseudo_random, overlapping, *_seeds(seed), name=name)


def _seeds(seed: int) -> tuple[bool, int, int]:
    if seed == 0:
        return False, 0, 0
    first, second = get_seed(seed)
    return True, first or 0, second or 0
