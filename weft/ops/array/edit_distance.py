"""The distance between sequences, in insertions, deletions and replacements."""

from __future__ import annotations

import numpy as np

from weft.errors import InternalError
from weft.framework.building.aliases import Array, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims
from weft.ops.declaration import not_differentiable, op
from weft.ops.size_checks import size_of


def _distance_shape(node: Operation) -> list[Dims]:
    for first, name in ((0, "Hypothesis"), (3, "Truth")):
        indices, values, shape = node.inputs[first : first + 3]
        rank = size_of(shape, 0)
        if rank is not None and rank < 2:
            raise ValueError(f"Input {name} SparseTensors must have rank at least 2, but {name.lower()}_shape rank is: {rank}")
        if None not in (size_of(indices, 0), size_of(values, 0)) and size_of(indices, 0) != size_of(values, 0):
            raise ValueError(
                f"Number of elements in index ({size_of(indices, 0)}) and values ({size_of(values, 0)}) do not match."
            )
    shapes = constant_value(node.inputs[2]), constant_value(node.inputs[5])
    if shapes[0] is None or shapes[1] is None:
        return [None]
    return [tuple(int(size) for size in np.maximum(shapes[0], shapes[1])[:-1])]


@op("EditDistance", "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, truth_indices: int64, "
    "truth_values: T, truth_shape: int64 -> output: float32",
    ranks={"hypothesis_indices": 2, "hypothesis_values": 1, "hypothesis_shape": 1, "truth_indices": 2, "truth_values": 1,
           "truth_shape": 1}, infer=_distance_shape, gradient=not_differentiable)  # fmt: skip
def edit_distance_node(
    ctx: OpContext,
    hypothesis_indices: Array,
    hypothesis_values: Array,
    hypothesis_shape: Array,
    truth_indices: Array,
    truth_values: Array,
    truth_shape: Array,
    *,
    normalize: bool = True,
) -> Result:
    """The Levenshtein distance of the sequences along the last dimension of two sparse tensors.

    `[n, rank], [n], [rank], [m, rank], [m], [rank] -> [*outer]`, the greater of both shapes without its last size.
    """
    result = np.zeros(np.maximum(hypothesis_shape, truth_shape)[:-1], np.float32)
    found, wanted = _rows(hypothesis_indices, hypothesis_values), _rows(truth_indices, truth_values)
    for indices in (hypothesis_indices, truth_indices):
        outside = np.any((indices[:, :-1] < 0) | (indices[:, :-1] >= result.shape), axis=1)
        if outside.any():
            raise InternalError.of(
                f"The sequence {indices[outside][0, :-1].tolist()} is not in the result, of shape {list(result.shape)}"
            )
    for place in {*found, *wanted}:
        truth = wanted.get(place, [])
        distance = float(_levenshtein(found.get(place, []), truth))
        if normalize:
            distance = distance / len(truth) if truth else float("inf") if distance else 0.0
        result[place] = distance
    return result


def _rows(indices: Array, values: Array) -> dict[tuple[int, ...], list[object]]:
    rows: dict[tuple[int, ...], list[object]] = {}
    for index, value in zip(indices.tolist(), values.tolist(), strict=True):
        rows.setdefault(tuple(index[:-1]), []).append(value)
    return rows


def _levenshtein(first: list[object], second: list[object]) -> int:
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(second, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


def edit_distance(hypothesis: TensorLike, truth: TensorLike, normalize: bool = True, name: str = "edit_distance") -> Tensor:
    """How many insertions, deletions and replacements make each sequence of `truth` from that of `hypothesis`.

    Both are sparse; the sequences lie along the last dimension. `normalize` divides by the length of the truth.

    Args:
        hypothesis, truth: SparseTensors of one dtype, whose shapes are equal but for the last dimension.
        normalize: whether a distance is divided by the length of its sequence in `truth`.

    Returns:
        A float32 tensor of that shape without the last dimension.
    """
    pair = [SparseTensor.from_value(each) for each in (hypothesis, truth)]
    parts = [part for each in pair for part in (each.indices, each.values, each.dense_shape)]
    return edit_distance_node(*parts, normalize=normalize, name=name)
