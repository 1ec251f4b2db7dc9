"""Cells with gates of their own kinds: normalized and coupled LSTMs, UGRNN, NASCell, and GRUs by older names."""

from __future__ import annotations

from weft.framework.building.aliases import Activation, DTypeLike, Initializer, Nest
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.rnn.cell import BIAS_NAME, WEIGHTS_NAME, RNNCell, known_depth
from weft.models.rnn.cells import GRUCell, LSTMStateTuple
from weft.models.rnn.linear import LayerNorm, Linear, in_shards, joined
from weft.ops.array.joining import concat, split
from weft.ops.math.clip import clip_by_value
from weft.ops.math.products import matmul
from weft.ops.math.unary import sigmoid, tanh
from weft.ops.nn.activation import relu
from weft.ops.nn.bias import bias_add
from weft.ops.nn.dropout import dropout
from weft.ops.variables.matrix_initializers import constant_initializer, zeros_initializer
from weft.ops.variables.scopes import get_variable_scope
from weft.ops.variables.variable_scope import variable_scope
from weft.platform.logs import tf_logging


class LayerNormBasicLSTMCell(RNNCell):
    """An LSTM with layer normalization (arXiv:1607.06450) and recurrent dropout (arXiv:1603.05118).

    Inputs are `[batch, depth]`, memory and output `[batch, num_units]` each.

    Args:
        num_units: the size of memory and output.
        forget_bias: added to the forget gate.
        input_size: has no effect.
        activation: of the new memory and of the output.
        layer_norm: whether gates and memory are normalized; the gates have a bias otherwise.
        norm_gain, norm_shift: what gain and shift of the normalization are at first.
        dropout_keep_prob: how likely an element that goes into the memory is kept, a number or a scalar tensor.
        dropout_prob_seed: makes what is dropped repeatable.
        reuse: whether the variables exist already.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: int | None = None,
        activation: Activation = tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: float | Tensor = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if input_size is not None:
            tf_logging.warning("%s: The input_size parameter is deprecated.", self)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._activation = activation
        self._layer_norm = layer_norm
        self._gain_and_shift = norm_gain, norm_shift
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed

    @property
    def state_size(self) -> LSTMStateTuple:
        """The sizes of memory and output."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self._num_units

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make the kernel, and the normalizations or the bias."""
        size = self._num_units
        self._kernel = self.add_variable(WEIGHTS_NAME, [known_depth(inputs_shape) + size, 4 * size])
        if self._layer_norm:
            names = ("input", "transform", "forget", "output", "state")
            self._norms = [LayerNorm(self.add_variable, size, name, *self._gain_and_shift) for name in names]
        else:
            self._bias = self.add_variable(BIAS_NAME, [4 * size])

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        c, h = state
        gates = matmul(concat([inputs, h], 1), self._kernel)
        if not self._layer_norm:
            gates = bias_add(gates, self._bias)
        parts = split(value=gates, num_or_size_splits=4, axis=1)
        if self._layer_norm:
            parts = [norm(part) for norm, part in zip(self._norms[:4], parts, strict=True)]
        i, j, f, o = parts
        new = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            new = dropout(new, self._keep_prob, seed=self._seed)
        new_c = c * sigmoid(f + self._forget_bias) + sigmoid(i) * new
        if self._layer_norm:
            new_c = self._norms[4](new_c)
        new_h = self._activation(new_c) * sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


class CoupledInputForgetGateLSTMCell(RNNCell):
    """An LSTM that takes in as much as it forgets (Greff et al., 2015, arXiv:1503.04069).

    Inputs are `[batch, depth]`, the memory `[batch, num_units]`, the output `[batch, num_proj]`, or as the memory without
    a projection.

    Args:
        num_units: the size of the memory.
        use_peepholes: whether the gates see the memory, each element its own.
        initializer: kept for older programs; the variables have the initializer of their scope.
        num_proj: the size that the output is projected to; no projection when None.
        proj_clip: limits the projected output to plus or minus this.
        num_unit_shards, num_proj_shards: how many variables the kernels are kept in.
        forget_bias: added to the forget gate.
        state_is_tuple: whether the state is an LSTMStateTuple; else `c` and `h` are one tensor, side by side.
        activation: of the new memory and of the output.
        reuse: whether the variables exist already.
        layer_norm: whether gates and memory are normalized; the gates have no bias then.
        norm_gain, norm_shift: what gain and shift of the normalization are at first.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Initializer | None = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation = tanh,
        reuse: bool | None = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ) -> None:
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            tf_logging.warning("%s: Using a concatenated state is slower; use state_is_tuple=True.", self)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._shards = num_unit_shards, num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation
        self._layer_norm = layer_norm
        self._gain_and_shift = norm_gain, norm_shift

    @property
    def state_size(self) -> Nest:
        """The sizes of memory and output."""
        c, h = self._num_units, self.output_size
        return LSTMStateTuple(c, h) if self._state_is_tuple else c + h

    @property
    def output_size(self) -> int:
        """The size of the output, projected where it is."""
        return self._num_proj or self._num_units

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make kernel and bias, the normalizations, the peepholes and the projection."""
        size = self._num_units
        self._kernels = in_shards(
            self.add_variable, "W", known_depth(inputs_shape) + self.output_size, 3 * size, self._shards[0]
        )
        self._bias = self.add_variable("B", [3 * size], initializer=zeros_initializer())
        if self._layer_norm:
            names = ("transform", "forget", "output", "state")
            self._norms = [LayerNorm(self.add_variable, size, name, *self._gain_and_shift) for name in names]
        if self._use_peepholes:
            self._peepholes = [self.add_variable(f"W_{gate}_diag", [size]) for gate in "FO"]
        if self._num_proj is not None:
            self._projections = in_shards(self.add_variable, "W_P", size, self._num_proj, self._shards[1])

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        sizes = [self._num_units, self.output_size]
        c, h = state if self._state_is_tuple else split(value=state, num_or_size_splits=sizes, axis=1)
        gates = matmul(concat([inputs, h], 1), joined(self._kernels))
        if not self._layer_norm:
            gates = bias_add(gates, self._bias)
        parts = split(value=gates, num_or_size_splits=3, axis=1)
        if self._layer_norm:
            parts = [norm(part) for norm, part in zip(self._norms[:3], parts, strict=True)]
        j, f, o = parts
        f = f + self._forget_bias
        kept = sigmoid(f + self._peepholes[0] * c) if self._use_peepholes else sigmoid(f)
        new_c = kept * c + (1 - kept) * self._activation(j)
        if self._layer_norm:
            new_c = self._norms[3](new_c)
        shown = sigmoid(o + self._peepholes[1] * new_c) if self._use_peepholes else sigmoid(o)
        new_h = self._projected(shown * self._activation(new_c))
        return new_h, LSTMStateTuple(new_c, new_h) if self._state_is_tuple else concat([new_c, new_h], 1)

    def _projected(self, output: Tensor) -> Tensor:
        if self._num_proj is None:
            return output
        projected = matmul(output, joined(self._projections))
        return projected if self._proj_clip is None else clip_by_value(projected, -self._proj_clip, self._proj_clip)


class UGRNNCell(RNNCell):
    """A network with one gate, which mixes the old state and the new (Collins et al., 2017, arXiv:1611.09913).

    Inputs are `[batch, depth]`, the state and the output `[batch, num_units]`.

    Args:
        num_units: the size of state and output.
        initializer: of the kernel; that of the scope when None.
        forget_bias: added to the gate.
        activation: of the new state.
        reuse: whether the variables exist already.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Initializer | None = None,
        forget_bias: float = 1.0,
        activation: Activation = tanh,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation
        self._map: Linear | None = None

    @property
    def state_size(self) -> int:
        """The size of the state."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self._num_units

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Check the size of the inputs."""
        known_depth(inputs_shape)

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        with variable_scope(get_variable_scope()):
            both = [concat([inputs, state], 1)]
            if self._map is None:
                self._map = Linear(self.add_variable, both, 2 * self._num_units, initializer=self._initializer)
            gate, new = split(value=self._map(both), num_or_size_splits=2, axis=1)
            new = self._activation(new)
            kept = sigmoid(gate + self._forget_bias)
            output = kept * state + (1.0 - kept) * new
        return output, output


class NASCell(RNNCell):
    """The cell that architecture search found (Zoph and Le, 2017, arXiv:1611.01578).

    Inputs are `[batch, depth]`, the memory `[batch, num_units]`, the output `[batch, num_proj]`, or as the memory without
    a projection.

    Args:
        num_units: the size of the memory.
        num_proj: the size that the output is projected to; no projection when None.
        use_bias: whether there is a bias.
        reuse: whether the variables exist already.
        name: the name of the variable scope.
        dtype: the type of the variables; that of the inputs when None.
    """

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: bool | None = None,
        *,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        self._num_proj = num_proj
        self._use_bias = use_bias

    @property
    def state_size(self) -> LSTMStateTuple:
        """The sizes of memory and output."""
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        """The size of the output, projected where it is."""
        return self._num_units if self._num_proj is None else self._num_proj

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make both kernels, the bias and the projection."""
        size = self._num_units
        self.recurrent_kernel = self.add_variable("recurrent_kernel", [self.output_size, 8 * size])
        self.kernel = self.add_variable(WEIGHTS_NAME, [known_depth(inputs_shape), 8 * size])
        if self._use_bias:
            self.bias = self.add_variable(BIAS_NAME, [8 * size], initializer=zeros_initializer())
        if self._num_proj is not None:
            self.projection_weights = self.add_variable("projection_weights", [size, self._num_proj])

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        c, h = state
        from_state = matmul(h, self.recurrent_kernel)
        if self._use_bias:
            from_state = bias_add(from_state, self.bias)
        m = split(value=from_state, num_or_size_splits=8, axis=1)
        x = split(value=matmul(inputs, self.kernel), num_or_size_splits=8, axis=1)
        first = tanh(sigmoid(x[0] + m[0]) * relu(x[1] + m[1]))
        second = tanh(sigmoid(x[2] + m[2]) + relu(x[3] * m[3]))
        third = tanh(tanh(x[4] + m[4]) * sigmoid(x[5] + m[5]))
        fourth = sigmoid(tanh(x[6] + m[6]) + sigmoid(x[7] + m[7]))
        new_c = tanh(first + c) * second
        new_h = tanh(new_c * tanh(third + fourth))
        if self._num_proj is not None:
            new_h = matmul(new_h, self.projection_weights)
        return new_h, LSTMStateTuple(new_c, new_h)


class GRUBlockCellV2(GRUCell):
    """The GRU of `GRUCell` by the name of TensorFlow's fused form; XLA fuses both alike.

    Args:
        num_units: the size of state and output.
        cell_size: another name of `num_units`.
        reuse: whether the variables exist already.
        name: the name of the variable scope.

    Raises:
        ValueError: both `num_units` and `cell_size` are given, or none.
    """

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: bool | None = None,
        name: str = "gru_cell",
    ) -> None:
        size = cell_size if num_units is None else num_units
        if size is None or None not in (num_units, cell_size):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        super().__init__(size, reuse=reuse, name=name)

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """The output, which is the new state."""
        made = super().call(inputs, state)
        get_default_graph().node_count.total -= 18  # TensorFlow makes one op: later seeds go by the count.
        return made


class GRUBlockCell(GRUBlockCellV2):
    """GRUBlockCellV2 with variables that are named "w_ru", "b_ru", "w_c" and "b_c"."""

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make kernels and biases of the gates and the candidate."""
        size = self._num_units
        depth = known_depth(inputs_shape) + size
        self._gate_kernel = self.add_variable("w_ru", [depth, 2 * size])
        self._gate_bias = self.add_variable("b_ru", [2 * size], initializer=constant_initializer(1.0))
        self._candidate_kernel = self.add_variable("w_c", [depth, size])
        self._candidate_bias = self.add_variable("b_c", [size], initializer=constant_initializer(0.0))
