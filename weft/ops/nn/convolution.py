"""Convolutions of as many spatial dimensions as the filter has, and their transposes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from weft.framework.building.aliases import Array, Padding, ShapeLike, Sizes, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor, is_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dims import Dims
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.ops.input_scope import input_scope
from weft.ops.nn.conv import conv1d, conv1d_transpose, conv2d, conv2d_transpose, conv3d, conv3d_transpose, per_dimension
from weft.platform.logs.deprecation import deprecated_argument_lookup


def nodes_of_gaps(sizes: Dims, padding: str | None) -> int:
    """How many nodes TensorFlow has beside the convolution where the filter's elements are apart: later seeds go by the count.

    It moves the pixels between the elements into the batch, and takes sizes that the graph does not tell in the step.

    Args:
        sizes: those of the spatial dimensions.
        padding: 'SAME' or 'VALID'.
    """
    known = sizes is not None and None not in sizes
    return (11 if known else 36 + 19 * len(sizes or ())) + (padding == "SAME")


def convolution(
    input: TensorLike, filter: TensorLike | None = None, padding: Padding | None = None, strides: Sizes | None = None,
    dilation_rate: Sizes | None = None, name: str | None = None, data_format: str | None = None,
    filters: TensorLike | None = None, dilations: Sizes | None = None,
) -> Tensor:  # fmt: skip
    """A convolution of one, two or three spatial dimensions, as many as the filter has.

    Args:
        input: [batch, *spatial, channels] tensor of a floating dtype, of rank 3, 4 or 5 ([batch, channels, *spatial] where
            `data_format` says so).
        filter, filters: two names of the [*filter, channels, outputs] tensor of the same dtype.
        padding: 'SAME' or 'VALID'.
        strides: how far the filter moves at a time, one for each spatial dimension; 1 when None.
        dilation_rate, dilations: two names of how far apart the filter's elements are, one for each spatial dimension; 1 when
            None.
        data_format: 'NWC', 'NHWC' or 'NDHWC', as when None; or 'NCW', 'NCHW' or 'NCDHW'.

    Returns:
        [batch, *out_spatial, outputs] tensor of the same dtype.

    Raises:
        ValueError: the filter's rank is not known or is none of these, or both strides and dilations are above one.
    """
    filter = convert_to_tensor(deprecated_argument_lookup("filters", filters, "filter", filter), name="filter")
    rates = deprecated_argument_lookup("dilations", dilations, "dilation_rate", dilation_rate)
    rank = filter.shape.ndims
    if rank is None or not 3 <= rank <= 5:
        raise ValueError(f"num_spatial_dims must be one of 1, 2 or 3; the filter has shape {filter.shape}")
    count = rank - 2
    steps, rates = (per_dimension(each, count, count + 1, "strides")[1:-1] for each in (strides, rates))
    if max(steps) > 1 and max(rates) > 1:
        raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
    with input_scope(name, "convolution", (input, filter)) as scope:
        input = convert_to_tensor(input, name="input")
        if max(rates) > 1 and input.dims is not None:
            spatial = input.dims[2:] if (data_format or "").startswith("NC") else input.dims[1:-1]
            get_default_graph().node_count.total += nodes_of_gaps(spatial, padding if isinstance(padding, str) else None)
        if count == 1:
            return conv1d(input, filter, steps, padding, data_format=data_format, name=scope, dilations=rates)
        if count == 2:
            return conv2d(input, filter, steps, padding, data_format=data_format, dilations=rates, name=scope)
        return conv3d(input, filter, steps, padding, data_format or "NDHWC", rates, scope)


def _length(output_shape: Array) -> int | None:
    if is_tensor(output_shape):
        dims = as_dims(output_shape.shape)
        return dims[0] if dims else None
    return len(output_shape)


def conv_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: Sizes, padding: Padding = "SAME",
    data_format: str | None = None, dilations: Sizes | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The transpose (gradient) of a convolution of sequences, images or volumes, as the rank says, to a given shape.

    Args:
        input: [batch, *spatial, channels] tensor of a floating dtype, of rank 3, 4 or 5.
        filters: [*filter, outputs, channels] tensor of the same dtype.
        output_shape: [rank] int32: the shape of the result.
        strides: how far the filter moves at a time: an int, or one for each spatial dimension.
        padding: 'SAME' or 'VALID'.
        data_format: 'NWC', 'NHWC' or 'NDHWC', as when None; or the one with the channels second.
        dilations: how far apart the filter's elements are, given as `strides`.

    Returns:
        A tensor of that shape and the same dtype.

    Raises:
        ValueError: there are not 1, 2 or 3 spatial dimensions, or `output_shape` is none.
    """
    sizes: Array = output_shape
    if isinstance(sizes, np.ndarray):
        sizes = sizes.tolist()
    elif isinstance(sizes, TensorShape):
        sizes = sizes.as_list()
    if not is_tensor(sizes) and not isinstance(sizes, Collection):
        raise ValueError("output_shape must be a tensor or sized collection.")
    rank = _length(sizes)
    if rank not in (None, 3, 4, 5):
        raise ValueError(f"output_shape must be of length 3, 4 or 5 but was {rank}.")
    input = convert_to_tensor(input)
    count = (input.get_shape().ndims or 0) - 2
    functions: dict[int, Any] = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}
    if count not in functions:
        raise ValueError(f"Input must have 1, 2 or 3 spatial dimensions, its shape is {input.get_shape()}")
    layout = data_format or ("NWC", "NHWC", "NDHWC")[count - 1]
    made: Tensor = functions[count](
        input, filters, sizes, strides, padding, data_format=layout, dilations=dilations, name=name or "conv_transpose"
    )
    return made
