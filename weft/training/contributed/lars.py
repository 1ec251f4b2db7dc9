"""LARS: momentum with a learning rate for each layer, by the ratio of the norms of weights and gradient (You et al., 2017)."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest, NumberLike, TensorLike, VariableLike
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.filling import ones_like
from weft.ops.array.selection import where
from weft.ops.linalg.norms import norm
from weft.ops.math.comparison import greater
from weft.ops.training.apply_descent import momentum as momentum_ops
from weft.ops.variables.variable import Variable
from weft.training.optimizers.optimizer import Optimizer, Update


class LARSOptimizer(Optimizer):
    """Momentum whose learning rate is scaled by `eeta * |var| / (|gradient| + weight_decay * |var| + epsilon)`.

    Args:
        learning_rate: a number or a tensor; for sparse gradients, which are not scaled, also a function.
        momentum: a number that is not negative.
        weight_decay: how much of the variable is added to its gradient, a number that is not negative.
        eeta: the coefficient of the ratio.
        epsilon: added to the denominator.
        name: the name of the operations made, and of slots.
        skip_list: parts of the names of variables that are not scaled and do not decay, such as biases.
        use_nesterov: see MomentumOptimizer.

    Raises:
        ValueError: the momentum or the decay is negative.
    """

    def __init__(
        self, learning_rate: NumberLike, momentum: float = 0.9, weight_decay: float = 0.0001, eeta: float = 0.001,
        epsilon: float = 0.0, name: str = "LARSOptimizer", skip_list: Sequence[str] | None = None, use_nesterov: bool = False,
    ) -> None:  # fmt: skip
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be positive: {weight_decay}")
        super().__init__(False, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._weight_decay = weight_decay
        self._eeta = eeta
        self._epsilon = epsilon
        self._skip_list = skip_list
        self._use_nesterov = use_nesterov
        self._learning_rate_tensor: Nest = None
        self._momentum_tensor: Nest = None

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = self._hyperparameter(self._learning_rate, "learning_rate")
        self._momentum_tensor = self._hyperparameter(self._momentum, "momentum")

    def compute_lr(self, grad: Tensor, var: VariableLike) -> tuple[TensorLike, Tensor]:
        """The learning rate for a variable, and its gradient with the decay.

        Args:
            grad: the gradient, of the variable's shape.
            var: the variable.
        """
        if self._skip_list is not None and any(part in var.name for part in self._skip_list):
            return self._learning_rate, grad
        weights, gradient = norm(var, ord=2), norm(grad, ord=2)
        ratio = self._eeta * weights / (gradient + self._weight_decay * weights + self._epsilon)
        one = ones_like(weights)
        trust = where(greater(weights, 0.0), where(greater(gradient, 0.0), ratio, one), one)
        return self._learning_rate * trust, grad + self._weight_decay * var

    def _update_for(self, var: Variable) -> Update:
        return self._momentum_update(var, self._learning_rate_tensor)

    def _momentum_update(self, var: Variable, rate: object) -> Update:
        return Update(
            momentum_ops, [self.get_slot(var, "momentum")], {"lr": rate, "momentum": self._momentum_tensor},
            {"use_nesterov": self._use_nesterov},
        )  # fmt: skip

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        rate, grad = self.compute_lr(grad, var)
        return self._add_update(self._momentum_update(var, 1.0), var, grad * rate)

    def _resource_apply_dense(self, grad: Tensor, handle: Variable) -> Operation:
        return self._apply_dense(grad, handle)
