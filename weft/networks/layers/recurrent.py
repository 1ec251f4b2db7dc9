"""Recurrent layers: RNN over any cell, SimpleRNN, GRU, LSTM and their cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.framework import nest
from weft.framework.aliases import Nest, ShapeLike, TensorLike
from weft.framework.operation import Tensor
from weft.framework.tensor_shape import TensorShape
from weft.networks.config import Config, KerasObject, Named, Options
from weft.networks.engine.input_spec import InputSpec
from weft.networks.engine.layer import Layer
from weft.networks.layers.recurrent_scan import scanned
from weft.networks.objects.arguments import keeps_arguments
from weft.networks.state.phase import in_train_phase
from weft.networks.state.sessions import batch_set_value
from weft.ops.array.filling import ones_like, zeros
from weft.ops.array.identity import identity
from weft.ops.array.joining import concat, split, stack
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.control_flow.ordering import group
from weft.ops.math.products import matmul
from weft.ops.nn.bias import bias_add
from weft.ops.nn.dropout import dropout as nn_dropout
from weft.ops.variables.initializers import Ones


class _Cell(Layer):
    """What the cells share: kernels, a bias, and dropout masks that all time steps of a call share."""

    gates = 1

    def _make(self, units: int, use_bias: bool, options: Sequence[Nest], rates: tuple[float, float]) -> None:
        self.units, self.use_bias = units, use_bias
        self._options = options
        self.dropout, self.recurrent_dropout = (min(1.0, max(0.0, rate)) for rate in rates)
        self.state_size: Nest = units
        self.output_size = units

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernels and bias."""
        depth = TensorShape(input_shape).as_list()[-1]
        kernel, recurrent, bias = self._options
        width = self.units * self.gates
        self.kernel = self.add_weight("kernel", (depth, width), None, kernel[0], kernel[1], constraint=kernel[2])
        self.recurrent_kernel = self.add_weight(
            "recurrent_kernel", (self.units, width), None, recurrent[0], recurrent[1], constraint=recurrent[2]
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", self._bias_shape(), None, self._bias_initializer(bias[0]), bias[1], constraint=bias[2]
            )
        self.built = True

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.units * self.gates,)

    def _bias_initializer(self, given: Nest) -> Nest:
        return given

    def step(self, inputs: Tensor, states: Sequence[Tensor], masks: Sequence[Tensor | None]) -> tuple[Tensor, list[Tensor]]:
        """The output and the new states of one step."""
        raise NotImplementedError

    def masks_for(self, inputs: Tensor, state: Tensor, training: TensorLike | None) -> list[Tensor | None]:
        """The dropout masks of inputs and state for a whole call, None where nothing is dropped."""
        made: list[Tensor | None] = []
        for rate, like in ((self.dropout, inputs), (self.recurrent_dropout, state)):
            made.append(_dropped(like, rate, training) if rate else None)
        return made

    def get_initial_state(self, inputs: Nest = None, batch_size: Nest = None, dtype: Nest = None) -> Nest:
        """The state of zeros."""
        if inputs is not None:
            batch_size, dtype = shape_of(inputs)[0], inputs.dtype
        sizes = self.state_size if isinstance(self.state_size, list) else [self.state_size]
        made = [zeros(stack([batch_size, size]), dtype) for size in sizes]
        for each, size in zip(made, sizes, strict=True):
            each.set_shape([None, size])
        return made if isinstance(self.state_size, list) else made[0]


def _dropped(like: Tensor, rate: float, training: TensorLike | None) -> Tensor:
    ones = ones_like(like)
    made: Tensor = in_train_phase(lambda: nn_dropout(ones, rate=rate), lambda: identity(ones), training)
    return made


def _masked(value: Tensor, mask: Tensor | None) -> Tensor:
    return value if mask is None else value * mask


class SimpleRNNCell(_Cell):
    """`output = new state = activation(W inputs + U state + b)`."""

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

    def step(self, inputs: Tensor, states: Sequence[Tensor], masks: Sequence[Tensor | None]) -> tuple[Tensor, list[Tensor]]:
        """The output and the new states."""
        made = matmul(_masked(inputs, masks[0]), self.kernel)
        if self.bias is not None:
            made = bias_add(made, self.bias)
        output = self.activation(made + matmul(_masked(states[0], masks[1]), self.recurrent_kernel))
        return output, [output]

    def call(self, inputs: Nest, states: Nest, training: TensorLike | None = None) -> Nest:  # type: ignore[override]
        """One step."""
        return self.step(inputs, states, self.masks_for(inputs, states[0], training))


class GRUCell(_Cell):
    """The gated recurrent unit of Cho et al. (2014).

    `reset_after` applies the reset gate to the product with the state rather than to the state. `implementation` is kept:
    both compute the same.
    """

    gates = 3

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

    def step(self, inputs: Tensor, states: Sequence[Tensor], masks: Sequence[Tensor | None]) -> tuple[Tensor, list[Tensor]]:
        """The output and the new states."""
        before, n = states[0], self.units
        past = _masked(before, masks[1])
        of_inputs = matmul(_masked(inputs, masks[0]), self.kernel)
        if self.bias is not None:
            of_inputs = bias_add(of_inputs, self.bias[0] if self.reset_after else self.bias)
        x_z, x_r, x_h = split(of_inputs, 3, axis=1)
        if self.reset_after:
            of_state = matmul(past, self.recurrent_kernel)
            if self.bias is not None:
                of_state = bias_add(of_state, self.bias[1])
            s_z, s_r, s_h = split(of_state, 3, axis=1)
            update, reset = self.recurrent_activation(x_z + s_z), self.recurrent_activation(x_r + s_r)
            candidate = self.activation(x_h + reset * s_h)
        else:
            gates = matmul(past, self.recurrent_kernel[:, : 2 * n])
            update, reset = self.recurrent_activation(x_z + gates[:, :n]), self.recurrent_activation(x_r + gates[:, n:])
            candidate = self.activation(x_h + matmul(reset * past, self.recurrent_kernel[:, 2 * n :]))
        output = update * before + (1 - update) * candidate
        return output, [output]

    def call(self, inputs: Nest, states: Nest, training: TensorLike | None = None) -> Nest:  # type: ignore[override]
        """One step."""
        return self.step(inputs, states, self.masks_for(inputs, states[0], training))


class LSTMCell(_Cell):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997); states are the output and the memory.

    `unit_forget_bias` begins the forget gate's bias with ones. `implementation` is kept: both compute the same.
    """

    gates = 4

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

    def step(self, inputs: Tensor, states: Sequence[Tensor], masks: Sequence[Tensor | None]) -> tuple[Tensor, list[Tensor]]:
        """The output and the new states."""
        past, memory = states
        made = matmul(_masked(inputs, masks[0]), self.kernel) + matmul(_masked(past, masks[1]), self.recurrent_kernel)
        if self.bias is not None:
            made = bias_add(made, self.bias)
        i, f, c, o = split(made, 4, axis=1)
        kept = self.recurrent_activation(f) * memory + self.recurrent_activation(i) * self.activation(c)
        output = self.recurrent_activation(o) * self.activation(kept)
        return output, [output, kept]

    def call(self, inputs: Nest, states: Nest, training: TensorLike | None = None) -> Nest:  # type: ignore[override]
        """One step."""
        return self.step(inputs, states, self.masks_for(inputs, states[0], training))


class StackedRNNCells(Layer):
    """Cells one above the other, as one."""

    def __init__(self, cells: Sequence[KerasObject], **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.cells = list(cells)
        sizes = [each.state_size if isinstance(each.state_size, list | tuple) else [each.state_size] for each in self.cells]
        self._counts = [len(each) for each in sizes]
        self.state_size = [size for each in sizes for size in each]
        self.output_size = self.cells[-1].output_size

    def build(self, input_shape: ShapeLike) -> None:
        """Build each cell for what the one below gives."""
        shape = TensorShape(input_shape)
        for cell in self.cells:
            if not cell.built:
                cell.build(shape)
                cell.built = True
            shape = TensorShape([shape.as_list()[0], cell.output_size])
        self.built = True

    def call(self, inputs: Nest, states: Nest, training: TensorLike | None = None) -> Nest:  # type: ignore[override]
        """One step of each."""
        left, made = list(states), []
        for cell, count in zip(self.cells, self._counts, strict=True):
            inputs, new = cell.call(inputs, left[:count])
            left = left[count:]
            made += list(new)
        return inputs, made

    def get_config(self) -> Config:
        """The cells' configs."""
        cells = [{"class_name": type(each).__name__, "config": each.get_config()} for each in self.cells]
        return {**super().get_config(), "cells": cells}


class RNN(Layer):
    """A cell over the steps of sequences: `[batch, steps, size] -> [batch, units]`, or `[batch, steps, units]`.

    Args:
        cell: a cell, or a list of them, one above the other.
        return_sequences: whether all outputs are returned.
        return_state: whether the last states are returned too.
        go_backwards: whether the last step comes first.
        stateful: whether states go on from batch to batch.
        unroll: whether steps are built one by one, rather than as a loop.
        time_major: whether steps come before the batch.
        kwargs: see Layer.
    """

    supports_masking = True

    def __init__(
        self, cell: KerasObject, return_sequences: bool = False, return_state: bool = False, go_backwards: bool = False,
        stateful: bool = False, unroll: bool = False, time_major: bool = False, **kwargs: Options,
    ) -> None:  # fmt: skip
        super().__init__(**kwargs)
        self.cell = StackedRNNCells(cell) if isinstance(cell, list | tuple) else cell
        if not hasattr(self.cell, "call") or not hasattr(self.cell, "state_size"):
            raise ValueError(f"`cell` should have a `call` method and an attribute `state_size`. The RNN was passed: {cell}")
        self.return_sequences, self.return_state, self.go_backwards = return_sequences, return_state, go_backwards
        self.stateful, self.unroll, self.time_major = stateful, unroll, time_major
        self.input_spec = [InputSpec(ndim=3)] if type(self) is not RNN else None
        self.states: list[Nest] | None = None

    def _sizes(self) -> list[int]:
        size = self.cell.state_size
        return list(size) if isinstance(size, list | tuple) else [size]

    def build(self, input_shape: Nest) -> None:
        """Build the cell."""
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        given = TensorShape(shape).as_list()
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build(TensorShape([given[1] if self.time_major else given[0], *given[2:]]))
            self.cell.built = True
        if self.stateful and self.states is None:
            self._make_states(given[1] if self.time_major else given[0])
        self.built = True

    def _make_states(self, batch: int | None) -> None:
        if batch is None:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size of your input tensors: \n"
                "- If using a Sequential model, specify the batch size by passing a `batch_input_shape` argument to your first "
                "layer.\n- If using the functional API, specify the batch size by passing a `batch_shape` argument "
                "to your Input "
                "layer."
            )
        self.states = [
            self.add_weight(f"state_{index}", (batch, size), initializer="zeros", trainable=False, collections=[])
            for index, size in enumerate(self._sizes())
        ]

    @property
    def weights(self) -> list[Nest]:
        """The weights of the cell; the states are none."""
        return [*self.cell.trainable_weights, *self.cell.non_trainable_weights] if isinstance(self.cell, Layer) else []

    @property
    def non_trainable_weights(self) -> list[Nest]:
        """The weights of the cell that are not trained."""
        return (
            list(self.cell.non_trainable_weights if self.trainable else self.cell.weights)
            if isinstance(self.cell, Layer)
            else []
        )

    def __call__(self, inputs: Nest, initial_state: Nest = None, **kwargs: Options) -> Nest:  # type: ignore[override]
        """The outputs for these sequences.

        Args:
            inputs: the sequences, or a list of them and the initial states.
            initial_state: the states to begin with; zeros when None.
            kwargs: further arguments of `call`.
        """
        if isinstance(inputs, list | tuple):
            inputs, initial_state = inputs[0], list(inputs[1:]) or initial_state
        if initial_state is None:
            return super().__call__(inputs, **kwargs)
        states = list(initial_state) if isinstance(initial_state, list | tuple) else [initial_state]
        spec, self.input_spec = self.input_spec, None
        try:
            return super().__call__([inputs, *states], **kwargs)
        finally:
            self.input_spec = spec

    def call(self, inputs: Nest, mask: Nest = None, training: TensorLike | None = None) -> Nest:
        """The outputs, and the last states if they are asked for."""
        states = None
        if isinstance(inputs, list | tuple):
            inputs, states = inputs[0], list(inputs[1:])
            mask = mask[0] if isinstance(mask, list | tuple) else mask
        if self.stateful and states is None:
            states = [identity(each) for each in self.states or ()]
        steps_first = self.time_major
        if states is None:
            first = inputs[0] if steps_first else inputs[:, 0]
            states = _zero_states(self.cell, self._sizes(), first)
        outputs, last = scanned(
            self._step_of(inputs, states, training), inputs, states, mask, self.go_backwards, self.unroll, steps_first
        )
        if self.stateful:
            assert self.states is not None
            self.add_update([group(*(own.assign(new).op for own, new in zip(self.states, last, strict=True)))])
        made = outputs if self.return_sequences else (outputs[-1] if steps_first else outputs[:, -1])
        if not self.return_sequences:
            made.set_shape([inputs.shape.as_list()[1 if steps_first else 0], *outputs.shape.as_list()[2:]])
        return [made, *last] if self.return_state else made

    def _step_of(
        self, inputs: Tensor, states: Sequence[Tensor], training: TensorLike | None
    ) -> Callable[[Tensor, list[Tensor]], Nest]:
        cell = self.cell
        if isinstance(cell, _Cell):
            masks = cell.masks_for(inputs[0] if self.time_major else inputs[:, 0], states[0], training)
            return lambda each, now: cell.step(each, now, masks)

        def step(each: Tensor, now: list[Tensor]) -> Nest:
            output, new = cell.call(each, now)
            return output, list(new) if isinstance(new, list | tuple) else [new]

        return step

    def compute_mask(self, inputs: Nest, mask: Nest = None) -> Nest:
        """The mask of the inputs where all outputs are returned."""
        own = mask[0] if isinstance(mask, list | tuple) else mask
        made = own if self.return_sequences else None
        return [made, *([None] * len(self._sizes()))] if self.return_state else made

    def reset_states(self, states: Nest = None) -> None:
        """Forget the states, or set them; AttributeError unless the layer is stateful."""
        if not self.stateful or self.states is None:
            raise AttributeError("Layer must be stateful.")
        given = nest.flatten(states) if states is not None else [0.0] * len(self.states)
        batch_set_value([
            (own, each if states is not None else [[0.0] * own.shape.as_list()[1]] * own.shape.as_list()[0])
            for own, each in zip(self.states, given, strict=True)
        ])  # fmt: skip

    def get_config(self) -> Config:
        """The cell and the arguments, as plain data."""
        config = super().get_config()
        if "units" not in config:
            config["cell"] = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
            names = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "time_major")
            config.update({name: getattr(self, name) for name in names})
        return config


def _zero_states(cell: KerasObject, sizes: Sequence[int], first: Tensor) -> list[Tensor]:
    if not isinstance(cell, _Cell | StackedRNNCells) and hasattr(cell, "get_initial_state"):
        made = cell.get_initial_state(inputs=first, batch_size=None, dtype=None)
        return list(made) if isinstance(made, list | tuple) else [made]
    states = [zeros(stack([shape_of(first)[0], size]), first.dtype) for size in sizes]
    for each, size in zip(states, sizes, strict=True):
        each.set_shape([first.shape.as_list()[0], size])
    return states


def _over(cell_class: Named, what: str, doc: str) -> type[RNN]:
    """An RNN over one of the cells, which takes the cell's arguments and its own."""
    own = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "time_major")
    rest = ("name", "trainable", "input_shape", "batch_input_shape", "input_dim", "batch_size", "weights", "dynamic")

    def __init__(self: RNN, units: int, *args: Options, activity_regularizer: Nest = None, **kwargs: Options) -> None:
        of_layer = {name: kwargs.pop(name) for name in (*own, *rest) if name in kwargs}
        length = kwargs.pop("input_length", None)
        if "input_dim" in of_layer:
            of_layer["input_shape"] = (length, of_layer.pop("input_dim"))
        dtype = kwargs.pop("dtype", None)
        cell = cell_class(units, *args, dtype=dtype, **kwargs)
        RNN.__init__(self, cell, dtype=dtype, activity_regularizer=activity_regularizer, **of_layer)
        object.__setattr__(
            self, "kept_arguments", {**cell.kept_arguments, "activity_regularizer": activity_regularizer,
                                     **{name: getattr(self, name) for name in own}},
        )  # fmt: skip
        self.units = units

    def build(self: RNN, input_shape: Nest) -> None:
        RNN.build(self, input_shape)
        depth = TensorShape(input_shape[0] if isinstance(input_shape, list) else input_shape).as_list()[-1]
        self.input_spec = [InputSpec(shape=(None, None, depth))]

    return type(what, (RNN,), {"__init__": __init__, "build": build, "__doc__": doc, "__module__": __name__})


SimpleRNN = _over(SimpleRNNCell, "SimpleRNN", "A SimpleRNNCell over sequences; arguments as of the cell and of RNN.")
GRU = _over(GRUCell, "GRU", "A GRUCell over sequences; arguments as of the cell and of RNN.")
LSTM = _over(LSTMCell, "LSTM", "An LSTMCell over sequences; arguments as of the cell and of RNN.")
