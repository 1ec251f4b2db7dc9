"""Optimizer: what the optimizers of tf.keras share. Their hyperparameters are variables, so callbacks can change them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Self

import numpy as np

from weft.autodiff.gradients import gradients
from weft.framework import dtypes
from weft.framework.aliases import Array, Nest, TensorLike, VariableLike
from weft.framework.dtypes import DType
from weft.framework.graph import get_default_graph
from weft.framework.indexed_slices import IndexedSlices
from weft.framework.operation import Operation, Tensor
from weft.framework.tensor_conversion import convert_to_tensor
from weft.networks.config import Config, GivenConfig, Hyperparameter, Options
from weft.networks.optimizers.schedules import LearningRateSchedule, deserialize_schedule, serialize_schedule
from weft.networks.state.graph_state import track_variable
from weft.networks.state.sessions import batch_get_value, batch_set_value
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros
from weft.ops.array.identity import identity
from weft.ops.control_flow.init_scope import init_scope
from weft.ops.control_flow.ordering import group
from weft.ops.math.casting import cast
from weft.ops.math.clip import clip_by_norm, clip_by_value
from weft.ops.variables.variable import Variable

_new_variable: Final[Callable[..., VariableLike]] = Variable
_CLIPS: Final = frozenset(("clipnorm", "clipvalue"))


class Optimizer:
    """The base of the optimizers of tf.keras.

    Subclasses set hyperparameters in `__init__`, make slots in `create_slots`, and update one variable in `apply_dense` and
    `apply_sparse`.

    Args:
        name: the name of the operations.
        kwargs: `clipnorm`, the greatest norm of a gradient; `clipvalue`, the greatest magnitude of an element; `decay` of the
            learning rate by step; `lr`, another name of the learning rate.
    """

    def __init__(self, name: str, **kwargs: Options) -> None:
        object.__setattr__(self, "_hyper", {})
        object.__setattr__(self, "_hyper_variables", {})
        for key, value in kwargs.items():
            if key not in _CLIPS | {"lr", "decay"}:
                raise TypeError(f"Unexpected keyword argument passed to optimizer: {key}")
            if value is not None and value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        self._name = name
        self._clips = {key: value for key, value in kwargs.items() if key in _CLIPS and value is not None}
        self._initial_decay = kwargs.get("decay", 0.0) or 0.0
        self._iterations: VariableLike = None
        self._slots: dict[tuple[Any, str, str], VariableLike] = {}
        self._weights: list[VariableLike] = []
        self.set_hyper("decay", self._initial_decay)

    # Hyperparameters.

    def set_hyper(self, name: str, value: Hyperparameter) -> None:
        """Give a hyperparameter a value: a number, a tensor, a schedule, or a function of nothing."""
        variable = self._hyper_variables.get(name)
        if variable is not None and not callable(value):
            batch_set_value([(variable, np.asarray(value))])
        else:
            self._hyper[name] = value

    def __getattr__(self, name: str) -> Nest:
        hyper = self.__dict__.get("_hyper", {})
        known = "learning_rate" if name == "lr" else name
        if known in hyper:
            return self.hyper(known)
        if name in _CLIPS and name in self.__dict__.get("_clips", {}):
            return self._clips[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Hyperparameter) -> None:
        known = "learning_rate" if name == "lr" else name
        if known in self.__dict__.get("_hyper", {}):
            self.set_hyper(known, value)
        else:
            object.__setattr__(self, name, value)

    def hyper(self, name: str) -> Nest:
        """A hyperparameter: its variable, which is made now if need be, or the tensor or schedule that it was set to."""
        value = self._hyper[name]
        if isinstance(value, Tensor | LearningRateSchedule) or callable(value):
            return value
        if not self._hyper_variables:
            self._make_hypers()
        return self._hyper_variables[name]

    def _make_hypers(self) -> None:
        for name in sorted(self._hyper):
            value = self._hyper[name]
            if not isinstance(value, Tensor) and not callable(value):
                self._hyper_variables[name] = self._weight(name, float(value))

    def _weight(self, name: str, value: float, kind: Any = dtypes.float32) -> VariableLike:
        with init_scope():
            made = _new_variable(
                lambda: constant(value, kind, name="initial_value"), name=name, trainable=False, use_resource=True
            )
        track_variable(made)
        return made

    def value_of(self, name: str, dtype: DType) -> Tensor:
        """A hyperparameter as a tensor."""
        given = self._hyper[name]
        value = given() if callable(given) and not isinstance(given, LearningRateSchedule) else self.hyper(name)
        return cast(identity(convert_to_tensor(value)), dtype)

    def decayed_rate(self, dtype: DType) -> Tensor:
        """The learning rate at this step."""
        rate = self._hyper["learning_rate"]
        step = cast(convert_to_tensor(self.iterations), dtype)
        current = cast(rate(step), dtype) if isinstance(rate, LearningRateSchedule) else self.value_of("learning_rate", dtype)
        if self._initial_decay > 0:
            current = current / (1.0 + self.value_of("decay", dtype) * step)
        return current

    @property
    def iterations(self) -> VariableLike:
        """The variable that counts the steps."""
        if self._iterations is None:
            self._iterations = self._weight("iter", 0, dtypes.int64)
            self._weights.append(self._iterations)
        return self._iterations

    @iterations.setter
    def iterations(self, variable: VariableLike) -> None:
        if self._iterations is not None:
            raise RuntimeError("Cannot set `iterations` to a new Variable after the Optimizer weights have been created")
        self._iterations = variable
        self._weights.append(variable)

    # Slots.

    def add_slot(self, var: VariableLike, slot_name: str, value: float = 0.0) -> VariableLike:
        """Make a variable beside another, of its shape and type."""
        key = (var.graph, var.op.name, slot_name)
        if key not in self._slots:
            shape, kind = var.shape.as_list(), var.dtype.base_dtype
            with init_scope(), get_default_graph().colocate_with(var.op):
                made = _new_variable(
                    lambda: zeros(shape, kind) if not value else constant(value, kind, shape),
                    name=f"{var.op.name}/{slot_name}", trainable=False, use_resource=True,
                )  # fmt: skip
            track_variable(made)
            self._slots[key] = made
            self._weights.append(made)
        return self._slots[key]

    def get_slot(self, var: VariableLike, slot_name: str) -> VariableLike:
        """The slot of a variable; KeyError when there is none."""
        return self._slots[var.graph, var.op.name, slot_name]

    def get_slot_names(self) -> list[str]:
        """The names of the slots that were made."""
        return list(dict.fromkeys(name for _, _, name in self._slots))

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """What checkpoints of objects save: the count of steps and the hyperparameters; slots belong to their variables."""
        count = [] if self._iterations is None else [("iter", self._iterations)]
        return [*count, *self._hyper_variables.items()]

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the slots of variables."""

    def prepare(self, dtype: DType) -> None:
        """Make the tensors that all updates share."""

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update of a variable by a gradient."""
        raise NotImplementedError(f"{type(self).__name__} has no dense update")

    def apply_sparse(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Nest:
        """The update of a variable by the gradient of some rows: by default that of the whole."""
        return self.apply_dense(convert_to_tensor(IndexedSlices(grad, indices, _shape_tensor(var))), var)

    # The steps of training.

    def get_gradients(self, loss: Tensor, params: Sequence[VariableLike]) -> list[Nest]:
        """The gradients of a loss, clipped; ValueError when it does not depend on a variable."""
        with get_default_graph().name_scope("gradients"):
            found = gradients(loss, list(params))
        for each, var in zip(found, params, strict=True):
            if each is None:
                raise ValueError(
                    f"Variable {var} has `None` for gradient. Please make sure that all of your ops have a gradient defined "
                    "(i.e. are differentiable). Common ops without gradient: K.argmax, K.round, K.eval."
                )
        return [self._clipped(each) for each in found]

    def _clipped(self, grad: Nest) -> Nest:
        for key, function in (("clipnorm", _by_norm), ("clipvalue", _by_value)):
            if key in self._clips:
                grad = function(grad, self._clips[key])
        return grad

    def minimize(self, loss: Nest, var_list: Nest, grad_loss: TensorLike | None = None, name: str | None = None) -> Operation:
        """The operation that changes variables so that a loss, a tensor or a function that makes one, becomes smaller."""
        value = loss() if callable(loss) else loss
        given = var_list() if callable(var_list) else var_list
        variables = list(given) if isinstance(given, list | tuple) else [given]
        found = gradients(value, variables, grad_ys=grad_loss)
        return self.apply_gradients([(self._clipped(g), v) for g, v in zip(found, variables, strict=True)], name)

    def get_updates(self, loss: Tensor, params: Sequence[VariableLike]) -> list[Nest]:
        """The operations of a training step."""
        pairs = list(zip(self.get_gradients(loss, params), params, strict=True))
        return [self._apply(pairs, None)]

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, VariableLike]], name: str | None = None) -> Operation:
        """The operation that applies gradients; ValueError when there is none."""
        pairs = [(grad, var) for grad, var in grads_and_vars]
        wanted = [(grad, var) for grad, var in pairs if grad is not None]
        if not wanted:
            raise ValueError(f"No gradients provided for any variable: {[var.name for _, var in pairs]}.")
        with get_default_graph().name_scope(name or self._name):
            return self._apply(wanted, name)

    def _apply(self, pairs: Sequence[tuple[Any, VariableLike]], name: str | None) -> Operation:
        variables = [var for _, var in pairs]
        graph = get_default_graph()
        for var in variables:
            if not hasattr(var, "handle"):
                raise TypeError(
                    f"{var.name}: the optimizers of tf.keras update resource variables. Make it with use_resource=True, or use "
                    "an optimizer of tf.train"
                )
        step = self.iterations
        if not self._hyper_variables:
            self._make_hypers()
        self.create_slots(variables)
        self.prepare(variables[0].dtype.base_dtype)
        with graph.name_scope(name or self._name):
            updates = [self._update(grad, var) for grad, var in pairs]
            with graph.control_dependencies([group(*updates)]):
                counted: Operation = step.assign_add(1).op
        return counted

    def _update(self, grad: Nest, var: VariableLike) -> Nest:
        graph = get_default_graph()
        with graph.name_scope(f"update_{var.op.name}"), graph.colocate_with(var.op):
            if isinstance(grad, IndexedSlices):
                made = self.apply_sparse(convert_to_tensor(grad.values), var, convert_to_tensor(grad.indices))
            else:
                made = self.apply_dense(grad, var)
            if var.constraint is None:
                return made
            with graph.control_dependencies([made]):
                return var.assign(var.constraint(var.read_value())).op

    # Values and configuration.

    @property
    def weights(self) -> list[VariableLike]:
        """The count of steps and the slots, in the order in which they were made."""
        return self._weights

    def variables(self) -> list[VariableLike]:
        """The count of steps and the slots."""
        return self._weights

    def get_weights(self) -> list[Array]:
        """The values of these."""
        return batch_get_value(self._weights)

    def set_weights(self, weights: Sequence[Array]) -> None:
        """Give these values; ValueError when number or shapes differ."""
        if len(self._weights) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {self._name} with a  weight list of length "
                f"{len(weights)}, but "
                f"the optimizer was expecting {len(self._weights)} weights. Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(self._weights, weights, strict=True):
            if tuple(variable.shape.as_list()) != np.shape(value):
                raise ValueError(
                    f"Optimizer weight shape {tuple(variable.shape.as_list())} not compatible with provided weight shape "
                    f"{np.shape(value)}"
                )
        batch_set_value(list(zip(self._weights, weights, strict=True)))

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        return {"name": self._name, **self._clips}

    def plain_hyper(self, name: str) -> Nest:
        """A hyperparameter as plain data: its value now, or the config of a schedule."""
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return serialize_schedule(value)
        variable = self._hyper_variables.get(name)
        if variable is not None:
            return float(batch_get_value([variable])[0])
        return value() if callable(value) else value

    @classmethod
    def from_config(cls, config: GivenConfig, custom_objects: Mapping[str, object] | None = None) -> Self:
        """An optimizer of its config."""
        given = dict(config)
        if "lr" in given:
            given["learning_rate"] = given.pop("lr")
        if isinstance(given.get("learning_rate"), Mapping):
            given["learning_rate"] = deserialize_schedule(given["learning_rate"])
        return cls(**given)


def _shape_tensor(var: VariableLike) -> Tensor:
    return constant(np.asarray(var.shape.as_list(), np.int64))


def _by_norm(grad: Nest, limit: float) -> Nest:
    return clip_by_norm(grad, limit)


def _by_value(grad: Nest, limit: float) -> Nest:
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(clip_by_value(grad.values, -limit, limit), grad.indices, grad.dense_shape)
    return clip_by_value(grad, -limit, limit)
