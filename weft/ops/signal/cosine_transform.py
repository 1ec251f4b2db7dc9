"""Discrete cosine transforms of the last dimension, by Fourier transforms of the sequence continued evenly."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from typing import Final

from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.array.joining import concat
from weft.ops.array.padding import pad
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import shape_internal
from weft.ops.array.tiling import reverse
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.complex_numbers import complex_of, real
from weft.ops.math.trigonometry import cos, sin
from weft.ops.math.unary import rsqrt, sqrt
from weft.ops.signal.fourier import irfft, rfft

_INVERSE: Final = {1: 1, 2: 3, 3: 2, 4: 4}

# How many nodes TensorFlow makes for a type and norm, by whether the length is known: later seeds go by the count.
_NODES: Final = {
    (1, None, False): 47, (2, None, True): 28, (2, None, False): 61, (2, "ortho", True): 39, (2, "ortho", False): 76,
    (3, None, True): 29, (3, None, False): 76, (3, "ortho", True): 37, (3, "ortho", False): 88,
}  # fmt: skip


def _check(tensor: Tensor, kind: int, n: int | None, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if kind not in _INVERSE:
        raise ValueError(f"Only Types I, II, III and IV (I)DCT are supported, got {kind!r}.")
    if kind == 1:
        if norm == "ortho":
            raise ValueError("Normalization is not supported for the Type-I DCT.")
        if tensor.dims is not None and tensor.dims[-1] is not None and tensor.dims[-1] < 2:
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def _size(tensor: Tensor) -> int | Tensor:
    """The size of the last dimension, a tensor when it is not known."""
    if tensor.dims is not None and tensor.dims[-1] is not None:
        return tensor.dims[-1]
    return shape_internal(tensor)[-1]


def _cut_or_padded(tensor: Tensor, n: int) -> Tensor:
    size = _size(tensor)
    if isinstance(size, int) and size >= n:
        return tensor[..., :n]
    assert tensor.dims is not None
    lead: list[Sequence[int | Tensor]] = [[0, 0]] * (len(tensor.dims) - 1)
    short = n - size if isinstance(size, int) else n
    return pad(tensor, [*lead, [0, short]])[..., :n]


def _turn(angle: Tensor) -> Tensor:
    return complex_of(cos(angle), sin(angle))


def _weights(first: Tensor, others: Tensor, size: int | Tensor, dtype: DTypeLike) -> Tensor:
    """`[first, others, others, ...]`."""
    count = range_of(size)
    return first * cast(count < 1, dtype) + others * cast(count > 0, dtype)


def dct(
    input: TensorLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, name: str | None = None
) -> Tensor:
    """The cosine transform of the last dimension.

    Args:
        input: `[..., samples]` float32 or float64.
        type: 1, 2, 3 or 4.
        n: the length to cut or pad the last dimension to, by default its own.
        axis: must be -1.
        norm: 'ortho' for an orthonormal transform; None for the plain sums.
        name: a name for the operation.

    Raises:
        ValueError: the type or the norm is unknown, or type 1 is to be normalised.
        NotImplementedError: another axis than the last.
    """
    with input_scope(name, "dct", (input,)):
        tensor = convert_to_tensor(input)
        _check(tensor, type, n, axis, norm)
        if n is not None:
            tensor = _cut_or_padded(tensor, n)
        transform = {1: _first, 2: _second, 3: _third, 4: _fourth}[type]
        is_known = tensor.dims is not None and tensor.dims[-1] is not None
        nodes = _NODES.get((type, norm, is_known))
        with contextlib.nullcontext() if nodes is None else get_default_graph().node_count.as_many_as(nodes):
            return transform(tensor, norm)


def idct(
    input: TensorLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, name: str | None = None
) -> Tensor:
    """The inverse of `dct` of this type, but for a factor unless `norm` is 'ortho'; arguments as there.

    Args: those of `tf.signal.dct`.
    """
    _check(convert_to_tensor(input), type, n, axis, norm)
    return dct(input, type=_INVERSE[type], n=n, axis=axis, norm=norm, name=name)


def _first(x: Tensor, norm: str | None) -> Tensor:
    return real(rfft(concat([x, reverse(x[..., 1:-1], [-1])], -1)))


def _angles(x: Tensor, size: int | Tensor) -> Tensor:
    return cast(range_of(size), x.dtype) * (math.pi / 2) / cast(size, x.dtype)


def _second(x: Tensor, norm: str | None) -> Tensor:
    size = _size(x)
    result = 2 * real(rfft(x, [2 * size])[..., :size] * _turn(-_angles(x, size)))
    if norm == "ortho":
        least = 0.5 * rsqrt(cast(size, x.dtype))
        result = result * _weights(least, least * math.sqrt(2), size, x.dtype)
    return result


def _third(x: Tensor, norm: str | None) -> Tensor:
    size = _size(x)
    if norm == "ortho":
        least = sqrt(cast(size, x.dtype))
        x = x * _weights(least, least * math.sqrt(0.5), size, x.dtype)
    else:
        x = x * cast(size, x.dtype)
    turned = 2 * _turn(_angles(x, size)) * complex_of(x, x * 0)
    return irfft(turned, [2 * size])[..., :size]


def _fourth(x: Tensor, norm: str | None) -> Tensor:
    size = _size(x)
    angles = (2 * cast(range_of(size), x.dtype) + 1) * (math.pi / 4) / cast(size, x.dtype)
    result = 2 * real(rfft(x, [4 * size])[..., 1 : 2 * size : 2] * _turn(-angles))
    return result * math.sqrt(0.5) * rsqrt(cast(size, x.dtype)) if norm == "ortho" else result
