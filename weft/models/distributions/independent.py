"""Independent: batch dimensions of a distribution as dimensions of its events."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.distributions.distribution import Distribution
from weft.models.distributions.divergence import RegisterKL, kl_divergence
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.input_scope import input_scope
from weft.ops.math.reduce_functions import reduce_sum


class Independent(Distribution):
    """A distribution whose events have the last batch dimensions of another, whose members are independent.

    Args:
        distribution: the other distribution; the rank of its batch must be known.
        reinterpreted_batch_ndims: how many dimensions; all but the first when None.
        validate_args: kept for `copy`.
        name: the scope's name.

    Raises:
        ValueError: there are not so many batch dimensions, or their number is not known.
    """

    def __init__(
        self,
        distribution: Distribution,
        reinterpreted_batch_ndims: int | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        self._inner = distribution
        rank = distribution.batch_shape.ndims
        if rank is None:
            raise ValueError(f"Independent: the number of batch dimensions must be known, that of {distribution} is not")
        self._count = max(0, rank - 1) if reinterpreted_batch_ndims is None else int(reinterpreted_batch_ndims)
        if self._count > rank:
            raise ValueError(f"reinterpreted_batch_ndims({self._count}) cannot exceed distribution.batch_ndims({rank})")
        inner = distribution.name.removesuffix("/").rpartition("/")[2]
        with input_scope(name or f"Independent{inner}", "Independent") as scope:
            pass
        super().__init__(
            distribution.dtype, distribution.reparameterization_type, validate_args, distribution.allow_nan_stats, parameters,
            name=scope,
        )  # fmt: skip

    @property
    def distribution(self) -> Distribution:
        """The other distribution."""
        return self._inner

    @property
    def reinterpreted_batch_ndims(self) -> int:
        """How many of its batch dimensions are dimensions of events."""
        return self._count

    def _batch_shape(self) -> TensorShape:
        inner = self._inner.batch_shape.as_list()
        return TensorShape(inner[: len(inner) - self._count])

    def _batch_shape_tensor(self) -> Tensor:
        sizes = self._inner.batch_shape_tensor()
        return sizes[: shape_of(sizes)[0] - self._count]

    def _event_shape(self) -> TensorShape:
        inner = self._inner.batch_shape.as_list()
        return TensorShape(inner[len(inner) - self._count :]).concatenate(self._inner.event_shape)

    def _event_shape_tensor(self) -> Tensor:
        sizes = self._inner.batch_shape_tensor()
        return concat([sizes[shape_of(sizes)[0] - self._count :], self._inner.event_shape_tensor()], 0)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        return self._inner.sample(n, seed=seed)

    def _log_prob(self, value: Tensor) -> Tensor:
        return _summed(self._inner.log_prob(value), self._count)

    def _entropy(self) -> Tensor:
        return _summed(self._inner.entropy(), self._count)

    def _mean(self) -> Tensor:
        return self._inner.mean()

    def _variance(self) -> Tensor:
        return self._inner.variance()

    def _stddev(self) -> Tensor:
        return self._inner.stddev()

    def _mode(self) -> Tensor:
        return self._inner.mode()


def _summed(values: Tensor, count: int) -> Tensor:
    return reduce_sum(values, list(range(-count, 0))) if count else values


@RegisterKL(Independent, Independent)
def _kl_independent(a: Independent, b: Independent, name: str | None = None) -> Tensor:
    if a.event_shape != b.event_shape or a.reinterpreted_batch_ndims != b.reinterpreted_batch_ndims:
        raise ValueError(f"Event shapes do not match: {a.event_shape} and {b.event_shape}")
    with input_scope(name, "kl_independent"):
        return _summed(kl_divergence(a.distribution, b.distribution), a.reinterpreted_batch_ndims)
