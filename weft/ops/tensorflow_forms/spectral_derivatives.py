"""Forms of KernelGradient for transforms between real numbers and half spectra, and for products of sparse and dense values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import fill
from weft.ops.array.gather_scatter import gather_nd_node, scatter_nd
from weft.ops.array.joining import concat
from weft.ops.array.padding import pad, slice_of
from weft.ops.array.shape_ops import shape
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import broadcast_to
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum, minimum
from weft.ops.math.complex_numbers import real
from weft.ops.math.division import div
from weft.ops.math.elementwise import mul, neg, square, sum_to_like
from weft.ops.math.reduce_functions import reduce_prod
from weft.ops.signal.fourier import (
    ifft,
    ifft2d,
    ifft3d,
    irfft2d_node,
    irfft3d_node,
    irfft_node,
    rfft2d_node,
    rfft3d_node,
    rfft_node,
)
from weft.ops.sparse.arithmetic import sparse_dense_div, sparse_dense_mul
from weft.ops.tensorflow_forms.derivatives import Rule, derivative


def _fitted(tensor: Tensor, sizes: Tensor) -> Tensor:
    """The tensor cut, or filled up with zeros, to the sizes, at the ends."""
    kept = minimum(shape(tensor), sizes)
    margins = sizes - kept
    return pad(slice_of(tensor, fill(shape(kept), 0), kept), stack([fill(shape(margins), 0), margins], 1))


def _with_lengths(tensor: Tensor, lengths: Tensor, rank: int) -> Tensor:
    """The sizes of a tensor, the last ones replaced."""
    return concat([shape(tensor)[:-rank], lengths], 0)


def _of_spectrum(inverse: Callable[[Tensor], Tensor], rank: int) -> Rule:
    """The rule of a transform of real numbers: the inverse one of the gradient, whose second half is nothing."""

    def rule(node: Operation, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> dict[int, Tensor]:
        lengths = inputs[1]
        whole = inverse(_fitted(grads[0], _with_lengths(grads[0], lengths, rank)))
        scaled = mul(real(whole), cast(reduce_prod(lengths), inputs[0].dtype))
        return {0: _fitted(scaled, shape(inputs[0]))}

    return rule


def _of_numbers(forward: Callable[[Tensor, Tensor], Tensor], rank: int) -> Rule:
    """The rule of a transform to real numbers: what is in the middle of the spectrum stands for its mirror image, too."""

    def rule(node: Operation, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> dict[int, Tensor]:
        lengths, numbers = inputs[1], grads[0].dtype
        last = lengths[-1]
        doubled = fill(stack([maximum((last - 1) // 2, 0)]), 2)
        alone = fill(stack([last // 2 - (last - 1) // 2]), 1)
        counts = cast(concat([[1], doubled, alone], 0), numbers)
        shares = div(counts, cast(reduce_prod(lengths), numbers))
        return {0: _fitted(mul(forward(grads[0], lengths), cast(shares, inputs[0].dtype)), shape(inputs[0]))}

    return rule


_TRANSFORMS: Final = (
    (rfft_node, irfft_node, ifft, 1),
    (rfft2d_node, irfft2d_node, ifft2d, 2),
    (rfft3d_node, irfft3d_node, ifft3d, 3),
)
for _forward, _backward, _inverse, _rank in _TRANSFORMS:
    derivative(_forward)(_of_spectrum(_inverse, _rank))
    derivative(_backward)(_of_numbers(_forward, _rank))


def _at(dense: Tensor, indices: Tensor, sizes: Tensor) -> Tensor:
    """The dense values, broadcast to the sizes, where the sparse ones are."""
    return gather_nd_node(broadcast_to(dense, sizes), indices)


@derivative(sparse_dense_mul)
def _sparse_product(node: Operation, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> dict[int, Tensor] | None:
    indices, values, sizes, dense = inputs
    if values.dtype.is_complex:
        return None
    of_dense = scatter_nd(indices, mul(grads[0], values), sizes)
    return {1: mul(grads[0], _at(dense, indices, sizes)), 3: sum_to_like(of_dense, dense)}


@derivative(sparse_dense_div)
def _sparse_quotient(node: Operation, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> dict[int, Tensor] | None:
    indices, values, sizes, dense = inputs
    if values.dtype.base_dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
        return None
    divisor = _at(dense, indices, sizes)
    of_divisor = neg(div(mul(grads[0], values), square(divisor)))
    return {1: div(grads[0], divisor), 3: sum_to_like(scatter_nd(indices, of_divisor, sizes), dense)}
