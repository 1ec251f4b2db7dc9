"""Proximal gradient descent and proximal Adagrad: an update, then a step towards zero for the l1 and l2 penalties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.framework.building.aliases import NumberLike, TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.ops.array.constant import constant
from weft.ops.training.apply_adagrad import proximal_adagrad
from weft.ops.training.apply_descent import proximal_gradient_descent
from weft.ops.variables.variable import Variable
from weft.training.optimizers.optimizer import Optimizer, Update


class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent with forward-backward splitting (Duchi and Singer, 2009).

    Args:
        learning_rate: a number or a tensor.
        l1_regularization_strength, l2_regularization_strength: zero or greater.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.
    """

    def __init__(
        self,
        learning_rate: NumberLike,
        l1_regularization_strength: TensorLike = 0.0,
        l2_regularization_strength: TensorLike = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._learning_rate_tensor: Any = None
        self._l1_regularization_strength_tensor: Any = None
        self._l2_regularization_strength_tensor: Any = None

    def _prepare(self) -> None:
        self._learning_rate_tensor = self._hyperparameter(self._learning_rate, "learning_rate")
        self._l1_regularization_strength_tensor = self._hyperparameter(
            self._l1_regularization_strength, "l1_regularization_strength"
        )
        self._l2_regularization_strength_tensor = self._hyperparameter(
            self._l2_regularization_strength, "l2_regularization_strength"
        )

    def _update_for(self, var: Variable) -> Update:
        return Update(
            proximal_gradient_descent,
            scalars={
                "alpha": self._learning_rate_tensor,
                "l1": self._l1_regularization_strength_tensor,
                "l2": self._l2_regularization_strength_tensor,
            },
            gradient="delta",
        )


class ProximalAdagradOptimizer(Optimizer):
    """Adagrad with forward-backward splitting.

    Args:
        learning_rate: a number or a tensor.
        initial_accumulator_value: where the sums of squared gradients start; positive.
        l1_regularization_strength, l2_regularization_strength: zero or greater.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.

    Raises:
        ValueError: `initial_accumulator_value` is not positive.
    """

    def __init__(
        self,
        learning_rate: NumberLike,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: TensorLike = 0.0,
        l2_regularization_strength: TensorLike = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._learning_rate_tensor: Any = None
        self._l1_regularization_strength_tensor: Any = None
        self._l2_regularization_strength_tensor: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            with get_default_graph().colocate_with(var):
                value = constant(self._initial_accumulator_value, shape=var.get_shape(), dtype=var.dtype.base_dtype)
            self._get_or_make_slot(var, value, "accumulator", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = self._hyperparameter(self._learning_rate, "learning_rate")
        self._l1_regularization_strength_tensor = self._hyperparameter(
            self._l1_regularization_strength, "l1_regularization_strength"
        )
        self._l2_regularization_strength_tensor = self._hyperparameter(
            self._l2_regularization_strength, "l2_regularization_strength"
        )

    def _update_for(self, var: Variable) -> Update:
        return Update(
            proximal_adagrad,
            slots=[self.get_slot(var, "accumulator")],
            scalars={
                "lr": self._learning_rate_tensor,
                "l1": self._l1_regularization_strength_tensor,
                "l2": self._l2_regularization_strength_tensor,
            },
        )
