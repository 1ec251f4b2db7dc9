"""The loop of recurrent layers over time steps, with steps that a mask leaves out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import zeros_like
from weft.ops.array.selection import where_v2
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.stacking import stack, unstack
from weft.ops.array.tiling import reverse
from weft.ops.array.transposing import transpose
from weft.ops.control_flow.tensor_array import TensorArray
from weft.ops.control_flow.while_loop import while_loop
from weft.ops.math.casting import cast

Step = Callable[[Tensor, list[Tensor]], Nest]


def scanned(
    step: Step, inputs: Tensor, states: Sequence[Tensor], mask: Tensor | None, backwards: bool, unroll: bool, time_major: bool
) -> tuple[Tensor, list[Tensor]]:
    """The outputs of all steps and the states after the last; a masked step repeats the output and keeps the states.

    Args:
        step: gives output and new states for one step's inputs and the states.
        inputs: `[batch, steps, ...]`, or the steps first if `time_major`; the outputs have the same order.
        states: the states to begin with.
        mask: `[batch, steps]`, true where a step counts.
        backwards: whether the last step comes first.
        unroll: whether steps are built one by one.
        time_major: whether steps come before the batch.
    """
    rank = inputs.shape.ndims or 3
    swapped = [1, 0, *range(2, rank)]
    steps = inputs if time_major else transpose(inputs, swapped)
    marks = None if mask is None else cast(mask if time_major else transpose(mask, [1, 0]), dtypes.bool)
    if backwards:
        steps = reverse(steps, [0])
        marks = None if marks is None else reverse(marks, [0])
    count = steps.shape.as_list()[0]
    if unroll:
        if count is None:
            raise ValueError("Unrolling requires a fixed number of timesteps.")
        outputs, last = _unrolled(step, steps, list(states), marks)
    else:
        outputs, last = _looped(step, steps, list(states), marks)
    outputs.set_shape([count, *outputs.shape.as_list()[1:]])
    return (outputs if time_major else transpose(outputs, [1, 0, *range(2, outputs.shape.ndims or 3)])), last


def _unrolled(step: Step, steps: Tensor, states: list[Tensor], marks: Tensor | None) -> tuple[Tensor, list[Tensor]]:
    outputs: list[Tensor] = []
    kept = None if marks is None else unstack(marks)
    for index, each in enumerate(unstack(steps)):
        output, new = step(each, states)
        if kept is not None:
            before = outputs[-1] if outputs else zeros_like(output)
            output = _chosen(kept[index], output, before)
            new = [_chosen(kept[index], now, then) for now, then in zip(new, states, strict=True)]
        outputs.append(output)
        states = list(new)
    return stack(outputs), states


def _looped(step: Step, steps: Tensor, states: list[Tensor], marks: Tensor | None) -> tuple[Tensor, list[Tensor]]:
    count = shape_of(steps)[0]
    source = TensorArray(steps.dtype, size=count).unstack(steps)
    kept = None if marks is None else TensorArray(dtypes.bool, size=count).unstack(marks)
    # The shape and type of an output; nothing else uses these nodes, so they do not run.
    example, _ = step(steps[0], states)
    before = [zeros_like(example)] if marks is not None else []
    target = TensorArray(example.dtype, size=count, element_shape=example.shape)

    def body(time: Tensor, made: TensorArray, last: list[Tensor], now: list[Tensor]) -> Nest:
        each = source.read(time)
        each.set_shape(steps.shape.as_list()[1:])
        output, new = step(each, list(now))
        if kept is not None:
            counts = kept.read(time)
            output = _chosen(counts, output, last[0])
            new = [_chosen(counts, fresh, then) for fresh, then in zip(new, now, strict=True)]
            last = [output]
        for fresh, then in zip(new, now, strict=True):
            fresh.set_shape(then.shape)
        return time + 1, made.write(time, output), last, list(new)

    _, made, _, last_states = while_loop(
        lambda time, *_: time < count, body, [cast(0, dtypes.int32), target, before, states], maximum_iterations=count
    )
    return made.stack(), list(last_states)


def _chosen(mask: Tensor, now: Tensor, before: Tensor) -> Tensor:
    wide = mask
    for _ in range((now.shape.ndims or 2) - 1):
        wide = expand_dims(wide, -1)
    made: Tensor = where_v2(wide, now, before)
    made.set_shape(now.shape)
    return made
