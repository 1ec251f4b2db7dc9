"""Initializers of convolutions that keep the norm of what they convolve, where borders are circular.

Xiao et al., "Dynamical Isometry and a Mean Field Theory of CNNs", ICML 2018, algorithm 1: a random orthogonal matrix times a
convolution of blocks, each of two pixels along each dimension and made of random projections.
"""

from __future__ import annotations

import functools
import itertools
from typing import ClassVar, TypeAlias

from weft.framework.building.aliases import DTypeLike, ShapeLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.stacking import stack
from weft.ops.array.transposing import matrix_transpose
from weft.ops.math.casting import cast
from weft.ops.math.products import matmul
from weft.ops.random.functions import random_normal
from weft.ops.variables.initializers import Initializer, floating_type
from weft.ops.variables.matrix_initializers import identity_matrix, orthogonal_basis
from weft.ops.variables.partition_info import PartitionInfo

_Pixels: TypeAlias = dict[tuple[int, ...], Tensor]


class _ConvolutionOrthogonal(Initializer):
    """The common part.

    Args:
        gain: what the norm is multiplied by.
        seed: the op seed of the first random node; each further one has the next.
        dtype: a floating type.
    """

    _spatial: ClassVar[int]
    _rank: ClassVar[str]
    _first_pixel: ClassVar[int] = 0
    """Which pixel of a block the projection itself makes; the other is made of what it leaves."""

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32) -> None:
        self.gain, self.seed = gain, seed
        self.dtype = floating_type(dtype)

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: PartitionInfo | None = None) -> Tensor:
        """A kernel `[size, ..., inputs, outputs]`.

        Raises:
            ValueError: another rank, more inputs than outputs, or sizes that differ.
        """
        sizes = [int(size) for size in TensorShape(shape)]
        if len(sizes) != self._spatial + 2:
            raise ValueError(f"The tensor to initialize must be {self._rank}, not of shape {sizes}")
        inputs, outputs = sizes[-2:]
        if inputs > outputs:
            raise ValueError(f"In_filters cannot be greater than out_filters. The shape is {sizes}")
        if len(set(sizes[:-2])) != 1:
            raise ValueError(f"Kernel sizes must be equal. The shape is {sizes}")
        kernel = self._kernel(sizes[0], inputs, outputs)
        return kernel * cast(self.gain, dtype or self.dtype)

    def _kernel(self, size: int, inputs: int, outputs: int) -> Tensor:
        turned = self._orthogonal_matrix(outputs)[:inputs, :]
        if size == 1:
            return _stacked({(0,) * self._spatial: turned}, 1, self._spatial)
        pixels = functools.reduce(_convolved, (self._block(outputs) for _ in range(size - 1)))
        return _stacked({place: matmul(turned, pixel) for place, pixel in pixels.items()}, size, self._spatial)

    def _block(self, width: int) -> _Pixels:
        """A convolution of two pixels along each dimension that keeps the norm."""
        projections = [self._projection(width) for _ in range(self._spatial)]
        whole = identity_matrix(rows=width, columns=width, dtype=self.dtype)
        pairs = [(one, whole - one) if self._first_pixel == 0 else (whole - one, one) for one in projections]
        places = itertools.product((0, 1), repeat=self._spatial)
        return {place: functools.reduce(matmul, [pair[at] for pair, at in zip(pairs, place, strict=True)]) for place in places}

    def _projection(self, width: int) -> Tensor:
        """A random projection `[width, width]`: symmetric, and its own square."""
        basis = self._orthogonal_matrix(width)
        kept = basis * cast(self._random([width]) > 0, self.dtype)
        return matmul(kept, matrix_transpose(kept))

    def _orthogonal_matrix(self, width: int) -> Tensor:
        matrix = self._random([width, width], self.dtype)
        # TensorFlow corrects the signs of a Qr by nodes of their own, and seeds later random nodes by the count.
        with get_default_graph().node_count.as_many_as(4):
            return orthogonal_basis(matrix)

    def _random(self, shape: list[int], dtype: DTypeLike = dtypes.float32) -> Tensor:
        drawn = random_normal(shape, dtype=dtype, seed=self.seed)
        if self.seed:
            self.seed += 1
        return drawn

    def get_config(self) -> dict[str, object]:
        """The gain, the seed of the next kernel, and the dtype."""
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


class ConvolutionOrthogonal1D(_ConvolutionOrthogonal):
    """Kernels `[size, inputs, outputs]` that keep the norm.

    Args:
        gain: what the norm is multiplied by.
        seed: the op seed of the first random node; each further one has the next.
        dtype: a floating type.
    """

    _spatial, _rank = 1, "three-dimensional"


class ConvolutionOrthogonal2D(_ConvolutionOrthogonal):
    """Kernels `[size, size, inputs, outputs]` that keep the norm.

    Args:
        gain: what the norm is multiplied by.
        seed: the op seed of the first random node; each further one has the next.
        dtype: a floating type.
    """

    _spatial, _rank = 2, "four-dimensional"


class ConvolutionOrthogonal3D(_ConvolutionOrthogonal):
    """Kernels `[size, size, size, inputs, outputs]` that keep the norm.

    Args:
        gain: what the norm is multiplied by.
        seed: the op seed of the first random node; each further one has the next.
        dtype: a floating type.
    """

    _spatial, _rank, _first_pixel = 3, "five-dimensional", 1


def _convolved(one: _Pixels, other: _Pixels) -> _Pixels:
    """The convolution by one and then by the other."""
    found: _Pixels = {}
    for (place, pixel), (other_place, other_pixel) in itertools.product(one.items(), other.items()):
        at = tuple(first + second for first, second in zip(place, other_place, strict=True))
        product = matmul(pixel, other_pixel)
        found[at] = found[at] + product if at in found else product
    return found


def _stacked(pixels: _Pixels, size: int, dimensions: int) -> Tensor:
    def along(begin: tuple[int, ...]) -> Tensor:
        if len(begin) == dimensions:
            return pixels[begin]
        return stack([along((*begin, number)) for number in range(size)])

    return along(())
