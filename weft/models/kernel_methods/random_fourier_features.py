"""Random Fourier features: maps of vectors whose inner products approximate the Gaussian kernel.

A. Rahimi and B. Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007.
"""

from __future__ import annotations

import abc
import math

import numpy as np

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.ops.array.constant import constant
from weft.ops.math.products import matmul
from weft.ops.math.trigonometry import cos


class InvalidShapeError(Exception):
    """What is to be mapped is no batch of vectors of the mapper's size."""


class DenseKernelMapper(abc.ABC):
    """Maps dense vectors to vectors."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The mapper's name."""

    @property
    @abc.abstractmethod
    def input_dim(self) -> int:
        """How many numbers a vector has that is mapped."""

    @property
    @abc.abstractmethod
    def output_dim(self) -> int:
        """How many it has then."""

    @abc.abstractmethod
    def map(self, input_tensor: Tensor) -> Tensor:
        """Map each row.

        Args:
            input_tensor: `[batch, input_dim]` of floats.

        Returns:
            `[batch, output_dim]` of floats.
        """


class RandomFourierFeatureMapper(DenseKernelMapper):
    """Maps a vector x to `sqrt(2 / output_dim) * cos(x W + b)`, with W and b that the seed alone determines.

    The inner product of two mapped vectors approximates `exp(-|x - y|^2 / (2 stddev^2))`. W and b are constants of the graph.

    Args:
        input_dim: how many numbers a vector has.
        output_dim: how many it has when it is mapped; the more, the closer.
        stddev: the standard deviation of the kernel.
        seed: of W and b; a mapper of the same seed maps in the same way.
        name: the mapper's name.
    """

    __repr__ = printed("tf.contrib.kernel_methods")

    def __init__(self, input_dim: int, output_dim: int, stddev: float = 1.0, seed: int = 1, name: str | None = None) -> None:
        self._input_dim = input_dim
        self._output_dim = output_dim
        self._stddev = stddev
        self._seed = seed
        self._name = name

    @property
    def name(self) -> str:
        """The name that was given, else the number of the object."""
        return self._name or str(id(self))

    @property
    def input_dim(self) -> int:
        """How many numbers a vector has that is mapped."""
        return self._input_dim

    @property
    def output_dim(self) -> int:
        """How many it has then."""
        return self._output_dim

    def map(self, input_tensor: TensorLike) -> Tensor:
        """Map each row.

        Args:
            input_tensor: `[batch, input_dim]` of float32.

        Returns:
            `[batch, output_dim]` of float32.

        Raises:
            InvalidShapeError: it has another shape.
        """
        vectors = convert_to_tensor(input_tensor)
        shape = vectors.shape
        if shape.ndims != 2:
            raise InvalidShapeError(
                f"The shape of the tensor should be 2. Got {shape.ndims} instead: {vectors.name} has shape {shape}, and "
                f"[batch, {self._input_dim}] is mapped"
            )
        if shape.as_list()[1] != self._input_dim:
            raise InvalidShapeError(
                f"Invalid dimension: expected {self._input_dim} input features, got {shape.as_list()[1]} instead, in "
                f"{vectors.name} of shape {shape}"
            )
        # What NumPy's generator gave TensorFlow of this seed; a generator of its own leaves the program's as it is.
        drawn = np.random.RandomState(self._seed)
        weights = drawn.normal(scale=1.0 / self._stddev, size=[self._input_dim, self._output_dim])
        offsets = drawn.uniform(low=0.0, high=2 * np.pi, size=[self._output_dim])
        turned = matmul(vectors, constant(weights, dtype=dtypes.float32)) + constant(offsets, dtype=dtypes.float32)
        return math.sqrt(2.0 / self._output_dim) * cos(turned)
