"""Adagrad."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.framework.building.aliases import DTypeLike, NumberLike
from weft.ops.array.filling import fill
from weft.ops.array.shape_ops import shape
from weft.ops.math.casting import cast
from weft.ops.training.apply_adagrad import adagrad
from weft.ops.variables.initializers import Constant
from weft.ops.variables.variable import Variable
from weft.training.optimizers.optimizer import Optimizer, Update


class AdagradOptimizer(Optimizer):
    """Adagrad (Duchi et al., 2011): the rate of each element falls with the sum of its squared gradients.

    Args:
        learning_rate: a number, a tensor, or a function that returns one.
        initial_accumulator_value: where the sums start; positive.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.

    Raises:
        ValueError: `initial_accumulator_value` is not positive.

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.AdagradOptimizer(0.5, initial_accumulator_value=12.0).minimize(tf.square(v))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    np.float32(0.75)
    """

    def __init__(
        self,
        learning_rate: NumberLike,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._learning_rate_tensor: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            dtype = var.dtype.base_dtype
            initializer: Any = Constant(self._initial_accumulator_value, dtype=dtype)
            if not var.get_shape().is_fully_defined():
                initializer = self._initializer_in_shape_of(var, dtype)
            self._get_or_make_slot_with_initializer(var, initializer, var.get_shape(), dtype, "accumulator", self._name)

    def _initializer_in_shape_of(self, var: Variable, dtype: DTypeLike) -> Any:
        return lambda: cast(fill(shape(var), self._initial_accumulator_value), dtype)

    def _prepare(self) -> None:
        self._learning_rate_tensor = self._hyperparameter(self._learning_rate, "learning_rate")

    def _update_for(self, var: Variable) -> Update:
        return Update(adagrad, slots=[self.get_slot(var, "accumulator")], scalars={"lr": self._learning_rate_tensor})
