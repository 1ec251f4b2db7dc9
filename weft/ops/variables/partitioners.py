"""Partitioners: functions that say into how many parts to cut each axis of a new variable."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from weft.framework.building.aliases import DTypeLike
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape

Partitioner = Callable[..., list[int]]


def _element_bytes(dtype: DTypeLike, bytes_per_string_element: int) -> int:
    base = dtypes.as_dtype(dtype).base_dtype
    return bytes_per_string_element if base is dtypes.string else base.size


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """Cut along `axis` into `num_shards` parts, or as many as that axis is long.

    Args:
        num_shards: how many parts.
        axis: the axis to cut.

    Returns:
        The partitioner, a function of shape and dtype that returns how many parts there are along each axis.
    """

    def partitioner(shape: TensorShape, **unused_args: object) -> list[int]:
        parts = [1] * len(shape)
        if not -len(parts) <= axis < len(parts):
            raise IndexError(f"fixed_size_partitioner cuts along axis {axis}, which a variable of shape {shape} does not have.")
        parts[axis] = min(num_shards, shape[axis].value)
        return parts

    return partitioner


def variable_axis_size_partitioner(
    max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16, max_shards: int | None = None
) -> Partitioner:
    """Cut along `axis` so that no part is larger than `max_shard_bytes`, if that many cuts are possible.

    Args:
        max_shard_bytes: the largest size of a part, in bytes.
        axis: the axis to cut.
        bytes_per_string_element: the size to assume for one string.
        max_shards: the most parts; no limit when None.

    Returns:
        The partitioner, a function of shape and dtype that returns how many parts there are along each axis.

    Raises:
        ValueError: `max_shard_bytes` or `max_shards` is less than 1.
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("Both max_shard_bytes and bytes_per_string_element must be positive.")
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape: TensorShape, dtype: DTypeLike) -> list[int]:
        if not isinstance(shape, TensorShape):
            raise ValueError(f"shape is not a TensorShape: {shape}")
        sizes = [size for size in shape.as_list() if size is not None] if shape.is_fully_defined() else None
        if sizes is None:
            raise ValueError(f"shape is not fully defined: {shape}")
        slice_bytes = math.prod(sizes) / sizes[axis] * _element_bytes(dtype, bytes_per_string_element)
        per_part = max(1, math.floor(max_shard_bytes / slice_bytes))
        count = math.ceil(sizes[axis] / per_part)
        parts = [1] * len(sizes)
        parts[axis] = min(max_shards, count) if max_shards else count
        return parts

    return partitioner


def min_max_variable_partitioner(
    max_partitions: int = 1, axis: int = 0, min_slice_size: int = 256 << 10, bytes_per_string_element: int = 16
) -> Partitioner:
    """Cut along `axis` into parts of at least `min_slice_size` bytes, but no more than `max_partitions` of them.

    Args:
        max_partitions: the most parts.
        axis: the axis to cut.
        min_slice_size: the least size of a part, in bytes.
        bytes_per_string_element: the size to assume for one string.

    Returns:
        The partitioner, a function of shape and dtype that returns how many parts there are along each axis.
    """

    def partitioner(shape: Any, dtype: DTypeLike) -> list[int]:
        if axis >= len(shape):
            raise ValueError(f"Can not partition variable along axis {axis} when shape is only {shape}")
        total = shape.num_elements() * _element_bytes(dtype, bytes_per_string_element)
        parts = [1] * len(shape)
        parts[axis] = max(1, min(shape[axis].value, max_partitions, math.ceil(total / min_slice_size)))
        return parts

    return partitioner
