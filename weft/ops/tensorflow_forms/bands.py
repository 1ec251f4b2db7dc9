"""Forms of bands of diagonals: the second versions of their ops, which 1.15 has, keep short diagonals at the left."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from weft.framework.building.op_builder import build
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.registry.op_registry import lookup
from weft.framework.types.dims import Dims
from weft.ops.array.constant import constant
from weft.ops.array.sequences import reverse_sequence_node
from weft.ops.linalg.matrix_bands import Band, band_of, matrix_diag_part_v3, matrix_diag_v3, matrix_set_diag_v3, sizes_of
from weft.ops.tensorflow_forms.form import form

Lengths: TypeAlias = list[int]


@form(matrix_diag_v3)
def _matrix_diag(
    node: Operation, diagonal: Tensor, k: Tensor, num_rows: Tensor, num_cols: Tensor, padding_value: Tensor
) -> Tensor | None:
    band, *wanted = (constant_value(each) for each in node.inputs[1:4])
    longest = None if diagonal.dims is None else diagonal.dims[-1]
    is_known = longest is not None and all(each is not None for each in (band, *wanted))
    sizes = sizes_of(longest or 0, band, int(wanted[0]), int(wanted[1])) if is_known else None
    reversals = _reversals(node, band, sizes, is_made=True)
    if reversals is None:
        return None
    return _second("MatrixDiagV2", _reversed(node, diagonal, reversals), k, num_rows, num_cols, padding_value)


@form(matrix_diag_part_v3)
def _matrix_diag_part(node: Operation, input: Tensor, k: Tensor, padding_value: Tensor) -> Tensor | None:
    reversals = _reversals(node, constant_value(node.inputs[1]), input.dims)
    if reversals is None:
        return None
    return _reversed(node, _second("MatrixDiagPartV2", input, k, padding_value), reversals[::-1])


@form(matrix_set_diag_v3)
def _matrix_set_diag(node: Operation, input: Tensor, diagonal: Tensor, k: Tensor) -> Tensor | None:
    reversals = _reversals(node, constant_value(node.inputs[2]), input.dims)
    return None if reversals is None else _second("MatrixSetDiagV2", input, _reversed(node, diagonal, reversals), k)


def _reversals(node: Operation, k: Any, dims: Dims, is_made: bool = False) -> list[Lengths] | None:
    """How much of each packed row is reversed, first and then, to bring short diagonals to the left; None if unknown."""
    align = node.attrs["align"]
    if align == "LEFT_LEFT" or (k is not None and np.equal(*band_of(k))):
        return []
    rows, columns = dims[-2:] if dims else (None, None)
    if k is None or rows is None or columns is None:
        return None
    band = Band(k, rows, columns, align, is_made)
    if not band.begins.any():
        return []
    return [np.where(band.begins > 0, lengths, 0).tolist() for lengths in (band.longest, band.lengths)]


def _reversed(node: Operation, packed: Tensor, reversals: list[Lengths]) -> Tensor:
    # Matrices and several packed diagonals of each have the same rank.
    count = len(node.inputs[0].dims or ())
    for lengths in reversals:
        packed = reverse_sequence_node(packed, constant(lengths), seq_dim=count - 1, batch_dim=count - 2)
    return packed


def _second(name: str, *inputs: Tensor) -> Tensor:
    return build(lookup(name), list(inputs), {}, name).outputs[0]
