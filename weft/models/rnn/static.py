"""static_rnn: a recurrent network whose steps are nodes of the graph, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from weft.framework.building.aliases import DTypeLike, Nest, SizeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.rnn.cell import assert_like_rnn_cell, batch_size_of
from weft.models.rnn.step import batch_size_from, common_dtype, lengths_of, masked_step, zero_outputs
from weft.ops.array.joining import concat
from weft.ops.array.sequences import reverse_sequence
from weft.ops.array.stacking import stack, unstack
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_scope import variable_scope


class StateSaver(Protocol):
    """An object that keeps the states of sequences between runs."""

    def state(self, name: str, /) -> Tensor:
        """The state of this name, `[batch, ...]`."""
        ...

    def save_state(self, name: str, value: Tensor, /) -> Operation | Tensor:
        """Keep a state by this name; the result is the node that does."""
        ...


def static_rnn(
    cell: Nest,
    inputs: Nest,
    initial_state: Nest = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: ScopeLike = None,
) -> tuple[list[Nest], Nest]:
    """The outputs of a cell for each of the inputs, and its last state.

    Args:
        cell: the cell.
        inputs: one tensor `[batch, size]`, or nested tuple of them, for each step; `[batch]` for a cell that looks numbers up.
        initial_state: the first state; zeros when None.
        dtype: the type of the state; needed without an initial state.
        sequence_length: `[batch]`, how many steps each sequence has; past it outputs are zero and the state stays.
        scope: the variable scope, "rnn" when None.

    Returns:
        A list of the outputs, one for each of the inputs, and the last state.

    Raises:
        TypeError: `cell` is no cell, or `inputs` no sequence.
        ValueError: `inputs` is empty, its sizes differ or are unknown, or there is neither state nor type.
    """
    assert_like_rnn_cell("cell", cell)
    if not nest.is_nested(inputs):
        raise TypeError(
            f"inputs must be a sequence, a tensor [batch, depth] for each step; got {inputs!r}: tf.unstack(inputs, axis=1)"
        )
    if not inputs:
        raise ValueError("inputs must not be empty: they are a tensor [batch, depth] for each step")
    with variable_scope(scope or "rnn") as opened:
        if opened.caching_device is None:
            opened.set_caching_device(lambda op: op.device)
        inputs = [nest.map_structure(convert_to_tensor, each) for each in inputs]
        _check_sizes(inputs)
        leaves = nest.flatten(inputs[0])
        batch = batch_size_of(leaves[0], 0) if leaves[0].shape.ndims == 1 else batch_size_from(leaves, 0)
        state = _first_state(cell, initial_state, batch, dtype)
        lengths = zeros = None
        if sequence_length is not None:
            lengths = lengths_of(sequence_length, batch)
            zeros = zero_outputs(cell.output_size, batch, common_dtype(dtype, state))
        outputs = []
        for time, each in enumerate(inputs):
            if time:
                opened.reuse_variables()
            output, state = masked_step(time, lengths, state, lambda each=each, state=state: cell(each, state), zeros)  # type: ignore[misc]
            outputs.append(output)
        return outputs, state


def _check_sizes(inputs: Sequence[Nest]) -> None:
    for each in inputs:
        for leaf, first in zip(nest.flatten(each), nest.flatten(inputs[0]), strict=True):
            shape = leaf.get_shape()
            if shape.ndims == 1:
                continue  # Class numbers, for a cell that looks them up, such as EmbeddingWrapper.
            shape.with_rank_at_least(2)
            if any(dim.value is None for dim in shape[1:]):
                raise ValueError(
                    "Input size (dimension 1 of inputs) must be accessible via shape inference, but saw value None."
                )
            first.get_shape()[1:].assert_is_compatible_with(shape[1:])


def _first_state(cell: Nest, initial_state: Nest, batch: SizeLike, dtype: DTypeLike | None) -> Nest:
    if initial_state is not None:
        return initial_state
    if not dtype:
        raise ValueError("If no initial_state is provided, dtype must be specified")
    return cell.zero_state(batch, dtype)


def static_state_saving_rnn(
    cell: Nest,
    inputs: Nest,
    state_saver: StateSaver,
    state_name: Nest,
    sequence_length: TensorLike | None = None,
    scope: ScopeLike = None,
) -> tuple[list[Nest], Nest]:
    """`static_rnn` whose first state comes from an object and whose last one goes back to it.

    Args:
        cell: the cell.
        inputs: one tensor `[batch, size]` for each step.
        state_saver: has the methods `state(name)` and `save_state(name, tensor)`.
        state_name: the name of the state, or a tuple of names where the state is a tuple.
        sequence_length: `[batch]`, how many steps each sequence has.
        scope: the variable scope, "rnn" when None.

    Raises:
        ValueError: `state_name` does not have the structure of the cell's state.
    """
    is_tuple, named = nest.is_nested(cell.state_size), nest.is_nested(state_name)
    if is_tuple != named:
        raise ValueError(
            "state_name should be the same type as cell.state_size.  "
            f"state_name: {state_name}, cell.state_size: {cell.state_size}"
        )
    names = nest.flatten(state_name)
    first = nest.pack_sequence_as(cell.state_size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(cell, inputs, initial_state=first, sequence_length=sequence_length, scope=scope)
    leaves = nest.flatten(state)
    saved = [state_saver.save_state(name, leaf) for name, leaf in zip(names, leaves, strict=True)]
    last = nest.map_structure(lambda output: with_dependencies(saved, output), outputs[-1])
    return [*outputs[:-1], last], nest.pack_sequence_as(state, [with_dependencies(saved, leaf) for leaf in leaves])


def static_bidirectional_rnn(
    cell_fw: Nest,
    cell_bw: Nest,
    inputs: Nest,
    initial_state_fw: Nest = None,
    initial_state_bw: Nest = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: ScopeLike = None,
) -> tuple[list[Nest], Nest, Nest]:
    """Two networks over the inputs, one from their end; the outputs of both side by side, and the last state of each.

    Args:
        cell_fw, cell_bw: the cells, for the ways forwards and backwards.
        inputs: one tensor `[batch, size]` for each step.
        initial_state_fw, initial_state_bw: their first states; zeros when None.
        dtype: the type of the states; needed where a first state is not given.
        sequence_length: `[batch]`, how many steps each sequence has; all when None.
        scope: the variable scope, "bidirectional_rnn" when None.

    Returns:
        The outputs, one `[batch, size of both]` for each step, and the two last states.

    Raises:
        TypeError: `inputs` is no sequence.
        ValueError: `inputs` is empty.
    """
    assert_like_rnn_cell("cell_fw", cell_fw)
    assert_like_rnn_cell("cell_bw", cell_bw)
    if not nest.is_nested(inputs):
        raise TypeError(
            f"inputs must be a sequence, a tensor [batch, depth] for each step; got {inputs!r}: tf.unstack(inputs, axis=1)"
        )
    if not inputs:
        raise ValueError("inputs must not be empty: they are a tensor [batch, depth] for each step")
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            outputs, state = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=forward)
        with variable_scope("bw") as backward:
            turned, state_bw = static_rnn(
                cell_bw, _turned(inputs, sequence_length), initial_state_bw, dtype, sequence_length, scope=backward
            )
    pairs = zip(outputs, _turned(turned, sequence_length), strict=True)
    joined = [nest.map_structure(lambda a, b: concat([a, b], 1), first, second) for first, second in pairs]
    return joined, state, state_bw


def _turned(sequence: Sequence[Nest], lengths: TensorLike | None) -> list[Nest]:
    """The steps in the opposite order; where sequences have lengths, each within its own."""
    if lengths is None:
        return list(reversed(sequence))
    columns = []
    for parts in zip(*(nest.flatten(each) for each in sequence), strict=True):
        shape = TensorShape(None)
        for part in parts:
            part.set_shape(shape.merge_with(part.get_shape()))
            shape = part.get_shape()
        turned = unstack(reverse_sequence(stack(list(parts)), lengths, seq_axis=0, batch_axis=1))
        for part in turned:
            part.set_shape(shape)
        columns.append(turned)
    return [nest.pack_sequence_as(sequence[0], list(leaves)) for leaves in zip(*columns, strict=True)]
