"""Cutting blocks out of tensors and adding margins to them: Slice, Pad, MirrorPad, each the gradient of another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, DynamicShape, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_shape, constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.ops.array.shape_ops import INDEX, brackets, reshape, shape_internal
from weft.ops.declaration import not_differentiable, op, rank_of
from weft.ops.gradient_nodes import always
from weft.platform.imports.jax_modules import lax


def known_rank(*tensors: Tensor) -> int | None:
    """The rank that index vectors (or tables) with one entry per dimension imply."""
    for tensor in tensors:
        if tensor.dims is not None and tensor.dims and tensor.dims[0] is not None:
            return int(tensor.dims[0])
    return None


def check_rank(tensor: Tensor, rank: int | None) -> None:
    """Raise ValueError when the rank is known and another one than wanted."""
    found = rank_of(tensor)
    if found is not None and rank is not None and found != rank:
        raise ValueError(f"Shape must be rank {rank} but is rank {found}")


# Slice.


def _slice_shape(node: Operation) -> list[Dims]:
    source, begin, size = node.inputs
    counts = [None if not each.dims else each.dims[0] for each in (begin, size)]
    if None not in counts and counts[0] != counts[1]:
        raise ValueError(
            f"Dimension 0 in both shapes must be equal, but are {counts[0]} and {counts[1]}. "
            f"Shapes are [{counts[0]}] and [{counts[1]}]."
        )
    rank = rank_of(source) if source.dims is not None else known_rank(begin, size)
    check_rank(source, known_rank(begin, size))
    if rank is None:
        return [None]
    starts, sizes = constant_value(begin), constant_shape(size)
    exact = constant_value(size)
    if sizes is None:
        return [(None,) * rank]
    dims = source.dims or (None,) * rank
    if exact is None:
        return [sizes]
    result: list[int | None] = []
    for axis, wanted in enumerate(np.ravel(exact).tolist()):
        start = None if starts is None else int(np.ravel(starts)[axis])
        total = dims[axis]
        if wanted == -1:
            result.append(None if start is None or total is None else total - start)
            continue
        result.append(wanted)
    return [tuple(result)]


def _slice_gradient(node: Operation, grad: Tensor) -> Gradients:
    source, begin, _ = node.inputs
    if constant_value(begin) is None:
        return [unsliced(shape_internal(source, out_type=begin.dtype), begin, grad), None, None]
    paddings = slice_paddings(
        shape_internal(source, out_type=begin.dtype), begin, shape_internal(node.outputs[0], out_type=begin.dtype)
    )
    value = constant_value(paddings)
    return [pad_node(grad, paddings if value is None else value), None, None]


@op("SlicePaddings", "shape: Index, begin: Index, size: Index -> paddings: Index", gradient=not_differentiable,
    infer=lambda node: [(known_rank(*node.inputs), 2)], types={"Index": INDEX},
    static=("shape", "begin", "size"))  # fmt: skip
def slice_paddings(xp: ArrayModule, shape: Array, begin: Array, size: Array) -> Result:
    """The margins that a slice leaves out, as paddings: `[rank], [rank], [rank] -> [rank, 2]`."""
    return np.stack([begin, shape - begin - size], 1)


def _unsliced_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [None, None, slice_node(grad, node.inputs[1], shape_internal(node.inputs[2]))]


@op("DynamicSliceGrad", "shape: Index, begin: Index, dy: T -> output: T", infer=lambda node: [constant_shape(node.inputs[0])],
    gradient=_unsliced_gradient,
    types={"Index": INDEX}, static=("shape",))  # fmt: skip
def unsliced(xp: ArrayModule, shape: Array, begin: Array, dy: Array) -> Result:
    """Zeros of `shape` with `dy` where the slice that starts at `begin` was taken.

    `[rank], [rank], [*size] -> [*shape]`.
    """
    result = xp.zeros(tuple(np.asarray(shape).tolist()), dy.dtype)
    if xp is not np:
        return lax.dynamic_update_slice(result, dy, tuple(begin))
    result[tuple(slice(start, start + size) for start, size in zip(begin.tolist(), dy.shape, strict=True))] = dy
    return result


def _moving(node: Operation) -> frozenset[str]:
    """In a loop a slice of known size may start where only the compiled step knows; see `slicing` for why only there."""
    if not node.graph.building_function:
        return frozenset()
    size = constant_value(node.inputs[2])
    return frozenset(("begin",)) if size is not None and np.all(size >= 0) else frozenset()


@op("Slice", "input: T, begin: Index, size: Index -> output: T",
    ranks={"begin": 1, "size": 1}, memory_bound=True,
    infer=_slice_shape, gradient=_slice_gradient, gradient_nodes=always(12),
    static=("begin", "size"), dynamic=_moving, types={"Index": INDEX})  # fmt: skip
def slice_node(xp: ArrayModule, input: Array, begin: Array, size: Array) -> Result:
    """The block that starts at `begin`; a size of -1 goes to the end: `[*sizes], [rank], [rank] -> [*size]`."""
    if xp is not np and not isinstance(begin, np.ndarray):
        return lax.dynamic_slice(input, tuple(begin), np.ravel(size).tolist())
    starts, sizes = begin.reshape(-1).tolist(), size.reshape(-1).tolist()
    rank = len(input.shape)
    if len(starts) != rank or len(sizes) != rank:
        raise InvalidArgumentError.of(
            f"Expected begin and size arguments to be 1-D tensors of size {rank}, but got shapes "
            f"{brackets(begin.shape)} and {brackets(size.shape)} instead."
        )
    cut = []
    for axis, (start, wanted, total) in enumerate(zip(starts, sizes, input.shape, strict=True)):
        if not 0 <= start <= total:
            raise InvalidArgumentError.of(f"Expected begin[{axis}] in [0, {total}], but got {start}")
        wanted = total - start if wanted == -1 else wanted
        if wanted < 0 or start + wanted > total:
            raise InvalidArgumentError.of(f"Expected size[{axis}] in [0, {total - start}], but got {wanted}")
        cut.append(slice(start, start + wanted))
    return input[tuple(cut)]


def slice_of(input_: TensorLike, begin: TensorLike, size: DynamicShape, name: str | None = None) -> Tensor:
    """Cut the block of `size` that starts at `begin` out of a tensor; a size of -1 goes to the end.

    >>> sess.run(tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, 2]))
    array([[2, 3],
           [5, 6]], dtype=int32)

    Args:
        input_: [*sizes] tensor of any dtype.
        begin: [rank] tensor or list of int32 or int64: where the block starts.
        size: [rank] tensor or list of the dtype of `begin`: how large it is in each dimension.

    Returns:
        [*size] tensor of the same dtype.

    Raises:
        ValueError: `begin` and `size` don't have as many numbers as there are dimensions, as far as these are known.
        InvalidArgumentError: in a run, the block does not lie in the tensor.
    """
    return slice_node(input_, begin, size, name=name)


# Pad.


def padded_dims(node: Operation) -> list[Dims]:
    """The shape with margins, for ops whose second input holds them."""
    dims, table = node.inputs[0].dims, node.inputs[1]
    check_rank(table, 2)
    if table.dims is not None and table.dims[1] not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {table.dims[1]}")
    check_rank(node.inputs[0], known_rank(table))
    value = constant_value(table)
    rank = known_rank(table) if dims is None else len(dims)
    if rank is None:
        return [None]
    if dims is None:
        return [(None,) * rank]
    if value is None:
        return [_partly_padded(dims, table)]
    if np.any(value < 0):
        raise ValueError(f"Paddings must be non-negative, but are {value.tolist()}")
    return [_grown(dims, value.sum(1))]


def _grown(dims: tuple[int | None, ...], by: Array) -> Dims:
    """Sizes with a number added to each that is known."""
    return tuple(None if size is None else size + int(more) for size, more in zip(dims, by, strict=True))


def _partly_padded(dims: tuple[int | None, ...], table: Tensor) -> Dims:
    if table.op.type != "Pack" or table.op.attrs["axis"] != 0 or len(table.op.inputs) != len(dims):
        return (None,) * len(dims)
    rows = [constant_value(row) for row in table.op.inputs]
    return tuple(None if size is None or row is None else size + int(row.sum()) for size, row in zip(dims, rows, strict=True))


def _pad_gradient(node: Operation, grad: Tensor) -> Gradients:
    source, paddings = node.inputs[:2]
    value = constant_value(paddings)
    begin = reshape(slice_node(paddings, [0, 0], [-1, 1]), [-1]) if value is None else value[:, 0]
    size = shape_internal(source, out_type=paddings.dtype)
    return [slice_node(grad, begin, size), *[None] * (len(node.inputs) - 1)]


def _margins(paddings: Array) -> list[tuple[int, int]]:
    margins: list[tuple[int, int]] = paddings.tolist()
    if any(a < 0 or b < 0 for a, b in margins):
        raise InvalidArgumentError.of(f"Paddings must be non-negative: {margins}")
    return margins


@op("Pad", "input: T, paddings: Tpaddings -> output: T", infer=padded_dims, gradient=_pad_gradient,
    gradient_nodes=always(9), static=("paddings",), types={"Tpaddings": INDEX},
    defaults={"Tpaddings": dtypes.int32})  # fmt: skip
def pad_node(xp: ArrayModule, input: Array, paddings: Array) -> Result:
    """The input within margins of zeros: `[n_i, ...], [rank, 2] -> [before_i + n_i + after_i, ...]`."""
    margins = _margins(paddings)
    return _padded(input, margins, b"" if input.dtype == object else 0) if xp is np else xp.pad(input, margins)


def _padded(values: Array, margins: Sequence[tuple[int, int]], value: Array) -> Array:
    # np.pad writes the margins one by one, 30 us for a small image instead of 4 (two cores, December 2026), and those of
    # texts as NumPy's bytes.
    sizes = [a + size + b for size, (a, b) in zip(values.shape, margins, strict=True)]
    padded = np.empty(sizes, values.dtype)
    padded.fill(value)
    padded[tuple([slice(a, a + size) for size, (a, _) in zip(values.shape, margins, strict=True)])] = values
    return padded


def _pad_v2_gradient(node: Operation, grad: Tensor) -> Gradients:
    inner = _pad_gradient(node, grad)[0]
    return [inner, None, pad_value_grad(grad, inner)]


@op("PadValueGrad", "outer: T, inner: T -> output: T", infer=lambda node: [()], gradient=None)
def pad_value_grad(xp: ArrayModule, outer: Array, inner: Array) -> Result:
    """The sum over a margin, that of the whole without that of what it surrounds: `[*outer], [*inner] -> scalar`."""
    return xp.sum(outer) - xp.sum(inner)


@op("PadV2", "input: T, paddings: Tpaddings, constant_values: T -> output: T", infer=padded_dims, ranks={"constant_values": 0},
    gradient=_pad_v2_gradient, gradient_nodes=always(9), static=("paddings",), types={"Tpaddings": INDEX},
    defaults={"Tpaddings": dtypes.int32})  # fmt: skip
def pad_v2(xp: ArrayModule, input: Array, paddings: Array, constant_values: Array) -> Result:
    """The input within margins of a value: `[n_i, ...], [rank, 2], scalar -> [before_i + n_i + after_i, ...]`."""
    margins = _margins(paddings)
    if xp is np:
        return _padded(input, margins, constant_values.item())
    return xp.pad(input, margins, constant_values=constant_values)


def _check_mirror(shape: Sequence[int], margins: Sequence[tuple[int, int]], mode: str) -> None:
    offset = 1 if mode == "REFLECT" else 0
    for axis, (size, (a, b)) in enumerate(zip(shape, margins, strict=True)):
        if a > size - offset or b > size - offset:
            relation = "less than" if offset else "no greater than"
            raise InvalidArgumentError.of(
                f"paddings must be {relation} the dimension size: {a}, {b} not {relation} {size} (dimension {axis})"
            )


def _mirror_pad_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [mirror_pad_grad(grad, node.inputs[1], mode=node.attrs["mode"]), None]


@op("MirrorPad", "input: T, paddings: Tpaddings -> output: T", infer=padded_dims, static=("paddings",),
    types={"Tpaddings": INDEX}, defaults={"Tpaddings": dtypes.int32},
    gradient=_mirror_pad_gradient, limits={"mode": ("REFLECT", "SYMMETRIC")})  # fmt: skip
def mirror_pad(xp: ArrayModule, input: Array, paddings: Array, *, mode: str) -> Result:
    """The input within margins that mirror it, with (SYMMETRIC) or without (REFLECT) the border itself.

    `[n_i, ...], [rank, 2] -> [before_i + n_i + after_i, ...]`.
    """
    margins = _margins(paddings)
    _check_mirror(input.shape, margins, mode)
    return xp.pad(input, margins, mode.lower())


def _unpadded(node: Operation) -> list[Dims]:
    dims, value = node.inputs[0].dims, constant_value(node.inputs[1])
    paddings = node.inputs[1].dims
    if dims is not None and paddings is not None and len(paddings) == 2:
        merge_dims(paddings, (len(dims), 2))
    if dims is None or value is None:
        return [None if dims is None else (None,) * len(dims)]
    if np.any(value < 0):
        raise ValueError(f"Paddings must be non-negative, but are {value.tolist()}")
    return [_grown(dims, -value.sum(1))]


@op("MirrorPadGrad", "input: T, paddings: Tpaddings -> output: T",
    ranks={"paddings": 2}, infer=_unpadded, static=("paddings",),
    types={"Tpaddings": INDEX}, defaults={"Tpaddings": dtypes.int32},
    gradient=lambda node, grad: [mirror_pad(grad, node.inputs[1], mode=node.attrs["mode"]), None],
    limits={"mode": ("REFLECT", "SYMMETRIC")})  # fmt: skip
def mirror_pad_grad(xp: ArrayModule, input: Array, paddings: Array, *, mode: str) -> Result:
    """The middle, with the margins folded back onto it: `[before_i + n_i + after_i, ...], [rank, 2] -> [n_i, ...]`."""
    offset = 1 if mode == "REFLECT" else 0
    for axis, (a, b) in enumerate(_margins(paddings)):
        size = input.shape[axis] - a - b
        lead = (slice(None),) * axis
        margin: list[tuple[int, int]] = [(0, 0)] * len(input.shape)
        middle = input[(*lead, slice(a, a + size))]
        if a:
            margin[axis] = (offset, size - a - offset)
            middle = middle + xp.pad(xp.flip(input[(*lead, slice(0, a))], axis), margin)
        if b:
            margin[axis] = (size - b - offset, offset)
            middle = middle + xp.pad(xp.flip(input[(*lead, slice(a + size, None))], axis), margin)
        input = middle
    return input


def pad(
    tensor: TensorLike, paddings: TensorLike, mode: str = "CONSTANT", name: str | None = None, constant_values: TensorLike = 0
) -> Tensor:
    """Put margins around a tensor.

    >>> sess.run(tf.pad([[1, 2]], [[0, 1], [1, 0]]))
    array([[0, 1, 2],
           [0, 0, 0]], dtype=int32)

    Args:
        tensor: [*sizes] tensor of any dtype.
        paddings: [rank, 2] tensor of int32 or int64: how many to add before and after in each dimension.
        mode: CONSTANT, REFLECT (mirror without the border) or SYMMETRIC (with it), in any case.
        name: the node's name.
        constant_values: scalar of the dtype of `tensor`, the value of a constant margin.

    Returns:
        A tensor of the same dtype, each size greater by the two numbers.

    Raises:
        ValueError: `mode` is none of the three.
    """
    kind = mode.upper()
    if kind == "CONSTANT":
        if isinstance(constant_values, Tensor) or np.any(constant_values != 0):
            result = pad_v2(tensor, paddings, constant_values, name=name)
        else:
            result = pad_node(tensor, paddings, name=name)
    elif kind in ("REFLECT", "SYMMETRIC"):
        result = mirror_pad(convert_to_tensor(tensor), paddings, mode=kind, name=name)
    else:
        raise ValueError(f"Unknown padding mode: {mode}\nIt is one of CONSTANT, REFLECT and SYMMETRIC.")
    return result
