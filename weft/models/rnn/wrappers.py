"""Cells made of cells: several on top of each other, with dropout, with a shortcut, on a device."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from weft.framework.building.aliases import DeviceLike, DTypeLike, Nest, SizeLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.rnn.cell import RNNCell, assert_like_rnn_cell
from weft.models.rnn.cells import LSTMStateTuple
from weft.ops.array.joining import concat
from weft.ops.array.padding import slice_of
from weft.ops.math.division import div
from weft.ops.math.unary import floor
from weft.ops.nn.dropout import dropout
from weft.ops.random.functions import random_uniform
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_scope import variable_scope
from weft.platform.logs import tf_logging


class MultiRNNCell(RNNCell):
    """Cells on top of each other: each one's output is the next one's input.

    Inputs are `[batch, depth]`, as the first cell takes them, the output `[batch, size]`, as the last one gives it.

    Args:
        cells: the cells, the one that gets the inputs first.
        state_is_tuple: whether the state is a tuple of the cells' states; else they are one tensor, side by side.

    Raises:
        TypeError: `cells` is no list or tuple.
        ValueError: it is empty, or a state is a tuple without `state_is_tuple`.
    """

    def __init__(self, cells: Sequence[Nest], state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_nested(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if not state_is_tuple and any(nest.is_nested(cell.state_size) for cell in cells):
            raise ValueError(
                f"Some cells return tuples of states, but the flag state_is_tuple is not set.  State sizes are: "
                f"{[cell.state_size for cell in cells]}"
            )
        if len({id(cell) for cell in cells}) < len(cells):
            tf_logging.warning(
                "At least two cells provided to MultiRNNCell are the same object and will share weights. Where each layer "
                "is to have its own, make a cell for each: [make_cell() for _ in range(%d)].", len(cells),
            )  # fmt: skip
        self._cells = cells
        self._state_is_tuple = state_is_tuple

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """The cells, by their numbers."""
        return [(f"cell-{index}", cell) for index, cell in enumerate(self._cells)]

    @property
    def state_size(self) -> Nest:
        """The state sizes of the cells."""
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Nest:
        """The output size of the last cell."""
        return self._cells[-1].output_size

    @property
    def variables(self) -> list[VariableLike]:
        """The variables of the cells."""
        return [variable for cell in self._cells for variable in cell.variables]

    weights = variables

    @property
    def trainable_variables(self) -> list[VariableLike]:
        """The variables of the cells that are trained."""
        return [variable for cell in self._cells for variable in cell.trainable_variables]

    trainable_weights = trainable_variables

    def zero_state(self, batch_size: SizeLike, dtype: DTypeLike) -> Nest:
        """The zero states of the cells."""
        with get_default_graph().name_scope(type(self).__name__ + "ZeroState"):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step of all cells."""
        if self._state_is_tuple:
            if not nest.is_nested(state):
                raise ValueError(f"Expected state to be a tuple of length {len(self.state_size)}, but received: {state}")
            states = list(state)
        else:
            sizes = [cell.state_size for cell in self._cells]
            starts = [sum(sizes[:index]) for index in range(len(sizes))]
            states = [slice_of(state, [0, start], [-1, size]) for start, size in zip(starts, sizes, strict=True)]
        new_states = []
        for index, (cell, old) in enumerate(zip(self._cells, states, strict=True)):
            with variable_scope(f"cell_{index}"):
                inputs, new = cell(inputs, old)
            new_states.append(new)
        return inputs, tuple(new_states) if self._state_is_tuple else concat(new_states, 1)


class _Wrapper(RNNCell):
    """A cell around another, of whose sizes and variables it is; it has no variable scope of its own."""

    def __init__(self, cell: Nest) -> None:
        super().__init__()
        assert_like_rnn_cell("cell", cell)
        self.cell = cell

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """The cell inside."""
        return [("cell", self.cell)]

    @property
    def wrapped_cell(self) -> Nest:
        """The cell inside."""
        return self.cell

    @property
    def state_size(self) -> Nest:
        """The state size of the cell inside."""
        return self.cell.state_size

    @property
    def output_size(self) -> Nest:
        """The output size of the cell inside."""
        return self.cell.output_size

    @property
    def variables(self) -> list[VariableLike]:
        """The variables of the cell inside."""
        return list(self.cell.variables)

    weights = variables

    @property
    def trainable_variables(self) -> list[VariableLike]:
        """The variables of the cell inside that are trained."""
        return list(self.cell.trainable_variables)

    trainable_weights = trainable_variables

    def zero_state(self, batch_size: SizeLike, dtype: DTypeLike) -> Nest:
        """The zero state of the cell inside."""
        with get_default_graph().name_scope(type(self).__name__ + "ZeroState"):
            return self.cell.zero_state(batch_size, dtype)


class DropoutWrapper(_Wrapper):
    """Drops parts of a cell's inputs, outputs and states, whose shapes are the cell's.

    Args:
        cell: the cell.
        input_keep_prob, output_keep_prob, state_keep_prob: how likely an element is kept, a number or a scalar tensor.
        variational_recurrent: whether all steps of a run drop the same elements.
        input_size: the shape of the inputs without the batch; needed to drop inputs with `variational_recurrent`.
        dtype: the type of inputs, states and outputs; needed with `variational_recurrent`.
        seed: makes what is dropped repeatable.
        dropout_state_filter_visitor: a function of a state that tells, for each part of it, whether it may be dropped; all
            but the memory `c` of an LSTM when None.

    Raises:
        TypeError: the visitor is no function.
        ValueError: a probability is outside [0, 1], or what `variational_recurrent` needs is missing.
    """

    def __init__(
        self,
        cell: Nest,
        input_keep_prob: float | Tensor = 1.0,
        output_keep_prob: float | Tensor = 1.0,
        state_keep_prob: float | Tensor = 1.0,
        variational_recurrent: bool = False,
        input_size: Nest = None,
        dtype: DTypeLike | None = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable[[Nest], Nest] | None = None,
    ) -> None:
        super().__init__(cell)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._filter = dropout_state_filter_visitor or _all_but_memory
        self._input_keep_prob = _probability(input_keep_prob, "input_keep_prob")
        self._state_keep_prob = _probability(state_keep_prob, "state_keep_prob")
        self._output_keep_prob = _probability(output_keep_prob, "output_keep_prob")
        self._variational = variational_recurrent
        self._seed = seed
        if variational_recurrent:
            self._make_noise(input_size, dtype)

    def _make_noise(self, input_size: Nest, dtype: DTypeLike | None) -> None:
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        if input_size is None and _may_drop(self._input_keep_prob):
            raise ValueError(
                "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must be provided"
            )

        def noise(sizes: Nest, salt: str) -> Nest:
            flat = [noise_of(size, salt, index) for index, size in enumerate(nest.flatten(sizes))]
            return nest.pack_sequence_as(sizes, flat)

        def noise_of(size: Nest, salt: str, index: int) -> Tensor:
            # TensorFlow joins the shape of two parts: the seed comes of the count of nodes.
            get_default_graph().node_count.total += 3
            return random_uniform([1, *TensorShape(size).as_list()], seed=self._seed_of(salt, index), dtype=dtype)

        self._input_noise = None if input_size is None else noise(input_size, "input")
        self._state_noise = noise(self.cell.state_size, "state")
        self._output_noise = noise(self.cell.output_size, "output")

    def _seed_of(self, salt: str, index: int) -> int | None:
        if self._seed is None:
            return None
        digest = hashlib.md5(f"{self._seed}{salt}_{index}".encode(), usedforsecurity=False).hexdigest()
        return int(digest[:8], 16) & 0x7FFFFFFF

    def __call__(self, inputs: Nest, state: Nest, scope: ScopeLike = None) -> Nest:
        """One step of the cell, with parts of what goes in and out dropped."""
        if _may_drop(self._input_keep_prob):
            inputs = self._dropped(inputs, "input", self._input_keep_prob)
        output, new_state = self.cell(inputs, state, scope=scope)
        if _may_drop(self._state_keep_prob):
            new_state = self._dropped(new_state, "state", self._state_keep_prob, self._filter(new_state))
        if _may_drop(self._output_keep_prob):
            output = self._dropped(output, "output", self._output_keep_prob)
        return output, new_state

    def _dropped(self, values: Nest, salt: str, keep_prob: float | Tensor, chosen: Nest = True) -> Nest:
        leaves = nest.flatten(values)
        wanted = [chosen] * len(leaves) if isinstance(chosen, bool) else _spread(values, chosen)
        noises = nest.flatten(getattr(self, f"_{salt}_noise")) if self._variational else [None] * len(leaves)
        result = []
        for index, (leaf, drop, noise) in enumerate(zip(leaves, wanted, noises, strict=True)):
            if not drop:
                result.append(leaf)
            elif noise is None:
                result.append(dropout(leaf, keep_prob=keep_prob, seed=self._seed_of(salt, index)))
            else:
                kept = div(leaf, keep_prob) * floor(keep_prob + noise)
                kept.set_shape(leaf.get_shape())
                result.append(kept)
        return nest.pack_sequence_as(values, result)


def _probability(value: float | Tensor, name: str) -> float | Tensor:
    tensor = convert_to_tensor(value, name=name)
    known = constant_value(tensor)
    if known is None:
        return tensor
    if not 0 <= known <= 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {float(known)}")
    return value


def _may_drop(keep_prob: float | Tensor) -> bool:
    return isinstance(keep_prob, Tensor) or float(keep_prob) < 1


def _all_but_memory(state: Nest) -> Nest:
    """By default no part of an LSTM's memory is dropped."""
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    if nest.is_nested(state) and not isinstance(state, dict):
        return [_all_but_memory(part) for part in state]
    return True


def _spread(values: Tensor, chosen: Tensor) -> list[bool]:
    """The choice for each leaf; one for a whole part of the structure holds for all of it."""
    if isinstance(chosen, bool):
        return [chosen] * len(nest.flatten(values))
    parts = zip(nest.children(values), nest.children(chosen), strict=True)
    return [choice for value, choose in parts for choice in _spread(value, choose)]


class ResidualWrapper(_Wrapper):
    """Adds a cell's inputs to its outputs, `[batch, size]` both.

    Args:
        cell: the cell.
        residual_fn: a function `(inputs, outputs) -> outputs` to use instead of the sum.
    """

    def __init__(self, cell: Nest, residual_fn: Callable[[Nest, Nest], Nest] | None = None) -> None:
        super().__init__(cell)
        self._residual = residual_fn or _sum

    def __call__(self, inputs: Nest, state: Nest, scope: ScopeLike = None) -> Nest:
        """One step of the cell, with the inputs added."""
        outputs, new_state = self.cell(inputs, state, scope=scope)
        return self._residual(inputs, outputs), new_state


def _sum(inputs: Nest, outputs: Nest) -> Nest:
    nest.assert_same_structure(inputs, outputs)
    for given, made in zip(nest.flatten(inputs), nest.flatten(outputs), strict=True):
        if not given.get_shape().is_compatible_with(made.get_shape()):
            raise ValueError(
                f"Shapes {given.get_shape()} and {made.get_shape()} are incompatible: ResidualWrapper adds inputs to "
                "its outputs, so both have one width. Give the cell as many units, or residual_fn=lambda inputs, outputs: ..."
            )
    return nest.map_structure(lambda given, made: given + made, inputs, outputs)


class DeviceWrapper(_Wrapper):
    """Runs a cell on a device; all shapes are the cell's.

    Args:
        cell: the cell.
        device: a device name or function.
    """

    def __init__(self, cell: Nest, device: DeviceLike) -> None:
        super().__init__(cell)
        self._device = device

    def zero_state(self, batch_size: SizeLike, dtype: DTypeLike) -> Nest:
        """The zero state, on the device."""
        with get_default_graph().device(self._device):
            return super().zero_state(batch_size, dtype)

    def __call__(self, inputs: Nest, state: Nest, scope: ScopeLike = None) -> Nest:
        """One step, on the device."""
        with get_default_graph().device(self._device):
            return self.cell(inputs, state, scope=scope)


class CompiledWrapper(_Wrapper):
    """Has a cell's step compiled by XLA, as weft does with every step that runs often: the cell itself; all shapes are its own.

    Args:
        cell: the cell.
        compile_stateful: has no effect.
    """

    def __init__(self, cell: Nest, compile_stateful: bool = False) -> None:
        super().__init__(cell)

    def __call__(self, inputs: Nest, state: Nest, scope: ScopeLike = None) -> Nest:
        """One step of the cell."""
        return self.cell(inputs, state, scope=scope)
