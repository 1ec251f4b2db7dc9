"""MovingAverageOptimizer: another optimizer, with running averages of the variables that a saver can put in their place."""

from __future__ import annotations

from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation
from weft.ops.control_flow.ordering import group
from weft.ops.variables.collections import global_variables
from weft.ops.variables.variable import Variable
from weft.training.contributed.pairs import PairList, Pairs
from weft.training.optimizers.moving_averages import ExponentialMovingAverage
from weft.training.optimizers.optimizer import Optimizer
from weft.training.saving.saver import Saver


class MovingAverageOptimizer(Optimizer):
    """Another optimizer whose variables have running averages.

    Save checkpoints with `swapping_saver()`: a model that restores one has the averages in the variables.

    Args:
        opt: the other optimizer.
        average_decay: see ExponentialMovingAverage.
        num_updates: see ExponentialMovingAverage.
        sequential_update: whether the averages wait for the variables' updates.
    """

    def __init__(
        self,
        opt: Optimizer,
        average_decay: float = 0.9999,
        num_updates: TensorLike | None = None,
        sequential_update: bool = True,
    ) -> None:
        super().__init__(False, "MovingAverageOptimizer")
        self._optimizer = opt
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped: dict[str, str] | None = None
        self._is_sequential = sequential_update

    def compute_gradients(self, *args: Nest, **kwargs: Nest) -> PairList:
        """Those of the other optimizer.

        Args:
            args, kwargs: those of the other optimizer's `compute_gradients`.
        """
        return self._optimizer.compute_gradients(*args, **kwargs)

    def get_slot(self, var: Variable, name: str) -> Nest:
        """That of the other optimizer."""
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """Those of the other optimizer."""
        return self._optimizer.get_slot_names()

    def apply_gradients(self, grads_and_vars: Pairs, global_step: Variable | None = None, name: str | None = None) -> Operation:
        """The updates of the other optimizer and of the averages."""
        pairs = list(grads_and_vars)
        trained = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        changed = [variable for gradient, variable in pairs if gradient is not None]
        with get_default_graph().control_dependencies([trained] if self._is_sequential else []):
            averaged = self._ema.apply(changed)
        self._swapped = {}
        for variable in changed:
            average: VariableLike = self._ema.average(variable)
            self._swapped[variable.op.name] = average.op.name
            self._swapped[average.op.name] = variable.op.name
        return group(trained, averaged, name="train_with_avg")

    def swapping_saver(self, var_list: Nest = None, name: str = "swapping_saver", **kwargs: Nest) -> Saver:
        """A Saver that writes each average under its variable's name, and each variable under its average's.

        Args:
            var_list: the variables to save, as a list or by name; all of them when None.
            name: the Saver's name.
            kwargs: its other arguments.

        Raises:
            RuntimeError: there are no averages yet.
            ValueError: of a variable and its average only one is to be saved.
        """
        if self._swapped is None:
            raise RuntimeError("Must call apply_gradients or minimize before creating the swapping_saver")
        found = global_variables() if var_list is None else var_list
        by_name: dict[str, VariableLike] = dict(found) if isinstance(found, dict) else {each.op.name: each for each in found}
        return Saver({key: self._other(by_name, key, value) for key, value in by_name.items()}, name=name, **kwargs)

    def _other(self, by_name: dict[str, VariableLike], key: str, value: VariableLike) -> VariableLike:
        assert self._swapped is not None
        other = self._swapped.get(key)
        if other is None:
            return value
        if other not in by_name:
            raise ValueError(f"Variable to swap {other} is not part of variables to save. This breaks MovingAverageOptimizer.")
        return by_name[other]
