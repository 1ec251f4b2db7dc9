"""Cells that keep parts of their inputs apart: the LSTM of groups, and the network that goes through time and depth alike."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Activation, Initializer, Nest, VariableLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.rnn.cell import RNNCell
from weft.models.rnn.cells import LSTMStateTuple
from weft.models.rnn.linear import Linear
from weft.ops.array.joining import concat, split
from weft.ops.array.padding import slice_of
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.math.unary import sigmoid, tanh
from weft.ops.nn.activation import relu
from weft.ops.nn.bias import bias_add
from weft.ops.variables.matrix_initializers import constant_initializer
from weft.ops.variables.scopes import get_variable_scope
from weft.ops.variables.variable_scope import variable_scope


class GLSTMCell(RNNCell):
    """Several small LSTMs side by side, each on its part of the inputs (Kuchaiev and Ginsburg, 2017, arXiv:1703.10722).

    Inputs are `[batch, depth]`, the memory `[batch, num_units]`, the output `[batch, num_proj or num_units]`, in an
    LSTMStateTuple; the number of groups divides each of them.

    Args:
        num_units: the size of the memory of all groups together.
        initializer: of the kernels.
        num_proj: the size that the output is projected to; no projection when None.
        number_of_groups: how many small LSTMs there are.
        forget_bias: added to the forget gate.
        activation: of the output.
        reuse: whether the variables exist already.

    Raises:
        ValueError: the number of groups does not divide a size.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Initializer | None = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Activation = tanh,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if num_units % number_of_groups:
            raise ValueError(f"num_units must be divisible by number_of_groups: {num_units}, {number_of_groups}")
        if num_proj and num_proj % number_of_groups:
            raise ValueError(f"num_proj must be divisible by number_of_groups: {num_proj}, {number_of_groups}")
        self._num_units, self._num_proj, self._groups = num_units, num_proj, number_of_groups
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation
        self._projection: Linear | None = None

    @property
    def state_size(self) -> LSTMStateTuple:
        """The sizes of memory and output."""
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self._num_proj or self._num_units

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Check the size of the inputs."""
        depth = inputs_shape[1].value
        if depth is None:
            raise ValueError("input size must be statically known")
        if depth % self._groups:
            raise ValueError(f"input size ({depth}) must be divisible by number_of_groups ({self._groups})")
        self._kernels: list[Linear] = []
        self._biases: list[VariableLike] = []

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        c, h = state
        with variable_scope(get_variable_scope()):
            known = inputs.shape[0].value
            batch = shape_of(inputs)[0] if known is None else known
            by_group = [self._gates_of(index, batch, inputs, h) for index in range(self._groups)]
            if not self._biases:
                zeros = constant_initializer(0.0, dtype=self.dtype)
                self._biases = [self.add_variable(f"bias_{gate}", [self._num_units], initializer=zeros) for gate in "ijfo"]
            i, j, f, o = (
                bias_add(concat(list(parts), axis=1), bias)
                for parts, bias in zip(zip(*by_group, strict=True), self._biases, strict=True)
            )
        new_c = sigmoid(f + self._forget_bias) * c + sigmoid(i) * tanh(j)
        new_h = sigmoid(o) * self._activation(new_c)
        if self._num_proj is not None:
            with variable_scope("projection"):
                if self._projection is None:
                    self._projection = self._kernel(new_h, self._num_proj)
                new_h = self._projection([new_h])
        return new_h, LSTMStateTuple(new_c, new_h)

    def _gates_of(self, group: int, batch: Tensor | int, inputs: Tensor, h: Tensor) -> Sequence[Tensor]:
        """What a group adds to the gates: `[batch, num_units / groups]` for each of the four."""
        with variable_scope(f"group{group}"):
            both = concat([self._part(whole, group, batch) for whole in (inputs, h)], axis=1)
            if len(self._kernels) == group:
                self._kernels.append(self._kernel(both, 4 * self._num_units // self._groups))
            return split(self._kernels[group]([both]), 4, 1)

    def _part(self, whole: Tensor, group: int, batch: Tensor | int) -> Tensor:
        size = whole.shape[1].value // self._groups
        return slice_of(whole, [0, group * size], [batch, size], name=f"GLSTM_group{group}_input_generation")

    def _kernel(self, inputs: Tensor, columns: int) -> Linear:
        return Linear(self.add_variable, [inputs], columns, use_bias=False, initializer=self._initializer)


class IntersectionRNNCell(RNNCell):
    """The +RNN, gated through time and through depth (Collins et al., 2017, arXiv:1611.09913), for deep stacks.

    Inputs are `[batch, num_units]`, or of another size with `num_in_proj`; state and output are `[batch, num_units]`.

    Args:
        num_units: the size of state and output.
        num_in_proj: `num_units` for the first layer of a stack, whose inputs are projected when they have another size.
        initializer: of the kernels.
        forget_bias: added to both gates.
        y_activation: of what passes through depth.
        reuse: whether the variables exist already.
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: Initializer | None = None,
        forget_bias: float = 1.0,
        y_activation: Activation = relu,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._num_in_proj = num_units, num_in_proj
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = y_activation
        self._projection: Linear | None = None
        self._gates: Linear | None = None

    @property
    def state_size(self) -> int:
        """The size of the state."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self._num_units

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step; ValueError when the inputs have another size than the state, and no projection."""
        depth = inputs.shape.with_rank(2)[1].value
        if depth is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        with variable_scope(get_variable_scope()):
            if depth != self._num_units:
                inputs = self._projected(inputs)
            both = [concat([inputs, state], 1)]
            if self._gates is None:
                self._gates = Linear(self.add_variable, both, 4 * self._num_units, initializer=self._initializer)
            size, gates = self._num_units, self._gates(both)
            forget, new, carry, passed = (gates[:, place * size : (place + 1) * size] for place in range(4))
            new, passed = tanh(new), self._activation(passed)
            keep, carry = sigmoid(forget + self._forget_bias), sigmoid(carry + self._forget_bias)
            new_state = keep * state + (1.0 - keep) * new
            return carry * inputs + (1.0 - carry) * passed, new_state

    def _projected(self, inputs: Tensor) -> Tensor:
        if not self._num_in_proj:
            raise ValueError(
                "Must have input size == output size for Intersection RNN. To fix, num_in_proj should be set to num_units at "
                f"cell init: the inputs are {inputs.shape}, num_units is {self._num_units}."
            )
        with variable_scope("in_projection"):
            if self._projection is None:
                self._projection = Linear(self.add_variable, [inputs], self._num_units, initializer=self._initializer)
            return self._projection([inputs])
