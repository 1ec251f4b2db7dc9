"""dynamic_rnn: a recurrent network as a loop, so that the number of steps may differ from run to run."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import DTypeLike, Nest, SizeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.models.rnn.cell import assert_like_rnn_cell
from weft.models.rnn.step import batch_size_from, common_dtype, lengths_of, masked_step, zero_outputs
from weft.ops.array.constant import constant
from weft.ops.array.sequences import reverse_sequence
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.tiling import reverse
from weft.ops.array.transposing import transpose
from weft.ops.control_flow.tensor_array import TensorArray
from weft.ops.control_flow.while_loop import while_loop
from weft.ops.math.casting import cast
from weft.ops.math.comparison import less
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_scope import variable_scope


def dynamic_rnn(
    cell: Nest,
    inputs: Nest,
    sequence_length: TensorLike | None = None,
    initial_state: Nest = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: ScopeLike = None,
) -> tuple[Nest, Nest]:
    """The outputs of a cell at every step, and its last state.

    Args:
        cell: the cell.
        inputs: `[batch, steps, ...]`, or a nested tuple of such; `[steps, batch, ...]` with `time_major`.
        sequence_length: `[batch]`, how many steps each sequence has; past it outputs are zero and the state stays.
        initial_state: the first state; zeros when None.
        dtype: the type of the state; needed without an initial state.
        parallel_iterations, swap_memory: kept with the loop; XLA orders the work and places memory itself.
        time_major: whether time is the first dimension of inputs and outputs.
        scope: the variable scope, "rnn" when None.

    Returns:
        The outputs, laid out as the inputs are, and the state after each sequence's last step.

    Raises:
        TypeError: `cell` is no cell.
        ValueError: there is neither state nor type, or a depth is unknown.

    >>> cell = tf.nn.rnn_cell.GRUCell(4)
    >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.zeros([2, 3, 5]), dtype=tf.float32)
    >>> outputs.shape, state.shape
    (TensorShape([Dimension(2), Dimension(3), Dimension(4)]), TensorShape([Dimension(2), Dimension(4)]))
    """
    assert_like_rnn_cell("cell", cell)
    with variable_scope(scope or "rnn") as opened:
        if opened.caching_device is None:
            opened.set_caching_device(lambda op: op.device)
        inputs = nest.map_structure(convert_to_tensor, inputs)
        timed = inputs if time_major else nest.map_structure(_swap, inputs)
        leaves = nest.flatten(timed)
        _check_ranks(inputs)
        batch = batch_size_from(leaves, 1)
        if initial_state is None:
            if not dtype:
                raise ValueError(
                    "If there is no initial_state, you must give a dtype, such as dynamic_rnn(cell, inputs, dtype=tf.float32)."
                )
            initial_state = cell.zero_state(batch, dtype)
        state = nest.map_structure(convert_to_tensor, initial_state)
        lengths = None if sequence_length is None else _lengths(sequence_length, batch)
        outputs, last = _loop(cell, timed, state, lengths, batch, dtype, parallel_iterations or 32, swap_memory)
        return (outputs if time_major else nest.map_structure(_swap, outputs)), last


def _swap(tensor: Tensor) -> Tensor:
    """Batch and time exchanged; what has neither stays."""
    rank = tensor.get_shape().ndims
    if rank is not None and rank < 2:
        return tensor
    if rank is None:
        raise ValueError(f"Input {tensor.name} of dynamic_rnn must have a known rank; set it with set_shape.")
    # TensorFlow makes the order by seven nodes; later random nodes get their seeds by the count, here and below.
    with get_default_graph().node_count.as_many_as(8):
        return transpose(tensor, [1, 0, *range(2, rank)])


def _lengths(sequence_length: TensorLike, batch: SizeLike) -> Tensor:
    """The lengths of the sequences, checked: by an Identity and eleven nodes of an assertion in TensorFlow."""
    given = cast(convert_to_tensor(sequence_length, name="sequence_length"), dtypes.int32)
    with get_default_graph().node_count.as_many_as(12):
        return lengths_of(given, batch)


def _check_ranks(inputs: Nest) -> None:
    for each in nest.flatten(inputs):
        if each.shape.ndims is not None and each.shape.ndims < 3:
            raise ValueError(
                f"Shape {each.shape} must have rank at least 3\n  inputs: {described(each)}\n  They are [batch, time, depth]: "
                "tf.reshape or tf.expand_dims makes steps of what has none."
            )


def _check_depths(inputs: Sequence[Tensor]) -> None:
    for each in inputs:
        if any(dim.value is None for dim in each.get_shape()[2:]):
            raise ValueError(
                "Input size (depth of inputs) must be accessible via shape inference, but saw value None.\n  inputs: "
                f"{described(each)}\n  Tell it by inputs.set_shape([None, None, depth]), or in the placeholder."
            )


def _loop(
    cell: Nest,
    inputs: Nest,
    state: Nest,
    lengths: Tensor | None,
    batch: SizeLike,
    dtype: DTypeLike | None,
    parallel_iterations: int,
    swap_memory: bool,
) -> tuple[Nest, Nest]:
    leaves = nest.flatten(inputs)
    _check_depths(leaves)
    known = next((leaf.get_shape()[0].value for leaf in leaves if leaf.get_shape()[0].value is not None), None)
    output_type = common_dtype(dtype, state)
    static_batch = batch if isinstance(batch, int) else None
    sizes = nest.flatten(cell.output_size)
    count = get_default_graph().node_count
    with count.as_many_as(_nodes_before(len(sizes), static_batch, lengths)):
        steps = shape_of(leaves[0])[0] if known is None else constant(known, dtypes.int32, name="steps")
        zeros = None if lengths is None else zero_outputs(cell.output_size, batch, output_type)
    first = constant(0, dtypes.int32, name="time")
    shapes = [[static_batch, *(size.as_list() if isinstance(size, TensorShape) else [int(size)])] for size in sizes]
    targets = tuple(
        TensorArray(output_type, steps, element_shape=shape, tensor_array_name=f"output_{i}") for i, shape in enumerate(shapes)
    )
    sources = _sources(leaves, steps)
    count.total += 3  # the loop's bound, of which TensorFlow makes a number beside that of the steps

    def goes_on(time: Tensor, *_: Nest) -> Tensor:
        count.total += 1
        return less(time, steps)

    def body(time: Tensor, targets: Nest, state: Nest) -> Nest:
        each = nest.pack_sequence_as(inputs, [source.read(time) for source in sources])
        output, new_state = masked_step(time, lengths, state, lambda: cell(each, state), zeros)
        nest.assert_same_structure(state, new_state)
        parts = nest.flatten(output)
        written = tuple(target.write(time, part) for target, part in zip(targets, parts, strict=True))
        return time + 1, written, new_state

    _, targets, last = while_loop(
        cond=goes_on,
        body=body,
        loop_vars=(first, targets, state),
        parallel_iterations=parallel_iterations,
        swap_memory=swap_memory,
        maximum_iterations=steps,
    )
    count.total += len(sizes) * (1 if None in (known, static_batch) else 2)  # what TensorFlow tells the outputs' shapes by
    return nest.pack_sequence_as(cell.output_size, _stacked(targets, known, shapes)), last


def _stacked(targets: Sequence[TensorArray], steps: int | None, shapes: Sequence[Sequence[int | None]]) -> list[Tensor]:
    stacked = [target.stack() for target in targets]
    for made, shape in zip(stacked, shapes, strict=True):
        made.set_shape([steps, *shape])
    return stacked


def _nodes_before(outputs: int, static_batch: int | None, lengths: Tensor | None) -> int:
    """How many nodes TensorFlow has for the sizes of steps and batch, zeros for each output, and the range of the lengths."""
    for_batch, for_zeros = (5, 7) if static_batch is None else (0, 6)
    return 5 + for_batch + for_zeros * outputs + (0 if lengths is None else 4)


def _sources(leaves: Sequence[Tensor], steps: Tensor) -> list[TensorArray]:
    """Arrays of the steps' inputs."""
    empty = [
        TensorArray(leaf.dtype, steps, element_shape=leaf.get_shape()[1:], tensor_array_name=f"input_{i}")
        for i, leaf in enumerate(leaves)
    ]
    return [array.unstack(leaf) for array, leaf in zip(empty, leaves, strict=True)]


def bidirectional_dynamic_rnn(
    cell_fw: Nest,
    cell_bw: Nest,
    inputs: Nest,
    sequence_length: TensorLike | None = None,
    initial_state_fw: Nest = None,
    initial_state_bw: Nest = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: ScopeLike = None,
) -> tuple[tuple[Nest, Nest], tuple[Nest, Nest]]:
    """The outputs of two networks over the inputs, the second from the end of each sequence.

    Args:
        cell_fw, cell_bw: the cells of the two.
        inputs: `[batch, steps, ...]`, or a nested tuple of such; `[steps, batch, ...]` with `time_major`.
        sequence_length: `[batch]` ints, how many steps each sequence has; past it outputs are zero and the state stays. All
            steps when None.
        initial_state_fw, initial_state_bw: the first states; zeros when None.
        dtype: the type of the states; needed without initial ones.
        parallel_iterations, swap_memory: kept with the loops; XLA orders the work and places memory itself.
        time_major: whether time is the first dimension of inputs and outputs.
        scope: the variable scope, "bidirectional_rnn" when None.

    Returns:
        `(outputs of the first, of the second)`, laid out as the inputs are, and `(last state of the first, of the second)`.

    Raises:
        TypeError: a cell is none.
        ValueError: there is neither state nor type, or a depth is unknown.
    """
    assert_like_rnn_cell("cell_fw", cell_fw)
    assert_like_rnn_cell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def turned(tensor: Tensor) -> Tensor:
        if sequence_length is None:
            return reverse(tensor, axis=[time_axis])
        return reverse_sequence(tensor, sequence_length, seq_axis=time_axis, batch_axis=batch_axis)

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            output_fw, state_fw = dynamic_rnn(
                cell_fw, inputs, sequence_length, initial_state_fw, dtype, parallel_iterations, swap_memory, time_major, forward
            )
        with variable_scope("bw") as backward:
            given = nest.map_structure(lambda tensor: turned(convert_to_tensor(tensor)), inputs)
            output, state_bw = dynamic_rnn(
                cell_bw, given, sequence_length, initial_state_bw, dtype, parallel_iterations, swap_memory, time_major, backward
            )
    return (output_fw, nest.map_structure(turned, output)), (state_fw, state_bw)
