"""DiagonalNodes: how many nodes TensorFlow makes for vectors whose elements are independent; later seeds go by the count."""

from __future__ import annotations

from typing import Final

from weft.framework.nodes.operation import Tensor
from weft.framework.types.dims import broadcast_dims
from weft.framework.types.tensor_shape import TensorShape, as_dims

_DETERMINANT: Final = 21
_LOG_PROB: Final = 11


class DiagonalNodes:
    """The counts of one distribution: TensorFlow draws scalar normal numbers and transforms them by a linear operator.

    What it has transformed it keeps: a sample, or a value that was asked about before, is not inverted once more, and the
    determinant is computed once.
    """

    def __init__(
        self, loc: TensorShape | None, diag: TensorShape | None, multiplier: TensorShape | None, whole: TensorShape
    ) -> None:
        """Tell what the distribution is made of.

        Args:
            loc: the shape of the means, if there are any.
            diag: that of the standard deviations together with the multiplier, if there are any.
            multiplier: that of the identity's factor, if there is one.
            whole: that of the batch and the event.
        """
        self._has_loc, self._has_diag, self._has_multiplier = loc is not None, diag is not None, multiplier is not None
        self._loc, self._whole = TensorShape([]) if loc is None else loc, whole
        self._scale_batch = TensorShape([]) if multiplier is None else multiplier
        if diag is not None:
            self._scale_batch = diag[:-1]
        self._open_loc = not self._loc[:-1].is_fully_defined()
        self._open_scale = not self._scale_batch.is_fully_defined()
        self._open_batch = not whole[:-1].is_fully_defined()
        self._inverted: set[Tensor] = set()
        self._has_determinant = False

    @property
    def _is_identity(self) -> bool:
        return not self._has_diag and not self._has_multiplier

    def construction(self) -> int:
        """Of the distribution itself, without those that make tensors of its parameters."""
        count = 39 + self._has_loc + 4 * self._open_loc + 3 * (self._whole.ndims != 1)
        if self._has_diag:
            return count + 5 * self._has_multiplier + (10 + self._has_loc) * self._open_scale
        return count + 1 + 2 * self._has_multiplier + 7 * self._open_scale

    def before_seed(self) -> int:
        """Of a sample, before its seed is chosen."""
        return 9 + 4 * self._open_batch

    def sample(self) -> int:
        """Of a sample of the sample shape []."""
        count = 61 + self._has_loc if self._has_diag else 64 if self._has_multiplier else 59
        return count + 14 * self._open_batch + 5 * self._open_scale

    def note_sample(self, sample: Tensor) -> None:
        """Note that a value is a sample of this distribution."""
        self._inverted.add(sample)

    def log_prob(self, value: Tensor) -> int:
        """Of the logarithm of a value's density."""
        count = _LOG_PROB + self._first_determinant()
        if value not in self._inverted:
            self._inverted.add(value)
            count += self._inverse(value.shape)
        return count

    def entropy(self) -> int:
        """Of the entropy."""
        count = 18 if self._whole.ndims == 1 else 28
        return count if self._has_determinant else count + self._inverse(self._whole) + self._first_determinant()

    def mean(self) -> int:
        """Of the mean."""
        if self._open_batch:
            return 8 if self._has_loc else 6
        return 1 if not self._has_loc or self._loc.dims == self._whole.dims else 3

    def stddev(self) -> int:
        """Of the standard deviations."""
        if self._has_diag:
            return 1
        return 2 if self._is_identity else 29 if self._open_scale else 7

    def divergence(self, other: DiagonalNodes) -> int:
        """Of the divergence from another distribution of this kind."""
        return 40 + self.mean() + other.mean() - 5 * (self._is_identity and other._is_identity)

    def _first_determinant(self) -> int:
        if self._has_determinant:
            return 0
        self._has_determinant = True
        return _DETERMINANT - (not self._has_diag)

    def _inverse(self, value: TensorShape) -> int:
        shifted = TensorShape(broadcast_dims(as_dims(value), as_dims(self._loc)))
        count = 33 + self._has_loc if self._has_diag or self._has_multiplier else 29
        count += 10 * (not shifted.is_fully_defined())
        if self._open_scale:
            rank = (
                None
                if shifted.ndims is None or self._scale_batch.ndims is None
                else shifted.ndims - self._scale_batch.ndims - 1
            )
            count += 5 if rank is not None and shifted[:rank].is_fully_defined() else 10
        return count


class TriangularNodes(DiagonalNodes):
    """The counts of a distribution whose scale is triangular: TensorFlow solves where a diagonal divides."""

    def __init__(self, loc: TensorShape | None, scale: TensorShape, whole: TensorShape) -> None:
        """Tell what the distribution is made of.

        Args:
            loc: the shape of the means, if there are any.
            scale: that of the triangles.
            whole: that of the batch and the event.
        """
        super().__init__(loc, scale[:-1], None, whole)

    def construction(self) -> int:
        """Of the distribution itself, without those that make tensors of its parameters."""
        count = 39 + self._has_loc + 4 * self._open_loc + 3 * (self._whole.ndims != 1)
        return count + (3 + self._has_loc) * self._open_scale

    def sample(self) -> int:
        """Of a sample of the sample shape []."""
        return super().sample() + 1

    def stddev(self) -> int:
        """Of the standard deviations, which are the roots of the variances."""
        return 9

    def _inverse(self, value: TensorShape) -> int:
        shifted = TensorShape(broadcast_dims(as_dims(value), as_dims(self._loc)))
        count = 33 + self._has_loc + 10 * (not shifted.is_fully_defined())
        if self._open_scale:
            return count + 32
        # A solver takes batches of one shape.
        batch = self._scale_batch.as_list()
        return count + 9 * bool(batch and (shifted.ndims is None or shifted.as_list()[-1 - len(batch) : -1] != batch))
