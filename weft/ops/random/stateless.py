"""Random ops whose numbers depend on their seed input alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Result
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.array.shape_ops import INDEX
from weft.ops.declaration import not_differentiable, op
from weft.ops.math.elementwise import FLOATS, REAL
from weft.ops.random import philox
from weft.ops.random import sampling as sampling
from weft.ops.random import truncated as truncated
from weft.ops.random.nodes import check_range, samples_by_row, shape_from_input

_WORDS: Final = (*INDEX, dtypes.uint32, dtypes.uint64)
_DRAWN: Final = {"dtype": FLOATS, "T": INDEX, "Tseed": INDEX}
_DEFAULTS: Final = {"dtype": dtypes.float32, "T": dtypes.int32, "Tseed": dtypes.int64}
_START: Final = np.uint64(0)


def _checked_shape(node: Operation) -> list[Dims]:
    _check_seed(node, 1)
    return shape_from_input(node)


def _checked_samples(node: Operation) -> list[Dims]:
    _check_seed(node, 2)
    return samples_by_row(node)


def _check_seed(node: Operation, position: int) -> None:
    seed = node.inputs[position].dims
    if seed is not None and len(seed) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(seed)}")
    if seed is not None and seed[0] not in (2, None):
        raise ValueError(f"Dimension must be 2 but is {seed[0]}")


def _declared(name: str, rules: Mapping[np.dtype[np.generic], sampling.Rule]) -> Callable[..., Tensor]:
    def kernel(xp: ArrayModule, shape: Array, seed: Array, *, dtype: DType = dtypes.float32) -> Result:
        stream = philox.stream_of_seed_tensor(xp, seed)
        rule = rules[np.dtype(dtype.as_numpy_dtype)]
        drawn = sampling.draw(xp, stream, _START, sampling.element_count(shape), rule)
        return drawn.astype(dtype.as_numpy_dtype).reshape(tuple(shape))

    kernel.__doc__ = f"{name.removeprefix('Stateless')} of the seed alone: `[rank], [2] -> [*shape]`."
    return op(name, "shape: T, seed: Tseed -> output: dtype", infer=_checked_shape,
              gradient=not_differentiable, static=("shape",),
              types=_DRAWN, defaults=_DEFAULTS)(kernel)  # fmt: skip


stateless_random_uniform_node = _declared("StatelessRandomUniform", sampling.UNIFORM)
stateless_random_normal_node = _declared("StatelessRandomNormal", sampling.NORMAL)


@op("StatelessTruncatedNormal", "shape: T, seed: Tseed -> output: dtype", infer=_checked_shape, gradient=not_differentiable,
    static=("shape",), types=_DRAWN, defaults=_DEFAULTS)  # fmt: skip
def stateless_truncated_normal_node(xp: ArrayModule, shape: Array, seed: Array, *, dtype: DType = dtypes.float32) -> Result:
    """TruncatedNormal of the seed alone: `[rank], [2] -> [*shape]`."""
    stream = philox.stream_of_seed_tensor(xp, seed)
    size = sampling.element_count(shape)
    drawn = truncated.truncated_normal(xp, stream, _START, size, dtype.as_numpy_dtype)
    return drawn.astype(dtype.as_numpy_dtype).reshape(tuple(shape))


@op("StatelessRandomUniformInt", "shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype",
    ranks={"minval": 0, "maxval": 0},
    infer=_checked_shape, gradient=not_differentiable, static=("shape",), types={**_DRAWN, "dtype": INDEX},
    defaults={"Tseed": dtypes.int64})  # fmt: skip
def stateless_random_uniform_int(
    xp: ArrayModule, shape: Array, seed: Array, minval: Array, maxval: Array, *, dtype: DType
) -> Result:
    """Integers in [minval, maxval): `[rank], [2], scalar, scalar -> [*shape]`."""
    size = sampling.element_count(shape)
    if xp is np and size:
        check_range(minval, maxval)
    stream = philox.stream_of_seed_tensor(xp, seed)
    return sampling.integers(xp, stream, _START, size, minval, maxval).reshape(tuple(shape))


@op("StatelessRandomUniformFullInt", "shape: T, seed: Tseed -> output: dtype", infer=_checked_shape,
    gradient=not_differentiable,
    static=("shape",), types={**_DRAWN, "dtype": _WORDS, "Tseed": _WORDS},
    defaults={**_DEFAULTS, "dtype": dtypes.uint64})  # fmt: skip
def stateless_random_uniform_full_int(xp: ArrayModule, shape: Array, seed: Array, *, dtype: DType = dtypes.uint64) -> Result:
    """Integers over the whole range of the type: `[rank], [2] -> [*shape]`."""
    if seed.dtype.kind == "u":
        raise InvalidArgumentError.of(f"Invalid seed type: {seed.dtype}; it must be int32 or int64")
    stream = philox.stream_of_seed_tensor(xp, seed)
    kind = np.dtype(dtype.as_numpy_dtype)
    rule = sampling.WORDS32 if kind.itemsize == 4 else sampling.WORDS64
    words = sampling.draw(xp, stream, _START, sampling.element_count(shape), rule)
    return words.astype(np.dtype(f"u{kind.itemsize}")).astype(kind).reshape(tuple(shape))


@op("StatelessMultinomial", "logits: T, num_samples: int32, seed: Tseed -> output: output_dtype",
    infer=_checked_samples, gradient=not_differentiable, static=("num_samples",),
    types={"T": REAL, "Tseed": INDEX, "output_dtype": INDEX}, defaults={"Tseed": dtypes.int64})  # fmt: skip
def stateless_multinomial_node(
    xp: ArrayModule, logits: Array, num_samples: Array, seed: Array, *, output_dtype: DType = dtypes.int64
) -> Result:
    """Class numbers drawn by unnormalised log-probabilities.

    `[batch, classes], scalar, [2] -> [batch, num_samples]`.
    """
    stream = philox.stream_of_seed_tensor(xp, seed)
    drawn = sampling.categorical(xp, stream, _START, logits, int(num_samples))
    return drawn.astype(output_dtype.as_numpy_dtype)
