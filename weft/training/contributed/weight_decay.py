"""Weight decay beside the gradient's step, not in the gradient (Loshchilov and Hutter, 2019)."""

from __future__ import annotations

from collections.abc import Iterable

from weft.framework.building.aliases import Nest, NumberLike, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.gather_scatter import gather
from weft.ops.control_flow.ordering import no_op
from weft.ops.variables.variable import Variable
from weft.training.contributed.pairs import Pairs
from weft.training.optimizers.adam import AdamOptimizer
from weft.training.optimizers.momentum import MomentumOptimizer
from weft.training.optimizers.optimizer import Optimizer


class DecoupledWeightDecayExtension:
    """Put before an optimizer among a class's bases: before each update the variable loses `weight_decay` times itself.

    Of a variable with a sparse gradient only the rows that this names decay.

    Args:
        weight_decay: a number, a tensor, or a function that returns one.
        kwargs: the optimizer's arguments.
    """

    def __init__(self, weight_decay: TensorLike, **kwargs: Nest) -> None:
        self._decay_var_list: set[VariableLike] | None = None
        self._weight_decay = weight_decay
        self._weight_decay_tensor: Nest = None
        super().__init__(**kwargs)

    def minimize(
        self, loss: Tensor, *args: Nest, decay_var_list: Iterable[Variable] | None = None, **kwargs: Nest
    ) -> Operation:
        """See Optimizer.minimize.

        Args:
            loss: the scalar to make small.
            args, kwargs: the further arguments of `Optimizer.minimize`.
            decay_var_list: the variables that decay; all when None.

        Returns:
            The Operation that decays the variables and changes them.
        """
        self._decay_var_list = set(decay_var_list) if decay_var_list else None
        done: Operation = Optimizer.minimize(self, loss, *args, **kwargs)  # type: ignore[arg-type]
        return done

    def apply_gradients(
        self, grads_and_vars: Pairs, global_step: Variable | None = None, name: str | None = None,
        decay_var_list: Iterable[Variable] | None = None,
    ) -> Operation:  # fmt: skip
        """See Optimizer.apply_gradients.

        Args:
            grads_and_vars: pairs of a gradient and its variable.
            global_step: a variable that is counted up after the update.
            decay_var_list: the variables that decay; all when None.

        Returns:
            The Operation that decays the variables and changes them.
        """
        if decay_var_list:
            self._decay_var_list = set(decay_var_list)
        applied: Operation = super().apply_gradients(grads_and_vars, global_step=global_step, name=name)  # type: ignore[misc]
        return applied

    def _prepare(self) -> None:
        weight_decay = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        self._weight_decay_tensor = convert_to_tensor(weight_decay, name="weight_decay")
        super()._prepare()  # type: ignore[misc]

    def _decayed_weights(self, var: VariableLike, indices: Tensor | None = None) -> Nest:
        if self._decay_var_list is not None and var not in self._decay_var_list:
            return no_op()
        if indices is None:
            return var.assign_sub(self._weight_decay_tensor * var)
        return var.scatter_sub(IndexedSlices(self._weight_decay_tensor * gather(var, indices), indices))

    def _apply_dense(self, grad: Tensor, var: Variable) -> Nest:
        with get_default_graph().control_dependencies([self._decayed_weights(var)]):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _resource_apply_dense(self, grad: Tensor, handle: Variable) -> Nest:
        with get_default_graph().control_dependencies([self._decayed_weights(handle)]):
            return super()._resource_apply_dense(grad, handle)  # type: ignore[misc]

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Nest:
        with get_default_graph().control_dependencies([self._decayed_weights(var, grad.indices)]):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Nest:
        with get_default_graph().control_dependencies([self._decayed_weights(handle, indices)]):
            return super()._resource_apply_sparse(grad, handle, indices)  # type: ignore[misc]


def extend_with_decoupled_weight_decay(base_optimizer: type[Optimizer]) -> type[Optimizer]:
    """The class of an optimizer with weight decay: its first argument is the decay, the others are those of the base.

    Args:
        base_optimizer: a subclass of Optimizer.
    """

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):  # type: ignore[misc, valid-type]
        """The optimizer with weight decay."""

        def __init__(self, weight_decay: TensorLike, *args: Nest, **kwargs: Nest) -> None:
            self._decay_var_list = None
            self._weight_decay = weight_decay
            base_optimizer.__init__(self, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Gradient descent with momentum, whose weight decay is apart from the gradient (Loshchilov and Hutter, 2017).

    `minimize` and `apply_gradients` take a `decay_var_list`: the variables that decay, all of them when None.

    Args:
        weight_decay: a number, a tensor, or a function that returns one: the share of itself that a variable loses before
            each update.
        learning_rate, momentum: numbers, tensors, or functions that return them.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.
        use_nesterov: whether the gradient counts as that of the point to which the momentum leads.
    """

    def __init__(
        self, weight_decay: TensorLike, learning_rate: NumberLike, momentum: TensorLike, use_locking: bool = False,
        name: str = "MomentumW", use_nesterov: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            weight_decay, learning_rate=learning_rate, momentum=momentum, use_locking=use_locking, name=name,
            use_nesterov=use_nesterov,
        )  # fmt: skip


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """Adam whose weight decay is apart from the gradient (Loshchilov and Hutter, 2017).

    `minimize` and `apply_gradients` take a `decay_var_list`: the variables that decay, all of them when None.

    Args:
        weight_decay: a number, a tensor, or a function that returns one: the share of itself that a variable loses before
            each update.
        learning_rate: a number, a tensor, or a function that returns one.
        beta1, beta2: the decay rates, below 1, of the averages of gradients and of their squares; numbers, tensors, or
            functions that return them.
        epsilon: a small number that is added to the root of the squares' average.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.
    """

    def __init__(
        self, weight_decay: TensorLike, learning_rate: NumberLike = 0.001, beta1: object = 0.9, beta2: object = 0.999,
        epsilon: TensorLike = 1e-8, use_locking: bool = False, name: str = "AdamW",
    ) -> None:  # fmt: skip
        super().__init__(
            weight_decay, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon, use_locking=use_locking,
            name=name,
        )  # fmt: skip
