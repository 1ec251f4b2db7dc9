"""PhasedLSTMCell: an LSTM whose units are open in a part of a period of their own (Neil et al., 2016, arXiv:1610.09513)."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import DTypeLike, Nest, TensorLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.rnn.cell import RNNCell
from weft.models.rnn.cells import LSTMStateTuple
from weft.models.rnn.linear import Linear
from weft.ops.array.identity import stop_gradient
from weft.ops.array.joining import split
from weft.ops.array.selection import where
from weft.ops.math.casting import cast
from weft.ops.math.division import floor_mod
from weft.ops.math.unary import exp, log, sigmoid, tanh
from weft.ops.random.functions import random_uniform
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.matrix_initializers import constant_initializer
from weft.ops.variables.variable_scope import variable_scope


class PhasedLSTMCell(RNNCell):
    """An LSTM for events at any times: each unit takes notice of them in a part of its period alone.

    Inputs are a pair of the times, `[batch, 1]` float32 or float64, and the features, `[batch, depth]` float32; memory and
    output are `[batch, num_units]` each, in an LSTMStateTuple.

    Args:
        num_units: the size of memory and output.
        use_peepholes: whether the gates see the memory.
        leak: how much passes while a unit is closed, in [0, 1].
        ratio_on: which part of the period a unit is open, in [0, 1], at first.
        trainable_ratio_on: whether that part is trained.
        period_init_min, period_init_max: between which the periods are drawn, evenly by their logarithms.
        reuse: whether the variables exist already.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float | Tensor = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._leak = leak
        self._ratio_on, self._trainable_ratio_on = ratio_on, trainable_ratio_on
        self._periods = period_init_min, period_init_max
        self._maps: dict[str, Linear] = {}
        self._has_times = False

    @property
    def state_size(self) -> LSTMStateTuple:
        """The sizes of memory and output."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self._num_units

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        (time, x), (c, h) = inputs, state
        seen = [x, h, c] if self._use_peepholes else [x, h]
        # Variables are of the features' type, which that of the times need not be.
        self._dtype = x.dtype.base_dtype
        with variable_scope("mask_gates"):
            take, keep = split(value=sigmoid(self._mapped("mask_gates", seen, 2)), num_or_size_splits=2, axis=1)
        with variable_scope("new_input"):
            new = tanh(self._mapped("new_input", [x, h]))
        new_c = c * keep + take * new
        with variable_scope("output_gate"):
            shown = [x, h, new_c] if self._use_peepholes else [x, h]
            output_gate = sigmoid(self._mapped("output_gate", shown))
        new_h = tanh(new_c) * output_gate
        if not self._has_times:
            self._make_times()
        openness = self._openness(time)
        new_c = openness * new_c + (1 - openness) * c
        new_h = openness * new_h + (1 - openness) * h
        return new_h, LSTMStateTuple(new_c, new_h)

    def _mapped(self, name: str, parts: Sequence[Tensor], multiple: int = 1) -> Tensor:
        """The parts through the linear map of a name, which is made at its first use."""
        if name not in self._maps:
            self._maps[name] = Linear(self.add_variable, parts, multiple * self._num_units)
        return self._maps[name](parts)

    def _make_times(self) -> None:
        """Make the variables of the times when the units are open."""
        size, self._has_times = self._num_units, True
        self._period = self.add_variable("period", [size], initializer=self._drawn_period)
        self._phase = self.add_variable("phase", [size], initializer=self._drawn_phase)
        self._ratio = get_variable(
            "ratio_on", [size], self._dtype, constant_initializer(self._ratio_on),
            trainable=self.trainable and self._trainable_ratio_on,
        )  # fmt: skip
        self._trainable_weights.append(self._ratio)

    def _drawn_period(self, shape: TensorLike, dtype: DTypeLike = dtypes.float32, partition_info: object = None) -> Tensor:
        least, most = self._periods
        return exp(random_uniform(shape, log(least), log(most), dtype))

    def _drawn_phase(self, shape: TensorLike, dtype: DTypeLike = dtypes.float32, partition_info: object = None) -> Tensor:
        # Below what the period is drawn as in the same run: its variable need not have a value yet.
        return random_uniform(shape, 0.0, self._period.initial_value, dtype)

    @property
    def trainable_variables(self) -> list[Nest]:
        """The variables that are trained."""
        return [each for each in super().trainable_variables if self._trainable_ratio_on or each is not self._ratio]

    trainable_weights = trainable_variables

    def _openness(self, time: Tensor) -> Tensor:
        """How far each unit is open at a time: up and down again while it is on, by the leak afterwards."""
        period = cast(self._period, time.dtype)
        shifted = time - cast(self._phase, time.dtype)
        # The gradient is that of the time itself.
        since = stop_gradient(floor_mod(shifted, period) - shifted) + shifted
        part = cast(since / period, self._dtype)
        up = 2 * part / self._ratio
        after_half = where(part < self._ratio, 2 - up, self._leak * part)
        return where(part < 0.5 * self._ratio, up, after_half)
