"""auto_correlation: the correlation of a series with itself."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.padding import pad
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.transposing import transpose
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import minimum
from weft.ops.math.complex_numbers import conj, real
from weft.ops.math.reduce_functions import reduce_mean
from weft.ops.signal.fourier import fft, ifft


def auto_correlation(
    x: TensorLike, axis: int = -1, max_lags: TensorLike | None = None, center: bool = True, normalize: bool = True,
    name: str = "auto_correlation",
) -> Tensor:  # fmt: skip
    """The correlation of a series with itself, by how many places later.

    Args:
        x: floats or complex numbers, of a known rank.
        axis: along which the series goes.
        max_lags: for how many places, an integer; one less than the length when None or greater.
        center: whether the mean is taken off.
        normalize: whether the result is divided by that for no place.
        name: the scope's name.

    Returns:
        `[..., max_lags + 1]` with the lags along `axis`.

    Raises:
        TypeError: `x` is of another type.
        ValueError: its rank is not known, or there is no such axis.
    """
    with input_scope(name, name, [x]):
        given = convert_to_tensor(x, name="x")
        kind, rank = given.dtype, given.shape.ndims
        if not kind.is_floating and not kind.is_complex:
            raise TypeError(f"Argument x must have either float or complex dtype found: {kind}")
        if rank is None or not -rank <= axis < rank:
            raise ValueError(
                f"auto_correlation along axis {axis}, which is none of {given}: its rank must be known, and greater"
            )
        places = [each for each in range(rank) if each != axis % rank] + [axis % rank]
        sums = _sums(transpose(given, places), center, max_lags)
        if normalize:
            sums /= sums[..., :1]
        return transpose(sums, [places.index(each) for each in range(rank)])


def _sums(series: Tensor, center: bool, max_lags: TensorLike | None) -> Tensor:
    """The means of the products with the conjugate so many places before: `[..., length] -> [..., lags]`."""
    kind = series.dtype
    if center:
        series -= reduce_mean(series, axis=-1, keepdims=True)
    known = series.shape.as_list()[-1]
    length = shape_of(series)[-1] if known is None else known
    lags = length - 1 if max_lags is None else minimum(max_lags, length - 1)
    # With so many zeros behind it no element meets one of the next time round.
    padded = pad(series, [*[[0, 0]] * (len(series.shape.as_list()) - 1), [0, length]])
    waves = fft(cast(padded, dtypes.complex128 if kind.real_dtype == dtypes.float64 else dtypes.complex64))
    sums = ifft(waves * conj(waves))[..., : lags + 1]
    return cast(sums if kind.is_complex else real(sums), kind) / cast(length - range_of(lags + 1), kind)
