"""tf.keras.backend.rnn: a step of a program's own over the time steps of a tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.networks.layers.recurrent.scan import scanned
from weft.ops.array.filling import zeros_like
from weft.ops.array.selection import where_v2
from weft.ops.array.shape_ops import expand_dims
from weft.ops.math.casting import cast


def rnn(
    step_function: Callable[[Tensor, list[Tensor]], Nest], inputs: Tensor, initial_states: Sequence[Tensor],
    go_backwards: bool = False, mask: Tensor | None = None, constants: Sequence[Tensor] | None = None, unroll: bool = False,
    input_length: int | None = None, time_major: bool = False, zero_output_for_mask: bool = False,
) -> tuple[Tensor, Tensor, list[Tensor]]:  # fmt: skip
    """Iterate over the time steps of a tensor.

    Args:
        step_function: gives `(output, new_states)` for the inputs of a step, `[batch, ...]`, and the states, behind which the
            constants stand.
        inputs: `[batch, steps, ...]`.
        initial_states: the states to begin with.
        go_backwards: whether the last step comes first.
        mask: `[batch, steps]` or `[batch, steps, 1]`, true where a step counts; others repeat the output before, and keep
            the states.
        constants: what each step gets behind the states.
        unroll: whether steps are built one by one; their number must be known then.
        input_length: not used: the number of steps is that of the inputs.
        time_major: whether steps come before the batch, in the outputs too.
        zero_output_for_mask: whether the output of a step that doesn't count is zeros.

    Returns:
        The last output, `[batch, ...]`, all outputs, `[batch, steps, ...]`, and the last states.

    Raises:
        ValueError: the number of steps is not known, and they are to be built one by one.
    """
    further = list(constants or ())
    marks = mask
    if marks is not None and marks.shape.ndims == 3:
        marks = marks[:, :, 0]

    def step(each: Tensor, states: list[Tensor]) -> Nest:
        output, new = step_function(each, [*states, *further])
        return output, list(new)[: len(initial_states)]

    outputs, last_states = scanned(step, inputs, list(initial_states), marks, go_backwards, unroll, time_major)
    if zero_output_for_mask and marks is not None:
        wide = cast(marks, "bool")
        for _ in range((outputs.shape.ndims or 2) - 2):
            wide = expand_dims(wide, -1)
        outputs = where_v2(wide, outputs, zeros_like(outputs))
    last = outputs[-1] if time_major else outputs[:, -1]
    return last, outputs, last_states
