"""Optimizer: what the optimizers of tf.keras share. Their hyperparameters are variables, so callbacks can change them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from weft.autodiff.gradients import gradients
from weft.framework import dtypes, replication
from weft.framework.aliases import Array, Nest, TensorLike, VariableLike
from weft.framework.dtypes import DType
from weft.framework.graph import get_default_graph
from weft.framework.indexed_slices import IndexedSlices
from weft.framework.operation import Operation, Tensor
from weft.framework.printed import printed
from weft.framework.replication import Strategy
from weft.framework.tensor_conversion import convert_to_tensor
from weft.networks.config import Config, GivenConfig, Hyperparameter, Options
from weft.networks.optimizers.clipping import CLIPS, GradientClips
from weft.networks.optimizers.hyperparameters import Hyperparameters, scalar_variable
from weft.networks.optimizers.schedules import deserialize_schedule
from weft.networks.optimizers.slots import Slots
from weft.networks.optimizers.subclassing import Subclassable
from weft.ops.array.constant import constant
from weft.ops.control_flow.ordering import group
from weft.platform.spelling import did_you_mean
from weft.strategies.reduction.reduce_op import ReduceOp


class Optimizer(Subclassable):
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

    def __init__(self, name: str, **kwargs: Options) -> None:
        object.__setattr__(self, "hypers", Hyperparameters())
        for key, value in kwargs.items():
            if key not in (*CLIPS, "lr", "decay"):
                taken = [each for each in inspect.signature(type(self)).parameters if each != "kwargs"] + [
                    *CLIPS,
                    "lr",
                    "decay",
                ]
                raise TypeError(
                    f"Unexpected keyword argument passed to optimizer: {key}. {type(self).__name__} takes {', '.join(taken)}."
                    f"{did_you_mean(key, taken)}"
                )
            if value is not None and value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        self._name = name
        self._clips = GradientClips(kwargs)
        self._iterations: VariableLike = None
        self.slots = Slots()
        decay = kwargs.get("decay", 0.0) or 0.0
        self._decays = decay > 0
        self._initial_decay = decay
        self.hypers.set("decay", decay)

    def __getattr__(self, name: str) -> Nest:
        hypers = self.__dict__.get("hypers", ())
        known = "learning_rate" if name == "lr" else name
        if known in hypers:
            return self.hypers.get(known)
        if name in CLIPS and name in self._clips.limits:
            return self._clips.limits[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Hyperparameter) -> None:
        known = "learning_rate" if name == "lr" else name
        if known in self.__dict__.get("hypers", ()):
            self.hypers.set(known, value)
        else:
            object.__setattr__(self, name, value)

    def decayed_rate(self, dtype: DType) -> Tensor:
        """The learning rate at this step.

        Args:
            dtype: the type of the result.
        """
        rate: Tensor = self.hypers.decayed_rate(dtype, self.iterations, self._decays)
        return rate

    @property
    def iterations(self) -> VariableLike:
        """The variable that counts the steps."""
        if self._iterations is None:
            self._iterations = scalar_variable("iter", 0, dtypes.int64)
            self.slots.keep(self._iterations)
        return self._iterations

    @iterations.setter
    def iterations(self, variable: VariableLike) -> None:
        if self._iterations is not None:
            raise RuntimeError("Cannot set `iterations` to a new Variable after the Optimizer weights have been created")
        self._iterations = variable
        self.slots.keep(variable)

    def get_slot(self, var: VariableLike, slot_name: str) -> VariableLike:
        """The slot of a variable; KeyError when there is none.

        Args:
            var: the variable.
            slot_name: the slot's name.
        """
        return self.slots.get(var, slot_name)

    def get_slot_names(self) -> list[str]:
        """The names of the slots that were made."""
        return self.slots.names()

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """What checkpoints of objects save: the count of steps and the hyperparameters; slots belong to their variables."""
        count = [] if self._iterations is None else [("iter", self._iterations)]
        return [*count, *self.hypers.variables.items()]

    # What subclasses write.

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the slots of variables.

        Args:
            var_list: the variables.
        """

    def prepare(self, dtype: DType) -> None:
        """Make the tensors that all updates share.

        Args:
            dtype: the variables' type.
        """

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update of a variable by a gradient.

        Args:
            grad: the gradient, a tensor.
            var: the variable.
        """
        raise NotImplementedError(f"{type(self).__name__} has no dense update")

    def apply_sparse(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Nest:
        """The update of a variable by the gradient of some rows: by default that of the whole.

        Args:
            grad: `[n, ...]` tensor: the gradient's rows.
            var: the variable.
            indices: [n] int: which rows of the variable they are of.
        """
        return self.apply_dense(convert_to_tensor(IndexedSlices(grad, indices, _shape_tensor(var))), var)

    # The steps of training.

    def get_gradients(self, loss: Tensor, params: Sequence[VariableLike]) -> list[Nest]:
        """The gradients of a loss, clipped; ValueError when it does not depend on a variable.

        Args:
            loss: [] tensor.
            params: the variables.
        """
        with get_default_graph().name_scope("gradients"):
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
        with get_default_graph().name_scope(name or self._name):
            return self._apply(wanted, name)

    def _apply(self, pairs: Sequence[tuple[Any, VariableLike]], name: str | None) -> Operation:
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
        self.prepare(variables[0].dtype.base_dtype)
        with graph.name_scope(name or self._name):
            state = self._state_for(variables)
            updates = [self.update_of(grad, var, state) for grad, var in pairs]
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

    # Values and configuration.

    @property
    def weights(self) -> list[VariableLike]:
        """The count of steps and the slots, in the order in which they were made."""
        return self.slots.variables

    def variables(self) -> list[VariableLike]:
        """The count of steps and the slots."""
        return self.slots.variables

    def get_weights(self) -> list[Array]:
        """The values of these."""
        return self.slots.values()

    def set_weights(self, weights: Sequence[Array]) -> None:
        """Give these values; ValueError when number or shapes differ.

        Args:
            weights: arrays, in the order of `weights`.
        """
        self.slots.set_values(weights, self._name)

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


def _shape_tensor(var: VariableLike) -> Tensor:
    return constant(np.asarray(var.shape.as_list(), np.int64))
