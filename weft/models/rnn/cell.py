"""RNNCell: what makes one time step of a recurrent network, and the state that goes from step to step.

A cell makes its variables at its first call, in a variable scope of its own under the one it is called in, and uses
them again afterwards.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from weft.framework.building.aliases import (
    Constraint,
    DTypeLike,
    Initializer,
    Nest,
    Partitioner,
    Regularizer,
    ShapeLike,
    SizeLike,
    VariableLike,
)
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dimension import Dimension
from weft.framework.types.dtypes import DType
from weft.framework.types.printed import printed, told_size
from weft.framework.types.tensor_shape import TensorShape
from weft.framework.types.value_types import OrNone
from weft.models.layers.effects import Effects
from weft.models.layers.layer_names import snake_case, unique_name
from weft.models.layers.scope_argument import scope_argument
from weft.models.rnn.state_fit import misfit
from weft.ops.array.filling import zeros
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.options import VariableAggregation, VariableSynchronization
from weft.ops.variables.scopes import ScopeLike, VariableScope, default_variable_store
from weft.ops.variables.variable_scope import variable_scope
from weft.platform.hints.spelling import did_you_mean

WEIGHTS_NAME = "kernel"
BIAS_NAME = "bias"


class RNNCell(Effects):
    """A function `(inputs, state) -> (output, new state)` with variables; the base of all cells.

    A subclass gives `state_size` and `output_size`, and either `call` (which runs in the cell's own variable scope, after
    `build` with the shape of the inputs) or, as older programs do, `__call__`.

    Args:
        trainable: whether the variables are trainable.
        name: the name of the cell's variable scope; made of the class's name when None.
        dtype: the type of the variables; that of the inputs when None.
        kwargs: `_reuse`, whether the variables exist already, which cells hand on.

    Raises:
        TypeError: there are other arguments.
    """

    __repr__ = printed("tf.contrib.rnn", told_size)
    # Of a cell whose variables have the type of its inputs.
    _takes_floats = False

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: DTypeLike | None = None, **kwargs: Any) -> None:
        self._reuse = kwargs.pop("_reuse", None)
        if kwargs:
            kind = type(self)
            taken = [each for each in inspect.signature(kind).parameters if each != "kwargs"]
            meant = did_you_mean(min(kwargs), taken)
            raise TypeError(f"{kind.__name__}: unknown arguments {sorted(kwargs)}. It takes {', '.join(taken)}.{meant}")
        super().__init__()
        self.trainable = trainable
        self._base_name = name or snake_case(type(self).__name__)
        self._name = name or unique_name(self._base_name)
        self._dtype: DType | OrNone = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        self._variable_scope: Any = None
        self._first_values: Callable[[str], Initializer] | None = None
        self.built = False

    @property
    def name(self) -> str:
        """The cell's name: the one given, else of its class, with a number. The scope of its variables has none."""
        return self._name

    @property
    def dtype(self) -> DType | OrNone:
        """The type of the variables; None before the first call when it was not given."""
        return self._dtype

    @property
    def state_size(self) -> Nest:
        """The sizes of the state: an integer, a TensorShape, or a nested tuple of them."""
        raise NotImplementedError(f"{type(self).__name__} has no state_size")

    @property
    def output_size(self) -> Nest:
        """The size of the output: an integer or a TensorShape."""
        raise NotImplementedError(f"{type(self).__name__} has no output_size")

    @property
    def variables(self) -> list[VariableLike]:
        """The variables that the cell has made."""
        return [*self._trainable_weights, *self._non_trainable_weights]

    weights = variables

    @property
    def trainable_variables(self) -> list[VariableLike]:
        """The variables that are trained."""
        return list(self._trainable_weights) if self.trainable else []

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self) -> list[VariableLike]:
        """The variables that are not trained."""
        frozen = [] if self.trainable else self._trainable_weights
        return [*frozen, *self._non_trainable_weights]

    non_trainable_weights = non_trainable_variables

    def __call__(self, inputs: Nest, state: Nest, scope: ScopeLike = None) -> Nest:
        """The output and the new state of one step.

        Args:
            inputs: `[batch, input size]`.
            state: the state of the step before, in the structure of `state_size`.
            scope: the variable scope, at the first call; one of the cell's own when None.
        """
        if self._variable_scope is None:
            self._open_scope(scope)
        with (
            variable_scope(self._variable_scope, reuse=self.built or self._reuse, auxiliary_name_scope=False) as entered,
            get_default_graph().name_scope(entered.original_name_scope),
        ):
            inputs = nest.map_structure(convert_to_tensor, inputs)
            if not self.built:
                if self._dtype is None:
                    self._dtype = nest.flatten(inputs)[0].dtype.base_dtype
                if self._takes_floats:
                    self._check_floats(inputs)
                self.build(nest.map_structure(lambda tensor: tensor.shape, inputs))
                self.built = True
            try:
                outputs = self.call(inputs, state, **scope_argument(self.call, entered))
            except (TypeError, ValueError) as error:
                told = misfit(self.name, self.state_size, state)
                if told and f"The state of {self.name!r} " not in str(error):
                    raise type(error)(told) from None
                raise
        self.note_call(inputs, outputs)
        return outputs

    def _check_floats(self, inputs: Nest) -> None:
        dtype, first = self._dtype, nest.flatten(inputs)[0]
        if dtype is not None and not (dtype.is_floating or dtype.is_complex):
            raise ValueError(
                f"RNN cell only supports floating point inputs, but saw dtype: {dtype}. The inputs of {self._name!r} are "
                f"{first!r}: word numbers become vectors by tf.nn.embedding_lookup, other numbers floats by tf.cast."
            )

    def _open_scope(self, scope: ScopeLike) -> None:
        name = self._base_name if scope is None and self._reuse else scope
        with variable_scope(name, default_name=self._base_name) as opened:
            self._variable_scope = opened

    def build(self, inputs_shape: Nest) -> None:
        """Make the variables unless they are there; the first call does it.

        Args:
            inputs_shape: the shape of one step's inputs, `[batch, depth]`.
        """
        if self.built:
            return
        if self._dtype is None:
            self._dtype = dtypes.float32
        if self._variable_scope is None:
            self._open_scope(None)
            with variable_scope(self._variable_scope, auxiliary_name_scope=False):
                self._make_variables(inputs_shape)
        else:
            self._make_variables(inputs_shape)
        # A cell around others, or one that makes its variables in `call`, makes them at the first call.
        self.built = bool(self.variables)

    def _make_variables(self, inputs_shape: Nest) -> None:
        """What `build` does in the scope of the variables."""

    def build_in(
        self,
        scope: VariableScope,
        inputs_shape: Nest,
        dtype: DTypeLike,
        first_values: Callable[[str], Initializer] | None = None,
    ) -> None:
        """Make the variables before any call, in a scope, maybe from initializers by their names in place of the cell's own.

        Args:
            scope: the scope of the variables.
            inputs_shape: the shape of a step's inputs, `[batch, depth]`.
            dtype: the variables' type.
            first_values: gives the initializer of a variable for its name; those of the cell when None.
        """
        self._variable_scope, self._dtype = scope, dtypes.as_dtype(dtype).base_dtype
        self._first_values = first_values
        with variable_scope(scope, reuse=self._reuse, auxiliary_name_scope=False):
            self.build(inputs_shape)
        self.built = True

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """The output and the new state of one step.

        Args:
            inputs: `[batch, depth]` tensor: one step's inputs.
            state: the state before, in the structure of `state_size`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no call")

    def add_weight(
        self, name: str, shape: Sequence[Any], dtype: DTypeLike | None = None, initializer: Initializer | None = None,
        regularizer: Regularizer | None = None, trainable: bool | None = None, constraint: Constraint | None = None,
        use_resource: bool | None = None, synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE, partitioner: Partitioner | None = None,
    ) -> VariableLike:  # fmt: skip
        """Make a variable of the cell.

        Args:
            shape: its shape.
            dtype: its type; the cell's when None.
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
        if self._first_values is not None:
            initializer = self._first_values(name)
        wanted = synchronization is not VariableSynchronization.ON_READ if trainable is None else trainable
        use_resource = use_resource or self.makes_resource_variables or None
        store = default_variable_store()
        existing = len(store.variables)
        variable = get_variable(
            name, shape, self._dtype if dtype is None else dtype, initializer, None, self.trainable and wanted,
            constraint=constraint, partitioner=partitioner, use_resource=use_resource, synchronization=synchronization,
            aggregation=aggregation,
        )  # fmt: skip
        self.note_variable(variable, self.trainable and wanted)
        if regularizer and len(store.variables) > existing:
            self.add_penalty(name, variable, regularizer, self._variable_scope)
        return variable

    def add_variable(self, *args: Nest, **kwargs: Nest) -> VariableLike:
        """See `add_weight`, which it calls.

        Args:
            args, kwargs: those of `add_weight`.

        Returns:
            The variable.
        """
        return self.add_weight(*args, **kwargs)

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """What checkpoints of objects save: the variables by the names that they were made with."""
        scope = "" if self._variable_scope is None else f"{self._variable_scope.name}/"
        return [(variable.op.name.removeprefix(scope), variable) for variable in self.variables]

    def zero_state(self, batch_size: SizeLike, dtype: DTypeLike) -> Nest:
        """The state of zeros, in the structure of `state_size`, for a batch of a size.

        Args:
            batch_size: [] int32, or an int.
            dtype: the type of the state.
        """
        with get_default_graph().name_scope(type(self).__name__ + "ZeroState"):
            return zero_state_tensors(self.state_size, batch_size, dtype)

    def get_initial_state(
        self, inputs: Nest = None, batch_size: SizeLike | None = None, dtype: DTypeLike | None = None
    ) -> Nest:
        """The state of zeros, for the batch and type of `inputs` (batch first) or those given.

        Args:
            inputs: a step's inputs, `[batch, ...]`; batch and type are theirs.
            batch_size: the batch, where there are no inputs.
            dtype: the type, where there are no inputs.

        Raises:
            ValueError: there are neither inputs nor both of the others, or they contradict each other.
        """
        if inputs is not None:
            tensor = convert_to_tensor(inputs, name="inputs")
            _check_agreement(tensor, batch_size, dtype)
            if batch_size is None:
                batch_size = batch_size_of(tensor, axis=0)
            dtype = tensor.dtype if dtype is None else dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                f"batch_size and dtype cannot be None while constructing initial state: batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)


def _check_agreement(inputs: Tensor, batch_size: SizeLike | None, dtype: DTypeLike | None) -> None:
    own = None if inputs.dims is None else inputs.dims[0]
    known = constant_value(batch_size) if isinstance(batch_size, Tensor) else batch_size
    if batch_size is not None and known != own:
        raise ValueError(
            "batch size from input tensor is different from the input param. "
            f"Input tensor batch: {own}, batch_size: {batch_size}. Leave batch_size out: it is the inputs'."
        )
    if dtype is not None and dtypes.as_dtype(dtype) != inputs.dtype:
        raise ValueError(
            "dtype from input tensor is different from the input param. "
            f"Input tensor dtype: {inputs.dtype!r}, dtype: {dtypes.as_dtype(dtype)!r}. Leave dtype out: it is the inputs'."
        )


# Cells that make their variables in `build`, as all of weft's do.
LayerRNNCell = RNNCell


def like_rnn_cell(cell: Nest) -> bool:
    """Whether an object has what a cell needs."""
    try:
        return callable(cell) and hasattr(cell, "zero_state") and cell.output_size is not None and cell.state_size is not None
    except (AttributeError, NotImplementedError):
        return False


def assert_like_rnn_cell(name: str, cell: Nest) -> None:
    """TypeError when an object is no cell."""
    conditions = {
        "'output_size' property is missing": hasattr(cell, "output_size"),
        "'state_size' property is missing": hasattr(cell, "state_size"),
        "either 'zero_state' or 'get_initial_state' method is required": hasattr(cell, "zero_state")
        or hasattr(cell, "get_initial_state"),
        "is not callable": callable(cell),
    }
    if isinstance(cell, type):
        raise TypeError(
            f"The argument {name!r} is the class {cell.__name__}, not an RNNCell: did you mean {cell.__name__}(...)?"
        )
    missing = [text for text, holds in conditions.items() if not holds]
    if missing:
        raise TypeError(f"The argument {name!r} ({cell}) is not an RNNCell: {', '.join(missing)}.")


def known_depth(inputs_shape: ShapeLike) -> int:
    """The size of the inputs, which is the last one of their shape; ValueError when it is not known."""
    shape = TensorShape(inputs_shape)
    depth = shape[-1].value if shape.ndims else None
    if depth is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
    return int(depth)


def batch_size_of(tensor: Tensor, axis: int) -> int | Tensor:
    """The size along an axis: an integer when it is known, a scalar tensor otherwise."""
    from_shape = tensor.shape[axis].value if tensor.shape.ndims is not None else None
    return shape_of(tensor)[axis] if from_shape is None else from_shape


def zero_state_tensors(state_size: Nest, batch_size: SizeLike, dtype: DTypeLike) -> Nest:
    """Zeros of `[batch, size]` for each of the sizes of a state; one type for all, or one for each."""
    types = dtype if nest.is_nested(dtype) else nest.map_structure(lambda _: dtype, state_size)
    return nest.map_structure(lambda size, kind: _zeros_of(size, batch_size, kind), state_size, types)


def _zeros_of(size: Nest, batch_size: SizeLike, dtype: DTypeLike) -> Tensor:
    static = batch_size.value if isinstance(batch_size, Dimension) else batch_size
    sizes: list[Any] = size.as_list() if isinstance(size, TensorShape) else [int(size)]
    # TensorFlow joins batch and sizes by nodes, twice, known or not; later random nodes get their seeds by the count.
    with get_default_graph().node_count.as_many_as(10 if isinstance(static, Tensor) else 8):
        if not isinstance(static, Tensor):
            return zeros([static, *sizes], dtype=dtype)
        known = constant_value(static)
        result = zeros(concat([[static], sizes], 0), dtype=dtype)
        result.set_shape([None if known is None else int(known), *sizes])
        return result
