"""Adagrad with dual averaging."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.framework.building.aliases import NumberLike, TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.array.constant import constant
from weft.ops.array.identity import identity
from weft.ops.training.apply_adagrad import adagrad_da
from weft.ops.variables.variable import Variable
from weft.training.optimizers.optimizer import Optimizer, Update


class AdagradDAOptimizer(Optimizer):
    """Adagrad with dual averaging (Duchi et al., 2011), for sparse linear models.

    A row that was not named for some steps is regularized, when it is named, as if it had been each time.

    Args:
        learning_rate: a number or a tensor.
        global_step: the number of the step, an integer variable or tensor.
        initial_gradient_squared_accumulator_value: where the sums of squared gradients start; positive.
        l1_regularization_strength, l2_regularization_strength: zero or greater.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.

    Raises:
        ValueError: `initial_gradient_squared_accumulator_value` is not positive.
    """

    def __init__(
        self,
        learning_rate: NumberLike,
        global_step: Variable,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: TensorLike = 0.0,
        l2_regularization_strength: TensorLike = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_gradient_squared_accumulator_value must be positive: {initial_gradient_squared_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_gradient_squared_accumulator_value = initial_gradient_squared_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._global_step = global_step
        self._learning_rate_tensor: Any = None
        self._global_step_on_worker: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        squares = self._initial_gradient_squared_accumulator_value
        for var in var_list:
            shape, dtype = var.get_shape(), var.dtype.base_dtype
            with get_default_graph().colocate_with(var):
                of_gradients = constant(0.0, shape=shape, dtype=dtype)
                of_squares = constant(squares, shape=shape, dtype=dtype)
            self._get_or_make_slot(var, of_gradients, "gradient_accumulator", self._name)
            self._get_or_make_slot(var, of_squares, "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = self._hyperparameter(self._learning_rate, "learning_rate")
        with get_default_graph().colocate_with(self._learning_rate_tensor):
            self._global_step_on_worker = identity(self._global_step) + 1

    def _update_for(self, var: Variable) -> Update:
        return Update(
            adagrad_da,
            slots=[self.get_slot(var, "gradient_accumulator"), self.get_slot(var, "gradient_squared_accumulator")],
            scalars={
                "lr": self._learning_rate_tensor,
                "l1": self._l1_regularization_strength,
                "l2": self._l2_regularization_strength,
            },
            others={"global_step": self._step_beside(var)},
        )

    def _step_beside(self, var: Any) -> Tensor:
        with get_default_graph().device(var.device):
            return identity(self._global_step_on_worker)  # type: ignore[no-any-return]
