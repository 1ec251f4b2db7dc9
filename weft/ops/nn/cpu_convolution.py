"""Convolutions on the CPU in the forms that XLA computes fast there.

XLA's CPU backend gives a convolution to one of two libraries, YNNPACK by default and Eigen otherwise, or makes a
plain loop of it, a hundred times slower and more. `runtime/xla/compiler_options.py` takes convolutions away from
YNNPACK; Eigen reaches 70 to 90 % of the rate of a large matrix product. Convolutions that neither library takes get
another form here. Each form is a function of channels-last images and filters, linear in both, so that JAX's
transposes of it are the gradients.

- *Inside of loops and branches* XLA brings no convolution into the layout of the libraries, and a gradient as JAX
  writes it becomes a plain loop. So images, filters and gradients are transposed explicitly, which costs nothing
  elsewhere: the filter's gradient of six steps of 8x28x28x32 by 3x3 takes 7 ms in a loop instead of 346, the input's
  5 instead of 132.
- *Filters for each channel by itself*: a sum of strided slices times filters, one for each element of the window. Its
  gradient for the filters takes blocks of images whose products stay in the cache.
- *Volumes*: the window's first dimension becomes further channels and its places further images, so that a
  convolution of two dimensions is left. It copies the input as often as the window is deep, at most 256 MB at a time
  if the batch can be divided.
- *Images of up to 4 channels* (8 on the way back to the input) are folded so too, from rows: the matrices inside are
  less narrow.
- *Groups of channels*: the gradient for the filters is taken group by group. XLA computes all pairs of channels of
  all groups.
- *Large windows in a few places*, as those of sentences over whole embeddings: the input's gradient is one product, added up
  place by place; as a convolution of zeros mostly, that of 64x11x128 by 5x128 to 128 took 1,058 ms instead of 0.4.
- *Windows larger than the images*, as of 5x5 over 4x4 in a generator's first layers: XLA would have the filters and the images
  change places, which makes a plain loop of it. Padded images that a barrier keeps are larger than any window: the input's
  gradient of 64x8x8x64 by 5x5 in steps of 2 to 64 takes 18 ms instead of 53.
- *Double precision*: the windows are copied out as rows of a matrix, for blocks of images that fit the cache.

Milliseconds per call, XLA's default -> weft (November 2026, 2 cores, x86_64, JAX 0.10, the least of many calls):

    batch, size, channels; window, outputs          forward       filter's gradient   input's gradient
    128, 28x28, 1; 5x5, 32                          1.7 -> 2.2    4.3 -> 1.5          8.3 -> 4.7
    128, 14x14, 32; 5x5, 64                         18.6 -> 9.8   45 -> 15            20 -> 11
    32, 32x32, 64; 3x3, 64                          18.6 -> 9.4   64 -> 14            17.9 -> 9.2
    8, 56x56, 64; 3x3, 64                           12.7 -> 6.7   49 -> 11.5          12.9 -> 9.3
    64, 32x32, 3; 3x3, 32                           5.0 -> 1.7    5.1 -> 1.1          2.1 -> 1.7
    32, 14x14, 256; 1x1, 256                        5.8 -> 2.5    13.2 -> 5.2         6.2 -> 2.5
    16, 224x224, 3; 7x7 in steps of 2, 64           23.8 -> 20.7  115 -> 32           102 -> 105
    256, 7x7, 512; 3x3, 512                         339 -> 192    739 -> 198          272 -> 188
    8, 28x28, 64 in 4 groups; 3x3, 64               2.9 -> 1.7    117 -> 2.0          2.9 -> 1.8
    8, 56x56, 32, each by itself; 3x3               19 -> 0.4     11.6 -> 2.5         19 -> 0.3
    32, 112x112, 32, each by itself; 3x3            316 -> 11     252 -> 77           285 -> 4
    4, 16x16x16, 16; 3x3x3, 32                      12.2 -> 2.4   21 -> 4.4           23 -> 1.9
    32, 14x14, 32; 5x5, 64, double precision        9.5 -> 10.7   21 -> 29            9.1 -> 8.9

Where XLA has oneDNN, `onednn_convolution.py` takes most of the forward computations and of the gradients from these forms. A
training step of a small CNN (two 5x5 convolutions, batch of 128) takes 93 ms of CPU so instead of 126, and 87 in TensorFlow
2.21 (2 cores, December 2026).
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Final, Literal

import numpy as np

from weft.framework.building.aliases import Array
from weft.ops.nn import onednn_convolution
from weft.ops.nn.image_blocks import block_by_block, sum_of_blocks
from weft.ops.nn.window import Window
from weft.platform.imports.jax_modules import custom_derivatives, jnp, lax

Convolve = Callable[[Array, Array, Window], Array]
Direction = Literal["forward", "to_input", "to_filter"]

# Up to so many channels of the input, folding rows into them pays: the matrices that are multiplied become less narrow.
_FEW_CHANNELS: Final = {"forward": 4, "to_input": 8, "to_filter": 0}
# More products than this, and compiling them takes too long.
_MOST_TAPS: Final = 128
_MOST_GROUPS: Final = 64
_MOST_PLACES: Final = 64
# What is copied out or made of one block of images should stay in the second-level cache.
_ROWS_BYTES: Final = 5 << 19
_PRODUCT_BYTES: Final = 2 << 20
# What is copied to fold large images is made for a part of the batch at a time, so that it takes no more memory than this.
_FOLDED_BYTES: Final = 256 << 20


def form_for(
    direction: Direction, x: Sequence[int], filters: Sequence[int], item_bytes: int, window: Window
) -> Convolve | None:
    """The form for a convolution, of channels-last images and filters of these shapes; None for XLA's own.

    Args:
        direction: which of a convolution's three computations is wanted; the form can be transposed for that one only.
        x: the shape of the images.
        filters: the shape of the filters.
        item_bytes: the size of an element.
        window: the window.
    """
    if 0 in x or 0 in filters or 0 in window.outputs:
        return None
    groups, rank, library = x[-1] // filters[-2], len(window.size), _LIBRARY[direction]
    if groups == 1:
        if item_bytes > 4:
            return by_rows
        if direction == "to_input" and math.prod(window.outputs) <= _MOST_PLACES and window.has_few_places(x[1:-1]):
            return by_places
        if direction == "forward" and onednn_convolution.serves(x, filters, item_bytes, window):
            return onednn_convolution.convolved
        if direction == "to_input" and onednn_convolution.serves_to_input(x, filters, item_bytes, window):
            return onednn_convolution.convolved_to_input
        if direction == "to_filter" and onednn_convolution.serves_to_filter(x, filters, item_bytes, window):
            return onednn_convolution.convolved_to_filter
        is_narrow = rank == 2 and x[-1] <= _FEW_CHANNELS[direction] and max(window.strides) == 1
        return functools.partial(folded, library) if rank == 3 or (is_narrow and window.size[0] > 1) else library
    if groups == x[-1] and _taps(filters, groups) <= _MOST_TAPS:
        return by_taps_to_filter if direction == "to_filter" else by_taps
    return functools.partial(by_groups, library) if direction == "to_filter" and groups <= _MOST_GROUPS else None


def _taps(filters: Sequence[int], channels: int) -> int:
    return math.prod(filters[:-2]) * (filters[-1] // channels)


def _padded(x: Array, window: Window) -> Array:
    return jnp.pad(x, ((0, 0), *window.paddings, (0, 0))) if window.is_padded else x


def _at(padded: Array, window: Window, position: Sequence[int]) -> Array:
    """The element `position` of all windows."""
    return padded[(slice(None), *window.slices(position), slice(None))]


# What the libraries compute, and its two gradients, in their layout: JAX's own would only rename the dimensions.


def _library(x: Array, filters: Array, window: Window) -> Array:
    return _in_layout(x, filters, window.strides, window.paddings, (1,) * len(window.size), window.dilations)


def _library_to_input(x: Array, filters: Array, window: Window) -> Array:
    def transpose(filters: Array, grad: Array) -> Array:
        turned = jnp.flip(filters, range(len(window.size))).swapaxes(-1, -2)
        reach = [(size - 1) * dilation for size, dilation in zip(window.size, window.dilations, strict=True)]
        low = [each - pad for each, pad in zip(reach, window.low, strict=True)]
        sizes = zip(x.shape[1:-1], _extents(window), low, reach, strict=True)
        high = [size - extent - pad + each for size, extent, pad, each in sizes]
        return _in_layout(grad, turned, (1,) * len(low), list(zip(low, high, strict=True)), window.strides, window.dilations)

    return custom_derivatives.linear_call(lambda filters, x: _library(x, filters, window), transpose, filters, x)


def _library_to_filter(x: Array, filters: Array, window: Window) -> Array:
    def transpose(x: Array, grad: Array) -> Array:
        sizes = zip(window.size, window.dilations, _extents(window), x.shape[1:-1], window.low, strict=True)
        high = [(length - 1) * dilation + extent - size - low for length, dilation, extent, size, low in sizes]
        pads = list(zip(window.low, high, strict=True))
        # Else XLA computes both again in the order of the transposed arrays, with all that leads to them: batch normalization
        # and its gradient, element by element. ResNet-20's step takes 82 ms of CPU instead of 110 so (2 cores, November 2026).
        x, grad = lax.optimization_barrier((x, grad))  # type: ignore[no-untyped-call]
        made = _in_layout(
            x.swapaxes(0, -1), jnp.moveaxis(grad, 0, -2), window.dilations, pads, (1,) * len(high), window.strides
        )
        return jnp.moveaxis(made, 0, -2)

    return custom_derivatives.linear_call(lambda x, filters: _library(x, filters, window), transpose, x, filters)


_LIBRARY: Final[dict[Direction, Convolve]] = {
    "forward": _library, "to_input": _library_to_input, "to_filter": _library_to_filter,
}  # fmt: skip


def _in_layout(x: Array, filters: Array, strides: Array, paddings: Array, gaps: Array, dilations: Array) -> Array:
    letters = "DHW"[-len(strides) :]
    if math.prod(filters.shape[:-2]) > math.prod(x.shape[1:-1]):
        # XLA would have such filters and images change places, and neither library takes what it makes of that.
        x = _spread(x, paddings, gaps)
        paddings, gaps = ((0, 0),) * len(strides), (1,) * len(strides)
    return lax.conv_general_dilated(
        x, filters, strides, paddings, lhs_dilation=gaps, rhs_dilation=dilations,
        dimension_numbers=(f"N{letters}C", f"{letters}IO", f"N{letters}C"),
    )  # fmt: skip


def _spread(x: Array, paddings: Sequence[tuple[int, int]], gaps: Sequence[int]) -> Array:
    """The images with their padding around and gaps between their elements, as an array that XLA makes no window's part of."""
    pads = [(low, high, gap - 1) for (low, high), gap in zip(paddings, gaps, strict=True)]
    spread: Array = lax.optimization_barrier(  # type: ignore[no-untyped-call]
        lax.pad(x, jnp.zeros((), x.dtype), ((0, 0, 0), *pads, (0, 0, 0)))
    )
    return spread


def _extents(window: Window) -> list[int]:
    """One more than the distance between the first elements of the first and the last window."""
    return [(count - 1) * stride + 1 for count, stride in zip(window.outputs, window.strides, strict=True)]


def folded(library: Convolve, x: Array, filters: Array, window: Window) -> Array:
    """The window's first dimension as further channels, its places as further images: one dimension less."""
    pads = ((0, 0), window.paddings[0], *[(0, 0)] * (x.ndim - 2))
    places = [window.slices((at, *[0] * (len(window.size) - 1)))[0] for at in range(window.size[0])]
    channels = window.size[0] * x.shape[-1]
    inner = jnp.moveaxis(filters, 0, -3).reshape(*window.size[1:], channels, filters.shape[-1])

    def compute(images: Array) -> Array:
        padded = jnp.pad(images, pads) if any(window.paddings[0]) else images
        rows = jnp.concatenate([padded[:, place] for place in places], -1)
        made = library(rows.reshape(-1, *rows.shape[2:]), inner, window.without_first())
        return made.reshape(images.shape[0], window.outputs[0], *made.shape[1:])

    copied_bytes = window.outputs[0] * math.prod(x.shape[2:-1]) * channels * x.dtype.itemsize
    return block_by_block(compute, x, max(1, _FOLDED_BYTES // copied_bytes))


def by_places(x: Array, filters: Array, window: Window) -> Array:
    """The windows as the rows of one product, taken out place by place: for large windows in a few places."""
    padded = _padded(x, window)
    starts = itertools.product(*(range(0, extent, step) for extent, step in zip(_extents(window), window.strides, strict=True)))
    reach = [(size - 1) * dilation + 1 for size, dilation in zip(window.size, window.dilations, strict=True)]
    rows = [
        padded[(slice(None), *map(slice, start, map(operator.add, start, reach), window.dilations), slice(None))].reshape(
            x.shape[0], -1
        )
        for start in starts
    ]
    made = jnp.stack(rows, 1) @ filters.reshape(-1, filters.shape[-1])
    return made.reshape(x.shape[0], *window.outputs, filters.shape[-1])


def by_taps(x: Array, filters: Array, window: Window) -> Array:
    """Filters for each channel by itself: a sum of products, one per element of the window."""
    padded, each = _padded(_wide(x), window), _per_channel(_wide(filters), x.shape[-1])
    made = [
        functools.reduce(operator.add, (_at(padded, window, at) * taken[at] for at in window.positions())) for taken in each
    ]
    return _joined(made).astype(x.dtype)


def by_taps_to_filter(x: Array, filters: Array, window: Window) -> Array:
    """The same, with a gradient for the filters that takes a few images at a time: it makes an array for each product."""

    def transpose(x: Array, grad: Array) -> Array:
        size = max(1, _PRODUCT_BYTES // (4 * math.prod(grad.shape[1:])))
        return sum_of_blocks(lambda images, grads: _taps_gradient(images, grads, window), size, x, grad).astype(x.dtype)

    return custom_derivatives.linear_call(lambda x, filters: by_taps(x, filters, window), transpose, x, filters)


def _taps_gradient(x: Array, grad: Array, window: Window) -> Array:
    padded, each = _padded(_wide(x), window), _per_channel(_wide(grad), x.shape[-1])
    over = tuple(range(grad.ndim - 1))
    sums = [_joined([(_at(padded, window, at) * taken).sum(over) for taken in each]) for at in window.positions()]
    return jnp.stack(sums).reshape(*window.size, 1, -1)


def _wide(x: Array) -> Array:
    return x.astype(jnp.promote_types(x.dtype, np.float32))


def _per_channel(array: Array, channels: int) -> list[Array]:
    """The first, second ... of the numbers that there are for each channel."""
    count = array.shape[-1] // channels
    return [array] if count == 1 else [array[..., number::count] for number in range(count)]


def _joined(each: Sequence[Array]) -> Array:
    """The inverse of `_per_channel`."""
    return each[0] if len(each) == 1 else jnp.stack(each, -1).reshape(*each[0].shape[:-1], -1)


def by_groups(library: Convolve, x: Array, filters: Array, window: Window) -> Array:
    """Each group of channels by itself."""
    groups = x.shape[-1] // filters.shape[-2]
    parts = zip(jnp.split(x, groups, -1), jnp.split(filters, groups, -1), strict=True)
    return jnp.concatenate([library(images, each, window) for images, each in parts], -1)


def by_rows(x: Array, filters: Array, window: Window) -> Array:
    """The windows as the rows of a matrix, times the filters, of a few images at a time: the copies stay in the cache."""
    flat = filters.reshape(-1, filters.shape[-1])

    def compute(images: Array) -> Array:
        padded = _padded(images, window)
        rows = jnp.concatenate([_at(padded, window, at) for at in window.positions()], -1)
        return (rows.reshape(-1, rows.shape[-1]) @ flat).reshape(*rows.shape[:-1], -1)

    size = max(1, _ROWS_BYTES // (math.prod(window.outputs) * flat.shape[0] * x.dtype.itemsize))
    return block_by_block(compute, x, size)
