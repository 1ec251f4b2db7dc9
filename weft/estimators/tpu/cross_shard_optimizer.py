"""CrossShardOptimizer: the optimizer inside it, for there is one shard."""

from __future__ import annotations

from collections.abc import Iterable

from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.nodes.operation import Operation, Tensor
from weft.models.losses import Reduction
from weft.ops.variables.variable import Variable
from weft.training.optimizers.optimizer import Optimizer


class CrossShardOptimizer(Optimizer):
    """An optimizer whose gradients are those of all shards of a TPU; elsewhere there is one, and they are taken as they are.

    Args:
        opt: the optimizer.
        reduction: how gradients of shards become one: their mean or their sum.
        name: for its operations.
        group_assignment: which shards belong together.

    Raises:
        ValueError: there is no such reduction.
        TypeError: `opt` is no Optimizer.
    """

    def __init__(
        self,
        opt: Optimizer,
        reduction: str = Reduction.MEAN,
        name: str = "CrossShardOptimizer",
        group_assignment: object = None,
    ) -> None:
        if reduction not in (Reduction.SUM, Reduction.MEAN):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        if not isinstance(opt, Optimizer):
            raise TypeError(f"CrossShardOptimizer only works with tf.training.Optimizer and not Keras ones, got {opt!r}")
        super().__init__(False, name)
        self._opt = opt

    def compute_gradients(
        self, loss: Tensor, var_list: Iterable[Variable | Tensor] | None = None, gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False, grad_loss: TensorLike | None = None,
    ) -> list[tuple[Nest, Nest]]:  # fmt: skip
        """The gradients of the inner optimizer."""
        return self._opt.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )

    def apply_gradients(self, grads_and_vars: Nest, global_step: Variable | None = None, name: str | None = None) -> Operation:
        """The update of the inner optimizer."""
        return self._opt.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, var: Variable, name: str) -> VariableLike:
        """A slot of the inner optimizer."""
        return self._opt.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """The names of the inner optimizer's slots."""
        return self._opt.get_slot_names()

    def variables(self) -> list[VariableLike]:
        """The inner optimizer's variables."""
        return self._opt.variables()
