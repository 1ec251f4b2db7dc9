"""Patches of images: ExtractImagePatches and its gradient."""

from __future__ import annotations

from collections.abc import Sequence

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Result, TensorLike
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims
from weft.ops.array.blocks import size_times
from weft.ops.array.padding import check_rank
from weft.ops.array.shape_ops import brackets
from weft.ops.declaration import op
from weft.ops.symbolic_gradient import vjp


def _patch_count(size: int | None, kernel: int, stride: int, rate: int, padding: str) -> int | None:
    if size is None:
        return None
    if padding == "SAME":
        return -(-size // stride)
    return max(0, (size - (kernel - 1) * rate - 1) // stride + 1)


def _patches_shape(node: Operation) -> list[Dims]:
    dims, attrs = node.inputs[0].dims, node.attrs
    check_rank(node.inputs[0], 4)
    if dims is None:
        return [(None,) * 4]
    kernel, stride, rate = attrs["ksizes"], attrs["strides"], attrs["rates"]
    for name in ("ksizes", "strides", "rates"):
        if len(attrs[name]) != 4:
            raise ValueError(
                f"ExtractImagePatches requires the {name} attribute to contain 4 values, but got: {len(attrs[name])}"
            )
    rows, columns = (_patch_count(dims[i], kernel[i], stride[i], rate[i], attrs["padding"]) for i in (1, 2))
    return [(dims[0], rows, columns, size_times(dims[3], kernel[1] * kernel[2]))]


@op(
    "ExtractImagePatches",
    "images: T -> patches: T",
    infer=_patches_shape,
    gradient=vjp,
    limits={"ksizes": 4, "rates": 4, "strides": 4},
)
def extract_image_patches_node(
    xp: ArrayModule, images: Array, *, ksizes: list[int], strides: list[int], rates: list[int], padding: str
) -> Result:
    """The patches, kh x kw pixels each, around evenly spaced pixels, each as the channels of one pixel.

    `[batch, height, width, depth] -> [batch, rows, columns, kh*kw*depth]`.
    """
    if padding not in ("SAME", "VALID"):
        raise InvalidArgumentError.of(f"padding must be SAME or VALID, got {padding}")
    margins = [(0, 0)]
    counts = []
    for axis in (1, 2):
        size, extent = images.shape[axis], (ksizes[axis] - 1) * rates[axis] + 1
        count = _patch_count(size, ksizes[axis], strides[axis], rates[axis], padding)
        missing = max(0, (count - 1) * strides[axis] + extent - size) if padding == "SAME" else 0  # type: ignore[operator]
        margins.append((missing // 2, missing - missing // 2))
        counts.append(count)
    padded = xp.pad(images, [*margins, (0, 0)])
    rows, columns = counts
    parts = [
        padded[:, r * rates[1] :: strides[1], c * rates[2] :: strides[2]][:, :rows, :columns]
        for r in range(ksizes[1])
        for c in range(ksizes[2])
    ]
    return xp.concatenate(parts, 3)


def extract_image_patches(
    images: TensorLike,
    ksizes: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    rates: Sequence[int] | None = None,
    padding: str | None = None,
    name: str | None = None,
    sizes: Sequence[int] | None = None,
) -> Tensor:
    """Take patches of `[batch, rows, columns, depth]` images and put each into the last dimension.

    Args:
        images: the images.
        ksizes, sizes: `[1, rows, columns, 1]`, the size of a patch, by one of the two names.
        strides: `[1, rows, columns, 1]`, how far apart the patches are.
        rates: `[1, rows, columns, 1]`, how far apart the pixels of a patch are.
        padding: VALID for patches inside the image only, SAME to pad it with zeros.
        name: the node's name.

    Returns:
        [batch, patch rows, patch columns, rows * columns * depth of a patch] tensor of the dtype of `images`.

    Raises:
        ValueError: `ksizes` has not four entries.
    """
    kernel = sizes if ksizes is None else ksizes
    if kernel is None or len(kernel) != 4:
        raise ValueError(f"ksizes must have four entries, got {brackets(kernel or [])}")
    return extract_image_patches_node(images, ksizes=kernel, strides=strides, rates=rates, padding=padding, name=name)


def extract_patches(
    images: TensorLike, sizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`extract_image_patches` by its later name and arguments.

    Args:
        images: `[batch, rows, columns, depth]`.
        sizes: `[1, rows, columns, 1]`, the size of a patch.
        strides: `[1, rows, columns, 1]`, how far apart the patches are.
        rates: `[1, rows, columns, 1]`, how far apart the pixels of a patch are.
        padding: VALID for patches inside the image only, SAME to pad it with zeros.
        name: the node's name.

    Raises:
        ValueError: `sizes` has not four entries.
    """
    return extract_image_patches(images, sizes, strides, rates, padding, name)
