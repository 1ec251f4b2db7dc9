"""Whether components that are enqueued together have a row for each of the same elements."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape


def check_row_counts(components: Sequence[Tensor], queue: str) -> None:
    """Refuse components of unlike first dimensions, as far as they are known.

    Args:
        components: tensors `[elements, ...]`.
        queue: the queue's name.

    Raises:
        ValueError: a component is a scalar, or has not as many rows as those before it.
    """
    rows = TensorShape([None])
    for number, component in enumerate(components):
        found = component.get_shape().with_rank_at_least(1)[:1]
        if not rows.is_compatible_with(found):
            raise ValueError(
                f"Dimensions {rows[0]} and {found[0]} are not compatible: queue {queue!r} is to get {rows[0]} elements by "
                f"those before component {number}, which has {found[0]}. Each has a row for each element"
            )
        rows = rows.merge_with(found)
