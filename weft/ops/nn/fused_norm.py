"""Normalization as single nodes: FusedBatchNorm in its three versions, local response normalization."""

from __future__ import annotations

import functools
import operator
from typing import Any, Final

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.ops.array.constant import constant
from weft.ops.array.filling import is_zeros
from weft.ops.declaration import op, same_as_input
from weft.ops.math.elementwise import NUMBERS
from weft.ops.nn.batch_norm_second import second_gradient
from weft.ops.nn.window import check_rank
from weft.ops.symbolic_gradient import vjp

_HALF_TO_SINGLE: Final = (dtypes.float16, dtypes.bfloat16, dtypes.float32)
_IMAGES: Final = ("NHWC", "NCHW")
_LAYOUTS: Final = (*_IMAGES, "NDHWC", "NCDHW")
# What NVIDIA's library asks for at least.
_LEAST_EPSILON: Final = 1.001e-5


# Batch normalization.


def _layout(node: Operation) -> str:
    layout: str = node.attrs["data_format"]
    if layout not in _LAYOUTS[: 4 if node.type.endswith("V3") else 2]:
        raise ValueError(f"Value for attr 'data_format' of \"{layout}\" is not in the list of allowed values")
    return layout


def _normalized_shapes(node: Operation) -> list[Dims]:
    layout, dims = _layout(node), node.inputs[0].dims
    check_rank(dims, len(layout))
    at = layout.index("C")
    channels: Dims = (None,) if dims is None else (dims[at],)
    for tensor in node.inputs[1 : 3 if node.attrs["is_training"] else 5]:
        channels = merge_dims(channels, tensor.dims)
    assert channels is not None
    dims = (None,) * len(layout) if dims is None else dims
    made = (*dims[:at], channels[0], *dims[at + 1 :])
    return [made, *([channels] * 4), *([None] * (len(node.outputs) - 5))]


def _along(layout: str, vector: Array) -> Array:
    """A vector of channels, to be broadcast over images."""
    return vector.reshape([-1 if letter == "C" else 1 for letter in layout])


def _others(layout: str) -> tuple[int, ...]:
    return tuple(index for index, letter in enumerate(layout) if letter != "C")


def _wide(x: Array) -> Array:
    return x.astype(np.float32) if x.dtype.itemsize < 4 else x


def _normalized(
    xp: ArrayModule, x: Array, scale: Array, offset: Array, mean: Array, variance: Array, epsilon: float,
    factor: float, layout: str, is_training: bool,
) -> tuple[Array, ...]:  # fmt: skip
    """The five outputs of all versions: the result, mean and variance for the running averages, and those used."""
    if 0 in x.shape:
        # As TensorFlow has it where there are no images.
        nothing = xp.full_like(scale, np.nan)
        used = nothing if is_training else xp.zeros_like(scale)
        return x, nothing, nothing, used, used
    wide, eps = _wide(x), np.float32(epsilon)
    used_mean, used_variance = mean, variance
    kept_mean, kept_variance = mean, variance
    if is_training:
        axes = _others(layout)
        count = int(np.prod([x.shape[axis] for axis in axes]))
        used_mean = xp.mean(wide, axis=axes)
        used_variance = xp.mean(xp.square(wide - _along(layout, used_mean)), axis=axes)
        # The running variance is to be unbiased.
        kept_mean, kept_variance = used_mean, used_variance * np.float32(count / max(count - 1, 1))
        if factor != 1:
            share, rest = np.float32(factor), np.float32(1 - factor)
            kept_mean, kept_variance = rest * mean + share * kept_mean, rest * variance + share * kept_variance
    inverse = scale / xp.sqrt(used_variance + eps)
    made = (wide - _along(layout, used_mean)) * _along(layout, inverse) + _along(layout, offset)
    return made.astype(x.dtype), kept_mean, kept_variance, used_mean, used_variance


def _normalized_gradient(version: str) -> Any:
    def gradient(node: Operation, grad: Tensor, *others: object) -> Gradients:
        if any(isinstance(other, Tensor) and not is_zeros(other) for other in others[:2]):
            return vjp(node, grad, *others)
        x, scale = node.inputs[:2]
        # In training the second pair of statistics are those of the batch; otherwise they are the inputs.
        statistics = node.outputs[3:] if node.attrs["is_training"] else [*node.inputs[3:5], *node.outputs[5:]]
        kept = {key: node.attrs[key] for key in ("epsilon", "data_format", "is_training")}
        back = _BACK[version](grad, x, scale, *statistics, **kept)
        return [*back[:3], None, None]

    return gradient


@op("FusedBatchNorm", "x: T, scale: T, offset: T, mean: T, variance: T -> "
    "y: T, batch_mean: T, batch_variance: T, reserve_space_1: T, reserve_space_2: T",
    ranks={"x": 4},
    infer=_normalized_shapes,
    gradient=_normalized_gradient(""), types={"T": (dtypes.float32,)}, limits={"data_format": _IMAGES})  # fmt: skip
def fused_batch_norm_v1(
    xp: ArrayModule, x: Array, scale: Array, offset: Array, mean: Array, variance: Array, *, epsilon: float = 1e-4,
    exponential_avg_factor: float = 1.0, data_format: str = "NHWC", is_training: bool = True,
) -> Array:  # fmt: skip
    """Batch normalization of images.

    `[batch, height, width, channels], [channels], [channels], [channels], [channels] -> [batch, height, width,
    channels], [channels], [channels], [channels], [channels]`
    """
    return _normalized(xp, x, scale, offset, mean, variance, epsilon, exponential_avg_factor, data_format, is_training)


@op("FusedBatchNormV2", "x: T, scale: U, offset: U, mean: U, variance: U -> "
    "y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U",
    ranks={"x": 4},
    infer=_normalized_shapes,
    gradient=_normalized_gradient("V2"), types={"T": _HALF_TO_SINGLE, "U": (dtypes.float32,)},
    limits={"data_format": _IMAGES})  # fmt: skip
def fused_batch_norm_v2(
    xp: ArrayModule, x: Array, scale: Array, offset: Array, mean: Array, variance: Array, *, epsilon: float = 1e-4,
    exponential_avg_factor: float = 1.0, data_format: str = "NHWC", is_training: bool = True,
) -> Array:  # fmt: skip
    """Batch normalization of images that may be of half precision.

    `[batch, height, width, channels], [channels], [channels], [channels], [channels] -> [batch, height, width,
    channels], [channels], [channels], [channels], [channels]`
    """
    return _normalized(xp, x, scale, offset, mean, variance, epsilon, exponential_avg_factor, data_format, is_training)


@op("FusedBatchNormV3", "x: T, scale: U, offset: U, mean: U, variance: U -> y: T, batch_mean: U, batch_variance: U, "
    "reserve_space_1: U, reserve_space_2: U, reserve_space_3: U",
    ranks={"mean": 1, "variance": 1}, infer=_normalized_shapes,
    gradient=_normalized_gradient("V3"), types={"T": _HALF_TO_SINGLE, "U": (dtypes.bfloat16, dtypes.float32)},
    limits={"data_format": _LAYOUTS})  # fmt: skip
def fused_batch_norm_v3(
    xp: ArrayModule, x: Array, scale: Array, offset: Array, mean: Array, variance: Array, *, epsilon: float = 1e-4,
    exponential_avg_factor: float = 1.0, data_format: str = "NHWC", is_training: bool = True,
) -> Array:  # fmt: skip
    """Batch normalization of images or volumes; the last output, for GPU libraries, is empty.

    `[batch, height, width, channels], [channels], [channels], [channels], [channels] -> [batch, height, width,
    channels], [channels], [channels], [channels], [channels], [0]`
    """
    made = _normalized(xp, x, scale, offset, mean, variance, epsilon, exponential_avg_factor, data_format, is_training)
    return (*made, np.zeros(0, np.float32))


def _back_shapes(node: Operation) -> list[Dims]:
    layout, dims = _layout(node), merge_dims(node.inputs[0].dims, node.inputs[1].dims)
    check_rank(dims, len(layout))
    dims = (None,) * len(layout) if dims is None else dims
    channels: Dims = (dims[layout.index("C")],)
    for tensor in node.inputs[2:5]:
        channels = merge_dims(channels, tensor.dims)
    return [dims, channels, channels, (0,), (0,)]


def _back(
    xp: ArrayModule,
    grad: Array,
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    epsilon: float,
    layout: str,
    is_training: bool,
) -> tuple[Array, ...]:
    """The gradients for the input, the scale and the offset, and two empty outputs."""
    empty = np.zeros(0, np.float32)
    if 0 in x.shape:
        # The statistics of no images are no numbers.
        return x, xp.zeros_like(scale), xp.zeros_like(scale), empty, empty
    wide, grad_wide, axes = _wide(x), _wide(grad), _others(layout)
    inverse = 1 / xp.sqrt(variance + np.float32(epsilon))
    distance = wide - _along(layout, mean)
    of_offset = xp.sum(grad_wide, axis=axes)
    of_scale = xp.sum(grad_wide * distance, axis=axes) * inverse
    of_x = grad_wide
    if is_training:
        count = np.float32(np.prod([x.shape[axis] for axis in axes]))
        of_x = grad_wide - _along(layout, of_offset / count) - distance * _along(layout, inverse * of_scale / count)
    of_x = (of_x * _along(layout, scale * inverse)).astype(x.dtype)
    return of_x, of_scale, of_offset, empty, empty


@op("FusedBatchNormGrad", "y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T -> "
    "x_backprop: T, scale_backprop: T, offset_backprop: T, reserve_space_3: T, reserve_space_4: T",
    ranks={"scale": 1, "reserve_space_1": 1, "reserve_space_2": 1, "y_backprop": 4, "x": 4}, infer=_back_shapes,
    gradient=second_gradient, types={"T": (dtypes.float32,)}, limits={"data_format": _IMAGES})  # fmt: skip
def fused_batch_norm_grad_v1(
    xp: ArrayModule, y_backprop: Array, x: Array, scale: Array, reserve_space_1: Array, reserve_space_2: Array, *,
    epsilon: float = 1e-4, data_format: str = "NHWC", is_training: bool = True,
) -> Array:  # fmt: skip
    """The gradient of FusedBatchNorm.

    `[batch, height, width, channels], [batch, height, width, channels], [channels], [channels], [channels] ->
    [batch, height, width, channels], [channels], [channels], [0], [0]`
    """
    return _back(xp, y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon, data_format, is_training)


@op("FusedBatchNormGradV2", "y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U -> "
    "x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, reserve_space_4: U",
    ranks={"scale": 1, "reserve_space_1": 1, "reserve_space_2": 1, "y_backprop": 4, "x": 4}, infer=_back_shapes,
    gradient=second_gradient, types={"T": _HALF_TO_SINGLE, "U": (dtypes.float32,)},
    limits={"data_format": _IMAGES})  # fmt: skip
def fused_batch_norm_grad_v2(
    xp: ArrayModule, y_backprop: Array, x: Array, scale: Array, reserve_space_1: Array, reserve_space_2: Array, *,
    epsilon: float = 1e-4, data_format: str = "NHWC", is_training: bool = True,
) -> Array:  # fmt: skip
    """The gradient of FusedBatchNormV2.

    `[batch, height, width, channels], [batch, height, width, channels], [channels], [channels], [channels] ->
    [batch, height, width, channels], [channels], [channels], [0], [0]`
    """
    return _back(xp, y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon, data_format, is_training)


@op("FusedBatchNormGradV3", "y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U, "
    "reserve_space_3: U -> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, reserve_space_5: U",
    ranks={"scale": 1, "reserve_space_1": 1, "reserve_space_2": 1},
    infer=_back_shapes, gradient=second_gradient, types={"T": _HALF_TO_SINGLE, "U": (dtypes.float32,)},
    limits={"data_format": _LAYOUTS})  # fmt: skip
def fused_batch_norm_grad_v3(
    xp: ArrayModule, y_backprop: Array, x: Array, scale: Array, reserve_space_1: Array, reserve_space_2: Array,
    reserve_space_3: Array, *, epsilon: float = 1e-4, data_format: str = "NHWC", is_training: bool = True,
) -> Array:  # fmt: skip
    """The gradient of FusedBatchNormV3.

    `[batch, height, width, channels], [batch, height, width, channels], [channels], [channels], [channels], [0]
    -> [batch, height, width, channels], [channels], [channels], [0], [0]`
    """
    return _back(xp, y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon, data_format, is_training)


_BACK: Final = {"": fused_batch_norm_grad_v1, "V2": fused_batch_norm_grad_v2, "V3": fused_batch_norm_grad_v3}


def fused_batch_norm(
    x: TensorLike, scale: TensorLike, offset: TensorLike, mean: TensorLike | None = None,
    variance: TensorLike | None = None, epsilon: float = 0.001, data_format: str = "NHWC", is_training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Batch normalization as one node: the result, and the mean and variance of the batch.

    Args:
        x: images.
        scale, offset: a number per channel.
        mean, variance: the population's, when not training.
        epsilon: what is added to the variance.
        data_format: "NHWC" or "NCHW".
        is_training: whether mean and variance are those of the batch.
        name: the node's name.

    Raises:
        ValueError: `mean` or `variance` is given although it is training.
    """
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    offset = convert_to_tensor(offset, name="offset")
    if is_training and (mean is not None or variance is not None):
        raise ValueError("Both 'mean' and 'variance' must be None if is_training is True.")
    mean = constant(np.zeros(0, np.float32)) if mean is None else mean
    variance = constant(np.zeros(0, np.float32)) if variance is None else variance
    y, batch_mean, batch_variance, *_ = fused_batch_norm_v3(
        x, scale, offset, mean, variance, epsilon=max(epsilon, _LEAST_EPSILON), data_format=data_format,
        is_training=is_training, name=name,
    )  # fmt: skip
    return y, batch_mean, batch_variance


# Its oldest form.


def _global_shape(node: Operation) -> list[Dims]:
    check_rank(node.inputs[0].dims, 4)
    return [node.inputs[0].dims]


@op("BatchNormWithGlobalNormalization", "t: T, m: T, v: T, beta: T, gamma: T -> result: T", infer=_global_shape,
    gradient=vjp, types={"T": NUMBERS})  # fmt: skip
def batch_norm_global_node(
    xp: ArrayModule,
    t: Array,
    m: Array,
    v: Array,
    beta: Array,
    gamma: Array,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> Result:
    """Batch normalization with given moments; the form of old graphs.

    `[batch, height, width, channels], [channels], [channels], [channels], [channels] -> [batch, height, width,
    channels]`
    """
    inverse = 1 / xp.sqrt(v + np.asarray(variance_epsilon, t.dtype))
    if scale_after_normalization:
        inverse = inverse * gamma
    return (t - m) * inverse + beta


# Local response normalization.


def _neighbours(xp: ArrayModule, x: Array, radius: int) -> Array:
    """The sums over each channel and `radius` channels to either side."""
    padded = xp.pad(x, ((0, 0),) * (x.ndim - 1) + ((radius, radius),))
    return functools.reduce(operator.add, (padded[..., i : i + x.shape[-1]] for i in range(2 * radius + 1)))


def _four(node: Operation) -> list[Dims]:
    for tensor in node.inputs:
        check_rank(tensor.dims, 4)
    return same_as_input(node)


def _lrn_gradient(node: Operation, grad: Tensor) -> Gradients:
    kept = {key: node.attrs[key] for key in ("depth_radius", "bias", "alpha", "beta")}
    return [lrn_grad(grad, node.inputs[0], node.outputs[0], **kept)]


@op("LRN", "input: T -> output: T",
    ranks={"input": 4},
    infer=_four, gradient=_lrn_gradient, types={"T": _HALF_TO_SINGLE},
    defaults={"T": dtypes.float32})  # fmt: skip
def lrn_node(
    xp: ArrayModule, input: Array, *, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5
) -> Result:
    """Each channel over a power of the sum of squares of its neighbours.

    `[batch, height, width, channels] -> [batch, height, width, channels]`
    """
    x = _wide(input)
    norm = np.float32(bias) + np.float32(alpha) * _neighbours(xp, x * x, depth_radius)
    return (x * norm ** np.float32(-beta)).astype(input.dtype)


@op("LRNGrad", "input_grads: T, input_image: T, output_image: T -> output: T",
    ranks={"input_grads": 4, "input_image": 4, "output_image": 4},
    infer=_four, gradient=vjp,
    types={"T": _HALF_TO_SINGLE}, defaults={"T": dtypes.float32})  # fmt: skip
def lrn_grad(
    xp: ArrayModule, input_grads: Array, input_image: Array, output_image: Array, *, depth_radius: int = 5,
    bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,
) -> Result:  # fmt: skip
    """The gradient of LRN.

    `[batch, height, width, channels], [batch, height, width, channels], [batch, height, width, channels] ->
    [batch, height, width, channels]`
    """
    grad, x = _wide(input_grads), _wide(input_image)
    norm = np.float32(bias) + np.float32(alpha) * _neighbours(xp, x * x, depth_radius)
    spread = _neighbours(xp, grad * _wide(output_image) / norm, depth_radius)
    made = grad * norm ** np.float32(-beta) - np.float32(2 * alpha * beta) * x * spread
    return made.astype(input_grads.dtype)


def local_response_normalization(
    input: TensorLike, depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5, name: str | None = None
) -> Tensor:
    """Each channel over `(bias + alpha * sum of squares of its neighbours) ** beta`.

    Args:
        input: [batch, height, width, channels] tensor of float16, bfloat16 or float32; the result has its shape and dtype.
        depth_radius: how many channels count on either side.
        bias: what is added, so that nothing is divided by zero; usually positive.
        alpha, beta: the factor and the exponent.

    Returns:
        A tensor of the shape and dtype of the input.
    """
    return lrn_node(input, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta, name=name)
