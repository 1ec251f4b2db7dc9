"""ConstrainedOptimizer: minimizes a problem by an ordinary optimizer, with its constraints or at first without them."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterable

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.printed import printed
from weft.ops.control_flow.cond import cond
from weft.ops.math.casting import cast
from weft.ops.math.comparison import less
from weft.ops.variables.variable import Variable
from weft.training.constrained.problem import ConstrainedMinimizationProblem
from weft.training.optimizers.optimizer import Optimizer


class ConstrainedOptimizer(ABC):
    """Minimizes a ConstrainedMinimizationProblem. A subclass has the way to do so as `_minimize_constrained`.

    Args:
        optimizer: changes the model's variables.
    """

    __repr__ = printed("tf.contrib.constrained_optimization")

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer

    @property
    def optimizer(self) -> Optimizer:
        """What changes the model's variables."""
        return self._optimizer

    @abstractmethod
    def _minimize_constrained(
        self, minimization_problem: ConstrainedMinimizationProblem, global_step: Variable | None = None,
        var_list: Iterable[Variable | Tensor] | None = None, gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False, name: str | None = None,
        grad_loss: TensorLike | None = None,
    ) -> Nest:  # fmt: skip
        """What `minimize_constrained` returns, without what runs before the step."""

    def minimize_constrained(
        self, minimization_problem: ConstrainedMinimizationProblem, global_step: Variable | None = None,
        var_list: Iterable[Variable | Tensor] | None = None, gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False, name: str | None = None,
        grad_loss: TensorLike | None = None,
    ) -> Nest:  # fmt: skip
        """The step that minimizes the objective under the constraints.

        Args:
            minimization_problem: the problem.
            global_step: a variable to add one to after the updates.
            var_list: the variables to change; all trainable ones when None.
            gate_gradients, aggregation_method, colocate_gradients_with_ops: see `tf.train.Optimizer.minimize`.
            name: the operation's name.
            grad_loss: the gradient to start from, ones when None.

        Returns:
            What a session runs for a step.

        Raises:
            ValueError: the problem's tensors do not fit each other, or no variable has a gradient.
        """
        with _after(minimization_problem):
            return self._minimize_constrained(
                minimization_problem, global_step=global_step, var_list=var_list, gate_gradients=gate_gradients,
                aggregation_method=aggregation_method, colocate_gradients_with_ops=colocate_gradients_with_ops, name=name,
                grad_loss=grad_loss,
            )  # fmt: skip

    def minimize_unconstrained(
        self, minimization_problem: ConstrainedMinimizationProblem, global_step: Variable | None = None,
        var_list: Iterable[Variable | Tensor] | None = None, gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False, name: str | None = None,
        grad_loss: TensorLike | None = None,
    ) -> Operation:  # fmt: skip
        """The step that minimizes the objective, whatever the constraints are.

        Args:
            minimization_problem: the problem.
            global_step, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, name, grad_loss: see
                `tf.train.Optimizer.minimize`.

        Raises:
            ValueError: no variable has a gradient.
        """
        with _after(minimization_problem):
            return self.optimizer.minimize(
                minimization_problem.objective, global_step=global_step, var_list=var_list, gate_gradients=gate_gradients,
                aggregation_method=aggregation_method, colocate_gradients_with_ops=colocate_gradients_with_ops, name=name,
                grad_loss=grad_loss,
            )  # fmt: skip

    def minimize(
        self, minimization_problem: ConstrainedMinimizationProblem, unconstrained_steps: TensorLike | None = None,
        global_step: Variable | None = None, var_list: Iterable[Variable | Tensor] | None = None,
        gate_gradients: int = Optimizer.GATE_OP, aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False, name: str | None = None, grad_loss: TensorLike | None = None,
    ) -> Nest:  # fmt: skip
        """The step that minimizes the objective under the constraints, after some steps without them.

        Args:
            minimization_problem: the problem.
            unconstrained_steps: up to which global step the constraints do not count; none when None.
            global_step, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, name, grad_loss: see
                `minimize_constrained`.

        Returns:
            What a session runs for a step.

        Raises:
            ValueError: there are such steps and no global step, or `minimize_constrained` raises it.
        """
        options: dict[str, Nest] = {
            "global_step": global_step,
            "var_list": var_list,
            "gate_gradients": gate_gradients,
            "aggregation_method": aggregation_method,
            "colocate_gradients_with_ops": colocate_gradients_with_ops,
            "name": name,
            "grad_loss": grad_loss,
        }
        if unconstrained_steps is None:
            return self.minimize_constrained(minimization_problem, **options)
        if global_step is None:
            raise ValueError(
                "global_step cannot be None if unconstrained_steps is provided: tf.train.get_or_create_global_step() makes one"
            )
        steps = convert_to_tensor(unconstrained_steps)
        return cond(
            less(cast(global_step, steps.dtype), steps),
            lambda: self.minimize_unconstrained(minimization_problem, **options),
            lambda: self.minimize_constrained(minimization_problem, **options),
        )


def _after(problem: ConstrainedMinimizationProblem) -> contextlib.AbstractContextManager[Nest]:
    """What is made in it runs after the problem's own operations."""
    return get_default_graph().control_dependencies(list(problem.pre_train_ops or ()))
