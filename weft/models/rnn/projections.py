"""Cells around others that have variables of their own: projections, an embedding, attention to the past, a highway."""

from __future__ import annotations

import math

from weft.framework.building.aliases import Activation, DTypeLike, Initializer, Nest, SizeLike, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.rnn.cell import RNNCell, assert_like_rnn_cell, known_depth
from weft.models.rnn.linear import Linear
from weft.ops.array.joining import concat
from weft.ops.array.padding import slice_of
from weft.ops.array.shape_ops import expand_dims, reshape
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import sigmoid, tanh
from weft.ops.nn.bias import bias_add
from weft.ops.nn.conv import conv2d
from weft.ops.nn.embedding import embedding_lookup
from weft.ops.nn.softmax import softmax
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.matrix_initializers import constant_initializer, random_uniform_initializer
from weft.ops.variables.scopes import ScopeLike, get_variable_scope
from weft.ops.variables.variable_scope import variable_scope
from weft.platform.logs import tf_logging


class _Around(RNNCell):
    """A cell around another, with variables of its own beside those of the cell inside."""

    def __init__(self, cell: Nest, reuse: bool | None = None) -> None:
        super().__init__(_reuse=reuse)
        assert_like_rnn_cell("cell", cell)
        self._cell = cell

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """The own variables, and the cell inside."""
        return [*super().checkpoint_dependencies(), ("cell", self._cell)]

    @property
    def state_size(self) -> Nest:
        """The state size of the cell inside."""
        return self._cell.state_size

    @property
    def output_size(self) -> Nest:
        """The output size of the cell inside."""
        return self._cell.output_size

    @property
    def variables(self) -> list[VariableLike]:
        """The own variables and those of the cell inside."""
        return [*super().variables, *self._cell.variables]

    weights = variables

    @property
    def trainable_variables(self) -> list[VariableLike]:
        """The variables that are trained, the own ones first."""
        return [*super().trainable_variables, *self._cell.trainable_variables]

    trainable_weights = trainable_variables

    def zero_state(self, batch_size: SizeLike, dtype: DTypeLike) -> Nest:
        """The zero state of the cell inside."""
        with get_default_graph().name_scope(type(self).__name__ + "ZeroState"):
            return self._cell.zero_state(batch_size, dtype)


class EmbeddingWrapper(_Around):
    """Looks up the inputs, integers `[batch]` or `[batch, 1]`, in a table before a cell gets them.

    Args:
        cell: the cell.
        embedding_classes: how many rows the table has.
        embedding_size: the size of a row.
        initializer: of the table; that of the scope when None, or else uniform with variance 1.
        reuse: whether the variables exist already.

    Raises:
        ValueError: a size is not positive.
    """

    def __init__(
        self,
        cell: Nest,
        embedding_classes: int,
        embedding_size: int,
        initializer: Initializer | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(f"Both embedding_classes and embedding_size must be > 0: {embedding_classes}, {embedding_size}.")
        self._shape = [embedding_classes, embedding_size]
        self._initializer = initializer

    def __call__(self, inputs: Nest, state: Nest, scope: ScopeLike = None) -> Nest:
        """One step of the cell on the rows that the inputs name."""
        if self._dtype is None:
            # Inputs are integers: the table has the type of the state.
            self._dtype = nest.flatten(state)[0].dtype.base_dtype
        return super().__call__(inputs, state, scope)

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make the table."""
        limit = math.sqrt(3)
        uniform = random_uniform_initializer(-limit, limit)
        # None is the initializer of the scope.
        default = None if get_variable_scope().initializer else uniform
        with get_default_graph().device("/cpu:0"):
            self._embedding = self.add_variable("embedding", self._shape, initializer=self._initializer or default)

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        with get_default_graph().device("/cpu:0"):
            rows = embedding_lookup(self._embedding, reshape(inputs, [-1]))
            return self._cell(rows, state)


class InputProjectionWrapper(_Around):
    """Maps the inputs, `[batch, depth]`, to `[batch, num_proj]` before a cell gets them.

    Args:
        cell: the cell.
        num_proj: the size that inputs are mapped to.
        activation: a function of the mapped inputs; none when None.
        input_size: has no effect.
        reuse: whether the variables exist already.
    """

    def __init__(
        self,
        cell: Nest,
        num_proj: int,
        activation: Activation | None = None,
        input_size: int | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(cell, reuse)
        if input_size is not None:
            tf_logging.warning("%s: The input_size parameter is deprecated.", self)
        self._num_proj = num_proj
        self._activation = activation
        self._linear: Linear | None = None

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        if self._linear is None:
            self._linear = Linear(self.add_variable, [inputs], self._num_proj)
        projected = self._linear([inputs])
        return self._cell(self._activation(projected) if self._activation else projected, state)


class OutputProjectionWrapper(_Around):
    """Maps the outputs of a cell to `[batch, output_size]`.

    Args:
        cell: the cell.
        output_size: the size that outputs are mapped to.
        activation: a function of the mapped outputs; none when None.
        reuse: whether the variables exist already.

    Raises:
        ValueError: the size is not positive.
    """

    def __init__(self, cell: Nest, output_size: int, activation: Activation | None = None, reuse: bool | None = None) -> None:
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._output_size = output_size
        self._activation = activation
        self._linear: Linear | None = None

    @property
    def output_size(self) -> int:
        """The size that outputs are mapped to."""
        return self._output_size

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        output, new_state = self._cell(inputs, state)
        if self._linear is None:
            self._linear = Linear(self.add_variable, [output], self._output_size)
        projected = self._linear([output])
        return self._activation(projected) if self._activation else projected, new_state


class AttentionCellWrapper(_Around):
    """A cell that attends to its last `attn_length` outputs (Cheng et al., 2016, arXiv:1601.06733).

    Inputs are `[batch, depth]`, the output `[batch, attn_size]`; the state is that of the cell, what was attended to last
    `[batch, attn_size]`, and the past outputs `[batch, attn_length * attn_size]`, the oldest first.

    Args:
        cell: the cell.
        attn_length: how many past outputs are kept.
        attn_size: the size of what is attended to; the cell's output size when None.
        attn_vec_size: the size of the layer that scores the past outputs; `attn_size` when None.
        input_size: the size that inputs and attention are mapped to for the cell; that of the inputs when None.
        state_is_tuple: whether the state is a tuple; else its parts are one tensor, side by side.
        reuse: whether the variables exist already.

    Raises:
        ValueError: `attn_length` is not positive, or the state is no tuple where it must be.
    """

    def __init__(
        self,
        cell: Nest,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(cell, reuse)
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError(
                f"Cell returns tuple of states, but the flag state_is_tuple is not set. State size is: {cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        if not state_is_tuple:
            tf_logging.warning("%s: Using a concatenated state is slower; use state_is_tuple=True.", self)
        self._length = attn_length
        self._size: int = cell.output_size if attn_size is None else attn_size
        self._vector_size = self._size if attn_vec_size is None else attn_vec_size
        self._input_size = input_size
        self._state_is_tuple = state_is_tuple
        self._query_map: Linear | None = None
        self._output_map: Linear | None = None

    @property
    def state_size(self) -> Nest:
        """The sizes of the cell's state, of what was attended to, and of the past outputs."""
        sizes = (self._cell.state_size, self._size, self._size * self._length)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self._size

    def zero_state(self, batch_size: SizeLike, dtype: DTypeLike) -> Nest:
        """The zero states of the cell and of the attention."""
        return RNNCell.zero_state(self, batch_size, dtype)

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Keep the size of the inputs; the maps are made where the sizes of what they map are known."""
        self._input_map: Linear | None = None
        self._depth = known_depth(inputs_shape) if self._input_size is None else self._input_size

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        sizes = (self._cell.state_size, self._size, self._size * self._length)
        if not self._state_is_tuple:
            state = [slice_of(state, [0, sum(sizes[:place])], [-1, size]) for place, size in enumerate(sizes)]
        cell_state, attended, flat = state
        past = reshape(flat, [-1, self._length, self._size])
        if self._input_map is None:
            self._input_map = Linear(self.add_variable, [inputs, attended], self._depth)
        output, new_cell_state = self._cell(self._input_map([inputs, attended]), cell_state)
        query = concat(nest.flatten(new_cell_state), 1) if self._state_is_tuple else new_cell_state
        with variable_scope("attention"):
            attended, kept = self._attended(query, past), slice_of(past, [0, 1, 0], [-1, -1, -1])
        with variable_scope("attn_output_projection"):
            if self._output_map is None:
                self._output_map = Linear(self.add_variable, [output, attended], self._size)
            output = self._output_map([output, attended])
        newest = concat([kept, expand_dims(output, 1)], 1)
        new_state = (new_cell_state, attended, reshape(newest, [-1, self._length * self._size]))
        return output, new_state if self._state_is_tuple else concat(list(new_state), 1)

    def _attended(self, query: Tensor, past: Tensor) -> Tensor:
        """The mean of the past outputs, weighted by their scores for the query."""
        if self._query_map is None:
            self._features_kernel = self.add_variable("attn_w", [1, 1, self._size, self._vector_size])
            self._scores = self.add_variable("attn_v", [self._vector_size])
        hidden = reshape(past, [-1, self._length, 1, self._size])
        features = conv2d(hidden, self._features_kernel, [1, 1, 1, 1], "SAME")
        if self._query_map is None:
            self._query_map = Linear(self.add_variable, [query], self._vector_size)
        asked = reshape(self._query_map([query]), [-1, 1, 1, self._vector_size])
        weights = softmax(reduce_sum(self._scores * tanh(features + asked), [2, 3]))
        mean = reduce_sum(reshape(weights, [-1, self._length, 1, 1]) * hidden, [1, 2])
        return reshape(mean, [-1, self._size])


class HighwayWrapper(_Around):
    """Mixes a cell's inputs, `[batch, size]`, into its outputs by gates (Srivastava et al., 2015, arXiv:1505.00387).

    It has no variable scope of its own: its variables are in the scope that it is called in.

    Args:
        cell: the cell, whose output is as large as its input.
        couple_carry_transform_gates: whether the output comes in as the input goes out; else it has a gate of its own.
        carry_bias_init: what the bias of the gate for the input is at first.
    """

    def __init__(self, cell: Nest, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0) -> None:
        super().__init__(cell)
        self._coupled = couple_carry_transform_gates
        self._carry_bias = carry_bias_init

    def __call__(self, inputs: Nest, state: Nest, scope: ScopeLike = None) -> Nest:
        """One step of the cell, with the inputs mixed in."""
        outputs, new_state = self._cell(inputs, state, scope=scope)
        nest.assert_same_structure(inputs, outputs)
        for given, made in zip(nest.flatten(inputs), nest.flatten(outputs), strict=True):
            given.get_shape().assert_is_compatible_with(made.get_shape())
        return nest.map_structure(self._mixed, inputs, outputs), new_state

    def _mixed(self, given: Tensor, made: Tensor) -> Tensor:
        carry = self._gate("carry", given, self._carry_bias)
        transform = 1 - carry if self._coupled else self._gate("transform", given, -self._carry_bias)
        return given * carry + made * transform

    def _gate(self, name: str, given: Tensor, bias: float) -> Tensor:
        size = known_depth(given.get_shape())
        weights = get_variable(f"{name}_w", [size, size], dtype=given.dtype)
        offset = get_variable(f"{name}_b", [size], dtype=given.dtype, initializer=constant_initializer(bias))
        self._trainable_weights += [
            each for each in (weights, offset) if all(each is not known for known in self._trainable_weights)
        ]
        return sigmoid(bias_add(matmul(given, weights), offset))
