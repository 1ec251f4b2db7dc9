"""Networks in both directions on top of each other, and the layout of their inputs."""

from __future__ import annotations

from weft.framework.building.aliases import DTypeLike, Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.rnn.dynamic import bidirectional_dynamic_rnn
from weft.models.rnn.static import static_bidirectional_rnn
from weft.ops.array.joining import concat
from weft.ops.array.transposing import transpose
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_scope import variable_scope


def stack_bidirectional_rnn(
    cells_fw: list[Nest],
    cells_bw: list[Nest],
    inputs: Nest,
    initial_states_fw: list[Nest] | None = None,
    initial_states_bw: list[Nest] | None = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: ScopeLike = None,
) -> tuple[list[Nest], tuple[Nest, ...], tuple[Nest, ...]]:
    """Layers of `static_bidirectional_rnn`: each gets the outputs of both directions of the one below.

    Args:
        cells_fw, cells_bw: a cell for each layer, by direction.
        inputs: one tensor `[batch, size]` for each step.
        initial_states_fw, initial_states_bw: the first state of each layer; zeros when None.
        dtype: the type of the state; needed without initial states.
        sequence_length: `[batch]`, how many steps each sequence has.
        scope: the variable scope, "stack_bidirectional_rnn" when None.

    Returns:
        The outputs of the last layer, and the last states of all layers, by direction.
    """
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    none = [None] * len(cells_fw)
    layers = zip(cells_fw, cells_bw, initial_states_fw or none, initial_states_bw or none, strict=True)
    states = []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for index, (cell_fw, cell_bw, first_fw, first_bw) in enumerate(layers):
            with variable_scope(f"cell_{index}") as entered:
                inputs, *last = static_bidirectional_rnn(
                    cell_fw, cell_bw, inputs, first_fw, first_bw, dtype, sequence_length, entered
                )
            states.append(last)
    return inputs, tuple(forward for forward, _ in states), tuple(backward for _, backward in states)


def stack_bidirectional_dynamic_rnn(
    cells_fw: list[Nest],
    cells_bw: list[Nest],
    inputs: Nest,
    initial_states_fw: list[Nest] | None = None,
    initial_states_bw: list[Nest] | None = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: ScopeLike = None,
    swap_memory: bool = False,
) -> tuple[Nest, tuple[Nest, ...], tuple[Nest, ...]]:
    """Layers of `bidirectional_dynamic_rnn`: each gets the outputs of both directions of the one below, side by side.

    Args:
        cells_fw, cells_bw: a cell for each layer, by direction.
        inputs: `[batch, steps, size]`; `[steps, batch, size]` with `time_major`.
        initial_states_fw, initial_states_bw: the first state of each layer; zeros when None.
        dtype: the type of the state; needed without initial states.
        sequence_length: `[batch]`, how many steps each sequence has.
        parallel_iterations, swap_memory: kept with the loops.
        time_major: whether time is the first dimension of inputs and outputs.
        scope: the variable scope, "stack_bidirectional_rnn" when None.

    Returns:
        The outputs of the last layer, and the last states of all layers, by direction.
    """
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    none = [None] * len(cells_fw)
    layers = zip(cells_fw, cells_bw, initial_states_fw or none, initial_states_bw or none, strict=True)
    states = []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for index, (cell_fw, cell_bw, first_fw, first_bw) in enumerate(layers):
            with variable_scope(f"cell_{index}"):
                outputs, last = bidirectional_dynamic_rnn(
                    cell_fw, cell_bw, inputs, sequence_length, first_fw, first_bw, dtype, parallel_iterations, swap_memory,
                    time_major,
                )  # fmt: skip
                inputs = concat(list(outputs), 2)
            states.append(last)
    return inputs, tuple(forward for forward, _ in states), tuple(backward for _, backward in states)


def _check(cells_fw: list[Nest], cells_bw: list[Nest], first_fw: list[Nest] | None, first_bw: list[Nest] | None) -> None:
    for direction, cells in (("fw", cells_fw), ("bw", cells_bw)):
        if not cells:
            raise ValueError(f"Must specify at least one {direction} cell for BidirectionalRNN.")
    for direction, cells in (("fw", cells_fw), ("bw", cells_bw)):
        if not isinstance(cells, list):
            raise ValueError(f"cells_{direction} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for direction, first in (("fw", first_fw), ("bw", first_bw)):
        if first is not None and (not isinstance(first, list) or len(first) != len(cells_fw)):
            raise ValueError(f"initial_states_{direction} must be a list of state tensors (one per layer).")


def transpose_batch_time(x: Nest) -> Tensor:
    """A tensor with its first two dimensions exchanged; one with fewer stays.

    Args:
        x: a tensor of known rank.

    Raises:
        ValueError: its rank is not known.
    """
    tensor = convert_to_tensor(x)
    rank = tensor.get_shape().ndims
    if rank is None:
        raise ValueError(f"transpose_batch_time: the rank of {tensor.name} is not known; set its shape with set_shape.")
    return tensor if rank < 2 else transpose(tensor, [1, 0, *range(2, rank)])
