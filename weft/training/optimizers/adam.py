"""Adam."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.framework.building.aliases import NumberLike, TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dtypes import DType
from weft.ops.control_flow.init_scope import init_scope
from weft.ops.control_flow.ordering import group
from weft.ops.math.casting import cast
from weft.ops.math.unary import sqrt
from weft.ops.state.scatter_update import resource_scatter_add, scatter_add
from weft.ops.training.apply_adam import adam
from weft.ops.training.repeated_rows import sum_repeated_rows
from weft.ops.variables.assign import assign, assign_sub
from weft.ops.variables.variable import Variable
from weft.training.optimizers.optimizer import Optimizer, Update

_ScatterAdd = Callable[[Any, Any, Any], Any]


class AdamOptimizer(Optimizer):
    """Adam (Kingma and Ba, 2015), in the form before section 2.1 of the paper; `epsilon` is its epsilon hat.

    A gradient of IndexedSlices has the effect of the dense one: the averages of rows that it does not name decay too.

    Args:
        learning_rate, beta1, beta2, epsilon: numbers, tensors, or functions that return them.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.AdamOptimizer(0.5).minimize(tf.square(v))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> print(round(float(sess.run(v)), 3))
    0.5
    """

    def __init__(
        self,
        learning_rate: NumberLike = 0.001,
        beta1: object = 0.9,
        beta2: object = 0.999,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon
        self._lr_t: Any = None
        self._beta1_t: Any = None
        self._beta2_t: Any = None
        self._epsilon_t: Any = None

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        with init_scope():
            graph = get_default_graph()
            return (
                self._get_non_slot_variable("beta1_power", graph=graph),
                self._get_non_slot_variable("beta2_power", graph=graph),
            )

    def _beta_powers(self, dtype: DType) -> tuple[Tensor, Tensor]:
        """The powers of both decays that this step corrects the averages by."""
        beta1_power, beta2_power = self._get_beta_accumulators()
        return cast(beta1_power.value(), dtype), cast(beta2_power.value(), dtype)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        # The first by name, so that all workers put the powers in one place.
        first = min(var_list, key=lambda variable: variable.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        self._create_non_slot_variable(self._beta2, "beta2_power", first)
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        self._lr_t = self._hyperparameter(self._lr, "learning_rate")
        self._beta1_t = self._hyperparameter(self._beta1, "beta1")
        self._beta2_t = self._hyperparameter(self._beta2, "beta2")
        self._epsilon_t = self._hyperparameter(self._epsilon, "epsilon")

    def _update_for(self, var: Variable) -> Update:
        beta1_power, beta2_power = self._get_beta_accumulators()
        return Update(
            adam,
            slots=[self.get_slot(var, "m"), self.get_slot(var, "v")],
            scalars={
                "beta1_power": beta1_power,
                "beta2_power": beta2_power,
                "lr": self._lr_t,
                "beta1": self._beta1_t,
                "beta2": self._beta2_t,
                "epsilon": self._epsilon_t,
            },
        )

    def _apply_sparse_shared(self, grad: Tensor, var: Any, indices: Tensor, scatter_add: _ScatterAdd) -> Operation:
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = self._beta_powers(dtype)
        beta1, beta2 = cast(self._beta1_t, dtype), cast(self._beta2_t, dtype)
        rate = cast(self._lr_t, dtype) * sqrt(1 - beta2_power) / (1 - beta1_power)
        m_t = self._decayed(self.get_slot(var, "m"), beta1, indices, grad * (1 - beta1), scatter_add)
        v_t = self._decayed(self.get_slot(var, "v"), beta2, indices, (grad * grad) * (1 - beta2), scatter_add)
        step = rate * m_t / (sqrt(v_t) + cast(self._epsilon_t, dtype))
        return group(assign_sub(var, step, use_locking=self._use_locking), m_t, v_t)

    def _decayed(self, slot: Any, beta: object, indices: Tensor, values: TensorLike, scatter_add: _ScatterAdd) -> Any:
        """A running average after a step: all rows decay, those named take the new values in."""
        decayed = assign(slot, slot * beta, use_locking=self._use_locking)
        with get_default_graph().control_dependencies([decayed]):
            return scatter_add(slot, indices, values)

    # The averages take zeros for a repeated index; methods that a program has overridden may not.

    def _has_own_sparse_update(self) -> bool:
        kind, own = type(self), AdamOptimizer
        methods = ("_apply_sparse", "_resource_apply_sparse", "_apply_sparse_shared")
        return all(getattr(kind, name) is getattr(own, name) for name in methods)

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Variable) -> Any:
        if not self._has_own_sparse_update():
            return super()._apply_sparse_duplicate_indices(grad, var)
        values, indices = _summed(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var)

    def _resource_apply_sparse_duplicate_indices(self, grad: Tensor, handle: Variable, indices: Tensor) -> Any:
        if not self._has_own_sparse_update():
            return super()._resource_apply_sparse_duplicate_indices(grad, handle, indices)
        values, ordered = _summed(grad, indices)
        return self._resource_apply_sparse(values, handle, ordered)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        return self._apply_sparse_shared(grad.values, var, grad.indices, self._scatter_add)

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Any:
        return self._apply_sparse_shared(grad, handle, indices, self._resource_scatter_add)

    def _scatter_add(self, slot: object, indices: Tensor, values: Tensor) -> Any:
        return scatter_add(slot, indices, values, use_locking=self._use_locking)

    def _resource_scatter_add(self, slot: Any, indices: Tensor, values: Tensor) -> Any:
        with get_default_graph().control_dependencies([resource_scatter_add(slot.handle, indices, values)]):
            return slot.value()

    def _finish(self, update_ops: Sequence[Operation | Tensor], name_scope: str) -> Operation:
        graph = get_default_graph()
        with graph.control_dependencies(update_ops):
            beta1_power, beta2_power = self._get_beta_accumulators()
            with graph.colocate_with(beta1_power):
                updates = [
                    power.assign(power * beta, use_locking=self._use_locking)
                    for power, beta in ((beta1_power, self._beta1_t), (beta2_power, self._beta2_t))
                ]
        return group(*update_ops, *updates, name=name_scope)


def _summed(values: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """Each row once, with the sum of what is for it."""
    with get_default_graph().node_count.as_many_as(7):
        summed: tuple[Tensor, Tensor] = sum_repeated_rows(values, indices)
        return summed
