"""OptimizersOfParts: an optimizer for each part of a model."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.nodes.operation import Tensor
from weft.networks.config import KerasObject


class OptimizersOfParts(list[KerasObject]):
    """Optimizers, each of which trains a part of a model, as a list.

    Args:
        optimizers: the optimizers.
        parts: a model or layer for each of the first of them.
    """

    def __init__(self, optimizers: Sequence[KerasObject], parts: Sequence[KerasObject]) -> None:
        super().__init__(optimizers)
        self._parts = tuple(parts)

    def get_updates(self, loss: Tensor, params: Sequence[VariableLike]) -> list[Nest]:
        """The operations of a training step.

        Args:
            loss: the loss.
            params: the variables that are trained; those of no part stay as they are.
        """
        trained = {id(each) for each in params}
        updates: list[Nest] = []
        for optimizer, part in zip(self, self._parts, strict=False):
            own = [each for each in part.trainable_weights if id(each) in trained]
            if own:
                updates += optimizer.get_updates(loss, own)
        return updates
