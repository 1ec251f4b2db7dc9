"""Batch renormalization (Ioffe, 2017): batches normalized so that training sees what inference will.

A batch's own mean and deviation normalize it, and what they miss of the averages over batches is put right by a factor and an
offset through which no gradient goes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import numpy as np

from weft.framework.building.aliases import Initializer, TensorLike, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.layers.core import either_branch
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.identity import identity, stop_gradient
from weft.ops.math.comparison import maximum, minimum
from weft.ops.math.elementwise import neg
from weft.ops.math.unary import sqrt

Clipping = Mapping[str, TensorLike]
_LIMITS = ("rmax", "rmin", "dmax")


def _root_of(initializer: Initializer, *args: object, **kwargs: object) -> Tensor:
    return sqrt(initializer(*args, **kwargs))


class Renormalization:
    """The state of a layer's batch renormalization, and its arithmetic.

    Args:
        clipping: a dict of scalars by "rmin" and "rmax", the limits of the factor, and "dmax", that of the offset; those that
            are missing limit nothing.
        momentum: how slowly the averages that training uses follow the batches.

    Raises:
        ValueError: `clipping` has another key.
    """

    def __init__(self, clipping: Clipping | None, momentum: float) -> None:
        self._limits = dict(clipping or {})
        if set(self._limits) - set(_LIMITS):
            raise ValueError(f"renorm_clipping {clipping} contains keys not in {list(_LIMITS)}")
        self.momentum = momentum
        self.moving_stddev: VariableLike = None
        self.mean: VariableLike = None
        self.stddev: VariableLike = None

    @property
    def nodes_of_limits(self) -> int:
        """How many nodes the limits take: each comparison has its number as a constant."""
        return 2 * len(self._limits) + 2 * ("dmax" in self._limits)

    def make_variables(
        self, make: Callable[[str, Initializer | None], VariableLike], mean: Initializer | None, variance: Initializer | None
    ) -> None:
        """Make the averages, `[channels]` each.

        Args:
            make: adds a variable of that name and initializer to the layer.
            mean, variance: the initializers of the layer's own averages.
        """
        deviation = None if variance is None else functools.partial(_root_of, variance)
        self.moving_stddev = make("moving_stddev", deviation)
        self.mean = make("renorm_mean", mean)
        self.stddev = make("renorm_stddev", deviation)

    def corrected(
        self, mean: Tensor, variance: Tensor, epsilon: float, training: TensorLike, move: Callable[..., Tensor]
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """What puts a batch's statistics right, and moves the averages that this takes.

        Args:
            mean, variance: `[channels]`: the batch's, or the layer's averages in a step that does not train.
            epsilon: what is added to the variance.
            training: whether this is training, a bool or a scalar bool tensor.
            move: moves a variable towards a value, by a momentum.

        Returns:
            `[channels]` each: the factor and the offset of the normalized inputs, then mean and variance, which wait until the
            averages have moved.
        """
        graph = get_default_graph()
        stddev = sqrt(variance + epsilon)
        average = maximum(self.stddev, sqrt(np.float32(epsilon)))  # small ones would make early factors huge
        factor, offset = stddev / average, (mean - self.mean) / average
        # The averages that these take are those before their move.
        with graph.control_dependencies([factor, offset]):
            mean, stddev = identity(mean), identity(stddev)
        factor, offset = self._limited(factor, offset)
        factor = either_branch(training, lambda: factor, lambda: ones_like(factor))
        offset = either_branch(training, lambda: offset, lambda: zeros_like(offset))
        momentum = either_branch(training, lambda: self.momentum, lambda: 1.0)
        moved = [move(self.mean, identity(mean), momentum), move(self.stddev, identity(stddev), momentum)]
        with graph.control_dependencies(moved):
            mean, variance = identity(mean), identity(variance)
        return stop_gradient(factor, name="renorm_r"), stop_gradient(offset, name="renorm_d"), mean, variance

    def _limited(self, factor: Tensor, offset: Tensor) -> tuple[Tensor, Tensor]:
        least, most, farthest = (self._limits.get(name) for name in ("rmin", "rmax", "dmax"))
        if least is not None:
            factor = maximum(factor, least)
        if most is not None:
            factor = minimum(factor, most)
        if farthest is not None:
            # TensorFlow has the number below zero as one constant; later random nodes get their seeds by the count.
            get_default_graph().node_count.total -= not isinstance(farthest, Tensor)
            offset = minimum(maximum(offset, neg(farthest)), farthest)
        return factor, offset
