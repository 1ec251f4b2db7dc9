"""Adam whose powers of beta come from a step counter of the program's, not from variables of its own."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest, NumberLike, TensorLike, VariableLike
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.array.identity import identity
from weft.ops.control_flow.ordering import group
from weft.ops.math.casting import cast
from weft.ops.math.division import power
from weft.training.contributed.adamax import LazyAdamOptimizer
from weft.training.optimizers.adam import AdamOptimizer


class AdamGSOptimizer(AdamOptimizer):
    """Adam that corrects its averages by `beta ** (global_step + 1)`; so it has no variables but the averages.

    Restored without its averages' history of powers it goes on with the right correction, and workers do not update the
    powers' variables on a parameter server.

    Args:
        global_step: the variable that counts the steps, or a number.
        learning_rate, beta1, beta2, epsilon: numbers, tensors, or functions that return them.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.
    """

    def __init__(
        self, global_step: TensorLike = 0, learning_rate: NumberLike = 0.001, beta1: object = 0.9, beta2: object = 0.999,
        epsilon: TensorLike = 1e-8, use_locking: bool = False, name: str = "Adam",
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._global_step = global_step
        self._step_on_worker: Nest = None

    def _create_slots(self, var_list: Sequence[VariableLike]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        # Read once for all updates: the step lives on a parameter server.
        self._step_on_worker = cast(identity(self._global_step) + 1, dtypes.float32)

    def _get_beta_accumulators(self) -> tuple[Tensor, Tensor]:
        return power(self._beta1_t, self._step_on_worker), power(self._beta2_t, self._step_on_worker)

    def _beta_powers(self, dtype: DType) -> tuple[Tensor, Tensor]:
        beta1_power, beta2_power = self._get_beta_accumulators()
        return cast(beta1_power, dtype), cast(beta2_power, dtype)

    def _finish(self, update_ops: Sequence[Operation | Tensor], name_scope: str) -> Operation:
        return group(*update_ops, name=name_scope)


class LazyAdamGSOptimizer(AdamGSOptimizer, LazyAdamOptimizer):
    """AdamGSOptimizer in which a row, its averages included, changes only in steps whose gradient names it.

    Args:
        see AdamGSOptimizer.
    """
