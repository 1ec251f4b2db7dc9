"""The arithmetic of convolutions of any number of spatial dimensions: forward, and back to the input and to the filter.

On NumPy a convolution is a product with the matrix of its windows, or, with groups of channels, a sum of products, one per
element of the window. Compiled, it is XLA's, on the CPU in another form where that is faster.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import ml_dtypes
import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.ops.nn.cpu_convolution import Direction, form_for
from weft.ops.nn.numpy_convolution import convolved, filter_gradient, input_gradient, padded_by
from weft.ops.nn.window import Window, place, spatial_axes
from weft.platform.imports.jax_modules import jax, jnp, lax

_HALVES: Final = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


@dataclass(frozen=True)
class Convolution:
    """The attributes of a convolution, in the order of its layout (`NHWC`, `NCDHW` ...)."""

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


# Windows over the whole of the images' last dimension, as those of sentences over whole embeddings: it is one of the channels.


@dataclass(frozen=True)
class _Merged:
    """A convolution of `[batch, height, width, channels]` whose windows are as wide as the images, over the same numbers as
    `[batch, height, 1, width * channels]`.

    A step of a network of 64 sentences, with 3 to 5 of 56 words of 128 numbers in a window, takes 41 ms so instead of 179
    while it is interpreted, and 61 in TensorFlow 1.15 (CPU, 2 cores beside other work, December 2026).
    """

    how: Convolution
    images: tuple[int, ...]
    filters: tuple[int, ...]


def _merged(how: Convolution, images: Sequence[int], filters: Sequence[int]) -> _Merged | None:
    """The other form of a convolution of such images with such filters; None where it has none."""
    if how.data_format != "NHWC" or len(filters) != 4 or images[3] != filters[2] or not 1 < images[2] == filters[1]:
        return None
    window = how.window(images, filters[:-2])
    if window.low[1] or window.high[1] or window.dilations[1] != 1:
        return None
    around = (0, 0, window.low[0], window.high[0], 0, 0, 0, 0)
    narrow = Convolution("NHWC", (1, how.strides[1], 1, 1), "EXPLICIT", (1, how.dilations[1], 1, 1), around)
    depth = images[2] * images[3]
    return _Merged(narrow, (images[0], images[1], 1, depth), (filters[0], 1, depth, filters[3]))


# By XLA.


def _xla(how: Convolution, x: Array, filters: Array) -> Array:
    window = how.window(x.shape, filters.shape[:-2])
    return lax.conv_general_dilated(
        x, filters, window.strides, window.paddings, rhs_dilation=window.dilations, dimension_numbers=how.numbers,
        feature_group_count=x.shape[how.channel] // filters.shape[-2],
    )  # fmt: skip


def _like(shape: Sequence[int], dtype: Array) -> Array:
    return jax.ShapeDtypeStruct(tuple(int(size) for size in shape), dtype)  # type: ignore[no-untyped-call]


# By NumPy, channels last, with groups of channels as a dimension of their own.


def _last(how: Convolution, x: Array) -> Array:
    return x if how.channel == x.ndim - 1 else np.moveaxis(x, how.channel, -1)


def _back(how: Convolution, x: Array) -> Array:
    """A channels-last array in the layout of the op."""
    return x if how.channel == x.ndim - 1 else np.moveaxis(x, -1, how.channel)


def _grouped(filters: Array, groups: int) -> Array:
    *size, inner, outer = filters.shape
    return filters.reshape(*size, inner, groups, outer // groups)


def _everywhere(window: Window, position: Sequence[int]) -> tuple[slice, ...]:
    return (slice(None), *window.slices(position), slice(None))


def _wide(*arrays: Array) -> tuple[Array, ...]:
    """Half-precision arrays as float32, in which their products are summed."""
    return tuple(array.astype(np.float32) if array.dtype in _HALVES else array for array in arrays)


def _split(x: Array, groups: int) -> Array:
    return x.reshape(*x.shape[:-1], groups, x.shape[-1] // groups)


def _numpy(how: Convolution, x: Array, filters: Array) -> Array:
    x, filters = _wide(x, filters)
    x = _last(how, x)
    groups = x.shape[-1] // filters.shape[-2]
    window = how.window(_first_shape(how, x), filters.shape[:-2])
    if groups == 1:
        return _back(how, convolved(x, filters, window))
    padded, parts = padded_by(x, window), _grouped(filters, groups)
    result = np.zeros((x.shape[0], *window.outputs, groups, filters.shape[-1] // groups), x.dtype)
    for position in window.positions():
        taken = _split(padded[_everywhere(window, position)], groups)
        result += np.einsum("...gi,igo->...go", taken, parts[position])
    return _back(how, result.reshape(*result.shape[:-2], filters.shape[-1]))


def _first_shape(how: Convolution, x: Array) -> tuple[int, ...]:
    """The shape of a channels-last array in the layout of the op."""
    return _first_shape_of(how, x.shape)


def _first_shape_of(how: Convolution, last: Sequence[int]) -> tuple[int, ...]:
    *lead, channels = last
    return (*lead[: how.channel], channels, *lead[how.channel :])


def _numpy_to_input(how: Convolution, shape: Sequence[int], filters: Array, grad: Array) -> Array:
    filters, grad = _wide(filters, grad)
    window = how.window(shape, filters.shape[:-2])
    groups = shape[how.channel] // filters.shape[-2]
    spatial = [shape[axis] for axis in spatial_axes(how.data_format)]
    last_shape = (shape[0], *spatial, shape[how.channel])
    if groups == 1:
        return _back(how, input_gradient(last_shape, filters, _last(how, grad), window))
    grad, parts = _split(_last(how, grad), groups), _grouped(filters, groups)
    sizes = [count + low + high for count, low, high in zip(spatial, window.low, window.high, strict=True)]
    padded = np.zeros((shape[0], *sizes, shape[how.channel]), grad.dtype)
    for position in window.positions():
        back = np.einsum("...go,igo->...gi", grad, parts[position], optimize=True)
        padded[_everywhere(window, position)] += back.reshape(*back.shape[:-2], shape[how.channel])
    inside = tuple(slice(low, low + count) for low, count in zip(window.low, spatial, strict=True))
    return _back(how, padded[(slice(None), *inside)])


def _numpy_to_filter(how: Convolution, x: Array, shape: Sequence[int], grad: Array) -> Array:
    x, grad = _wide(x, grad)
    x, grad = _last(how, x), _last(how, grad)
    *size, inner, outer = shape
    groups = x.shape[-1] // inner
    window = how.window(_first_shape(how, x), size)
    if groups == 1:
        return filter_gradient(x, grad, window)
    padded, grad = padded_by(x, window), _split(grad, groups).reshape(-1, groups, outer // groups)
    result = np.zeros((*size, inner, groups, outer // groups), x.dtype)
    for position in window.positions():
        taken = _split(padded[_everywhere(window, position)], groups).reshape(-1, groups, inner)
        result[position] = np.einsum("ngi,ngo->igo", taken, grad, optimize=True)
    return result.reshape(shape)


# For the kernels. On the CPU there are faster forms of some; which device it will be, the lowering knows.


def _cpu_form(direction: Direction, how: Convolution, shape: Sequence[int], dtype: Array, filters: Sequence[int]) -> Array:
    """A function of input and filters that convolves an input of this shape faster on the CPU, or None."""
    if dtype.kind != "f" and dtype.name != "bfloat16":
        return None
    window, images = how.window(shape, filters[:-2]), [*shape[: how.channel], *shape[how.channel + 1 :], shape[how.channel]]
    form = form_for(direction, images, filters, dtype.itemsize, window)
    if form is None:
        return None
    return lambda x, filters: jnp.moveaxis(form(jnp.moveaxis(x, how.channel, -1), filters, window), -1, how.channel)


def _like_output(how: Convolution, images: Sequence[int], filters: Sequence[int]) -> tuple[int, ...]:
    """The shape of the convolution of such images with such filters."""
    last = (images[0], *how.window(images, filters[:-2]).outputs, filters[-1])
    return _first_shape_of(how, last)


def _either(by_xla: Array, on_cpu: Array, *operands: Array) -> Array:
    if on_cpu is None:
        return by_xla(*operands)
    return lax.platform_dependent(*operands, cpu=on_cpu, default=by_xla)


def convolve(xp: Array, how: Convolution, x: Array, filters: Array) -> Array:
    """The convolution of `x` with `filters` (`[size..., channels per group, outputs]`)."""
    if not x.shape[how.channel]:  # nothing to divide into groups
        sizes = list(_like_output(how, x.shape, filters.shape))
        return xp.zeros(sizes, x.dtype)
    if (merged := _merged(how, x.shape, filters.shape)) is not None:
        return convolve(xp, merged.how, x.reshape(merged.images), filters.reshape(merged.filters))
    if xp is np:
        return _numpy(how, x, filters)
    form = _cpu_form("forward", how, x.shape, x.dtype, filters.shape)
    return _either(functools.partial(_xla, how), form, x, filters)


def _check_shapes(how: Convolution, images: Sequence[int], filters: Sequence[int], grad: Sequence[int]) -> None:
    """Raise InvalidArgumentError unless an input, filters and an output's gradient of these shapes fit each other."""
    if images[0] != grad[0]:
        raise InvalidArgumentError.of(f"input and out_backprop must have the same batch size, not {images[0]} and {grad[0]}")
    depth, (inner, outer) = images[how.channel], filters[-2:]
    if inner and depth % inner:
        raise InvalidArgumentError.of(f"input depth must be evenly divisible by filter depth: {depth} vs {inner}")
    if grad[how.channel] != outer:
        raise InvalidArgumentError.of(
            f"out_backprop and filter_sizes must have the same number of channels. Got {grad[how.channel]} for out_backprop "
            f"and {outer} for filter_sizes"
        )
    if 0 in filters:
        return
    wanted = how.window(images, filters[:-2]).outputs
    for axis, size in zip(spatial_axes(how.data_format), wanted, strict=True):
        if grad[axis] != size:
            raise InvalidArgumentError.of(
                f"Size of out_backprop doesn't match computed: actual = {grad[axis]}, computed = {size} spatial_dim: {axis}"
            )


def to_input(xp: Array, how: Convolution, shape: Sequence[int], filters: Array, grad: Array) -> Array:
    """The gradient for an input of this shape."""
    shape = tuple(int(size) for size in shape)
    _check_shapes(how, shape, filters.shape, grad.shape)
    if 0 in filters.shape or 0 in grad.shape:
        return xp.zeros(shape, grad.dtype)
    if (merged := _merged(how, shape, filters.shape)) is not None:
        return to_input(xp, merged.how, merged.images, filters.reshape(merged.filters), grad).reshape(shape)
    if xp is np:
        return _numpy_to_input(how, shape, filters, grad)
    if grad.dtype.kind == "i":
        # JAX transposes functions of floating numbers only; the products are exact in these.
        filters, grad = filters.astype(np.float64), grad.astype(np.float64)

    def by(form: Array) -> Array:
        like = _like(shape, grad.dtype)
        return form and (lambda filters, grad: jax.linear_transpose(lambda x: form(x, filters), like)(grad)[0])

    form = _cpu_form("to_input", how, shape, grad.dtype, filters.shape)
    return _either(by(functools.partial(_xla, how)), by(form), filters, grad)


def to_filter(xp: Array, how: Convolution, x: Array, shape: Sequence[int], grad: Array) -> Array:
    """The gradient for filters of this shape."""
    shape = tuple(int(size) for size in shape)
    _check_shapes(how, x.shape, shape, grad.shape)
    if 0 in x.shape or 0 in grad.shape:
        return xp.zeros(shape, grad.dtype)
    if (merged := _merged(how, x.shape, shape)) is not None:
        return to_filter(xp, merged.how, x.reshape(merged.images), merged.filters, grad).reshape(shape)
    if xp is np:
        return _numpy_to_filter(how, x, shape, grad)

    def by(form: Array) -> Array:
        like = _like(shape, grad.dtype)
        return form and (lambda x, grad: jax.linear_transpose(lambda filters: form(x, filters), like)(grad)[0])

    form = _cpu_form("to_filter", how, x.shape, x.dtype, shape)
    return _either(by(functools.partial(_xla, how)), by(form), x, grad)
