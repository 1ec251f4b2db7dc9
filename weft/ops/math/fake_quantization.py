"""Rounding floats to the values that a few bits can hold, while they stay floats: what training for quantized use needs."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import AtLeast
from weft.framework.types.dims import Dims, brackets, merge_dims
from weft.ops.declaration import op, rank_of, same_as_input
from weft.ops.math.elementwise import REAL
from weft.ops.traced_checks import note_wrong

_FLOATS: Final = {"T": tuple(kind for kind in REAL if kind.is_floating)}


def _nudged(xp: ArrayModule, low: Array, high: Array, num_bits: int, narrow_range: bool) -> tuple[Array, Array, Array]:
    """The range moved so that it has a value that is exactly zero, and the distance of two values."""
    least, most = float(narrow_range), float(2**num_bits - 1)
    scale = (high - low) / xp.float32(most - least)
    zero = xp.float32(least) - low / scale
    nudged = xp.where(zero < least, least, xp.where(zero > most, most, xp.floor(zero + 0.5))).astype(np.float32)
    return (least - nudged) * scale, (most - nudged) * scale, scale


def _rounded(xp: ArrayModule, x: Array, low: Array, high: Array, num_bits: int, narrow_range: bool) -> Array:
    least, most, scale = _nudged(xp, low, high, num_bits, narrow_range)
    steps = xp.floor((xp.clip(x, least, most) - least) / scale + 0.5)
    return xp.where((low == 0) & (high == 0), 0.0, steps * scale + least).astype(x.dtype)


def _limits(node: Operation) -> list[Dims]:
    for limit in node.inputs[1:]:
        if rank_of(limit) not in (None, 0):
            raise ValueError(f"Shape must be rank 0 but is rank {rank_of(limit)}")
    return same_as_input(node)


def _fake_quant_with_min_max_args_gradient(node: Operation, grad: Tensor) -> Gradients:
    attrs = {key: node.attrs[key] for key in ("min", "max", "num_bits", "narrow_range")}
    return [fake_quant_with_min_max_args_gradient(grad, node.inputs[0], **attrs)]


@op("FakeQuantWithMinMaxArgs", "inputs: float32 -> outputs: float32", infer=same_as_input,
    gradient=_fake_quant_with_min_max_args_gradient)  # fmt: skip
def fake_quant_with_min_max_args(
    xp: ArrayModule, inputs: Array, *, min: float = -6.0, max: float = 6.0, num_bits: int = 8, narrow_range: bool = False
) -> Result:
    """Floats of the range [min, max] rounded to the `2**num_bits` levels there are; a narrow range begins at level 1.

    `[...] -> [...]`.

    Args:
        inputs: [...] float32 tensor.
        min, max: the range, floats; it is shifted a little so that zero is one of the levels.
        num_bits: how many bits a level has, 2 to 16.
        narrow_range: whether the lowest level is left out.
    """
    if not 2 <= num_bits <= 16:
        raise InvalidArgumentError.of(f"num_bits must be between 2 and 16, inclusive, got {num_bits}")
    if not min < max:
        raise InvalidArgumentError.of(f"min has to be smaller than max, was: {min:g} >= {max:g}")
    return _rounded(xp, inputs, np.float32(min), np.float32(max), num_bits, narrow_range)


@op("FakeQuantWithMinMaxArgsGradient", "gradients: float32, inputs: float32 -> backprops: float32", infer=same_as_input,
    gradient=None)  # fmt: skip
def fake_quant_with_min_max_args_gradient(
    xp: ArrayModule,
    gradients: Array,
    inputs: Array,
    *,
    min: float = -6.0,
    max: float = 6.0,
    num_bits: int = 8,
    narrow_range: bool = False,
) -> Result:
    """The gradients of the elements in the range, zeros elsewhere: `[...], [...] -> [...]`, of one shape.

    Args:
        gradients: [...] float32 tensor: the gradient of the rounded values.
        inputs: [...] float32 tensor that was rounded.
        min, max: the range, floats, as they were given for the rounding.
        num_bits: how many bits a level has, 2 to 16.
        narrow_range: whether the lowest level is left out.
    """
    if gradients.shape != inputs.shape:
        raise InvalidArgumentError.of(
            "Inputs to operation FakeQuantWithMinMaxArgsGradient must have the same size and shape. "
            f"Input 0: {brackets(gradients.shape)} != input 1: {brackets(inputs.shape)}"
        )
    least, most, _ = _nudged(np, np.float32(min), np.float32(max), num_bits, narrow_range)
    return xp.where((inputs >= least) & (inputs <= most), gradients, xp.zeros_like(gradients))


def _vars_gradient(node: Operation, grad: Tensor) -> Gradients:
    keywords = {key: node.attrs[key] for key in ("num_bits", "narrow_range")}
    return list(fake_quant_with_min_max_vars_gradient(grad, *node.inputs, **keywords))


@op("FakeQuantWithMinMaxVars", "inputs: float32, min: float32, max: float32 -> outputs: float32", infer=_limits,
    gradient=_vars_gradient)  # fmt: skip
def fake_quant_with_min_max_vars(
    xp: ArrayModule, inputs: Array, min: Array, max: Array, *, num_bits: int = 8, narrow_range: bool = False
) -> Result:
    """Floats rounded to the `2**num_bits` levels of the range [min, max]: `[...], scalar, scalar -> [...]`.

    Args:
        inputs: [...] float32 tensor.
        min, max: float32 scalars: the range, shifted a little so that zero is one of the levels.
        num_bits: how many bits a level has, 2 to 16.
        narrow_range: whether the lowest level is left out.
    """
    return _rounded(xp, inputs, min, max, num_bits, narrow_range)


def _split(
    xp: ArrayModule, gradients: Array, inputs: Array, low: Array, high: Array, num_bits: int, narrow: bool
) -> tuple[Array, Array, Array]:
    least, most, _ = _nudged(xp, low, high, num_bits, narrow)
    unused = (low == 0) & (high == 0)
    inside = unused | ((inputs >= least) & (inputs <= most))
    below, above = ~unused & (inputs < least), ~unused & (inputs > most)
    # Products, as in TensorFlow: gradients that are no numbers are told everywhere.
    return tuple(part.astype(gradients.dtype) * gradients for part in (inside, below, above))


@op("FakeQuantWithMinMaxVarsGradient", "gradients: float32, inputs: float32, min: float32, max: float32 -> "
    "backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32",
    ranks={"min": 0, "max": 0}, gradient=None,
    infer=lambda node: [merge_dims(node.inputs[0].dims, node.inputs[1].dims), (), ()])  # fmt: skip
def fake_quant_with_min_max_vars_gradient(
    xp: ArrayModule, gradients: Array, inputs: Array, min: Array, max: Array, *, num_bits: int = 8, narrow_range: bool = False
) -> tuple[Result, Result, Result]:
    """The gradients of the elements in the range; the sums of those below and above it, which go to its limits.

    `[...], [...], scalar, scalar -> [...], scalar, scalar`.

    Args:
        gradients: [...] float32 tensor: the gradient of the rounded values.
        inputs: [...] float32 tensor that was rounded.
        min, max: float32 scalars: the range of the rounding.
        num_bits: how many bits a level has, 2 to 8.
        narrow_range: whether the lowest level is left out.
    """
    inside, below, above = _split(xp, gradients, inputs, min, max, num_bits, narrow_range)
    return inside, xp.sum(below), xp.sum(above)


def _channel_limits(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    for limit in node.inputs[1:]:
        if rank_of(limit) not in (None, 1):
            raise ValueError(f"Shape must be rank 1 but is rank {rank_of(limit)}")
        if dims is not None:
            merge_dims(dims[-1:], limit.dims)
    return [dims]


def _channel_gradient(node: Operation, grad: Tensor) -> Gradients:
    keywords = {key: node.attrs[key] for key in ("num_bits", "narrow_range")}
    return list(fake_quant_with_min_max_vars_per_channel_gradient(grad, *node.inputs, **keywords))


@op("FakeQuantWithMinMaxVarsPerChannel", "inputs: float32, min: float32, max: float32 -> outputs: float32",
    ranks={"inputs": AtLeast(1)},
    infer=_channel_limits, gradient=_channel_gradient)  # fmt: skip
def fake_quant_with_min_max_vars_per_channel(
    xp: ArrayModule, inputs: Array, min: Array, max: Array, *, num_bits: int = 8, narrow_range: bool = False
) -> Result:
    """As `fake_quant_with_min_max_vars`, with a range for each entry of the last dimension.

    `[..., depth], [depth], [depth] -> [..., depth]`.

    Args:
        inputs: [..., depth] float32 tensor.
        min, max: [depth] float32 tensors: the range of each channel.
        num_bits: how many bits a level has, 2 to 16.
        narrow_range: whether the lowest level is left out.
    """
    return _rounded(xp, inputs, min, max, num_bits, narrow_range)


def _channel_shapes(node: Operation) -> list[Dims]:
    gradients, inputs, low, high = (tensor.dims for tensor in node.inputs)
    return [merge_dims(gradients, inputs), low, high]


@op("FakeQuantWithMinMaxVarsPerChannelGradient", "gradients: float32, inputs: float32, min: float32, max: float32 -> "
    "backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32", gradient=None,
    ranks={"min": 1, "max": 1}, infer=_channel_shapes)  # fmt: skip
def fake_quant_with_min_max_vars_per_channel_gradient(
    xp: ArrayModule, gradients: Array, inputs: Array, min: Array, max: Array, *, num_bits: int = 8, narrow_range: bool = False
) -> tuple[Result, Result, Result]:
    """The gradients of the elements in the ranges; for each channel the sums of those below and above.

    `[..., depth], [..., depth], [depth], [depth] -> [..., depth], [depth], [depth]`.

    Args:
        gradients: [..., depth] float32 tensor: the gradient of the rounded values.
        inputs: [..., depth] float32 tensor that was rounded.
        min, max: [depth] float32 tensors: the range of each channel.
        num_bits: how many bits a level has, 2 to 16.
        narrow_range: whether the lowest level is left out.
    """
    inside, below, above = _split(xp, gradients, inputs, min, max, num_bits, narrow_range)
    axes = tuple(range(inputs.ndim - 1))
    return inside, xp.sum(below, axis=axes), xp.sum(above, axis=axes)


# Quantized and back in one op.


def _round(xp: ArrayModule, x: Array, mode: str) -> Array:
    return xp.round(x) if mode == "HALF_TO_EVEN" else xp.floor(x + 0.5)


def _limits_shape(node: Operation, first: int) -> Dims:
    """The shape of both limits of the range, the inputs from `first` on: numbers, or one for each entry along the axis."""
    axis = node.attrs["axis"]
    if axis < -1:
        raise ValueError(f"axis should be at least -1, got {axis}")
    rank = 0 if axis == -1 else 1
    limits: Dims = (None,) * rank
    for limit in node.inputs[first : first + 2]:
        if rank_of(limit) not in (None, rank):
            raise ValueError(f"Shape must be rank {rank} but is rank {rank_of(limit)}")
        limits = merge_dims(limits, limit.dims)
    dims = node.inputs[0].dims
    if axis == -1 or dims is None:
        return limits
    if len(dims) <= axis:
        raise ValueError(f"Shape must be at least rank {axis + 1} but is rank {len(dims)}")
    return merge_dims(limits, dims[axis : axis + 1])


def _and_back_shape(node: Operation) -> list[Dims]:
    _limits_shape(node, 1)
    return same_as_input(node)


def _check_range(xp: ArrayModule, low: Array, high: Array) -> None:
    if xp is not np:
        note_wrong(~(low <= high))
    elif not np.all(low <= high):
        raise InvalidArgumentError.of(f"Invalid range: input_min {low} > input_max {high}")


def _check_given(node: Operation, input: Array, low: Array, high: Array) -> None:
    if node.attrs["range_given"] and node.attrs["axis"] == -1 and low is not None and high is not None:
        _check_range(np, low, high)


@op("QuantizeAndDequantizeV2", "input: T, input_min: T, input_max: T -> output: T", infer=_and_back_shape,
    gradient=lambda node, grad: [grad, None, None], types=_FLOATS, check=_check_given, checks_traced=True,
    limits={"round_mode": ("HALF_TO_EVEN", "HALF_UP")})  # fmt: skip
def quantize_and_dequantize_v2(
    xp: ArrayModule,
    input: Array,
    input_min: Array,
    input_max: Array,
    *,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    narrow_range: bool = False,
    axis: int = -1,
) -> Result:
    """Floats rounded to multiples of a scale that keeps zero; without a given range, that of the values is taken.

    `[...], scalar, scalar -> [...]`, or the range with one entry for each along `axis`.
    """
    return _and_back(
        xp, input, input_min, input_max, _Levels(signed_input, num_bits, range_given, round_mode, narrow_range, axis)
    )


class _Levels(NamedTuple):
    """What values are rounded to, and whose range they are of."""

    signed_input: bool
    num_bits: int
    range_given: bool
    round_mode: str
    narrow_range: bool
    axis: int


def _and_back(xp: ArrayModule, input: Array, input_min: Array, input_max: Array, levels: _Levels) -> Array:
    signed_input, num_bits, range_given, round_mode, narrow_range, axis = levels
    if range_given and axis == -1:
        _check_range(xp, input_min, input_max)
    if not input.size:
        return input
    if not range_given:
        axes = None if axis == -1 else tuple(each for each in range(input.ndim) if each != axis)
        input_min, input_max = xp.min(input, axis=axes), xp.max(input, axis=axes)
    if axis != -1:
        along = tuple(-1 if each == axis else 1 for each in range(input.ndim))
        input_min, input_max = xp.reshape(input_min, along), xp.reshape(input_max, along)
    least = -(2 ** (num_bits - 1)) + int(narrow_range) if signed_input else 0
    most = 2 ** (num_bits - 1) - 1 if signed_input else 2**num_bits - 1
    of_min = xp.where(least * input_min > 0, least / input_min, np.inf)
    of_max = xp.where(most * input_max > 0, most / input_max, np.inf)
    scale = xp.minimum(of_min, of_max).astype(input.dtype)
    low, high = xp.asarray(least / scale).astype(input.dtype), xp.asarray(most / scale).astype(input.dtype)
    return (xp.clip(_round(xp, xp.clip(input, low, high) * scale, round_mode), least, most) / scale).astype(input.dtype)


def _range_shapes(node: Operation) -> list[Dims]:
    limits = _limits_shape(node, 2)
    return [merge_dims(node.inputs[0].dims, node.inputs[1].dims), limits, limits]


@op("QuantizeAndDequantizeV4Grad", "gradients: T, input: T, input_min: T, input_max: T -> input_backprop: T, "
    "input_min_backprop: T, input_max_backprop: T", gradient=None, infer=_range_shapes, types=_FLOATS)  # fmt: skip
def quantize_and_dequantize_v4_gradient(
    xp: ArrayModule, gradients: Array, input: Array, input_min: Array, input_max: Array, *, axis: int = -1
) -> tuple[Result, Result, Result]:
    """The gradients of the elements in the range; none for the range: `[...], [...], [*r], [*r] -> [...], [*r], [*r]`."""
    low, high = input_min, input_max
    if axis != -1:
        along = tuple(-1 if each == axis else 1 for each in range(input.ndim))
        low, high = xp.reshape(low, along), xp.reshape(high, along)
    kept = xp.where((input >= low) & (input <= high), gradients, xp.zeros((), input.dtype))
    return kept, xp.zeros_like(input_min), xp.zeros_like(input_max)


def _v4_gradient(node: Operation, grad: Tensor) -> Gradients:
    return list(quantize_and_dequantize_v4_gradient(grad, *node.inputs, axis=node.attrs["axis"]))


@op("QuantizeAndDequantizeV4", "input: T, input_min: T, input_max: T -> output: T", infer=_and_back_shape,
    gradient=_v4_gradient, types=_FLOATS, check=_check_given, checks_traced=True,
    limits={"round_mode": ("HALF_TO_EVEN", "HALF_UP")})  # fmt: skip
def quantize_and_dequantize_v4(
    xp: ArrayModule, input: Array, input_min: Array, input_max: Array, *, signed_input: bool = True, num_bits: int = 8,
    range_given: bool = False, round_mode: str = "HALF_TO_EVEN", narrow_range: bool = False, axis: int = -1,
) -> Result:  # fmt: skip
    """QuantizeAndDequantizeV2 whose gradient is zero outside of the range: `[...], [*range], [*range] -> [...]`."""
    return _and_back(
        xp, input, input_min, input_max, _Levels(signed_input, num_bits, range_given, round_mode, narrow_range, axis)
    )


@op("QuantizeAndDequantizeV3", "input: T, input_min: T, input_max: T, num_bits: int32 -> output: T", infer=_and_back_shape,
    gradient=lambda node, grad: [grad, None, None, None], types=_FLOATS)  # fmt: skip
def quantize_and_dequantize_v3(
    ctx: OpContext, input: Array, input_min: Array, input_max: Array, num_bits: Array, *, signed_input: bool = True,
    range_given: bool = True, narrow_range: bool = False, axis: int = -1,
) -> Result:  # fmt: skip
    """QuantizeAndDequantizeV2 that is given the number of bits: `[...], [*range], [*range], scalar -> [...]`."""
    bits = int(num_bits)
    if not (2 if signed_input else 1) <= bits <= 63:
        raise InvalidArgumentError.of(f"num_bits is out of range: {bits} with signed_input_ {str(signed_input).lower()}")
    levels = _Levels(signed_input, bits, range_given, "HALF_TO_EVEN", narrow_range, axis)
    return _and_back(np, input, input_min, input_max, levels)


def quantize_and_dequantize(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """Round floats to the values that `num_bits` bits can hold.

    Args:
        input: [...] tensor of a floating dtype.
        input_min, input_max: the range, when `range_given`, of the dtype of `input`: scalars, or [depth] with `axis`; else it
            is that of the values.
        signed_input: whether values below zero are kept.
        num_bits: how many bits a level has.
        range_given: whether `input_min` and `input_max` count.
        round_mode: 'HALF_TO_EVEN' or 'HALF_UP'.
        name: the node's name.
        narrow_range: whether the least value is left out, so that the range is symmetric.
        axis: the dimension whose entries have ranges of their own; None for one range.

    Returns:
        [...] tensor of the shape and dtype of `input`.
    """
    return quantize_and_dequantize_v2(
        input, input_min, input_max, signed_input=signed_input, num_bits=num_bits, range_given=range_given,
        round_mode=round_mode, narrow_range=narrow_range, axis=-1 if axis is None else axis, name=name,
    )  # fmt: skip
