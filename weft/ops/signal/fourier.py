"""Discrete Fourier transforms over the last one, two or three dimensions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.ops.array.filling import zeros, zeros_like
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.padding import pad
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import rank as tensor_rank
from weft.ops.array.shape_ops import shape_internal
from weft.ops.array.slicing import strided_slice
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import roll
from weft.ops.declaration import Infer, op
from weft.ops.input_scope import input_scope
from weft.ops.math.comparison import maximum
from weft.ops.math.elementwise import COMPLEX
from weft.ops.symbolic_gradient import vjp

_REAL = (dtypes.float32, dtypes.float64)
_TYPES = {"Treal": _REAL, "Tcomplex": COMPLEX}
_DEFAULTS = {"Treal": dtypes.float32, "Tcomplex": dtypes.complex64}
_PLAIN = "input: Tcomplex -> output: Tcomplex"
_FROM_REAL = "input: Treal, fft_length: int32 -> output: Tcomplex"
_TO_REAL = "input: Tcomplex, fft_length: int32 -> output: Treal"


def _same(rank: int) -> Infer:
    def infer(node: Operation) -> list[Dims]:
        return [_checked(node, rank)]

    return infer


def _checked(node: Operation, rank: int) -> Dims:
    dims = node.inputs[0].dims
    if dims is not None and len(dims) < rank:
        raise ValueError(f"Shape must be at least rank {rank} but is rank {len(dims)}")
    return dims


def _check_parts(node: Operation) -> None:
    """Raise ValueError where the real and the complex type are of different widths, for which there is no kernel."""
    found, made = node.attrs["Tcomplex"].base_dtype, node.attrs["Treal"].base_dtype
    if found.real_dtype is not made:
        raise ValueError(f"Wrong types for a real transform: {found.name} and {made.name}")


def _check_lengths(dims: Sequence[int | None], sizes: Sequence[int], from_half: bool) -> None:
    """Raise ValueError where a dimension is shorter than what is transformed of it."""
    for axis, (have, size) in enumerate(zip(dims, sizes, strict=True)):
        least = size // 2 + 1 if from_half and axis == len(sizes) - 1 and size else size
        if have is not None and 0 < have < least:
            raise ValueError(f"Input dimension {axis} must have length of at least {least} but got: {have}")


def _of_length(rank: int, halves_last: bool) -> Infer:
    def infer(node: Operation) -> list[Dims]:
        _check_parts(node)
        if node.inputs[1].dims is not None and node.inputs[1].dims[:1] not in ((rank,), (None,)):
            raise ValueError(f"Dimension must be {rank} but is {node.inputs[1].dims[0]}")
        dims, length = _checked(node, rank), constant_value(node.inputs[1])
        if dims is None:
            return [None]
        if length is None:
            return [(*dims[:-rank], *(None,) * rank)]
        sizes = [int(size) for size in length]
        _check_lengths(dims[-rank:], sizes, not halves_last)
        if halves_last:
            sizes[-1] = sizes[-1] // 2 + 1 if sizes[-1] else 0
        return [(*dims[:-rank], *sizes)]

    return infer


def _sizes(input: Array, fft_length: Array, from_half: bool = False) -> list[int]:
    sizes = [int(size) for size in np.ravel(fft_length)]
    _check_lengths(input.shape[input.ndim - len(sizes) :], sizes, from_half)
    return sizes


def _half_of(xp: ArrayModule, input: Array, fft_length: Array) -> Array:
    """The first half of the transform over as many of the last dimensions as there are lengths."""
    sizes = _sizes(input, fft_length)
    if input.size:
        return xp.fft.rfftn(input, sizes, axes=range(-len(sizes), 0))
    # As in TensorFlow, lengths of 0, which no transform has, are taken where there is nothing to transform.
    halves = [*sizes[:-1], sizes[-1] // 2 + 1 if sizes[-1] else 0]
    return xp.zeros((*input.shape[: -len(sizes)], *halves), np.result_type(input.dtype, np.complex64))


def _of_half(xp: ArrayModule, input: Array, fft_length: Array) -> Array:
    """The real numbers of those lengths to which a half transform belongs."""
    sizes = _sizes(input, fft_length, from_half=True)
    if input.size:
        return xp.fft.irfftn(input, sizes, axes=range(-len(sizes), 0))
    return xp.zeros((*input.shape[: -len(sizes)], *sizes), input.real.dtype)


@op("FFT", _PLAIN, infer=_same(1), gradient=vjp, types={"Tcomplex": COMPLEX}, defaults={"Tcomplex": dtypes.complex64})
def fft(xp: ArrayModule, input: Array) -> Result:
    """The transform over the last dimension: `[..., n] -> [..., n]`.

    Args:
        input: complex64 or complex128.
    """
    return xp.fft.fft(input) if input.size else input


@op("IFFT", _PLAIN, infer=_same(1), gradient=vjp, types={"Tcomplex": COMPLEX}, defaults={"Tcomplex": dtypes.complex64})
def ifft(xp: ArrayModule, input: Array) -> Result:
    """The inverse transform over the last dimension: `[..., n] -> [..., n]`.

    Args:
        input: complex64 or complex128.
    """
    return xp.fft.ifft(input) if input.size else input


@op("FFT2D", _PLAIN, infer=_same(2), gradient=vjp, types={"Tcomplex": COMPLEX}, defaults={"Tcomplex": dtypes.complex64})
def fft2d(xp: ArrayModule, input: Array) -> Result:
    """The transform over the last two dimensions: `[..., m, n] -> [..., m, n]`.

    Args:
        input: complex64 or complex128.
    """
    return xp.fft.fft2(input) if input.size else input


@op("IFFT2D", _PLAIN, infer=_same(2), gradient=vjp, types={"Tcomplex": COMPLEX}, defaults={"Tcomplex": dtypes.complex64})
def ifft2d(xp: ArrayModule, input: Array) -> Result:
    """The inverse transform over the last two dimensions: `[..., m, n] -> [..., m, n]`.

    Args:
        input: complex64 or complex128.
    """
    return xp.fft.ifft2(input) if input.size else input


@op("FFT3D", _PLAIN, infer=_same(3), gradient=vjp, types={"Tcomplex": COMPLEX}, defaults={"Tcomplex": dtypes.complex64})
def fft3d(xp: ArrayModule, input: Array) -> Result:
    """The transform over the last three dimensions: `[..., l, m, n] -> [..., l, m, n]`.

    Args:
        input: complex64 or complex128.
    """
    return xp.fft.fftn(input, axes=(-3, -2, -1)) if input.size else input


@op("IFFT3D", _PLAIN, infer=_same(3), gradient=vjp, types={"Tcomplex": COMPLEX}, defaults={"Tcomplex": dtypes.complex64})
def ifft3d(xp: ArrayModule, input: Array) -> Result:
    """The inverse transform over the last three dimensions: `[..., l, m, n] -> [..., l, m, n]`.

    Args:
        input: complex64 or complex128.
    """
    return xp.fft.ifftn(input, axes=(-3, -2, -1)) if input.size else input


@op(
    "RFFT",
    _FROM_REAL,
    ranks={"fft_length": 1},
    infer=_of_length(1, True),
    gradient=vjp,
    static=("fft_length",),
    types=_TYPES,
    defaults=_DEFAULTS,
)
def rfft_node(xp: ArrayModule, input: Array, fft_length: Array) -> Result:
    """The first half of the transform of real numbers, which the other half mirrors, cut or padded to a length.

    `[..., n], [1] -> [..., n/2+1]`, n being the length.
    """
    return _half_of(xp, input, fft_length)


@op(
    "IRFFT",
    _TO_REAL,
    ranks={"fft_length": 1},
    infer=_of_length(1, False),
    gradient=vjp,
    static=("fft_length",),
    types=_TYPES,
    defaults=_DEFAULTS,
)
def irfft_node(xp: ArrayModule, input: Array, fft_length: Array) -> Result:
    """The real numbers of a length that a half transform belongs to.

    `[..., n/2+1], [1] -> [..., n]`, n being the length.
    """
    return _of_half(xp, input, fft_length)


@op(
    "RFFT2D",
    _FROM_REAL,
    ranks={"fft_length": 1},
    infer=_of_length(2, True),
    gradient=vjp,
    static=("fft_length",),
    types=_TYPES,
    defaults=_DEFAULTS,
)
def rfft2d_node(xp: ArrayModule, input: Array, fft_length: Array) -> Result:
    """The first half of the transform of real numbers over two dimensions, cut or padded to lengths.

    `[..., m, n], [2] -> [..., m, n/2+1]`, m and n being the lengths.
    """
    return _half_of(xp, input, fft_length)


@op(
    "IRFFT2D",
    _TO_REAL,
    ranks={"fft_length": 1},
    infer=_of_length(2, False),
    gradient=vjp,
    static=("fft_length",),
    types=_TYPES,
    defaults=_DEFAULTS,
)
def irfft2d_node(xp: ArrayModule, input: Array, fft_length: Array) -> Result:
    """The real numbers, in two dimensions, that a half transform belongs to.

    `[..., m, n/2+1], [2] -> [..., m, n]`, m and n being the lengths.
    """
    return _of_half(xp, input, fft_length)


@op(
    "RFFT3D",
    _FROM_REAL,
    ranks={"fft_length": 1},
    infer=_of_length(3, True),
    gradient=vjp,
    static=("fft_length",),
    types=_TYPES,
    defaults=_DEFAULTS,
)
def rfft3d_node(xp: ArrayModule, input: Array, fft_length: Array) -> Result:
    """The first half of the transform of real numbers over three dimensions, cut or padded to lengths.

    `[..., l, m, n], [3] -> [..., l, m, n/2+1]`, l, m and n being the lengths.
    """
    return _half_of(xp, input, fft_length)


@op(
    "IRFFT3D",
    _TO_REAL,
    ranks={"fft_length": 1},
    infer=_of_length(3, False),
    gradient=vjp,
    static=("fft_length",),
    types=_TYPES,
    defaults=_DEFAULTS,
)
def irfft3d_node(xp: ArrayModule, input: Array, fft_length: Array) -> Result:
    """The real numbers, in three dimensions, that a half transform belongs to.

    `[..., l, m, n/2+1], [3] -> [..., l, m, n]`, l, m and n being the lengths.
    """
    return _of_half(xp, input, fft_length)


# Of TensorFlow's padding by what only a run tells, by whether a transform takes the half of it: later seeds go by the count.
_PADDING: Final = {False: 23, True: 37}


def _lengths(tensor: Tensor, rank: int, doubles_last: bool) -> Array:
    """The lengths of a transform whose caller gave none."""
    dims = tensor.dims
    if dims is None or None in dims[-rank:]:
        # TensorFlow pads by nothing here.
        with get_default_graph().node_count.as_many_as(_PADDING[doubles_last] + (13 if doubles_last else 5)):
            sizes = strided_slice(shape_internal(tensor), [-rank], [np.iinfo(np.int32).max])
            if not doubles_last:
                return sizes
            whole = np.array([0] * (rank - 1) + [1], np.int32)
            return sizes + whole * (sizes - 2)
    known = [int(size) for size in dims[-rank:] if size is not None]
    if doubles_last:
        known[-1] = max(0, 2 * (known[-1] - 1))
    return np.array(known, np.int32)


def _padded(tensor: Tensor, length: Tensor, rank: int, from_half: bool) -> Tensor:
    """The tensor with zeros behind it where a transform of a length takes more than it has."""
    dims, known = tensor.dims, constant_value(length)
    half = np.array([0] * (rank - 1) + [1], np.int32)
    if dims is not None and None not in dims[-rank:] and known is not None and known.shape == (rank,):
        wanted = np.where(half & (known > 0), known // 2 + 1, known) if from_half else known
        missing = np.maximum(wanted - np.array(dims[-rank:], np.int32), 0)
        if not missing.any():
            return tensor
        return pad(tensor, [(0, 0)] * (len(dims) - rank) + [(0, int(count)) for count in missing])
    with get_default_graph().node_count.as_many_as(_PADDING[from_half]):
        wanted = length - half * (length - length // 2 - 1) if from_half else length
        missing = maximum(wanted - strided_slice(shape_internal(tensor), [-rank], [np.iinfo(np.int32).max]), 0)
        inner = stack([zeros_like(missing), missing], 1)
        outer: TensorLike
        if dims is None:
            outer = zeros(stack([tensor_rank(tensor) - rank, 2]), dtypes.int32)
        else:
            outer = np.zeros((len(dims) - rank, 2), np.int32)
        return pad(tensor, concat([outer, inner], 0))


def _real_transform(node: Callable[..., Tensor], default: str, rank: int, to_real: bool) -> Callable[..., Tensor]:
    def transform(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
        with input_scope(name, default, (input_tensor, fft_length)) as scope:
            kinds = COMPLEX if to_real else _REAL
            tensor = convert_to_tensor(input_tensor, preferred_dtype=kinds[0])
            if tensor.dtype.base_dtype not in kinds:
                raise ValueError(
                    f"Tensor conversion requested dtype {kinds[0].name} for Tensor with dtype {tensor.dtype.name}: "
                    f"{described(tensor)}\n  {default} takes {kinds[0].name} or {kinds[1].name}: tf.cast makes it."
                )
            if fft_length is None:
                length = _lengths(tensor, rank, to_real)
            else:
                length = convert_to_tensor(fft_length, dtypes.int32, name="fft_length")
                tensor = _padded(tensor, length, rank, to_real)
            is_wide = tensor.dtype.base_dtype in (dtypes.float64, dtypes.complex128)
            kind = {"Treal": _REAL[is_wide]} if to_real else {"Tcomplex": COMPLEX[is_wide]}
            return node(tensor, length, name=scope, **kind)

    transform.__name__ = default
    lengths = "the real numbers' lengths" if rank > 1 else "the real numbers' length"
    transform.__doc__ = (
        f"{inspect.getdoc(node)}\n\n"
        "Args:\n"
        f"    input_tensor: {'complex64 or complex128' if to_real else 'float32 or float64'}.\n"
        f"    fft_length: {lengths}, `[{rank}]` int32; by the input's shape when None.\n"
        "    name: the name scope.\n\n"
        "Raises:\n"
        "    ValueError: the input is of another dtype.\n"
    )
    return transform


rfft = _real_transform(rfft_node, "rfft", 1, False)
irfft = _real_transform(irfft_node, "irfft", 1, True)
rfft2d = _real_transform(rfft2d_node, "rfft2d", 2, False)
irfft2d = _real_transform(irfft2d_node, "irfft2d", 2, True)
rfft3d = _real_transform(rfft3d_node, "rfft3d", 3, False)
irfft3d = _real_transform(irfft3d_node, "irfft3d", 3, True)


def _shifted(x: TensorLike, axes: TensorLike | None, default: str, name: str | None, forth: bool) -> Tensor:
    with input_scope(name, default, (x, axes)):
        tensor = convert_to_tensor(x)
        if axes is None:
            axes = range_of(tensor_rank(tensor))
            by = shape_internal(tensor)
        else:
            by = gather(shape_internal(tensor), axes)
        return roll(tensor, by // 2 if forth else -(by // 2), axes)


def fftshift(x: TensorLike, axes: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The tensor with the zero frequency in the middle.

    Args:
        x: a tensor.
        axes: the dimensions; all when None.
    """
    return _shifted(x, axes, "fftshift", name, True)


def ifftshift(x: TensorLike, axes: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The tensor before `fftshift`.

    Args: those of `tf.signal.fftshift`.
    """
    return _shifted(x, axes, "ifftshift", name, False)
