"""CountedNormal: a normal distribution of vectors whose calls count as many nodes as TensorFlow's."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Final

from weft.framework.building.aliases import DynamicShape, TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.diagonal_nodes import DiagonalNodes
from weft.models.distributions.normal_of_vectors import NormalOfVectors
from weft.ops.math.unary import exp

# Of a sample's nodes, those that the base makes around `_sample_n`, and those that are there before the seed is chosen.
_AROUND_SAMPLE: Final = 9
_BEFORE_SEED: Final = 7


class CountedNormal(NormalOfVectors):
    """A normal distribution of vectors, of which `_nodes` tells the counts; later random nodes get their seeds by them."""

    _nodes: DiagonalNodes

    def sample(self, sample_shape: DynamicShape = (), seed: int | None = None, name: str = "sample") -> Tensor:
        """Draw samples: `sample_shape + batch_shape + event_shape`."""
        drawn = super().sample(sample_shape, seed, name)
        self._nodes.note_sample(drawn)
        return drawn

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        count = get_default_graph().node_count
        with count.as_many_as(self._nodes.sample() - _AROUND_SAMPLE):
            count.total += self._nodes.before_seed() - _BEFORE_SEED
            return super()._sample_n(n, seed)

    def _log_prob(self, value: Tensor) -> Tensor:
        with self._as_many_as(self._nodes.log_prob(value)):
            return super()._log_prob(value)

    def _prob(self, value: Tensor) -> Tensor:
        with self._as_many_as(self._nodes.log_prob(value) + 2):
            return exp(super()._log_prob(value))

    def _entropy(self) -> Tensor:
        with self._as_many_as(self._nodes.entropy()):
            return super()._entropy()

    def _mean(self) -> Tensor:
        with self._as_many_as(self._nodes.mean()):
            return super()._mean()

    def _batch_shape_tensor(self) -> Tensor:
        with self._as_many_as(1):
            return super()._batch_shape_tensor()

    def _as_many_as(self, nodes: int) -> AbstractContextManager[None]:
        return get_default_graph().node_count.as_many_as(nodes)
