"""AttentionWrapper: a cell whose output looks at memories, and whose input is what it saw there the step before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from weft.framework.building.aliases import DTypeLike, Nest, SizeLike, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.models.layers.core import Dense
from weft.models.layers.layer import Layer
from weft.models.rnn.cell import RNNCell, assert_like_rnn_cell, batch_size_of, zero_state_tensors
from weft.models.seq2seq.attention import AttentionMechanism
from weft.ops.array.filling import zeros
from weft.ops.array.identity import identity
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims, squeeze
from weft.ops.control_flow.tensor_array import TensorArray
from weft.ops.debugging.checks import assert_equal
from weft.ops.math.products import matmul

_TILING = (
    "Are you using the BeamSearchDecoder?  You may need to tile your {} via the tf.contrib.seq2seq.tile_batch function with "
    "argument multiple=beam_width."
)
_UNLIKE = "Non-matching batch sizes between the memory (encoder output) and"


def _unlike_batches(when: str, other: str, tiled: str) -> str:
    return f"{when}: {_UNLIKE} {other}.  {_TILING.format(tiled)}"


class AttentionWrapperState(NamedTuple):
    """The state of an AttentionWrapper: the cell's, and what was seen; tuples of these where there are several memories.

    Args:
        cell_state: the cell's state.
        attention: what was seen last, `[batch, size]`.
        time: the number of the step, [] int32.
        alignments: the weights that it was seen with, `[batch, steps]`.
        alignment_history: a TensorArray of the weights of all steps, or `()`.
        attention_state: the mechanism's state.
    """

    cell_state: Nest
    attention: Nest
    time: Nest
    alignments: Nest
    alignment_history: Nest
    attention_state: Nest

    def clone(self, **kwargs: Nest) -> AttentionWrapperState:
        """This state with other values for some fields, whose shapes must fit those before.

        Args:
            kwargs: the fields' new values by name.
        """

        def checked(old: Nest, new: Nest) -> Nest:
            if isinstance(old, Tensor) and isinstance(new, Tensor):
                new.set_shape(old.shape)
            return new

        replaced = self._replace(**kwargs)
        # TensorFlow compares shapes that only a step tells by nodes, for all fields; seeds of later nodes go by their count.
        for old, new in zip(nest.flatten(tuple(self)), nest.flatten(tuple(replaced)), strict=False):
            if isinstance(old, Tensor) and isinstance(new, Tensor):
                is_known = old.shape.is_fully_defined()
                get_default_graph().node_count.total += 16 if not is_known else 20 * (not new.shape.is_fully_defined())
        return AttentionWrapperState(*(
            nest.map_structure(checked, old, new) if name in kwargs else new
            for name, old, new in zip(self._fields, self, replaced, strict=True)
        ))  # fmt: skip


def _beside(inputs: Nest, attention: Tensor) -> Tensor:
    return concat([inputs, attention], -1)


def attention_of(mechanism: AttentionMechanism, query: Tensor, state: Nest, layer: Layer | None) -> tuple[Tensor, Tensor, Nest]:
    """What a cell's output sees in a memory, by what weights, and the mechanism's new state."""
    alignments, new_state = mechanism(query, state=state)
    seen = squeeze(matmul(expand_dims(alignments, 1), mechanism.values), [1])
    return (seen if layer is None else layer(concat([query, seen], 1))), alignments, new_state


class AttentionWrapper(RNNCell):
    """A cell that attends to memories.

    Args:
        cell: the cell.
        attention_mechanism: one mechanism, or a list of them.
        attention_layer_size: the size of what is seen, after a layer of it and the cell's output; a list of sizes where there
            are several mechanisms; None for what is seen itself.
        alignment_history: whether the state keeps the weights of all steps, in a TensorArray.
        cell_input_fn: makes the cell's input of the inputs and what was seen before; they are put side by side when None.
        output_attention: whether the output is what is seen, or the cell's output.
        initial_cell_state: the cell's state that `zero_state` gives.
        name: the variable scope.
        attention_layer: layers in place of those that `attention_layer_size` makes.
        attention_fn: computes what is seen, its weights and the mechanism's state.
        dtype: the type of the variables.

    Raises:
        TypeError: a mechanism or `cell_input_fn` is none.
        ValueError: sizes and layers are both given, or not one for each mechanism.
    """

    def __init__(
        self, cell: Nest, attention_mechanism: Nest, attention_layer_size: int | Sequence[int] | None = None,
        alignment_history: bool = False, cell_input_fn: Callable[..., Tensor] | None = None, output_attention: bool = True,
        initial_cell_state: Nest = None, name: str | None = None, attention_layer: Nest = None,
        attention_fn: Callable[..., Nest] | None = None, dtype: DTypeLike | None = None,
    ) -> None:  # fmt: skip
        super().__init__(name=name, dtype=dtype)
        assert_like_rnn_cell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, list | tuple)
        self._attention_mechanisms: tuple[Nest, ...] = tuple(attention_mechanism) if self._is_multi else (attention_mechanism,)
        for mechanism in self._attention_mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError(
                    f"attention_mechanism must be an AttentionMechanism or list of multiple AttentionMechanism instances, "
                    f"saw type: {type(mechanism).__name__}"
                )
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError(f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}")
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        self._cell, self._cell_input_fn = cell, cell_input_fn or _beside
        self._layers = self._made_layers(attention_layer_size, attention_layer)
        self._sees = attention_fn or attention_of
        self._output_attention, self._keeps_history = output_attention, alignment_history
        self._initial_cell_state = self._checked_initial(initial_cell_state)

    def _made_layers(self, sizes: int | Sequence[int] | None, layers: Nest) -> list[Nest]:
        if sizes is None and layers is None:
            self._attention_size = sum(mechanism.values.shape[-1].value for mechanism in self._attention_mechanisms)
            return [None] * len(self._attention_mechanisms)
        given = list(sizes if isinstance(sizes, list | tuple) else [sizes])
        if layers is not None:
            given = list(layers if isinstance(layers, list | tuple) else [layers])
        if len(given) != len(self._attention_mechanisms):
            what = "integer" if layers is None else "layer"
            raise ValueError(
                f"If provided, attention_layer{'_size' if layers is None else ''} must contain exactly one {what} per "
                f"attention_mechanism, saw: {len(given)} vs {len(self._attention_mechanisms)}"
            )
        if layers is not None:
            self._attention_size = sum(layer.units for layer in given)
            return given
        self._attention_size = sum(given)
        return [
            Dense(size, name="attention_layer", use_bias=False, dtype=mechanism.dtype)
            for size, mechanism in zip(given, self._attention_mechanisms, strict=True)
        ]

    def _checked_initial(self, state: Nest) -> Nest:
        if state is None:
            return None
        with get_default_graph().name_scope("AttentionWrapperInit"):
            what = _unlike_batches(f"When constructing AttentionWrapper {self.name}", "initial_cell_state", "initial state")
            size = batch_size_of(nest.flatten(state)[-1], 0)
            return self._after_checks(size, what, state, "check_initial_cell_state")

    def _after_checks(self, batch_size: SizeLike, message: str, values: Nest, name: str) -> Nest:
        checks: list[Operation] = [
            assert_equal(batch_size, mechanism.batch_size, message=message) for mechanism in self._attention_mechanisms
        ]
        with get_default_graph().control_dependencies([check for check in checks if check is not None]):
            return nest.map_structure(lambda each: identity(each, name=name), values)

    def _item_or_tuple(self, values: Iterable[Nest]) -> Nest:
        found = tuple(values)
        return found if self._is_multi else found[0]

    @property
    def output_size(self) -> Nest:
        """The size of what is seen, or of the cell's output."""
        return self._attention_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> Nest:
        """The sizes of the state, as an AttentionWrapperState."""
        return AttentionWrapperState(
            cell_state=self._cell.state_size, time=TensorShape([]), attention=self._attention_size,
            alignments=self._item_or_tuple(each.alignments_size for each in self._attention_mechanisms),
            attention_state=self._item_or_tuple(each.state_size for each in self._attention_mechanisms),
            alignment_history=self._item_or_tuple(
                each.alignments_size if self._keeps_history else () for each in self._attention_mechanisms
            ),
        )  # fmt: skip

    @property
    def variables(self) -> list[VariableLike]:
        """The variables of the wrapper and of the cell."""
        return [*super().variables, *self._cell.variables]

    weights = variables

    def zero_state(self, batch_size: SizeLike, dtype: DTypeLike) -> Nest:
        """The state before the first step: zeros, or the initial state of the cell that was given."""
        with get_default_graph().name_scope(type(self).__name__ + "ZeroState"):
            initial = self._initial_cell_state
            if initial is None:
                initial = self._cell.zero_state(batch_size, dtype)
            what = _unlike_batches(
                f"When calling zero_state of AttentionWrapper {self.name}", "the requested batch size", "encoder output"
            )
            checked = self._after_checks(batch_size, what, initial, "checked_cell_state")
            alignments = [each.initial_alignments(batch_size, dtype) for each in self._attention_mechanisms]
            return AttentionWrapperState(
                cell_state=checked, time=zeros([], dtype=dtypes.int32),
                attention=zero_state_tensors(self._attention_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(
                    each.initial_state(batch_size, dtype) for each in self._attention_mechanisms
                ),
                alignment_history=self._item_or_tuple(
                    TensorArray(dtype, size=0, dynamic_size=True, element_shape=each.dims) if self._keeps_history else ()
                    for each in alignments
                ),
            )  # fmt: skip

    def call(self, inputs: Nest, state: Nest) -> Nest:
        """One step of the cell, and a look at the memories."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                f"Expected state to be instance of AttentionWrapperState. Received type {type(state)} instead. The state of "
                f"{self.name!r} is made by its zero_state(batch, tf.float32), and .clone(cell_state=state) puts the last state "
                "of an encoder there."
            )
        output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        what = _unlike_batches(f"When applying AttentionWrapper {self.name}", "the query (decoder output)", "memory input")
        output = self._after_checks(batch_size_of(output, 0), what, output, "checked_cell_output")
        states = state.attention_state if self._is_multi else [state.attention_state]
        histories = state.alignment_history if self._is_multi else [state.alignment_history]
        looks = [
            self._sees(mechanism, output, before, layer)
            for mechanism, before, layer in zip(self._attention_mechanisms, states, self._layers, strict=True)
        ]
        kept = [
            history.write(state.time, alignments) if self._keeps_history else ()
            for history, (_, alignments, _) in zip(histories, looks, strict=True)
        ]
        attention = concat([seen for seen, _, _ in looks], 1)
        new_state = AttentionWrapperState(
            time=state.time + 1, cell_state=cell_state, attention=attention,
            attention_state=self._item_or_tuple(after for _, _, after in looks),
            alignments=self._item_or_tuple(alignments for _, alignments, _ in looks),
            alignment_history=self._item_or_tuple(kept),
        )  # fmt: skip
        return (attention if self._output_attention else output), new_state
