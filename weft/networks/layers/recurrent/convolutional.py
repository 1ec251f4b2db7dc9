"""ConvLSTM2D: an LSTM over sequences of images, whose products are convolutions (Shi et al., 2015)."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest, ShapeLike, TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.layers.conv_arguments import layout_of, padding_of, per_axis
from weft.models.layers.input_spec import InputSpec
from weft.networks.config import KerasObject, Options
from weft.networks.layers.recurrent.cells import LSTMCell
from weft.networks.layers.recurrent.masks import Masks, gates_product
from weft.networks.layers.recurrent.rnn import RNN
from weft.networks.objects.arguments import keeps_arguments
from weft.networks.state.defaults import layout_or_default
from weft.ops.array.filling import zeros_like
from weft.ops.array.joining import split
from weft.ops.nn.bias import bias_add
from weft.ops.nn.conv import conv2d


class ConvLSTM2DCell(LSTMCell):
    """One step of a ConvLSTM2D; arguments as of it."""

    @keeps_arguments
    def __init__(
        self, filters: int, kernel_size: Nest, strides: Nest = (1, 1), padding: str = "valid",
        data_format: str | None = None, dilation_rate: Nest = (1, 1), **kwargs: Options,
    ) -> None:  # fmt: skip
        super().__init__(filters, **kwargs)
        self.filters = filters
        self.kernel_size = per_axis(kernel_size, 2, "kernel_size")
        self.strides = per_axis(strides, 2, "strides")
        self.padding, self.data_format = padding_of(padding), layout_or_default(data_format)
        self.dilation_rate = per_axis(dilation_rate, 2, "dilation_rate")
        self.layout = layout_of(self.data_format, 2)

    # Beside that of other cells, whose kernels are matrices.
    loop_nodes = -33

    @property
    def step_nodes(self) -> int:
        """As `Cell.step_nodes`."""
        return 34 if self.use_bias else 29

    def kernel_shapes(self, input_shape: ShapeLike) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The kernels of the convolutions."""
        channels = TensorShape(input_shape).as_list()[self.layout.index("C")]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        width = self.filters * self.gates
        return (*self.kernel_size, channels, width), (*self.kernel_size, self.filters, width)

    def _convolved(
        self, inputs: Tensor, kernel: Tensor, strides: Sequence[int], padding: str, dilations: Sequence[int]
    ) -> Tensor:
        wide, apart = ([1, *each, 1] if self.layout == "NHWC" else [1, 1, *each] for each in (strides, dilations))
        made: Tensor = conv2d(inputs, kernel, wide, padding.upper(), data_format=self.layout, dilations=apart)
        return made

    def _of_image(self, inputs: Tensor, kernel: Tensor) -> Tensor:
        return self._convolved(inputs, kernel, self.strides, self.padding, self.dilation_rate)

    def _of_state(self, state: Tensor, kernel: Tensor) -> Tensor:
        return self._convolved(state, kernel, (1, 1), "same", (1, 1))

    def of_inputs(self, inputs: Tensor, masks: Masks = None) -> Tensor:
        """The convolution of a step's images, with the bias.

        Args:
            inputs: `[batch, rows, columns, channels]`, or channels first.
            masks: what they are multiplied by, for each gate.
        """
        made = gates_product(self._of_image, inputs, self.kernel, masks, self.layout.index("C"))
        return made if self.bias is None else bias_add(made, self.bias, self.layout)

    def zero_states(self, first: Tensor) -> list[Tensor]:
        """States of zeros, like what a step makes of its first images."""
        get_default_graph().node_count.total -= 6  # TensorFlow has another convolution of fewer nodes there.
        like = split(zeros_like(self.of_inputs(first)), self.gates, axis=self.layout.index("C"))[0]
        return [like, like]

    def step(self, inputs: Tensor, states: Sequence[Tensor], masks: Sequence[Masks]) -> tuple[Tensor, list[Tensor]]:
        """The output and the new states."""
        past, memory = states
        axis = self.layout.index("C")
        made = self.of_inputs(inputs, masks[0])
        made = made + gates_product(self._of_state, past, self.recurrent_kernel, masks[1], axis)
        i, f, c, o = split(made, 4, axis=axis)
        kept = self.recurrent_activation(f) * memory + self.recurrent_activation(i) * self.activation(c)
        output = self.recurrent_activation(o) * self.activation(kept)
        return output, [output, kept]


class ConvLSTM2D(RNN):
    """An LSTM over sequences of images: `[batch, steps, rows, columns, channels] -> [batch, rows, columns, filters]`.

    Args:
        filters: how many channels the states have.
        kernel_size, strides, padding, data_format, dilation_rate: of the convolution of the inputs; that of the states has
            stride 1 and keeps the size.
        activation, recurrent_activation, use_bias, kernel_initializer, recurrent_initializer, bias_initializer,
            unit_forget_bias, kernel_regularizer, recurrent_regularizer, bias_regularizer, kernel_constraint,
            recurrent_constraint, bias_constraint, dropout, recurrent_dropout: as of LSTM.
        activity_regularizer: a penalty on the outputs.
        return_sequences, go_backwards, stateful: as of RNN.
        kwargs: `return_state`; see Layer.
    """

    @keeps_arguments
    def __init__(
        self, filters: int, kernel_size: Nest, strides: Nest = (1, 1), padding: str = "valid",
        data_format: str | None = None, dilation_rate: Nest = (1, 1), activation: Nest = "tanh",
        recurrent_activation: Nest = "hard_sigmoid", use_bias: bool = True, kernel_initializer: Nest = "glorot_uniform",
        recurrent_initializer: Nest = "orthogonal", bias_initializer: Nest = "zeros", unit_forget_bias: bool = True,
        kernel_regularizer: Nest = None, recurrent_regularizer: Nest = None, bias_regularizer: Nest = None,
        activity_regularizer: Nest = None, kernel_constraint: Nest = None, recurrent_constraint: Nest = None,
        bias_constraint: Nest = None, return_sequences: bool = False, go_backwards: bool = False, stateful: bool = False,
        dropout: float = 0.0, recurrent_dropout: float = 0.0, **kwargs: Options,
    ) -> None:  # fmt: skip
        cell = ConvLSTM2DCell(
            filters, kernel_size, strides, padding, data_format, dilation_rate, activation=activation,
            recurrent_activation=recurrent_activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer, bias_initializer=bias_initializer,
            unit_forget_bias=unit_forget_bias, kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer, bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint, recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint, dropout=dropout, recurrent_dropout=recurrent_dropout, dtype=kwargs.get("dtype"),
        )  # fmt: skip
        super().__init__(
            cell, return_sequences=return_sequences, go_backwards=go_backwards, stateful=stateful,
            activity_regularizer=activity_regularizer, **kwargs,
        )  # fmt: skip
        self.input_spec = [InputSpec(ndim=5)]
        self.filters = filters
        self.kernel_size, self.strides, self.dilation_rate = cell.kernel_size, cell.strides, cell.dilation_rate
        self.padding, self.data_format = cell.padding, cell.data_format

    def build(self, input_shape: Nest) -> None:
        """Build the cell, and the states if they are kept."""
        self._image = TensorShape(input_shape[0] if isinstance(input_shape, list) else input_shape).as_list()[2:]
        super().build(input_shape)

    def state_shapes(self, batch: int) -> list[tuple[int, ...]]:
        """The shapes of the states, for images of a size that is known."""
        cell: KerasObject = self.cell
        rows_at = 0 if cell.data_format == "channels_last" else 1
        sizes = []
        for axis in range(2):
            size, reach = self._image[rows_at + axis], (cell.kernel_size[axis] - 1) * cell.dilation_rate[axis]
            if size is None:
                raise ValueError("A stateful ConvLSTM2D needs to know the size of its images")
            left = size if cell.padding == "same" else size - reach
            sizes.append(-(-left // cell.strides[axis]))
        shape = (batch, *sizes, cell.filters) if rows_at == 0 else (batch, cell.filters, *sizes)
        return [shape, shape]

    def call(self, inputs: Nest, mask: Nest = None, training: TensorLike | None = None) -> Nest:
        """The last output, or all; and the last states if they are asked for."""
        return super().call(inputs, mask, training)
