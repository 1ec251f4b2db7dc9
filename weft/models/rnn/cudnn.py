"""The layers of TensorFlow's cuDNN networks, by XLA on any device, and the cells that read the same variables.

cuDNN keeps the weights in one opaque variable, which checkpoints have as the variables of the cells. Here they are those
variables, by the names of a checkpoint. Where cuDNN adds two biases that are always summed, there is their sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, TypeAlias

from weft.framework.building.aliases import DTypeLike, Initializer, Nest, SizeLike, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.framework.types.tensor_shape import TensorShape
from weft.models.layers.layer_names import snake_case
from weft.models.rnn.cell import BIAS_NAME, WEIGHTS_NAME, RNNCell, batch_size_of, known_depth
from weft.models.rnn.cells import BasicRNNCell, GRUCell, LSTMBlockCell, LSTMStateTuple
from weft.models.rnn.dynamic import dynamic_rnn
from weft.ops.array.filling import zeros
from weft.ops.array.joining import concat, split
from weft.ops.array.sequences import reverse_sequence
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import reverse
from weft.ops.array.transposing import transpose
from weft.ops.math.elementwise import add
from weft.ops.math.products import matmul
from weft.ops.math.unary import sigmoid, tanh
from weft.ops.nn.activation import relu
from weft.ops.nn.bias import bias_add
from weft.ops.nn.dropout import dropout
from weft.ops.variables.matrix_initializers import constant_initializer, glorot_uniform_initializer, zeros_initializer
from weft.ops.variables.scopes import ScopeLike, VariableScope
from weft.ops.variables.variable_scope import variable_scope

_DIRECTIONS: Final = ("unidirectional", "bidirectional")
_INPUT_MODES: Final = ("linear_input", "skip_input", "auto_select")
_Shapes: TypeAlias = list[tuple[int, int]]


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """The cell of CudnnLSTM: an LSTM whose forget gate has nothing added, with the variables of the layer.

    Inputs are `[batch, depth]`, memory and output `[batch, num_units]` each.

    Args:
        num_units: the size of memory and output.
        reuse: whether the variables exist already.
    """

    def __init__(self, num_units: int, reuse: bool | None = None) -> None:
        super().__init__(num_units, forget_bias=0, reuse=reuse, name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(GRUCell):
    """The cell of CudnnGRU: the reset gate is applied behind the product with the state, whose part has a bias of its own.

    Inputs are `[batch, depth]`, state and output `[batch, num_units]`.

    Args:
        num_units: the size of the state.
        reuse: whether the variables exist already.
        kernel_initializer: of the kernels.
    """

    def __init__(self, num_units: int, reuse: bool | None = None, kernel_initializer: Initializer | None = None) -> None:
        super().__init__(num_units, reuse=reuse, kernel_initializer=kernel_initializer, name="cudnn_compatible_gru_cell")

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make kernels and biases of the gates, and of the candidate's parts of inputs and state."""
        size, depth, kernel = self._num_units, known_depth(inputs_shape), self._kernel_initializer
        gates = self._bias_initializer or constant_initializer(1.0, dtype=self.dtype)
        of_part = self._bias_initializer or zeros_initializer(dtype=self.dtype)
        self._gate_kernel = self.add_variable(f"gates/{WEIGHTS_NAME}", [depth + size, 2 * size], initializer=kernel)
        self._gate_bias = self.add_variable(f"gates/{BIAS_NAME}", [2 * size], initializer=gates)
        parts = {"input_projection": depth, "hidden_projection": size}
        self._part_kernels = [
            self.add_variable(f"candidate/{part}/{WEIGHTS_NAME}", [rows, size], initializer=kernel)
            for part, rows in parts.items()
        ]
        self._part_biases = [self.add_variable(f"candidate/{part}/{BIAS_NAME}", [size], initializer=of_part) for part in parts]

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        gates = sigmoid(bias_add(matmul(concat([inputs, state], 1), self._gate_kernel), self._gate_bias))
        reset, update = split(value=gates, num_or_size_splits=2, axis=1)
        of_inputs, of_state = (
            bias_add(matmul(part, kernel), bias)
            for part, kernel, bias in zip((inputs, state), self._part_kernels, self._part_biases, strict=True)
        )
        output = (1 - update) * self._activation(of_inputs + reset * of_state) + update * state
        return output, output


class CudnnLayer:
    """Layers of one kind of cell over all steps, as cuDNN has them; the base of CudnnLSTM and the others.

    Args:
        num_layers: how many layers are on top of each other.
        num_units: the size of each direction's output.
        input_mode: "linear_input"; "auto_select" is the same where the inputs have another size than `num_units`.
        direction: "unidirectional", or "bidirectional" for two networks, whose outputs are side by side.
        dropout: the share of elements between two layers that is dropped in training.
        seed: makes what is dropped, and the first weights, repeatable.
        dtype: float16, float32 or float64.
        kernel_initializer: of each gate's matrices, `[num_units, depth]` and `[num_units, num_units]`; Glorot's when None.
        bias_initializer: of each gate's two biases, `[num_units]`; zeros when None.
        name: the name of the variable scope; made of the class's name when None.

    Raises:
        ValueError: there is no such direction, mode or type.
    """

    _MODE: ClassVar[str] = ""
    _NAME: ClassVar[str] = ""
    _GATES: ClassVar[int] = 1
    _STATES: ClassVar[int] = 1

    __repr__ = printed("tf.contrib.cudnn_rnn")

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = "linear_input",
        direction: str = "unidirectional",
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
        kernel_initializer: Initializer | None = None,
        bias_initializer: Initializer | None = None,
        name: str | None = None,
    ) -> None:
        if direction not in _DIRECTIONS:
            raise ValueError(f"Invalid direction: {direction}, expecting {' or '.join(_DIRECTIONS)}")
        if input_mode not in _INPUT_MODES:
            raise ValueError(f"Invalid input_mode: {input_mode}, expect one of ({', '.join(_INPUT_MODES)})")
        self._dtype = dtypes.as_dtype(dtype)
        if self._dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
            raise ValueError(f"Only support float16, float32, float64, provided {dtype}")
        self.num_layers, self.num_units = num_layers, num_units
        self.input_mode, self.direction = input_mode, direction
        self._dropout, self._seed = dropout, seed
        self._kernel_initializer = kernel_initializer or glorot_uniform_initializer(seed=seed, dtype=self._dtype)
        self._bias_initializer = bias_initializer or constant_initializer(0.0, dtype=self._dtype)
        self._name = name or self._NAME
        self._input_size: int | None = None
        self._cells: list[list[tuple[RNNCell, VariableScope]]] = []
        self.built = False

    def _new_cell(self) -> RNNCell:
        raise NotImplementedError(f"{type(self).__name__} has no cell")

    @property
    def name(self) -> str:
        """The name of the variable scope within the one it is in."""
        return self._name

    @property
    def dtype(self) -> str:
        """The name of the variables' type."""
        return self._dtype.name

    @property
    def rnn_mode(self) -> str:
        """The kind of cell: "lstm", "gru", "rnn_tanh" or "rnn_relu"."""
        return self._MODE

    @property
    def num_dirs(self) -> int:
        """How many directions there are."""
        return 1 + (self.direction == "bidirectional")

    @property
    def input_size(self) -> int:
        """The depth of the inputs; ValueError before the variables are made."""
        if self._input_size is None:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._input_size

    @property
    def variables(self) -> list[VariableLike]:
        """The variables of all layers."""
        return [variable for layer in self._cells for cell, _ in layer for variable in cell.variables]

    weights = trainable_variables = trainable_weights = variables

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """What checkpoints of objects save: the cells by their numbers."""
        return [(f"cell-{index}", cell) for index, (cell, _) in enumerate(pair for layer in self._cells for pair in layer)]

    @property
    def canonical_weight_shapes(self) -> _Shapes:
        """The shapes of cuDNN's matrices, for each gate of inputs and of states; RuntimeError before the inputs are known."""
        if self._input_size is None:
            raise RuntimeError(f"{type(self).__name__}.canonical_weight_shapes invoked before input shape is known")
        units, shapes = self.num_units, []
        for layer in range(self.num_layers):
            depth = self._input_size if layer == 0 else self.num_dirs * units
            shapes += ([(units, depth)] * self._GATES + [(units, units)] * self._GATES) * self.num_dirs
        return shapes

    @property
    def canonical_bias_shapes(self) -> list[list[int]]:
        """The shapes of cuDNN's biases, two for each gate."""
        return [[self.num_units]] * (2 * self._GATES * self.num_dirs * self.num_layers)

    def state_shape(self, batch_size: SizeLike) -> tuple[list[SizeLike], ...]:
        """The shapes of the states, `[layers * directions, batch, num_units]`: of output and memory, or of the output alone.

        Args:
            batch_size: the batch.
        """
        return ([self.num_layers * self.num_dirs, batch_size, self.num_units],) * self._STATES

    def build(self, input_shape: TensorShape | Sequence[int | None]) -> None:
        """Make the variables for inputs of a shape, `[steps, batch, depth]`; ValueError when the depth is not known.

        Args:
            input_shape: the shape; the depth is its last size.
        """
        self._build(input_shape, None)

    def _build(self, input_shape: TensorShape | Sequence[int | None], scope: ScopeLike) -> None:
        shape = TensorShape(input_shape)
        if shape.ndims != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {shape.ndims}")
        if shape[-1].value is None:
            raise ValueError("The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`.")
        if self.built:
            return
        self._input_size = int(shape[-1].value)
        is_skipped = self.input_mode == "skip_input" or self._input_size == self.num_units
        if self.input_mode != "linear_input" and is_skipped:
            raise NotImplementedError(
                f"{type(self).__name__} {self._name!r}: inputs go through a kernel; input_mode={self.input_mode!r} would have "
                f"none for inputs of size {self._input_size}. Use input_mode='linear_input'."
            )
        with variable_scope(scope, default_name=self._name):
            self._cells = [self._made_layer(layer) for layer in range(self.num_layers)]
        self.built = True

    def _made_layer(self, layer: int) -> list[tuple[RNNCell, VariableScope]]:
        depth = self.input_size if layer == 0 else self.num_dirs * self.num_units
        if self.num_dirs == 1:
            prefixes = [f"rnn/multi_rnn_cell/cell_{layer}"]
        else:
            prefixes = [f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn/{way}" for way in ("fw", "bw")]
        made = []
        for prefix in prefixes:
            cell = self._new_cell()
            with variable_scope(f"{prefix}/{snake_case(type(cell).__name__)}") as scope:
                cell.build_in(scope, TensorShape([None, depth]), self._dtype, self._first_values)
            made.append((cell, scope))
        return made

    def _first_values(self, name: str) -> Initializer:
        """The initializer of a cell's variable: of each gate's matrices and biases, as cuDNN has them."""
        of_one = "_projection/" in name
        draw = self._drawn_kernel if name.endswith(WEIGHTS_NAME) else self._drawn_bias

        def first(shape: Sequence[int], dtype: DTypeLike | None = None, partition_info: object = None) -> Tensor:
            return draw([int(each) for each in shape], of_one)

        return first

    def _drawn(self, initializer: Initializer, shape: list[int]) -> Tensor:
        drawn: Nest = initializer(shape, dtype=self._dtype)
        return convert_to_tensor(drawn)

    def _drawn_kernel(self, shape: list[int], of_one: bool) -> Tensor:
        rows, columns = shape
        units = self.num_units
        parts = [rows] if of_one else [rows - units, units]
        gates = [
            concat([transpose(self._drawn(self._kernel_initializer, [units, part])) for part in parts], 0)
            for _ in range(columns // units)
        ]
        return concat(gates, 1)

    def _drawn_bias(self, shape: list[int], of_one: bool) -> Tensor:
        """A gate's bias, which stands for the sum of two but where the states have one of their own."""
        count = shape[0] // self.num_units
        drawn = [
            concat([self._drawn(self._bias_initializer, [self.num_units]) for _ in range(count)], 0)
            for _ in range(1 if of_one else 2)
        ]
        return drawn[0] if of_one else add(*drawn)

    def __call__(
        self,
        inputs: TensorLike,
        initial_state: tuple[TensorLike, ...] | None = None,
        sequence_lengths: TensorLike | None = None,
        time_major: bool = True,
        training: bool = True,
        scope: ScopeLike = None,
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The outputs of all steps and the last states.

        Args:
            inputs: `[steps, batch, depth]`, or `[batch, steps, depth]` without `time_major`.
            initial_state: outputs and memories, or outputs alone, `[layers * directions, batch, num_units]` each; batch first
                without `time_major`. Zeros when None.
            sequence_lengths: `[batch]`, how many steps each sequence has; past it outputs are zero.
            time_major: whether steps come before the batch.
            training: whether elements are dropped.
            scope: the variable scope, at the first call.

        Returns:
            `[steps, batch, directions * num_units]`, and the states as `initial_state`; batch first without `time_major`.

        Raises:
            TypeError: `initial_state` is no tuple.
            ValueError: the inputs have no known depth or another rank.
        """
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")
        x = convert_to_tensor(inputs, dtype=self._dtype)
        self._build(x.shape, scope)
        if initial_state is None:
            states = [zeros(each, self._dtype) for each in self.state_shape(batch_size_of(x, 1 if time_major else 0))]
        else:
            states = [convert_to_tensor(each, dtype=self._dtype) for each in initial_state]
        if not time_major:
            x = transpose(x, [1, 0, 2])
            states = states if initial_state is None else [transpose(each, [1, 0, 2]) for each in states]
        last: list[Nest] = []
        for layer, cells in enumerate(self._cells):
            if layer and training and self._dropout:
                x = dropout(x, rate=self._dropout, seed=self._seed)
            outputs = []
            for way, (cell, opened) in enumerate(cells):
                first = [each[layer * self.num_dirs + way] for each in states]
                output, state = _over_steps(cell, opened, x, first, sequence_lengths, is_back=way == 1)
                outputs.append(output)
                last.append(state)
            x = outputs[0] if len(outputs) == 1 else concat(outputs, 2)
        finals = [stack([each[part] for each in last]) for part in range(self._STATES)]
        if not time_major:
            x, finals = transpose(x, [1, 0, 2]), [transpose(each, [1, 0, 2]) for each in finals]
        return x, tuple(finals)


def _over_steps(
    cell: RNNCell, scope: VariableScope, x: Tensor, first: list[Tensor], lengths: TensorLike | None, is_back: bool
) -> tuple[Tensor, Sequence[Tensor]]:
    """One direction of one layer: outputs of all steps, and the last output and memory."""
    is_lstm = len(first) == 2
    state = LSTMStateTuple(c=first[1], h=first[0]) if is_lstm else first[0]
    if is_back:
        x = _reversed(x, lengths)
    outputs, last = dynamic_rnn(cell, x, lengths, state, time_major=True, scope=scope)
    if is_back:
        outputs = _reversed(outputs, lengths)
    return outputs, (last.h, last.c) if is_lstm else (last,)


def _reversed(x: Tensor, lengths: TensorLike | None) -> Tensor:
    return reverse(x, [0]) if lengths is None else reverse_sequence(x, lengths, 0, 1)


class CudnnLSTM(CudnnLayer):
    """Layers of LSTMs over all steps; the states are a pair of outputs and memories, `(h, c)`. Arguments as of CudnnLayer."""

    _MODE, _NAME, _GATES, _STATES = "lstm", "cudnn_lstm", 4, 2

    def _new_cell(self) -> RNNCell:
        return CudnnCompatibleLSTMCell(self.num_units)


class CudnnGRU(CudnnLayer):
    """Layers of GRUs over all steps; the states are a tuple of one tensor. Arguments as of CudnnLayer."""

    _MODE, _NAME, _GATES = "gru", "cudnn_gru", 3

    def _new_cell(self) -> RNNCell:
        return CudnnCompatibleGRUCell(self.num_units)


class CudnnRNNTanh(CudnnLayer):
    """Layers of plain cells with tanh over all steps; the states are a tuple of one tensor. Arguments as of CudnnLayer."""

    _MODE, _NAME = "rnn_tanh", "cudnn_rnn_tanh"

    def _new_cell(self) -> RNNCell:
        return BasicRNNCell(self.num_units, tanh)


class CudnnRNNRelu(CudnnLayer):
    """Layers of plain cells with relu over all steps; the states are a tuple of one tensor. Arguments as of CudnnLayer."""

    _MODE, _NAME = "rnn_relu", "cudnn_rnn_relu"

    def _new_cell(self) -> RNNCell:
        return BasicRNNCell(self.num_units, relu)
