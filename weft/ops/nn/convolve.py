"""The arithmetic of convolutions of any number of spatial dimensions: forward, and back to the input and to the filter.

On NumPy a convolution is a sum of matrix products, one per element of the window. Compiled, it is XLA's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import lax

from weft.ops.nn import patches as patches
from weft.ops.nn.window import Window, place, spatial_axes

_HALVES = ("float16", "bfloat16")


@dataclass(frozen=True)
class Convolution:
    """What the attributes of a convolution say, in the order of its layout (`NHWC`, `NCDHW` ...)."""

    data_format: str
    strides: tuple[int, ...]
    padding: str
    dilations: tuple[int, ...]
    explicit_paddings: tuple[int, ...] = ()

    def window(self, inputs: Sequence[int], size: Sequence[int]) -> Window:
        """The window over an input of shape `inputs`."""
        axes = spatial_axes(self.data_format)
        pairs = self.explicit_paddings
        return place(
            [inputs[axis] for axis in axes], size, [self.strides[axis] for axis in axes], self.padding,
            [self.dilations[axis] for axis in axes], [pad for axis in axes for pad in pairs[2 * axis : 2 * axis + 2]],
        )  # fmt: skip

    @property
    def channel(self) -> int:
        """The dimension of the channels."""
        return self.data_format.index("C")

    @property
    def numbers(self) -> tuple[str, str, str]:
        """The layouts of input, filter and output for XLA."""
        letters = "".join(letter for letter in self.data_format if letter not in "NC")
        return self.data_format, f"{letters}IO", self.data_format


# By XLA.


def _xla(how: Convolution, x: Any, filters: Any) -> Any:
    window = how.window(x.shape, filters.shape[:-2])
    return lax.conv_general_dilated(
        x, filters, window.strides, window.paddings, rhs_dilation=window.dilations, dimension_numbers=how.numbers,
        feature_group_count=x.shape[how.channel] // filters.shape[-2],
    )  # fmt: skip


def _like(shape: Sequence[int], dtype: Any) -> Any:
    return jax.ShapeDtypeStruct(tuple(int(size) for size in shape), dtype)


# By NumPy, channels last, with groups of channels as a dimension of their own.


def _last(how: Convolution, x: Any) -> Any:
    return np.moveaxis(x, how.channel, -1)


def _grouped(filters: Any, groups: int) -> Any:
    *size, inner, outer = filters.shape
    return filters.reshape(*size, inner, groups, outer // groups)


def _padded(x: Any, window: Window) -> Any:
    return np.pad(x, ((0, 0), *window.paddings, (0, 0)))


def _everywhere(window: Window, position: Sequence[int]) -> tuple[slice, ...]:
    return (slice(None), *window.slices(position), slice(None))


def _wide(*arrays: Any) -> tuple[Any, ...]:
    """Half-precision arrays as float32, in which their products are summed."""
    return tuple(array.astype(np.float32) if array.dtype.name in _HALVES else array for array in arrays)


def _split(x: Any, groups: int) -> Any:
    return x.reshape(*x.shape[:-1], groups, x.shape[-1] // groups)


def _numpy(how: Convolution, x: Any, filters: Any) -> Any:
    x, filters = _wide(x, filters)
    x = _last(how, x)
    groups = x.shape[-1] // filters.shape[-2]
    window = how.window(_first_shape(how, x), filters.shape[:-2])
    padded, parts = _padded(x, window), _grouped(filters, groups)
    result = np.zeros((x.shape[0], *window.outputs, groups, filters.shape[-1] // groups), x.dtype)
    for position in window.positions():
        taken = _split(padded[_everywhere(window, position)], groups)
        result += taken @ parts[position][:, 0] if groups == 1 else np.einsum("...gi,igo->...go", taken, parts[position])
    return np.moveaxis(result.reshape(*result.shape[:-2], -1), -1, how.channel)


def _first_shape(how: Convolution, x: Any) -> tuple[int, ...]:
    """The shape of a channels-last array in the layout of the op."""
    *lead, channels = x.shape
    return (*lead[: how.channel], channels, *lead[how.channel :])


def _numpy_to_input(how: Convolution, shape: Sequence[int], filters: Any, grad: Any) -> Any:
    filters, grad = _wide(filters, grad)
    window = how.window(shape, filters.shape[:-2])
    groups = shape[how.channel] // filters.shape[-2]
    grad, parts = _split(_last(how, grad), groups), _grouped(filters, groups)
    spatial = [shape[axis] for axis in spatial_axes(how.data_format)]
    sizes = [count + low + high for count, low, high in zip(spatial, window.low, window.high, strict=True)]
    padded = np.zeros((shape[0], *sizes, shape[how.channel]), grad.dtype)
    for position in window.positions():
        back = np.einsum("...go,igo->...gi", grad, parts[position], optimize=True)
        padded[_everywhere(window, position)] += back.reshape(*back.shape[:-2], -1)
    inside = tuple(slice(low, low + count) for low, count in zip(window.low, spatial, strict=True))
    return np.moveaxis(padded[(slice(None), *inside)], -1, how.channel)


def _numpy_to_filter(how: Convolution, x: Any, shape: Sequence[int], grad: Any) -> Any:
    x, grad = _wide(x, grad)
    x = _last(how, x)
    *size, inner, outer = shape
    groups = x.shape[-1] // inner
    window = how.window(_first_shape(how, x), size)
    padded, grad = _padded(x, window), _split(_last(how, grad), groups).reshape(-1, groups, outer // groups)
    result = np.zeros((*size, inner, groups, outer // groups), x.dtype)
    for position in window.positions():
        taken = _split(padded[_everywhere(window, position)], groups).reshape(-1, groups, inner)
        result[position] = np.einsum("ngi,ngo->igo", taken, grad, optimize=True)
    return result.reshape(shape)


# For the kernels. On the CPU, products of matrices are faster for some shapes; which, the lowering decides.


def _is_plain(how: Convolution, x: Any, inner: int) -> bool:
    """Whether a convolution may be a product of matrices: channels last and in one group, single precision or more."""
    is_one_group = how.data_format.endswith("C") and x.shape[-1] == inner and 0 not in x.shape
    return is_one_group and x.dtype.kind == "f" and x.dtype.itemsize >= 4


def convolve(xp: Any, how: Convolution, x: Any, filters: Any) -> Any:
    """The convolution of `x` with `filters` (`[size..., channels per group, outputs]`)."""
    if xp is np:
        return _numpy(how, x, filters)
    window = how.window(x.shape, filters.shape[:-2])
    if not _is_plain(how, x, filters.shape[-2]) or not patches.is_worthwhile(window, x.shape[-1]):
        return _xla(how, x, filters)
    return lax.platform_dependent(
        x, filters, cpu=lambda x, filters: patches.convolve(x, filters, window),
        default=lambda x, filters: _xla(how, x, filters),
    )  # fmt: skip


def to_input(xp: Any, how: Convolution, shape: Sequence[int], filters: Any, grad: Any) -> Any:
    """The gradient for an input of this shape."""
    shape = tuple(int(size) for size in shape)
    if xp is np:
        return _numpy_to_input(how, shape, filters, grad)
    if grad.dtype.kind == "i":
        # JAX transposes functions of floating numbers only; the products are exact in these.
        filters, grad = filters.astype(np.float64), grad.astype(np.float64)

    def by_xla(filters: Any, grad: Any) -> Any:
        return jax.linear_transpose(lambda x: _xla(how, x, filters), _like(shape, grad.dtype))(grad)[0]

    window = how.window(shape, filters.shape[:-2])
    is_product = patches.is_pointwise(window) and not window.is_padded and max(window.strides) == 1
    if not is_product or not _is_plain(how, _like(shape, grad.dtype), filters.shape[-2]):
        return by_xla(filters, grad)
    return lax.platform_dependent(
        filters, grad, cpu=lambda filters, grad: grad @ filters.reshape(filters.shape[-2:]).T, default=by_xla
    )


def to_filter(xp: Any, how: Convolution, x: Any, shape: Sequence[int], grad: Any) -> Any:
    """The gradient for filters of this shape."""
    shape = tuple(int(size) for size in shape)
    if xp is np:
        return _numpy_to_filter(how, x, shape, grad)

    def by_xla(x: Any, grad: Any) -> Any:
        return jax.linear_transpose(lambda filters: _xla(how, x, filters), _like(shape, grad.dtype))(grad)[0]

    window = how.window(x.shape, shape[:-2])
    is_worthwhile = patches.is_worthwhile_for_filter(window, x.shape[-1], x.dtype.itemsize)
    if not _is_plain(how, x, shape[-2]) or not is_worthwhile:
        return by_xla(x, grad)
    return lax.platform_dependent(x, grad, cpu=lambda x, grad: patches.to_filter(x, shape, grad, window), default=by_xla)
