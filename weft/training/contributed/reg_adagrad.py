"""RegAdagrad: Adagrad that a regularizer's gradients may use without being counted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from weft.framework.building.aliases import NumberLike
from weft.ops.training.apply_adagrad import adagrad
from weft.ops.variables.variable import Variable
from weft.training.optimizers.adagrad import AdagradOptimizer
from weft.training.optimizers.optimizer import Update


class RegAdagradOptimizer(AdagradOptimizer):
    """Adagrad with updates that leave the sums of squared gradients alone, for regularizers.

        train = optimizer.minimize(loss)
        with optimizer.avoid_updating_slots():
            shrink = optimizer.minimize(regularizer)

    Args:
        learning_rate, initial_accumulator_value, use_locking, name: see AdagradOptimizer.
    """

    def __init__(
        self,
        learning_rate: NumberLike,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "RegAdagrad",
    ) -> None:
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._updates_slots = True

    @contextlib.contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """Let the updates that are made in this block use the sums and not add to them."""
        before, self._updates_slots = self._updates_slots, False
        try:
            yield
        finally:
            self._updates_slots = before

    def _update_for(self, var: Variable) -> Update:
        made = super()._update_for(var)
        return Update(adagrad, made.slots, made.scalars, others={"update_slots": self._updates_slots})
