"""The layers that pool, in one, two and three dimensions, and their functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

from weft.framework.building.aliases import DTypeLike, ShapeLike, Sizes, TensorLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.layers.conv_arguments import layout_of, padding_of, per_axis
from weft.models.layers.layer import Layer
from weft.models.layers.output_shapes import resized, windows
from weft.ops.nn.pool import avg_pool, avg_pool1d, avg_pool3d, max_pool, max_pool1d, max_pool3d
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_store import Reuse


class Pooling(Layer):
    """A layer with a window, strides, padding and layout: the base of all of these."""

    rank = 2
    function: Callable[..., Tensor]

    def __init__(
        self, pool_size: Sizes, strides: Sizes, padding: str = "valid",
        data_format: str = "channels_last", name: str | None = None, *, trainable: bool = True,
        dtype: DTypeLike | None = None, _scope: ScopeLike = None, _reuse: Reuse = None,
    ) -> None:  # fmt: skip
        super().__init__(trainable, name, dtype, None, _scope, _reuse)
        self.configure(pool_size, strides, padding, data_format)

    def configure(self, pool_size: Sizes, strides: Sizes, padding: str, data_format: str) -> None:
        """Take the arguments of the constructor that are not any layer's.

        Args:
            pool_size: the window, a number for all dimensions or one for each.
            strides: how far it moves, the same.
            padding: "valid" or "same", in any case.
            data_format: "channels_last" or "channels_first".

        Raises:
            ValueError: `strides` is None, or an argument is none of those above.
        """
        self.input_rank = self.rank + 2
        self.pool_size = per_axis(pool_size, self.rank, "pool_size")
        if strides is None:
            raise ValueError(f"Argument `strides` must not be None: it is how far the window moves, such as {pool_size}")
        self.strides = per_axis(strides, self.rank, "strides")
        self.padding, self.layout = padding_of(padding), layout_of(data_format, self.rank)
        self.data_format = data_format

    def call(self, inputs: Tensor) -> Tensor:
        """The pooled inputs."""
        return type(self).function(
            inputs, list(self.pool_size), list(self.strides), self.padding.upper(), data_format=self.layout
        )

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs for a shape of inputs.

        Args:
            input_shape: the inputs' shape, the size of the batch in front.
        """
        return resized(input_shape, self.layout, self._windows)

    def _windows(self, size: int, axis: int) -> int:
        return windows(size, self.pool_size[axis], self.strides[axis], self.padding)


class MaxPooling1D(Pooling):
    """The greatest element of each window of sequences.

    `[batch, steps, channels] -> [batch, new_steps, channels]`

    Args:
        pool_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which lets windows reach beyond the borders.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        name: the name scope.
        trainable, dtype: as each layer has them; this one has no variables.
    """

    rank, function = 1, staticmethod(max_pool1d)


class MaxPooling2D(Pooling):
    """The greatest element of each window of images.

    `[batch, height, width, channels] -> [batch, new_height, new_width, channels]`

    Args:
        pool_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which lets windows reach beyond the borders.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        name: the name scope.
        trainable, dtype: as each layer has them; this one has no variables.
    """

    rank, function = 2, staticmethod(max_pool)


class MaxPooling3D(Pooling):
    """The greatest element of each window of volumes.

    `[batch, depth, height, width, channels] -> [batch, new_depth, new_height, new_width, channels]`

    Args:
        pool_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which lets windows reach beyond the borders.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        name: the name scope.
        trainable, dtype: as each layer has them; this one has no variables.
    """

    rank, function = 3, staticmethod(max_pool3d)


class AveragePooling1D(Pooling):
    """The mean of each window of sequences: `[batch, steps, channels] -> [batch, new_steps, channels]`.

    Args:
        pool_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which lets windows reach beyond the borders.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        name: the name scope.
        trainable, dtype: as each layer has them; this one has no variables.
    """

    rank, function = 1, staticmethod(avg_pool1d)


class AveragePooling2D(Pooling):
    """The mean of each window of images.

    `[batch, height, width, channels] -> [batch, new_height, new_width, channels]`

    Args:
        pool_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which lets windows reach beyond the borders.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        name: the name scope.
        trainable, dtype: as each layer has them; this one has no variables.
    """

    rank, function = 2, staticmethod(avg_pool)


class AveragePooling3D(Pooling):
    """The mean of each window of volumes.

    `[batch, depth, height, width, channels] -> [batch, new_depth, new_height, new_width, channels]`

    Args:
        pool_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which lets windows reach beyond the borders.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        name: the name scope.
        trainable, dtype: as each layer has them; this one has no variables.
    """

    rank, function = 3, staticmethod(avg_pool3d)


_FUNCTION_ARGS: Final = """\
Args:
    inputs: floats of that shape, or with the channels second with "channels_first".
    pool_size: the size of the window, one int for all spatial dimensions or one for each.
    strides: how far the window moves, one int or one for each spatial dimension.
    padding: "valid", which uses whole windows only, or "same", which lets windows reach beyond the borders.
    data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
    name: the name scope.

Returns:
    The pooled inputs, of their type.

Raises:
    ValueError: a size, the padding or the layout is none of these, or the inputs have another rank.
"""


def _function(layer: type[Pooling], function_name: str) -> Callable[..., Any]:
    def pool(
        inputs: TensorLike, pool_size: Sizes, strides: Sizes, padding: str = "valid",
        data_format: str = "channels_last", name: str | None = None,
    ) -> Tensor:  # fmt: skip
        return layer(pool_size, strides, padding, data_format, name)(inputs)

    # Python's errors about its arguments name the function by its code.
    pool.__name__ = pool.__qualname__ = function_name
    pool.__code__ = pool.__code__.replace(co_name=function_name, co_qualname=function_name)
    # Python 3.13 takes the indentation of docstrings away, and those before do not.
    about, _, _ = inspect.cleandoc(layer.__doc__ or "").partition("\n\nArgs:")
    pool.__doc__ = f"{about}\n\n{_FUNCTION_ARGS}"
    return pool


max_pooling1d = _function(MaxPooling1D, "max_pooling1d")
max_pooling2d = _function(MaxPooling2D, "max_pooling2d")
max_pooling3d = _function(MaxPooling3D, "max_pooling3d")
average_pooling1d = _function(AveragePooling1D, "average_pooling1d")
average_pooling2d = _function(AveragePooling2D, "average_pooling2d")
average_pooling3d = _function(AveragePooling3D, "average_pooling3d")
