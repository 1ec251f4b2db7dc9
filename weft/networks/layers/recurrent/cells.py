"""The cells: one time step of SimpleRNN, GRU and LSTM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.framework.building.aliases import Nest, ShapeLike, TensorLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.networks.config import Options
from weft.networks.engine.layer import Layer
from weft.networks.layers.recurrent.masks import Masks, dropout_masks, gates_product, masked
from weft.networks.objects.arguments import keeps_arguments
from weft.ops.array.filling import zeros
from weft.ops.array.joining import concat, split
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.stacking import stack
from weft.ops.math.products import matmul
from weft.ops.nn.bias import bias_add
from weft.ops.variables.initializers import Ones


class Cell(Layer):
    """What the cells share: kernels, a bias, and dropout masks that all time steps of a call share."""

    gates = 1
    # As the program gave it; all compute the same.
    implementation: int

    # How many nodes TensorFlow has for the loop over the steps beyond those made here: later seeds go by the count.
    loop_nodes = -14

    @property
    def step_nodes(self) -> int:
        """How many nodes TensorFlow has for a step beyond those made here."""
        return 0

    @property
    def state_uses(self) -> int:
        """How many nodes of TensorFlow's step read a state."""
        return 1

    def _make(self, units: int, use_bias: bool, options: Sequence[Nest], rates: tuple[float, float]) -> None:
        self.units, self.use_bias = units, use_bias
        self._options = options
        self.dropout, self.recurrent_dropout = (min(1.0, max(0.0, rate)) for rate in rates)
        self.state_size: Nest = units
        self.output_size = units

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernels and bias."""
        kernel, recurrent, bias = self._options
        of_inputs, of_states = self.kernel_shapes(input_shape)
        self.kernel = self.add_weight("kernel", of_inputs, None, kernel[0], kernel[1], constraint=kernel[2])
        self.recurrent_kernel = self.add_weight(
            "recurrent_kernel", of_states, None, recurrent[0], recurrent[1], constraint=recurrent[2]
        )
        self.bias: Nest = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", self._bias_shape(), None, self._bias_initializer(bias[0]), bias[1], constraint=bias[2]
            )
        self.built = True

    def kernel_shapes(self, input_shape: ShapeLike) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of the kernels of inputs and of states.

        Args:
            input_shape: `[batch, depth]`, of the inputs of a step.
        """
        width = self.units * self.gates
        depth: Any = TensorShape(input_shape).as_list()[-1]
        return (depth, width), (self.units, width)

    def zero_states(self, first: Tensor) -> list[Tensor]:
        """States of zeros for the inputs of the first step.

        Args:
            first: `[batch, ...]`, the inputs of the first step.

        Returns:
            Tensors `[batch, size]` of the inputs' dtype, one for each state.
        """
        return zeros_like_batch(first, self.state_size if isinstance(self.state_size, list) else [self.state_size])

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.units * self.gates,)

    def _bias_initializer(self, given: Nest) -> Nest:
        return given

    def step_bias(self) -> Nest:
        """The bias as a step adds it, where there is one."""
        return self.bias

    def step(self, inputs: Tensor, states: Sequence[Tensor], masks: Sequence[Masks]) -> tuple[Tensor, list[Tensor]]:
        """The output and the new states of one step.

        Args:
            inputs: `[batch, depth]`.
            states: `[batch, units]` each.
            masks: what inputs and state are multiplied by, as `masks_for` gives it.
        """
        raise NotImplementedError

    def masks_for(self, inputs: Tensor, state: Tensor, training: TensorLike | None) -> list[Masks]:
        """The dropout masks of inputs and state for a whole call, None where nothing is dropped.

        Each gate has its own; the second implementation draws as many, and uses the first.

        Args:
            inputs: `[batch, depth]`, of any step.
            state: `[batch, units]`, the first one.
            training: whether to drop; Keras' learning phase when None.
        """
        drawn = [
            dropout_masks(like, rate, self.gates, training)
            for rate, like in ((self.dropout, inputs), (self.recurrent_dropout, state))
        ]
        return [each[:1] if each and self._one_mask else each for each in drawn]

    @property
    def _one_mask(self) -> bool:
        return getattr(self, "implementation", 1) == 2

    def get_initial_state(self, inputs: Nest = None, batch_size: Nest = None, dtype: Nest = None) -> Nest:
        """The state of zeros.

        Args:
            inputs: `[batch, ...]`, from which the batch's size and the dtype are taken.
            batch_size: int32, how many examples; for when there are no inputs.
            dtype: the type of the state, for when there are no inputs.
        """
        if inputs is not None:
            batch_size, dtype = shape_of(inputs)[0], inputs.dtype
        sizes = self.state_size if isinstance(self.state_size, list) else [self.state_size]
        made = [zeros(stack([batch_size, size]), dtype) for size in sizes]
        for each, size in zip(made, sizes, strict=True):
            each.set_shape([None, size])
        return made if isinstance(self.state_size, list) else made[0]


def zeros_like_batch(first: Tensor, sizes: Sequence[int]) -> list[Tensor]:
    """Zeros of these sizes, for each example of a batch."""
    states = [zeros(stack([shape_of(first)[0], size]), first.dtype) for size in sizes]
    for each, size in zip(states, sizes, strict=True):
        each.set_shape([first.shape.as_list()[0], size])
    return states


class SimpleRNNCell(Cell):
    """`output = new state = activation(W inputs + U state + b)`.

    Args:
        units: the size of output and state.
        activation: a function or its name.
        use_bias: whether there is a bias.
        kernel_initializer, recurrent_initializer, bias_initializer: what the variables begin with.
        kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties.
        kernel_constraint, recurrent_constraint, bias_constraint: projections after updates.
        dropout, recurrent_dropout: the parts of inputs and states that are dropped in training.
        kwargs: `name`, `trainable`, `dtype` and others of `tf.keras.layers.Layer`.
    """

    @keeps_arguments
    def __init__(
        self, units: int, activation: Nest = "tanh", use_bias: bool = True, kernel_initializer: Nest = "glorot_uniform",
        recurrent_initializer: Nest = "orthogonal", bias_initializer: Nest = "zeros", kernel_regularizer: Nest = None,
        recurrent_regularizer: Nest = None, bias_regularizer: Nest = None, kernel_constraint: Nest = None,
        recurrent_constraint: Nest = None, bias_constraint: Nest = None, dropout: float = 0.0,
        recurrent_dropout: float = 0.0, **kwargs: Options,
    ) -> None:  # fmt: skip
        super().__init__(**kwargs)
        self.activation = activation
        self._make(units, use_bias, (
            (kernel_initializer, kernel_regularizer, kernel_constraint),
            (recurrent_initializer, recurrent_regularizer, recurrent_constraint),
            (bias_initializer, bias_regularizer, bias_constraint),
        ), (dropout, recurrent_dropout))  # fmt: skip

    def step(self, inputs: Tensor, states: Sequence[Tensor], masks: Sequence[Masks]) -> tuple[Tensor, list[Tensor]]:
        """The output and the new states."""
        made = matmul(masked(inputs, masks[0]), self.kernel)
        if self.bias is not None:
            made = bias_add(made, self.bias)
        output = self.activation(made + matmul(masked(states[0], masks[1]), self.recurrent_kernel))
        return output, [output]

    def call(self, inputs: Nest, states: Nest, training: TensorLike | None = None) -> Nest:  # type: ignore[override]
        """One step.

        Args:
            states: `[batch, units]` each, of the step before.
            training: whether to drop; Keras' learning phase when None.

        Returns:
            The output, `[batch, units]`, and the list of new states.
        """
        return self.step(inputs, states, self.masks_for(inputs, states[0], training))


class GRUCell(Cell):
    """The gated recurrent unit of Cho et al. (2014).

    Args:
        units: the size of output and states.
        activation, recurrent_activation: functions of what is new and of the gates, or their names.
        use_bias: whether there is a bias.
        kernel_initializer, recurrent_initializer, bias_initializer: what the variables begin with.
        kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties.
        kernel_constraint, recurrent_constraint, bias_constraint: projections after updates.
        dropout, recurrent_dropout: the parts of inputs and states that are dropped in training.
        implementation: kept; all of them compute the same.
        reset_after: whether the reset gate is applied to the product with the state, rather than to the state.
        kwargs: `name`, `trainable`, `dtype` and others of `tf.keras.layers.Layer`.
    """

    gates = 3

    @property
    def step_nodes(self) -> int:
        """As `Cell.step_nodes`: the first implementation has a product for each gate."""
        if self.implementation == 2:
            return 10 if self.reset_after else 9
        with_bias = 46 if self.reset_after else 27
        return with_bias if self.use_bias else with_bias - 16 - 4 * self.reset_after

    @property
    def state_uses(self) -> int:
        """As `Cell.state_uses`."""
        return 4 if self.implementation == 1 else 2 if self.reset_after else 3

    @keeps_arguments
    def __init__(
        self, units: int, activation: Nest = "tanh", recurrent_activation: Nest = "hard_sigmoid", use_bias: bool = True,
        kernel_initializer: Nest = "glorot_uniform", recurrent_initializer: Nest = "orthogonal",
        bias_initializer: Nest = "zeros", kernel_regularizer: Nest = None, recurrent_regularizer: Nest = None,
        bias_regularizer: Nest = None, kernel_constraint: Nest = None, recurrent_constraint: Nest = None,
        bias_constraint: Nest = None, dropout: float = 0.0, recurrent_dropout: float = 0.0, implementation: int = 1,
        reset_after: bool = False, **kwargs: Options,
    ) -> None:  # fmt: skip
        super().__init__(**kwargs)
        self.activation, self.recurrent_activation, self.reset_after = activation, recurrent_activation, reset_after
        self._make(units, use_bias, (
            (kernel_initializer, kernel_regularizer, kernel_constraint),
            (recurrent_initializer, recurrent_regularizer, recurrent_constraint),
            (bias_initializer, bias_regularizer, bias_constraint),
        ), (dropout, recurrent_dropout))  # fmt: skip

    def _bias_shape(self) -> tuple[int, ...]:
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def step(self, inputs: Tensor, states: Sequence[Tensor], masks: Sequence[Masks]) -> tuple[Tensor, list[Tensor]]:
        """The output and the new states."""
        before, n = states[0], self.units
        if self._one_mask:
            before, masks = masked(before, masks[1]), [masks[0], None]
        of_inputs = gates_product(matmul, inputs, self.kernel, masks[0])
        if self.bias is not None:
            bias = self.step_bias()
            of_inputs = bias_add(of_inputs, bias[0] if self.reset_after else bias)
        x_z, x_r, x_h = split(of_inputs, 3, axis=1)
        if self.reset_after:
            of_state = gates_product(matmul, before, self.recurrent_kernel, masks[1])
            if self.bias is not None:
                of_state = bias_add(of_state, bias[1])
            s_z, s_r, s_h = split(of_state, 3, axis=1)
            update, reset = self.recurrent_activation(x_z + s_z), self.recurrent_activation(x_r + s_r)
            candidate = self.activation(x_h + reset * s_h)
        else:
            of_gates = masks[1] and masks[1][:2]
            gates = gates_product(matmul, before, self.recurrent_kernel[:, : 2 * n], of_gates)
            update, reset = self.recurrent_activation(x_z + gates[:, :n]), self.recurrent_activation(x_r + gates[:, n:])
            candidate = self.activation(x_h + matmul(reset * masked(before, masks[1], 2), self.recurrent_kernel[:, 2 * n :]))
        output = update * before + (1 - update) * candidate
        return output, [output]

    def call(self, inputs: Nest, states: Nest, training: TensorLike | None = None) -> Nest:  # type: ignore[override]
        """One step.

        Args:
            states: `[batch, units]` each, of the step before.
            training: whether to drop; Keras' learning phase when None.

        Returns:
            The output, `[batch, units]`, and the list of new states.
        """
        return self.step(inputs, states, self.masks_for(inputs, states[0], training))


class LSTMCell(Cell):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997); states are the output and the memory.

    Args:
        units: the size of output and states.
        activation, recurrent_activation: functions of what is new and of the gates, or their names.
        use_bias: whether there is a bias.
        kernel_initializer, recurrent_initializer, bias_initializer: what the variables begin with.
        kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties.
        kernel_constraint, recurrent_constraint, bias_constraint: projections after updates.
        dropout, recurrent_dropout: the parts of inputs and states that are dropped in training.
        unit_forget_bias: whether the forget gate's bias begins with ones.
        implementation: kept; all of them compute the same.
        kwargs: `name`, `trainable`, `dtype` and others of `tf.keras.layers.Layer`.
    """

    gates = 4

    @property
    def step_nodes(self) -> int:
        """As `Cell.step_nodes`: the first implementation has a product for each gate."""
        return 0 if self.implementation == 2 else 34 if self.use_bias else 28

    @property
    def state_uses(self) -> int:
        """As `Cell.state_uses`."""
        return 5 if self.implementation == 1 else 2

    @keeps_arguments
    def __init__(
        self, units: int, activation: Nest = "tanh", recurrent_activation: Nest = "hard_sigmoid", use_bias: bool = True,
        kernel_initializer: Nest = "glorot_uniform", recurrent_initializer: Nest = "orthogonal",
        bias_initializer: Nest = "zeros", unit_forget_bias: bool = True, kernel_regularizer: Nest = None,
        recurrent_regularizer: Nest = None, bias_regularizer: Nest = None, kernel_constraint: Nest = None,
        recurrent_constraint: Nest = None, bias_constraint: Nest = None, dropout: float = 0.0,
        recurrent_dropout: float = 0.0, implementation: int = 1, **kwargs: Options,
    ) -> None:  # fmt: skip
        super().__init__(**kwargs)
        self.activation, self.recurrent_activation, self.unit_forget_bias = activation, recurrent_activation, unit_forget_bias
        self._make(units, use_bias, (
            (kernel_initializer, kernel_regularizer, kernel_constraint),
            (recurrent_initializer, recurrent_regularizer, recurrent_constraint),
            (bias_initializer, bias_regularizer, bias_constraint),
        ), (dropout, recurrent_dropout))  # fmt: skip
        self.state_size = [units, units]

    def _bias_initializer(self, given: Nest) -> Nest:
        if not self.unit_forget_bias:
            return given
        n = self.units
        return lambda shape, dtype=None, partition_info=None: concat(
            [given((n,), dtype=dtype), Ones()((n,), dtype=dtype), given((2 * n,), dtype=dtype)], axis=-1
        )

    def gate_sums(self, inputs: Tensor, past: Tensor, masks: Sequence[Masks]) -> Tensor:
        """What the gates have of inputs and the last output, `[batch, 4 * units]`.

        Args:
            inputs: `[batch, depth]`.
            past: `[batch, units]`.
            masks: what they are multiplied by, as `masks_for` gives it.
        """
        of_inputs = gates_product(matmul, inputs, self.kernel, masks[0])
        made = of_inputs + gates_product(matmul, past, self.recurrent_kernel, masks[1])
        return made if self.bias is None else bias_add(made, self.step_bias())

    def step(self, inputs: Tensor, states: Sequence[Tensor], masks: Sequence[Masks]) -> tuple[Tensor, list[Tensor]]:
        """The output and the new states."""
        past, memory = states
        i, f, c, o = split(self.gate_sums(inputs, past, masks), 4, axis=1)
        kept = self.recurrent_activation(f) * memory + self.recurrent_activation(i) * self.activation(c)
        output = self.recurrent_activation(o) * self.activation(kept)
        return output, [output, kept]

    def call(self, inputs: Nest, states: Nest, training: TensorLike | None = None) -> Nest:  # type: ignore[override]
        """One step.

        Args:
            states: `[batch, units]` each, of the step before.
            training: whether to drop; Keras' learning phase when None.

        Returns:
            The output, `[batch, units]`, and the list of new states.
        """
        return self.step(inputs, states, self.masks_for(inputs, states[0], training))
