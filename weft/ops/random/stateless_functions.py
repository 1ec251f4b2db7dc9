"""Random numbers that depend on a seed alone, which is given to each function."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import DTypeLike, DynamicShape, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.input_scope import input_scope
from weft.ops.random import stateless as random_stateless
from weft.ops.random.functions import checked_uniform, scaled, shape_tensor


def _stateless_scaled(
    node: Callable[..., Tensor], shape: DynamicShape, seed: TensorLike, mean: TensorLike, stddev: TensorLike,
    dtype: DTypeLike, scope: str,
) -> Tensor:  # fmt: skip
    sizes = shape_tensor(shape)
    mean = convert_to_tensor(mean, dtype, name="mean")
    stddev = convert_to_tensor(stddev, dtype, name="stddev")
    return scaled(node(sizes, seed, dtype=dtype), mean, stddev, scope)


def stateless_random_normal(
    shape: DynamicShape,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """`random_normal` whose numbers depend on `seed` (two integers, perhaps a tensor) alone.

    Args:
        shape: [rank] list or tensor of int32 or int64.
        seed: [2] tensor of int32 or int64.
        mean, stddev: scalars of `dtype`.
        dtype: a floating dtype.

    Returns:
        [*shape] tensor of `dtype`.
    """
    with input_scope(name, "stateless_random_normal", [shape, seed, mean, stddev]) as scope:
        return _stateless_scaled(random_stateless.stateless_random_normal_node, shape, seed, mean, stddev, dtype, scope)


def stateless_truncated_normal(
    shape: DynamicShape,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """`truncated_normal` whose numbers depend on `seed` (two integers, perhaps a tensor) alone.

    Args: those of `tf.contrib.stateless.stateless_random_normal`.

    Returns:
        [*shape] tensor of `dtype`.
    """
    with input_scope(name, "stateless_truncated_normal", [shape, seed, mean, stddev]) as scope:
        return _stateless_scaled(random_stateless.stateless_truncated_normal_node, shape, seed, mean, stddev, dtype, scope)


def stateless_random_uniform(
    shape: DynamicShape,
    seed: TensorLike,
    minval: TensorLike = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """`random_uniform` whose numbers depend on `seed` (two integers, perhaps a tensor) alone.

    Args:
        shape: [rank] list or tensor of int32 or int64.
        seed: [2] tensor of int32 or int64.
        minval, maxval: scalars of `dtype`: the range; 1 is the end of it for floats when `maxval` is None.
        dtype: a floating dtype, int32 or int64.

    Returns:
        [*shape] tensor of `dtype`.
    """
    kind, maxval = checked_uniform(dtype, maxval)
    with input_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        sizes = shape_tensor(shape)
        low = convert_to_tensor(minval, kind, name="min")
        high = convert_to_tensor(maxval, kind, name="max")
        if kind.is_integer:
            return random_stateless.stateless_random_uniform_int(sizes, seed, low, high, dtype=kind, name=scope)
        drawn = random_stateless.stateless_random_uniform_node(sizes, seed, dtype=kind)
        return scaled(drawn, low, high - low, scope)


def stateless_multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    output_dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """`multinomial` whose numbers depend on `seed` (two integers, perhaps a tensor) alone.

    Args:
        logits: [batch, classes] tensor of a floating dtype.
        num_samples: int32 scalar.
        seed: [2] tensor of int32 or int64.
        output_dtype: int32 or int64.

    Returns:
        [batch, num_samples] tensor of `output_dtype`.
    """
    with input_scope(name, "stateless_multinomial", [logits, seed]):
        logits = convert_to_tensor(logits, name="logits")
        kind = dtypes.as_dtype(output_dtype)
        return random_stateless.stateless_multinomial_node(logits, num_samples, seed, output_dtype=kind)


def stateless_categorical(
    logits: TensorLike, num_samples: TensorLike, seed: TensorLike, dtype: DTypeLike = dtypes.int64, name: str | None = None
) -> Tensor:
    """`categorical` whose numbers depend on `seed` (two integers, perhaps a tensor) alone.

    Args:
        logits: [batch, classes] tensor of a floating dtype.
        num_samples: int32 scalar.
        seed: [2] tensor of int32 or int64.
        dtype: int32 or int64.

    Returns:
        [batch, num_samples] tensor of `dtype`.
    """
    with input_scope(name, "stateless_categorical", [logits, seed]):
        return stateless_multinomial(logits, num_samples, seed, dtype)
