"""Adding a bias to the channels, in both layouts, and the layers that are a product and a bias."""

from __future__ import annotations

from typing import Final

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.node_errors import ShapeMisfit
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims
from weft.ops.array.filling import fill
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import rank, reshape
from weft.ops.declaration import op
from weft.ops.input_scope import input_scope
from weft.ops.math.elementwise import NUMBERS, broadcast_like, sub
from weft.ops.math.products import matmul
from weft.ops.math.reductions import sum_node
from weft.ops.nn.activation import relu

_LAYOUTS: Final = ("NHWC", "NCHW")


def check_layout(data_format: str) -> None:
    """Raise ValueError unless `data_format` is a layout of images."""
    if data_format not in _LAYOUTS:
        raise ValueError(
            f'Value for attr \'data_format\' of "{data_format}" is not in the list of allowed values: "NHWC", "NCHW"'
        )


def _with_bias(node: Operation) -> list[Dims]:
    value, bias = node.inputs[0].dims, node.inputs[1].dims
    data_format = node.attrs.get("data_format", "NHWC")
    check_layout(data_format)
    if bias is not None and len(bias) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(bias)}")
    if value is None:
        return [None]
    least = 3 if data_format == "NCHW" else 2
    if len(value) < least:
        raise ValueError(f"Shape must be at least rank {least} but is rank {len(value)}")
    if bias is None:
        return [value]
    at = 1 if data_format == "NCHW" else len(value) - 1
    size = value[at] if bias[0] is None else bias[0]
    if value[at] is not None and value[at] != size:
        text = f"Dimensions must be equal, but are {value[at]} and {size}"
        raise ShapeMisfit(text, f"The bias has an element for each of dimension {at} of the value.")
    return [(*value[:at], size, *value[at + 1 :])]


def _bias_add_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [grad, bias_add_grad(grad, data_format=node.attrs["data_format"])]


@op("BiasAdd", "value: T, bias: T -> output: T", infer=_with_bias, types={"T": NUMBERS},
    gradient=_bias_add_gradient, limits={"data_format": _LAYOUTS})  # fmt: skip
def bias_add_node(xp: ArrayModule, value: Array, bias: Array, *, data_format: str = "NHWC") -> Result:
    """`value` plus one number per channel; channels are the last dimension, or the second in NCHW.

    `[..., channels], [channels] -> [..., channels]`
    """
    if data_format == "NCHW":
        bias = bias.reshape((-1,) + (1,) * (value.ndim - 2))
    return value + bias


def _channels(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    data_format = node.attrs["data_format"]
    check_layout(data_format)
    if dims is None:
        return [(None,)]
    least = 3 if data_format == "NCHW" else 2
    if len(dims) < least:
        raise ValueError(f"Shape must be at least rank {least} but is rank {len(dims)}")
    return [(dims[1] if data_format == "NCHW" else dims[-1],)]


def _bias_add_grad_gradient(node: Operation, grad: Tensor) -> Gradients:
    like = node.inputs[0]
    if node.attrs["data_format"] == "NCHW":
        ones = fill([sub(rank(like), 2)], 1)
        grad = reshape(grad, concat([[-1], ones], 0))
    return [broadcast_like(grad, like)]


@op("BiasAddGrad", "out_backprop: T -> output: T", infer=_channels, gradient=_bias_add_grad_gradient,
    types={"T": NUMBERS}, limits={"data_format": _LAYOUTS})  # fmt: skip
def bias_add_grad(xp: ArrayModule, out_backprop: Array, *, data_format: str = "NHWC") -> Result:
    """The sum over all dimensions but the channels, which come second in NCHW.

    `[..., channels] -> [channels]`
    """
    channel = 1 if data_format == "NCHW" else out_backprop.ndim - 1
    axes = tuple(axis for axis in range(out_backprop.ndim) if axis != channel)
    return xp.sum(out_backprop, axis=axes, dtype=out_backprop.dtype)


def _bias_add_v1_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [grad, sum_node(grad, range_of(sub(rank(grad), 1)))]


@op("BiasAddV1", "value: T, bias: T -> output: T", infer=_with_bias, gradient=_bias_add_v1_gradient,
    types={"T": NUMBERS})  # fmt: skip
def bias_add_v1_node(xp: ArrayModule, value: Array, bias: Array) -> Result:
    """The older form of BiasAdd, for channels in the last dimension.

    `[..., channels], [channels] -> [..., channels]`
    """
    return value + bias


def bias_add(value: TensorLike, bias: TensorLike, data_format: str | None = None, name: str | None = None) -> Tensor:
    """Add `bias`, one number per channel, to `value`.

    Args:
        value: [..., channels] tensor of a numeric dtype; [batch, channels, ...] for `NC...`.
        bias: [channels] tensor of the dtype of `value`.
        data_format: `N...C` (the default) or `NC...`.
        name: the node's name.

    Returns:
        A tensor of the shape and dtype of `value`.

    Raises:
        ValueError: shapes don't fit, or the layout is none of the two.

    >>> sess.run(tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0]))
    array([[11., 22.]], dtype=float32)
    """
    layout = "NHWC"
    if data_format is not None:
        if data_format.startswith("NC"):
            layout = "NCHW"
        elif not (data_format.startswith("N") and data_format.endswith("C")):
            raise ValueError("data_format must be of the form `N...C` or `NC...`")
    if isinstance(value, Tensor) and isinstance(bias, Tensor):
        return bias_add_node(value, bias, data_format=layout, name=name)
    with input_scope(name, "BiasAdd", (value, bias)) as scope:
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, value.dtype.base_dtype, name="bias")
        return bias_add_node(value, bias, data_format=layout, name=scope)


def bias_add_v1(value: TensorLike, bias: TensorLike, name: str | None = None) -> Tensor:
    """Add `bias` to the last dimension of `value`; the older form of bias_add."""
    with input_scope(name, "BiasAddV1", (value, bias)) as scope:
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, value.dtype.base_dtype, name="bias")
        return bias_add_v1_node(value, bias, name=scope)


def xw_plus_b(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None) -> Tensor:
    """`matmul(x, weights) + biases`.

    >>> sess.run(tf.nn.xw_plus_b([[1.0, 2.0]], [[1.0], [1.0]], [0.5]))
    array([[3.5]], dtype=float32)

    Args:
        x: [batch, inputs] tensor of a floating dtype.
        weights: [inputs, units] tensor of the same dtype.
        biases: [units] tensor of the same dtype.

    Returns:
        [batch, units] tensor of the same dtype.

    Raises:
        ValueError: `x` and `weights` are no matrices that can be multiplied, or `biases` no vector, as far as shapes are known.
        InvalidArgumentError: in a run, the same of shapes that only the run tells.
    """
    with input_scope(name, "xw_plus_b", (x, weights, biases)) as scope:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return bias_add(matmul(x, weights), biases, name=scope)


def relu_layer(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None) -> Tensor:
    """`relu(matmul(x, weights) + biases)`.

    Args: those of `tf.nn.xw_plus_b`.

    Returns:
        [batch, units] tensor of the same dtype.
    """
    with input_scope(name, "relu_layer", (x, weights, biases)) as scope:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return relu(bias_add(matmul(x, weights), biases), name=scope)
