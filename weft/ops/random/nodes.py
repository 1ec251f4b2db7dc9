"""Random ops as nodes. Each run of a node in a session draws the next numbers of the stream that its seeds choose.

A kernel takes as many blocks of its stream as TensorFlow's does, used or not, and draws from the first of them on. Seeds (0, 0)
mean that nobody gave any: then the session begins each node's stream at a place of its own, and the numbers differ from node to
node, from session to session and from process to process.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.constant_value import constant_shape, constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.array.padding import check_rank
from weft.ops.array.shape_ops import INDEX
from weft.ops.declaration import broadcast, not_differentiable, op, same_as_input
from weft.ops.math.elementwise import FLOATS, REAL, mul, unbroadcast
from weft.ops.random import philox
from weft.ops.random import rejection as rejection
from weft.ops.random import sampling as sampling
from weft.ops.random import truncated as truncated
from weft.ops.random.sampling import Finish
from weft.ops.random.taking import Take, from_the_start
from weft.platform.imports.jax_modules import jax

_DRAWN: Final = {"dtype": FLOATS, "T": INDEX}
# Blocks of the stream that a run takes for each output, used or not.
_RESERVED: Final = 256


def shape_from_input(node: Operation) -> list[Dims]:
    """The output has the shape that the first input, a vector, holds."""
    check_rank(node.inputs[0], 1)
    return [constant_shape(node.inputs[0])]


def _starts(take: Take, count: int, size: int) -> Array | None:
    """Where the blocks of so many runs begin that draw so many values each; None where these are not few."""
    if not 0 < size <= 4 * philox.FEW:
        return None
    return take(count * size * _RESERVED) + np.arange(count, dtype=np.uint64) * np.uint64(size * _RESERVED)


def _many_uniform(
    count: int, shape: Array, *, seed: int = 0, seed2: int = 0, dtype: DType, take: Take = from_the_start
) -> Array | None:
    starts = _starts(take, count, size := sampling.element_count(shape))
    if starts is None:
        return None
    rule = sampling.UNIFORM[np.dtype(dtype.as_numpy_dtype)]
    return sampling.draw_many(philox.stream_of_seeds(seed, seed2), starts, size, rule).reshape((count, *shape))


def _many_integers(
    count: int, shape: Array, minval: Array, maxval: Array, *, seed: int = 0, seed2: int = 0, take: Take = from_the_start
) -> Array | None:
    size = sampling.element_count(shape)
    starts = _starts(take, count, size) if minval < maxval else None
    if starts is None:
        return None
    return sampling.many_integers(philox.stream_of_seeds(seed, seed2), starts, size, minval, maxval).reshape((count, *shape))


@op("RandomUniform", "shape: T -> output: dtype", infer=shape_from_input, gradient=not_differentiable, stateful=True,
    static=("shape",), types=_DRAWN, draw_many=_many_uniform)  # fmt: skip
def random_uniform_node(
    xp: ArrayModule,
    shape: Array,
    *,
    seed: int = 0,
    seed2: int = 0,
    dtype: DType,
    take: Take = from_the_start,
    finish: Finish | None = None,
) -> Result:
    """Uniform in [0, 1): `[rank] -> [*shape]`."""
    size = sampling.element_count(shape)
    rule = sampling.UNIFORM[np.dtype(dtype.as_numpy_dtype)]
    start = take(size * _RESERVED)
    return sampling.draw(xp, philox.stream_of_seeds(seed, seed2), start, size, rule, finish).reshape(tuple(shape))


@op("RandomStandardNormal", "shape: T -> output: dtype", infer=shape_from_input, gradient=not_differentiable, stateful=True,
    static=("shape",), types=_DRAWN)  # fmt: skip
def random_standard_normal(
    xp: ArrayModule,
    shape: Array,
    *,
    seed: int = 0,
    seed2: int = 0,
    dtype: DType,
    take: Take = from_the_start,
    finish: Finish | None = None,
) -> Result:
    """Normal with mean 0 and standard deviation 1: `[rank] -> [*shape]`."""
    size = sampling.element_count(shape)
    rule = sampling.NORMAL[np.dtype(dtype.as_numpy_dtype)]
    start = take(size * _RESERVED)
    drawn = sampling.draw(xp, philox.stream_of_seeds(seed, seed2), start, size, rule, finish)
    return drawn.astype(dtype.as_numpy_dtype, copy=False).reshape(tuple(shape))


@op("TruncatedNormal", "shape: T -> output: dtype", infer=shape_from_input, gradient=not_differentiable, stateful=True,
    static=("shape",), types=_DRAWN)  # fmt: skip
def truncated_normal_node(
    xp: ArrayModule,
    shape: Array,
    *,
    seed: int = 0,
    seed2: int = 0,
    dtype: DType,
    take: Take = from_the_start,
    finish: Finish | None = None,
) -> Result:
    """Normal with mean 0 and standard deviation 1, never two or more from the mean: `[rank] -> [*shape]`."""
    size = sampling.element_count(shape)
    start = take(size * _RESERVED)
    drawn = truncated.truncated_normal(xp, philox.stream_of_seeds(seed, seed2), start, size, dtype.as_numpy_dtype, finish)
    return drawn.astype(dtype.as_numpy_dtype, copy=False).reshape(tuple(shape))


def check_range(minval: Array, maxval: Array) -> None:
    """Raise InvalidArgumentError unless there is an integer from `minval` on below `maxval`."""
    if minval >= maxval:
        raise InvalidArgumentError.of(f"Need minval < maxval, got {minval} >= {maxval}")


def _check_limits(node: Operation, shape: Array, minval: Array, maxval: Array) -> None:
    if minval is not None and maxval is not None and (shape is None or np.prod(shape)):
        check_range(minval, maxval)


@op("RandomUniformInt", "shape: T, minval: Tout, maxval: Tout -> output: Tout",
    ranks={"minval": 0, "maxval": 0},
    infer=shape_from_input, gradient=None,
    stateful=True, static=("shape",), check=_check_limits, types={"Tout": INDEX, "T": INDEX},
    draw_many=_many_integers)  # fmt: skip
def random_uniform_int(
    xp: ArrayModule, shape: Array, minval: Array, maxval: Array, *, seed: int = 0, seed2: int = 0, take: Take = from_the_start
) -> Result:
    """Integers in [minval, maxval): `[rank], scalar, scalar -> [*shape]`."""
    size = sampling.element_count(shape)
    if xp is np and size:
        check_range(minval, maxval)
    start = take(size * _RESERVED)
    return sampling.integers(xp, philox.stream_of_seeds(seed, seed2), start, size, minval, maxval).reshape(tuple(shape))


@op("RandomShuffle", "value: T -> output: T", infer=same_as_input, gradient=not_differentiable, stateful=True, at_once=True)
def random_shuffle(ctx: OpContext, value: Array, *, seed: int = 0, seed2: int = 0, take: Take = from_the_start) -> Result:
    """The rows in another order: `[n, *inner] -> [n, *inner]`."""
    if value.ndim == 0 or value.shape[0] < 2:
        return value
    words_needed = value.shape[0] - 1
    start = take(-(-words_needed // 4))
    words = sampling.draw(np, philox.stream_of_seeds(seed, seed2), start, words_needed, sampling.WORDS32)
    return value[sampling.shuffled_order(words, value.shape[0])]


def samples_by_row(node: Operation) -> list[Dims]:
    """`[batch, num_samples]`; ValueError unless the logits are a matrix."""
    logits, count = node.inputs[0].dims, node.inputs[1].dims
    if logits is not None and len(logits) != 2:
        raise ValueError(f"Shape must be rank 2 but is rank {len(logits)}")
    if count is not None and count:
        raise ValueError(f"Shape must be rank 0 but is rank {len(count)}")
    samples = constant_value(node.inputs[1])
    if samples is not None and samples < 0:
        raise ValueError(f"Dimension size, given by scalar input 1, must be non-negative but is {int(samples)}")
    return [(None if logits is None else logits[0], None if samples is None else int(samples))]


@op("Multinomial", "logits: T, num_samples: int32 -> output: output_dtype", infer=samples_by_row, gradient=not_differentiable,
    stateful=True, static=("num_samples",), types={"T": REAL, "output_dtype": INDEX})  # fmt: skip
def multinomial_node(
    xp: ArrayModule,
    logits: Array,
    num_samples: Array,
    *,
    seed: int = 0,
    seed2: int = 0,
    output_dtype: DType = dtypes.int64,
    take: Take = from_the_start,
) -> Result:
    """Class numbers drawn by unnormalised log-probabilities: `[batch, classes], scalar -> [batch, num_samples]`."""
    samples = int(num_samples)
    # A sample takes a double, which is two words.
    outputs = -(-samples // 4) * 4 * 2 * logits.shape[0]
    start = take(outputs * _RESERVED)
    drawn = sampling.categorical(xp, philox.stream_of_seeds(seed, seed2), start, logits, samples)
    return drawn.astype(output_dtype.as_numpy_dtype)


def _samples_and(node: Operation) -> list[Dims]:
    leading, inner = constant_shape(node.inputs[0]), node.inputs[1].dims
    return [None if leading is None or inner is None else leading + inner]


@op("RandomGammaGrad", "alpha: T, sample: T -> output: T", infer=broadcast, gradient=None, compiled_only=True,
    types={"T": (dtypes.float32, dtypes.float64)})  # fmt: skip
def random_gamma_grad(xp: ArrayModule, alpha: Array, sample: Array) -> Result:
    """The derivative of a gamma sample by its shape parameter: `[...], [...] -> [...]`, broadcast."""
    alpha, sample = xp.broadcast_arrays(alpha, sample)
    return jax.lax.random_gamma_grad(alpha, sample)


def _gamma_gradient(node: Operation, grad: Tensor) -> Gradients:
    alpha = node.inputs[1]
    return [None, unbroadcast(mul(grad, random_gamma_grad(alpha, node.outputs[0])), alpha)]


@op("RandomGamma", "shape: S, alpha: T -> output: T",
    ranks={"shape": 1}, infer=_samples_and, gradient=_gamma_gradient, stateful=True,
    static=("shape",), types={"S": INDEX, "T": (dtypes.float16, dtypes.float32, dtypes.float64)})  # fmt: skip
def random_gamma_node(
    xp: ArrayModule, shape: Array, alpha: Array, *, seed: int = 0, seed2: int = 0, take: Take = from_the_start
) -> Result:
    """Gamma with shape `alpha` and scale 1, `shape` samples for each: `[rank], [...] -> [*shape, ...]`."""
    samples = sampling.element_count(shape)
    start = take(samples * sampling.element_count(alpha.shape) * _RESERVED)
    if not samples * alpha.size:
        return xp.zeros((*(int(n) for n in shape), *alpha.shape), alpha.dtype)
    shapes = xp.asarray(alpha).astype(np.float64).reshape(-1)
    drawn = rejection.gamma(xp, philox.stream_of_seeds(seed, seed2), start, samples, shapes)
    return drawn.astype(alpha.dtype).reshape((*(int(n) for n in shape), *alpha.shape))


_POISSON_TYPES: Final = (dtypes.float16, dtypes.float32, dtypes.float64, *INDEX)


@op("RandomPoissonV2", "shape: S, rate: R -> output: dtype",
    ranks={"shape": 1}, infer=_samples_and, gradient=None, stateful=True,
    static=("shape",), types={"S": INDEX, "R": _POISSON_TYPES, "dtype": _POISSON_TYPES},
    defaults={"R": dtypes.float64})  # fmt: skip
def random_poisson_node(
    xp: ArrayModule,
    shape: Array,
    rate: Array,
    *,
    seed: int = 0,
    seed2: int = 0,
    dtype: DType = dtypes.int64,
    take: Take = from_the_start,
) -> Result:
    """Poisson with mean `rate`, `shape` samples for each: `[rank], [...] -> [*shape, ...]`."""
    samples = sampling.element_count(shape)
    start = take(samples * sampling.element_count(rate.shape) * _RESERVED)
    means = xp.asarray(rate).astype(np.float64).reshape(-1)
    drawn = rejection.poisson(xp, philox.stream_of_seeds(seed, seed2), start, samples, means)
    return drawn.astype(dtype.as_numpy_dtype).reshape((*(int(n) for n in shape), *rate.shape))
