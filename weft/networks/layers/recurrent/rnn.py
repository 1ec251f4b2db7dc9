"""RNN: a cell over sequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.layers.input_spec import InputSpec
from weft.models.rnn.cell import RNNCell
from weft.networks.config import Config, GivenConfig, KerasObject, Options
from weft.networks.engine.layer import Layer
from weft.networks.layers.recurrent.cells import Cell, zeros_like_batch
from weft.networks.layers.recurrent.scan import scanned
from weft.networks.layers.recurrent.stacked import StackedRNNCells, deserialize_cell
from weft.networks.state.sessions import batch_set_value
from weft.ops.array.identity import identity
from weft.ops.control_flow.ordering import group


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

    Raises:
        ValueError: `cell` is none.
    """

    supports_masking = True
    # The arguments that are the layer's and not the cell's.
    own_arguments: Sequence[str] = (
        "return_sequences", "return_state", "go_backwards", "stateful", "unroll", "time_major",
    )  # fmt: skip

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
        self._states: list[Nest] | None = None

    def _sizes(self) -> list[int]:
        size = self.cell.state_size
        return list(size) if isinstance(size, list | tuple) else [size]

    @property
    def states(self) -> Nest:
        """The states that a stateful layer keeps, a list in the form of the cell's `state_size`; else None for each."""
        flat = self._states or [None] * len(self._sizes())
        if not isinstance(self.cell, StackedRNNCells):
            return list(flat)
        of_cells = [each.state_size for each in self.cell.cells]
        return tuple(nest.pack_sequence_as(of_cells, flat))

    @states.setter
    def states(self, states: Nest) -> None:
        # Layers of programs' own begin with None for each.
        flat = nest.flatten(states)
        self._states = None if all(each is None for each in flat) else flat

    def build(self, input_shape: Nest) -> None:
        """Build the cell."""
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        given = TensorShape(shape).as_list()
        if isinstance(self.cell, Layer | RNNCell) and not self.cell.built:
            self.cell.build(TensorShape([given[1] if self.time_major else given[0], *given[2:]]))
            self.cell.built = True
        if self.stateful and self._states is None:
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
        self._states = [
            self.add_weight(f"state_{index}", shape, initializer="zeros", trainable=False, collections=[])
            for index, shape in enumerate(self.state_shapes(batch))
        ]

    def get_initial_state(self, inputs: Tensor) -> list[Tensor]:
        """The states to begin with, zeros as a rule.

        Args:
            inputs: the sequences.
        """
        return _zero_states(self.cell, self._sizes(), inputs[0] if self.time_major else inputs[:, 0])

    def state_shapes(self, batch: int) -> list[tuple[int, ...]]:
        """The shapes of the states that are kept.

        Args:
            batch: how many examples.
        """
        return [(batch, size) for size in self._sizes()]

    @property
    def weights(self) -> list[Nest]:
        """The weights of the cell; the states are none."""
        return (
            [*self.cell.trainable_weights, *self.cell.non_trainable_weights] if isinstance(self.cell, Layer | RNNCell) else []
        )

    @property
    def non_trainable_weights(self) -> list[Nest]:
        """The weights of the cell that are not trained."""
        return (
            list(self.cell.non_trainable_weights if self.trainable else self.cell.weights)
            if isinstance(self.cell, Layer | RNNCell)
            else []
        )

    def __call__(self, inputs: Nest, initial_state: Nest = None, **kwargs: Options) -> Nest:  # type: ignore[override]
        """The outputs for these sequences.

        Args:
            inputs: the sequences, or a list of them and the initial states.
            initial_state: the states to begin with; zeros when None.
            kwargs: further arguments of `call`.

        Returns:
            The outputs; with return_state=True a list of them and of each last state: outputs, h, c of an LSTM, and outputs, h
            of the other cells.
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
        """The outputs, and the last states if they are asked for.

        Args:
            mask: `[batch, steps]` bool: a step that does not count leaves state and output as they were.
            training: whether the cell drops; Keras' learning phase when None.
        """
        states = None
        if isinstance(inputs, list | tuple):
            inputs, states = inputs[0], list(inputs[1:])
            mask = mask[0] if isinstance(mask, list | tuple) else mask
        if isinstance(self.cell, Cell | StackedRNNCells):
            self._count_nodes(self.cell, inputs, mask is not None, states is not None)
        if self.stateful and states is None:
            states = [identity(each) for each in self._states or ()]
        steps_first = self.time_major
        if states is None:
            states = self.get_initial_state(inputs)
        outputs, last = scanned(
            self._step_of(inputs, states, training), inputs, states, mask, self.go_backwards, self.unroll, steps_first
        )
        if self.stateful:
            assert self._states is not None
            self.add_update([group(*(own.assign(new).op for own, new in zip(self._states, last, strict=True)))])
        made = outputs if self.return_sequences else (outputs[-1] if steps_first else outputs[:, -1])
        if not self.return_sequences:
            made.set_shape([inputs.shape.as_list()[1 if steps_first else 0], *outputs.shape.as_list()[2:]])
        return [made, *last] if self.return_state else made

    def _count_nodes(self, cell: Cell | StackedRNNCells, inputs: Tensor, is_masked: bool, has_states: bool) -> None:
        """Count what TensorFlow has and weft has not: seeds of later random nodes go by that."""
        count = inputs.shape.as_list()[0 if self.time_major else 1]
        beside = 4 * self.return_sequences + 2 * is_masked + has_states - len(self._sizes())
        if self.stateful:
            beside += cell.state_uses - 2
        steps = 2 * cell.step_nodes + cell.loop_nodes if not self.unroll else (count or 0) * cell.step_nodes - 2
        get_default_graph().node_count.total += steps + beside

    def _step_of(
        self, inputs: Tensor, states: Sequence[Tensor], training: TensorLike | None
    ) -> Callable[[Tensor, list[Tensor]], Nest]:
        cell = self.cell
        if isinstance(cell, Cell):
            masks = cell.masks_for(inputs[0] if self.time_major else inputs[:, 0], states[0], training)
            return lambda each, now: cell.step(each, now, masks)
        if isinstance(cell, StackedRNNCells):
            return cell.steps()

        def step(each: Tensor, now: list[Tensor]) -> Nest:
            # A cell of tf.nn.rnn_cell has the only state as it is, and several in a structure of its own.
            own = isinstance(cell, RNNCell)
            output, new = cell.call(each, nest.pack_sequence_as(cell.state_size, now) if own else now)
            if own:
                return output, nest.flatten(new)
            return output, list(new) if isinstance(new, list | tuple) else [new]

        return step

    def compute_mask(self, inputs: Nest, mask: Nest = None) -> Nest:
        """The mask of the inputs where all outputs are returned."""
        own = mask[0] if isinstance(mask, list | tuple) else mask
        made = own if self.return_sequences else None
        return [made, *([None] * len(self._sizes()))] if self.return_state else made

    def reset_states(self, states: Nest = None) -> None:
        """Forget the states, or set them; AttributeError unless the layer is stateful.

        Args:
            states: arrays `[batch, units]`; zeros when None.
        """
        if not self.stateful or self._states is None:
            raise AttributeError("Layer must be stateful.")
        given = [np.zeros(each.shape.as_list()) for each in self._states] if states is None else nest.flatten(states)
        batch_set_value(list(zip(self._states, given, strict=True)))

    def get_config(self) -> Config:
        """The cell and the arguments, as plain data."""
        config = {**super().get_config(), **{name: getattr(self, name) for name in self.own_arguments}}
        if not hasattr(self, "kept_arguments"):
            config["cell"] = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        return config

    @classmethod
    def from_config(cls, config: GivenConfig, custom_objects: Mapping[str, object] | None = None) -> KerasObject:
        """A layer of its config.

        Args:
            custom_objects: classes of cells by the names that the config has for them.
        """
        given = dict(config)
        if "cell" in given:
            given["cell"] = deserialize_cell(given["cell"], custom_objects)
        return cls(**given)


def _zero_states(cell: KerasObject, sizes: Sequence[int], first: Tensor) -> list[Tensor]:
    if isinstance(cell, Cell):
        return cell.zero_states(first)
    if not isinstance(cell, StackedRNNCells) and hasattr(cell, "get_initial_state"):
        made = cell.get_initial_state(inputs=first, batch_size=None, dtype=None)
        return nest.flatten(made) if isinstance(cell, RNNCell) else list(made) if isinstance(made, list | tuple) else [made]
    return zeros_like_batch(first, sizes)
