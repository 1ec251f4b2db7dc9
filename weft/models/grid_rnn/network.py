"""Grids of recurrent cells: a network along each of several dimensions (Kalchbrenner et al., 2016, arXiv:1507.01526)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from weft.framework.building.aliases import Activation, Nest
from weft.framework.nodes.operation import Tensor
from weft.models.functional.layer_functions import fully_connected
from weft.models.rnn.cell import RNNCell, batch_size_of
from weft.models.rnn.cells import LSTMCell
from weft.ops.array.filling import zeros
from weft.ops.array.joining import concat, split
from weft.ops.array.padding import slice_of
from weft.ops.math.products import matmul
from weft.ops.nn.activation import relu
from weft.ops.variables.fan_initializers import xavier_initializer
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_scope import variable_scope
from weft.ops.variables.variable_store import AUTO_REUSE
from weft.platform.logs import tf_logging

Dimensions = int | Sequence[int] | None


class GridRNNCell(RNNCell):
    """One step of a grid of cells, `num_dims` of them: each sees the outputs of all.

    A step takes `[batch, depth]` inputs; they take the place of the states of the input dimensions, projected to `num_units`.
    The cells that have no priority go first, and the others see their outputs.

    Args:
        num_units: the size of each cell's output.
        num_dims: how many dimensions the grid has.
        input_dims: the dimensions that get a part of the inputs each.
        output_dims: those whose outputs are the grid's.
        priority_dims: those that come after the others.
        non_recurrent_dims: those that have a dense layer in the place of a cell, and no state.
        tied: whether all cells share their weights, and so do all dense layers.
        cell_fn: makes a cell for `num_units`, whose state is a tuple if it has parts; LSTMCell when None.
        non_recurrent_fn: the activation of the dense layers, relu when None.
        state_is_tuple: whether the state has a part for each recurrent dimension; `[batch, sum of sizes]` otherwise.
        output_is_tuple: whether the outputs are a tuple; `[batch, sum of sizes]` otherwise.

    Raises:
        ValueError: there are no dimensions, or not those that are named.
        TypeError: `cell_fn` makes no cell.
    """

    def __init__(
        self, num_units: int, num_dims: int = 1, input_dims: Dimensions = None, output_dims: Dimensions = None,
        priority_dims: Dimensions = None, non_recurrent_dims: Dimensions = None, tied: bool = False,
        cell_fn: Callable[[int], RNNCell] | None = None, non_recurrent_fn: Activation | None = None,
        state_is_tuple: bool = True, output_is_tuple: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        for what, is_tuple in (("state", state_is_tuple), ("output", output_is_tuple)):
            if not is_tuple:
                tf_logging.warning("%s: a tuple is faster than a concatenated %s: %s_is_tuple=True.", self, what, what)
        if num_dims < 1:
            raise ValueError(f"dims must be >= 1: {num_dims}: {type(self).__name__} has a cell for each dimension")
        self._num_units, self._count, self._tied = num_units, num_dims, tied
        self._inputs, self._outputs, self._priority, self._dense = (
            _listed(each, num_dims) for each in (input_dims, output_dims, priority_dims, non_recurrent_dims)
        )
        self._recurrent = [each for each in range(num_dims) if each not in self._dense]
        self._activation = non_recurrent_fn or relu
        self._state_is_tuple, self._output_is_tuple = state_is_tuple, output_is_tuple

        def make() -> RNNCell:
            return LSTMCell(num_units, state_is_tuple=state_is_tuple) if cell_fn is None else cell_fn(num_units)

        self._cells = [make()] * num_dims if tied else [make() for _ in range(num_dims)]
        if not isinstance(self._cells[0], RNNCell):
            raise TypeError(f"cell_fn must return an RNNCell instance, saw: {type(self._cells[0])}")

    @property
    def state_size(self) -> Nest:
        """The cell's state size for each recurrent dimension, or their sum."""
        size = self._cells[0].state_size
        return (size,) * len(self._recurrent) if self._state_is_tuple else self._width() * len(self._recurrent)

    @property
    def output_size(self) -> Nest:
        """The cell's output size for each dimension of the outputs, or their sum."""
        size = self._cells[0].output_size
        return (size,) * len(self._outputs) if self._output_is_tuple else size * len(self._outputs)

    def _width(self) -> int:
        """How many numbers the state of one cell has."""
        size = self._cells[0].state_size
        return sum(size) if isinstance(size, tuple) else size

    def __call__(self, inputs: Tensor, state: Nest, scope: ScopeLike = None) -> Nest:
        """The outputs and the new states of one step.

        Args:
            inputs: `[batch, depth]`; the depth is divided among the input dimensions.
            state: the state of the step before, as `state_size` says.
            scope: the variable scope; one with the name of the class when None.

        Raises:
            ValueError: the state has another number of parts, or the depth cannot be divided.
        """
        with variable_scope(scope or type(self).__name__):
            step = _Step(self._count, *self._parts_of(state))
            self._take_inputs(inputs, step)
            self._propagate([each for each in range(self._count) if each not in self._priority], step)
            self._propagate(self._priority, step)
            outputs = [step.newest(each) for each in self._outputs]
            states = [step.states[each] for each in self._recurrent]
            made = tuple(outputs) if self._output_is_tuple else _joined(outputs, inputs)
            return made, tuple(states) if self._state_is_tuple else _joined(list(_flat(states)), inputs)

    def _parts_of(self, state: Nest) -> tuple[list[Tensor | None], list[Tensor | None]]:
        """The memories and the last outputs of the dimensions, None where there is none."""
        memories: list[Tensor | None] = [None] * self._count
        outputs: list[Tensor | None] = [None] * self._count
        has_memory = self._width() > self._num_units
        if self._state_is_tuple and len(state) != len(self._recurrent):
            raise ValueError(f"Expected state as a tuple of {len(self._recurrent)} element: {self!r} got {len(state)}")
        for place, dimension in enumerate(self._recurrent):
            part = state[place] if self._state_is_tuple else self._cut(state, place, has_memory)
            if has_memory:
                memories[dimension], outputs[dimension] = part
            else:
                outputs[dimension] = part
        return memories, outputs

    def _cut(self, state: Tensor, place: int, has_memory: bool) -> Nest:
        start, units = place * self._width(), self._num_units
        first = slice_of(state, [0, start], [-1, units])
        return (first, slice_of(state, [0, start + units], [-1, self._width() - units])) if has_memory else first

    def _take_inputs(self, inputs: Tensor, step: _Step) -> None:
        """Put the projected inputs in the place of states."""
        depth = inputs.shape.with_rank(2)[1].value
        if not depth or not self._inputs:
            return
        has_memory = self._width() > self._num_units
        for dimension, part in zip(self._inputs, split(inputs, len(self._inputs), axis=1), strict=True):
            for kind, values in (("m", step.last), ("c", step.memories))[: 1 + has_memory]:
                shape = [part.shape[1].value, self._num_units]
                projection = get_variable(f"project_{kind}_{dimension}", shape, inputs.dtype)
                values[dimension] = matmul(part, projection)

    def _propagate(self, dimensions: Sequence[int], step: _Step) -> None:
        if not dimensions:
            return
        seen, last = step.seen(), step.newest(self._count - 1)
        for dimension in dimensions:
            where = "" if self._tied else f"/cell_{dimension}"
            if dimension in self._dense:
                with variable_scope(f"non_recurrent{where}", reuse=AUTO_REUSE if self._tied else None) as opened:
                    given = last if self._count == 1 else concat([seen, last], 1)
                    step.outputs[dimension] = fully_connected(
                        given, self._num_units, self._activation, weights_regularizer=opened.regularizer,
                        weights_initializer=opened.initializer if callable(opened.initializer) else xavier_initializer(),
                    )  # fmt: skip
                continue
            with variable_scope(f"recurrent{where}"):
                memory = step.memories[dimension]
                before = last if memory is None else (memory, last)
                step.outputs[dimension], step.states[dimension] = self._cells[dimension](seen, before)


class _Step:
    """What is known of each dimension while a step is built: memories and outputs of the last step, new outputs and states."""

    def __init__(self, count: int, memories: list[Tensor | None], last: list[Tensor | None]) -> None:
        self.memories, self.last = memories, last
        self.outputs: list[Tensor | None] = [None] * count
        self.states: list[Nest] = [None] * count

    def newest(self, dimension: int) -> Tensor:
        """A dimension's output of this step if it is there, else of the one before."""
        found = self.last[dimension] if self.outputs[dimension] is None else self.outputs[dimension]
        if found is None:
            raise ValueError(
                f"GridRNNCell: dimension {dimension} has neither a state nor inputs, and the others see its output: let it be "
                "one of input_dims"
            )
        return found

    def seen(self) -> Tensor:
        """What all cells get for their inputs: the outputs of all dimensions but the last, which is their state."""
        if len(self.last) > 1:
            return concat([self.newest(each) for each in range(len(self.last) - 1)], 1)
        only = self.newest(0)
        return zeros([batch_size_of(only, 0), 0], only.dtype)


def _listed(dimensions: Dimensions, count: int) -> list[int]:
    found = [] if dimensions is None else [dimensions] if isinstance(dimensions, int) else list(dimensions)
    found = sorted(set(found))
    if any(each < 0 or each >= count for each in found):
        raise ValueError(f"Invalid dims: {found}. Must be in [0, {count})")
    return found


def _flat(states: Sequence[Nest]) -> Iterator[Tensor]:
    for each in states:
        yield from each if isinstance(each, tuple) else [each]


def _joined(tensors: Sequence[Tensor], inputs: Tensor) -> Tensor:
    return concat(tensors, 1) if tensors else zeros([0, 0], inputs.dtype)
