"""The layers that pool windows, and those that pool all of a sequence, image or volume."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import Nest, Sizes
from weft.framework.nodes.operation import Tensor
from weft.models.layers import pool
from weft.models.layers.input_spec import InputSpec
from weft.networks.config import Options
from weft.networks.engine.layer import Layer
from weft.networks.objects.arguments import keeps_arguments
from weft.networks.state.defaults import layout_or_default
from weft.ops.array.shape_ops import expand_dims
from weft.ops.math.casting import cast
from weft.ops.math.reduce_functions import reduce_max, reduce_mean, reduce_sum


class _Pool(Layer, pool.Pooling):
    """What the layers that pool windows share."""

    @keeps_arguments
    def __init__(
        self, pool_size: Sizes = 2, strides: Sizes | None = None, padding: str = "valid", data_format: str | None = None,
        **kwargs: Options,
    ) -> None:  # fmt: skip
        Layer.__init__(self, **kwargs)
        self.configure(pool_size, pool_size if strides is None else strides, padding, layout_or_default(data_format))
        self.input_spec = InputSpec(ndim=self.rank + 2)


class MaxPooling1D(_Pool, pool.MaxPooling1D):
    """The greatest element of each window: `[batch, steps, channels] -> [batch, new_steps, channels]`."""


class MaxPooling2D(_Pool, pool.MaxPooling2D):
    """The greatest element of each window: `[batch, rows, columns, channels] -> [batch, ..., channels]`."""


class MaxPooling3D(_Pool, pool.MaxPooling3D):
    """The greatest element of each window: `[batch, depth, rows, columns, channels] -> [batch, ..., channels]`."""


class AveragePooling1D(_Pool, pool.AveragePooling1D):
    """The mean of each window: `[batch, steps, channels] -> [batch, new_steps, channels]`."""


class AveragePooling2D(_Pool, pool.AveragePooling2D):
    """The mean of each window: `[batch, rows, columns, channels] -> [batch, ..., channels]`."""


class AveragePooling3D(_Pool, pool.AveragePooling3D):
    """The mean of each window: `[batch, depth, rows, columns, channels] -> [batch, ..., channels]`."""


class _GlobalPool(Layer):
    """What the layers that pool everything share."""

    rank = 2
    function: Callable[..., Tensor] = staticmethod(reduce_mean)

    @keeps_arguments
    def __init__(self, data_format: str | None = None, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.data_format = layout_or_default(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _axes(self) -> list[int]:
        first = 1 if self.data_format == "channels_last" else 2
        return list(range(first, first + self.rank))

    def call(self, inputs: Tensor) -> Tensor:
        """The pooled channels: `[batch, channels]`."""
        return type(self).function(inputs, axis=self._axes())


class GlobalAveragePooling1D(_GlobalPool):
    """The mean of each channel over all steps, those that are masked left out: `[batch, steps, channels] -> [batch,
    channels]`."""

    rank, supports_masking = 1, True

    def call(self, inputs: Tensor, mask: Nest = None) -> Tensor:
        """The means.

        Args:
            mask: `[batch, steps]` bool, which steps count; all when None.
        """
        if mask is None:
            return super().call(inputs)
        axis = self._axes()[0]
        weights = expand_dims(cast(mask, inputs.dtype), 2 if axis == 1 else 1)
        return reduce_sum(inputs * weights, axis=axis) / reduce_sum(weights, axis=axis)

    def compute_mask(self, inputs: Nest, mask: Nest = None) -> None:
        """None: the steps are gone."""
        return


class GlobalAveragePooling2D(_GlobalPool):
    """The mean of each channel: `[batch, rows, columns, channels] -> [batch, channels]`."""


class GlobalAveragePooling3D(_GlobalPool):
    """The mean of each channel: `[batch, depth, rows, columns, channels] -> [batch, channels]`."""

    rank = 3


class GlobalMaxPooling1D(_GlobalPool):
    """The greatest of each channel: `[batch, steps, channels] -> [batch, channels]`."""

    rank, function = 1, staticmethod(reduce_max)


class GlobalMaxPooling2D(_GlobalPool):
    """The greatest of each channel: `[batch, rows, columns, channels] -> [batch, channels]`."""

    function = staticmethod(reduce_max)


class GlobalMaxPooling3D(_GlobalPool):
    """The greatest of each channel: `[batch, depth, rows, columns, channels] -> [batch, channels]`."""

    rank, function = 3, staticmethod(reduce_max)
