"""Convolutions as nodes: Conv2D, Conv3D, DepthwiseConv2dNative, and the ops that are their gradients and each other's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result
from weft.framework.nodes.constant_value import constant_shape
from weft.framework.nodes.node_errors import ShapeMisfit
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, brackets, merge_dims
from weft.ops.array.shape_ops import INDEX, shape_internal, shape_n
from weft.ops.declaration import op
from weft.ops.math.elementwise import FLOATS
from weft.ops.nn.convolve import Convolution, convolve, to_filter, to_input
from weft.ops.nn.window import (
    LAYOUTS_2D,
    LAYOUTS_3D,
    PADDINGS,
    check_filter_rank,
    check_rank,
    check_window_attrs,
    output_size,
    spatial_axes,
)

_LIMITS_2D: Final = {"padding": PADDINGS, "data_format": LAYOUTS_2D}
_LIMITS_3D: Final[dict[str, int | tuple[str, ...]]] = {"strides": 5, "data_format": LAYOUTS_3D}
_CONV_TYPES: Final = (*FLOATS, dtypes.int32)


def _how(
    data_format: str, strides: Sequence[int], padding: str, dilations: Sequence[int], explicit_paddings: Sequence[int] = ()
) -> Convolution:
    return Convolution(data_format, tuple(strides), padding, tuple(dilations), tuple(explicit_paddings))


# Shapes.


def _checked(node: Operation, told: Sequence[str] = ("strides", "dilations")) -> tuple[str, tuple[int, ...], int]:
    """The layout, its spatial dimensions and that of the channels, after checks of the attributes."""
    layouts = LAYOUTS_3D if "Conv3D" in node.type else LAYOUTS_2D
    attrs = node.attrs
    check_window_attrs(node.type, attrs, layouts)
    layout = attrs["data_format"]
    for name in told:
        if attrs[name][0] != 1 or attrs[name][layout.index("C")] != 1:
            raise ValueError(f"Current implementation does not yet support {name} in the batch and depth dimensions.")
    pairs = attrs.get("explicit_paddings") or ()
    if attrs["padding"] == "EXPLICIT" and len(pairs) != 2 * len(layout):
        raise ValueError(f"explicit_paddings attribute must contain {2 * len(layout)} values, but got: {len(pairs)}")
    if attrs["padding"] != "EXPLICIT" and pairs:
        raise ValueError("explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT")
    return layout, spatial_axes(layout), layout.index("C")


def _convolved(node: Operation) -> list[Dims]:
    layout, axes, channel = _checked(node)
    dims, filters = node.inputs[0].dims, node.inputs[1].dims
    check_rank(dims, len(layout))
    check_filter_rank(filters, len(layout))
    sizes: Sequence[int | None] = dims or (None,) * len(layout)
    window: Sequence[int | None] = filters or (None,) * len(layout)
    if 0 in window and (len(layout) == 5 or "Depthwise" in node.type):
        raise ValueError("filter must not have zero elements (i.e. all dimensions must be non-zero)")
    result: list[int | None] = [sizes[0]] * len(layout)
    pairs = node.attrs.get("explicit_paddings") or (0,) * (2 * len(layout))
    for axis, length in zip(axes, window, strict=False):
        result[axis] = output_size(
            sizes[axis], length, node.attrs["strides"][axis], node.attrs["padding"], node.attrs["dilations"][axis],
            pairs[2 * axis] + pairs[2 * axis + 1],
        )  # fmt: skip
    if "Depthwise" in node.type:
        inner = merge_dims((sizes[channel],), (window[-2],))
        result[channel] = None if inner[0] is None or window[-1] is None else inner[0] * window[-1]  # type: ignore[index]
    else:
        _check_depths(sizes[channel], window[-2], window[-1])
        result[channel] = window[-1]
    return [tuple(result)]


def _check_depths(channels: int | None, inner: int | None, outputs: int | None) -> None:
    if inner == 0:
        raise ValueError("Depth of filter must not be 0")
    if channels is None or inner is None:
        return
    if channels % inner:
        text = f"Depth of input ({channels}) is not a multiple of input depth of filter ({inner})"
        raise ShapeMisfit(text, _channels_differ(channels, inner))
    groups = channels // inner
    if outputs is not None and groups and outputs % groups:
        text = f"Depth of output ({outputs}) is not a multiple of the number of groups ({groups})"
        raise ShapeMisfit(text, _channels_differ(channels, inner))


def _channels_differ(channels: int, inner: int) -> str:
    return f"The input has {channels} channels and the filter takes {inner}: its shape is [..., channels in, channels out]."


def _input_shape(node: Operation) -> list[Dims]:
    layout = _checked(node)[0]
    known = constant_shape(node.inputs[0])
    unknown: Dims = (None,) * len(layout)
    check_rank(known, len(layout))
    check_rank(node.inputs[2].dims, len(layout))
    _check_outputs(node, layout)
    gradient = node.inputs[2].dims
    if (known is None or set(known) == {None}) and node.type == "Conv2DBackpropInput" and gradient is not None:
        return [(gradient[0], *(None,) * (len(layout) - 1))]
    return [unknown if known is None else known]


def _refuses_nothing(node: Operation) -> bool:
    """What this would refuse, the convolution has refused whose gradient it is."""
    return True


def _check_outputs(node: Operation, layout: str) -> None:
    """Refuse gradients of another number of outputs than the filters make."""
    filters, gradient = node.inputs[1].dims, node.inputs[2].dims
    if node.type.startswith("Depthwise") or filters is None or gradient is None:
        return
    found, wanted = gradient[layout.index("C")], filters[-1]
    if None not in (found, wanted) and found != wanted:
        raise ValueError(f"input channels does not match filter's input channels, {found} != {wanted}")


def _volume_filter_shape(node: Operation) -> list[Dims]:
    # It leaves the dilations to its kernel, which looks at those of space alone.
    return _filter_shape(node, ("strides",))


def _filter_shape(node: Operation, told: Sequence[str] = ("strides", "dilations")) -> list[Dims]:
    layout = _checked(node, told)[0]
    known = constant_shape(node.inputs[1])
    check_rank(known, len(layout))
    return [(None,) * len(layout) if known is None else known]


# Gradients: each of forward, to the input and to the filter is linear in two tensors, and its gradients are the other two.


def _attrs(node: Operation) -> dict[str, Any]:
    return {key: node.attrs[key] for key in node.op_def.kernel_attrs if key != "Tshape"}


def _gradients(family: str, which: str) -> Any:
    def forward(node: Operation, grad: Tensor) -> Gradients:
        x, filters = node.inputs
        if family == "Depthwise":
            sizes: Any = (shape_internal(x), shape_internal(filters))
        else:
            sizes = shape_n([x, filters])
        _, back, back_filter = _FAMILIES[family]
        return [back(sizes[0], filters, grad, **_attrs(node)), back_filter(x, sizes[1], grad, **_attrs(node))]

    def backward(node: Operation, grad: Tensor) -> Gradients:
        convolution, _, back_filter = _FAMILIES[family]
        _, filters, made = node.inputs
        of_filter = back_filter(grad, shape_internal(filters), made, **_attrs(node))
        return [None, of_filter, convolution(grad, filters, **_attrs(node))]

    def to_filters(node: Operation, grad: Tensor) -> Gradients:
        convolution, back, _ = _FAMILIES[family]
        x, _, made = node.inputs
        return [back(shape_internal(x), grad, made, **_attrs(node)), None, convolution(x, grad, **_attrs(node))]

    return {"forward": forward, "input": backward, "filter": to_filters}[which]


# Two dimensions.


@op("Conv2D", "input: T, filter: T -> output: T", infer=_convolved, gradient=_gradients("2D", "forward"),
    types={"T": _CONV_TYPES}, limits=_LIMITS_2D)  # fmt: skip
def conv2d_node(
    xp: ArrayModule, input: Array, filter: Array, *, strides: list[int], use_cudnn_on_gpu: bool = True, padding: str,
    explicit_paddings: Sequence[int] = (), data_format: str = "NHWC", dilations: Sequence[int] = (1, 1, 1, 1),
) -> Result:  # fmt: skip
    """The convolution of images with filters; in NCHW the channels come second.

    `[batch, height, width, channels], [filter_height, filter_width, channels, outputs] -> [batch, out_height,
    out_width, outputs]`
    """
    return convolve(xp, _how(data_format, strides, padding, dilations, explicit_paddings), input, filter)


@op("Conv2DBackpropInput", "input_sizes: int32, filter: T, out_backprop: T -> output: T",
    ranks={"input_sizes": 1, "filter": 4}, infer=_input_shape,
    gradient=_gradients("2D", "input"), static=("input_sizes",), droppable=_refuses_nothing, types={"T": _CONV_TYPES},
    limits=_LIMITS_2D)  # fmt: skip
def conv2d_backprop_input(
    xp: ArrayModule, input_sizes: Array, filter: Array, out_backprop: Array, *, strides: list[int],
    use_cudnn_on_gpu: bool = True, padding: str, explicit_paddings: Sequence[int] = (), data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> Result:  # fmt: skip
    """The gradient of Conv2D for its input; a transposed convolution.

    `[4] int32, [filter_height, filter_width, channels, outputs], [batch, out_height, out_width, outputs] ->
    [batch, height, width, channels]`
    """
    how = _how(data_format, strides, padding, dilations, explicit_paddings)
    if not filter.shape[2] and int(input_sizes[how.channel]):
        found = brackets(filter.shape)
        raise InvalidArgumentError.of(f"filter depth must be strictly greater than zero, but the filter is {found}")
    return to_input(xp, how, input_sizes, filter, out_backprop)


@op("Conv2DBackpropFilter", "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    ranks={"filter_sizes": 1}, infer=_filter_shape,
    gradient=_gradients("2D", "filter"), static=("filter_sizes",), types={"T": FLOATS}, limits=_LIMITS_2D)  # fmt: skip
def conv2d_backprop_filter(
    xp: ArrayModule, input: Array, filter_sizes: Array, out_backprop: Array, *, strides: list[int],
    use_cudnn_on_gpu: bool = True, padding: str, explicit_paddings: Sequence[int] = (), data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> Result:  # fmt: skip
    """The gradient of Conv2D for its filter.

    `[batch, height, width, channels], [4] int32, [batch, out_height, out_width, outputs] -> [filter_height,
    filter_width, channels, outputs]`
    """
    how = _how(data_format, strides, padding, dilations, explicit_paddings)
    return to_filter(xp, how, input, filter_sizes, out_backprop)


# Two dimensions, each channel by itself.


def _as_groups(shape: Array) -> list[int]:
    """The shape of depthwise filters `[height, width, channels, multiplier]` as filters of groups of one channel."""
    height, width, channels, multiplier = (int(size) for size in shape)
    return [height, width, 1, channels * multiplier]


@op("DepthwiseConv2dNative", "input: T, filter: T -> output: T", infer=_convolved,
    gradient=_gradients("Depthwise", "forward"), types={"T": FLOATS}, limits=_LIMITS_2D)  # fmt: skip
def depthwise_conv2d_node(
    xp: ArrayModule, input: Array, filter: Array, *, strides: list[int], padding: str,
    explicit_paddings: Sequence[int] = (), data_format: str = "NHWC", dilations: Sequence[int] = (1, 1, 1, 1),
) -> Result:  # fmt: skip
    """The convolution of each channel with filters of its own.

    `[batch, height, width, channels], [filter_height, filter_width, channels, multiplier] -> [batch,
    out_height, out_width, channels * multiplier]`
    """
    how = _how(data_format, strides, padding, dilations, explicit_paddings)
    return convolve(xp, how, input, filter.reshape(_as_groups(filter.shape)))


@op("DepthwiseConv2dNativeBackpropInput", "input_sizes: int32, filter: T, out_backprop: T -> output: T",
    ranks={"input_sizes": 1},
    infer=_input_shape, gradient=_gradients("Depthwise", "input"), static=("input_sizes",), droppable=_refuses_nothing,
    types={"T": FLOATS}, limits=_LIMITS_2D)  # fmt: skip
def depthwise_conv2d_backprop_input(
    xp: ArrayModule, input_sizes: Array, filter: Array, out_backprop: Array, *, strides: list[int], padding: str,
    explicit_paddings: Sequence[int] = (), data_format: str = "NHWC", dilations: Sequence[int] = (1, 1, 1, 1),
) -> Result:  # fmt: skip
    """The gradient of DepthwiseConv2dNative for its input.

    `[4] int32, [filter_height, filter_width, channels, multiplier], [batch, out_height, out_width, channels *
    multiplier] -> [batch, height, width, channels]`

    Args:
        input_sizes: [4] int32: the shape of the input.
        filter: [filter_height, filter_width, channels, multiplier] tensor of a floating dtype.
        out_backprop: the gradient of the output, of the same dtype.
        strides: how far the filter moves at a time in each dimension, a list of four.
        padding: 'SAME' or 'VALID'.
        data_format: 'NHWC' or 'NCHW'.
        dilations: how far apart the filter's elements are in each dimension, a list of four.
    """
    how = _how(data_format, strides, padding, dilations, explicit_paddings)
    return to_input(xp, how, input_sizes, filter.reshape(_as_groups(filter.shape)), out_backprop)


@op("DepthwiseConv2dNativeBackpropFilter", "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    ranks={"filter_sizes": 1},
    infer=_filter_shape, gradient=_gradients("Depthwise", "filter"), static=("filter_sizes",), types={"T": FLOATS},
    limits=_LIMITS_2D)  # fmt: skip
def depthwise_conv2d_backprop_filter(
    xp: ArrayModule, input: Array, filter_sizes: Array, out_backprop: Array, *, strides: list[int], padding: str,
    explicit_paddings: Sequence[int] = (), data_format: str = "NHWC", dilations: Sequence[int] = (1, 1, 1, 1),
) -> Result:  # fmt: skip
    """The gradient of DepthwiseConv2dNative for its filter.

    `[batch, height, width, channels], [4] int32, [batch, out_height, out_width, channels * multiplier] ->
    [filter_height, filter_width, channels, multiplier]`

    Args:
        input: [batch, height, width, channels] tensor of a floating dtype.
        filter_sizes: [4] int32: the shape of the filter.
        out_backprop: the gradient of the output, of the same dtype.
        strides: how far the filter moves at a time in each dimension, a list of four.
        padding: 'SAME' or 'VALID'.
        data_format: 'NHWC' or 'NCHW'.
        dilations: how far apart the filter's elements are in each dimension, a list of four.
    """
    how = _how(data_format, strides, padding, dilations, explicit_paddings)
    made = to_filter(xp, how, input, _as_groups(filter_sizes), out_backprop)
    return made.reshape([int(size) for size in filter_sizes])


# Three dimensions.


@op("Conv3D", "input: T, filter: T -> output: T", infer=_convolved, gradient=_gradients("3D", "forward"),
    types={"T": FLOATS}, limits=_LIMITS_3D)  # fmt: skip
def conv3d_node(
    xp: ArrayModule, input: Array, filter: Array, *, strides: list[int], padding: str, data_format: str = "NDHWC",
    dilations: Sequence[int] = (1, 1, 1, 1, 1),
) -> Result:  # fmt: skip
    """The convolution of volumes with filters; in NCDHW the channels come second.

    `[batch, depth, height, width, channels], [filter_depth, filter_height, filter_width, channels, outputs] ->
    [batch, out_depth, out_height, out_width, outputs]`
    """
    return convolve(xp, _how(data_format, strides, padding, dilations), input, filter)


@op("Conv3DBackpropInputV2", "input_sizes: Tshape, filter: T, out_backprop: T -> output: T",
    ranks={"input_sizes": 1}, infer=_input_shape,
    gradient=_gradients("3D", "input"), static=("input_sizes",), droppable=_refuses_nothing,
    types={"T": FLOATS, "Tshape": INDEX}, defaults={"Tshape": dtypes.int32}, limits=_LIMITS_3D)  # fmt: skip
def conv3d_backprop_input(
    xp: ArrayModule, input_sizes: Array, filter: Array, out_backprop: Array, *, strides: list[int], padding: str,
    data_format: str = "NDHWC", dilations: Sequence[int] = (1, 1, 1, 1, 1),
) -> Result:  # fmt: skip
    """The gradient of Conv3D for its input; a transposed convolution.

    `[5], [filter_depth, filter_height, filter_width, channels, outputs], [batch, out_depth, out_height,
    out_width, outputs] -> [batch, depth, height, width, channels]`
    """
    return to_input(xp, _how(data_format, strides, padding, dilations), input_sizes, filter, out_backprop)


@op("Conv3DBackpropFilterV2", "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    ranks={"filter_sizes": 1}, infer=_volume_filter_shape,
    gradient=_gradients("3D", "filter"), static=("filter_sizes",), types={"T": FLOATS}, limits=_LIMITS_3D)  # fmt: skip
def conv3d_backprop_filter(
    xp: ArrayModule, input: Array, filter_sizes: Array, out_backprop: Array, *, strides: list[int], padding: str,
    data_format: str = "NDHWC", dilations: Sequence[int] = (1, 1, 1, 1, 1),
) -> Result:  # fmt: skip
    """The gradient of Conv3D for its filter.

    `[batch, depth, height, width, channels], [5] int32, [batch, out_depth, out_height, out_width, outputs] ->
    [filter_depth, filter_height, filter_width, channels, outputs]`

    Args:
        input: [batch, depth, height, width, channels] tensor of a floating dtype.
        filter_sizes: [5] int32: the shape of the filter.
        out_backprop: the gradient of the output, of the same dtype.
        strides: how far the filter moves at a time in each dimension, a list of five.
        padding: 'SAME' or 'VALID'.
        data_format: 'NDHWC' or 'NCDHW'.
        dilations: how far apart the filter's elements are in each dimension, a list of five.
    """
    return to_filter(xp, _how(data_format, strides, padding, dilations), input, filter_sizes, out_backprop)


# Forward, to the input, to the filter.
_FAMILIES: Final = {
    "2D": (conv2d_node, conv2d_backprop_input, conv2d_backprop_filter),
    "Depthwise": (depthwise_conv2d_node, depthwise_conv2d_backprop_input, depthwise_conv2d_backprop_filter),
    "3D": (conv3d_node, conv3d_backprop_input, conv3d_backprop_filter),
}
