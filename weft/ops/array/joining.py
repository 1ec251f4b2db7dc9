"""Putting tensors together along a dimension they have, and cutting them apart: concat and split."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_dims, constant_value
from weft.framework.nodes.node_errors import ShapeMisfit
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import AtLeast
from weft.framework.types import dtypes
from weft.framework.types.dimension import Dimension
from weft.framework.types.dims import Dims, merge_dims
from weft.framework.types.dtypes import DType
from weft.ops.array.filling import zeros_like
from weft.ops.array.identity import identity_node
from weft.ops.array.padding import slice_node
from weft.ops.array.shape_ops import INDEX, brackets, cast_index, shape_n
from weft.ops.declaration import not_differentiable, op
from weft.ops.dispatch import dispatchable
from weft.ops.gradient_nodes import of_concat

# Concat.


_ONE_RANK = "All tensors need one rank: tf.expand_dims adds a dimension, and tf.stack joins along a new one."


def _concat_dims(shapes: Sequence[Dims], axis_tensor: Tensor) -> Dims:
    known = [dims for dims in shapes if dims is not None]
    if not known:
        return None
    rank = len(known[0])
    for dims in known:
        if len(dims) != rank:
            raise ShapeMisfit(f"Shape must be rank {rank} but is rank {len(dims)}", _ONE_RANK)
    value = constant_value(axis_tensor)
    if rank == 0:
        raise ValueError("Can't concatenate scalars (use tf.stack instead)")
    if value is None:
        return (None,) * rank
    axis = int(np.ravel(value)[0])
    if not -rank <= axis < rank:
        raise ValueError(f"Shape must be at least rank {axis + 1 if axis >= 0 else -axis} but is rank {rank}")
    axis %= rank
    rest: Dims = None
    for dims in known:
        try:
            rest = merge_dims(rest, dims[:axis] + dims[axis + 1 :])
        except ValueError as error:
            raise ShapeMisfit(str(error), f"Only the sizes of dimension {axis}, the axis, may differ.") from None
    assert rest is not None
    sizes = [None if dims is None else dims[axis] for dims in shapes]
    total = None if None in sizes else sum(sizes)  # type: ignore[arg-type]
    return (*rest[:axis], total, *rest[axis:])


def _concat_shape(node: Operation) -> list[Dims]:
    return [_concat_dims([tensor.dims for tensor in node.inputs[:-1]], node.inputs[-1])]


def _concat_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [*_concat_pieces(node.inputs[:-1], node.inputs[-1], grad), None]


def _concat_pieces(parts: Sequence[Tensor], axis: Tensor, grad: Tensor) -> Gradients:
    value = constant_value(axis)
    if value is not None and all(part.dims is not None for part in parts):
        sizes = [part.dims[int(value)] for part in parts]  # type: ignore[index]
        if None not in sizes:
            return list(split_v(grad, np.array(sizes, np.int64), np.int32(value), num_split=len(sizes)))
    if axis.dtype.base_dtype is not dtypes.int32:
        axis = cast_index(axis, dtypes.int32)
    shapes = shape_n(list(parts))
    offsets = concat_offset(axis, shapes)
    return [slice_node(grad, begin, size) for begin, size in zip(offsets, shapes, strict=True)]


def _joined(xp: ArrayModule, values: Array, axis: Array) -> Array:
    if xp is np:
        try:
            return np.concatenate(values, axis.item(0))
        except ValueError:
            pass  # NumPy refuses what the checks below do, in other words.
    at = int(np.ravel(axis)[0])
    rank = len(values[0].shape)
    if not -rank <= at < rank:
        raise InvalidArgumentError.of(
            f"ConcatOp : Expected concatenating dimensions in the range [{-rank}, {rank}), but got {at}"
        )
    first = tuple(values[0].shape)
    for index, value in enumerate(values):
        other = tuple(value.shape)
        if len(other) != rank or any(x != y for i, (x, y) in enumerate(zip(first, other, strict=True)) if i != at % rank):
            raise InvalidArgumentError.of(
                f"ConcatOp : Dimensions of inputs should match: shape[0] = {brackets(first)} vs. "
                f"shape[{index}] = {brackets(other)}"
            )
    return xp.concatenate(values, at)


def _concat_elements(node: Operation) -> Dims:
    elements: list[int | None] = []
    for tensor in node.inputs[:-1]:
        part = constant_dims(tensor)
        if part is None:
            return None
        elements += part
    return tuple(elements)


@op("ConcatV2", "values: N*T, axis: Tidx -> output: T",
    ranks={"axis": 0}, limits={"N": 2}, memory_bound=True, known_elements=_concat_elements, told_while_building=True,
    infer=_concat_shape, gradient=_concat_gradient, gradient_nodes=of_concat, static=("axis",),
    types={"Tidx": INDEX}, defaults={"Tidx": dtypes.int32})  # fmt: skip
def concat_v2(xp: ArrayModule, values: list[Array], axis: Array) -> Result:
    """The inputs one after the other along `axis`: `N*[*outer, n_i, *inner], scalar -> [*outer, sum(n_i), *inner]`."""
    return _joined(xp, values, axis)


@op("Concat", "concat_dim: int32, values: N*T -> output: T",
    ranks={"concat_dim": 0}, memory_bound=True, static=("concat_dim",), told_while_building=True,
    infer=lambda node: [_concat_dims([tensor.dims for tensor in node.inputs[1:]], node.inputs[0])],
    gradient=lambda node, grad: [None, *_concat_pieces(node.inputs[1:], node.inputs[0], grad)], limits={"N": 2})  # fmt: skip
def concat_v1(xp: ArrayModule, concat_dim: Array, values: list[Array]) -> Result:
    """The older form of ConcatV2, for graphs from elsewhere.

    `scalar, N*[*outer, n_i, *inner] -> [*outer, sum(n_i), *inner]`.
    """
    return _joined(xp, values, concat_dim)


def _offset_shapes(node: Operation) -> list[Dims]:
    dims: Dims = None
    for number, tensor in enumerate(node.inputs[1:]):
        if dims and tensor.dims and dims[0] is not None and tensor.dims[0] not in (None, dims[0]):
            raise ValueError(f"input {number} should contain {dims[0]} elements, but got {tensor.dims[0]}")
        dims = merge_dims(dims, tensor.dims)
    return [dims] * len(node.outputs)


@op("ConcatOffset", "concat_dim: int32, shape: N*shape_type -> offset: N*shape_type",
    ranks={"concat_dim": 0, "shape": 1},
    gradient=not_differentiable,
    infer=_offset_shapes, types={"shape_type": INDEX},
    static=("concat_dim", "shape"), limits={"N": 2})  # fmt: skip
def concat_offset(xp: ArrayModule, concat_dim: Array, shape: list[Array], *, shape_type: DType = dtypes.int32) -> list[Result]:
    """Where each of the tensors of these shapes begins in their concatenation: `scalar, N*[rank] -> N*[rank]`."""
    at, start, offsets = int(np.ravel(concat_dim)[0]), 0, []
    if shape and not -len(shape[0]) <= at < len(shape[0]):
        raise InvalidArgumentError.of(f"Concat dim is out of range: {at} vs. {len(shape[0])}")
    for number, sizes in enumerate(shape):
        differs = sizes != shape[0]
        differs[at] = False
        if differs.any():
            raise InvalidArgumentError.of(
                f"All dimensions except {at} must match. Input {number} has shape {sizes} and doesn't match input 0 with "
                f"shape {shape[0]}."
            )
    for sizes in shape:
        offset = np.zeros_like(sizes)
        offset[at] = start
        offsets.append(offset)
        start += int(sizes[at])
    return offsets


@dispatchable
def concat(values: TensorLike, axis: TensorLike, name: str = "concat") -> Tensor:
    """Put tensors one after the other along a dimension; the other dimensions must be equal.

    >>> sess.run(tf.concat([[[1, 2]], [[3, 4]]], axis=0))
    array([[1, 2],
           [3, 4]], dtype=int32)

    Args:
        values: a list of tensors of one dtype and rank (1 or more), whose sizes differ along `axis` alone.
        axis: int32 scalar, the dimension; one below zero counts from the end.

    Returns:
        A tensor of their dtype, as long along `axis` as all of them together.

    Raises:
        TypeError: `axis` is no integer, as where the two arguments changed places.
        ValueError: `axis` is a tensor of another type than integers.
    """
    if not isinstance(values, list | tuple):
        values = [values]
    if isinstance(axis, list | tuple) and any(isinstance(each, Tensor) for each in axis):
        raise TypeError(
            f"Expected int32, got list containing Tensors instead: the axis of concat is {axis!r}. The values come first, "
            "as in tf.concat([a, b], axis=1); before TensorFlow 1.0 the axis did."
        )
    if isinstance(axis, Tensor) and not axis.dtype.is_integer:
        raise ValueError(
            f"Tensor conversion requested dtype int32 for Tensor with dtype {axis.dtype.name}: {axis!r}. concat takes one list "
            "of values, and the dimension behind it: tf.concat([a, b], axis=1)."
        )
    if len(values) == 1:
        with get_default_graph().name_scope(name):
            convert_to_tensor(axis, dtypes.int32, "concat_dim").get_shape().assert_has_rank(0)
            return identity_node(values[0], name="concat")
    return concat_v2(values, axis, name=name)


def filled_gradients(node: Operation, grads: Sequence[Tensor | None]) -> list[Tensor]:
    """The gradients of all outputs, zeros where one is not used."""
    return [zeros_like(out) if grad is None else grad for out, grad in zip(node.outputs, grads, strict=True)]


# Split.


def _split_shape(node: Operation) -> list[Dims]:
    count, dims = node.attrs["num_split"], node.inputs[1].dims
    axis = constant_value(node.inputs[0])
    if dims is None:
        return [None] * count
    if axis is None:
        return [(None,) * len(dims)] * count
    at = _axis_of(axis, dims)
    size = dims[at]
    if size is not None and size % count:
        raise ValueError(
            f"Dimension size must be evenly divisible by {count} but is {size}\n\tNumber of ways to split should "
            "evenly divide the split dimension"
        )
    return [(*dims[:at], None if size is None else size // count, *dims[at + 1 :])] * count


def _axis_of(value: Array, dims: tuple[int | None, ...]) -> int:
    axis = int(np.ravel(value)[0])
    if not -len(dims) <= axis < len(dims):
        raise ValueError(f"Dimension size, given by scalar input {axis} must be in range [{-len(dims)}, {len(dims)})")
    return axis % len(dims)


def _pieces(value: Array, sizes: Sequence[int], axis: int) -> list[Array]:
    return [value[place] for place in _places(sizes, axis)]


def _places(sizes: Sequence[int], axis: int) -> tuple[tuple[slice, ...], ...]:
    lead, start, places = (slice(None),) * axis, 0, []
    for size in sizes:
        places.append((*lead, slice(start, start + size)))
        start += size
    return tuple(places)


@op("Split", "split_dim: int32, value: T -> output: num_split*T", infer=_split_shape, static=("split_dim",),
    limits={"num_split": 1}, ranks={"split_dim": 0},
    gradient=lambda node, *grads: [None, concat_v2(filled_gradients(node, grads), node.inputs[0])
                                   if len(grads) > 1 else grads[0]])  # fmt: skip
def split_node(xp: ArrayModule, split_dim: Array, value: Array, *, num_split: int) -> list[Result]:
    """Equal parts along a dimension: `scalar, [*outer, n, *inner] -> num_split*[*outer, n/num_split, *inner]`."""
    axis = int(np.ravel(split_dim)[0]) % len(value.shape)
    size = value.shape[axis]
    if size % num_split:
        raise InvalidArgumentError.of(
            f"Number of ways to split should evenly divide the split dimension, but got split_dim {axis} "
            f"(size = {size}) and num_split {num_split}"
        )
    return _pieces(value, [size // num_split] * num_split, axis)


def _split_v_shape(node: Operation) -> list[Dims]:
    count, dims = node.attrs["num_split"], node.inputs[0].dims
    axis, sizes = constant_value(node.inputs[2]), constant_value(node.inputs[1])
    if dims is None:
        return [None] * count
    if axis is None:
        return [(None,) * len(dims)] * count
    at = _axis_of(axis, dims)
    if sizes is None:
        return [(*dims[:at], None, *dims[at + 1 :])] * count
    wanted = _sizes_of(sizes, dims[at], ValueError)
    return [(*dims[:at], size, *dims[at + 1 :]) for size in wanted]


_SIZES_THAT_MUST_FIT: Final = (
    "Determined shape must either match input shape along split_dim exactly if fully specified, or be less than the size of "
    "the input along split_dim if not fully specified."
)


def _sizes_of(sizes: Array | Sequence[int], total: int | None, error: Callable[[str], Exception]) -> list[int | None]:
    wanted = [int(size) for size in np.ravel(sizes)]
    known = sum(size for size in wanted if size >= 0)
    free = wanted.count(-1)
    for place, size in enumerate(wanted):
        if size < -1:
            raise error(f"Split size at index {place} must be >= 0. Got: {size}")
    if free > 1:
        raise error("size_splits can only have one -1")
    if total is not None and (known > total or (not free and known != total)):
        problem = f"can't split axis of size {total} into pieces of size {brackets(wanted)}"
        raise error(problem if error is ValueError else f"{_SIZES_THAT_MUST_FIT}  Got: {known}: {problem}")
    return [(None if total is None else total - known) if size < 0 else size for size in wanted]


@op("SplitV", "value: T, size_splits: Tlen, split_dim: int32 -> output: num_split*T",
    ranks={"value": AtLeast(1)},
    infer=_split_v_shape,
    static=("size_splits", "split_dim"), types={"Tlen": (dtypes.int8, *INDEX)}, defaults={"Tlen": dtypes.int64},
    limits={"num_split": 1},
    gradient=lambda node, *grads: [concat_v2(filled_gradients(node, grads), node.inputs[2])
                                   if len(grads) > 1 else grads[0], None, None])  # fmt: skip
def split_v(xp: ArrayModule, value: Array, size_splits: Array, split_dim: Array, *, num_split: int) -> list[Result]:
    """Parts of the sizes given along a dimension; a -1 stands for what is left.

    `[*outer, n, *inner], [num_split], scalar -> num_split*[*outer, n_i, *inner]`.
    """
    axis = split_dim.item(0) % len(value.shape)
    places = _places_of(tuple(size_splits.ravel().tolist()), value.shape[axis], axis)
    return [value[place] for place in places]


@functools.lru_cache(maxsize=256)
def _places_of(sizes: tuple[int, ...], total: int, axis: int) -> tuple[tuple[slice, ...], ...]:
    """Where the parts lie. Interpreted networks cut up the same gradients in each step, in 2 µs so instead of 8 (two cores,
    December 2026).
    """

    def invalid(message: str) -> Exception:
        return InvalidArgumentError.of(message)

    return _places(_sizes_of(sizes, total, invalid), axis)  # type: ignore[arg-type]


def split(
    value: TensorLike, num_or_size_splits: TensorLike, axis: TensorLike = 0, num: int | None = None, name: str = "split"
) -> list[Tensor]:
    """Split a tensor into `num_or_size_splits` equal parts along `axis`, or into parts of the sizes it lists.

    >>> sess.run(tf.split([1, 2, 3, 4], 2))
    [array([1, 2], dtype=int32), array([3, 4], dtype=int32)]

    Args:
        value: [*outer, size, *inner] tensor of any dtype.
        num_or_size_splits: an int, which divides the size; or a list or [n] tensor of int32 or int64 in which one may be -1.
        axis: int32 scalar, the dimension to split; one below zero counts from the end.
        num: how many sizes there are, when that cannot be seen from their shape.
        name: the node's name.

    Returns:
        A list of tensors of the same dtype.

    Raises:
        TypeError: `axis` is a tensor of another type than integers.
        ValueError: how many parts there are cannot be told, or the sizes don't fit.
    """
    if isinstance(num_or_size_splits, int | np.integer | Dimension):
        if isinstance(axis, Tensor) and not axis.dtype.is_integer:
            raise TypeError(
                f"Input 'split_dim' of 'Split' Op has type {axis.dtype.name} that does not match expected type of int32. "
                f"The axis of split is {axis!r}: the tensor comes first, tf.split(value, num_or_size_splits, axis)."
            )
        graph = get_default_graph()
        # TensorFlow has the number in a constant, by whose name the next is `Const_1`; seeds go by the count.
        graph.unique_name("Const")
        graph.node_count.total += 1
        return split_node(axis, value, num_split=int(num_or_size_splits), name=name)
    sizes = convert_to_tensor(num_or_size_splits)
    if sizes.dims == ():
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument provided: "
            f"{num_or_size_splits}"
        )
    if num is None:
        num = None if sizes.dims is None else sizes.dims[0]
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return split_v(value, sizes, axis, num_split=num, name=name)
