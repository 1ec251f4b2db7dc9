"""Convolutions by oneDNN, which XLA has in its library for x86-64 under Linux, and gives none to by itself.

TensorFlow's kernels for the CPU are oneDNN's too. XLA has it compute custom calls of a certain name, their windows described
in JSON; convolutions alone, not their gradients. The gradient for an input is a convolution by the filters turned round, unless
there are strides. That for the filters is one whose single image has rows of all elements' channels (`convolved_to_filter`).

Milliseconds of CPU time, Eigen -> oneDNN (November 2026, 2 cores, x86_64 with AVX-512, JAX 0.10.2, the least of eleven calls):

    batch, size, channels; window, outputs   forward         input's gradient
    128, 28x28, 1; 5x5, 32                   5.2 -> 2.5      13 -> 23: Eigen's
    128, 14x14, 32; 5x5, 64                  30.6 -> 20.6    32.7 -> 22.0
    32, 32x32, 3; 3x3, 16                    1.6 -> 0.4      1.6 -> 1.7: Eigen's
    32, 32x32, 16; 3x3, 16                   3.3 -> 1.7      3.2 -> 1.7
    32, 16x16, 32; 3x3, 32                   1.8 -> 1.5      1.8 -> 1.4
    32, 8x8, 64; 3x3, 64                     1.9 -> 1.2      2.2 -> 1.5
    8, 56x56, 64; 3x3, 64                    22.6 -> 17.4    23.8 -> 17.8
    32, 14x14, 256; 1x1, 256                 8.6 -> 8.7      8.6 -> 8.9

JAX promises nothing about this call, and one that XLA does not understand may end the process. So it is used with the versions
of jaxlib with which it was tried, and once it has computed a small convolution right. Not while JAX keeps compiled code in a
folder: XLA cannot write such code. `TF_ENABLE_ONEDNN_OPTS=0` turns it off, as in TensorFlow.

oneDNN's own wheel on PyPI was weighed and left: it needs Intel's SYCL and OpenCL runtimes, 500 MB under Intel's own licence.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import json
import math
import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.ops.nn.image_blocks import sum_of_blocks
from weft.ops.nn.window import Window
from weft.platform.imports.jax_modules import custom_derivatives, jax, jnp, lax

VARIABLE: Final = "TF_ENABLE_ONEDNN_OPTS"
_TARGET: Final = "__onednn$convolution"
_TRIED_VERSIONS: Final = ("0.10.0", "0.10.1", "0.10.2")
_FEWEST_OUTPUTS: Final = 8
"""oneDNN computes sixteen output channels at a time, those that are missing too."""
_FEWEST_CHANNELS: Final = 3
"""Of fewer, rows of the filters' gradient are too short."""
_OUTPUTS_AT_A_TIME: Final = 64
_GRADIENT_BYTES: Final = 1 << 19
"""Of an output's gradient, oneDNN reads so many channels again and again: they should stay in the second-level cache."""
_FEWEST_IMAGES: Final = 4

_IMAGES: Final = {"dims": 4, "data": {"batch_dim": 0, "feature_dim": 3, "spatial_dims": [1, 2]}}
_FILTERS: Final = {"dims": 4, "filter": {"input_feature_dim": 2, "output_feature_dim": 3, "spatial_dims": [0, 1]}}
_GRADIENTS: Final = {"dims": 4, "filter": {"input_feature_dim": 0, "output_feature_dim": 3, "spatial_dims": [1, 2]}}


class Products:
    """How many floating-point operations the custom calls in some code do: XLA counts none."""

    def __init__(self) -> None:
        self.flops = 0.0


_COUNTED: Final[ContextVar[Products | None]] = ContextVar("counted", default=None)


@contextlib.contextmanager
def counted() -> Iterator[Products]:
    """A block that traces; gives what is counted of the custom calls that are traced in it."""
    products = Products()
    before = _COUNTED.set(products)
    try:
        yield products
    finally:
        _COUNTED.reset(before)


def serves(x: Sequence[int], filters: Sequence[int], item_bytes: int, window: Window) -> bool:
    """Whether oneDNN is there and faster for a convolution of channels-last images with filters of these shapes."""
    if len(window.size) != 2 or item_bytes != 4 or filters[-2] != x[-1] or filters[-1] < _FEWEST_OUTPUTS:
        return False
    # Less than a stride of the input may be left over at its end.
    rests = (high + stride for high, stride in zip(window.high, window.strides, strict=True))
    return min(window.low) >= 0 and min(rests) > 0 and is_there()


def convolved(x: Array, filters: Array, window: Window) -> Array:
    """The convolution of images that `serves` has admitted. Derivatives of it are XLA's."""

    @jax.custom_jvp
    def compute(x: Array, filters: Array) -> Array:
        return _call(x, filters, window)

    @compute.defjvp
    def tangent(primals: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, Array]:
        made = _by_xla(tangents[0], primals[1], window) + _by_xla(primals[0], tangents[1], window)
        return compute(*primals), made

    made: Array = compute(x, filters)
    return made


def convolved_to_input(x: Array, filters: Array, window: Window) -> Array:
    """A convolution without strides whose transpose, the gradient for the images, is oneDNN's."""

    def transpose(filters: Array, grad: Array) -> Array:
        return _call(grad, turned(filters), window_back(x.shape, window))

    return custom_derivatives.linear_call(lambda filters, x: _by_xla(x, filters, window), transpose, filters, x)


def serves_to_input(x: Sequence[int], filters: Sequence[int], item_bytes: int, window: Window) -> bool:
    """As `serves`, for the gradient for images of this shape."""
    if len(window.size) != 2 or max(window.strides) > 1 or filters[-2] != x[-1]:
        return False
    back = (*filters[:-2], filters[-1], filters[-2])
    return serves((x[0], *window.outputs, filters[-1]), back, item_bytes, window_back(x, window))


def convolved_to_filter(x: Array, filters: Array, window: Window) -> Array:
    """A convolution whose transpose, the gradient for the filters, is oneDNN's.

    It is a convolution with the batch as channels, and with the output's gradient as a filter that is as large as an output. A
    row of the images is taken as one of all its elements' channels, over which that filter has its elements as far apart as
    there are channels: so its places are the elements and channels of the window, in rows long enough for oneDNN.
    """
    channels, outputs = filters.shape[-2:]
    inside, around = _window_to_filter(x.shape, window)

    def compute(images: Array, grad: Array) -> Array:
        rows = images.transpose(1, 2, 3, 0).reshape(1, inside[0], inside[1] * channels, -1)
        return _call(rows, grad, around, _GRADIENTS).reshape(*window.size, channels, outputs)

    def transpose(x: Array, grad: Array) -> Array:
        # Else XLA computes both again in the order of the transposed arrays.
        x, grad = lax.optimization_barrier((x, grad))  # type: ignore[no-untyped-call]
        image_bytes = math.prod(window.outputs) * min(outputs, _OUTPUTS_AT_A_TIME) * x.dtype.itemsize
        size = max(_FEWEST_IMAGES, _GRADIENT_BYTES // image_bytes)
        return sum_of_blocks(compute, size, x[:, : inside[0], : inside[1]], grad)

    return custom_derivatives.linear_call(lambda x, filters: _by_xla(x, filters, window), transpose, x, filters)


def serves_to_filter(x: Sequence[int], filters: Sequence[int], item_bytes: int, window: Window) -> bool:
    """As `serves`, for the gradient for the filters."""
    if len(window.size) != 2 or window.dilations[1] > 1 or x[-1] < _FEWEST_CHANNELS:
        return False
    # A row of elements gives oneDNN a single row of places, for which Eigen is the faster one.
    return (window.size[0] > 1 or window.size[1] == 1) and serves(x, filters, item_bytes, window)


def turned(filters: Array) -> Array:
    """The filters by which the gradient for an input is a convolution."""
    return jnp.flip(filters, (0, 1)).swapaxes(-1, -2)


def window_back(x: Sequence[int], window: Window) -> Window:
    """The window of that convolution over the outputs' gradient; it has a place for each element of the images `x`."""
    reach = [(size - 1) * dilation for size, dilation in zip(window.size, window.dilations, strict=True)]
    low = tuple(each - pad for each, pad in zip(reach, window.low, strict=True))
    sizes = zip(x[1:-1], window.outputs, low, reach, strict=True)
    high = tuple(size - count - pad + each for size, count, pad, each in sizes)
    return Window(window.size, (1,) * len(reach), window.dilations, low, high, tuple(x[1:-1]))


def _window_to_filter(x: Sequence[int], window: Window) -> tuple[list[int], Window]:
    """How far into such images windows reach, and the window of the convolution that is the filters' gradient."""
    dimensions = zip(window.size, window.dilations, window.outputs, window.strides, strict=True)
    reach = [(size - 1) * dilation + (count - 1) * stride + 1 for size, dilation, count, stride in dimensions]
    high = [all - low - length for all, low, length in zip(reach, window.low, x[1:-1], strict=True)]
    inside = [length + min(rest, 0) for length, rest in zip(x[1:-1], high, strict=True)]
    channels = x[-1]
    return inside, Window(
        window.outputs,
        (window.dilations[0], 1),
        (window.strides[0], window.strides[1] * channels),
        (window.low[0], window.low[1] * channels),
        (max(high[0], 0), max(high[1], 0) * channels),
        (window.size[0], window.size[1] * channels),
    )


@functools.cache
def is_there() -> bool:
    """Whether XLA has oneDNN's convolutions in this process, and they compute what they should."""
    if sys.platform != "linux" or platform.machine() != "x86_64" or os.environ.get(VARIABLE, "1") in ("0", "false"):
        return False
    if importlib.metadata.version("jaxlib") not in _TRIED_VERSIONS:
        return False
    if jax.config.jax_compilation_cache_dir:  # type: ignore[attr-defined]
        return False
    x, filters = np.ones((1, 3, 4, 1), np.float32), np.arange(9 * 8, dtype=np.float32).reshape(3, 3, 1, 8)
    window = Window((3, 3), (1, 1), (1, 1), (0, 1), (0, 0), (1, 3))
    expected = [filters[:, 1:].sum((0, 1, 2)), filters.sum((0, 1, 2)), filters.sum((0, 1, 2))]
    try:
        # Also while something else is being traced.
        with jax.ensure_compile_time_eval(), jax.default_device(jax.local_devices(backend="cpu")[0]):
            made = np.asarray(jax.jit(functools.partial(_call, window=window))(x, filters))
    except jax.errors.JaxRuntimeError:
        return False
    return np.array_equal(made[0, 0], expected)


def _call(x: Array, filters: Array, window: Window, layout: Mapping[str, object] = _FILTERS) -> Array:
    products = _COUNTED.get()
    shape = (x.shape[0], *window.outputs, filters.shape[-1])
    if products is not None:
        products.flops += 2.0 * math.prod(shape) * math.prod(filters.shape[:-1])
    described = {
        "pad_left": window.low, "pad_right": [max(high, 0) for high in window.high], "strides": window.strides,
        "window_dilations": window.dilations,
    }  # fmt: skip
    config = {
        "dims": 4, "input": _IMAGES, "kernel": layout, "output": _IMAGES, "window": described, "feature_groups": 1,
    }  # fmt: skip
    call = jax.ffi.ffi_call(
        _TARGET, _like(shape, x.dtype), custom_call_api_version=2,
        legacy_backend_config=json.dumps({"onednn_conv_config": config}),
    )  # fmt: skip
    made: Array = call(x, filters)
    return made


def _like(shape: Sequence[int], dtype: Array) -> Array:
    return jax.ShapeDtypeStruct(tuple(shape), dtype)  # type: ignore[no-untyped-call]


def _by_xla(x: Array, filters: Array, window: Window) -> Array:
    return lax.conv_general_dilated(
        x, filters, window.strides, window.paddings, rhs_dilation=window.dilations,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )  # fmt: skip
