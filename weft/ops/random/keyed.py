"""Random ops whose numbers depend on a key and a counter, as later TensorFlows write what has a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.array.shape_ops import INDEX
from weft.ops.declaration import not_differentiable, op, scalar_shape
from weft.ops.math.elementwise import FLOATS
from weft.ops.random import philox, sampling, truncated
from weft.ops.random.nodes import check_range, shape_from_input
from weft.ops.size_checks import check_size

PHILOX: Final = 1
"""The number of the algorithm; TensorFlow's others are ThreeFry, 2, and the device's choice, 3, which is this one on a CPU."""
_KNOWN: Final = (PHILOX, 3)
_STATE: Final = 3
_WORD: Final = (1 << 64) - 1
_BLOCKS: Final = 256
_DRAWN: Final = {"dtype": FLOATS, "Tshape": INDEX}
_DEFAULTS: Final = {"dtype": dtypes.float32, "Tshape": dtypes.int32}
_INTEGERS: Final = (*INDEX, dtypes.uint32, dtypes.uint64)
_INPUTS: Final = "shape: Tshape, key: uint64, counter: uint64, alg: int32"


def _key_and_counter(node: Operation) -> list[Dims]:
    return [(1,), (2,)]


def _state(node: Operation) -> list[Dims]:
    return [(_STATE,)]


def _with_algorithm(node: Operation) -> list[Dims]:
    check_size(node.inputs[0], 0, 2)
    return [(1,), (2,), ()]


@op("StatelessRandomGetKeyCounter", "seed: Tseed -> key: uint64, counter: uint64",
    ranks={"seed": 1}, infer=_key_and_counter,
    gradient=not_differentiable, types={"Tseed": INDEX}, defaults={"Tseed": dtypes.int64})  # fmt: skip
def stateless_random_get_key_counter(xp: ArrayModule, seed: Array) -> tuple[Result, Result]:
    """The key and the counter of a seed: `[2] -> [1], [2]`."""
    return _key_and_counter_of(xp, seed)


@op("StatelessRandomGetKeyCounterAlg", "seed: Tseed -> key: uint64, counter: uint64, alg: int32",
    ranks={"seed": 1}, infer=_with_algorithm,
    gradient=not_differentiable, types={"Tseed": INDEX}, defaults={"Tseed": dtypes.int64})  # fmt: skip
def stateless_random_get_key_counter_alg(xp: ArrayModule, seed: Array) -> tuple[Result, Result, Result]:
    """The key and the counter of a seed, and the number of the algorithm: `[2] -> [1], [2], scalar`."""
    return (*_key_and_counter_of(xp, seed), xp.asarray(np.int32(PHILOX)))


@op("StatelessRandomGetAlg", "-> alg: int32", infer=scalar_shape, gradient=not_differentiable, stateful=True)
def stateless_random_get_alg() -> Result:
    """The number of the algorithm: `-> scalar`."""
    return np.int32(PHILOX)


def _key_and_counter_of(xp: ArrayModule, seed: Array) -> tuple[Array, Array]:
    stream = philox.stream_of_seed_tensor(xp, seed)
    upper = philox.joined(stream.upper)
    return xp.reshape(philox.joined(stream.key), (1,)), xp.stack([xp.zeros_like(upper), upper])


def _keyed_shape(node: Operation) -> list[Dims]:
    # Of Philox's counter, which may be longer, two words count.
    check_size(node.inputs[1], 0, 1)
    return shape_from_input(node)


def _stream(xp: ArrayModule, key: Array, counter: Array, alg: Array) -> tuple[philox.Stream, Array]:
    """The stream, and the number of the block in it from which on numbers are drawn."""
    if xp is np and int(alg) not in _KNOWN:
        raise InvalidArgumentError.of(f"Unsupported algorithm id: {int(alg)}; weft has Philox, {PHILOX}")
    if key.shape != (1,):
        raise InvalidArgumentError.of(f"key must have shape [1], not {list(key.shape)}")
    if counter.shape[0] < 2:
        raise InvalidArgumentError.of(f"counter must have at least two elements for Philox, not {counter.shape[0]}")
    return philox.stream_of_key(xp.asarray(key)[0], xp.asarray(counter)[1]), xp.asarray(counter)[0]


def _declared(name: str, rules: Mapping[np.dtype[np.generic], sampling.Rule]) -> Callable[..., Tensor]:
    def kernel(
        xp: ArrayModule, shape: Array, key: Array, counter: Array, alg: Array, *, dtype: DType = dtypes.float32
    ) -> Result:
        stream, start = _stream(xp, key, counter, alg)
        drawn = sampling.draw(xp, stream, start, sampling.element_count(shape), rules[np.dtype(dtype.as_numpy_dtype)])
        return drawn.astype(dtype.as_numpy_dtype).reshape(tuple(shape))

    kernel.__doc__ = f"{name[9:-2]} of the key and counter alone: `[rank], [1], [2], scalar -> [*shape]`."
    return op(name, f"{_INPUTS} -> output: dtype", infer=_keyed_shape, gradient=not_differentiable,
              ranks={"key": 1, "counter": 1, "alg": 0},
              static=("shape",), types=_DRAWN, defaults=_DEFAULTS)(kernel)  # fmt: skip


stateless_random_uniform_v2 = _declared("StatelessRandomUniformV2", sampling.UNIFORM)
stateless_random_normal_v2 = _declared("StatelessRandomNormalV2", sampling.NORMAL)


@op("StatelessTruncatedNormalV2", f"{_INPUTS} -> output: dtype",
    ranks={"key": 1, "counter": 1, "alg": 0}, infer=_keyed_shape, gradient=not_differentiable,
    static=("shape",), types=_DRAWN, defaults=_DEFAULTS)  # fmt: skip
def stateless_truncated_normal_v2(
    xp: ArrayModule, shape: Array, key: Array, counter: Array, alg: Array, *, dtype: DType = dtypes.float32
) -> Result:
    """TruncatedNormal of the key and counter alone: `[rank], [1], [2], scalar -> [*shape]`."""
    stream, start = _stream(xp, key, counter, alg)
    drawn = truncated.truncated_normal(xp, stream, start, sampling.element_count(shape), dtype.as_numpy_dtype)
    return drawn.astype(dtype.as_numpy_dtype).reshape(tuple(shape))


@op("StatelessRandomUniformIntV2", f"{_INPUTS}, minval: dtype, maxval: dtype -> output: dtype",
    ranks={"key": 1, "counter": 1, "alg": 0, "minval": 0, "maxval": 0}, infer=_keyed_shape,
    gradient=not_differentiable, static=("shape",), types={**_DRAWN, "dtype": _INTEGERS},
    defaults={"Tshape": dtypes.int32})  # fmt: skip
def stateless_random_uniform_int_v2(
    xp: ArrayModule, shape: Array, key: Array, counter: Array, alg: Array, minval: Array, maxval: Array, *, dtype: DType
) -> Result:
    """Integers in [minval, maxval): `[rank], [1], [2], scalar, scalar, scalar -> [*shape]`."""
    size = sampling.element_count(shape)
    if xp is np and size:
        check_range(minval, maxval)
    stream, start = _stream(xp, key, counter, alg)
    return sampling.integers(xp, stream, start, size, minval, maxval).reshape(tuple(shape))


@op("StatelessRandomUniformFullIntV2", f"{_INPUTS} -> output: dtype",
    ranks={"key": 1, "counter": 1, "alg": 0}, infer=_keyed_shape, gradient=not_differentiable,
    static=("shape",), types={**_DRAWN, "dtype": _INTEGERS}, defaults={**_DEFAULTS, "dtype": dtypes.uint64})  # fmt: skip
def stateless_random_uniform_full_int_v2(
    xp: ArrayModule, shape: Array, key: Array, counter: Array, alg: Array, *, dtype: DType = dtypes.uint64
) -> Result:
    """Integers over the whole range of the type: `[rank], [1], [2], scalar -> [*shape]`."""
    stream, start = _stream(xp, key, counter, alg)
    kind = np.dtype(dtype.as_numpy_dtype)
    rule = sampling.WORDS32 if kind.itemsize == 4 else sampling.WORDS64
    words = sampling.draw(xp, stream, start, sampling.element_count(shape), rule)
    return words.astype(np.dtype(f"u{kind.itemsize}")).astype(kind).reshape(tuple(shape))


@op("RngReadAndSkip", "resource: resource, alg: int32, delta: uint64 -> value: int64", infer=_state,
    gradient=not_differentiable, stateful=True, updates=("resource",))  # fmt: skip
def rng_read_and_skip(ctx: OpContext, resource: Array, alg: Array, delta: Array) -> Array:
    """A generator's state, counter and key, before it is moved on by `delta` times 256 blocks.

    `scalar resource, scalar, scalar -> [3]`
    """
    if int(alg) not in _KNOWN:
        raise InvalidArgumentError.of(f"Unsupported algorithm id: {int(alg)}; weft has Philox, {PHILOX}")
    found = np.asarray(resource)
    if found.shape != (_STATE,):
        raise InvalidArgumentError.of(f"The state of a Philox generator must have shape [{_STATE}], got {list(found.shape)}")
    low, high = (int(part) & _WORD for part in found[:2])
    counter = (low + (high << 64) + int(delta) * _BLOCKS) & (_WORD << 64 | _WORD)
    moved = np.array([counter & _WORD, counter >> 64, int(found[2]) & _WORD], np.uint64)
    return moved.view(np.int64), found
