"""Convolutional LSTM cells, whose inputs and states are images, sequences or volumes."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Initializer, Nest
from weft.framework.types.tensor_shape import TensorShape
from weft.models.rnn.cell import WEIGHTS_NAME, RNNCell, known_depth
from weft.models.rnn.cells import LSTMStateTuple
from weft.ops.array.joining import concat, split
from weft.ops.math.unary import sigmoid, tanh
from weft.ops.nn.conv import conv1d, conv2d, conv3d
from weft.ops.variables.matrix_initializers import constant_initializer


class ConvLSTMCell(RNNCell):
    """The convolutional LSTM (Shi et al., 2015, arXiv:1506.04214), without peepholes.

    Inputs are `[batch, *input_shape]`; memory and output are as large, with `output_channels` channels.

    Args:
        conv_ndims: how many dimensions are convolved: 1, 2 or 3.
        input_shape: the shape of the inputs without the batch, channels last.
        output_channels: how many channels memory and output have.
        kernel_shape: the shape of the kernel, `conv_ndims` sizes.
        use_bias: whether there is a bias.
        skip_connection: whether the output has the channels of the input, too.
        forget_bias: added to the forget gate.
        initializers: has no effect.
        name: the name of the variable scope.

    Raises:
        ValueError: `input_shape` has another number of dimensions.
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Sequence[int],
        output_channels: int,
        kernel_shape: Sequence[int],
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Initializer | None = None,
        name: str = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._ndims = conv_ndims
        self._input_shape = list(input_shape)
        self._channels = output_channels
        self._kernel_shape = list(kernel_shape)
        self._use_bias = use_bias
        self._skip_connection = skip_connection
        self._forget_bias = forget_bias

    @property
    def state_size(self) -> LSTMStateTuple:
        """The shapes of memory and output."""
        size = TensorShape([*self._input_shape[:-1], self._channels])
        return LSTMStateTuple(size, size)

    @property
    def output_size(self) -> TensorShape:
        """The shape of the output, with the channels of the input where they are joined to it."""
        more = self._input_shape[-1] if self._skip_connection else 0
        return TensorShape([*self._input_shape[:-1], self._channels + more])

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        """Make kernel and bias."""
        depth = known_depth(inputs_shape) + self._channels
        self._kernel = self.add_variable(WEIGHTS_NAME, [*self._kernel_shape, depth, 4 * self._channels])
        if self._use_bias:
            self._bias = self.add_variable(
                "biases", [4 * self._channels], initializer=constant_initializer(0.0, dtype=self.dtype)
            )

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        c, h = state
        gates = self._convolved(concat([inputs, h], self._ndims + 1))
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=self._ndims + 1)
        new_c = sigmoid(f + self._forget_bias) * c + sigmoid(i) * tanh(j)
        new_h = tanh(new_c) * sigmoid(o)
        # TensorFlow keeps the joined output as state, which does not fit `state_size`: its second step fails.
        output = concat([new_h, inputs], -1) if self._skip_connection else new_h
        return output, LSTMStateTuple(new_c, new_h)

    def _convolved(self, both: Nest) -> Nest:
        if self._ndims == 1:
            made = conv1d(both, self._kernel, 1, padding="SAME")
        else:
            convolve = conv2d if self._ndims == 2 else conv3d
            made = convolve(both, self._kernel, [1] * (self._ndims + 2), padding="SAME")
        return made + self._bias if self._use_bias else made


class Conv1DLSTMCell(ConvLSTMCell):
    """The ConvLSTMCell of sequences, `[batch, length, channels]`.

    Args:
        name: the name of the variable scope.
        input_shape: the shape of the inputs without the batch, channels last.
        output_channels: how many channels memory and output have.
        kernel_shape: the shape of the kernel, one size for each dimension that is convolved.
        use_bias: whether there is a bias.
        skip_connection: whether the output has the channels of the input, too.
        forget_bias: added to the forget gate.
        initializers: has no effect.

    Raises:
        ValueError: `input_shape` has another number of dimensions.
    """

    def __init__(
        self,
        name: str = "conv_1d_lstm_cell",
        *,
        input_shape: Sequence[int],
        output_channels: int,
        kernel_shape: Sequence[int],
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Initializer | None = None,
    ) -> None:
        super().__init__(
            1, input_shape, output_channels, kernel_shape, use_bias, skip_connection, forget_bias, initializers, name
        )


class Conv2DLSTMCell(ConvLSTMCell):
    """The ConvLSTMCell of images, `[batch, height, width, channels]`.

    Args:
        name: the name of the variable scope.
        input_shape: the shape of the inputs without the batch, channels last.
        output_channels: how many channels memory and output have.
        kernel_shape: the shape of the kernel, one size for each dimension that is convolved.
        use_bias: whether there is a bias.
        skip_connection: whether the output has the channels of the input, too.
        forget_bias: added to the forget gate.
        initializers: has no effect.

    Raises:
        ValueError: `input_shape` has another number of dimensions.
    """

    def __init__(
        self,
        name: str = "conv_2d_lstm_cell",
        *,
        input_shape: Sequence[int],
        output_channels: int,
        kernel_shape: Sequence[int],
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Initializer | None = None,
    ) -> None:
        super().__init__(
            2, input_shape, output_channels, kernel_shape, use_bias, skip_connection, forget_bias, initializers, name
        )


class Conv3DLSTMCell(ConvLSTMCell):
    """The ConvLSTMCell of volumes, `[batch, depth, height, width, channels]`.

    Args:
        name: the name of the variable scope.
        input_shape: the shape of the inputs without the batch, channels last.
        output_channels: how many channels memory and output have.
        kernel_shape: the shape of the kernel, one size for each dimension that is convolved.
        use_bias: whether there is a bias.
        skip_connection: whether the output has the channels of the input, too.
        forget_bias: added to the forget gate.
        initializers: has no effect.

    Raises:
        ValueError: `input_shape` has another number of dimensions.
    """

    def __init__(
        self,
        name: str = "conv_3d_lstm_cell",
        *,
        input_shape: Sequence[int],
        output_channels: int,
        kernel_shape: Sequence[int],
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Initializer | None = None,
    ) -> None:
        super().__init__(
            3, input_shape, output_channels, kernel_shape, use_bias, skip_connection, forget_bias, initializers, name
        )
