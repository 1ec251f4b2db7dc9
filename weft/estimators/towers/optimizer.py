"""TowerOptimizer: applies the gradients of all towers together, in the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from weft.estimators.towers.state import towers_of
from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.control_flow.ordering import no_op
from weft.ops.math.elementwise import mul
from weft.ops.variables.scopes import get_variable_scope
from weft.ops.variables.variable import Variable
from weft.ops.variables.variable_scope import variable_scope
from weft.ops.variables.variable_store import AUTO_REUSE
from weft.training.optimizers.optimizer import Optimizer


class TowerOptimizer(Optimizer):
    """An optimizer for the model of `replicate_model_fn`: it applies the gradients of all towers together, in the last one.

    Outside of towers, and where there is one, it is the optimizer inside it.

    Args:
        optimizer_or_optimizer_fn: the optimizer, or a function of nothing that makes it.
    """

    def __init__(self, optimizer_or_optimizer_fn: Optimizer | Callable[[], Optimizer]) -> None:
        self._given = optimizer_or_optimizer_fn
        self._made: Optimizer | None = None

    def __repr__(self) -> str:
        return f"<tf.contrib.estimator.TowerOptimizer of {self._inner()!r}>"

    def _inner(self) -> Optimizer:
        if self._made is None:
            self._made = self._given if isinstance(self._given, Optimizer) else self._given()
        return self._made

    def compute_gradients(
        self, loss: Tensor, var_list: Iterable[Variable | Tensor] | None = None, gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False, grad_loss: TensorLike | None = None,
    ) -> list[tuple[Nest, Nest]]:  # fmt: skip
        """The gradients of this tower's share of the loss of all."""
        towers = towers_of(get_default_graph())
        if towers is not None and towers.averages:
            loss = mul(loss, 1.0 / towers.count)
        return self._inner().compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )

    def apply_gradients(self, grads_and_vars: Nest, global_step: Variable | None = None, name: str | None = None) -> Operation:
        """The update by the gradients of all towers, in the last one; a placeholder in the others."""
        towers = towers_of(get_default_graph())
        if towers is None:
            return self._inner().apply_gradients(grads_and_vars, global_step, name)
        towers.has_optimizer = True
        towers.take(list(grads_and_vars))
        if not towers.is_last:
            return no_op("train_op_placeholder")
        # The update belongs to no tower, and makes its slots where this tower takes the variables of the first.
        with get_default_graph().name_scope(None), variable_scope(get_variable_scope(), reuse=AUTO_REUSE):
            return self._inner().apply_gradients(towers.summed(), global_step, name)

    def get_name(self) -> str:
        """The name of the inner optimizer."""
        return self._inner().get_name()

    def get_slot(self, var: Variable, name: str) -> VariableLike:
        """A slot of the inner optimizer."""
        return self._inner().get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """The names of the inner optimizer's slots."""
        return self._inner().get_slot_names()

    def variables(self) -> list[VariableLike]:
        """The inner optimizer's variables."""
        return self._inner().variables()
