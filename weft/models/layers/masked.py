"""The layers that pruning takes weights out of: a convolution of images, and a product."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike, VariableLike
from weft.framework.nodes.operation import Tensor
from weft.models.layers.conv import Conv2D
from weft.models.layers.core import Dense
from weft.models.layers.masks import mask_of, masked, threshold_of
from weft.ops.nn.convolution import convolution


class MaskedConv2D(Conv2D):
    """`Conv2D` whose kernel has a mask.

    Args: those of `Conv2D`.
    """

    def _make_kernel(self, shape: list[int]) -> None:
        mask = mask_of(self, shape)
        super()._make_kernel(shape)
        self.masked_kernel = masked(self.kernel, mask, threshold_of(self))

    def call(self, inputs: Tensor) -> Tensor:
        """The activated convolution."""
        return self._finished(convolution(
            inputs, self.masked_kernel, self.padding.upper(), list(self.strides), list(self.dilation_rate),
            data_format=self.layout,
        ))  # fmt: skip


class MaskedFullyConnected(Dense):
    """`Dense` whose kernel has a mask.

    Args: those of `Dense`.
    """

    def _make_kernel(self, shape: list[int]) -> None:
        super()._make_kernel(shape)
        mask: VariableLike = mask_of(self, shape)
        self.masked_kernel = masked(self.kernel, mask, threshold_of(self))

    @property
    def _factor(self) -> TensorLike:
        return self.masked_kernel
