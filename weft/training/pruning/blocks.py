"""Blocks of a matrix: what stands for each, and a matrix in which each element is a block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.framework.nodes.operation import Tensor
from weft.ops.array.constant import constant
from weft.ops.array.gather_scatter import scatter_nd
from weft.ops.array.shape_ops import reshape, squeeze
from weft.ops.array.tiling import tile
from weft.ops.array.transposing import transpose
from weft.ops.input_scope import input_scope
from weft.ops.nn.pool import pool


def pooled_at_once(matrix: Tensor, sizes: Sequence[int], kind: str, name: str) -> Tensor:
    """What stands for each block: `[rows, columns] -> [blocks, blocks]`.

    Args:
        matrix: the matrix.
        sizes: height and width of a block.
        kind: "AVG" or "MAX".
        name: the name of the pool.
    """
    rows, columns = matrix.shape.as_list()
    image = reshape(matrix, [1, rows, columns, 1])
    return squeeze(pool(image, sizes, kind, "SAME", strides=sizes, name=name), axis=[0, 3])


def pooled_in_two(matrix: Tensor, sizes: Sequence[int], kind: str, name: str) -> Tensor:
    """The same by two pools, one along each axis.

    Args: those of `pooled_at_once`.
    """
    rows, columns = matrix.shape.as_list()
    with input_scope(name, "factorized_pool", (matrix,)):
        made = reshape(matrix, [1, 1, rows, columns], name=f"{matrix.op.name}_aligned")
        height, width = ([1, size] for size in sizes)
        made = transpose(pool(made, height, kind, "SAME", strides=height), perm=[0, 1, 3, 2])
        made = pool(made, width, kind, "SAME", strides=width)
    return squeeze(transpose(made, perm=[0, 1, 3, 2]), axis=[0, 1])


def expanded(matrix: Tensor, sizes: Sequence[int]) -> Tensor:
    """A matrix with a block of equal elements for each of another's.

    Args:
        matrix: the other.
        sizes: height and width of a block.
    """
    height, width = sizes
    if height > 1:
        matrix = _repeated_rows(matrix, height)
    if width > 1:
        matrix = transpose(_repeated_rows(transpose(matrix), width))
    return matrix


def _repeated_rows(matrix: Tensor, count: int) -> Tensor:
    rows, columns = (int(size) for size in matrix.shape)
    places = np.arange(rows * count, dtype=np.int32).reshape(rows, count).T.reshape(-1, 1)
    return scatter_nd(constant(places), tile(matrix, [count, 1]), [rows * count, columns])
