"""The cell that goes over the frequencies of its inputs as well as over time, from low to high: TimeFreqLSTMCell."""

from __future__ import annotations

from weft.framework.building.aliases import Initializer, Nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.rnn.cell import RNNCell, batch_size_of
from weft.models.rnn.linear import in_shards, joined
from weft.ops.array.filling import zeros
from weft.ops.array.joining import concat, split
from weft.ops.math.clip import clip_by_value
from weft.ops.math.products import matmul
from weft.ops.math.unary import sigmoid, tanh
from weft.ops.nn.bias import bias_add
from weft.ops.variables.matrix_initializers import zeros_initializer


def known_size(inputs: Tensor | TensorShape) -> int:
    """How many features the inputs `[batch, depth]` have.

    Raises:
        ValueError: the depth is not known while the graph is built, or the inputs are no matrix.
    """
    shape = inputs if isinstance(inputs, TensorShape) else inputs.shape
    size = shape.with_rank(2)[1].value
    if size is None:
        raise ValueError(
            f"Cannot infer input_size from static shape inference: the inputs are {shape}, their second size must be known."
        )
    return int(size)


def clipped(memory: Tensor, limit: float | None) -> Tensor:
    """The memory within plus and minus the limit; as it is when None."""
    return memory if limit is None else clip_by_value(memory, -limit, limit)


class TimeFreqLSTMCell(RNNCell):
    """An LSTM over windows of its inputs, from low frequencies to high ones (Sainath and Li, Interspeech 2016).

    Inputs are `[batch, depth]`; the output is the windows' outputs side by side, `[batch, windows * num_units]`, and the state
    their memories and outputs, `[batch, windows * 2 * num_units]`.

    Args:
        num_units: the size of one window's output.
        use_peepholes: whether the gates see the memory.
        cell_clip: limits the memory to plus or minus this; no limit when None.
        initializer: has no effect: kernels are initialized as the variable scope says.
        num_unit_shards: how many variables the kernel is kept in.
        forget_bias: added to the forget gate.
        feature_size: the size of a window.
        frequency_skip: how far one window begins behind the one before.
        reuse: whether the variables exist already.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Initializer | None = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int = 1,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._skip = frequency_skip

    @property
    def output_size(self) -> int:
        """The size of one window's output."""
        return self._num_units

    @property
    def state_size(self) -> int:
        """The size of one window's state."""
        return 2 * self._num_units

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make the kernel and the bias, which all windows share, and the peepholes."""
        size, window = self._num_units, self._feature_size
        if window is None:
            raise ValueError("TimeFreqLSTMCell: feature_size must be given")
        self._windows = int((known_size(inputs_shape) - window) / self._skip) + 1
        self._kernel = in_shards(self.add_variable, "W", window + 2 * size, 4 * size, self._shards)
        self._bias = self.add_variable("B", [4 * size], initializer=zeros_initializer())
        if self._use_peepholes:
            self._peepholes = {gate: self.add_variable(f"W_{gate}_diag", [size]) for gate in "FIO"}

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step over all windows."""
        size, window = self._num_units, self._feature_size
        kernel = joined(self._kernel)
        below = zeros([batch_size_of(inputs, 0), size], inputs.dtype)
        outputs: list[Tensor] = []
        states: list[Tensor] = []
        for index in range(self._windows):
            begin, end = index * self._skip, index * self._skip + (window or 0)
            c, h = (state[:, (2 * index + part) * size : (2 * index + part + 1) * size] for part in range(2))
            gates = bias_add(matmul(concat([inputs[:, begin:end], h, below], 1), kernel), self._bias)
            i, j, f, o = split(value=gates, num_or_size_splits=4, axis=1)
            forget = sigmoid(f + self._forget_bias + self._seen("F", c))
            new_c = clipped(forget * c + sigmoid(i + self._seen("I", c)) * tanh(j), self._cell_clip)
            below = sigmoid(o + self._seen("O", new_c)) * tanh(new_c)
            outputs.append(below)
            states += [new_c, below]
        return concat(outputs, 1), concat(states, 1)

    def _seen(self, gate: str, memory: Tensor) -> Tensor | float:
        return self._peepholes[gate] * memory if self._use_peepholes else 0.0
