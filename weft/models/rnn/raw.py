"""raw_rnn: a recurrent network whose inputs, states and outputs a function of the program's own decides at each step."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import DTypeLike, Nest, SizeLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.models.rnn.cell import assert_like_rnn_cell
from weft.models.rnn.step import batch_size_from
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros
from weft.ops.array.joining import concat
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.control_flow.tensor_array import TensorArray
from weft.ops.control_flow.while_loop import while_loop
from weft.ops.math.comparison import logical_not, logical_or
from weft.ops.math.elementwise import add
from weft.ops.math.reduce_functions import reduce_all
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_scope import variable_scope


def raw_rnn(
    cell: Nest,
    loop_fn: Callable[..., Nest],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: ScopeLike = None,
) -> tuple[Nest, Nest, Nest]:
    """Run a cell as `loop_fn` says.

    Args:
        cell: the cell.
        loop_fn: `(time, cell_output, cell_state, loop_state)` -> `(finished, next_input, next_cell_state, emit_output,
            next_loop_state)`. It is called first with time 0 and None for the rest, and gives then the first input, the initial
            state, the structure of what is emitted (None for the cell's outputs) and the initial loop state, which may be None.
        parallel_iterations, swap_memory: kept with the loop.
        scope: the variable scope, "rnn" when None.

    Returns:
        A TensorArray (or a nested structure of them) of what was emitted at each step, zeros for finished sequences, the last
        cell state and the last loop state.

    Raises:
        TypeError: `cell` is no cell, or `loop_fn` no function.
        ValueError: the structure of what is emitted changes.
    """
    assert_like_rnn_cell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn") as opened:
        if opened.caching_device is None:
            opened.set_caching_device(lambda op: op.device)
        run = _RawLoop(cell, loop_fn)
        _, _, _, arrays, state, loop_state = while_loop(
            lambda time, finished, *_: logical_not(reduce_all(finished)), run.body, run.start,
            parallel_iterations=parallel_iterations or 32, swap_memory=swap_memory,
        )  # fmt: skip
        return nest.pack_sequence_as(run.emitted, list(arrays)), state, loop_state if run.has_loop_state else None


class _RawLoop:
    """The values that one raw_rnn carries from step to step, and the step."""

    def __init__(self, cell: Nest, loop_fn: Callable[..., Nest]) -> None:
        self._cell = cell
        self._loop_fn = loop_fn
        time = constant(0, dtypes.int32)
        finished, inputs, state, emitted, loop_state = loop_fn(time, None, None, None)
        inputs = nest.map_structure(convert_to_tensor, inputs)
        state = nest.map_structure(convert_to_tensor, state)
        self.has_loop_state = loop_state is not None
        batch = batch_size_from(nest.flatten(inputs), 0)
        kind = nest.flatten(state)[0].dtype.base_dtype
        self.emitted = cell.output_size if emitted is None else emitted
        sizes = [_sizes(each) for each in nest.flatten(self.emitted)]
        types = [kind if emitted is None else each.dtype.base_dtype for each in nest.flatten(self.emitted)]
        static = batch if isinstance(batch, int) else None
        arrays = tuple(
            TensorArray(dtype, size=0, dynamic_size=True, element_shape=None if known is None else [static, *known],
                        name=f"rnn_output_{number}")
            for number, ((known, _), dtype) in enumerate(zip(sizes, types, strict=True))
        )  # fmt: skip
        self._zeros = [_zeros(batch, known, size, dtype) for (known, size), dtype in zip(sizes, types, strict=True)]
        # A loop carries tensors: a number stands in where there is no loop state.
        carried = loop_state if self.has_loop_state else constant(0, dtypes.int32)
        self.start = (time, convert_to_tensor(finished), inputs, arrays, state, carried)

    def body(self, time: Tensor, finished: Tensor, inputs: Nest, arrays: Nest, state: Nest, loop_state: Nest) -> Nest:
        """One step."""
        output, new_state = self._cell(inputs, state)
        nest.assert_same_structure(state, new_state)
        following = add(time, 1)
        given = loop_state if self.has_loop_state else None
        now, next_inputs, next_state, emitted, next_loop_state = self._loop_fn(following, output, new_state, given)
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(inputs, next_inputs)
        nest.assert_same_structure(self.emitted, emitted)

        def kept(old: Tensor, new: Tensor) -> Tensor:
            new = convert_to_tensor(new)
            if new.get_shape().ndims == 0:
                return new
            chosen = where(finished, old, new)
            chosen.set_shape(new.get_shape())
            return chosen

        values = [kept(zero, value) for zero, value in zip(self._zeros, nest.flatten(emitted), strict=True)]
        written = tuple(array.write(time, value) for array, value in zip(arrays, values, strict=True))
        next_state = nest.map_structure(kept, state, next_state)
        carried = next_loop_state if self.has_loop_state and next_loop_state is not None else loop_state
        return following, logical_or(finished, now), next_inputs, written, next_state, carried


def _sizes(emitted: Nest) -> tuple[list[int] | None, Nest]:
    """The known size of the values that one example emits, and the size as a number, a list or a tensor."""
    if isinstance(emitted, Tensor):
        if emitted.get_shape().is_fully_defined():
            dims: Nest = emitted.get_shape().as_list()
            return dims, dims
        return None, shape_of(emitted)
    known: Nest = emitted.as_list() if isinstance(emitted, TensorShape) else [int(emitted)]
    return known, known


def _zeros(batch: SizeLike, known: list[int] | None, size: Nest, dtype: DTypeLike) -> Tensor:
    made = zeros(concat([[batch], size], 0) if known != [] else [batch], dtype)
    if known is not None:
        made.set_shape([batch if isinstance(batch, int) else None, *known])
    return made
