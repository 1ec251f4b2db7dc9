"""Cells of LSTMs over time and over frequencies that see each other: GridLSTMCell, and the one that goes both ways."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import NamedTuple

from weft.framework.building.aliases import Initializer, Nest, VariableLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.rnn.cell import RNNCell, batch_size_of
from weft.models.rnn.linear import in_shards, joined
from weft.models.rnn.time_frequency import clipped, known_size
from weft.ops.array.filling import zeros
from weft.ops.array.joining import concat, split
from weft.ops.array.padding import pad
from weft.ops.math.products import matmul
from weft.ops.math.unary import sigmoid, tanh
from weft.ops.nn.bias import bias_add
from weft.ops.variables.matrix_initializers import zeros_initializer
from weft.platform.logs import tf_logging


class _Block(NamedTuple):
    """The variables of one block of frequencies: kernel and bias by direction, and the peepholes by their names."""

    kernels: dict[str, list[VariableLike]]
    biases: dict[str, VariableLike]
    peepholes: dict[str, VariableLike]


class _Gates(NamedTuple):
    """What one direction computes of a window's inputs; without a forget gate where it is coupled to the input gate."""

    take: Tensor
    new: Tensor
    forget: Tensor | None
    show: Tensor


class GridLSTMCell(RNNCell):
    """LSTMs over time and over frequencies that see each other (Kalchbrenner et al., 2016, arXiv:1507.01526).

    Inputs are `[batch, depth]`, seen through windows; the output has the time LSTM's and the frequency LSTM's output of each
    window, `[batch, windows * 2 * num_units]`; the state is the time LSTM's memory and output for each window.

    Args:
        num_units: the size of each output.
        use_peepholes: whether the gates see the memories of both directions.
        share_time_frequency_weights: whether both directions have the same variables.
        cell_clip: limits the memories to plus or minus this; no limit when None.
        initializer: has no effect: kernels are initialized as the variable scope says.
        num_unit_shards: how many variables a kernel is kept in.
        forget_bias: added to the forget gates.
        feature_size: the size of a window.
        frequency_skip: how far one window begins behind the one before.
        num_frequency_blocks: for each block of frequencies how many windows it has; blocks have variables of their own.
        start_freqindex_list, end_freqindex_list: where each block begins and ends; all of the inputs are one when None.
        couple_input_forget_gates: whether what is not taken in is kept, without forget gates.
        state_is_tuple: whether the state is a named tuple `state_fFF_bBB_c, state_fFF_bBB_m, ...`; else one tensor.
        reuse: whether the variables exist already.

    Raises:
        ValueError: the number of windows is not given, or does not fit the inputs.
    """

    _PREFIXES: tuple[str, ...] = ("state",)
    _TUPLE = "GridLSTMStateTuple"

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Initializer | None = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            tf_logging.warning("%s: Using a concatenated state is slower; use state_is_tuple=True.", self)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units = num_units
        self._use_peepholes, self._is_shared = use_peepholes, share_time_frequency_weights
        self._is_coupled, self._state_is_tuple = couple_input_forget_gates, state_is_tuple
        self._cell_clip, self._forget_bias, self._shards = cell_clip, forget_bias, num_unit_shards
        self._feature_size, self._skip = feature_size, frequency_skip
        self._windows = [int(each) for each in num_frequency_blocks]
        self._starts, self._ends = start_freqindex_list, end_freqindex_list
        names = [
            f"{prefix}_f{index:02d}_b{block:02d}_{part}"
            for prefix in self._PREFIXES
            for block, count in enumerate(self._windows)
            for index in range(count)
            for part in "cm"
        ]
        self._state_tuple_type: Nest = collections.namedtuple(self._TUPLE, names) if state_is_tuple else None

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self._num_units * sum(self._windows) * 2 * len(self._PREFIXES)

    @property
    def state_size(self) -> Nest:
        """The sizes of the windows' memories and outputs."""
        if not self._state_is_tuple:
            return self._num_units * sum(self._windows) * 2
        return self._state_tuple_type(*[self._num_units] * len(self._state_tuple_type._fields))

    @property
    def state_tuple_type(self) -> Nest:
        """The named tuple of the state; None where the state is one tensor."""
        return self._state_tuple_type

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make the variables of each block."""
        self._blocks = {"state": self._made("")}

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step over all windows."""
        outputs, states = self._over(self._seen(inputs), state, "state")
        return concat(outputs, 1), self._state_tuple_type(*states) if self._state_is_tuple else concat(states, 1)

    def _made(self, prefix: str) -> list[_Block]:
        size, gates = self._num_units, 3 if self._is_coupled else 4
        rows, kinds = (self._feature_size or 0) + 2 * size, "f" if self._is_shared else "ft"
        blocks = []
        for index in range(len(self._windows)):
            made = _Block({}, {}, {})
            for kind in kinds:
                made.kernels[kind] = in_shards(self.add_variable, f"{prefix}W_{kind}_{index}", rows, gates * size, self._shards)
                made.biases[kind] = self.add_variable(
                    f"{prefix}B_{kind}_{index}", [gates * size], initializer=zeros_initializer()
                )
            if self._use_peepholes:
                for kind in kinds.replace("f", "freq ").replace("t", "time").split():
                    for gate in "IO" if self._is_coupled else "FIO":
                        for memory in "ft":
                            name = f"{gate}_diag_{kind}{memory}"
                            made.peepholes[name] = self.add_variable(f"{prefix}W_{name}_{index}", [size])
            blocks.append(made)
        return blocks

    def _over(self, seen: list[list[Tensor]], state: Nest, prefix: str) -> tuple[list[Tensor], list[Tensor]]:
        """The outputs and the states of the windows of all blocks, in one direction."""
        outputs: list[Tensor] = []
        states: list[Tensor] = []
        for index, (block, windows) in enumerate(zip(self._blocks[prefix], seen, strict=True)):
            c_freq = m_freq = zeros([batch_size_of(windows[0], 0), self._num_units], windows[0].dtype)
            for number, window in enumerate(windows):
                c_time, m_time = self._state_of(state, f"{prefix}_f{number:02d}_b{index:02d}", number)
                c_freq, m_freq, c_time, m_time = self._step(block, window, (c_freq, m_freq), (c_time, m_time))
                states += [c_time, m_time]
                outputs += [m_time, m_freq]
        return outputs, states

    def _state_of(self, state: Nest, name: str, number: int) -> tuple[Tensor, Tensor]:
        if self._state_is_tuple:
            return getattr(state, f"{name}_c"), getattr(state, f"{name}_m")
        size = self._num_units
        return state[:, 2 * number * size :][:, :size], state[:, (2 * number + 1) * size :][:, :size]

    def _step(
        self, block: _Block, window: Tensor, below: tuple[Tensor, Tensor], before: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """One window: memory and output over frequencies, memory and output over time."""
        (c_freq, m_freq), (c_time, m_time) = below, before
        inputs = concat([window, m_time, m_freq], 1)
        gates = {kind: self._gates(block, inputs, kind) for kind in block.kernels}
        freq, time = gates["f"], gates.get("t", gates["f"])
        over_freq, over_time = "freq", "freq" if self._is_shared else "time"
        new_freq = self._memory(block, over_freq, freq, (c_freq, c_time), c_freq)
        new_time = self._memory(block, over_time, time, (c_freq, c_time), c_time)
        memories = (new_freq, new_time)
        m_freq = sigmoid(freq.show + self._peeped(block, "O", over_freq, memories)) * tanh(new_freq)
        m_time = sigmoid(time.show + self._peeped(block, "O", over_time, memories)) * tanh(new_time)
        return new_freq, m_freq, new_time, m_time

    def _gates(self, block: _Block, inputs: Tensor, kind: str) -> _Gates:
        whole = bias_add(matmul(inputs, joined(block.kernels[kind])), block.biases[kind])
        parts = split(value=whole, num_or_size_splits=3 if self._is_coupled else 4, axis=1)
        return _Gates(parts[0], parts[1], None if self._is_coupled else parts[2], parts[-1])

    def _memory(self, block: _Block, kind: str, gates: _Gates, seen: tuple[Tensor, Tensor], memory: Tensor) -> Tensor:
        take = sigmoid(gates.take + self._peeped(block, "I", kind, seen))
        if gates.forget is None:
            keep = 1.0 - take
        else:
            keep = sigmoid(gates.forget + self._forget_bias + self._peeped(block, "F", kind, seen))
        return clipped(keep * memory + take * tanh(gates.new), self._cell_clip)

    def _peeped(self, block: _Block, gate: str, kind: str, memories: tuple[Tensor, Tensor]) -> Tensor | float:
        if not self._use_peepholes:
            return 0.0
        weights = (block.peepholes[f"{gate}_diag_{kind}{memory}"] for memory in "ft")
        of_freq, of_time = (weight * memory for weight, memory in zip(weights, memories, strict=True))
        both: Tensor = of_freq + of_time
        return both

    def _seen(self, inputs: Tensor, offset: int = 0) -> list[list[Tensor]]:
        """The windows of each block, so far behind their places."""
        size = known_size(inputs)
        if offset:
            inputs = pad(inputs, [[0, 0], [0, offset] if offset > 0 else [-offset, 0]])
        if not self._starts:
            if len(self._windows) != 1:
                raise ValueError(f"Length of num_frequency_blocks is not 1, but instead is {len(self._windows)}")
            spans = [(0, size)]
        else:
            if not len(self._starts) == len(self._ends or ()) == len(self._windows):
                raise ValueError(
                    "Length of start and end freqindex_list does not match, or is not that of num_frequency_blocks: "
                    f"{self._starts}, {self._ends}, {self._windows}"
                )
            spans = list(zip(self._starts, self._ends or (), strict=True))
        window, skip = self._feature_size, self._skip
        if window is None or skip is None:
            raise ValueError("GridLSTMCell: feature_size and frequency_skip must be given")
        seen = []
        for (start, end), count in zip(spans, self._windows, strict=True):
            fitting = int((end - start - window) / skip) + 1
            if fitting != count:
                raise ValueError(
                    f"Invalid num_frequency_blocks, requires {count} but gets {fitting}, please check the input size and "
                    "filter config are correct."
                )
            begins = [start + max(offset, 0) + index * skip for index in range(count)]
            seen.append([inputs[:, begin : begin + window] for begin in begins])
        return seen


class BidirectionalGridLSTMCell(GridLSTMCell):
    """A GridLSTMCell that goes over the frequencies both ways, with variables for each; time goes on in one direction.

    The arguments are GridLSTMCell's, without `state_is_tuple`: the state is a named tuple, forward states first; outputs are
    of both ways, side by side.

    Args:
        num_units: the size of each frequency's state.
        use_peepholes, share_time_frequency_weights, couple_input_forget_gates: as in GridLSTMCell.
        cell_clip: the greatest magnitude of the memory; any when None.
        initializer: of the weights.
        num_unit_shards: how many parts the weights are made in.
        forget_bias: added to the forget gates.
        feature_size, frequency_skip: the size of a window of the inputs, and the distance of windows.
        num_frequency_blocks, start_freqindex_list, end_freqindex_list: how many windows, and where they begin and end.
        backward_slice_offset: how far behind the windows of the way back are, in the inputs.
        reuse: whether the variables exist already.
    """

    _PREFIXES = ("fwd_state", "bwd_state")
    _TUPLE = "BidirectionalGridLSTMStateTuple"

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Initializer | None = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        backward_slice_offset: int = 0,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(
            num_units, use_peepholes, share_time_frequency_weights, cell_clip, initializer, num_unit_shards, forget_bias,
            feature_size, frequency_skip, num_frequency_blocks, start_freqindex_list, end_freqindex_list,
            couple_input_forget_gates, True, reuse,
        )  # fmt: skip
        self._offset = int(backward_slice_offset)

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make the variables of each block, for both ways."""
        self._blocks = {prefix: self._made(f"{prefix[:3]}/") for prefix in self._PREFIXES}

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step over all windows, both ways."""
        back = [windows[::-1] for windows in self._seen(inputs, self._offset)]
        outputs, states = self._over(self._seen(inputs), state, self._PREFIXES[0])
        more, further = self._over(back, state, self._PREFIXES[1])
        return concat(outputs + more, 1), self._state_tuple_type(*states, *further)
