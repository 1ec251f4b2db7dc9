"""Repeating and reordering whole tensors: Tile, BroadcastTo, Reverse, Roll."""

from __future__ import annotations

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_shape, constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import AtLeast
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, broadcast_dims
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.constant import constant
from weft.ops.array.padding import check_rank, known_rank
from weft.ops.array.shape_ops import INDEX, brackets
from weft.ops.array.stacking import stack
from weft.ops.declaration import not_differentiable, op, rank_of, same_as_input
from weft.ops.dispatch import dispatchable
from weft.ops.gradient_nodes import always
from weft.ops.math.elementwise import neg, sum_to_like


def _tiled(node: Operation) -> list[Dims]:
    dims, times = node.inputs[0].dims, constant_shape(node.inputs[1])
    check_rank(node.inputs[0], known_rank(node.inputs[1])) if dims is None else _check_count(dims, node.inputs[1])
    if dims is None or times is None:
        rank = known_rank(node.inputs[1]) if dims is None else len(dims)
        return [None if rank is None else (None,) * rank]
    # Nothing of any number is nothing.
    return [
        tuple(
            0 if 0 in (size, count) else None if size is None or count is None else size * count
            for size, count in zip(dims, times, strict=True)
        )
    ]


def _check_count(dims: tuple[int | None, ...], vector: Tensor) -> None:
    count = known_rank(vector)
    if count is not None and count != len(dims):
        raise ValueError(f"Shape must be rank {len(dims)} but is rank {count}")


def _tile_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [tile_grad(grad, node.inputs[1], node.inputs[0]), None]


@op("Tile", "input: T, multiples: Tmultiples -> output: T",
    ranks={"multiples": 1}, infer=_tiled, static=("multiples",),
    types={"Tmultiples": INDEX}, defaults={"Tmultiples": dtypes.int32},
    gradient=_tile_gradient, gradient_nodes=always(12))  # fmt: skip
def tile_node(xp: ArrayModule, input: Array, multiples: Array) -> Result:
    """The input repeated `multiples[i]` times along dimension i: `[n_i, ...], [rank] -> [n_i*multiples_i, ...]`."""
    times = np.ravel(multiples).tolist()
    if len(times) != len(input.shape):
        raise InvalidArgumentError.of(
            f"Expected multiples argument to be a vector of length {len(input.shape)} but got length {len(times)}"
        )
    for place, count in enumerate(times):
        if count < 0:
            raise InvalidArgumentError.of(f"Expected multiples[{place}] >= 0, but got {count}")
    return xp.tile(input, tuple(times))


@op("TiledSum", "input: T, multiples: Tmultiples, like: T -> output: T", static=("multiples",), gradient=None,
    infer=lambda node: [node.inputs[2].dims], types={"Tmultiples": INDEX})  # fmt: skip
def tile_grad(xp: ArrayModule, input: Array, multiples: Array, like: Array) -> Result:
    """The sum of the copies that Tile makes of `like`: `[n_i*multiples_i, ...], [rank], [n_i, ...] -> [n_i, ...]`."""
    split = tuple(each for pair in zip(np.ravel(multiples).tolist(), like.shape, strict=True) for each in pair)
    return xp.sum(xp.reshape(input, split), axis=tuple(range(0, len(split), 2)), dtype=input.dtype)


@dispatchable
def tile(input: TensorLike, multiples: TensorLike, name: str | None = None) -> Tensor:
    """Repeat a tensor `multiples[i]` times along dimension i.

    Args:
        input: [*sizes] tensor of any dtype.
        multiples: [rank] tensor or list of int32 or int64, not negative.

    Returns:
        A tensor of the same dtype, `sizes[i] * multiples[i]` along dimension i.

    Raises:
        ValueError: there are not as many multiples as dimensions, as far as these are known.
        InvalidArgumentError: in a run, a multiple is negative, or there are not as many as dimensions.
    """
    return tile_node(input, multiples, name=name)


def _broadcast_shape(node: Operation) -> list[Dims]:
    wanted, dims = constant_shape(node.inputs[1]), node.inputs[0].dims
    if wanted is None or dims is None:
        return [wanted]
    if len(dims) > len(wanted):
        raise ValueError(f"Shape must be at most rank {len(wanted)} but is rank {len(dims)}")
    lead = len(wanted) - len(dims)
    for size, target in zip(dims, wanted[lead:], strict=True):
        if None not in (size, target) and size not in (1, target):
            raise ValueError(f"Dimensions must be equal, but are {size} and {target}")
    # A size above 1 can only stay what it is.
    told = [
        size if target is None and size is not None and size > 1 else target
        for size, target in zip(dims, wanted[lead:], strict=True)
    ]
    return [(*wanted[:lead], *told)]


@op("BroadcastTo", "input: T, shape: Tidx -> output: T",
    ranks={"shape": 1}, infer=_broadcast_shape, static=("shape",),
    gradient=lambda node, grad: [sum_to_like(grad, node.inputs[0]), None], gradient_nodes=always(4), types={"Tidx": INDEX},
    defaults={"Tidx": dtypes.int32})  # fmt: skip
def broadcast_to(xp: ArrayModule, input: Array, shape: Array) -> Result:
    """The input repeated along dimensions of size 1 and new leading ones: `[...], [rank] -> [*shape]`.

    Args:
        input: [...] tensor of any dtype.
        shape: [rank] tensor of int32 or int64.
    """
    wanted = tuple(int(size) for size in np.ravel(shape))
    try:
        return xp.broadcast_to(input, wanted)
    except ValueError as error:
        raise InvalidArgumentError.of(f"Incompatible shapes: {brackets(input.shape)} vs. {brackets(wanted)}") from error


@op("BroadcastArgs", "s0: T, s1: T -> r0: T",
    ranks={"s0": 1, "s1": 1}, gradient=None, types={"T": INDEX}, defaults={"T": dtypes.int32},
    infer=lambda node: [_longest(node)], static=("s0", "s1"))  # fmt: skip
def broadcast_args(xp: ArrayModule, s0: Array, s1: Array) -> Result:
    """The shape that two shapes broadcast to: `[n], [m] -> [max(n, m)]`."""
    count = max(len(s0), len(s1))
    first, second = ([1] * (count - len(s)) + np.asarray(s).tolist() for s in (s0, s1))
    if any(one != other and 1 not in (one, other) for one, other in zip(first, second, strict=True)):
        raise InvalidArgumentError.of(f"Incompatible shapes: {brackets(s0)} vs. {brackets(s1)}")
    # A size may be -1 here, one that is to be told yet.
    return np.array([other if one == 1 else one for one, other in zip(first, second, strict=True)], s0.dtype)


def _longest(node: Operation) -> Dims:
    lengths = [None if tensor.dims is None else tensor.dims[0] for tensor in node.inputs]
    return (None if None in lengths else max(lengths),)  # type: ignore[type-var]


@op("BroadcastGradientArgs", "s0: T, s1: T -> r0: T, r1: T",
    ranks={"s0": 1, "s1": 1}, gradient=not_differentiable, types={"T": INDEX},
    defaults={"T": dtypes.int32}, infer=lambda node: [(None,), (None,)], static=("s0", "s1"))  # fmt: skip
def broadcast_gradient_args(xp: ArrayModule, s0: Array, s1: Array) -> tuple[Result, Result]:
    """The dimensions over which each of two broadcast tensors' gradients is summed: `[n], [m] -> [k], [l]`."""
    count = max(len(s0), len(s1))
    first, second = ([1] * (count - len(s)) + np.asarray(s).tolist() for s in (s0, s1))
    if any(one != other and 1 not in (one, other) for one, other in zip(first, second, strict=True)):
        raise InvalidArgumentError.of(f"Incompatible shapes: {brackets(s0)} vs. {brackets(s1)}")
    axes0 = [i for i in range(count) if first[i] == 1 and (second[i] != 1 or i < count - len(s0))]
    axes1 = [i for i in range(count) if second[i] == 1 and (first[i] != 1 or i < count - len(s1))]
    return np.array(axes0, s0.dtype), np.array(axes1, s0.dtype)


def broadcast_static_shape(shape_x: TensorShape, shape_y: TensorShape) -> TensorShape:
    """The TensorShape that two TensorShapes broadcast to; ValueError when they cannot.

    Args:
        shape_x, shape_y: the TensorShapes; a size may be unknown.
    """
    return type(shape_x)(broadcast_dims(shape_x.sizes, shape_y.sizes))


def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Tensor:
    """The shape, as a tensor, that two shapes given as tensors broadcast to.

    Args:
        shape_x, shape_y: [n] and [m] tensors of int32, or both of int64.
    """
    return broadcast_args(shape_x, shape_y)


def _reversed(node: Operation) -> list[Dims]:
    rank, axes = rank_of(node.inputs[0]), constant_value(node.inputs[1])
    check_rank(node.inputs[1], 1)
    if rank is not None and axes is not None:
        seen = set()
        for axis in axes.tolist():
            if not -rank <= axis < rank:
                raise ValueError(f"'axis'[0] = {axis} is out of valid range [-{rank}, {rank - 1}]")
            if axis % rank in seen:
                raise ValueError(f"axis {axis % rank} specified more than once.")
            seen.add(axis % rank)
    return same_as_input(node)


def _reverse_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [reverse_node(grad, node.inputs[1]), None]


@op("ReverseV2", "tensor: T, axis: Tidx -> output: T", infer=_reversed, static=("axis",), types={"Tidx": INDEX},
    gradient=_reverse_gradient)  # fmt: skip
def reverse_node(xp: ArrayModule, tensor: Array, axis: Array, *, Tidx: DType = dtypes.int32) -> Result:
    """The elements in opposite order along the dimensions in `axis`: `[...], [k] -> [...]`."""
    axes = axis.reshape(-1).tolist()
    if len(axes) != 1 or not -tensor.ndim <= axes[0] < tensor.ndim:
        return xp.flip(tensor, tuple(axes))
    return tensor[(*[slice(None)] * (axes[0] % tensor.ndim), slice(None, None, -1))]


def reverse(tensor: TensorLike, axis: TensorLike, name: str | None = None) -> Tensor:
    """Reverse the order of the elements along the dimensions listed in `axis`.

    Args:
        tensor: [...] tensor of any dtype.
        axis: [n] tensor or list of int32 or int64, each dimension once; one below zero counts from the end.

    Returns:
        A tensor of the same shape and dtype.
    """
    return reverse_node(tensor, axis, name=name)


def _rolled(node: Operation) -> list[Dims]:
    shift, axis = node.inputs[1].dims, node.inputs[2].dims
    for dims in (shift, axis):
        if dims is not None and len(dims) > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {len(dims)}")
    if shift and axis and None not in (shift[0], axis[0]) and shift[0] != axis[0]:
        sizes = f"{shift[0]} and {axis[0]}. Shapes are [{shift[0]}] and [{axis[0]}]."
        raise ValueError(f"Dimension 0 in both shapes must be equal, but are {sizes}")
    return same_as_input(node)


def _roll_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [roll_node(grad, neg(node.inputs[1]), node.inputs[2]), None, None]


@op("Roll", "input: T, shift: Tshift, axis: Taxis -> output: T",
    ranks={"input": AtLeast(1)},
    infer=_rolled, static=("axis",),
    gradient=_roll_gradient,
    types={"Tshift": INDEX, "Taxis": INDEX})  # fmt: skip
def roll_node(xp: ArrayModule, input: Array, shift: Array, axis: Array) -> Result:
    """The elements moved on by `shift` along `axis`, around the end.

    `[...], [k], [k] -> [...]`, or with scalars for the vectors.
    """
    rank = len(input.shape)
    for what, given in (("shift", shift), ("axis", axis)):
        if len(given.shape) > 1:
            raise InvalidArgumentError.of(f"{what} must be a scalar or a 1-D vector. Found: {brackets(given.shape)}")
    if np.size(shift) != np.size(axis):
        raise InvalidArgumentError.of(f"shift and axis must have the same size, not {np.size(shift)} and {np.size(axis)}")
    axes = np.ravel(axis).tolist()
    for each in axes:
        if not -rank <= each < rank:
            raise InvalidArgumentError.of(f"axis {each} is out of range")
    shifts = xp.ravel(shift)
    for index, each in enumerate(axes):
        input = xp.roll(input, shifts[index], each)
    return input


def roll(input: TensorLike, shift: TensorLike, axis: TensorLike, name: str | None = None) -> Tensor:
    """Move the elements on by `shift` along `axis`; those that leave at the end come in at the start.

    Args:
        input: [...] tensor of any dtype.
        shift: scalar or [n] tensor of int32 or int64; below zero towards the start.
        axis: scalar or [n] tensor of int32 or int64, a dimension for each shift.

    Returns:
        A tensor of the same shape and dtype.
    """
    return roll_node(input, shift, axis, name=name)


def required_space_to_batch_paddings(
    input_shape: TensorLike, block_shape: TensorLike, base_paddings: TensorLike | None = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The paddings that make a shape divisible by a block shape, and the crops that undo them.

    Args:
        input_shape: [n] int32: the sizes of the spatial dimensions.
        block_shape: [n] int32: the sizes of a block; n is known while the graph is built.
        base_paddings: [n, 2] int32: paddings that there shall be in any case; zeros when None.

    Returns:
        `paddings` and `crops`, [n, 2] int32 each.

    Raises:
        ValueError: the size of `block_shape` is not known, or an argument has another shape.
    """
    blocks = convert_to_tensor(block_shape)
    if not blocks.dims or blocks.dims[0] is None:
        raise ValueError(f"block_shape must have rank 1 and a known size, but its shape is {blocks.shape}")
    around = convert_to_tensor(np.zeros((blocks.dims[0], 2), np.int32) if base_paddings is None else base_paddings)
    given = convert_to_tensor(input_shape)
    block, sizes, base = (constant_value(tensor) for tensor in (blocks, given, around))
    if block is None or sizes is None or base is None:
        return _paddings_of_a_run(given, blocks, around)
    full = sizes + base.sum(1)
    extra = (block - full % block) % block
    paddings = np.stack([base[:, 0], base[:, 1] + extra], 1).astype(np.int32)
    crops = np.stack([np.zeros_like(extra), extra], 1).astype(np.int32)
    return constant(paddings, name="paddings"), constant(crops, name="crops")


def _paddings_of_a_run(sizes: Tensor, block: Tensor, base: Tensor) -> tuple[Tensor, Tensor]:
    """The paddings and crops of sizes that only a run knows."""
    before, after = base[:, 0], base[:, 1]
    extra = (block - (sizes + before + after) % block) % block
    return stack([before, after + extra], axis=1, name="paddings"), stack([extra * 0, extra], axis=1, name="crops")
