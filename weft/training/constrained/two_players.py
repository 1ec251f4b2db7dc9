"""TwoPlayerOptimizer: the model's variables against a state that weighs the constraints, a step of both at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.shape_ops import reshape
from weft.ops.control_flow.ordering import group
from weft.ops.math.elementwise import neg
from weft.ops.variables.assign import assign, assign_add
from weft.ops.variables.variable import Variable
from weft.training.constrained.optimizer import ConstrainedOptimizer
from weft.training.constrained.problem import ConstrainedMinimizationProblem
from weft.training.optimizers.optimizer import Optimizer


class Payoff(NamedTuple):
    """What the model's player minimizes, a scalar, and the gradient by which the other one raises its state."""

    loss: Tensor
    gradient: Tensor


class TwoPlayerOptimizer(ConstrainedOptimizer):
    """Lets a state of weights grow where constraints are violated, while the model is trained by these weights.

    Args:
        optimizer: changes the model's variables, and the state if there is no other one.
        constraint_optimizer: changes the state.
    """

    _STATE: ClassVar[str]

    def __init__(self, optimizer: Optimizer, constraint_optimizer: Optimizer | None = None) -> None:
        super().__init__(optimizer)
        self._constraint_optimizer = constraint_optimizer

    @property
    def constraint_optimizer(self) -> Optimizer | None:
        """What changes the state; the other optimizer when None."""
        return self._constraint_optimizer

    @abstractmethod
    def _initial_state(self, num_constraints: int) -> Tensor:
        """The state that training begins with, float32."""

    @abstractmethod
    def _payoff(self, state: Variable, objective: Tensor, constraints: Tensor, proxies: Tensor) -> Payoff:
        """What a state makes of the problem: `[]`, `[m]` and `[m]` of one dtype."""

    @abstractmethod
    def _projected(self, state: Variable) -> Tensor:
        """The state that is allowed and nearest to one that a step has given."""

    def _minimize_constrained(
        self, minimization_problem: ConstrainedMinimizationProblem, global_step: Variable | None = None,
        var_list: Iterable[Variable | Tensor] | None = None, gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False, name: str | None = None,
        grad_loss: TensorLike | None = None,
    ) -> Nest:  # fmt: skip
        objective, constraints, proxies = _tensors_of(minimization_problem)
        count = minimization_problem.num_constraints
        # A function, as the first state does not wait for what runs before a step.
        state = Variable(lambda: self._initial_state(count), trainable=False, name=self._STATE, use_resource=True)
        payoff = self._payoff(state, objective, reshape(constraints, [count]), reshape(proxies, [count]))
        pairs = self.optimizer.compute_gradients(
            payoff.loss, var_list=var_list, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss,
        )  # fmt: skip
        # TensorFlow transposes in the gradient of the weighed sum; later random nodes get their seeds by the count of nodes.
        get_default_graph().node_count.total += 2
        updates = self._updates(pairs, (neg(payoff.gradient), state))
        graph = get_default_graph()
        with graph.control_dependencies(updates):
            with graph.colocate_with(state.op):
                projected = self._projected(state)
                shown = assign(state, projected, name=name if global_step is None else "project")
            if global_step is None:
                return shown
            with graph.colocate_with(global_step.op):
                counted = assign_add(global_step, 1, name="global_step_increment")
            return group(shown, counted, name=name)

    def _updates(self, pairs: list[tuple[Nest, Nest]], of_state: tuple[Tensor, Variable]) -> list[Operation]:
        if self._constraint_optimizer is None:
            return [self.optimizer.apply_gradients([*pairs, of_state], name="update")]
        # Each of the two is to see the other as the step began.
        known = [gradient for gradient, _ in (*pairs, of_state) if gradient is not None]
        with get_default_graph().control_dependencies(known):
            return [
                self.optimizer.apply_gradients(pairs, name="update"),
                self._constraint_optimizer.apply_gradients([of_state], name="optimizer_state_update"),
            ]


def _tensors_of(problem: ConstrainedMinimizationProblem) -> tuple[Tensor, Tensor, Tensor]:
    objective, constraints = convert_to_tensor(problem.objective), convert_to_tensor(problem.constraints)
    given = problem.proxy_constraints
    proxies = constraints if given is None else convert_to_tensor(given)
    kinds = [each.dtype.base_dtype for each in (objective, constraints, proxies)]
    if len(set(kinds)) > 1:
        told = ", ".join(kind.name for kind in kinds)
        raise ValueError(
            f"objective, constraints and proxy_constraints must have the same dtype, found {told}: tf.cast gives it"
        )
    return objective, constraints, proxies
