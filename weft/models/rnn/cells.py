"""The recurrent cells: the plain one, GRU and LSTM."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.framework.building.aliases import Activation, DTypeLike, Initializer, Nest
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.models.layers.named_objects import activation_of, initializer_of
from weft.models.rnn.cell import BIAS_NAME, WEIGHTS_NAME, RNNCell, known_depth
from weft.ops.array.constant import constant
from weft.ops.array.joining import concat, split
from weft.ops.math.clip import clip_by_value
from weft.ops.math.elementwise import add, mul
from weft.ops.math.products import matmul
from weft.ops.math.unary import sigmoid, tanh
from weft.ops.nn.bias import bias_add
from weft.ops.variables.matrix_initializers import constant_initializer, zeros_initializer
from weft.ops.variables.partitioners import fixed_size_partitioner
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.logs import tf_logging


class BasicRNNCell(RNNCell):
    """`output = new state = activation(W [inputs, state] + b)`.

    Inputs are `[batch, depth]`, the state and the output `[batch, num_units]`.

    Args:
        num_units: the size of state and output.
        activation: tanh when None.
        reuse: whether the variables exist already.
        name: the name of the variable scope.
        dtype: the type of the variables; that of the inputs when None.
        kwargs: `trainable`, whether the variables are trainable; a TypeError for anything else.
    """

    _takes_floats = True

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_arguments(BasicRNNCell.__init__, num_units=num_units)
        self._num_units = num_units
        self._activation = activation_of(activation or None) or tanh

    @property
    def state_size(self) -> int:
        """The size of the state."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self._num_units

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make kernel and bias."""
        depth = known_depth(inputs_shape)
        self._kernel = self.add_variable(WEIGHTS_NAME, [depth + self._num_units, self._num_units])
        self._bias = self.add_variable(BIAS_NAME, [self._num_units], initializer=zeros_initializer(dtype=self.dtype))

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        output = self._activation(bias_add(matmul(concat([inputs, state], 1), self._kernel), self._bias))
        return output, output


class GRUCell(RNNCell):
    """The gated recurrent unit of Cho et al. (2014), arXiv:1406.1078.

    Inputs are `[batch, depth]`, the state and the output `[batch, num_units]`.

    Args:
        num_units: the size of state and output.
        activation: tanh when None.
        reuse: whether the variables exist already.
        kernel_initializer: of gates and candidate.
        bias_initializer: of gates and candidate; ones for the gates and zeros for the candidate when None.
        name: the name of the variable scope.
        dtype: the type of the variables; that of the inputs when None.
        kwargs: `trainable`, whether the variables are trainable; a TypeError for anything else.
    """

    _takes_floats = True

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: bool | None = None,
        kernel_initializer: Initializer | None = None,
        bias_initializer: Initializer | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_arguments(GRUCell.__init__, num_units=num_units)
        self._num_units = num_units
        self._activation = activation_of(activation or None) or tanh
        self._kernel_initializer = initializer_of(kernel_initializer)
        self._bias_initializer = initializer_of(bias_initializer)

    @property
    def state_size(self) -> int:
        """The size of the state."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self._num_units

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make kernels and biases of the gates and the candidate."""
        size = self._num_units
        depth = known_depth(inputs_shape) + size
        gates = self._bias_initializer or constant_initializer(1.0, dtype=self.dtype)
        candidate = self._bias_initializer or zeros_initializer(dtype=self.dtype)
        self._gate_kernel = self.add_variable(f"gates/{WEIGHTS_NAME}", [depth, 2 * size], initializer=self._kernel_initializer)
        self._gate_bias = self.add_variable(f"gates/{BIAS_NAME}", [2 * size], initializer=gates)
        self._candidate_kernel = self.add_variable(
            f"candidate/{WEIGHTS_NAME}", [depth, size], initializer=self._kernel_initializer
        )
        self._candidate_bias = self.add_variable(f"candidate/{BIAS_NAME}", [size], initializer=candidate)

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        gates = sigmoid(bias_add(matmul(concat([inputs, state], 1), self._gate_kernel), self._gate_bias))
        reset, update = split(value=gates, num_or_size_splits=2, axis=1)
        candidate = bias_add(matmul(concat([inputs, reset * state], 1), self._candidate_kernel), self._candidate_bias)
        output = update * state + (1 - update) * self._activation(candidate)
        return output, output


class LSTMStateTuple(NamedTuple):
    """The state of an LSTM.

    Args:
        c: the memory, `[batch, num_units]`.
        h: the output, `[batch, output size]`.

    >>> tf.contrib.rnn.LSTMStateTuple(c=1, h=2)
    LSTMStateTuple(c=1, h=2)
    """

    c: Any
    h: Any

    @property
    def dtype(self) -> DType:
        """The type of both; TypeError when they differ."""
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        found: DType = self.c.dtype
        return found


def _pair_of(cell: RNNCell, state: Nest) -> tuple[Tensor, Tensor]:
    """Memory and output of an LSTM's state; TypeError for one tensor of both."""
    if isinstance(state, Tensor):
        raise TypeError(
            f"The state of {cell.name!r} is a pair (c, h), and got one tensor: {described(state)}. cell.zero_state(batch, "
            "tf.float32) makes the pair; state_is_tuple=False lets the cell take both in one tensor."
        )
    c, h = state
    return c, h


class BasicLSTMCell(RNNCell):
    """The LSTM of Zaremba et al. (2014), arXiv:1409.2329, without clipping, projection or peepholes.

    Inputs are `[batch, depth]`, memory and output `[batch, num_units]` each.

    Args:
        num_units: the size of memory and output.
        forget_bias: added to the forget gate, so that little is forgotten at first.
        state_is_tuple: whether the state is an LSTMStateTuple; else `c` and `h` are one tensor, side by side.
        activation: tanh when None.
        reuse: whether the variables exist already.
        name: the name of the variable scope.
        dtype: the type of the variables; that of the inputs when None.
        kwargs: `trainable`, whether the variables are trainable; a TypeError for anything else.

    >>> cell = tf.contrib.rnn.BasicLSTMCell(4)
    >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.zeros([2, 3, 5]), dtype=tf.float32)
    >>> outputs.shape, state.c.shape
    (TensorShape([Dimension(2), Dimension(3), Dimension(4)]), TensorShape([Dimension(2), Dimension(4)]))
    """

    _takes_floats = True

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        if not state_is_tuple:
            tf_logging.warning("%s: Using a concatenated state is slower; use state_is_tuple=True.", self)
        check_arguments(BasicLSTMCell.__init__, num_units=num_units)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation_of(activation or None) or tanh

    @property
    def state_size(self) -> Nest:
        """The sizes of memory and output."""
        size = self._num_units
        return LSTMStateTuple(size, size) if self._state_is_tuple else 2 * size

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self._num_units

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make kernel and bias."""
        depth = known_depth(inputs_shape)
        self._kernel = self.add_variable(WEIGHTS_NAME, [depth + self._num_units, 4 * self._num_units])
        self._bias = self.add_variable(BIAS_NAME, [4 * self._num_units], initializer=zeros_initializer(dtype=self.dtype))

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        # One node for all splits: later random nodes get their seeds by the count.
        one = constant(1)
        c, h = _pair_of(self, state) if self._state_is_tuple else split(value=state, num_or_size_splits=2, axis=one)
        gates = bias_add(matmul(concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=one)
        forget_bias = constant(self._forget_bias, f.dtype)
        # By functions, whose nodes are named Add and Mul; operators' are add and mul.
        kept = mul(c, sigmoid(add(f, forget_bias)))
        new_c = add(kept, mul(sigmoid(i), self._activation(j)))
        new_h = mul(self._activation(new_c), sigmoid(o))
        return new_h, _lstm_state(new_c, new_h, self._state_is_tuple)


class LSTMCell(RNNCell):
    """The LSTM of Sak et al. (2014), arXiv:1402.1128: with peepholes, a projection and clipping where asked for.

    Inputs are `[batch, depth]`, the memory `[batch, num_units]`, the output `[batch, num_proj]`, or as the memory without
    a projection.

    Args:
        num_units: the size of the memory.
        use_peepholes: whether the gates see the memory, each element its own.
        cell_clip: limits the memory to plus or minus this.
        initializer: of kernels and peepholes.
        num_proj: the size that the output is projected to; no projection when None.
        proj_clip: limits the projected output to plus or minus this.
        num_unit_shards, num_proj_shards: how many parts the kernels are kept in; a partitioner of the scope does the same.
        forget_bias: added to the forget gate, so that little is forgotten at first.
        state_is_tuple: whether the state is an LSTMStateTuple; else `c` and `h` are one tensor, side by side.
        activation: tanh when None.
        reuse: whether the variables exist already.
        name: the name of the variable scope.
        dtype: the type of the variables; that of the inputs when None.
        kwargs: `trainable`, whether the variables are trainable; a TypeError for anything else.
    """

    _takes_floats = True

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Initializer | None = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        if not state_is_tuple:
            tf_logging.warning("%s: Using a concatenated state is slower; use state_is_tuple=True.", self)
        check_arguments(LSTMCell.__init__, num_units=num_units)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer_of(initializer)
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._unit_partitioner = fixed_size_partitioner(num_unit_shards) if num_unit_shards else None
        self._proj_partitioner = fixed_size_partitioner(num_proj_shards) if num_proj_shards else None
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation_of(activation or None) or tanh

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
        """Make kernel and bias, the peepholes and the projection."""
        size, initializer = self._num_units, self._initializer
        depth = known_depth(inputs_shape) + self.output_size
        self._kernel = self.add_variable(
            WEIGHTS_NAME, [depth, 4 * size], initializer=initializer, partitioner=self._unit_partitioner
        )
        self._bias = self.add_variable(BIAS_NAME, [4 * size], initializer=zeros_initializer(dtype=self.dtype))
        if self._use_peepholes:
            self._peepholes = [self.add_variable(f"w_{gate}_diag", [size], initializer=initializer) for gate in "fio"]
        if self._num_proj:
            name = f"projection/{WEIGHTS_NAME}"
            self._projection = self.add_variable(
                name, [size, self._num_proj], initializer=initializer, partitioner=self._proj_partitioner
            )

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        sizes = [self._num_units, self.output_size]
        c, h = _pair_of(self, state) if self._state_is_tuple else split(value=state, num_or_size_splits=sizes, axis=1)
        gates = bias_add(matmul(concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=1)
        f = f + self._forget_bias
        if self._use_peepholes:
            f, i = f + self._peepholes[0] * c, i + self._peepholes[1] * c
        new_c = _clipped(sigmoid(f) * c + sigmoid(i) * self._activation(j), self._cell_clip)
        if self._use_peepholes:
            o = o + self._peepholes[2] * new_c
        new_h = sigmoid(o) * self._activation(new_c)
        if self._num_proj:
            new_h = _clipped(matmul(new_h, self._projection), self._proj_clip)
        return new_h, _lstm_state(new_c, new_h, self._state_is_tuple)


class LSTMBlockCell(LSTMCell):
    """The LSTM of `LSTMCell` without projection, by the name of TensorFlow's fused form; XLA fuses both alike.

    Inputs are `[batch, depth]`, memory and output `[batch, num_units]` each.

    Args:
        num_units: the size of memory and output.
        forget_bias: added to the forget gate.
        cell_clip: limits the memory to plus or minus this; no limit when None.
        use_peephole: whether the gates see the memory, each element its own.
        dtype: the type of the variables; that of the inputs when None.
        reuse: whether the variables exist already.
        name: the name of the variable scope.
    """

    def __init__(
        self, num_units: int, forget_bias: float = 1.0, cell_clip: float | None = None, use_peephole: bool = False,
        dtype: DTypeLike | None = None, reuse: bool | None = None, name: str = "lstm_cell",
    ) -> None:  # fmt: skip
        super().__init__(num_units, use_peephole, cell_clip, forget_bias=forget_bias, reuse=reuse, name=name, dtype=dtype)

    @property
    def has_peepholes(self) -> bool:
        """Whether the gates see the memory."""
        return self._use_peepholes

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """The output and the new state of one step."""
        made = super().call(inputs, state)
        # TensorFlow makes one op, and zeros for the peepholes that are not there: later seeds go by the count.
        get_default_graph().node_count.total -= (23 if self._use_peepholes else 16) + (4 if self._cell_clip is not None else 0)
        return made


def _clipped(tensor: Tensor, limit: float | None) -> Tensor:
    return tensor if limit is None else clip_by_value(tensor, -limit, limit)


def _lstm_state(c: Tensor, h: Tensor, as_tuple: bool) -> Nest:
    return LSTMStateTuple(c, h) if as_tuple else concat([c, h], 1)
