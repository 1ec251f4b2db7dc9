"""CuDNNLSTM and CuDNNGRU: the recurrent layers of NVIDIA's library with its weights, computed by XLA on any device."""

from __future__ import annotations

from weft.framework.building.aliases import Nest
from weft.networks.config import Options
from weft.networks.layers.recurrent.cells import GRUCell, LSTMCell
from weft.networks.layers.recurrent.layers import over
from weft.networks.objects.arguments import keeps_arguments
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape
from weft.ops.variables.initializers import Ones


class CuDNNLSTMCell(LSTMCell):
    """An LSTMCell with a bias for inputs and one for states, one behind the other, and sigmoid gates."""

    @keeps_arguments
    def __init__(
        self, units: int, kernel_initializer: Nest = "glorot_uniform", recurrent_initializer: Nest = "orthogonal",
        bias_initializer: Nest = "zeros", unit_forget_bias: bool = True, kernel_regularizer: Nest = None,
        recurrent_regularizer: Nest = None, bias_regularizer: Nest = None, kernel_constraint: Nest = None,
        recurrent_constraint: Nest = None, bias_constraint: Nest = None, **kwargs: Options,
    ) -> None:  # fmt: skip
        super().__init__(
            units, "tanh", "sigmoid", True, kernel_initializer, recurrent_initializer, bias_initializer, unit_forget_bias,
            kernel_regularizer, recurrent_regularizer, bias_regularizer, kernel_constraint, recurrent_constraint,
            bias_constraint, **kwargs,
        )  # fmt: skip

    def _bias_shape(self) -> tuple[int, ...]:
        return (8 * self.units,)

    def _bias_initializer(self, given: Nest) -> Nest:
        if not self.unit_forget_bias:
            return given
        n = self.units
        return lambda shape, dtype=None, partition_info=None: concat(
            [given((5 * n,), dtype=dtype), Ones()((n,), dtype=dtype), given((2 * n,), dtype=dtype)], axis=-1
        )

    def step_bias(self) -> Nest:
        """Both biases, which are added to the same sum."""
        return self.bias[: 4 * self.units] + self.bias[4 * self.units :]


class CuDNNGRUCell(GRUCell):
    """A GRUCell that resets after the product with the state, whose biases lie one behind the other, with sigmoid gates."""

    @keeps_arguments
    def __init__(
        self, units: int, kernel_initializer: Nest = "glorot_uniform", recurrent_initializer: Nest = "orthogonal",
        bias_initializer: Nest = "zeros", kernel_regularizer: Nest = None, recurrent_regularizer: Nest = None,
        bias_regularizer: Nest = None, kernel_constraint: Nest = None, recurrent_constraint: Nest = None,
        bias_constraint: Nest = None, **kwargs: Options,
    ) -> None:  # fmt: skip
        super().__init__(
            units, "tanh", "sigmoid", True, kernel_initializer, recurrent_initializer, bias_initializer, kernel_regularizer,
            recurrent_regularizer, bias_regularizer, kernel_constraint, recurrent_constraint, bias_constraint,
            reset_after=True, **kwargs,
        )  # fmt: skip

    def _bias_shape(self) -> tuple[int, ...]:
        return (6 * self.units,)

    def step_bias(self) -> Nest:
        """The biases of inputs and states, a row each."""
        return reshape(self.bias, [2, 3 * self.units])


_DOC = """{kind} with the weights of NVIDIA's library, on any device: sigmoid gates, and a bias `[{biases} * units]`.

`[batch, steps, size] -> [batch, units]`, or `[batch, steps, units]` with `return_sequences`.

Args:
    units: the size of the output.
    kernel_initializer, recurrent_initializer, bias_initializer: what the variables begin with.
{further}    kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties on the variables.
    activity_regularizer: a penalty on the outputs.
    kernel_constraint, recurrent_constraint, bias_constraint: projections after updates.
    return_sequences, return_state, go_backwards, stateful: as of RNN.
    kwargs: `time_major` of RNN; see Layer.
"""

_FORGETS = "    unit_forget_bias: whether the forget gate's bias begins with ones.\n"
_OWN = ("return_sequences", "return_state", "go_backwards", "stateful", "time_major")

CuDNNLSTM = over(
    CuDNNLSTMCell, "CuDNNLSTM", _DOC.format(kind="LSTM", biases=8, further=_FORGETS), __name__, _OWN
)  # fmt: skip
CuDNNGRU = over(CuDNNGRUCell, "CuDNNGRU", _DOC.format(kind="GRU", biases=6, further=""), __name__, _OWN)
