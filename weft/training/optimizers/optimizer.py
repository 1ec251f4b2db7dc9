"""Optimizer: what all optimizers share, from gradients to the operation that applies them.

A concrete optimizer says which slots it keeps (`_create_slots`), which tensors its updates share (`_prepare`) and how
one variable is updated: by one rule for all cases (`_update_for`), or by a method for each (`_apply_dense`,
`_apply_sparse` and the two for resource variables), as programs that derive their own do.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from weft.autodiff.gradients import gradients
from weft.autodiff.stopping import explain_no_gradient
from weft.framework.building.aliases import DTypeLike, Initializer, ShapeLike, TensorLike, VariableLike
from weft.framework.context import replication
from weft.framework.context.replication import Strategy
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.replica_values import Value
from weft.ops.control_flow.init_scope import init_scope
from weft.ops.control_flow.ordering import group, tuple_of
from weft.ops.math.casting import cast
from weft.ops.state import reference_state as state
from weft.ops.training.repeated_rows import sum_distinct_rows
from weft.ops.training.update_rule import UpdateOps
from weft.ops.variables.resource_variable import ResourceVariable
from weft.ops.variables.variable import Variable
from weft.platform.hints.argument_checks import check_arguments
from weft.training.optimizers import slot_creator
from weft.training.optimizers.given import (
    check_loss,
    checked_gradient,
    differentiated,
    hyperparameter,
    loss_of,
    no_variables,
    variables_to_optimize,
)
from weft.training.optimizers.replicas import apply_in_replica, scaled_for_replicas, step_of_replicas

_F = TypeVar("_F", bound=Callable[..., Any])
# Calling the class makes an object of the kind wanted, with more arguments than the class itself takes.
_new_variable: Final[Any] = Variable


def sums_repeated_indices(method: _F) -> _F:
    """Mark an `_apply_sparse` method that takes slices whose indices repeat, so that nothing is summed before it."""
    method.sums_repeated_indices = True  # type: ignore[attr-defined]
    return method


@dataclass(frozen=True)
class Update:
    """One variable's update: the ops of its rule, its slots in their order, and the other arguments by name.

    `scalars` are brought to the variable's type; `others` are passed as they are, attributes too.
    """

    ops: UpdateOps
    slots: Sequence[Any] = ()
    scalars: Mapping[str, Any] = field(default_factory=dict)
    others: Mapping[str, Any] = field(default_factory=dict)
    gradient: str = "grad"


class Optimizer:
    """The base of optimizers.

    Args:
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.

    Raises:
        ValueError: the name is empty.
    """

    GATE_NONE: Final = 0
    GATE_OP: Final = 1
    GATE_GRAPH: Final = 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        check_arguments(Optimizer.__init__, name=name)
        self._use_locking = use_locking
        self._name = name
        self._slots: dict[str, dict[Any, Any]] = {}
        self._non_slot_dict: dict[Any, Any] = {}

    def __repr__(self) -> str:
        rate = getattr(self, "_lr", getattr(self, "_learning_rate", None))
        told = "" if rate is None else f" learning_rate={rate() if callable(rate) else rate!r}"
        return f"<tf.train.{type(self).__name__} {self._name!r}{told}>"

    def get_name(self) -> str:
        """The name given."""
        return self._name

    # From a loss to gradients.

    def minimize(
        self,
        loss: Tensor,
        global_step: Variable | None = None,
        var_list: Iterable[Variable | Tensor] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: TensorLike | None = None,
    ) -> Operation:
        """Add the operation that changes the variables so that `loss` becomes smaller.

        Args:
            loss: the tensor to minimize.
            global_step: a variable to add one to after the updates.
            var_list: the variables to change; all trainable ones when None.
            gate_gradients: GATE_NONE, GATE_OP or GATE_GRAPH.
            aggregation_method: see AggregationMethod.
            colocate_gradients_with_ops: put gradients beside the ops that they differentiate.
            name: the operation's name, the optimizer's by default.
            grad_loss: the gradient of the loss to start from, ones when None.

        Returns:
            The Operation; with `global_step`, that is one greater afterwards.

        Raises:
            ValueError: no variable is given or none has a gradient.
        """
        grads_and_vars = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if all(gradient is None for gradient, _ in grads_and_vars):
            names = [str(variable) for _, variable in grads_and_vars]
            reason = explain_no_gradient(loss, [differentiated(variable) for _, variable in grads_and_vars])
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {names} and loss {loss}. {reason}"
            )
        return self.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: Tensor,
        var_list: Iterable[Variable | Tensor] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: TensorLike | None = None,
    ) -> list[tuple[Any, Any]]:
        """The first part of `minimize`: a list of (gradient or None, variable).

        Args:
            loss: a scalar tensor, or a function without arguments that makes it.
            var_list: the variables; those of the graph's collection of trainable ones when None.
            gate_gradients: `GATE_NONE`, `GATE_OP` or `GATE_GRAPH`: how far gradients wait for each other before they are
                used.
            aggregation_method: how gradients of a variable that is used several times are added; one of
                `tf.AggregationMethod`.
            colocate_gradients_with_ops: whether a gradient is computed where the op is that it belongs to.
            grad_loss: the gradient of `loss` itself; ones when None.

        Raises:
            ValueError: there is no variable, or an argument is wrong.
            NotImplementedError: an item of `var_list` is neither variable nor tensor.
        """
        if callable(loss):
            loss, var_list = loss_of(loss, var_list)
        check_loss(loss)
        if gate_gradients not in (Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH.  Not "
                f"{gate_gradients}"
            )
        loss = scaled_for_replicas(loss)
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        variables = variables_to_optimize(var_list)
        targets = [differentiated(variable) for variable in variables]
        if not variables:
            raise ValueError(no_variables(var_list, loss))
        found = gradients(
            loss,
            targets,
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == Optimizer.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == Optimizer.GATE_GRAPH:
            found = tuple_of(found)
        grads_and_vars = list(zip(found, variables, strict=True))
        self._assert_valid_dtypes([v for g, v in grads_and_vars if g is not None and v.dtype is not dtypes.resource])
        return grads_and_vars

    # From gradients to updates.

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Tensor | IndexedSlices | None, VariableLike]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> Operation:
        """The second part of `minimize`: the operation that applies (gradient, variable) pairs.

        Args:
            grads_and_vars: pairs; a gradient may be a tensor, an IndexedSlices or None.
            global_step: a variable to add one to after the updates.
            name: the operation's name, the optimizer's by default.

        Raises:
            TypeError: a gradient is none of these.
            ValueError: there is no pair, or no gradient.
            RuntimeError: it is called in the scope of a strategy, and no replica is being built.
        """
        given = list(grads_and_vars)
        wrong = next((pair for pair in given if not isinstance(pair, list | tuple) or len(pair) != 2), None)
        if wrong is not None:
            raise TypeError(
                f"grads_and_vars must be pairs (gradient, variable), such as zip(gradients, variables); one of them is "
                f"{wrong!r}."
            )
        if global_step is not None and not isinstance(global_step, Variable | Tensor):
            raise TypeError(
                f"global_step must be a variable, such as tf.train.get_or_create_global_step(), got {global_step!r} of type "
                f"{type(global_step).__name__!r}."
            )
        if replication.current() is not None:
            together: Operation = apply_in_replica(self._distributed_apply, given, global_step, name)
            return together
        pairs: list[tuple[Any, Any]] = [(checked_gradient(gradient, variable), variable) for gradient, variable in given]
        if not pairs:
            raise ValueError(
                "No variables provided. grads_and_vars is empty: of a zip that was gone through before nothing is left, "
                "list(zip(gradients, variables)) keeps the pairs."
            )
        for _, variable in pairs:
            differentiated(variable)
        wanted = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
        if not wanted:
            raise ValueError(
                f"No gradients provided for any variable: {[str(v) for _, v in pairs]}. None stands for no gradient: the loss "
                "that was differentiated does not depend on the variable."
            )
        default = get_default_graph()
        # In a branch or loop body the updates are part of it; slots are made outside in any case.
        graph = default if (is_inside := default.building_function or default.runs_eagerly) else wanted[0][1].graph
        with graph.as_default():
            with init_scope():
                self._create_slots([variable for _, variable in wanted])
            with graph.name_scope(name or self._name) as scope:
                self._prepare()
                applied = self._apply_all(wanted, global_step, scope)
        train_ops = graph.get_collection_ref(GraphKeys.TRAIN_OP)
        if applied not in train_ops and not is_inside:
            train_ops.append(applied)
        return applied

    def _apply_all(
        self, wanted: Sequence[tuple[object, object]], global_step: Variable | Tensor | None, scope: str
    ) -> Operation:
        graph = get_default_graph()
        updates = self._update_all(wanted)
        if global_step is None:
            return _operation(self._finish(updates, scope))
        with graph.control_dependencies([self._finish(updates, "update")]), graph.colocate_with(global_step):
            if isinstance(global_step, ResourceVariable):
                return _operation(global_step.assign_add(1, name=scope, read_value=False))
            return _operation(state.assign_add(global_step, 1, name=scope))

    def _distributed_apply(
        self, distribution: Strategy, grads_and_vars: Value, global_step: VariableLike = None, name: str | None = None
    ) -> Value:
        """Apply the sums of all replicas' gradients to each copy of the variables; called once for all replicas."""
        pairs = list(grads_and_vars)
        variables = [variable for _, variable in pairs]
        extended, graph = distribution.extended, get_default_graph()
        reduced = extended.batch_reduce_to("sum", pairs)
        with init_scope():
            self._create_slots(variables)

        def update(variable: VariableLike, gradient: Value) -> Value:
            with graph.name_scope(f"update_{variable.op.name}"):
                return self._update(checked_gradient(gradient), variable)

        with graph.name_scope(name or self._name) as scope:
            self._prepare()
            updates = [
                done
                for gradient, variable in zip(reduced, variables, strict=True)
                for done in extended.update(variable, update, args=(gradient,), group=False)
            ]
            devices = extended.non_slot_devices(variables)
            finish = extended.update_non_slot(devices, lambda: self._finish(updates, "update"), group=False)
            applied = step_of_replicas(distribution, finish, global_step, scope)
        train_ops = graph.get_collection_ref(GraphKeys.TRAIN_OP)
        if not any(applied is each for each in train_ops):
            train_ops.append(applied)
        return applied

    def _update_all(self, wanted: Sequence[tuple[Any, Any]]) -> list[Any]:
        """The nodes that update the variables of these (gradient, variable) pairs."""
        graph = get_default_graph()
        updates = []
        for gradient, variable in wanted:
            with graph.name_scope(f"update_{variable.op.name}"), graph.colocate_with(variable):
                updates.append(self._update(gradient, variable))
        return updates

    def _update(self, gradient: Tensor | IndexedSlices, variable: Any) -> Any:
        """The node that updates one variable, and then applies its constraint."""
        if isinstance(variable, Tensor):
            raise NotImplementedError(
                f"Trying to update a Tensor: {described(variable)}. Variables are updated: give var_list those that it is "
                "computed from; pairs are (gradient, variable), in this order."
            )
        is_resource = isinstance(variable, ResourceVariable)
        if isinstance(gradient, IndexedSlices):
            if variable.constraint is not None:
                raise RuntimeError("Cannot use a constraint function on a sparse variable.")
            if is_resource:
                return self._resource_apply_sparse_duplicate_indices(gradient.values, variable, gradient.indices)
            return self._apply_sparse_duplicate_indices(gradient, variable)
        update = (self._resource_apply_dense if is_resource else self._apply_dense)(gradient, variable)
        if variable.constraint is None:
            return update
        with get_default_graph().control_dependencies([update]):
            # The value after the update, so a new read of it.
            return variable.assign(variable.constraint(variable.read_value()))

    # What concrete optimizers say.

    def _valid_dtypes(self) -> set[dtypes.DType]:
        """The types that losses, variables and gradients may have."""
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        """Make the slots that the variables need."""

    def _prepare(self) -> None:
        """Make the tensors that the updates share; called inside the name scope of the updates."""

    def _update_for(self, var: Variable) -> Update:
        """How to update `var`, whatever its kind and its gradient's."""
        raise NotImplementedError

    def _apply_dense(self, grad: Tensor, var: Variable) -> Any:
        return self._add_update(self._update_for(var), var, grad)

    def _resource_apply_dense(self, grad: Tensor, handle: Variable) -> Any:
        return self._add_update(self._update_for(handle), handle, grad)

    @sums_repeated_indices
    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        return self._add_update(self._update_for(var), var, grad.values, grad.indices)

    @sums_repeated_indices
    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Any:
        return self._add_update(self._update_for(handle), handle, grad, indices)

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Variable) -> Any:
        """Apply slices whose indices may repeat: the slices of one index are summed before `_apply_sparse`."""
        if not hasattr(self._apply_sparse, "sums_repeated_indices"):
            values, indices = sum_distinct_rows(grad.values, grad.indices)
            grad = IndexedSlices(values, indices, grad.dense_shape)
        return self._apply_sparse(grad, var)

    def _resource_apply_sparse_duplicate_indices(self, grad: Tensor, handle: Variable, indices: Tensor) -> Any:
        """The same for a resource variable, before `_resource_apply_sparse`."""
        if not hasattr(self._resource_apply_sparse, "sums_repeated_indices"):
            grad, indices = sum_distinct_rows(grad, indices)
        return self._resource_apply_sparse(grad, handle, indices)

    def _finish(self, update_ops: Sequence[Operation | Tensor], name_scope: str) -> Operation:
        """The operation that is done when all updates are."""
        return group(*update_ops, name=name_scope)

    def _add_update(self, update: Update, var: Any, grad: Tensor, indices: Tensor | None = None) -> Operation:
        """Add the node of a rule that fits the variable's kind and the gradient's."""
        ops = update.ops
        is_resource = isinstance(var, ResourceVariable)
        variables = [each.reference for each in (var, *update.slots)]
        dtype = var.dtype.base_dtype
        arguments = {key: cast(value, dtype) for key, value in update.scalars.items()}
        arguments.update(update.others, use_locking=self._use_locking)
        if indices is None:
            node = ops.resource_dense if is_resource else ops.dense
            return _operation(node(*variables, **arguments, **{update.gradient: grad}))
        node = ops.resource_sparse if is_resource else ops.sparse
        get_default_graph().node_count.total += 7  # TensorFlow sums the rows of one index first: later seeds go by the count.
        return _operation(node(*variables, **arguments, grad=grad, indices=indices))

    def _call_if_callable(self, param: object) -> Any:
        """A hyperparameter's value, from the function that gives it if it is one."""
        if not callable(param):
            return param
        try:
            return param()
        except TypeError as error:
            name = getattr(param, "__name__", repr(param))
            raise TypeError(
                f"{error}. A hyperparameter of {self.get_name()!r} is the function {name}, which is called without arguments: "
                f"give what {name}(...) returns, or a lambda: {name}(...)."
            ) from error

    def _hyperparameter(self, value: object, name: str) -> Tensor:
        """The tensor of a hyperparameter."""
        return hyperparameter(self._call_if_callable(value), name, self)

    def _assert_valid_dtypes(self, tensors: Sequence[Any]) -> None:
        """Raise ValueError for a tensor of a type that is not optimized."""
        valid = self._valid_dtypes()
        for tensor in tensors:
            dtype = tensor.dtype.base_dtype
            if dtype not in valid:
                raise ValueError(
                    f"Invalid type {dtype!r} for {tensor.name}, expected: {list(valid)}. Convert it by tf.cast(x, tf.float32)."
                )

    # Slots and other variables.

    def get_slot(self, var: Variable, name: str) -> VariableLike:
        """The slot `name` of a variable, None when there is none.

        Args:
            var: a variable that was given to `apply_gradients` or `minimize`.
        """
        return self._slots.get(name, {}).get(_key_of(var))

    def get_slot_names(self) -> list[str]:
        """The names of the slots that were made, sorted."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """The optimizer's own variables in the default graph, by name."""
        graph = get_default_graph()
        own = [*self._non_slot_variables(), *(slot for slots in self._slots.values() for slot in slots.values())]
        return sorted((each for each in own if each.graph is graph), key=lambda each: each.name)

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """What checkpoints of objects save: the optimizer's own variables in the default graph; slots belong to theirs."""
        graph = get_default_graph()
        named = ((variable.op.name.rpartition("/")[2], variable) for variable in self._non_slot_variables())
        return sorted(((name, variable) for name, variable in named if variable.graph is graph), key=lambda each: each[0])

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var: Variable, val: Tensor, slot_name: str, op_name: str) -> Any:
        """The slot of a variable, made with the initial value `val` when there is none."""
        return _found_or_made(self._slot_dict(slot_name), var, lambda: slot_creator.create_slot(var, val, op_name))

    def _get_or_make_slot_with_initializer(
        self, var: Variable, initializer: Initializer | Tensor, shape: ShapeLike, dtype: DTypeLike, slot_name: str, op_name: str
    ) -> Any:
        """The slot of a variable, made by an initializer when there is none."""
        make = functools.partial(slot_creator.create_slot_with_initializer, var, initializer, shape, dtype, op_name)
        return _found_or_made(self._slot_dict(slot_name), var, make)

    def _zeros_slot(self, var: Variable, slot_name: str, op_name: str) -> Any:
        """The slot of a variable, made of zeros when there is none."""
        return _found_or_made(self._slot_dict(slot_name), var, lambda: slot_creator.create_zeros_slot(var, op_name))

    def _create_non_slot_variable(self, initial_value: object, name: str, colocate_with: Any) -> Any:
        """A variable of the optimizer itself beside another one, one of each name per graph."""
        key = (name, _scope_of(colocate_with.graph))
        if key not in self._non_slot_dict:
            with slot_creator.variables_beside(colocate_with):
                self._non_slot_dict[key] = _new_variable(
                    initial_value,
                    name=name,
                    trainable=False,
                    use_resource=isinstance(colocate_with, ResourceVariable),
                )
        return self._non_slot_dict[key]

    def _get_non_slot_variable(self, name: str, graph: Graph | None = None) -> Any:
        return self._non_slot_dict.get((name, _scope_of(graph)))

    def _non_slot_variables(self) -> list[Any]:
        return list(self._non_slot_dict.values())


def _operation(item: Any) -> Operation:
    operation: Operation = item if isinstance(item, Operation) else item.op
    return operation


def _key_of(variable: Any) -> Any:
    """What tells variables apart; the copies that replicas have of one variable are one."""
    whole = getattr(variable, "distributed_container", None)
    primary = variable if whole is None else whole()
    return primary.graph, primary.shared_name if isinstance(primary, Variable) else primary.op.name


def _found_or_made(slots: dict[Any, Any], variable: Variable, make: Callable[[], Any]) -> Any:
    if (key := _key_of(variable)) not in slots:
        slots[key] = make()
    return slots[key]


def _scope_of(graph: Graph | None) -> Graph | None:
    """What stands for a graph: None for those of the calls of a `tf.py_function`, which share their variables."""
    return None if graph is not None and graph.runs_eagerly else graph
