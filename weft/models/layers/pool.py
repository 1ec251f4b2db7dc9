"""The layers that pool, in one, two and three dimensions, and their functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.framework.aliases import DTypeLike, Sizes, TensorLike
from weft.framework.operation import Tensor
from weft.models.layers.conv import layout_of, padding_of, per_axis
from weft.models.layers.layer import Layer
from weft.ops.nn.pool import avg_pool, avg_pool1d, avg_pool3d, max_pool, max_pool1d, max_pool3d
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_store import Reuse


class Pooling(Layer):
    """A layer with a window, strides (the window's size when None), padding and layout: the base of all of these."""

    rank = 2
    function: Callable[..., Tensor]

    def __init__(
        self, pool_size: Sizes, strides: Sizes | None = None, padding: str = "valid",
        data_format: str = "channels_last", name: str | None = None, *, trainable: bool = True,
        dtype: DTypeLike | None = None, _scope: ScopeLike = None, _reuse: Reuse = None,
    ) -> None:  # fmt: skip
        super().__init__(trainable, name, dtype, None, _scope, _reuse)
        self.configure(pool_size, strides, padding, data_format)

    def configure(self, pool_size: Sizes, strides: Sizes | None, padding: str, data_format: str) -> None:
        """Take the arguments of the constructor that are not any layer's."""
        self.input_rank = self.rank + 2
        self.pool_size = per_axis(pool_size, self.rank, "pool_size")
        self.strides = self.pool_size if strides is None else per_axis(strides, self.rank, "strides")
        self.padding, self.layout = padding_of(padding), layout_of(data_format, self.rank)
        self.data_format = data_format

    def call(self, inputs: Tensor) -> Tensor:
        """The pooled inputs."""
        return type(self).function(
            inputs, list(self.pool_size), list(self.strides), self.padding.upper(), data_format=self.layout
        )


class MaxPooling1D(Pooling):
    """The greatest element of each window of sequences.

    `[batch, steps, channels] -> [batch, new_steps, channels]`
    """

    rank, function = 1, staticmethod(max_pool1d)


class MaxPooling2D(Pooling):
    """The greatest element of each window of images.

    `[batch, height, width, channels] -> [batch, new_height, new_width, channels]`
    """

    rank, function = 2, staticmethod(max_pool)


class MaxPooling3D(Pooling):
    """The greatest element of each window of volumes.

    `[batch, depth, height, width, channels] -> [batch, new_depth, new_height, new_width, channels]`
    """

    rank, function = 3, staticmethod(max_pool3d)


class AveragePooling1D(Pooling):
    """The mean of each window of sequences: `[batch, steps, channels] -> [batch, new_steps, channels]`."""

    rank, function = 1, staticmethod(avg_pool1d)


class AveragePooling2D(Pooling):
    """The mean of each window of images.

    `[batch, height, width, channels] -> [batch, new_height, new_width, channels]`
    """

    rank, function = 2, staticmethod(avg_pool)


class AveragePooling3D(Pooling):
    """The mean of each window of volumes.

    `[batch, depth, height, width, channels] -> [batch, new_depth, new_height, new_width, channels]`
    """

    rank, function = 3, staticmethod(avg_pool3d)


def _function(layer: type[Pooling]) -> Callable[..., Any]:
    def pool(
        inputs: TensorLike, pool_size: Sizes, strides: Sizes, padding: str = "valid",
        data_format: str = "channels_last", name: str | None = None,
    ) -> Tensor:  # fmt: skip
        return layer(pool_size, strides, padding, data_format, name)(inputs)

    pool.__doc__ = layer.__doc__
    return pool


max_pooling1d = _function(MaxPooling1D)
max_pooling2d = _function(MaxPooling2D)
max_pooling3d = _function(MaxPooling3D)
average_pooling1d = _function(AveragePooling1D)
average_pooling2d = _function(AveragePooling2D)
average_pooling3d = _function(AveragePooling3D)
