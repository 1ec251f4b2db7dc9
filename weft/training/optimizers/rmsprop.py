"""RMSProp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.framework.building.aliases import NumberLike, TensorLike
from weft.ops.array.filling import ones_like
from weft.ops.training.apply_adam import centered_rms_prop, rms_prop
from weft.ops.variables.initializers import Ones
from weft.ops.variables.variable import Variable
from weft.training.optimizers.optimizer import Optimizer, Update


class RMSPropOptimizer(Optimizer):
    """RMSProp (Tieleman and Hinton, 2012): momentum on gradients divided by the root of their average square.

    Rows that an IndexedSlices gradient does not name keep their averages.

    Args:
        learning_rate, decay, momentum, epsilon: numbers, tensors, or functions that return them.
        use_locking: recorded in the update ops; updates are always whole.
        centered: whether to divide by the root of the estimated variance instead.
        name: the name of the operations made, and of slots.

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.RMSPropOptimizer(0.1).minimize(tf.square(v))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> bool(sess.run(v) < 1.0)
    True
    """

    def __init__(
        self,
        learning_rate: NumberLike,
        decay: TensorLike = 0.9,
        momentum: TensorLike = 0.0,
        epsilon: TensorLike = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._decay = decay
        self._momentum = momentum
        self._epsilon = epsilon
        self._centered = centered
        self._learning_rate_tensor: Any = None
        self._decay_tensor: Any = None
        self._momentum_tensor: Any = None
        self._epsilon_tensor: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            dtype = var.dtype.base_dtype
            initial: Any = Ones(dtype=dtype) if var.get_shape().is_fully_defined() else ones_like(var)
            self._get_or_make_slot_with_initializer(var, initial, var.get_shape(), dtype, "rms", self._name)
            if self._centered:
                self._zeros_slot(var, "mg", self._name)
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = self._hyperparameter(self._learning_rate, "learning_rate")
        self._decay_tensor = self._hyperparameter(self._decay, "decay")
        self._momentum_tensor = self._hyperparameter(self._momentum, "momentum")
        self._epsilon_tensor = self._hyperparameter(self._epsilon, "epsilon")

    def _update_for(self, var: Variable) -> Update:
        names = ("mg", "rms", "momentum") if self._centered else ("rms", "momentum")
        return Update(
            centered_rms_prop if self._centered else rms_prop,
            slots=[self.get_slot(var, name) for name in names],
            scalars={
                "lr": self._learning_rate_tensor,
                "rho": self._decay_tensor,
                "momentum": self._momentum_tensor,
                "epsilon": self._epsilon_tensor,
            },
        )
