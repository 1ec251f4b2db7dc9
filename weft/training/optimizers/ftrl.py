"""FTRL-Proximal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.framework.building.aliases import DTypeLike, NumberLike, ShapeLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.types import dtypes
from weft.ops.array.filling import ones
from weft.ops.math.comparison import maximum
from weft.ops.training.apply_ftrl import ftrl, ftrl_v2
from weft.ops.variables.variable import Variable
from weft.training.optimizers.optimizer import Optimizer, Update


class FtrlOptimizer(Optimizer):
    """FTRL-Proximal (McMahan et al., 2013), with both kinds of l2 penalty.

    Args:
        learning_rate: a number or a tensor.
        learning_rate_power: how the rate falls with the sum of squared gradients; zero or less, zero for a fixed rate.
        initial_accumulator_value: where these sums start; zero or greater.
        l1_regularization_strength, l2_regularization_strength: zero or greater.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.
        accum_name: the name of the slot of the sums, the optimizer's by default.
        linear_name: the name of the slot of the linear sums, the optimizer's by default.
        l2_shrinkage_regularization_strength: a penalty on the magnitude of the variable; zero or greater.
        beta: the paper's beta.

    Raises:
        ValueError: a number is outside its range.
    """

    def __init__(
        self,
        learning_rate: NumberLike,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float | None = None,
    ) -> None:
        super().__init__(use_locking, name)
        _check_at_least_zero("initial_accumulator_value", initial_accumulator_value)
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power:f} needs to be negative or zero")
        _check_at_least_zero("l1_regularization_strength", l1_regularization_strength)
        _check_at_least_zero("l2_regularization_strength", l2_regularization_strength)
        _check_at_least_zero("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength)
        self._learning_rate = learning_rate
        self._learning_rate_power = learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self._beta = 0.0 if beta is None else beta
        self._accum_name = accum_name
        self._linear_name = linear_name
        self._scalars: dict[str, Any] = {}

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        def accumulators(shape: ShapeLike, dtype: DTypeLike = dtypes.float32, partition_info: object = None) -> Any:
            with get_default_graph().node_count.as_many_as(1):  # of TensorFlow's constant, which is as large as the variable
                start: Any = ones(shape=shape, dtype=dtype)
                return start * self._initial_accumulator_value

        for var in var_list:
            self._get_or_make_slot_with_initializer(
                var, accumulators, var.get_shape(), var.dtype.base_dtype, "accum", self._accum_name or self._name
            )
            self._zeros_slot(var, "linear", self._linear_name or self._name)

    def _prepare(self) -> None:
        l2: Any = self._l2_regularization_strength
        if self._beta:
            l2 = l2 + self._beta / (2.0 * maximum(self._learning_rate, 1e-36))
        self._scalars = {
            "lr": self._hyperparameter(self._learning_rate, "learning_rate"),
            "l1": self._hyperparameter(self._l1_regularization_strength, "l1_regularization_strength"),
            "l2": self._hyperparameter(l2, "l2_regularization_strength"),
        }
        shrinkage = self._hyperparameter(self._l2_shrinkage_regularization_strength, "l2_shrinkage_regularization_strength")
        if self._shrinks:
            self._scalars["l2_shrinkage"] = shrinkage
        self._scalars["lr_power"] = self._hyperparameter(self._learning_rate_power, "learning_rate_power")

    @property
    def _shrinks(self) -> bool:
        return self._l2_shrinkage_regularization_strength > 0.0

    def _update_for(self, var: Variable) -> Update:
        return Update(
            ftrl_v2 if self._shrinks else ftrl,
            slots=[self.get_slot(var, "accum"), self.get_slot(var, "linear")],
            scalars=self._scalars,
        )


def _check_at_least_zero(name: str, value: float) -> None:
    if value < 0.0:
        raise ValueError(f"{name} {value:f} needs to be positive or zero")
