"""Virtual batches: parts of a batch, each normalized by mean and variance of its own (Hoffer et al., 2017)."""

from __future__ import annotations

from dataclasses import dataclass

from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dims import Dims
from weft.ops.array.shape_ops import reshape
from weft.ops.math.reduce_functions import reduce_mean


@dataclass(frozen=True)
class VirtualBatches:
    """How a layer's batch is cut.

    Attributes:
        size: how many examples a part has; it divides the batch.
    """

    size: int

    def cut(self, inputs: Tensor) -> Tensor:
        """The examples of the parts, `[size, parts, ...]`.

        Args:
            inputs: `[batch, ...]`.
        """
        return reshape(inputs, [self.size, -1, *inputs.shape.as_list()[1:]])

    def joined(self, outputs: Tensor, dims: Dims) -> Tensor:
        """The batch again.

        Args:
            outputs: `[size, parts, ...]`.
            dims: the shape of the inputs.
        """
        assert dims is not None
        made = reshape(outputs, [-1, *dims[1:]])
        made.set_shape(dims)
        return made

    def mean(self, of_parts: Tensor) -> Tensor:
        """The mean over the parts, which the moving averages follow.

        Args:
            of_parts: `[1, parts, ...]`.

        Returns:
            `[1, 1, ...]`.
        """
        return reduce_mean(convert_to_tensor(of_parts), axis=1, keepdims=True)
