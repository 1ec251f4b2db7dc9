"""Adadelta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.framework.building.aliases import NumberLike, TensorLike
from weft.ops.training.apply_adagrad import adadelta
from weft.ops.variables.variable import Variable
from weft.training.optimizers.optimizer import Optimizer, Update


class AdadeltaOptimizer(Optimizer):
    """Adadelta (Zeiler, 2012); a learning rate of 1.0 is the paper's form.

    Args:
        learning_rate, rho, epsilon: numbers, tensors, or functions that return them.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.
    """

    def __init__(
        self,
        learning_rate: NumberLike = 0.001,
        rho: object = 0.95,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._rho = rho
        self._epsilon = epsilon
        self._lr_t: Any = None
        self._rho_t: Any = None
        self._epsilon_t: Any = None

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for var in var_list:
            self._zeros_slot(var, "accum", self._name)
            self._zeros_slot(var, "accum_update", self._name)

    def _prepare(self) -> None:
        self._lr_t = self._hyperparameter(self._lr, "lr")
        self._rho_t = self._hyperparameter(self._rho, "rho")
        self._epsilon_t = self._hyperparameter(self._epsilon, "epsilon")

    def _update_for(self, var: Variable) -> Update:
        return Update(
            adadelta,
            slots=[self.get_slot(var, "accum"), self.get_slot(var, "accum_update")],
            scalars={"lr": self._lr_t, "rho": self._rho_t, "epsilon": self._epsilon_t},
        )
