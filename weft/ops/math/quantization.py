"""Tensors of quantized types: floats as small integers with the range that those stand for."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, DTypeLike, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.node_errors import BuildMisfit
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import AtMost
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import op, rank_of, same_as_input

_QUANTIZED: Final = (dtypes.qint8, dtypes.quint8, dtypes.qint32, dtypes.qint16, dtypes.quint16)
_MODES: Final = ("MIN_COMBINED", "MIN_FIRST", "SCALED")


class Quantized(NamedTuple):
    """The integers and the range that they stand for."""

    output: Tensor
    output_min: Tensor
    output_max: Tensor


def _check(mode: str, axis: int, low: Array, high: Array) -> None:
    if mode not in _MODES:
        raise InvalidArgumentError.of(f"Mode string must be 'MIN_COMBINED', 'MIN_FIRST', or 'SCALED', is '{mode}'")
    if axis != -1:
        raise InvalidArgumentError.of(f"quantization along an axis ({axis}) is not supported: quantize the slices")
    if low > high:
        raise InvalidArgumentError.of(f"input_max_range must be larger than input_min_range: {high} is not larger than {low}")


def _integers(kind: DType) -> tuple[float, float]:
    info = np.iinfo(kind.as_numpy_dtype)
    return float(info.min), float(info.max)


def _scaled_factor(kind: DType, low: float, high: float, narrow: bool) -> float:
    """The factor of floats in mode SCALED, the same on both sides of zero."""
    least, most = _integers(kind)
    least = least + 1 if narrow and least < 0 else least
    factors = [limit / end for limit, end in ((least, low), (most, high)) if limit * end > 0]
    return min(factors, default=1.0)


def _quantized_shapes(node: Operation) -> list[Dims]:
    if node.attrs["axis"] < -1:
        raise ValueError(f"axis should be at least -1, got {node.attrs['axis']}")
    for name, tensor in zip(("min_range", "max_range"), node.inputs[1:], strict=True):
        if node.attrs["axis"] == -1 and rank_of(tensor) not in (None, 0):
            # Its kernel takes a vector of one number, too.
            raise BuildMisfit(
                f"Shape must be rank 0 but is rank {rank_of(tensor)} ({name})", "Without an axis a range is a number."
            )
    return [node.inputs[0].dims, (), ()]


@op("QuantizeV2", "input: float32, min_range: float32, max_range: float32 -> output: T, output_min: float32, "
    "output_max: float32",
    ranks={"min_range": AtMost(1), "max_range": AtMost(1)}, infer=_quantized_shapes, gradient=None, types={"T": _QUANTIZED},
    limits={"mode": _MODES, "round_mode": ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN")})  # fmt: skip
def quantize_v2_node(
    ctx: OpContext, input: Array, min_range: Array, max_range: Array, *, T: DType, mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO", narrow_range: bool = False, axis: int = -1,
    ensure_minimum_range: float = 0.01,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """Floats as integers of a quantized type: `[...], scalar, scalar -> [...], scalar, scalar`."""
    min_range, max_range = (each.reshape(()) if each.size == 1 else each for each in (min_range, max_range))
    _check(mode, axis, min_range, max_range)
    low = min(0.0, float(min_range))
    epsilon = max(1.0, abs(float(min_range)), abs(float(max_range))) * ensure_minimum_range
    high = max(0.0, float(max_range), low + epsilon)
    least, most = _integers(T)
    if mode == "SCALED":
        factor = _scaled_factor(T, low, high, narrow_range)
        steps = np.round(input * factor) if round_mode == "HALF_TO_EVEN" else _away_from_zero(input * factor)
        bounds = ((least + 1 if narrow_range and least < 0 else least) / factor, most / factor)
        return np.clip(steps, least, most).astype(T.as_numpy_dtype), bounds[0], bounds[1]
    scale = (most - least) / (high - low)
    if mode == "MIN_FIRST":
        steps = _away_from_zero(input * scale) - round(low * scale) + least
    else:
        steps = _away_from_zero((np.clip(input, low, high) - low) * scale - (0.0 if least == 0 else (most - least + 1) / 2))
    return np.clip(steps, least, most).astype(T.as_numpy_dtype), low, high


def _away_from_zero(x: Array) -> Array:
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


@op("Dequantize", "input: T, min_range: float32, max_range: float32 -> output: dtype", infer=same_as_input, gradient=None,
    types={"T": _QUANTIZED, "dtype": (dtypes.bfloat16, dtypes.float32)}, defaults={"dtype": dtypes.float32},
    limits={"mode": _MODES})  # fmt: skip
def dequantize_node(
    ctx: OpContext,
    input: Array,
    min_range: Array,
    max_range: Array,
    *,
    T: DType,
    mode: str = "MIN_COMBINED",
    narrow_range: bool = False,
    axis: int = -1,
    dtype: DType = dtypes.float32,
) -> Result:
    """The floats that integers of a quantized type stand for: `[...], scalar, scalar -> [...]`."""
    _check(mode, axis, min_range, max_range)
    kind = T
    least, most = _integers(kind)
    values = input.astype(np.float64)
    if mode == "SCALED":
        return values / _scaled_factor(kind, float(min_range), float(max_range), narrow_range)
    scale = (float(max_range) - float(min_range)) / (most - least)
    if mode == "MIN_FIRST":
        if not scale:
            return values * 0 + min_range
        # The scale is rounded to the width of the type, which decides between the two neighbours of a half.
        first = float(min_range) / float(np.float32(scale))
        return (values - least) * scale + _away_from_zero(first) * scale
    return (values + (0.0 if least == 0 else (most - least + 1) / 2)) * scale + float(min_range)


def quantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: TensorLike,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
    ensure_minimum_range: float = 0.01,
) -> Quantized:
    """Make integers of a quantized type of floats.

    Args:
        input: float32.
        min_range, max_range: the range to tell apart, scalars; it is widened to hold zero and `ensure_minimum_range`.
        T: qint8, quint8, qint16, quint16 or qint32.
        mode: 'MIN_COMBINED', 'MIN_FIRST' or 'SCALED'.
        round_mode: for SCALED, 'HALF_AWAY_FROM_ZERO' or 'HALF_TO_EVEN'.
        name: the node's name.
        narrow_range: for SCALED, whether the least integer is left out.
        axis: must be None; quantize slices one by one instead.
        ensure_minimum_range: the least width of the range, relative to its limits.

    Returns:
        `output`, and the range that it stands for as `output_min` and `output_max`.

    Raises:
        ValueError: `mode` is none of the three.
    """
    if mode not in _MODES:
        allowed = ", ".join(f'"{each}"' for each in _MODES)
        raise ValueError(f"Attr 'mode' of 'QuantizeV2' Op passed string '{mode}' not in: {allowed}.")
    return Quantized(*quantize_v2_node(
        input, min_range, max_range, T=T, mode=mode, round_mode=round_mode, narrow_range=narrow_range,
        axis=-1 if axis is None else axis, ensure_minimum_range=ensure_minimum_range, name=name,
    ))  # fmt: skip


def quantize_v2(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: TensorLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    narrow_range: bool = False,
    axis: int | None = None,
    ensure_minimum_range: float = 0.01,
) -> Quantized:
    """As `quantize`, with another order of the arguments.

    Args: those of `tf.quantization.quantize`.

    Returns:
        What `quantize` returns.
    """
    return quantize(input, min_range, max_range, T, mode, round_mode, name, narrow_range, axis, ensure_minimum_range)


def dequantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    axis: int | None = None,
    narrow_range: bool = False,
    dtype: DTypeLike = dtypes.float32,
) -> Tensor:
    """The floats of a quantized tensor; the range and `mode` are those that `quantize` was given.

    Args:
        input: [...] tensor of qint8, quint8, qint16, quint16 or qint32.
        min_range, max_range: float32 scalars: the range, as `quantize` returned it.
        mode: 'MIN_COMBINED', 'MIN_FIRST' or 'SCALED', as it was quantized.
        axis: must be None or -1; dequantize slices one by one instead.
        narrow_range: for SCALED, whether the least integer was left out.
        dtype: float32 or bfloat16, the dtype of the result.

    Returns:
        [...] tensor of `dtype`.
    """
    return dequantize_node(
        input,
        min_range,
        max_range,
        mode=mode,
        narrow_range=narrow_range,
        axis=-1 if axis is None else axis,
        dtype=dtype,
        name=name,
    )  # fmt: skip
