"""Cells whose units see only their own past (Li et al., 2018, arXiv:1803.04831), and the simple recurrent unit."""

from __future__ import annotations

from weft.framework.building.aliases import Activation, DTypeLike, Initializer, Nest, VariableLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.rnn.cell import BIAS_NAME, WEIGHTS_NAME, RNNCell, known_depth
from weft.models.rnn.cells import LSTMStateTuple
from weft.ops.array.joining import concat, split
from weft.ops.array.tiling import tile
from weft.ops.math.elementwise import add, mul
from weft.ops.math.products import matmul
from weft.ops.math.unary import sigmoid, tanh
from weft.ops.nn.bias import bias_add
from weft.ops.variables.matrix_initializers import constant_initializer, random_uniform_initializer, zeros_initializer


class _OneState(RNNCell):
    """A cell of `num_units` whose state and output are one tensor `[batch, num_units]`."""

    def __init__(
        self, num_units: int, activation: Activation | None, reuse: bool | None, name: str | None, dtype: DTypeLike | None
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        self._activation = activation or tanh

    @property
    def state_size(self) -> Nest:
        """The size of the state."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self._num_units

    def _own_weights(self, name: str, size: int) -> VariableLike:
        """How much each unit counts for itself: `[1, size]`."""
        return self.add_variable(name, [1, size], initializer=random_uniform_initializer(minval=-1, maxval=1, dtype=self.dtype))


class IndRNNCell(_OneState):
    """The basic cell whose units see only their own past: `activation(W x + u * h + b)`.

    Inputs are `[batch, depth]`, the state and the output `[batch, num_units]`.

    Args:
        num_units: the size of state and output.
        activation: of the output, tanh when None.
        reuse: whether the variables exist already.
        name: the name of the variable scope.
        dtype: the type of the variables; that of the inputs when None.
    """

    def __init__(
        self, num_units: int, activation: Activation | None = None, reuse: bool | None = None, name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:  # fmt: skip
        super().__init__(num_units, activation, reuse, name, dtype)

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make both kernels and the bias."""
        size = self._num_units
        self._kernel = self.add_variable(f"{WEIGHTS_NAME}_w", [known_depth(inputs_shape), size])
        self._own = self._own_weights(f"{WEIGHTS_NAME}_u", size)
        self._bias = self.add_variable(BIAS_NAME, [size], initializer=zeros_initializer(dtype=self.dtype))

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        output = self._activation(bias_add(add(matmul(inputs, self._kernel), mul(state, self._own)), self._bias))
        return output, output


class _Initialized(_OneState):
    """A cell with initializers for its kernels and its biases."""

    def __init__(
        self, num_units: int, activation: Activation | None, reuse: bool | None, kernel_initializer: Initializer | None,
        bias_initializer: Initializer | None, name: str | None, dtype: DTypeLike | None,
    ) -> None:  # fmt: skip
        super().__init__(num_units, activation, reuse, name, dtype)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    def _bias_of(self, name: str, size: int, start: float) -> VariableLike:
        return self.add_variable(
            name, [size], initializer=self._bias_initializer or constant_initializer(start, dtype=self.dtype)
        )

    def _gates(self, inputs: Nest, own: Tensor, kernel: VariableLike, weights: VariableLike, bias: VariableLike) -> Tensor:
        return bias_add(add(matmul(inputs, kernel), mul(own, weights)), bias)


class IndyGRUCell(_Initialized):
    """The GRU whose units see only their own past.

    Inputs are `[batch, depth]`, the state and the output `[batch, num_units]`.

    Args:
        num_units: the size of state and output.
        activation: of the candidate, tanh when None.
        reuse: whether the variables exist already.
        kernel_initializer: of the kernels for the inputs.
        bias_initializer: of the biases; ones for the gates and zeros for the candidate when None.
        name: the name of the variable scope.
        dtype: the type of the variables; that of the inputs when None.
    """

    def __init__(
        self, num_units: int, activation: Activation | None = None, reuse: bool | None = None,
        kernel_initializer: Initializer | None = None, bias_initializer: Initializer | None = None,
        name: str | None = None, dtype: DTypeLike | None = None,
    ) -> None:  # fmt: skip
        super().__init__(num_units, activation, reuse, kernel_initializer, bias_initializer, name, dtype)

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make kernels and biases of the gates and the candidate."""
        size, depth = self._num_units, known_depth(inputs_shape)
        self._gate_kernel = self.add_variable(
            f"gates/{WEIGHTS_NAME}_w", [depth, 2 * size], initializer=self._kernel_initializer
        )
        self._gate_own = self._own_weights(f"gates/{WEIGHTS_NAME}_u", 2 * size)
        self._gate_bias = self._bias_of(f"gates/{BIAS_NAME}", 2 * size, 1.0)
        self._kernel = self.add_variable(f"candidate/{WEIGHTS_NAME}", [depth, size], initializer=self._kernel_initializer)
        self._own = self._own_weights(f"candidate/{WEIGHTS_NAME}_u", size)
        self._bias = self._bias_of(f"candidate/{BIAS_NAME}", size, 0.0)

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        gates = sigmoid(self._gates(inputs, tile(state, [1, 2]), self._gate_kernel, self._gate_own, self._gate_bias))
        reset, update = split(value=gates, num_or_size_splits=2, axis=1)
        candidate = self._activation(self._gates(inputs, mul(reset, state), self._kernel, self._own, self._bias))
        output = update * state + (1 - update) * candidate
        return output, output


class IndyLSTMCell(_Initialized):
    """The LSTM whose units see only their own past.

    Inputs are `[batch, depth]`, memory and output `[batch, num_units]` each, in an LSTMStateTuple.

    Args:
        num_units: the size of memory and output.
        forget_bias: added to the forget gate.
        activation: of the new memory and of the output, tanh when None.
        reuse: whether the variables exist already.
        kernel_initializer: of the kernel for the inputs.
        bias_initializer: of the bias, zeros when None.
        name: the name of the variable scope.
        dtype: the type of the variables; that of the inputs when None.
    """

    def __init__(
        self, num_units: int, forget_bias: float = 1.0, activation: Activation | None = None, reuse: bool | None = None,
        kernel_initializer: Initializer | None = None, bias_initializer: Initializer | None = None,
        name: str | None = None, dtype: DTypeLike | None = None,
    ) -> None:  # fmt: skip
        super().__init__(num_units, activation, reuse, kernel_initializer, bias_initializer, name, dtype)
        self._forget_bias = forget_bias

    @property
    def state_size(self) -> LSTMStateTuple:
        """The sizes of memory and output."""
        return LSTMStateTuple(self._num_units, self._num_units)

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make both kernels and the bias."""
        size = self._num_units
        kernel = [known_depth(inputs_shape), 4 * size]
        self._kernel = self.add_variable(f"{WEIGHTS_NAME}_w", kernel, initializer=self._kernel_initializer)
        self._own = self._own_weights(f"{WEIGHTS_NAME}_u", 4 * size)
        self._bias = self._bias_of(BIAS_NAME, 4 * size, 0.0)

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        c, h = state
        gates = self._gates(inputs, tile(h, [1, 4]), self._kernel, self._own, self._bias)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=1)
        new_c = c * sigmoid(f + self._forget_bias) + sigmoid(i) * self._activation(j)
        new_h = self._activation(new_c) * sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


class SRUCell(_OneState):
    """The simple recurrent unit (Lei et al., 2017, arXiv:1709.02755), whose gates see the inputs alone.

    Inputs are `[batch, num_units]`, as the state and the output are.

    Args:
        num_units: the size of state and output.
        activation: of the memory, tanh when None.
        reuse: whether the variables exist already.
        name: the name of the variable scope.
        dtype: the type of the variables; that of the inputs when None.
    """

    def __init__(
        self, num_units: int, activation: Activation | None = None, reuse: bool | None = None, name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:  # fmt: skip
        super().__init__(num_units, activation, reuse, name, dtype)

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make kernel and bias."""
        size = self._num_units
        self._kernel = self.add_variable(WEIGHTS_NAME, [known_depth(inputs_shape), 4 * size])
        self._bias = self.add_variable(BIAS_NAME, [2 * size], initializer=zeros_initializer())

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        new, forget, reset, passed = split(value=matmul(inputs, self._kernel), num_or_size_splits=4, axis=1)
        gates = sigmoid(bias_add(concat([forget, reset], 1), self._bias))
        kept, shown = split(value=gates, num_or_size_splits=2, axis=1)
        memory = kept * state + (1.0 - kept) * new
        return shown * self._activation(memory) + (1.0 - shown) * passed, memory
