"""Initializers that fill matrices: orthogonal ones and the identity."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, DTypeLike, Result, ShapeLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.padding import pad, slice_of
from weft.ops.array.shape_ops import reshape
from weft.ops.array.transposing import matrix_transpose
from weft.ops.declaration import not_differentiable, op, same_as_input
from weft.ops.math.elementwise import FLOATS
from weft.ops.random.functions import random_normal
from weft.ops.variables.initializers import (
    Constant,
    GlorotNormal,
    GlorotUniform,
    Initializer,
    Ones,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    UniformUnitScaling,
    VarianceScaling,
    Zeros,
    floating_type,
    full_shape,
)
from weft.ops.variables.partition_info import PartitionInfo


@op("OrthogonalBasis", "matrix: T -> basis: T", infer=same_as_input, gradient=not_differentiable, types={"T": FLOATS})
def orthogonal_basis(xp: ArrayModule, matrix: Array) -> Result:
    """Orthonormal columns that span those of the matrix, `n >= m`; the signs make them evenly distributed.

    `[n, m] -> [n, m]`
    """
    single = matrix.astype(np.float32) if matrix.dtype.itemsize < 4 else matrix
    q, r = xp.linalg.qr(single)
    return q * xp.where(xp.diagonal(r) < 0, -1, 1).astype(q.dtype)


class Orthogonal(Initializer):
    """A random orthogonal matrix times `gain`; dimensions before the last one are taken together.

    Args:
        gain: a number.
        seed: the op seed.
        dtype: a floating type.
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32) -> None:
        self.gain, self.seed = gain, seed
        self.dtype = floating_type(dtype)

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: PartitionInfo | None = None) -> Tensor:
        """A tensor of this shape with orthonormal rows or columns."""
        kind = dtype or self.dtype
        sizes = [int(size) for size in TensorShape(shape)]
        if len(sizes) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = math.prod(sizes[:-1]), sizes[-1]
        matrix = random_normal((max(rows, columns), min(rows, columns)), dtype=kind, seed=self.seed)
        # TensorFlow corrects the signs of a Qr by nodes of their own, and seeds later random nodes by the count.
        with get_default_graph().node_count.as_many_as(4):
            basis = orthogonal_basis(matrix)
        if rows < columns:
            basis = matrix_transpose(basis)
        whole = reshape(basis, shape)
        return self.gain * whole

    def get_config(self) -> dict[str, object]:
        """The gain, the seed and the dtype."""
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


class ConvolutionDeltaOrthogonal(Initializer):
    """A convolution's kernel that is zero but for its middle, which is a random orthogonal matrix times the root of `gain`.

    Args:
        gain: a number.
        seed: the op seed.
        dtype: a floating type.
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32) -> None:
        self.gain, self.seed = gain, seed
        self.dtype = floating_type(dtype)

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: PartitionInfo | None = None) -> Tensor:
        """A kernel `[..., inputs, outputs]` of one to three spatial dimensions.

        Raises:
            ValueError: another rank, or more inputs than outputs.
        """
        kind = dtype or self.dtype
        sizes = [int(size) for size in TensorShape(shape)]
        if not 3 <= len(sizes) <= 5:
            raise ValueError("The tensor to initialize must be at least three-dimensional and at most five-dimensional")
        if sizes[-2] > sizes[-1]:
            raise ValueError("In_filters cannot be greater than out_filters.")
        basis = orthogonal_basis(random_normal((sizes[-1], sizes[-1]), dtype=kind, seed=self.seed))
        middle = basis[: sizes[-2]] * float(np.sqrt(self.gain))
        margins = [[(size - 1) // 2, size - 1 - (size - 1) // 2] for size in sizes[:-2]]
        whole = reshape(middle, [1] * len(margins) + sizes[-2:])
        return pad(whole, [*margins, [0, 0], [0, 0]])

    def get_config(self) -> dict[str, object]:
        """The gain, the seed and the dtype."""
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


class Identity(Initializer):
    """The identity matrix times `gain`.

    Args:
        gain: a number.
        dtype: a floating type.
    """

    def __init__(self, gain: float = 1.0, dtype: DTypeLike = dtypes.float32) -> None:
        self.gain = gain
        self.dtype = floating_type(dtype)

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: PartitionInfo | None = None) -> Tensor:
        """The identity of this shape, or the part of it that `partition_info` names."""
        sizes = [int(size) for size in full_shape(shape, partition_info)]
        if len(sizes) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        kind = dtypes.as_dtype(dtype or self.dtype)
        # TensorFlow joins a matrix of parts; later random nodes get their seeds by the count.
        get_default_graph().node_count.total += 1 if sizes[0] == sizes[1] else 2
        matrix = identity_matrix(rows=sizes[0], columns=sizes[1], dtype=kind, name="eye")
        if partition_info is not None:
            matrix = slice_of(matrix, partition_info.var_offset, shape)
        return self.gain * matrix

    def get_config(self) -> dict[str, object]:
        """The gain and the dtype."""
        return {"gain": self.gain, "dtype": self.dtype.name}


def _matrix_shape(node: Operation) -> Sequence[Dims]:
    return [(node.attrs["rows"], node.attrs["columns"])]


@op("IdentityMatrix", "-> output: dtype", infer=_matrix_shape, gradient=not_differentiable)
def identity_matrix(xp: ArrayModule, *, rows: int, columns: int, dtype: DType) -> Result:
    """Ones on the diagonal of a matrix of zeros: `-> [rows, columns]`."""
    return xp.eye(rows, columns, dtype=dtype.as_numpy_dtype)


zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_uniform_initializer = RandomUniform
random_normal_initializer = RandomNormal
truncated_normal_initializer = TruncatedNormal
uniform_unit_scaling_initializer = UniformUnitScaling
variance_scaling_initializer = VarianceScaling
glorot_uniform_initializer = GlorotUniform
glorot_normal_initializer = GlorotNormal
orthogonal_initializer = Orthogonal
identity_initializer = Identity
