"""The sequences of a beam search, read back from the steps and the beams that each step came from."""

from __future__ import annotations

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types.dims import Dims, merge_dims
from weft.ops.array.shape_ops import INDEX, brackets
from weft.ops.declaration import op


def _beams_shape(node: Operation) -> list[Dims]:
    steps, parents, lengths, end = (each.dims for each in node.inputs)
    for dims, rank in ((steps, 3), (parents, 3), (lengths, 1), (end, 0)):
        if dims is not None and len(dims) != rank:
            raise ValueError(f"Shape must be rank {rank} but is rank {len(dims)}")
    unknown = (None, None, None)
    return [merge_dims(steps or unknown, parents or unknown)]


@op("GatherTree", "step_ids: T, parent_ids: T, max_sequence_lengths: int32, end_token: T -> beams: T", infer=_beams_shape,
    gradient=None, types={"T": INDEX[:1]})  # fmt: skip
def gather_tree(ctx: OpContext, step_ids: Array, parent_ids: Array, max_sequence_lengths: Array, end_token: Array) -> Result:
    """The sequence of each beam: `[steps, batch, beams], [steps, batch, beams], [batch], scalar -> [steps, batch, beams]`.

    A beam is followed back from the last of its batch's steps by its parents; past its first end token, and past the last
    step, there are end tokens.

    Args:
        step_ids: [steps, batch, beams] int32: what each beam said at each step.
        parent_ids: [steps, batch, beams] int32: which beam of the step before each one continues.
        max_sequence_lengths: [batch] int32: how many steps count.
        end_token: int32 scalar.
    """
    if step_ids.shape != parent_ids.shape:
        raise InvalidArgumentError.of(
            f"step_ids and parent_ids must have the same shape, but they are {brackets(step_ids.shape)} and "
            f"{brackets(parent_ids.shape)}"
        )
    steps, batch, width = step_ids.shape
    if max_sequence_lengths.shape != (batch,):
        raise InvalidArgumentError.of(
            f"batch size dimensions step_ids.shape[1] and max_sequence_lengths.shape[0] must match, but they are {batch} and "
            f"{brackets(max_sequence_lengths.shape)}"
        )
    beams = np.full(step_ids.shape, end_token, step_ids.dtype)
    rows = np.arange(batch)[:, None]
    followed = np.broadcast_to(np.arange(width), (batch, width))
    for step in range(steps - 1, -1, -1):
        # A batch entry that ends before this step has not begun: its beams are still their own.
        begun = (step < max_sequence_lengths)[:, None]
        beams[step] = np.where(begun, step_ids[step][rows, followed], end_token)
        parents = np.where(begun, parent_ids[step][rows, followed], followed)
        if step and ((parents < 0) | (parents >= width)).any():
            at = np.argwhere((parents < 0) | (parents >= width))[0]
            raise InvalidArgumentError.of(
                f"Saw invalid parent id {parents[tuple(at)]} at (batch, time, beam) == ({at[0]}, {step}, {at[1]}); parents are "
                f"beams, from 0 to {width - 1}"
            )
        followed = parents
    ended = np.cumsum(beams == end_token, axis=0) > 0
    return np.where(ended, end_token, beams).astype(step_ids.dtype)
