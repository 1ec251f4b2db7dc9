"""tf.random_*: random tensors as programs ask for them, over the nodes of `random_op` and `random_stateless`."""

from __future__ import annotations

from typing import Final, TypedDict

import numpy as np

from weft.framework.building.aliases import DTypeLike, DynamicShape, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.filling import zeros_like
from weft.ops.array.padding import slice_of
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.control_flow.assertion import assert_that
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.input_scope import input_scope
from weft.ops.math.comparison import maximum
from weft.ops.math.elementwise import add, mul
from weft.ops.math.reduce_functions import reduce_all
from weft.ops.random import nodes as random_op
from weft.ops.random.seed import get_seed

_UNIFORM_TYPES: Final = (
    dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64,
)  # fmt: skip


def shape_tensor(shape: DynamicShape) -> Tensor:
    # An empty list says nothing of its type.
    dtype = dtypes.int32 if isinstance(shape, list | tuple | TensorShape) and not len(shape) else None
    return convert_to_tensor(shape, dtype, name="shape")


class _Seeds(TypedDict):
    seed: int
    seed2: int


def _seeds(seed: int | None) -> _Seeds:
    first, second = get_seed(seed)
    return {"seed": first or 0, "seed2": second or 0}


def scaled(drawn: Tensor, mean: Tensor, stddev: Tensor, name: str) -> Tensor:
    return add(mul(drawn, stddev, name="mul"), mean, name=name)


def random_normal(
    shape: DynamicShape,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Make a tensor of normally distributed numbers.

    Args:
        shape: the shape, a list or a 1-D integer tensor.
        mean: the mean, which broadcasts to `shape`.
        stddev: the standard deviation, which broadcasts to `shape`.
        dtype: a floating point type.
        seed: the op's seed; see `tf.set_random_seed`.
        name: the node's name.

    Returns:
        A tensor of that shape and type, with new numbers in each run.

    Raises:
        TypeError: the dtype is no floating one.
        ValueError: a size is negative.

    >>> tf.random_normal([2, 3], mean=1.0, stddev=0.1).shape
    TensorShape([Dimension(2), Dimension(3)])
    """
    with input_scope(name, "random_normal", [shape, mean, stddev]) as scope:
        sizes = shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype, name="stddev")
        drawn = random_op.random_standard_normal(sizes, dtype=dtypes.as_dtype(dtype), **_seeds(seed))
        return scaled(drawn, mean, stddev, scope)


def truncated_normal(
    shape: DynamicShape,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Make a tensor of normally distributed numbers, none two or more standard deviations from the mean.

    >>> bool(abs(sess.run(tf.truncated_normal([100], stddev=0.1))).max() <= 0.2)
    True

    Args:
        shape: [rank] list or tensor of int32 or int64.
        mean, stddev: scalars of `dtype`.
        dtype: a floating dtype.
        seed: the op seed.

    Returns:
        A tensor of that shape and type, with new numbers in each run.

    Raises:
        TypeError: the dtype is no floating one.
        ValueError: a size is negative.
    """
    with input_scope(name, "truncated_normal", [shape, mean, stddev]) as scope:
        sizes = shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype, name="stddev")
        drawn = random_op.truncated_normal_node(sizes, dtype=dtypes.as_dtype(dtype), **_seeds(seed))
        return scaled(drawn, mean, stddev, scope)


def checked_uniform(dtype: DTypeLike, maxval: TensorLike | None) -> tuple[DType, TensorLike]:
    kind = dtypes.as_dtype(dtype)
    if kind not in _UNIFORM_TYPES:
        raise ValueError(f"Invalid dtype {kind!r}")
    if maxval is None and kind.is_integer:
        raise ValueError(f"Must specify maxval for integer dtype {kind!r}")
    return kind, 1 if maxval is None else maxval


def random_uniform(
    shape: DynamicShape,
    minval: TensorLike = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Make a tensor of numbers that are evenly distributed in [minval, maxval).

    Args:
        shape: the shape, a list or a 1-D integer tensor.
        minval: the least value; 0 by default.
        maxval: the bound above; 1 when None, which integer types do not allow.
        dtype: a floating point type, int32 or int64.
        seed: the op's seed; see `tf.set_random_seed`.
        name: the node's name.

    Returns:
        A tensor of that shape and type, with new numbers in each run.

    Raises:
        ValueError: an integer type has no `maxval`, or a size is negative.
        InvalidArgumentError: in a run, integers are to be below `minval`.

    >>> sess.run(tf.random_uniform([3], 5, 6, dtype=tf.int32))
    array([5, 5, 5], dtype=int32)
    """
    kind, maxval = checked_uniform(dtype, maxval)
    with input_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        sizes = shape_tensor(shape)
        low = convert_to_tensor(minval, kind, name="min")
        high = convert_to_tensor(maxval, kind, name="max")
        seeds = _seeds(seed)
        if kind.is_integer:
            return random_op.random_uniform_int(sizes, low, high, name=scope, **seeds)
        drawn = random_op.random_uniform_node(sizes, dtype=kind, **seeds)
        return scaled(drawn, low, high - low, scope)


def random_shuffle(value: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """Put the rows of a tensor into a random order.

    Args:
        value: [n, ...] tensor of any dtype.
        seed: the op seed.

    Returns:
        A tensor of the same shape and dtype.
    """
    return random_op.random_shuffle(value, name=name, **_seeds(seed))


def random_crop(value: TensorLike, size: DynamicShape, seed: int | None = None, name: str | None = None) -> Tensor:
    """Cut a block of `size` out of a tensor at a random place; the run fails when the tensor is smaller than that.

    >>> tf.random_crop(tf.zeros([8, 8, 3]), [4, 4, 3]).shape
    TensorShape([Dimension(4), Dimension(4), Dimension(3)])

    Args:
        value: [*sizes] tensor of any dtype.
        size: [rank] list or tensor of int32.
        seed: the op seed.

    Returns:
        [*size] tensor of the same dtype.

    Raises:
        ValueError: `size` has another number of elements than `value` has dimensions.
    """
    with input_scope(name, "random_crop", [value, size]) as scope:
        value = convert_to_tensor(value, name="value")
        size = convert_to_tensor(size, dtypes.int32, name="size")
        if value.dims is not None and size.dims not in (None, (len(value.dims),)):
            raise ValueError(
                f"size of random_crop has a number for each dimension of value: {described(size)} for {described(value)}. The "
                "last one is the channels of an image."
            )
        sizes = shape_of(value)
        fits = assert_that(reduce_all(sizes >= size), ["Need value.shape >= size, got ", sizes, size], summarize=1000)
        sizes = with_dependencies([fits], sizes)
        limit = sizes - size + 1
        kind = size.dtype
        offset = random_uniform(shape_of(sizes), dtype=kind, maxval=kind.max, seed=seed) % limit
        return slice_of(value, offset, size, name=scope)


def multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: int | None = None,
    name: str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor:
    """Draw class numbers `[batch, num_samples]` by unnormalised log-probabilities `[batch, classes]`.

    Args:
        logits: [batch, classes] tensor of a floating dtype.
        num_samples: int32 scalar.
        seed: the op seed.
        output_dtype: int32 or int64, as when None.

    Returns:
        [batch, num_samples] tensor of that dtype.

    Raises:
        ValueError: the logits are no matrix, or `num_samples` no scalar.
    """
    with input_scope(name, "multinomial", [logits]):
        return drawn_categories(logits, num_samples, output_dtype, seed)


def categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Draw class numbers `[batch, num_samples]` by unnormalised log-probabilities `[batch, classes]`.

    Args:
        logits: [batch, classes] tensor of a floating dtype.
        num_samples: int32 scalar.
        dtype: int32 or int64, as when None.
        seed: the op seed.

    Returns:
        [batch, num_samples] tensor of that dtype.
    """
    with input_scope(name, "categorical", [logits]):
        return drawn_categories(logits, num_samples, dtype, seed)


def drawn_categories(logits: TensorLike, num_samples: TensorLike, dtype: DTypeLike | None, seed: int | None) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    kind = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    return random_op.multinomial_node(logits, num_samples, output_dtype=kind, **_seeds(seed))


def random_gamma(
    shape: DynamicShape,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Draw `shape` numbers from each of the gamma distributions with shape `alpha` and rate `beta` (1 when None).

    Args:
        shape: [rank] list or tensor of int32 or int64.
        alpha: [...] tensor of `dtype`, positive.
        beta: [...] tensor of `dtype`, positive, whose shape broadcasts with that of `alpha`.
        dtype: a floating dtype.
        seed: the op seed.

    Returns:
        [*shape, ...] tensor of `dtype`.
    """
    with input_scope(name, "random_gamma", [shape, alpha, beta]):
        sizes = convert_to_tensor(shape, dtypes.int32, name="shape")
        alpha = convert_to_tensor(alpha, dtype, name="alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype, name="beta")
        drawn = random_op.random_gamma_node(sizes, alpha + zeros_like(beta), **_seeds(seed))
        tiny = np.finfo(alpha.dtype.as_numpy_dtype).tiny
        return maximum(tiny, drawn / beta)


def random_poisson(
    lam: TensorLike, shape: DynamicShape, dtype: DTypeLike = dtypes.float32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Draw `shape` numbers from each of the Poisson distributions with mean `lam`.

    Args:
        lam: [...] tensor of a floating dtype, not negative.
        shape: [rank] list or tensor of int32 or int64.
        dtype: a floating dtype, int32 or int64.
        seed: the op seed.

    Returns:
        [*shape, ...] tensor of `dtype`.
    """
    with input_scope(name, "random_poisson", [lam, shape]):
        sizes = convert_to_tensor(shape, dtypes.int32, name="shape")
        return random_op.random_poisson_node(sizes, lam, dtype=dtypes.as_dtype(dtype), **_seeds(seed))
