"""Moving blocks of elements between dimensions: depth and space, batch and space, image patches."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import ShapeMisfit
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.ops.array.padding import check_rank
from weft.ops.array.shape_ops import INDEX
from weft.ops.declaration import op
from weft.platform.logs.deprecation import deprecated_argument_lookup

# Depth and space.

_LAYOUTS: Final = ("NHWC", "NCHW", "NCHW_VECT_C")


def size_times(size: int | None, factor: int) -> int | None:
    return None if size is None else size * factor


def _over(size: int | None, factor: int, what: str) -> int | None:
    if size is None:
        return None
    if size % factor:
        text = f"Dimension size must be evenly divisible by {factor} but is {size}"
        raise ShapeMisfit(text, f"The {what}, {size}, is no multiple of {factor}: choose another block, or pad.")
    return size // factor


def _check_format(data_format: str) -> None:
    if data_format not in ("NHWC", "NCHW"):
        raise InvalidArgumentError.of(f"data_format must be NHWC or NCHW, got {data_format}")


def _deeper(node: Operation) -> list[Dims]:
    dims, block = node.inputs[0].dims, node.attrs["block_size"]
    check_rank(node.inputs[0], 5 if node.attrs["data_format"] == "NCHW_VECT_C" else 4)
    if node.attrs["data_format"] == "NCHW_VECT_C":
        return [(None,) * 5]
    if dims is None:
        return [(None,) * 4]
    if node.attrs["data_format"] == "NCHW":
        n, c, h, w = dims
        return [(n, size_times(c, block * block), _over(h, block, "height"), _over(w, block, "width"))]
    n, h, w, c = dims
    return [(n, _over(h, block, "height"), _over(w, block, "width"), size_times(c, block * block))]


def _wider(node: Operation) -> list[Dims]:
    dims, block = node.inputs[0].dims, node.attrs["block_size"]
    check_rank(node.inputs[0], 5 if node.attrs["data_format"] == "NCHW_VECT_C" else 4)
    if node.attrs["data_format"] == "NCHW_VECT_C":
        return [(None,) * 5]
    if dims is None:
        return [(None,) * 4]
    if node.attrs["data_format"] == "NCHW":
        n, c, h, w = dims
        return [(n, _over(c, block * block, "depth"), size_times(h, block), size_times(w, block))]
    n, h, w, c = dims
    return [(n, size_times(h, block), size_times(w, block), _over(c, block * block, "depth"))]


def _attrs(node: Operation) -> dict[str, Any]:
    return {key: node.attrs[key] for key in ("block_size", "data_format")}


def _space_to_depth_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [depth_to_space_node(grad, **_attrs(node))]


@op("SpaceToDepth", "input: T -> output: T", infer=_deeper,
    gradient=_space_to_depth_gradient, limits={"data_format": _LAYOUTS})  # fmt: skip
def space_to_depth_node(xp: ArrayModule, input: Array, *, block_size: int, data_format: str = "NHWC") -> Result:
    """Each block of `b` x `b` pixels (b is `block_size`) as the channels of one.

    `[batch, height, width, depth] -> [batch, height/b, width/b, depth*b*b]`, or the same with the depth second in NCHW.
    """
    _check_format(data_format)
    b = block_size
    if data_format == "NCHW":
        n, c, h, w = input.shape
        split = xp.reshape(input, (n, c, h // b, b, w // b, b))
        return xp.reshape(xp.transpose(split, (0, 3, 5, 1, 2, 4)), (n, b * b * c, h // b, w // b))
    n, h, w, c = input.shape
    split = xp.reshape(input, (n, h // b, b, w // b, b, c))
    return xp.reshape(xp.transpose(split, (0, 1, 3, 2, 4, 5)), (n, h // b, w // b, b * b * c))


@op("DepthToSpace", "input: T -> output: T", infer=_wider,
    gradient=lambda node, grad: [space_to_depth_node(grad, **_attrs(node))], limits={"data_format": _LAYOUTS})  # fmt: skip
def depth_to_space_node(xp: ArrayModule, input: Array, *, block_size: int, data_format: str = "NHWC") -> Result:
    """The channels of each pixel as a block of `b` x `b` pixels (b is `block_size`).

    `[batch, height, width, depth] -> [batch, height*b, width*b, depth/(b*b)]`, or the same with the depth second in
    NCHW.
    """
    _check_format(data_format)
    b = block_size
    if data_format == "NCHW":
        n, c, h, w = input.shape
        split = xp.reshape(input, (n, b, b, c // (b * b), h, w))
        return xp.reshape(xp.transpose(split, (0, 3, 4, 1, 5, 2)), (n, c // (b * b), h * b, w * b))
    n, h, w, c = input.shape
    split = xp.reshape(input, (n, h, w, b, b, c // (b * b)))
    return xp.reshape(xp.transpose(split, (0, 1, 3, 2, 4, 5)), (n, h * b, w * b, c // (b * b)))


def space_to_depth(input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """Turn each block of `block_size` x `block_size` pixels into the channels of one.

    Args:
        input: [batch, rows, columns, depth] tensor of any dtype, or in the order of `data_format`.
        block_size: the side of a block, 2 or more; it divides rows and columns.
        data_format: 'NHWC' or 'NCHW'.

    Returns:
        [batch, rows / block_size, columns / block_size, depth * block_size**2] tensor of the same dtype.
    """
    return space_to_depth_node(input, block_size=block_size, data_format=data_format, name=name)


def depth_to_space(input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """Turn the channels of each pixel into a block of `block_size` x `block_size` pixels.

    Args:
        input: [batch, rows, columns, depth] tensor of any dtype, or in the order of `data_format`.
        block_size: the side of a block, 2 or more; its square divides `depth`.
        data_format: 'NHWC' or 'NCHW'.

    Returns:
        [batch, rows * block_size, columns * block_size, depth / block_size**2] tensor of the same dtype.
    """
    return depth_to_space_node(input, block_size=block_size, data_format=data_format, name=name)


# Batch and space.


def _block_dims(node: Operation) -> tuple[Dims, int | None]:
    """The input's shape, and the number of its dimensions that are cut into blocks."""
    dims, block, margins = (tensor.dims for tensor in node.inputs)
    if block is None or len(block) != 1:
        raise ValueError("block_shape must have rank 1.")
    count = block[0]
    if count is None:
        return dims, None
    if margins is not None and len(margins) != 2:
        raise ValueError(f"Shape must be rank 2 but is rank {len(margins)}")
    merge_dims(margins, (count, 2))
    if dims is not None and len(dims) < 1 + count:
        raise ValueError(f"Shape must be at least rank {1 + count} but is rank {len(dims)}")
    return dims, count


_Margins: TypeAlias = list[list[int]]


def _fault(block: Sequence[int], margins: _Margins, what: str) -> str:
    """What is wrong with the sizes of a block, or with what is added to or cut off each dimension; empty if nothing is."""
    if any(size < 1 for size in block):
        return "block_shape must be positive"
    return f"{what} cannot be negative" if any(size < 0 for pair in margins for size in pair) else ""


def _known(node: Operation, what: str) -> tuple[list[int] | None, _Margins | None]:
    """The sizes of a block and the margins, where the graph tells them."""
    block, margins = (None if value is None else value.tolist() for value in map(constant_value, node.inputs[1:3]))
    if fault := _fault(block or [], margins or [], what):
        raise ValueError(fault)
    return block, margins


def _to_batch_shape(node: Operation) -> list[Dims]:
    dims, count = _block_dims(node)
    block, paddings = _known(node, "paddings")
    if dims is None or count is None:
        return [None]
    if block is None:
        return [(None,) * (1 + count) + dims[1 + count :]]
    batch = size_times(dims[0], math.prod(block))
    if paddings is None:
        return [(batch, *[None] * count, *dims[1 + count :])]
    sizes = [
        None if size is None else _over(size + a + c, b, "padded size")
        for size, b, (a, c) in zip(dims[1 : 1 + count], block, paddings, strict=True)
    ]
    return [(batch, *sizes, *dims[1 + count :])]


def _from_batch_shape(node: Operation) -> list[Dims]:
    dims, count = _block_dims(node)
    block, crops = _known(node, "crops")
    if dims is None or count is None:
        return [None]
    if block is None:
        return [(None,) * (1 + count) + dims[1 + count :]]
    batch = functools.reduce(lambda size, each: _over(size, each, "batch"), block, dims[0])
    if crops is None:
        return [(batch, *[None] * count, *dims[1 + count :])]
    sizes = [
        None if size is None else _cropped(size * b, a, c)
        for size, b, (a, c) in zip(dims[1 : 1 + count], block, crops, strict=True)
    ]
    return [(batch, *sizes, *dims[1 + count :])]


def _cropped(size: int, before: int, after: int) -> int:
    if before + after > size:
        left, cut = (size, before) if before > size else (size - before, after)
        text = f"Negative dimension size caused by subtracting {cut} from {left}"
        raise ShapeMisfit(text, f"The crops [{before}, {after}] take more than the {size} that the blocks make.")
    return size - before - after


def _to_batch(xp: ArrayModule, input: Array, block: list[int], paddings: _Margins) -> Array:
    count = len(block)
    _check(input, block, paddings, "paddings")
    rest = tuple(input.shape[1 + count :])
    padded = xp.pad(input, [(0, 0), *paddings, *[(0, 0)] * len(rest)])
    batch, space = padded.shape[0], padded.shape[1 : 1 + count]
    for axis, (size, b) in enumerate(zip(space, block, strict=True)):
        if size % b:
            raise InvalidArgumentError.of(f"padded_shape[{axis}]={size} is not divisible by block_shape[{axis}]={b}")
    split: tuple[int, ...] = (batch,)
    for size, b in zip(space, block, strict=True):
        split += (size // b, b)
    order = [2 * i + 2 for i in range(count)] + [0] + [2 * i + 1 for i in range(count)]
    order += range(2 * count + 1, 2 * count + 1 + len(rest))
    moved = xp.transpose(xp.reshape(padded, split + rest), order)
    return xp.reshape(moved, (batch * math.prod(block), *(s // b for s, b in zip(space, block, strict=True)), *rest))


def _check(input: Array, block: list[int], margins: _Margins, what: str) -> None:
    """Refuse sizes that only a run tells."""
    if fault := _fault(block, margins, what):
        raise InvalidArgumentError.of(f"{fault}: block_shape is {block}, {what} is {margins}")
    if np.shape(margins) != (len(block), 2):
        raise InvalidArgumentError.of(f"{what} should have shape [{len(block)}, 2] instead of {list(np.shape(margins))}")
    if len(input.shape) < 1 + len(block):
        raise InvalidArgumentError.of(f"input rank should be >= {1 + len(block)} instead of {len(input.shape)}")


def _from_batch(xp: ArrayModule, input: Array, block: list[int], crops: _Margins) -> Array:
    count, total = len(block), math.prod(block)
    _check(input, block, crops, "crops")
    if input.shape[0] % total:
        raise InvalidArgumentError.of(
            f"Input batch dimension ({input.shape[0]}) is not divisible by product of block sizes ({total})"
        )
    batch, space, rest = input.shape[0] // total, tuple(input.shape[1 : 1 + count]), tuple(input.shape[1 + count :])
    order = [count]
    for i in range(count):
        order += [count + 1 + i, i]
    order += range(2 * count + 1, 2 * count + 1 + len(rest))
    moved = xp.transpose(xp.reshape(input, (*block, batch, *space, *rest)), order)
    whole = xp.reshape(moved, (batch, *(s * b for s, b in zip(space, block, strict=True)), *rest))
    cut = [slice(None)]
    for axis, (a, b) in enumerate(crops):
        size = whole.shape[axis + 1]
        if a + b > size:
            raise InvalidArgumentError.of(f"cropped_shape[{axis}]={size - a - b} must be non-negative")
        cut.append(slice(a, size - b))
    return whole[tuple(cut)]


def _space_to_batch_nd_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [batch_to_space_nd_node(grad, *node.inputs[1:]), None, None]


@op("SpaceToBatchND", "input: T, block_shape: Tblock_shape, paddings: Tpaddings -> output: T", infer=_to_batch_shape,
    static=("block_shape", "paddings"), types={"Tblock_shape": INDEX, "Tpaddings": INDEX},
    defaults={"Tblock_shape": dtypes.int32, "Tpaddings": dtypes.int32},
    gradient=_space_to_batch_nd_gradient)  # fmt: skip
def space_to_batch_nd_node(xp: ArrayModule, input: Array, block_shape: Array, paddings: Array) -> Result:
    """The padded space dealt out to the batch, position in the block by position.

    `[batch, *space, *rest], [m], [m, 2] -> [batch*prod(block), *padded/block, *rest]` for m dimensions of space.
    """
    return _to_batch(xp, input, np.ravel(block_shape).tolist(), np.asarray(paddings).tolist())


@op("BatchToSpaceND", "input: T, block_shape: Tblock_shape, crops: Tcrops -> output: T", infer=_from_batch_shape,
    static=("block_shape", "crops"), types={"Tblock_shape": INDEX, "Tcrops": INDEX},
    defaults={"Tblock_shape": dtypes.int32, "Tcrops": dtypes.int32},
    gradient=lambda node, grad: [space_to_batch_nd_node(grad, *node.inputs[1:]), None, None])  # fmt: skip
def batch_to_space_nd_node(xp: ArrayModule, input: Array, block_shape: Array, crops: Array) -> Result:
    """The inverse of SpaceToBatchND.

    `[batch, *space, *rest], [m], [m, 2] -> [batch/prod(block), *space*block-crops, *rest]` for m dimensions of space.
    """
    return _from_batch(xp, input, np.ravel(block_shape).tolist(), np.asarray(crops).tolist())


def space_to_batch_nd(input: TensorLike, block_shape: TensorLike, paddings: TensorLike, name: str | None = None) -> Tensor:
    """Pad the dimensions after the batch, cut them into blocks and deal the positions in a block out to the batch.

    Args:
        input: [batch, *spatial, *rest] tensor of any dtype.
        block_shape: [m] tensor of int32 or int64, one size for each of the m spatial dimensions; it divides the padded one.
        paddings: [m, 2] tensor of int32 or int64: how many zeros to add at the start and the end of each.

    Returns:
        [batch * size of a block, *smaller spatial, *rest] tensor of the same dtype.
    """
    return space_to_batch_nd_node(input, block_shape, paddings, name=name)


def batch_to_space_nd(input: TensorLike, block_shape: TensorLike, crops: TensorLike, name: str | None = None) -> Tensor:
    """Undo `space_to_batch_nd`, cutting `crops` off.

    Args:
        input: [batch, *spatial, *rest] tensor of any dtype; the sizes of the block divide `batch`.
        block_shape: [m] tensor of int32 or int64, one size for each of the m spatial dimensions.
        crops: [m, 2] tensor of int32 or int64: how much to cut off at the start and the end of each.

    Returns:
        [batch / size of a block, *larger spatial, *rest] tensor of the same dtype.
    """
    return batch_to_space_nd_node(input, block_shape, crops, name=name)


def space_to_batch(
    input: TensorLike,
    paddings: TensorLike,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: int | None = None,
) -> Tensor:
    """`space_to_batch_nd` of images with square blocks.

    Args:
        input: [batch, rows, columns, depth] tensor of any dtype.
        paddings: [2, 2] tensor of int32 or int64: how many zeros to add above, below, left and right.
        block_size: the side of a block, 2 or more.
        block_shape: another name of it.

    Raises:
        ValueError: it is given by both names.
    """
    return _of_images(space_to_batch_nd(input, _square(block_size, block_shape), paddings, name))


def batch_to_space(
    input: TensorLike,
    crops: TensorLike,
    block_size: int | None,
    name: str | None = None,
    block_shape: int | None = None,
) -> Tensor:
    """`batch_to_space_nd` of images with square blocks.

    Args:
        input: [batch, rows, columns, depth] tensor of any dtype.
        crops: [2, 2] tensor of int32 or int64: how much to cut off above, below, left and right.
        block_size: the side of a block, 2 or more.
        block_shape: another name of it, for which `block_size` is None.

    Raises:
        ValueError: it is given by both names.
    """
    return _of_images(batch_to_space_nd(input, _square(block_size, block_shape), crops, name))


def _of_images(result: Tensor) -> Tensor:
    result.set_shape(result.shape.with_rank(4))
    return result


def _square(block_size: int | None, block_shape: int | None) -> list[int]:
    side = deprecated_argument_lookup("block_shape", block_shape, "block_size", block_size)
    if side is None:
        raise TypeError("block_size, the side of a block, is missing")
    return [side, side]
