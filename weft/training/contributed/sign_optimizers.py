"""AddSign and PowerSign: the step is larger where the gradient agrees in sign with its average (Bello et al., 2017)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from weft.framework.building.aliases import Nest, NumberLike, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.gather_scatter import gather
from weft.ops.control_flow.ordering import group
from weft.ops.math.casting import cast
from weft.ops.math.complex_numbers import sign
from weft.ops.math.unary import exp
from weft.ops.training.apply_adam import add_sign, power_sign
from weft.ops.variables.variable import Variable
from weft.training.contributed.pairs import Pairs
from weft.training.optimizers.optimizer import Optimizer, Update

SignDecay = Callable[[VariableLike], TensorLike]


class _SignOptimizer(Optimizer):
    """What both have in common: the average, and the weight of the signs, which may decay."""

    def __init__(
        self, learning_rate: NumberLike, beta: TensorLike, sign_decay_fn: SignDecay | None, use_locking: bool, name: str
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta = beta
        self._sign_decay_fn = sign_decay_fn
        self._sign_decay_t: Nest = None
        self._lr_t: Nest = None
        self._beta_t: Nest = None

    def apply_gradients(self, grads_and_vars: Pairs, global_step: Variable | None = None, name: str | None = None) -> Operation:
        """See Optimizer.apply_gradients; the signs' weight is that of the global step."""
        if self._sign_decay_fn is not None:
            self._sign_decay_t = convert_to_tensor(self._sign_decay_fn(global_step), name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step, name)

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)

    def _prepare(self) -> None:
        self._lr_t = convert_to_tensor(self._lr, name="learning_rate")
        self._beta_t = convert_to_tensor(self._beta, name="beta")
        if self._sign_decay_fn is None:
            self._sign_decay_t = convert_to_tensor(1.0, name="sign_decay")

    def _scale(self, agreement: Tensor) -> Tensor:
        """The factor of a gradient's rows, from the weighted products of signs."""
        raise NotImplementedError

    def _apply_rows(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Operation:
        dtype = var.dtype.base_dtype
        m, beta = self.get_slot(var, "m"), cast(self._beta_t, dtype)
        decayed = m.assign(m * beta, use_locking=self._use_locking)
        with get_default_graph().control_dependencies([decayed]):
            averaged = m.scatter_add(IndexedSlices(grad * (1 - beta), indices), use_locking=self._use_locking)
        agreement = cast(self._sign_decay_t, dtype) * gather(sign(averaged), indices) * sign(grad)
        step = cast(self._lr_t, dtype) * self._scale(agreement) * grad
        return group(var.scatter_sub(IndexedSlices(step, indices), use_locking=self._use_locking), averaged)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Nest:
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Nest:
        return self._apply_rows(grad, handle, indices)


class AddSignOptimizer(_SignOptimizer):
    """`var -= learning_rate * (alpha + decay * sign(gradient) * sign(average)) * gradient`.

    Args:
        learning_rate, alpha, beta: numbers or tensors; `beta` is the weight of the average so far.
        sign_decay_fn: a function of the global step that gives the signs' weight, such as of `get_cosine_decay_fn`.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.
    """

    def __init__(
        self, learning_rate: NumberLike = 0.1, alpha: TensorLike = 1.0, beta: TensorLike = 0.9,
        sign_decay_fn: SignDecay | None = None, use_locking: bool = False, name: str = "AddSignOptimizer",
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha
        self._alpha_t: Nest = None

    def _prepare(self) -> None:
        super()._prepare()
        self._alpha_t = convert_to_tensor(self._alpha, name="alpha")

    def _update_for(self, var: Variable) -> Update:
        scalars = {"lr": self._lr_t, "alpha": self._alpha_t, "sign_decay": self._sign_decay_t, "beta": self._beta_t}
        return Update(add_sign, [self.get_slot(var, "m")], scalars)

    def _scale(self, agreement: Tensor) -> Tensor:
        scale: Tensor = cast(self._alpha_t, agreement.dtype) + agreement
        return scale


class PowerSignOptimizer(_SignOptimizer):
    """`var -= learning_rate * base ** (decay * sign(gradient) * sign(average)) * gradient`.

    Args:
        learning_rate, base, beta: numbers; `beta` is the weight of the average so far.
        sign_decay_fn: a function of the global step that gives the signs' weight, such as of `get_cosine_decay_fn`.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.
    """

    def __init__(
        self, learning_rate: NumberLike = 0.1, base: float = math.e, beta: TensorLike = 0.9,
        sign_decay_fn: SignDecay | None = None, use_locking: bool = False, name: str = "PowerSignOptimizer",
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._logbase = math.log(base)
        self._logbase_t: Nest = None

    def _prepare(self) -> None:
        super()._prepare()
        self._logbase_t = convert_to_tensor(self._logbase, dtypes.float32, name="log_base")

    def _update_for(self, var: Variable) -> Update:
        scalars = {"lr": self._lr_t, "logbase": self._logbase_t, "sign_decay": self._sign_decay_t, "beta": self._beta_t}
        return Update(power_sign, [self.get_slot(var, "m")], scalars)

    def _scale(self, agreement: Tensor) -> Tensor:
        powers: Tensor = exp(cast(self._logbase_t, agreement.dtype) * agreement)
        return powers
