"""Optimizer: what the optimizers of tf.keras share. Their hyperparameters are variables, so callbacks can change them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from weft.autodiff.gradients import gradients
from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.context import replication
from weft.framework.context.replication import Strategy
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.printed import printed
from weft.networks.config import Config, GivenConfig
from weft.networks.optimizers.schedules import deserialize_schedule
from weft.networks.optimizers.updates import Updates
from weft.ops.control_flow.ordering import group
from weft.strategies.reduction.reduce_op import ReduceOp


class Optimizer(Updates):
    """The base of the optimizers of tf.keras.

    Subclasses set hyperparameters in `__init__`, make slots in `create_slots`, and update one variable in `apply_dense` and
    `apply_sparse`; those that were written for TensorFlow 1.15 do so in `_create_slots`, `_resource_apply_dense` and
    `_resource_apply_sparse`.

    Args:
        name: the name of the operations.
        kwargs: `clipnorm`, the greatest norm of a gradient; `clipvalue`, the greatest magnitude of an element; `decay` of the
            learning rate by step; `lr`, another name of the learning rate.

    Raises:
        TypeError: unknown arguments.
        ValueError: a negative number.
    """

    __repr__ = printed("tf.keras.optimizers", lambda optimizer: optimizer.hypers.told())

    # The steps of training.

    def get_gradients(self, loss: Tensor, params: Sequence[VariableLike]) -> list[Nest]:
        """The gradients of a loss, clipped; ValueError when it does not depend on a variable.

        Args:
            loss: [] tensor.
            params: the variables.
        """
        with get_default_graph().name_scope(f"{self._name}/gradients"):
            found = gradients(loss, list(params))
        for each, var in zip(found, params, strict=True):
            if each is None:
                raise ValueError(
                    f"Variable {var} has `None` for gradient. Please make sure that all of your ops have a gradient defined "
                    "(i.e. are differentiable). Common ops without gradient: K.argmax, K.round, K.eval."
                )
        return [self._clips.applied(each) for each in found]

    def minimize(self, loss: Nest, var_list: Nest, grad_loss: TensorLike | None = None, name: str | None = None) -> Operation:
        """The operation that changes variables so that a loss, a tensor or a function that makes one, becomes smaller.

        Args:
            loss: a function without arguments that makes the loss, or the loss, a [] tensor.
            var_list: the variables, or a function that returns them.
            grad_loss: the gradient of the loss; 1 when None.
        """
        return self.apply_gradients(self._compute_gradients(loss, var_list, grad_loss), name)

    def get_updates(self, loss: Tensor, params: Sequence[VariableLike]) -> list[Nest]:
        """The operations of a training step.

        Args:
            loss: [] tensor.
            params: the variables.
        """
        pairs = list(zip(self.get_gradients(loss, params), params, strict=True))
        return [self._apply(pairs, None)]

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, VariableLike]], name: str | None = None) -> Operation:
        """The operation that applies gradients; ValueError when there is none.

        Args:
            grads_and_vars: (gradient, variable) pairs.
        """
        pairs = [(grad, var) for grad, var in grads_and_vars]
        wanted = [(grad, var) for grad, var in pairs if grad is not None]
        if not wanted:
            raise ValueError(f"No gradients provided for any variable: {[var.name for _, var in pairs]}.")
        return self._apply(wanted, name)

    def make_variables(self, var_list: Sequence[VariableLike]) -> None:
        """Make all variables that the optimizer keeps, in its name scope.

        Args:
            var_list: the variables that it is to change.
        """
        with get_default_graph().name_scope(self._name):
            _ = self.iterations
            self.hypers.make_variables()
            self._create_slots(var_list)

    def _apply(self, pairs: Sequence[tuple[Any, VariableLike]], name: str | None) -> Operation:
        with get_default_graph().name_scope(self._name) as scope:
            return self._apply_in(scope, pairs, name)

    def _apply_in(self, scope: str, pairs: Sequence[tuple[Nest, VariableLike]], name: str | None) -> Operation:
        mode = replication.current()
        if mode is not None and mode.replica is not None:
            merged: Operation = mode.replica.merge_call(self._apply_merged, args=(list(pairs), name))
            return merged
        variables = [var for _, var in pairs]
        graph = get_default_graph()
        for var in variables:
            if not hasattr(var, "handle"):
                raise TypeError(
                    f"{var.name}: the optimizers of tf.keras update resource variables. Make it with use_resource=True, or use "
                    "an optimizer of tf.train"
                )
        step = self.iterations
        self.hypers.make_variables()
        self._create_slots(variables)
        state = self._state_for(variables)
        updates: list[Nest] = []
        with graph.name_scope(name or self._name):
            for dtype in dict.fromkeys(var.dtype.base_dtype for var in variables):
                with graph.name_scope(scope):
                    self.prepare(dtype)
                updates += [self.update_of(grad, var, state) for grad, var in pairs if var.dtype.base_dtype == dtype]
            with graph.control_dependencies([group(*updates)]):
                counted: Operation = step.assign_add(1).op
        return counted

    def _apply_merged(self, strategy: Strategy, pairs: Sequence[tuple[Any, VariableLike]], name: str | None) -> Operation:
        """Apply the sums of the replicas' gradients to all copies of the variables."""
        extended, graph = strategy.extended, get_default_graph()
        variables = [var for _, var in pairs]
        step = self.iterations
        self.hypers.make_variables()
        self._create_slots(variables)

        def change(copy: VariableLike, grad: Nest) -> Nest:
            # Rates are read anew for each: from the variables of the copy's own device.
            self.prepare(copy.dtype.base_dtype)
            return self.update_of(grad, copy, self._state_for([copy]))

        with graph.name_scope(name or self._name):
            sums = extended.batch_reduce_to(ReduceOp.SUM, pairs)
            updates = [extended.update(var, change, args=(grad,)) for grad, var in zip(sums, variables, strict=True)]
            with graph.control_dependencies(updates):
                counted: Operation = extended.update(step, lambda copy: copy.assign_add(1, read_value=False))
        return counted

    # Configuration.

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        return {"name": self._name, **self._clips.limits}

    @classmethod
    def from_config(cls, config: GivenConfig, custom_objects: Mapping[str, object] | None = None) -> Self:
        """An optimizer of its config.

        Args:
            config: what `get_config` gave.
            custom_objects: classes and functions by the names that the config has.
        """
        given = dict(config)
        if "lr" in given:
            given["learning_rate"] = given.pop("lr")
        if isinstance(given.get("learning_rate"), Mapping):
            given["learning_rate"] = deserialize_schedule(given["learning_rate"])
        return cls(**given)
