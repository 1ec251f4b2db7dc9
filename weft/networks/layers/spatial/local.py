"""Locally connected layers: convolutions whose filters differ from place to place."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from weft.framework.building.aliases import Nest, ShapeLike, Sizes, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.layers.conv_arguments import padding_of, per_axis
from weft.models.layers.input_spec import InputSpec
from weft.networks.config import Options
from weft.networks.engine.layer import Layer
from weft.networks.layers.spatial.layouts import in_layout, with_channels_last
from weft.networks.objects.arguments import keeps_arguments
from weft.networks.state.defaults import layout_or_default
from weft.ops.array.shape_ops import reshape
from weft.ops.array.stacking import stack
from weft.ops.array.transposing import transpose
from weft.ops.math.products import matmul


def locally_convolved(
    inputs: Tensor, kernel: VariableLike, window: Sequence[int], strides: Sequence[int], places: Sequence[int], layout: str
) -> Tensor:
    """The products of what each place sees with its own filters, `[batch, *places, filters]`.

    Args:
        inputs: sequences or images of the layout.
        kernel: `[places, size * channels, filters]`.
        window: what a place sees, by axis.
        strides: the distance of places, by axis.
        places: how many there are, by axis.
        layout: "channels_last" or "channels_first".
    """
    rows = with_channels_last(inputs, layout, len(window))
    parts = []
    for offsets in itertools.product(*map(range, window)):
        taken = [
            slice(offset, offset + (count - 1) * stride + 1, stride)
            for offset, count, stride in zip(offsets, places, strides, strict=True)
        ]
        parts.append(rows[(slice(None), *taken)])
    together = stack(parts, axis=-1 if layout == "channels_first" else -2)
    _, seen, filters = (int(size or 0) for size in kernel.shape.as_list())
    by_place = transpose(reshape(together, [-1, math.prod(places), seen]), [1, 0, 2])
    return reshape(transpose(matmul(by_place, kernel), [1, 0, 2]), [-1, *places, filters])


def nodes_of_places(places: Sequence[int], with_bias: bool = False, with_variable: bool = True) -> AbstractContextManager[None]:
    """Count what the block makes as TensorFlow's nodes, which slices each place by itself: later seeds go by the count."""
    return get_default_graph().node_count.as_many_as(6 * math.prod(places) + 7 + with_variable + 4 * with_bias)


class _LocallyConnected(Layer):
    """What the locally connected layers share.

    The kernel is `[places, size * channels, filters]`, the bias `[*places by axis, filters]`.

    Args:
        filters: how many values each place has.
        kernel_size: what a place sees, by axis.
        strides: the distance of places, by axis.
        padding: "valid".
        data_format: the layout.
        activation: what is applied in the end.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, kernel_constraint, bias_constraint: of them.
        activity_regularizer: a penalty on the outputs.
        implementation: 1; the others differ in the kernel's shape.
        kwargs: see Layer.
    """

    rank = 0

    @keeps_arguments
    def __init__(
        self, filters: int, kernel_size: Sizes, strides: Sizes = 1, padding: str = "valid", data_format: str | None = None,
        activation: Nest = None, use_bias: bool = True, kernel_initializer: Nest = "glorot_uniform",
        bias_initializer: Nest = "zeros", kernel_regularizer: Nest = None, bias_regularizer: Nest = None,
        activity_regularizer: Nest = None, kernel_constraint: Nest = None, bias_constraint: Nest = None,
        implementation: int = 1, **kwargs: Options,
    ) -> None:  # fmt: skip
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        name = type(self).__name__
        if padding_of(padding) != "valid":
            raise ValueError(f'Invalid border mode for {name} (only "valid" is supported): {padding}')
        if implementation != 1:
            raise NotImplementedError(f"{name}(implementation={implementation}): use 1, which computes the same")
        self.activation = activation
        self.filters, self.use_bias, self.padding = filters, use_bias, "valid"
        self.kernel_size = per_axis(kernel_size, self.rank, "kernel_size")
        self.strides = per_axis(strides, self.rank, "strides")
        self.data_format = layout_or_default(data_format)
        self._kernel_options = (kernel_initializer, kernel_regularizer, kernel_constraint)
        self._bias_options = (bias_initializer, bias_regularizer, bias_constraint)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernel and bias; ValueError when a size along an axis is not known."""
        sizes: list[Any] = TensorShape(input_shape).as_list()[1:]
        *axes, channels = sizes if self.data_format == "channels_last" else [*sizes[1:], sizes[0]]
        if None in (*axes, channels):
            raise ValueError(
                f"The spatial dimensions of the inputs to  a {type(self).__name__} layer should be fully-defined, but layer "
                f"received the inputs shape {input_shape}"
            )
        self.places = [(n - k) // s + 1 for n, k, s in zip(axes, self.kernel_size, self.strides, strict=True)]
        initializer, regularizer, constraint = self._kernel_options
        shape = (math.prod(self.places), math.prod(self.kernel_size) * channels, self.filters)
        self.kernel = self.add_weight("kernel", shape, None, initializer, regularizer, constraint=constraint)
        initializer, regularizer, constraint = self._bias_options
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", (*self.places, self.filters), None, initializer, regularizer, constraint=constraint
            )
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """The activated products of what each place sees with its filters."""
        with nodes_of_places(self.places, with_bias=self.bias is not None):
            made = locally_convolved(inputs, self.kernel, self.kernel_size, self.strides, self.places, self.data_format)
            made = in_layout(made if self.bias is None else made + self.bias, self.data_format, self.rank)
        return made if self.activation is None else self.activation(made)


class LocallyConnected1D(_LocallyConnected):
    """Filters that differ from step to step: `[batch, steps, channels] -> [batch, places, filters]`."""

    rank = 1


class LocallyConnected2D(_LocallyConnected):
    """Filters that differ from place to place: `[batch, rows, columns, channels] -> [batch, rows, columns, filters]`."""

    rank = 2
