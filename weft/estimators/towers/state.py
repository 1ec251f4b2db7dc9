"""What the towers of one graph know of each other while they are built."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Final
from weakref import WeakKeyDictionary

from weft.autodiff.aggregation import AggregationMethod, aggregate
from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import Graph
from weft.models.losses import Reduction


class Towers:
    """The towers of a graph: how many there are, which one is being built, and the gradients of those before it.

    Args:
        count: how many towers there are.
        loss_reduction: how their losses become one, of `tf.losses.Reduction`.
    """

    def __init__(self, count: int, loss_reduction: str) -> None:
        self.count: Final = count
        self._loss_reduction = loss_reduction
        self._index = 0
        self._applied = 0
        self._gradients: list[list[Sequence[tuple[Nest, Nest]]]] = []
        self.has_optimizer = False

    def __repr__(self) -> str:
        return f"<Towers {self._index} of {self.count}, {self._loss_reduction}>"

    @property
    def averages(self) -> bool:
        """Whether the loss of all is the mean of the towers' losses, not their sum."""
        return self._loss_reduction != Reduction.SUM

    @property
    def is_last(self) -> bool:
        """Whether the tower that is being built is the last one."""
        return self._index == self.count - 1

    def begin(self, index: int) -> None:
        """Build the tower of that number from here on."""
        self._index = index
        self._applied = 0

    def take(self, grads_and_vars: Sequence[tuple[Nest, Nest]]) -> None:
        """Keep what the next optimizer of this tower would apply; the optimizers of each tower come in one order."""
        if self._applied == len(self._gradients):
            self._gradients.append([])
        self._gradients[self._applied].append(grads_and_vars)
        self._applied += 1

    def summed(self) -> list[tuple[Nest, Nest]]:
        """The sums over all towers of what the optimizer gave that gave last, variable by variable."""
        gradients: dict[Nest, list[Nest]] = {}
        for pairs in self._gradients[self._applied - 1]:
            for gradient, variable in pairs:
                gradients.setdefault(variable, []).append(gradient)
        return [(_sum(variable, given), variable) for variable, given in gradients.items()]


def _sum(variable: Nest, gradients: Sequence[Nest]) -> Nest:
    given = [each for each in gradients if each is not None]
    with variable.graph.colocate_with(variable.op, ignore_existing=True):
        return aggregate(variable.op, 0, given, AggregationMethod.DEFAULT)


_BUILT: Final[WeakKeyDictionary[Graph, Towers]] = WeakKeyDictionary()


def towers_of(graph: Graph) -> Towers | None:
    """The towers that are being built in a graph; None outside of `replicate_model_fn` and where there is one device."""
    return _BUILT.get(graph)


@contextlib.contextmanager
def building(graph: Graph, towers: Towers) -> Iterator[None]:
    """Let the graph's optimizers find its towers, for the extent of the block."""
    _BUILT[graph] = towers
    try:
        yield
    finally:
        del _BUILT[graph]
