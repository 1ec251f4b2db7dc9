"""Logarithms of weighted sums of exponentials, and matrices of diagonals."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import AxisLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.ops.array.filling import zeros_like
from weft.ops.array.identity import stop_gradient
from weft.ops.array.padding import pad
from weft.ops.array.selection import where_v2
from weft.ops.array.shape_ops import squeeze
from weft.ops.input_scope import input_scope
from weft.ops.linalg.matrix_bands import matrix_diag, matrix_diag_part, matrix_set_diag
from weft.ops.math.complex_numbers import absolute, sign
from weft.ops.math.reduce_functions import reduce_logsumexp, reduce_max, reduce_sum
from weft.ops.math.unary import exp, is_inf, log


def reduce_weighted_logsumexp(
    logx: TensorLike,
    w: TensorLike | None = None,
    axis: AxisLike = None,
    keep_dims: bool = False,
    return_sign: bool = False,
    name: str | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """`log(abs(sum(w exp(logx))))`, without exponentials that are too large.

    Args:
        logx: floats.
        w: weights of any sign that broadcast; ones when None.
        axis: what to sum over; all when None.
        keep_dims: keep those dimensions with size 1.
        return_sign: also give the sign of the sum.
        name: the scope's name.

    Returns:
        The logarithms; with `return_sign` a pair of them and the signs.
    """
    with input_scope(name, "reduce_weighted_logsumexp", [logx, w]):
        logx = convert_to_tensor(logx, name="logx")
        if w is None:
            plain = reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
            return (plain, sign(exp(zeros_like(plain)))) if return_sign else plain
        w = convert_to_tensor(w, logx.dtype, name="w")
        logs = logx + log(absolute(w))
        greatest = reduce_max(logs, axis=axis, keepdims=True)
        greatest = stop_gradient(where_v2(is_inf(greatest), zeros_like(greatest), greatest))
        total = reduce_sum(sign(w) * exp(logs - greatest), axis=axis, keepdims=keep_dims)
        if not keep_dims:
            greatest = squeeze(greatest, None if axis is None else [axis] if isinstance(axis, int) else axis)
        result = greatest + log(absolute(total))
        return (result, sign(total)) if return_sign else result


def tridiag(
    below: TensorLike | None = None, diag: TensorLike | None = None, above: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """A matrix of the diagonal and the two beside it.

    Args:
        below: `[..., size - 1]`, what is below the diagonal; zeros when None.
        diag: `[..., size]`, the diagonal; zeros when None.
        above: `[..., size - 1]`, what is above it; zeros when None.
        name: the scope's name.

    Returns:
        `[..., size, size]`.

    Raises:
        ValueError: all are None, or their sizes do not fit.
    """
    with input_scope(name, "tridiag", [below, diag, above]):
        parts = []
        if below is not None:
            parts.append(_shifted(matrix_diag(convert_to_tensor(below, name="below")), 1, 0))
        if diag is not None:
            parts.append(matrix_diag(convert_to_tensor(diag, name="diag")))
        if above is not None:
            parts.append(_shifted(matrix_diag(convert_to_tensor(above, name="above")), 0, 1))
        if not parts:
            raise ValueError("Must specify at least one of `below`, `diag`, `above`.")
        return sum(parts[1:], parts[0])


def _shifted(matrix: Tensor, down: int, right: int) -> Tensor:
    """The matrix with a row and a column more: its elements that many places further."""
    around = [[0, 0]] * ((matrix.shape.ndims or 2) - 2)
    return pad(matrix, [*around, [down, 1 - down], [right, 1 - right]])


def matrix_diag_transform(
    matrix: TensorLike, transform: Callable[[Tensor], Tensor] | None = None, name: str | None = None
) -> Tensor:
    """A matrix with a function of its diagonal as the diagonal.

    Args:
        matrix: `[..., size, size]`.
        transform: a function of `[..., size]`; the identity when None.
        name: the scope's name.
    """
    with input_scope(name, "matrix_diag_transform", [matrix]):
        given = convert_to_tensor(matrix, name="matrix")
        return given if transform is None else matrix_set_diag(given, transform(matrix_diag_part(given)))
