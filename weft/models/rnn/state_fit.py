"""Whether a state is what a cell takes: asked when a step has failed, for the words of its error."""

from __future__ import annotations

from weft.framework.building.aliases import Nest
from weft.framework.nested import nest
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape


def misfit(name: str, state_size: Nest, state: Nest) -> str:
    """How a state differs from the sizes of a cell's; empty where it may be one, as far as shapes are known.

    Args:
        name: the cell's.
        state_size: the sizes of the cell's state: numbers or shapes, or nested tuples of them.
        state: what was given for it.
    """
    sizes, parts = nest.flatten(state_size), nest.flatten(state)
    if not all(isinstance(part, Tensor) for part in parts):
        return ""
    if len(sizes) == len(parts) and nest.is_nested(state_size) == nest.is_nested(state):
        wrong = [part for size, part in zip(sizes, parts, strict=True) if not _fits(size, part)]
    else:
        wrong = parts
    if not wrong:
        return ""
    given = "".join(f"\n  state: {described(part)}" for part in wrong)
    return (
        f"The state of {name!r} is {_in_words(state_size)}, and got {_count(parts)}.{given}\n  cell.zero_state(batch, "
        "tf.float32) makes one that fits, and so does the state that dynamic_rnn returns of the same cell."
    )


def _fits(size: Nest, part: Tensor) -> bool:
    if not isinstance(size, TensorShape):
        return part.shape.is_compatible_with([None, size])
    # A scalar, such as the count of steps of an AttentionWrapper, has no batch.
    return part.shape.is_compatible_with([None, *size.as_list()]) or (size.ndims == 0 and part.shape.is_compatible_with([]))


def _in_words(state_size: Nest) -> str:
    """`[batch, 4]`, or several of them in their structure."""
    if nest.is_nested(state_size):
        return f"({', '.join(map(_in_words, state_size))})"
    dims = state_size.as_list() if isinstance(state_size, TensorShape) else [state_size]
    return f"[{', '.join(['batch', *('?' if dim is None else str(dim) for dim in dims)])}]"


def _count(parts: list[Nest]) -> str:
    return "one tensor" if len(parts) == 1 else f"{len(parts)} tensors"
