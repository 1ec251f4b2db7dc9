"""Whole recurrent layers that are called on all steps at once, time first, by the names of TensorFlow's fused forms."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from weft.framework.building.aliases import DTypeLike, Nest, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.framework.types.tensor_shape import TensorShape
from weft.models.rnn.cell import batch_size_of
from weft.models.rnn.cells import LSTMBlockCell, LSTMStateTuple
from weft.models.rnn.dynamic import dynamic_rnn
from weft.models.rnn.static import static_rnn
from weft.ops.array.batch_gather import gather_nd
from weft.ops.array.filling import zeros
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.sequences import reverse_sequence, sequence_mask
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.stacking import stack, unstack
from weft.ops.array.tiling import reverse
from weft.ops.array.transposing import transpose
from weft.ops.math.casting import cast
from weft.ops.variables.scopes import ScopeLike, VariableScope
from weft.ops.variables.variable_scope import variable_scope


class FusedRNNCell:
    """A layer over all steps: `layer(inputs, initial_state, dtype, sequence_length, scope) -> (outputs, last state)`."""

    __repr__ = printed("tf.contrib.rnn")

    def __call__(
        self,
        inputs: Nest,
        initial_state: Nest = None,
        dtype: DTypeLike | None = None,
        sequence_length: TensorLike | None = None,
        scope: ScopeLike = None,
    ) -> tuple[Nest, Nest]:
        """The outputs of all steps and the last state.

        Args:
            inputs: `[steps, batch, depth]`, or a list of `[batch, depth]`; the outputs are laid out alike.
            initial_state: the first state; zeros when None.
            dtype: the type of the state; needed without an initial state.
            sequence_length: `[batch]`, how many steps each sequence has; past it outputs are zero.
            scope: the variable scope.
        """
        raise NotImplementedError(f"{type(self).__name__} has no __call__")


class LSTMBlockWrapper(FusedRNNCell):
    """An LSTM over all steps, from a subclass's `num_units` and `_call_cell`: checks, first state, lengths and last state.

    `_call_cell(inputs, initial_cell_state, initial_output, dtype, sequence_length)` takes `[steps, batch, depth]` and gives
    the memories and the outputs of all steps, `[steps, batch, num_units]` each; past a sequence's end they may be anything.

    Args:
        trainable: whether the variables are trained.
        name: the name of the variable scope.
        dtype: the type of the variables; that of the inputs when None.
    """

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        self.trainable, self.dtype = trainable, dtype
        self._name = name or type(self).__name__
        self._scope: VariableScope | None = None

    @property
    def num_units(self) -> int:
        """The size of memory and output."""
        raise NotImplementedError(f"{type(self).__name__} has no num_units")

    def _call_cell(
        self, inputs: Tensor, initial_cell_state: Tensor, initial_output: Tensor, dtype: DTypeLike,
        sequence_length: Tensor | None,
    ) -> tuple[Nest, Nest]:  # fmt: skip
        raise NotImplementedError(f"{type(self).__name__} has no _call_cell")

    def __call__(
        self,
        inputs: Nest,
        initial_state: Nest = None,
        dtype: DTypeLike | None = None,
        sequence_length: TensorLike | None = None,
        scope: ScopeLike = None,
    ) -> tuple[Nest, Nest]:
        """The outputs of all steps and the last state, as FusedRNNCell says.

        Raises:
            ValueError: the inputs have another rank or no known depth, or there is neither a first state nor a type.
        """
        steps = _checked_steps(inputs, initial_state, dtype)
        with self._entered(scope):
            count, batch = batch_size_of(steps, 0), batch_size_of(steps, 1)
            if initial_state is None:
                initial_state = (zeros([batch, self.num_units], dtype or steps.dtype),) * 2
            c, h = initial_state
            kind = dtype or c.dtype
            lengths = None if sequence_length is None else convert_to_tensor(sequence_length)
            memories, outputs = (convert_to_tensor(each) for each in self._call_cell(steps, c, h, kind, lengths))
            if lengths is None:
                last = LSTMStateTuple(memories[-1], outputs[-1])
            else:
                outputs = outputs * expand_dims(transpose(sequence_mask(lengths, count, dtype=kind)), -1)
                # The state before the first step stands in front, so that a sequence of no steps keeps it.
                places = stack([cast(lengths, dtypes.int32), range_of(batch)], axis=1)
                pairs = zip(initial_state, (memories, outputs), strict=True)
                last = LSTMStateTuple(*(gather_nd(concat([expand_dims(first, 0), each], 0), places) for first, each in pairs))
            return (unstack(outputs) if isinstance(inputs, list) else outputs), last

    @contextlib.contextmanager
    def _entered(self, scope: ScopeLike) -> Iterator[None]:
        is_first = self._scope is None
        opened = self._scope if self._scope is not None else scope
        with variable_scope(opened, default_name=self._name, reuse=None if is_first else True) as self._scope:
            yield


def _checked_steps(inputs: Nest, initial_state: Nest, dtype: DTypeLike | None) -> Tensor:
    """The inputs of all steps as one tensor, whose depth is known."""
    if initial_state is None and dtype is None:
        raise ValueError("Either initial_state or dtype needs to be specified")
    if initial_state is not None and len(initial_state) != 2:
        raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
    steps = stack(inputs) if isinstance(inputs, list) else convert_to_tensor(inputs)
    shape = steps.get_shape().with_rank(3)
    if shape[2].value is None:
        raise ValueError(f"Expecting inputs_shape[2] to be set: {shape}")
    return steps


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """The LSTM of `LSTMBlockCell` over all steps, with the same variables.

    Inputs are `[steps, batch, depth]`, outputs `[steps, batch, num_units]`; the state is an LSTMStateTuple.

    Args:
        num_units: the size of memory and output.
        forget_bias: added to the forget gate.
        cell_clip: limits the memory to plus or minus this; no limit when None.
        use_peephole: whether the gates see the memory, each element its own.
        reuse: whether the variables exist already.
        dtype: the type of the variables; that of the inputs when None.
        name: the name of the variable scope.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: bool | None = None,
        dtype: DTypeLike | None = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self._cell = LSTMBlockCell(num_units, forget_bias, cell_clip, use_peephole, dtype, reuse, name)
        self._reuse = reuse

    @property
    def num_units(self) -> int:
        """The size of memory and output."""
        return self._cell.output_size

    @property
    def name(self) -> str:
        """The name of the variable scope within the one it is in."""
        return self._name

    @property
    def variables(self) -> list[VariableLike]:
        """The variables of the layer."""
        return self._cell.variables

    weights = variables

    @property
    def trainable_variables(self) -> list[VariableLike]:
        """The variables that are trained."""
        return self._cell.trainable_variables

    trainable_weights = trainable_variables

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """What checkpoints of objects save: the variables of the cell."""
        return self._cell.checkpoint_dependencies()

    def __call__(
        self,
        inputs: Nest,
        initial_state: Nest = None,
        dtype: DTypeLike | None = None,
        sequence_length: TensorLike | None = None,
        scope: ScopeLike = None,
    ) -> tuple[Nest, Nest]:
        """The outputs of all steps and the last state, as FusedRNNCell says."""
        steps = _checked_steps(inputs, initial_state, dtype)
        if initial_state is not None:
            initial_state = LSTMStateTuple(*initial_state)
        lengths = None if sequence_length is None else convert_to_tensor(sequence_length)
        opened = self._opened_scope(scope)
        if not self._cell.built:
            self._cell.build_in(opened, steps.shape[1:], self._cell.dtype or steps.dtype)

        def step(each: Nest, state: Nest) -> Nest:
            return self._cell(each, state, opened)

        cell = _Step(self._cell, step)
        with get_default_graph().node_count.as_many_as(
            self._nodes(steps.shape, initial_state is not None, lengths is not None)
        ):
            outputs, last = dynamic_rnn(cell, steps, lengths, initial_state, dtype, time_major=True, scope=opened)
        return (unstack(outputs) if isinstance(inputs, list) else outputs), last

    def _nodes(self, inputs: TensorShape, has_state: bool, has_lengths: bool) -> int:
        """How many nodes TensorFlow makes beside the variables, for one op over all steps: later seeds go by the count."""
        count = (12 if has_state else 15) - self._cell.has_peepholes
        open_steps, open_batch = (size.value is None for size in inputs[:2])
        if open_batch:
            count += 5 if has_state else 6
        return count + 9 * open_steps + (29 - 2 * open_batch) * has_lengths

    def _opened_scope(self, scope: ScopeLike) -> VariableScope:
        """The scope of the variables: opened at the first call, before the loop's own, so that names stay unique."""
        if self._scope is None:
            name = self._name if scope is None and self._reuse else scope
            with variable_scope(name, default_name=self._name) as self._scope:
                pass
        return self._scope


class _Step:
    """A cell as `dynamic_rnn` takes it, whose variables are in the scope of the layer."""

    def __init__(self, cell: LSTMBlockCell, step: Callable[[Nest, Nest], Nest]) -> None:
        self.state_size = cell.state_size
        self.output_size = cell.output_size
        self.zero_state = cell.zero_state
        self._step = step

    def __call__(self, inputs: Nest, state: Nest) -> Nest:
        """One step."""
        return self._step(inputs, state)


class FusedRNNCellAdaptor(FusedRNNCell):
    """A cell as a layer over all steps.

    Args:
        cell: the cell.
        use_dynamic_rnn: whether the steps are a loop; else they are nodes, one after the other.
    """

    def __init__(self, cell: Nest, use_dynamic_rnn: bool = False) -> None:
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(
        self,
        inputs: Nest,
        initial_state: Nest = None,
        dtype: DTypeLike | None = None,
        sequence_length: TensorLike | None = None,
        scope: ScopeLike = None,
    ) -> tuple[Nest, Nest]:
        """The outputs of all steps and the last state, as FusedRNNCell says."""
        is_list = isinstance(inputs, list)
        if self._use_dynamic_rnn:
            steps = stack(inputs) if is_list else inputs
            outputs, last = dynamic_rnn(self._cell, steps, sequence_length, initial_state, dtype, time_major=True, scope=scope)
            return (unstack(outputs) if is_list else outputs), last
        each = inputs if is_list else unstack(inputs)
        made, last = static_rnn(self._cell, each, initial_state, dtype, sequence_length, scope)
        return (made if is_list else stack(made)), last


class TimeReversedFusedRNN(FusedRNNCell):
    """A layer over the steps from the last to the first; the outputs are in the order of the inputs.

    Args:
        cell: the layer.
    """

    def __init__(self, cell: FusedRNNCell) -> None:
        self._cell = cell

    def __call__(
        self,
        inputs: Nest,
        initial_state: Nest = None,
        dtype: DTypeLike | None = None,
        sequence_length: TensorLike | None = None,
        scope: ScopeLike = None,
    ) -> tuple[Nest, Nest]:
        """The outputs of all steps and the state after the first one, as FusedRNNCell says."""
        outputs, last = self._cell(
            _reversed(inputs, sequence_length), initial_state, dtype=dtype, sequence_length=sequence_length, scope=scope
        )
        return _reversed(outputs, sequence_length), last


def _reversed(steps: Nest, lengths: TensorLike | None) -> list[Tensor] | Tensor:
    if isinstance(steps, list):
        return list(reversed(steps))
    return reverse(steps, [0]) if lengths is None else reverse_sequence(steps, lengths, 0, 1)
