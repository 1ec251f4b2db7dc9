"""The base of a program's own cells, and the LSTM whose gates see the memory."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest, ShapeLike
from weft.framework.nodes.operation import Tensor
from weft.networks.engine.layer import Layer
from weft.networks.layers.recurrent.cells import LSTMCell
from weft.networks.layers.recurrent.masks import Masks
from weft.ops.array.filling import zeros
from weft.ops.array.joining import split
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.stacking import stack


class AbstractRNNCell(Layer):
    """The base of cells of a program's own: subclasses write `state_size`, `output_size` and `call(inputs, states)`."""

    def call(self, inputs: Nest, states: Nest) -> Nest:  # type: ignore[override]
        """The output and the new states of one step.

        Args:
            inputs: `[batch, size]`.
            states: the states before it.
        """
        raise NotImplementedError("Abstract method")

    @property
    def state_size(self) -> Nest:
        """The size of the state, or a list of sizes."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Nest:
        """The size of the output."""
        raise NotImplementedError("Abstract method")

    def get_initial_state(self, inputs: Nest = None, batch_size: Nest = None, dtype: Nest = None) -> Nest:
        """The state of zeros.

        Args:
            inputs: the inputs of a step, of whose batch and type it is.
            batch_size, dtype: these, where no inputs are given.
        """
        if inputs is not None:
            batch_size, dtype = shape_of(inputs)[0], inputs.dtype
        size = self.state_size
        made = [zeros(stack([batch_size, each]), dtype) for each in (size if isinstance(size, list | tuple) else [size])]
        return made if isinstance(size, list | tuple) else made[0]


class PeepholeLSTMCell(LSTMCell):
    """A step of an LSTM whose gates see the memory as well: see LSTMCell for the arguments."""

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernels, bias and the weights of the memory."""
        super().build(input_shape)
        initializer = self._options[0][0]
        self.input_gate_peephole_weights, self.forget_gate_peephole_weights, self.output_gate_peephole_weights = (
            self.add_weight(f"{gate}_gate_peephole_weights", (self.units,), initializer=initializer)
            for gate in ("input", "forget", "output")
        )

    def step(self, inputs: Tensor, states: Sequence[Tensor], masks: Sequence[Masks]) -> tuple[Tensor, list[Tensor]]:
        """The output and the new states."""
        past, memory = states
        i, f, c, o = split(self.gate_sums(inputs, past, masks), 4, axis=1)
        entering = self.recurrent_activation(i + self.input_gate_peephole_weights * memory)
        staying = self.recurrent_activation(f + self.forget_gate_peephole_weights * memory)
        kept = staying * memory + entering * self.activation(c)
        output = self.recurrent_activation(o + self.output_gate_peephole_weights * kept) * self.activation(kept)
        return output, [output, kept]
