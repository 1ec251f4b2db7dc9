"""Gamma and Poisson samples by rejection, with the numbers that TensorFlow's CPU kernels give.

Each output has 256 blocks of the stream for itself. All outputs take a step together; those that have accepted a
value wait.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule
from weft.ops.random import philox
from weft.ops.random.philox import Stream
from weft.ops.random.sampling import DOUBLES, NORMAL
from weft.platform.imports.jax_modules import jax

_RESERVED: Final = np.uint64(256)
_NORMALS: Final = NORMAL[np.dtype(np.float64)]
# Rates from here on are sampled by transformed rejection, smaller ones by multiplying uniforms.
_LARGE_RATE: Final = 10.0


class _Buffer(NamedTuple):
    """Per output: two values, of which `remaining` are unused; the second is used first."""

    first: Array
    second: Array
    remaining: Array


def _empty_buffer(xp: ArrayModule, count: int) -> _Buffer:
    return _Buffer(xp.zeros(count), xp.zeros(count), xp.zeros(count, np.int32))


def _take(
    xp: ArrayModule, stream: Stream, rule: Array, wanted: Array, buffer: _Buffer, position: Array
) -> tuple[Array, _Buffer, Array]:
    """One value for each output that `wanted` marks; the others' state stays."""
    refill = wanted & (buffer.remaining == 0)
    first, second = rule.convert(xp, philox.blocks(stream, position))
    first, second = xp.where(refill, first, buffer.first), xp.where(refill, second, buffer.second)
    remaining = xp.where(refill, 2, buffer.remaining)
    value = xp.where(remaining == 2, second, first)
    remaining = xp.where(wanted, remaining - 1, remaining).astype(np.int32)
    return value, _Buffer(first, second, remaining), position + refill.astype(np.uint64)


def _repeat(xp: ArrayModule, step: Callable[[Array], Array], state: Array) -> Array:
    """Take steps until no output is waiting; the first part of the state marks those that are."""
    if xp is not np:
        return jax.lax.while_loop(lambda s: jax.numpy.any(s[0]), step, state)
    with np.errstate(all="ignore"):
        while state[0].any():
            state = step(state)
    return state


def _positions(xp: ArrayModule, start: Array, count: int) -> Array:
    return xp.arange(count, dtype=np.uint64) * _RESERVED + start


def gamma(xp: ArrayModule, stream: Stream, start: Array, samples: int, alpha: Array) -> Array:
    """Samples `[samples, n]` of the gamma distributions of shape `alpha` `[n] float64`.

    G. Marsaglia, W. Tsang, "A simple method for generating gamma variables", 2000.
    """
    count = samples * alpha.shape[0]
    a = xp.repeat(alpha, samples, total_repeat_length=count) if xp is not np else np.repeat(alpha, samples)
    small, exponential = a < 1, a == 1
    d = a + xp.where(small, 2 / 3, -1 / 3)
    c = 1 / 3 / xp.sqrt(d)

    def step(state: Array) -> Array:
        waiting, result, normals, uniforms, position = state
        drawing = waiting & ~exponential
        x, normals, position = _take(xp, stream, _NORMALS, drawing, normals, position)
        root = 1 + c * x
        going = waiting & (exponential | (root > 0))
        v = xp.where(going & ~exponential, root, 1.0) ** 3
        u, uniforms, position = _take(xp, stream, DOUBLES, going, uniforms, position)
        squeezed = u < 1 - 0.0331 * (x * x) * (x * x)
        accepted = going & (exponential | squeezed | (xp.log(u) < 0.5 * x * x + d * (1 - v + xp.log(v))))
        b, uniforms, position = _take(xp, stream, DOUBLES, accepted & small, uniforms, position)
        value = xp.where(small, d * v * b ** (1 / a), d * v)
        value = xp.where(exponential, -xp.log1p(-u), value)
        return waiting & ~accepted, xp.where(accepted, value, result), normals, uniforms, position

    # Where there is no such distribution no draw would ever be accepted.
    is_shape = xp.isfinite(a) & (a >= 0)
    beyond = xp.where(a > 0, a, xp.nan)
    state = (is_shape, xp.where(is_shape, 0.0, beyond), _empty_buffer(xp, count), _empty_buffer(xp, count),
             _positions(xp, start, count))  # fmt: skip
    return _repeat(xp, step, state)[1].reshape(-1, samples).T


def _log_gamma(xp: ArrayModule, x: Array) -> Array:
    if xp is not np:
        return jax.lax.lgamma(x)
    return np.fromiter(map(math.lgamma, x), np.float64, len(x))


def poisson(xp: ArrayModule, stream: Stream, start: Array, samples: int, rate: Array) -> Array:
    """Samples `[samples, n]` of the Poisson distributions of mean `rate` `[n] float64`.

    W. Hörmann, "The transformed rejection method for generating Poisson random variables", 1993, for large means.
    """
    count = samples * rate.shape[0]
    r = xp.repeat(rate, samples, total_repeat_length=count) if xp is not np else np.repeat(rate, samples)
    large = r >= _LARGE_RATE
    b = 0.931 + 2.53 * xp.sqrt(r)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    log_rate, limit = xp.log(r), xp.exp(-r)

    def step(state: Array) -> Array:
        waiting, result, product, uniforms, position = state
        u, uniforms, position = _take(xp, stream, DOUBLES, waiting, uniforms, position)
        product = xp.where(waiting, product * u, product)
        v, uniforms, position = _take(xp, stream, DOUBLES, waiting & large, uniforms, position)
        centred = u - 0.5
        edge = 0.5 - xp.abs(centred)
        k = xp.floor((2 * a / edge + b) * centred + r + 0.43)
        inside = (edge >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
        outside = (k < 0) | ((edge < 0.013) & (v > edge))
        s = xp.log(v * inverse_alpha / (a / (edge * edge) + b))
        t = -r + k * log_rate - _log_gamma(xp, xp.maximum(k, 0) + 1)
        accepted_large = inside | (~outside & (s <= t))
        accepted = waiting & xp.where(large, accepted_large, product <= limit)
        result = xp.where(large, xp.where(accepted, k, result), xp.where(waiting & ~accepted, result + 1, result))
        return waiting & ~accepted, result, product, uniforms, position

    state = (xp.isfinite(r), xp.zeros(count), xp.ones(count), _empty_buffer(xp, count), _positions(xp, start, count))
    return _repeat(xp, step, state)[1].reshape(-1, samples).T
