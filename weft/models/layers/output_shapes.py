"""ShapeOfCalls: layers that find the shape of their outputs by a call."""

from __future__ import annotations

import copy

from weft.framework import dtypes
from weft.framework.aliases import Nest
from weft.framework.graph import Graph
from weft.framework.tensor_shape import TensorShape
from weft.models.layers.layer import Layer
from weft.ops.array.placeholder import placeholder


class ShapeOfCalls(Layer):
    """Says what a call would give, of layers without layers in them."""

    def compute_output_shape(self, input_shape: Nest) -> TensorShape:
        """The shape of the outputs for a shape of inputs; no variables are made.

        Args:
            input_shape: the inputs' shape, the size of the batch in front.
        """
        twin = copy.copy(self)
        twin.forget()
        with Graph().as_default():
            return twin(placeholder(self._dtype or dtypes.float32, input_shape)).shape
