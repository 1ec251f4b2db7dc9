"""Relatives of Adam: AdaMax, Nadam, and Adam that leaves alone the rows that a sparse gradient does not name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.framework.building.aliases import Nest, NumberLike, TensorLike, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.gather_scatter import gather
from weft.ops.control_flow.ordering import group
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import square
from weft.ops.math.unary import sqrt
from weft.ops.training.apply_adam import ada_max, adam
from weft.ops.variables.variable import Variable
from weft.training.optimizers.adam import AdamOptimizer
from weft.training.optimizers.optimizer import Update


class _RowWiseAdam(AdamOptimizer):
    """Of a sparse gradient it takes the rows that this names, after those of one index are summed."""

    def _apply_rows(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Operation:
        raise NotImplementedError

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Nest:
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Nest:
        return self._apply_rows(grad, handle, indices)

    def _set_rows(self, var: VariableLike, indices: Tensor, m_rows: Tensor, v_rows: Tensor, step: Tensor) -> Operation:
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        with get_default_graph().control_dependencies([step]):
            return group(
                m.scatter_update(IndexedSlices(m_rows, indices), use_locking=self._use_locking),
                v.scatter_update(IndexedSlices(v_rows, indices), use_locking=self._use_locking),
                var.scatter_sub(IndexedSlices(step, indices), use_locking=self._use_locking),
            )


class LazyAdamOptimizer(_RowWiseAdam):
    """Adam in which a row, its averages included, changes only in steps whose gradient names it.

    Args:
        see AdamOptimizer.
    """

    def _apply_rows(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Operation:
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = self._beta_powers(dtype)
        beta1, beta2 = cast(self._beta1_t, dtype), cast(self._beta2_t, dtype)
        rate = cast(self._lr_t, dtype) * sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * gather(m, indices) + (1 - beta1) * grad
        v_rows = beta2 * gather(v, indices) + (1 - beta2) * square(grad)
        step = rate * m_rows / (sqrt(v_rows) + cast(self._epsilon_t, dtype))
        return self._set_rows(var, indices, m_rows, v_rows, step)


class AdaMaxOptimizer(_RowWiseAdam):
    """Adam that divides by the decayed maximum of the gradients' magnitudes (Kingma and Ba, 2015, section 7.1).

    Args:
        learning_rate, beta1, beta2, epsilon: numbers, tensors, or functions that return them.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.
    """

    def __init__(
        self, learning_rate: NumberLike = 0.001, beta1: object = 0.9, beta2: object = 0.999, epsilon: TensorLike = 1e-8,
        use_locking: bool = False, name: str = "AdaMax",
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self) -> tuple[VariableLike, VariableLike]:
        power = self._get_non_slot_variable("beta1_power", graph=get_default_graph())
        return power, power

    def _create_slots(self, var_list: Sequence[VariableLike]) -> None:
        first = min(var_list, key=lambda variable: variable.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _update_for(self, var: Variable) -> Update:
        scalars = {"lr": self._lr_t, "beta1": self._beta1_t, "beta2": self._beta2_t, "epsilon": self._epsilon_t}
        power, _ = self._get_beta_accumulators()
        return Update(ada_max, [self.get_slot(var, "m"), self.get_slot(var, "v")], {"beta1_power": power, **scalars})

    def _apply_rows(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Operation:
        dtype = var.dtype.base_dtype
        power, _ = self._get_beta_accumulators()
        rate, beta1, beta2, epsilon = (
            cast(each, dtype) for each in (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        )
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * gather(m, indices) + (1 - beta1) * grad
        v_rows = maximum(beta2 * gather(v, indices), absolute(grad))
        step = rate / (1 - cast(power.value(), dtype)) * (m_rows / (v_rows + epsilon))
        return self._set_rows(var, indices, m_rows, v_rows, step)

    def _finish(self, update_ops: Sequence[Operation | Tensor], name_scope: str) -> Operation:
        graph = get_default_graph()
        power, _ = self._get_beta_accumulators()
        with graph.control_dependencies(update_ops), graph.colocate_with(power):
            update = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return group(*update_ops, update, name=name_scope)


class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov's momentum (Dozat, 2016).

    Args:
        see AdamOptimizer.
    """

    def _update_for(self, var: Variable) -> Update:
        update = super()._update_for(var)
        return Update(adam, update.slots, update.scalars, {"use_nesterov": True})

    def _apply_sparse_shared(
        self, grad: Tensor, var: VariableLike, indices: Tensor, scatter_add: Callable[..., Nest]
    ) -> Operation:
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = self._beta_powers(dtype)
        beta1, beta2 = cast(self._beta1_t, dtype), cast(self._beta2_t, dtype)
        rate = cast(self._lr_t, dtype) * sqrt(1 - beta2_power) / (1 - beta1_power)
        m_t = self._decayed(self.get_slot(var, "m"), beta1, indices, grad * (1 - beta1), scatter_add)
        v_t = self._decayed(self.get_slot(var, "v"), beta2, indices, (grad * grad) * (1 - beta2), scatter_add)
        ahead = grad * (1 - beta1) + beta1 * gather(m_t, indices)
        step = rate * ahead / (sqrt(gather(v_t, indices)) + cast(self._epsilon_t, dtype))
        return group(var.scatter_sub(IndexedSlices(step, indices), use_locking=self._use_locking), m_t, v_t)
