"""Gradient descent with momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.framework.building.aliases import NumberLike, TensorLike
from weft.ops.training.apply_descent import momentum as momentum_ops
from weft.ops.variables.variable import Variable
from weft.training.optimizers.optimizer import Optimizer, Update


class MomentumOptimizer(Optimizer):
    """`accumulation = momentum * accumulation + gradient; var -= learning_rate * accumulation`.

    Rows that an IndexedSlices gradient does not name keep their accumulation.

    Args:
        learning_rate: a number, a tensor, or a function that returns one.
        momentum: a number, a tensor, or a function that returns one.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.
        use_nesterov: whether to step to where the momentum leads (Sutskever et al., 2013).

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.MomentumOptimizer(0.25, momentum=0.5).minimize(tf.square(v))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    np.float32(0.5)
    """

    def __init__(
        self,
        learning_rate: NumberLike,
        momentum: TensorLike,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov
        self._learning_rate_tensor: Any = None
        self._momentum_tensor: Any = None

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = self._hyperparameter(self._learning_rate, "learning_rate")
        self._momentum_tensor = self._hyperparameter(self._momentum, "momentum")

    def _update_for(self, var: Variable) -> Update:
        return Update(
            momentum_ops,
            slots=[self.get_slot(var, "momentum")],
            scalars={"lr": self._learning_rate_tensor, "momentum": self._momentum_tensor},
            others={"use_nesterov": self._use_nesterov},
        )
