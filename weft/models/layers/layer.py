"""Layer: what tf.layers' classes share. A layer makes its variables at its first call and uses them at every further one."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import cast

from weft.framework.building.aliases import (
    Activation,
    Constraint,
    DTypeLike,
    Initializer,
    Nest,
    Partitioner,
    Regularizer,
    VariableLike,
)
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.node_errors import naming
from weft.framework.nodes.operation import Tensor
from weft.framework.rank_remedies import UNKNOWN_RANK, rank_remedy
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.printed import printed, told_size
from weft.framework.types.tensor_shape import TensorShape
from weft.framework.types.value_types import OrNone
from weft.models.layers.effects import Effects
from weft.models.layers.input_spec import check_inputs
from weft.models.layers.layer_names import snake_case, unique_name
from weft.models.layers.named_objects import activation_of, named
from weft.models.layers.scope_argument import scope_argument
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.math.casting import cast as to_dtype
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.options import VariableAggregation, VariableSynchronization
from weft.ops.variables.scopes import ScopeLike, VariableScope, default_variable_store
from weft.ops.variables.variable_scope import variable_scope
from weft.ops.variables.variable_store import Reuse
from weft.translation.calls import call


class Layer(Effects):
    """A function of tensors with variables of its own.

    Subclasses make variables in `build(input_shape)` with `add_weight` and compute in `call(inputs)`. Those that say nothing
    of their inputs' rank may take lists and dicts of tensors; `build` then has the shapes in the same structure.

    Args:
        trainable: whether the variables are to be trained.
        name: the variable scope; the class's name in snake case, made unique, when None.
        dtype: the variables' type; that of the first inputs when None.
        activity_regularizer: a function of the outputs whose value is a regularization loss.
        scope, _scope: a variable scope or its name to put the variables in as it is.
        reuse, _reuse: whether they exist already in that scope.
    """

    __repr__ = printed("tf.layers", told_size)

    # Whether the first layer of a class has a name without a number.
    _first_has_no_number = False

    def __init__(
        self, trainable: bool = True, name: str | None = None, dtype: DTypeLike | None = None,
        activity_regularizer: Regularizer | None = None, scope: ScopeLike = None, reuse: Reuse = None, *,
        _scope: ScopeLike = None, _reuse: Reuse = None,
    ) -> None:  # fmt: skip
        super().__init__()
        # A subclass's own setter is for who sets it later.
        self._trainable = trainable
        self.activity_regularizer: Regularizer | None = named("regularizer", activity_regularizer)
        self.built = False
        # None until the first call's inputs tell it.
        self._dtype: DType | OrNone = None if dtype is None else dtypes.as_dtype(dtype)
        self._base_name = name or snake_case(type(self).__name__)
        self._name = name or unique_name(self._base_name, zero_based=self._first_has_no_number)
        self._given_scope = (_scope if scope is None else scope) or None
        self._reuse = _reuse if reuse is None else reuse
        self._scope: VariableScope | None = None

    @property
    def trainable(self) -> bool:
        """Whether its variables are trained."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value

    # What subclasses write.

    def build(self, input_shape: TensorShape) -> None:
        """Make the variables, knowing the shape of the first inputs.

        Args:
            input_shape: the inputs' shape; of lists and dicts of inputs the same structure of shapes.
        """
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """The outputs.

        Args:
            inputs: a tensor, the first dimension of which is the batch.
        """
        raise NotImplementedError(f"{type(self).__name__} has no call method")

    # What the inputs must be: of that rank, of that rank at least, and as wide along that axis as the first ones.
    input_rank: int | None = None
    least_input_rank: int | None = None
    input_axis: tuple[int, int] | None = None
    # The same as Keras says it, for subclasses.
    input_spec: Nest = None
    supports_masking = stateful = False

    # What they use.

    def add_weight(
        self, name: str, shape: Sequence[int | None], dtype: DTypeLike | None = None,
        initializer: Initializer | None = None, regularizer: Regularizer | None = None, trainable: bool | None = None,
        constraint: Constraint | None = None, use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE, partitioner: Partitioner | None = None,
    ) -> VariableLike:  # fmt: skip
        """Make or find a variable in the layer's scope.

        Args:
            shape: its shape.
            dtype: its type; the layer's when None.
            initializer: makes its first value; the scope's default when None.
            regularizer: a function of it that gives a loss, which goes into REGULARIZATION_LOSSES.
            trainable: whether optimizers train it; when None, unless `synchronization` is ON_READ.
            constraint: a function of its new value after an optimizer's update.
            use_resource: whether it is a resource variable; as the scope says when None.
            synchronization, aggregation: how its copies in replicas are kept and put together; see `tf.get_variable`.
            partitioner: a function of shape and dtype that gives the number of parts along each dimension.

        Returns:
            The variable.
        """
        wanted = synchronization is not VariableSynchronization.ON_READ if trainable is None else trainable
        use_resource = use_resource or self.makes_resource_variables or None
        is_trained = self.trainable and wanted
        store = default_variable_store()
        existing = len(store.variables)
        with self._in_scope():
            made = get_variable(
                name, list(shape), self._dtype if dtype is None else dtype, initializer, None, is_trained,
                constraint=constraint, partitioner=partitioner, use_resource=use_resource, synchronization=synchronization,
                aggregation=aggregation,
            )  # fmt: skip
        self.note_variable(made, is_trained)
        if regularizer and len(store.variables) > existing:
            self.add_penalty(name, made, regularizer, self._scope)
        return made

    def add_variable(self, *args: Nest, **kwargs: Nest) -> VariableLike:
        """See `add_weight`, which it calls.

        Args:
            args, kwargs: those of `add_weight`.

        Returns:
            The variable.
        """
        return self.add_weight(*args, **kwargs)

    def compute_output_shape(self, input_shape: Nest) -> TensorShape:
        """The shape of the outputs for a shape of inputs; subclasses say it.

        Args:
            input_shape: the inputs' shape.

        Raises:
            NotImplementedError: the class does not say it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no compute_output_shape method")

    # What programs use.

    def __call__(self, inputs: Nest, *args: object, **kwargs: object) -> Tensor:
        """The outputs for these inputs; the first call makes the variables.

        Args:
            inputs: a tensor, or what makes one; for layers that take several a list or dict of them.
            args: further arguments of `call`, by position.
            kwargs: the same by name; and `scope`, a variable scope or its name, in which the first call makes the variables
                unless the layer was given one. A `call` that has an argument of that name gets the layer's scope.
        """
        scope = cast("ScopeLike", kwargs.pop("scope", None))
        if self._scope is None and not self._given_scope:
            self._given_scope = scope
        if not isinstance(inputs, Tensor):
            inputs = self._converted(inputs)
        with self._in_scope() as entered, naming(inputs=inputs):
            self.check_inputs(inputs)
            if self._dtype is None:
                self._dtype = next((each.dtype.base_dtype for each in nest.flatten(inputs)), None)
            with get_default_graph().name_scope(entered.original_name_scope):
                if not self.built:
                    self.build(nest.map_structure(lambda each: each.shape, inputs))
                    self.built = True
                outputs: Tensor = call(self.call, (inputs, *args), kwargs | scope_argument(self.call, entered))
                self._penalize(outputs)
        self.note_call(inputs, outputs)
        return outputs

    apply = __call__

    def _penalize(self, outputs: Nest) -> None:
        """Add the activities' penalty as a mean over the batch, which is the first dimension."""
        if self.activity_regularizer is None:
            return
        with get_default_graph().name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                penalty = self.activity_regularizer(output)
                if penalty is not None:
                    self.add_loss(penalty / to_dtype(shape_of(output)[0], penalty.dtype))

    def _converted(self, inputs: Nest) -> Nest:
        """Tensors for what is none, in the structure of the inputs where there are several tensors."""
        given = nest.flatten(inputs) if isinstance(inputs, list | tuple | dict) else ()
        if not any(isinstance(each, Tensor) for each in given):
            return convert_to_tensor(inputs)
        if self.input_rank is not None or self.least_input_rank is not None:
            self._check_one(inputs, given)
            return convert_to_tensor(inputs)
        return nest.map_structure(convert_to_tensor, inputs)

    def _check_one(self, inputs: object, given: Sequence[object]) -> None:
        """Raise ValueError for several tensors, which would be stacked to one."""
        count = sum(isinstance(each, Tensor) for each in given)
        if count < 2 or any(isinstance(each, Tensor) and not each.dims for each in given):
            return
        fields = getattr(inputs, "_fields", ())
        meant = "h of an LSTM's state is its output" if "h" in fields else "take one of them"
        parts = f" It has the parts {', '.join(fields)}: {meant}." if fields else ""
        raise ValueError(
            f"Layer {self.name} expects 1 inputs, but it received {count} input tensors. Inputs received: {list(given)!r}."
            f"{parts} tf.concat(inputs, -1) joins tensors, such as the outputs of both directions."
        )

    def check_inputs(self, inputs: Nest) -> None:
        """Raise ValueError for inputs whose rank, or whose width once the variables are made, does not fit.

        Args:
            inputs: what the layer was called with.
        """
        check_inputs(self.input_spec, inputs, self.name)
        if not isinstance(inputs, Tensor):
            return
        prefix = f"Input 0 of layer {self.name} is incompatible with the layer: "
        rank, exact, least = inputs.shape.ndims, self.input_rank, self.least_input_rank
        if rank is None:
            if exact is not None or least is not None:
                raise ValueError(f"{prefix}its rank is undefined, but the layer requires a defined rank. {UNKNOWN_RANK}")
            return
        shape = inputs.shape.as_list()
        if exact is not None and rank != exact:
            raise ValueError(
                f"{prefix}expected ndim={exact}, found ndim={rank}. Full shape received: {shape}{rank_remedy(exact, rank)}"
            )
        if least is not None and rank < least:
            remedy = rank_remedy(least, rank)
            raise ValueError(f"{prefix}: expected min_ndim={least}, found ndim={rank}. Full shape received: {shape}{remedy}")
        if self.input_axis is not None and shape[self.input_axis[0]] not in (None, self.input_axis[1]):
            raise ValueError(
                f"{prefix}expected axis {self.input_axis[0]} of input shape to have value {self.input_axis[1]} but received "
                f"input with shape {shape}"
            )

    @contextlib.contextmanager
    def _in_scope(self) -> Iterator[VariableScope]:
        """The layer's variable scope, which the first use makes."""
        if self._scope is None:
            self._scope = self._open()
        is_shared = True if self.built else self._reuse
        with variable_scope(self._scope, reuse=is_shared, auxiliary_name_scope=False):
            yield self._scope

    def _open(self) -> VariableScope:
        if self._reuse:
            with variable_scope(self._given_scope or self._base_name, reuse=self._reuse) as scope:
                return scope
        with variable_scope(self._given_scope, default_name=self._base_name) as scope:
            return scope

    @property
    def name(self) -> str:
        """The layer's name: the one given, else of its class, with a number. The scope of its variables may have another."""
        return self._name

    @property
    def scope_name(self) -> str:
        """The name of the variable scope; ValueError before the first call."""
        if self._scope is None:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" has not been used yet. '
                "The scope name  is determined the first time the layer instance is called. "
                "You must therefore call the layer before querying `scope_name`."
            )
        return self._scope.name

    @property
    def dtype(self) -> str | None:
        """The type of the variables' name, or None before the first call."""
        return None if self._dtype is None else self._dtype.name

    @property
    def variables(self) -> list[VariableLike]:
        """All variables."""
        return [*self.trainable_variables, *self.non_trainable_variables]

    weights = variables

    @property
    def trainable_variables(self) -> list[VariableLike]:
        """The variables that are trained: none if the layer is frozen."""
        return list(self._trainable_weights) if self.trainable else []

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self) -> list[VariableLike]:
        """The variables that are not trained: all if the layer is frozen."""
        frozen = [] if self.trainable else self._trainable_weights
        return [*frozen, *self._non_trainable_weights]

    non_trainable_weights = non_trainable_variables

    def count_params(self) -> int:
        """How many numbers the variables hold; ValueError before the first call."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You can build it manually via: "
                f"`{self.name}.build(batch_input_shape)`."
            )
        return sum(math.prod(variable.shape.as_list()) for variable in self.variables)

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """What checkpoints of objects save: the variables by the names that they were made with."""
        scope = "" if self._scope is None else f"{self._scope.name}/"
        return [(variable.op.name.removeprefix(scope), variable) for variable in self.variables]

    def get_config(self) -> dict[str, object]:
        """The name, whether it is trained and the type, as Keras' layers have them."""
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}


def activated(activation: Activation | None, outputs: Tensor) -> Tensor:
    """The outputs through the activation function, or that of a name as Keras has them, if there is one."""
    function = activation_of(activation)
    return outputs if function is None else function(outputs)
