"""LayerState: the variables, losses, updates and metrics of a layer, found by what it holds."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from weft.framework.building.aliases import Array, DTypeLike, Nest, Partitioner, Regularizer, ShapeLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor, is_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import as_dims
from weft.networks.config import Options
from weft.networks.engine.held_parts import HeldParts, parts_in
from weft.networks.objects import constraints, initializers, regularizers
from weft.networks.state.defaults import floatx
from weft.networks.state.graph_state import track_variable
from weft.networks.state.sessions import batch_get_value, batch_set_value
from weft.ops.variables.options import VariableAggregation, VariableSynchronization
from weft.ops.variables.variable import Variable


class _AddedMetric(NamedTuple):
    value: Nest
    name: str


class _AddedWeight(NamedTuple):
    variable: VariableLike
    name: str


class LayerState(HeldParts):
    """The variables, losses, updates and metrics of a layer and of the parts that it holds."""

    def _start(self) -> None:
        """Begin with nothing; called once, by the constructor."""
        self._hold_parts()
        # Layers and wrappers of programs' own add to the two lists, and read them.
        self._trainable_weights: list[VariableLike] = []
        self._non_trainable_weights: list[VariableLike] = []
        self._added_weights: tuple[_AddedWeight, ...] = ()
        self._added_updates: tuple[Any, ...] = ()
        self._added_losses: tuple[Any, ...] = ()
        self._added_metrics: tuple[Any, ...] = ()

    # Variables.

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """What checkpoints of objects save: weights by the names that they were made with, and what attributes hold."""
        named: dict[str, object] = {each.name: each.variable for each in self._added_weights}
        for name, value in self._parts.items():
            if any(True for _ in parts_in(value)):
                named.setdefault(name, value)
        return list(named.items())

    def _held_variables(self, trained: bool) -> list[VariableLike]:
        listed = [*self._trainable_weights, *self._non_trainable_weights]
        own = [*(self._trainable_weights if trained else self._non_trainable_weights)]
        for value in self._parts.values():
            for each in parts_in(value):
                if isinstance(each, Variable) and each.trainable == trained and not _is_in(each, listed):
                    own.append(each)
        return own

    @property
    def trainable_weights(self) -> list[VariableLike]:
        """The variables that are trained: none if the layer is frozen."""
        if not self.trainable:
            return []
        return distinct([*self._held_variables(True), *self._from_inner("trainable_weights")])

    @property
    def non_trainable_weights(self) -> list[VariableLike]:
        """The variables that are not trained: all if the layer is frozen."""
        frozen = [*self._held_variables(False), *self._from_inner("non_trainable_weights")]
        if self.trainable:
            return distinct(frozen)
        return distinct([*self._held_variables(True), *self._from_inner("weights"), *frozen])

    @property
    def weights(self) -> list[VariableLike]:
        """All variables, the trained ones first."""
        return distinct([*self.trainable_weights, *self.non_trainable_weights])

    @property
    def trainable_variables(self) -> list[VariableLike]:
        """See `trainable_weights`."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[VariableLike]:
        """See `non_trainable_weights`."""
        return self.non_trainable_weights

    @property
    def variables(self) -> list[VariableLike]:
        """See `weights`."""
        return self.weights

    # What a layer adds.

    def add_weight(  # type: ignore[override]  # Keras has its arguments in this order, tf.layers in another.
        self, name: str | None = None, shape: ShapeLike = None, dtype: DTypeLike | None = None, initializer: Nest = None,
        regularizer: Nest = None, trainable: bool | None = None, constraint: Nest = None,
        partitioner: Partitioner | None = None, use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE, **kwargs: Options,
    ) -> VariableLike:  # fmt: skip
        """Make a variable of the layer.

        Args:
            name: its name below the layer's name scope.
            shape: its shape; a scalar when None.
            dtype: its type; the layer's, else the default type of floats, when None.
            initializer: an initializer, its name or config; Glorot's uniform for floats and zeros for others when None.
            regularizer: a penalty that is one of the layer's losses.
            trainable: whether it is trained; true when None.
            constraint: a projection after each update.
            partitioner: ignored, as in TensorFlow's layers of Keras.
            use_resource: whether it is a resource variable; true when None.
            synchronization, aggregation: recorded in the variable.
            kwargs: `collections` for the variable; `getter` and `experimental_autocast` are taken and without effect.

        Raises:
            TypeError: there is another argument.
            ValueError: a variable that is trained has a synchronization of ON_READ.
        """
        for unknown in set(kwargs) - {"getter", "collections", "experimental_autocast"}:
            raise TypeError("Unknown keyword argument:", unknown)
        kind = dtypes.as_dtype(dtype or self.dtype or floatx()).base_dtype
        if self._dtype is None:
            self._dtype = kind
        maker = initializers.get(initializer) or _default_initializer(name, kind, self.name)
        if isinstance(maker, type):
            maker = maker()
        sizes = list(as_dims(() if shape is None else shape) or ())
        is_trained = trainable if trainable is not None else synchronization != VariableSynchronization.ON_READ
        if trainable and synchronization == VariableSynchronization.ON_READ:
            raise ValueError("Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable "
                             "variables. You have specified trainable=True and "
                             "synchronization=VariableSynchronization.ON_READ.")  # fmt: skip
        made: VariableLike = _new_variable(
            functools.partial(maker, sizes, dtype=kind), name=name, dtype=kind, trainable=is_trained,
            constraint=constraints.get(constraint), use_resource=use_resource is not False,
            collections=kwargs.get("collections"), synchronization=synchronization, aggregation=aggregation,
            validate_shape=None not in sizes,
        )  # fmt: skip
        track_variable(made)
        (self._trainable_weights if is_trained else self._non_trainable_weights).append(made)
        self._added_weights += (_AddedWeight(made, name or made.op.name.rpartition("/")[2]),)
        penalty = regularizers.get(regularizer)
        if penalty is not None:
            self.add_loss(functools.partial(_penalty, penalty, made, made.op.name))
        return made

    def add_variable(self, *args: Options, **kwargs: Options) -> VariableLike:
        """See `add_weight`.

        Args:
            args, kwargs: those of `add_weight`.
        """
        return self.add_weight(*args, **kwargs)

    def add_update(self, updates: Nest, inputs: object = None) -> None:
        """Add operations that training must run, or functions that make them."""
        made = [each() if callable(each) else each for each in _as_list(updates)]
        self._added_updates += tuple(each for each in made if each is not None)

    def add_loss(self, losses: Nest, inputs: object = None) -> None:
        """Add losses: scalar tensors, or functions that make them whenever `losses` is asked for; else a TypeError."""
        self._added_losses += tuple(
            each if each is None or callable(each) or is_tensor(each) else convert_to_tensor(each, dtype=floatx())
            for each in _as_list(losses)
        )

    def add_metric(self, value: Nest, aggregation: str | None = None, name: str | None = None) -> None:
        """Report the mean of a tensor over batches, or the value of a metric that was called, with the model's metrics.

        Args:
            value: a tensor, or what calling a metric gave.
            aggregation: "mean" for a tensor, None for a metric's value.

        Raises:
            ValueError: the aggregation is another one, or there is no name.
        """
        if aggregation not in (None, "mean"):
            raise ValueError(
                f"We currently support only `mean` sample-wise metric aggregation. You provided aggregation=`{aggregation}`"
            )
        if aggregation is None or name is None:
            raise ValueError("add_metric: name the metric and give aggregation='mean', so that batches can be put together")
        self._added_metrics += (_AddedMetric(value, name),)

    @property
    def updates(self) -> list[Nest]:
        """The operations that training must run; none if the layer is frozen."""
        if not self.trainable and not getattr(self, "stateful", False):
            return []
        inner = (layer for layer in self._inner_layers() if not getattr(layer, "gathers_values", False))
        return [*self._added_updates, *(each for layer in inner for each in layer.updates)]

    @property
    def losses(self) -> list[Nest]:
        """The losses of the layer and of those in it."""
        tensors = [each for each in self._added_losses if not callable(each)]
        own = [*tensors, *(each() for each in self._added_losses if callable(each))]
        return [*(each for each in own if each is not None), *self._from_inner("losses")]

    @property
    def metrics(self) -> list[Nest]:
        """The metrics that the layer and those in it hold."""
        return [each for layer in self._inner_layers() for each in getattr(layer, "metrics", ())]

    def added_metrics(self) -> list[_AddedMetric]:
        """What `add_metric` was given, here and in the layers within."""
        inner = [each for layer in self._inner_layers() if isinstance(layer, LayerState) for each in layer.added_metrics()]
        return [*self._added_metrics, *inner]

    # Values.

    def get_weights(self) -> list[Array]:
        """The values of all variables."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: Sequence[Array]) -> None:
        """Give all variables values, in their order; ValueError when number or shapes differ.

        Args:
            weights: an array for each variable, in the order of `weights`.
        """
        variables = self.weights
        if len(variables) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of length {len(weights)}, but '
                f"the layer was expecting {len(variables)} weights. Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(variables, weights, strict=True):
            if tuple(variable.shape.as_list()) != value.shape:
                raise ValueError(
                    f"Layer weight shape {variable.shape} not compatible with provided weight shape {value.shape}, "
                    f"of {variable.op.name!r}"
                )
        batch_set_value(list(zip(variables, weights, strict=True)))

    def count_params(self) -> int:
        """How many numbers the variables hold; ValueError before they are made."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You can build it manually via: "
                f"`{self.name}.build(batch_input_shape)`."
            )
        return sum(int(each.shape.num_elements() or 0) for each in self.weights)


# Calling the class makes an object of the kind wanted, with more arguments than the class itself takes.
_new_variable: Final[Callable[..., VariableLike]] = Variable


def _penalty(regularizer: Regularizer, variable: VariableLike, name: str) -> Tensor | None:
    with get_default_graph().name_scope(f"{name}/Regularizer"):
        return regularizer(variable)


def _default_initializer(name: str | None, kind: dtypes.DType, layer: str) -> Nest:
    if kind.is_floating:
        return initializers.get("glorot_uniform")
    if kind.is_integer or kind.is_unsigned or kind.is_bool:
        return initializers.get("zeros")
    raise ValueError(f"An initializer for variable {name} of type {kind} is required for layer {layer}")


def _as_list(value: Nest) -> list[Nest]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _is_in(variable: VariableLike, variables: Sequence[VariableLike]) -> bool:
    return any(each is variable for each in variables)


def distinct(variables: Sequence[VariableLike]) -> list[VariableLike]:
    """The variables, each once, by identity."""
    seen: dict[int, VariableLike] = {id(each): each for each in variables}
    return list(seen.values())
