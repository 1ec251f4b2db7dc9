"""Initializers: objects that make a variable's initial value when they are called with its shape and type.

`initializer(shape, dtype=None, partition_info=None)` gives a tensor; `partition_info` says which part of a
partitioned variable is being made. `get_config` and `from_config` turn them into plain data and back.
"""

from __future__ import annotations

import math
from typing import Any, Final, Self

import numpy as np

from weft.framework.building.aliases import Array, DTypeLike, DynamicShape, ShapeLike, TensorLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.printed import printed
from weft.ops.array.constant import constant as constant_tensor
from weft.ops.array.filling import ones, zeros
from weft.ops.random.functions import random_normal, random_uniform, truncated_normal
from weft.ops.variables.partition_info import PartitionInfo

# The standard deviation of a normal distribution that is cut at two standard deviations.
_TRUNCATED_STDDEV: Final = 0.87962566103423978
_MODES: Final = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS: Final = ("normal", "uniform", "truncated_normal", "untruncated_normal")


class Initializer:
    """The base of all initializers; programs may derive their own."""

    __repr__ = printed("tf.initializers", in_snake_case=True)

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: PartitionInfo | None = None) -> Tensor:
        """The initial value of a variable of this shape and type."""
        raise NotImplementedError

    def get_config(self) -> dict[str, object]:
        """The arguments that make an equal initializer, as plain data."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, object]) -> Self:
        """Make an initializer from what `get_config` gave.

        Args:
            config: the arguments by name.
        """
        return cls(**config)


def floating_type(dtype: DTypeLike) -> DType:
    kind = dtypes.as_dtype(dtype)
    if not kind.is_floating:
        raise ValueError(f"Expected floating point type, got {kind}.")
    return kind


class Zeros(Initializer):
    """All zeros.

    >>> v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    >>> sess.run(v.initializer)
    >>> sess.run(v)
    array([0., 0.], dtype=float32)

    Args:
        dtype: the dtype of the variable when nobody says another.
    """

    def __init__(self, dtype: DTypeLike = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: PartitionInfo | None = None) -> Tensor:
        """Zeros of this shape."""
        return zeros(shape, dtype or self.dtype)

    def get_config(self) -> dict[str, object]:
        """The dtype."""
        return {"dtype": self.dtype.name}


class Ones(Initializer):
    """All ones.

    >>> v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
    >>> sess.run(v.initializer)
    >>> sess.run(v)
    array([1., 1.], dtype=float32)

    Args:
        dtype: the dtype of the variable when nobody says another.
    """

    def __init__(self, dtype: DTypeLike = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: PartitionInfo | None = None) -> Tensor:
        """Ones of this shape."""
        return ones(shape, dtype or self.dtype)

    def get_config(self) -> dict[str, object]:
        """The dtype."""
        return {"dtype": self.dtype.name}


class Constant(Initializer):
    """A number or a list of them; the last one is repeated to fill the shape, unless `verify_shape`.

    >>> v = tf.get_variable("v", [2], initializer=tf.constant_initializer(0.5))
    >>> sess.run(v.initializer)
    >>> sess.run(v)
    array([0.5, 0.5], dtype=float32)

    Args:
        value: a number, bool, string, (nested) list of these, or an array.
        dtype: the dtype of the variable when nobody says another.
        verify_shape: whether a value of another shape than the variable's is an error.

    Raises:
        TypeError: the value is none of these.
    """

    def __init__(self, value: Array = 0, dtype: Array = dtypes.float32, verify_shape: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, list | tuple | np.ndarray)):
            raise TypeError(
                f"Invalid type for initial value: {type(value)} (expected Python scalar, list or tuple of values, or "
                "numpy.ndarray)."
            )
        self.value = value
        self.dtype = dtypes.as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(
        self,
        shape: DynamicShape,
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
        verify_shape: bool | None = None,
    ) -> Tensor:
        """The value, in this shape."""
        verify = self._verify_shape if verify_shape is None else verify_shape
        return constant_tensor(self.value, dtype or self.dtype, shape, verify_shape=verify)

    def get_config(self) -> dict[str, object]:
        """The value and the dtype."""
        return {"value": self.value, "dtype": self.dtype.name}


class RandomUniform(Initializer):
    """Uniform in [minval, maxval); maxval is 1 for floats when None.

    Args:
        minval, maxval: numbers or scalar tensors; for integers both must be given.
        seed: the op seed.
        dtype: a floating type, int32 or int64.
    """

    def __init__(
        self,
        minval: float | int | Tensor = 0.0,
        maxval: float | int | Tensor | None = None,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: PartitionInfo | None = None) -> Tensor:
        """Random numbers of this shape."""
        return random_uniform(shape, self.minval, self.maxval, dtype or self.dtype, seed=self.seed)

    def get_config(self) -> dict[str, object]:
        """The bounds, the seed and the dtype."""
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed, "dtype": self.dtype.name}


class RandomNormal(Initializer):
    """Normal with this mean and standard deviation.

    >>> v = tf.get_variable("v", [2, 3], initializer=tf.random_normal_initializer(stddev=0.1))
    >>> v.shape
    TensorShape([Dimension(2), Dimension(3)])

    Args:
        mean, stddev: numbers or scalar tensors.
        seed: the op seed.
        dtype: a floating type.
    """

    def __init__(
        self, mean: TensorLike = 0.0, stddev: TensorLike = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32
    ) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed
        self.dtype = floating_type(dtype)

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: PartitionInfo | None = None) -> Tensor:
        """Random numbers of this shape."""
        return random_normal(shape, self.mean, self.stddev, dtype or self.dtype, seed=self.seed)

    def get_config(self) -> dict[str, object]:
        """The mean, the standard deviation, the seed and the dtype."""
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed, "dtype": self.dtype.name}


class TruncatedNormal(RandomNormal):
    """Normal with this mean and standard deviation, never two or more standard deviations from the mean.

    >>> tf.get_variable("v", [2, 3], initializer=tf.truncated_normal_initializer(stddev=0.1)).shape
    TensorShape([Dimension(2), Dimension(3)])
    """

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: PartitionInfo | None = None) -> Tensor:
        """Random numbers of this shape."""
        return truncated_normal(shape, self.mean, self.stddev, dtype or self.dtype, seed=self.seed)


class UniformUnitScaling(Initializer):
    """Uniform numbers that keep the scale of what flows through a layer, times `factor`.

    Args:
        factor: a number; 1.15 suits tanh, 1.43 relu.
        seed: the op seed.
        dtype: a floating type.
    """

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32) -> None:
        self.factor, self.seed = factor, seed
        self.dtype = floating_type(dtype)

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: PartitionInfo | None = None) -> Tensor:
        """Random numbers of this shape."""
        input_size = max(math.prod(float(size) for size in full_shape(shape, partition_info)[:-1]), 1.0)
        limit = math.sqrt(3 / input_size) * self.factor
        return random_uniform(shape, -limit, limit, dtype or self.dtype, seed=self.seed)

    def get_config(self) -> dict[str, object]:
        """The factor, the seed and the dtype."""
        return {"factor": self.factor, "seed": self.seed, "dtype": self.dtype.name}


def full_shape(shape: DynamicShape, partition_info: PartitionInfo | None) -> Any:
    return shape if partition_info is None else partition_info.full_shape


def fans(shape: Any) -> tuple[int, int]:
    """The numbers of inputs and outputs of a unit of a layer with weights of this shape."""
    sizes = [int(size) for size in shape]
    if len(sizes) < 2:
        fan = sizes[0] if sizes else 1
        return fan, fan
    field = math.prod(sizes[:-2])
    return sizes[-2] * field, sizes[-1] * field


class VarianceScaling(Initializer):
    """Random numbers whose variance is `scale` divided by a layer's inputs, outputs, or the mean of both (`mode`).

    Args:
        scale: a positive number.
        mode: "fan_in", "fan_out" or "fan_avg".
        distribution: "truncated_normal" ("normal" is another name for it), "untruncated_normal" or "uniform".
        seed: the op seed.
        dtype: a floating type.

    Raises:
        ValueError: `scale` is not positive, or one of the two words is none of these.
    """

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
        seed: int | None = None, dtype: DTypeLike = dtypes.float32,
    ) -> None:  # fmt: skip
        if scale <= 0.0:
            raise ValueError("`scale` must be positive float.")
        if mode not in _MODES:
            raise ValueError(f"Invalid `mode` argument: {mode}. It is one of {', '.join(map(repr, _MODES))}.")
        distribution = distribution.lower()
        if distribution not in _DISTRIBUTIONS:
            raise ValueError(
                f"Invalid `distribution` argument: {distribution}. It is one of {', '.join(map(repr, _DISTRIBUTIONS))}."
            )
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution, seed
        self.dtype = floating_type(dtype)

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: PartitionInfo | None = None) -> Tensor:
        """Random numbers of this shape."""
        kind = dtype or self.dtype
        fan_in, fan_out = fans(full_shape(shape, partition_info))
        size = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        variance = self.scale / max(1.0, size)
        if self.distribution in ("normal", "truncated_normal"):
            return truncated_normal(shape, 0.0, math.sqrt(variance) / _TRUNCATED_STDDEV, kind, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return random_normal(shape, 0.0, math.sqrt(variance), kind, seed=self.seed)
        limit = math.sqrt(3.0 * variance)
        return random_uniform(shape, -limit, limit, kind, seed=self.seed)

    def get_config(self) -> dict[str, object]:
        """All arguments."""
        return {
            "scale": self.scale, "mode": self.mode, "distribution": self.distribution, "seed": self.seed,
            "dtype": self.dtype.name,
        }  # fmt: skip


class GlorotUniform(VarianceScaling):
    """The uniform initializer of Glorot and Bengio, also named after Xavier.

    Args: those of `tf.glorot_normal_initializer`.
    """

    def __init__(self, seed: int | None = None, dtype: DTypeLike = dtypes.float32) -> None:
        super().__init__(scale=1.0, mode="fan_avg", distribution="uniform", seed=seed, dtype=dtype)

    def get_config(self) -> dict[str, object]:
        """The seed and the dtype."""
        return {"seed": self.seed, "dtype": self.dtype.name}


class GlorotNormal(VarianceScaling):
    """The normal initializer of Glorot and Bengio, also named after Xavier.

    Args:
        seed: the op seed.
        dtype: a floating type.
    """

    def __init__(self, seed: int | None = None, dtype: DTypeLike = dtypes.float32) -> None:
        super().__init__(scale=1.0, mode="fan_avg", distribution="truncated_normal", seed=seed, dtype=dtype)

    def get_config(self) -> dict[str, object]:
        """The seed and the dtype."""
        return {"seed": self.seed, "dtype": self.dtype.name}


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """The normal initializer of LeCun: variance 1 / inputs.

    Args: those of `tf.initializers.he_normal`.
    """
    return VarianceScaling(scale=1.0, mode="fan_in", distribution="truncated_normal", seed=seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """The uniform initializer of LeCun: variance 1 / inputs.

    Args: those of `tf.initializers.he_normal`.
    """
    return VarianceScaling(scale=1.0, mode="fan_in", distribution="uniform", seed=seed)


def he_normal(seed: int | None = None) -> VarianceScaling:
    """The normal initializer of He: variance 2 / inputs.

    Args:
        seed: the op seed.
    """
    return VarianceScaling(scale=2.0, mode="fan_in", distribution="truncated_normal", seed=seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    """The uniform initializer of He: variance 2 / inputs.

    Args: those of `tf.initializers.he_normal`.
    """
    return VarianceScaling(scale=2.0, mode="fan_in", distribution="uniform", seed=seed)
